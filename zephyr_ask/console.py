# SPDX-License-Identifier: Apache-2.0
"""The terminal: what may be written to it, in which colours, how wide, how it ends.

Rich is imported inside functions, so that importing this module costs nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import TaskID
    from rich.text import Text

Color = Literal["auto", "always", "never"]

PIPED_COLUMNS = 80  # what a pipe or a file gets, whatever the terminal: stable output
LINES = 25  # nothing here fills a screen; rich reads COLUMNS again where no height is given
MIN_COLUMNS = 20  # narrower terminals wrap by themselves; below it no layout is readable
BAR_DELAY_S = 0.3  # a job that ends sooner needs no bar, nor the 90 ms to import one

# C0 and C1 controls but tab and newline; marks that reorder, hide or break text (bidi
# marks, embeddings, overrides and isolates; soft hyphen, zero width space, word joiner,
# byte order mark, annotations, tags); halves of surrogate pairs.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_ENDS = frozenset("\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029")  # as str.splitlines has them

_FALLBACK = {
    "→": "->", "←": "<-", "↔": "<->", "⇒": "=>", "›": ">", "•": "-", "·": "-", "│": "|",
    "─": "-", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "--",
    "‑": "-", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "≠": "!=", "±": "+/-", "µ": "u",
    "μ": "u", "Ω": "Ohm", "©": "(c)", "®": "(R)", "™": "(TM)", "✓": "yes", "✔": "yes",
    "✗": "no", "✘": "no", "├": "|", "└": "`", "\ufffd": "?",
}  # fmt: skip


def clean(text: str, encoding: str = "utf-8") -> str:
    """`text` as it may be written to a terminal: no control character but tab and newline.

    Every kind of line end becomes a newline, other controls and broken surrogates become
    U+FFFD, invisible and reordering marks go. What `encoding` cannot say is spelt in
    ASCII as well as that goes.
    """
    text = _UNSAFE.sub(_replacement, text.replace("\r\n", "\n"))
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(char if char < "\x80" else _spelt(char, encoding) for char in text)
    except LookupError:  # an encoding that Python does not know: write what everybody can
        return clean(text, "ascii")
    return text


def _replacement(match: re.Match[str]) -> str:
    char = match[0]
    if char in _LINE_ENDS:
        return "\n"
    return "\ufffd" if char < "\xa0" or "\ud800" <= char <= "\udfff" else ""


def _spelt(char: str, encoding: str) -> str:
    """`char`, or the nearest that `encoding` can say, or "?"."""
    from unicodedata import combining, normalize

    if combining(char):  # an accent on the letter before it
        return ""
    for candidate in (char, _FALLBACK.get(char, ""), normalize("NFD", char)[:1]):
        try:
            candidate.encode(encoding)
        except UnicodeEncodeError:
            continue
        if candidate:
            return candidate
    return "?"


def make_console(*, color: Color, stderr: bool = False) -> Console:
    """A console that honours `color`, NO_COLOR, FORCE_COLOR, TERM=dumb and a tty, so ordered.

    `color` is what a flag or west's `color.ui` says; only "auto" looks at the rest. Rich's
    markup, emoji codes and highlighting are off: what is printed is data. A broken pipe
    raises BrokenPipeError (see quiet_broken_pipe); rich would exit with 1.
    """
    from rich.console import Console

    class AskConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # the BrokenPipeError that rich is handling

    stream = cast("TextIO | None", sys.stderr if stderr else sys.stdout)
    no_color = bool(os.environ.get("NO_COLOR")) and color != "always"
    forced = color == "always" or (
        color == "auto" and bool(os.environ.get("FORCE_COLOR")) and not no_color
    )
    tty = _is_tty(stream)
    if forced and not tty and type(stream).__module__.startswith("colorama"):
        # west's colorama strips escapes from what is not a terminal; this is beneath it.
        stream = cast("TextIO | None", sys.__stderr__ if stderr else sys.__stdout__)
    _never_raise_on_encoding(stream)
    dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    system: Literal["auto", "standard"] | None = "auto"
    if color == "never" or not (forced or (tty and not dumb)):
        system = None
    elif dumb:  # forced: the least that every colour terminal understands
        system = "standard"
    return AskConsole(
        file=stream,
        stderr=stderr,
        color_system=system,
        no_color=no_color,
        force_terminal=forced or tty,
        force_jupyter=False,
        width=_columns(stream, tty),
        height=LINES,
        markup=False,
        emoji=False,
        highlight=False,
    )


def _is_tty(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _never_raise_on_encoding(stream: TextIO | None) -> None:
    """A terminal in ASCII or cp1252 gets "?" for what it cannot show, not a traceback."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _columns(stream: TextIO | None, tty: bool) -> int:
    """The columns to lay out for: COLUMNS, else the terminal's, else PIPED_COLUMNS."""
    columns = 0
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        if tty and stream is not None:
            with contextlib.suppress(OSError, ValueError):
                columns = os.get_terminal_size(stream.fileno()).columns
    return max(columns if columns > 0 else PIPED_COLUMNS, MIN_COLUMNS)


# Quiet, and readable on dark and on light: the terminal's own colours, no background.
CODE_STYLES = {
    ("Comment",): "dim",
    ("Comment", "Preproc"): "magenta",
    ("Comment", "PreprocFile"): "green",
    ("Keyword",): "magenta",
    ("Name", "Tag"): "cyan",
    ("Name", "Attribute"): "cyan",
    ("Literal", "String"): "green",
}
PLAIN_LANGUAGES = frozenset(("", "none", "text", "console"))  # nothing in them to colour


def highlight(code: str, language: str) -> Text:
    """`code` in colours, or as it is where nobody knows the language.

    Importing rich.syntax, pygments and one lexer costs 60-90 ms: only ask with colour on.
    """
    from rich.text import Text

    plain = Text(code)
    if language in PLAIN_LANGUAGES:
        return plain
    from rich.style import Style
    from rich.syntax import ANSISyntaxTheme, Syntax

    theme = ANSISyntaxTheme({kind: Style.parse(style) for kind, style in CODE_STYLES.items()})
    colored = Syntax(code, language, theme=theme).highlight(code)
    colored.rstrip()
    # Some lexers drop or add characters: colour is not worth a word of the text.
    return colored if colored.plain == code.rstrip() else plain


class quiet_broken_pipe:  # noqa: N801  used like a function: with quiet_broken_pipe():
    """Ends quietly what is written to a stdout that nobody reads any more.

    Flushes stdout on the way out. `broken` says whether the reader had gone: stdout then
    leads nowhere, so that neither this program nor Python's own shutdown complains, and
    the caller is to end with 0.
    """

    def __init__(self) -> None:
        self.broken = False

    def __enter__(self) -> quiet_broken_pipe:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is not None and _is_broken_pipe(error):
            self.lead_nowhere()
            return True
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError as flush_error:
            if not _is_broken_pipe(flush_error):
                raise
            self.lead_nowhere()
        return False

    def lead_nowhere(self) -> None:
        """Let what is left to write, and Python's own last flush, go nowhere."""
        self.broken = True
        devnull = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(devnull, sys.stdout.fileno())
        except (OSError, ValueError):  # not a file: nothing is left to complain about
            pass
        finally:
            os.close(devnull)


def _is_broken_pipe(error: BaseException) -> bool:
    if isinstance(error, BrokenPipeError):
        return True
    # Windows reports a closed pipe as "invalid argument".
    return os.name == "nt" and isinstance(error, OSError) and error.errno == errno.EINVAL


class StageProgress:
    """A types.Progress on stderr: a bar with rate and time left, which leaves no trace.

    Off a terminal each stage is one plain line; with `quiet` nothing is written. Rich is
    imported only when a bar is due: a question on a current index pays nothing. Use it
    with `with`, so that the cursor comes back whatever happens.
    """

    def __init__(self, *, color: Color = "auto", quiet: bool = False) -> None:
        self._color = color
        self._quiet = quiet
        self._tty = _is_tty(sys.stderr)
        self._first: float | None = None  # when the first call came, in s
        self._stage: str | None = None
        self._began = (0.0, 0)  # of the stage: when, in s, and how many were done already
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        if self._quiet:
            return
        now = time.monotonic()
        self._first = now if self._first is None else self._first
        if stage != self._stage:
            self._stage = stage
            self._began = (now, done)
            if self._bar is not None and self._task is not None:
                self._bar.remove_task(self._task)
            self._task = None
            if not self._tty and sys.stderr is not None:
                _never_raise_on_encoding(sys.stderr)
                with contextlib.suppress(OSError, ValueError):  # talk must not cost the answer
                    print(f"{clean(stage)}: {total - done:,} {clean(unit)}", file=sys.stderr)
        if self._tty and now - self._first >= BAR_DELAY_S:
            self._draw(now, done, total, unit)

    def _draw(self, now: float, done: int, total: int, unit: str) -> None:
        if self._bar is None:
            self._bar = _new_bar(make_console(color=self._color, stderr=True))
            self._bar.start()
        if self._task is None:
            self._task = self._bar.add_task(clean(self._stage or ""), pace="", of="")
        began, before = self._began
        pace = pace_text(done - before, total - done, now - began)
        of = f"{done:,}/{total:,} {clean(unit)}"
        self._bar.update(self._task, completed=done, total=total or None, pace=pace, of=of)

    def close(self) -> None:
        """Take the bar away; a later call would draw a new one."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = self._stage = self._first = None

    def __enter__(self) -> StageProgress:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def pace_text(done: int, left: int, seconds: float) -> str:
    """ "310/s, 1 min 05 s left" for `done` in `seconds` with `left` to go; "" if unknown."""
    if done <= 0 or seconds <= 0:
        return ""
    rate = done / seconds
    minutes, rest = divmod(round(left / rate), 60)
    hours, minutes = divmod(minutes, 60)
    wait = f"{rest} s"
    if hours:
        wait = f"{hours} h {minutes:02} min"
    elif minutes:
        wait = f"{minutes} min {rest:02} s"
    return f"{rate:,.0f}/s, {wait} left" if rate >= 10 else f"{rate:.1f}/s, {wait} left"


def _new_bar(console: Console) -> Bar:
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),  # with a stage, counts and pace within 80 columns
        TextColumn("{task.fields[of]}", markup=False),
        TextColumn("{task.fields[pace]}", style="dim", markup=False),
        console=console,
        transient=True,
        redirect_stdout=False,  # stdout is the answer's, never the bar's
    )
