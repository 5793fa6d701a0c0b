# SPDX-License-Identifier: Apache-2.0
"""The terminal's rules: colour, width, encoding, clean text, a reader that goes away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zephyr_ask.console import (
    PIPED_COLUMNS,
    StageProgress,
    clean,
    make_console,
    pace_text,
    quiet_broken_pipe,
)

ROOT = Path(__file__).resolve().parents[1]
SAY = "from zephyr_ask.console import *; import sys; c = make_console(color={color!r}); "
PRINT = "from rich.text import Text; c.print(Text('word', 'red'))"


def environment(**extra: str) -> dict[str, str]:
    """This environment without what steers colour and width, and with `extra`."""
    steering = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "COLORTERM", "PYTHONIOENCODING")
    kept = {name: value for name, value in os.environ.items() if name not in steering}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **extra}


def piped(code: str, **extra: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment(**extra),
        capture_output=True,
        check=False,
        timeout=60,
    )


def on_terminal(code: str, *, columns: int = 80, **extra: str) -> str:
    """What `code` writes to stdout and stderr where both are one terminal."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
    import fcntl
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        env=environment(**extra),
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    ) as process:
        os.close(follower)
        seen = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not part:
                break
            seen += part
        os.close(leader)
    assert process.returncode == 0, seen.decode()
    return seen.decode()


def test_nothing_but_text_when_piped() -> None:
    done = piped(SAY.format(color="auto") + PRINT + f"; assert c.width == {PIPED_COLUMNS}")
    assert (done.stdout, done.stderr, done.returncode) == (b"word\n", b"", 0)


def test_colour_on_a_terminal() -> None:
    assert "\x1b[31mword" in on_terminal(SAY.format(color="auto") + PRINT)


@pytest.mark.parametrize(
    ("color", "extra"),
    [("never", {}), ("never", {"FORCE_COLOR": "1"}), ("auto", {"TERM": "dumb"})],
)
def test_no_escape_on_a_terminal(color: str, extra: dict[str, str]) -> None:
    assert "\x1b" not in on_terminal(SAY.format(color=color) + PRINT, columns=80, **extra)


def test_no_color_keeps_a_terminal_without_colours() -> None:
    code = (
        SAY.format(color="auto") + "from rich.text import Text; c.print(Text('word', 'bold red'))"
    )
    seen = on_terminal(code, NO_COLOR="1")
    assert "word" in seen and "[31" not in seen and ";31" not in seen


@pytest.mark.parametrize(
    ("color", "extra", "colored"),
    [
        ("always", {}, True),
        ("always", {"NO_COLOR": "1"}, True),
        ("always", {"TERM": "dumb"}, True),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"FORCE_COLOR": ""}, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_forced_colour_in_a_pipe(color: str, extra: dict[str, str], colored: bool) -> None:
    done = piped(SAY.format(color=color) + PRINT, **extra)
    assert (b"\x1b[31mword" in done.stdout) is colored
    assert done.stderr == b""


def test_forced_colour_goes_past_the_stream_that_strips_it() -> None:
    code = "import colorama; colorama.init(); " + SAY.format(color="always") + PRINT
    assert b"\x1b[31mword" in piped(code).stdout


@pytest.mark.parametrize(
    ("columns", "variable", "expected"),
    [(120, None, 120), (40, None, 40), (0, None, 80), (120, "66", 66), (120, "²", 120)],
)
def test_width_of_a_terminal(columns: int, variable: str | None, expected: int) -> None:
    extra = {} if variable is None else {"COLUMNS": variable, "PYTHONUTF8": "1"}
    code = SAY.format(color="auto") + "print('width', c.width)"
    assert f"width {expected}" in on_terminal(code, columns=columns, **extra)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_no_encoding_is_an_error(encoding: str) -> None:
    done = piped(SAY.format(color="auto") + "c.print('→ 語')", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")


def test_without_a_stdout() -> None:
    code = "import sys; sys.stdout = None; " + SAY.format(color="auto") + "c.print('x')\n"
    done = piped(code + "with quiet_broken_pipe() as pipe: c.print('y')\nassert not pipe.broken")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("a\x1b[31mb", "a\ufffd[31mb"),
        ("a\x1b]8;;http://x\x1b\\b\x07", "a\ufffd]8;;http://x\ufffd\\b\ufffd"),
        ("a\x9b31mb", "a\ufffd31mb"),
        ("a\r\nb\rc\x0cd\u2028e\x85f", "a\nb\nc\nd\ne\nf"),
        ("a\u202eb\u2066c\u200fd\ufeff\u200be", "abcde"),
        ("a\ud800b", "a\ufffdb"),
        ("a\tb\nc", "a\tb\nc"),
        ("[bold]a[/bold] [link=x]b", "[bold]a[/bold] [link=x]b"),
        ("e\u0301 語 \U0001f469\u200d\U0001f4bb", "e\u0301 語 \U0001f469\u200d\U0001f4bb"),
    ],
)
def test_clean(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless


def test_clean_spells_what_an_encoding_lacks() -> None:
    assert clean("a → b – “é” • 語 Ω ½ e\u0301", "ascii") == 'a -> b - "e" - ? Ohm ? e'
    assert clean("• é → …", "cp1252") == "• é -> …"
    assert clean("é", "no such encoding") == "e"


WRITE = "with quiet_broken_pipe() as pipe:\n    for n in range({lines}): c.print(f'line {{n}}')\n"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("lines", [3, 20000])
def test_a_reader_that_leaves_is_no_error(lines: int, tmp_path: Path) -> None:
    script = tmp_path / "say.py"
    wait = "import time; time.sleep(0.3)\n"  # lets the reader leave before the first line too
    script.write_text(SAY.format(color="auto") + "\n" + wait + WRITE.format(lines=lines))
    for reader in ("head -1", "true"):
        done = subprocess.run(
            [
                "bash",
                "-c",
                f'"$0" "$1" | {reader}; exit "${{PIPESTATUS[0]}}"',
                sys.executable,
                script,
            ],
            env=environment(),
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b""), reader


def test_a_broken_pipe_is_reported_and_other_errors_pass() -> None:
    code = SAY.format(color="auto") + "\n" + WRITE.format(lines=20000) + "assert pipe.broken\n"
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
    with pytest.raises(ZeroDivisionError), quiet_broken_pipe():
        raise ZeroDivisionError


JOB = """
import sys, time
from zephyr_ask.console import StageProgress
with StageProgress(quiet={quiet}) as progress:
    for stage in ("Reading", "Encoding"):
        for done in range(41):
            progress(stage, done, 40, "pages")
            time.sleep({pause})
print("rich.progress" in sys.modules, "rich.console" in sys.modules)
"""


def test_progress_off_a_terminal_is_a_line_per_stage() -> None:
    done = piped(JOB.format(quiet=False, pause=0))
    assert done.stderr == b"Reading: 40 pages\nEncoding: 40 pages\n"
    assert done.stdout == b"False False\n"


def test_progress_may_be_quiet() -> None:
    assert piped(JOB.format(quiet=True, pause=0)).stderr == b""
    assert on_terminal(JOB.format(quiet=True, pause=0.01)) == "False False\r\n"


def test_progress_on_a_terminal_is_a_bar_that_goes_away() -> None:
    seen = on_terminal(JOB.format(quiet=False, pause=0.02))
    assert "Reading" in seen and "Encoding" in seen
    assert "/40 pages" in seen and "/s, " in seen and " left" in seen
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l"), "the cursor is back"
    assert seen.endswith("True True\r\n")


def test_a_short_job_shows_no_bar() -> None:
    assert on_terminal(JOB.format(quiet=False, pause=0)) == "False False\r\n"


def test_progress_counts_what_was_done_before_as_done(capsys: pytest.CaptureFixture[str]) -> None:
    with StageProgress() as progress:
        progress("Encoding", 1500, 2000, "chunks")
    assert capsys.readouterr().err == "Encoding: 500 chunks\n"


@pytest.mark.parametrize(
    ("done", "left", "seconds", "text"),
    [
        (0, 10, 1.0, ""),
        (100, 200, 1.0, "100/s, 2 s left"),
        (10, 650, 10.0, "1.0/s, 10 min 50 s left"),
        (5000, 0, 1.0, "5,000/s, 0 s left"),
        (1, 7300, 1.0, "1.0/s, 2 h 01 min left"),
    ],
)
def test_pace(done: int, left: int, seconds: float, text: str) -> None:
    assert pace_text(done, left, seconds) == text


def test_a_console_in_this_process_writes_to_the_current_stdout(
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_console(color="never").print("[bold]kept[/bold] :smile:")
    assert capsys.readouterr().out == "[bold]kept[/bold] :smile:\n"
