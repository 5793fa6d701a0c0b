# SPDX-License-Identifier: Apache-2.0
"""`west ask` as a person and a script use it: real west, real git, real encoder where it is."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, MakeWorkspace, Result, Run, Workspace

QUESTION = "how do I enable logging"
PASSAGE_KEYS = {
    "rank", "path", "start_line", "end_line", "page", "title", "heading", "url", "kind", "text",
    "markdown", "score", "reasons",
}  # fmt: skip


def answered(result: Result, code: int = 0) -> dict[str, Any]:
    """The JSON object of a run, whose stderr must hold no traceback."""
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8-sig", errors="replace").split("\n")


def check_passages(answer: dict[str, Any], zephyr: Path) -> None:
    """Each passage's text stands at its lines of its file."""
    assert answer["schema"] == 1 and answer["answer"] is None
    for rank, passage in enumerate(answer["passages"], 1):
        assert set(passage) == PASSAGE_KEYS and passage["rank"] == rank
        source = lines_of(zephyr / passage["path"])
        assert passage["text"] == "\n".join(source[passage["start_line"] - 1 : passage["end_line"]])
        assert 0 <= passage["score"] <= 1
        assert passage["url"].startswith("https://docs.zephyrproject.org/")


@pytest.mark.parametrize("name", ["ws", "with space", "größe-漢"])
def test_ask_in_a_workspace(workspace: MakeWorkspace, west: Run, name: str) -> None:
    made = workspace(name)
    result = west("ask", QUESTION, cwd=made.topdir)
    assert result.returncode == 0, result.stderr
    assert "doc/services/logging/index.rst:" in result.stdout
    assert "CONFIG_LOG" in result.stdout
    assert "Traceback" not in result.stderr
    commit = subprocess.check_output(["git", "-C", made.zephyr, "rev-parse", "HEAD"], text=True)
    footer = result.stdout.strip().splitlines()[-1]
    assert commit[:10] in footer and "modified" not in footer and footer.startswith("Zephyr ")
    assert "\x1b" not in result.stdout
    assert not re.search(r":\w+:`|\.\. \w+::", result.stdout)
    assert max(len(line) for line in result.stdout.splitlines()) <= 80
    assert sorted(p.suffix for p in (made.topdir / ".west" / "ask").iterdir()) == [
        ".lock", ".sqlite3"
    ]  # fmt: skip


def test_json(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    answer = answered(
        west("ask", "--json", "--retrieve-only", "-k", "7", QUESTION, cwd=made.topdir)
    )
    check_passages(answer, made.zephyr)
    assert answer["question"] == QUESTION and answer["abstained"] is False
    assert set(answer["revision"]) == {"version", "commit", "modified", "path"}
    assert answer["revision"]["path"] == str(made.zephyr)
    assert answer["revision"]["modified"] is False
    assert len(answer["passages"]) == 7
    pages = [p["page"] for p in answer["passages"]]
    assert max(pages.count(page) for page in pages) <= 2
    assert answer["timings_ms"]["total"] > 0


def test_what_is_asked_is_what_stands_there_now(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    ask = ("ask", "--json", "which page speaks of the marmalade scheduler")
    west(*ask, cwd=made.topdir)
    page = made.zephyr / "doc" / "kernel" / "scheduling.rst"
    page.write_text(page.read_text() + "\nThe marmalade scheduler spreads evenly.\n")
    answer = json.loads(west(*ask, cwd=made.topdir).stdout)
    check_passages(answer, made.zephyr)
    assert answer["passages"][0]["path"] == "doc/kernel/scheduling.rst"
    assert answer["revision"]["modified"] is True
    subprocess.run(["git", "-C", made.zephyr, "checkout", "-q", "."], check=True)
    (made.zephyr / "doc" / "kernel" / "jam.rst").write_text(
        "Jam\n###\n\nThe marmalade scheduler, untracked.\n"
    )
    answer = json.loads(west(*ask, cwd=made.topdir).stdout)
    check_passages(answer, made.zephyr)
    assert answer["passages"][0]["path"] == "doc/kernel/jam.rst"
    assert answer["revision"]["modified"] is True


def test_questions_from_stdin(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    questions = f"{QUESTION}\n\nset a devicetree overlay\n\x00\nwhat replaced pinmux\n"
    result = west("ask", "--json", "--retrieve-only", "-", cwd=made.topdir, input=questions)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [a["question"] for a in answers] == [
        QUESTION, "set a devicetree overlay", "\x00", "what replaced pinmux"
    ]  # fmt: skip
    assert "error" in answers[2] and result.returncode == 1
    for answer in (answers[0], answers[1], answers[3]):
        check_passages(answer, made.zephyr)
    good = west("ask", "--json", "-", cwd=made.topdir, input=f"{QUESTION}\n")
    assert good.returncode == 0 and len(good.stdout.splitlines()) == 1


@pytest.mark.parametrize("kind", ["doc", "samples", "boards", "releases"])
def test_in(workspace: MakeWorkspace, west: Run, kind: str) -> None:
    made = workspace()
    result = west("ask", "--json", "--in", kind, "flash the board with logging", cwd=made.topdir)
    assert result.returncode in (0, 3)
    kinds = {p["kind"] for p in json.loads(result.stdout)["passages"]}
    assert kinds == {kind}


def test_rebuild_and_status(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    west("ask", QUESTION, cwd=made.topdir)
    rebuilt = west("ask", "--rebuild", cwd=made.topdir)
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert rebuilt.stdout == ""
    status = answered(west("ask", "--status", "--json", cwd=made.topdir))
    index = status["index"]
    assert index["problems"] == [] and index["current"] in (True, False)
    assert index["pages"] > 40 and index["chunks"] > index["pages"]
    if status["model"]:
        assert index["vectors"] == index["chunks"]
    shown = west("ask", "--status", cwd=made.topdir)
    assert shown.returncode == 0
    for word in ("Zephyr", "index", "current", "chunks", "model", "sound"):
        assert word in shown.stdout


def test_the_same_answer_whichever_vectors_were_there(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    ask = ("ask", "--json", "-k", "9", "thread stack overflow on a board")
    first = json.loads(west(*ask, cwd=made.topdir).stdout)
    west("ask", "--rebuild", cwd=made.topdir)
    second = json.loads(west(*ask, cwd=made.topdir).stdout)
    for answer in (first, second):
        del answer["timings_ms"]
    assert first == second


def test_settings(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()

    def count(*args: str, **env: str) -> int:
        result = west("ask", *args, QUESTION, cwd=made.topdir, env=env)
        return len(json.loads(result.stdout)["passages"])

    assert count("--json") == 5
    west("config", "ask.k", "2", cwd=made.topdir)
    west("config", "ask.json", "true", cwd=made.topdir)
    assert count() == 2
    assert count(WEST_ASK_K="3") == 3
    assert count("-k", "4", WEST_ASK_K="3") == 4
    west("config", "ask.in", "samples", cwd=made.topdir)
    result = json.loads(west("ask", QUESTION, cwd=made.topdir).stdout)
    assert {p["kind"] for p in result["passages"]} == {"samples"}


@pytest.mark.parametrize(
    ("setting", "value"), [("k", "many"), ("k", "0"), ("in", "drivers"), ("json", "perhaps"),
                           ("color", "green"), ("model", "/no/such/folder")]
)  # fmt: skip
def test_a_bad_setting_is_named(
    workspace: MakeWorkspace, west: Run, setting: str, value: str
) -> None:
    made = workspace()
    west("config", f"ask.{setting}", value, cwd=made.topdir)
    result = west("ask", QUESTION, cwd=made.topdir)
    assert result.returncode == 1 and result.stdout == ""
    assert f"ask.{setting}" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("args", [(), ("-k", "x", "q"), ("--in", "nowhere", "q"), ("--no-such",),
                                  ("-k", "0", "q"), ("--color", "red", "q")])  # fmt: skip
def test_usage(workspace: MakeWorkspace, west: Run, args: tuple[str, ...]) -> None:
    result = west("ask", *args, cwd=workspace().topdir)
    assert result.returncode == 2 and result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("question", ["", "   ", "\x01\x02", "?"])
def test_an_empty_question(workspace: MakeWorkspace, west: Run, question: str) -> None:
    result = west("ask", question, cwd=workspace().topdir)
    assert result.returncode in (1, 2, 3) and "Traceback" not in result.stderr


def test_a_huge_question(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    result = west("ask", "--json", "-", cwd=made.topdir, input=f"{QUESTION} " * 5000 + "\n")
    answer = json.loads(result.stdout)
    check_passages(answer, made.zephyr)
    assert answer["passages"]


@pytest.mark.parametrize(
    "question", ["'; DROP TABLE chunks; --", 'NEAR("a" OR) AND * ^', "[bold]x[/bold] :smile:",
                 "\x1b]8;;http://evil\x07logging\x1b[2J", "Wie aktiviere ich das Logging? 漢字"]
)  # fmt: skip
def test_a_question_is_data(workspace: MakeWorkspace, west: Run, question: str) -> None:
    result = west("ask", question, cwd=workspace().topdir)
    assert result.returncode in (0, 3), result.stderr
    assert "\x1b" not in result.stdout and "Traceback" not in result.stderr


def test_it_abstains(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    question = "my cat will not eat its food on the board by the light"
    answer = json.loads(west("ask", "--json", question, cwd=made.topdir).stdout)
    result = west("ask", question, cwd=made.topdir)
    assert answer["abstained"] is True
    assert result.returncode == 3 and "nearest" in result.stdout
    nothing = west("ask", "--json", "xyzzy", cwd=made.topdir)
    assert answered(nothing, 3)["passages"] == []


def test_no_zephyr(tmp_path: Path, west: Run, workspace: MakeWorkspace) -> None:
    made = workspace()
    shutil.rmtree(made.zephyr / "doc")
    result = west("ask", QUESTION, cwd=made.topdir)
    assert result.returncode == 1 and "doc/index.rst" in result.stderr
    assert "sparse-checkout" in result.stderr and "Traceback" not in result.stderr


def test_zephyr_without_git(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace(git=False)
    answer = answered(west("ask", "--json", QUESTION, cwd=made.topdir))
    check_passages(answer, made.zephyr)
    assert answer["revision"]["commit"] is None and answer["revision"]["modified"] is None
    assert "commit unknown" in west("ask", QUESTION, cwd=made.topdir).stdout


def test_without_the_git_program(workspace: MakeWorkspace, zephyr_ask: Run) -> None:
    made = workspace()
    answer = answered(
        zephyr_ask("--json", QUESTION, cwd=made.topdir,
                   env={"PATH": "/nowhere", "ZEPHYR_BASE": str(made.zephyr)})
    )  # fmt: skip
    assert answer["revision"]["commit"] is None


def test_a_foreign_zephyr_base(workspace: MakeWorkspace, west: Run) -> None:
    made, other = workspace("a"), workspace("b")
    west("config", "-d", "zephyr.base", cwd=made.topdir)
    result = west(
        "ask", "--json", QUESTION, cwd=made.topdir, env={"ZEPHYR_BASE": str(other.zephyr)}
    )
    assert answered(result)["revision"]["path"] == str(other.zephyr)
    assert "outside this workspace" in result.stderr
    bad = west("ask", QUESTION, cwd=made.topdir, env={"ZEPHYR_BASE": str(made.topdir)})
    assert bad.returncode == 1 and "VERSION" in bad.stderr and "Traceback" not in bad.stderr


def test_outside_a_workspace(workspace: MakeWorkspace, zephyr_ask: Run, tmp_path: Path) -> None:
    made = workspace(register=False)
    away = tmp_path / "away"
    away.mkdir()
    shutil.rmtree(made.topdir / ".west")
    answer = answered(
        zephyr_ask("--json", QUESTION, cwd=away, env={"ZEPHYR_BASE": str(made.zephyr)})
    )
    check_passages(answer, made.zephyr)
    lost = zephyr_ask(QUESTION, cwd=away)
    assert lost.returncode == 1 and "ZEPHYR_BASE" in lost.stderr
    assert not list(tmp_path.rglob(".west"))


def test_pages_hold_anything(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    (made.zephyr / "doc" / "evil.rst").write_bytes(
        b"Evil gizmo\n##########\n\nThe gizmo \x1b]8;;http://evil\x07link\x1b[31m red \xff\xfe bytes "
        b"[bold]not bold[/bold]\n\n" + b"gizmo words " * 12_000 + b"\n"
    )
    result = west("ask", "what is the evil gizmo", cwd=made.topdir)
    assert result.returncode in (0, 3) and "\x1b" not in result.stdout
    assert "[bold]not bold[/bold]" in result.stdout


def test_broken_pipe(workspace: MakeWorkspace, clean_env: dict[str, str]) -> None:
    made = workspace()
    command = f"'{sys.executable}' -m west ask -k 50 board | head -n 1; echo ${{PIPESTATUS[0]}}"
    for _ in range(2):
        done = subprocess.run(["bash", "-c", command], cwd=made.topdir, env=clean_env,
                              capture_output=True, text=True, timeout=200)  # fmt: skip
    assert done.stdout.splitlines()[-1] in ("0", "3"), done.stderr
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


def test_an_ascii_terminal(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    result = west("ask", "größe and arrows", cwd=made.topdir,
                  env={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C"})  # fmt: skip
    assert result.returncode in (0, 3), result.stderr
    assert result.stdout.isascii() and "Traceback" not in result.stderr


def run_on_a_terminal(command: list[str], cwd: Path, env: dict[str, str]) -> tuple[int, str]:
    """Run on a pseudo-terminal of 80 columns; exit code and all that was written."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, cwd=cwd, stdin=follower, stdout=follower, stderr=follower,
                               env={**env, "TERM": "xterm-256color", "COLUMNS": "80"})  # fmt: skip
    os.close(follower)
    output = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
    os.close(leader)
    # At its end west resets the colours of any terminal, whatever color.ui says.
    return process.wait(), output.decode().removesuffix("\x1b[0m")


def test_on_a_terminal(workspace: MakeWorkspace, clean_env: dict[str, str]) -> None:
    made = workspace()
    command = [sys.executable, "-m", "west", "ask", QUESTION]
    code, shown = run_on_a_terminal(command, made.topdir, clean_env)
    assert code == 0, shown
    uri = (made.zephyr / "doc/services/logging/index.rst").as_uri()
    assert "\x1b]8;" in shown and uri in shown, "the place is a hyperlink to the file"
    code, plain = run_on_a_terminal(command, made.topdir, {**clean_env, "NO_COLOR": "1"})
    assert code == 0 and not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)
    never = [sys.executable, "-m", "west", "ask", "--color", "never", QUESTION]
    code, bare = run_on_a_terminal(never, made.topdir, clean_env)
    assert code == 0 and "\x1b" not in bare
    west_says = {**clean_env, "WEST_CONFIG_GLOBAL": str(made.topdir / "global")}
    (made.topdir / "global").write_text("[color]\nui = false\n")
    code, bare = run_on_a_terminal(command, made.topdir, west_says)
    assert code == 0 and "\x1b" not in bare


def test_quiet_and_verbose(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    quiet = west("ask", "-q", QUESTION, cwd=made.topdir)
    assert quiet.stderr == "" and "Zephyr 4" not in quiet.stdout.splitlines()[-1]
    verbose = west("ask", "-vv", QUESTION, cwd=made.topdir)
    assert "index" in verbose.stderr and "confidence" in verbose.stdout


def test_by_words_alone(workspace: MakeWorkspace, zephyr_ask: Run) -> None:
    made = workspace()
    blocked = (
        "import sys, importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name.startswith('gt_all') else find(name, *a)\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from zephyr_ask.cli import main\n"
        f"sys.exit(main(['--json', {QUESTION!r}]))\n"
    )
    empty = made.topdir / "cache"
    done = subprocess.run(
        [sys.executable, "-c", blocked], cwd=made.topdir, capture_output=True, text=True,
        env={**os.environ, "ZEPHYR_BASE": str(made.zephyr), "XDG_CACHE_HOME": str(empty)},
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    answer = json.loads(done.stdout)
    check_passages(answer, made.zephyr)
    assert answer["passages"][0]["reasons"]["dense_score"] is None
    assert "west ask --fetch" in done.stderr and "pip install" in done.stderr


def loaded(made: Workspace, clean_env: dict[str, str], *argv: str) -> set[str]:
    """Top-level modules in sys.modules after zephyr-ask did its work."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from zephyr_ask.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print('\\n' + ' '.join({m.partition('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *argv], cwd=made.topdir, capture_output=True, text=True,
        env={**clean_env, "ZEPHYR_BASE": str(made.zephyr)}, check=True,
    )  # fmt: skip
    return set(done.stdout.splitlines()[-1].split())


def test_what_is_not_loaded(workspace: MakeWorkspace, clean_env: dict[str, str], west: Run) -> None:
    made = workspace()
    west("ask", QUESTION, cwd=made.topdir)
    west("ask", QUESTION, cwd=made.topdir)
    help_only = loaded(made, clean_env, "-h")
    assert not help_only & {"numpy", "onnxruntime", "rich", "sqlite3", "docutils", "tokenizers"}
    warm = loaded(made, clean_env, QUESTION)
    assert not warm & {"torch", "transformers", "sentence_transformers", "docutils", "onnx",
                       "huggingface_hub", "pygments", "markdown_it"}  # fmt: skip


def test_no_question_causes_a_network_call(
    workspace: MakeWorkspace, clean_env: dict[str, str], west: Run
) -> None:
    made = workspace()
    west("ask", QUESTION, cwd=made.topdir)  # prepares the model, whatever that takes
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise SystemExit('a network call')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from zephyr_ask.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    assert socket.socket  # what is refused above
    for argv in ([QUESTION], ["--json", "threads"], ["--status"], ["--rebuild"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *argv], cwd=made.topdir, capture_output=True, text=True,
            env={**clean_env, "ZEPHYR_BASE": str(made.zephyr)},
        )  # fmt: skip
        assert done.returncode in (0, 3), done.stderr
        assert "network" not in done.stderr


def test_a_missing_dependency_is_named(workspace: MakeWorkspace, clean_env: dict[str, str]) -> None:
    made = workspace()
    code = (
        "import sys\n"
        "sys.modules['docutils'] = None\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from zephyr_ask.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, QUESTION], cwd=made.topdir, capture_output=True, text=True,
        env={**clean_env, "ZEPHYR_BASE": str(made.zephyr)},
    )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"{sys.executable} -m pip install docutils" in done.stderr


def test_zephyrs_own_pages(zephyr_workspace: Workspace, west: Run) -> None:
    result = west("ask", "--json", "-k", "10", QUESTION, cwd=zephyr_workspace.topdir)
    answer = answered(result)
    check_passages(answer, zephyr_workspace.zephyr)
    assert answer["revision"]["version"] == "4.1.99"
    pages = [p["page"] for p in answer["passages"]]
    assert "doc/services/logging/index.rst" in pages[:5]
    again = answered(west("ask", "--json", "-k", "10", QUESTION, cwd=zephyr_workspace.topdir))
    assert again["passages"] == answer["passages"]


def test_an_empty_tree_and_odd_names(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    (made.zephyr / "doc" / ".rst").write_text("T\n#\n")
    assert west("ask", QUESTION, cwd=made.topdir).returncode == 0
    for folder in made.zephyr.iterdir():
        if folder.is_dir() and folder.name not in ("submanifests", "scripts", ".git"):
            shutil.rmtree(folder)
    (made.zephyr / "doc").mkdir()
    (made.zephyr / "doc" / "index.rst").write_text("")
    assert answered(west("ask", "--json", QUESTION, cwd=made.topdir), 3)["passages"] == []


def test_a_full_disk_behind_stdout(workspace: MakeWorkspace, clean_env: dict[str, str]) -> None:
    made = workspace()
    for option in ("--color=never", "--json", "--status"):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "west", "ask", option, QUESTION], cwd=made.topdir,
                env=clean_env, stdout=full, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        assert done.returncode != 0 and "cannot be written" in done.stderr
        assert "Traceback" not in done.stderr


def test_committed_pages_are_not_modified(workspace: MakeWorkspace, west: Run, run: Run) -> None:
    made = workspace()
    (made.zephyr / "doc" / "jam.rst").write_text("Jam\n###\n\nA new page.\n")
    ask = ("ask", "--json", QUESTION)
    assert answered(west(*ask, cwd=made.topdir))["revision"]["modified"] is True
    run("git", "add", "-A", cwd=made.zephyr)
    run("git", "commit", "-qm", "Jam", cwd=made.zephyr)
    assert answered(west(*ask, cwd=made.topdir))["revision"]["modified"] is False


def test_a_name_alone_loads_no_model(workspace: MakeWorkspace, run: Run) -> None:
    made = workspace()
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import zephyr_ask.cli as cli; "
        "code = cli.main(['--json', 'CONFIG_LOG']); "
        "print(code, 'onnxruntime' in sys.modules, 'numpy' in sys.modules)"
    )
    for _ in range(2):  # with an index to make, and with one that is there
        done = run(sys.executable, "-c", code, cwd=made.topdir)
        answer, after = done.stdout.strip().split("\n")
        assert after == "0 False False", done.stderr
        symbol = json.loads(answer)["symbols"][0]
    assert (symbol["name"], symbol["kind"], symbol["status"]) == (
        "CONFIG_LOG",
        "kconfig",
        "defined",
    )
    source = lines_of(made.zephyr / symbol["path"])
    assert source[symbol["line"] - 1] == "menuconfig LOG"
    assert set(symbol) == {"name", "kind", "path", "line", "summary", "status", "replacement",
                           "evidence", "details"}  # fmt: skip


def test_cards_on_the_terminal(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    shown = west("ask", "CONFIG_LOG_BUFFER_SIZE", cwd=made.topdir)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("CONFIG_LOG_BUFFER_SIZE  Kconfig option")
    assert "subsys/logging/Kconfig:" in shown.stdout and "128 to 65536" in shown.stdout
    unknown = west("ask", "CONFIG_LOG_BUFER_SIZE", cwd=made.topdir)
    assert unknown.returncode == 3
    assert "does not exist in this tree" in unknown.stdout
    assert "nearest: CONFIG_LOG_BUFFER_SIZE" in unknown.stdout
    gone = answered(west("ask", "--json", "what happened to CONFIG_PINMUX", cwd=made.topdir))
    assert gone["symbols"][0]["status"] == "gone" and gone["symbols"][0]["evidence"]["line"] > 1


def test_symbols_are_found_by_meaning(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    question = "which option makes printk asynchronous?"
    answer = answered(west("ask", "--json", "--in", "kconfig", question, cwd=made.topdir))
    check_passages(answer, made.zephyr)
    assert answer["passages"][0]["title"] == "CONFIG_LOG_PRINTK"
    assert {passage["kind"] for passage in answer["passages"]} == {"kconfig"}
    bindings = answered(west("ask", "--json", "--in", "bindings", "a port of pins of the Pear family",
                             cwd=made.topdir))  # fmt: skip
    assert bindings["passages"][0]["path"] == "dts/bindings/gpio/acme,pear-gpio.yaml"


def test_check(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    app = made.topdir / "app"
    app.mkdir()
    (app / "CMakeLists.txt").write_text("find_package(Zephyr)\n")
    (app / "Kconfig").write_text('config KETTLE\n\tbool "Kettle"\n')
    conf = app / "prj.conf"
    conf.write_text("CONFIG_LOG=y\nCONFIG_KETTLE=y\nCONFIG_FOO=y\n")
    clean = west("ask", "--check", "app/prj.conf", cwd=made.topdir)
    assert (clean.returncode, clean.stdout) == (0, ""), clean.stderr
    assert "0 findings, 2 names checked in 1 file, 1 not checked" in clean.stderr
    conf.write_text("CONFIG_LOG=yes\nCONFIG_PINMUX=y\nCONFIG_LOG_PRINTF=y\n")
    found = west("ask", "--check", "app", cwd=made.topdir)
    assert found.returncode == 1
    lines = found.stdout.splitlines()
    assert lines[0].startswith("app/prj.conf:1:1: invalid CONFIG_LOG=yes")
    assert re.match(r"app/prj.conf:2:1: gone .*\(doc/releases/\S+\.rst:\d+\)", lines[1])
    assert (
        lines[2] == "app/prj.conf:3:1: unknown CONFIG_LOG_PRINTF: did you mean CONFIG_LOG_PRINTK?"
    )
    told = answered(west("ask", "--json", "--check", "app", cwd=made.topdir), 1)
    assert told["schema"] == 1 and told["checked"] == 3
    assert [f["status"] for f in told["findings"]] == ["invalid", "gone", "unknown"]
    assert told["findings"][2]["suggestions"][0] == "CONFIG_LOG_PRINTK"
    assert west("ask", "--check", "-q", "app/prj.conf", cwd=made.topdir).stderr == ""
    log = answered(west("ask", "--check", "--sarif", "app/prj.conf", cwd=made.topdir), 1)
    results = log["runs"][0]["results"]
    assert log["version"] == "2.1.0" and len(results) == 3
    region = results[0]["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (1, 1)


def test_check_takes_stdin_and_refuses_what_it_cannot_read(
    workspace: MakeWorkspace, west: Run
) -> None:
    made = workspace()
    text = "Put `CONFIG_LOGS=y` in prj.conf.\n"
    assert west("ask", "--check", "-", cwd=made.topdir, input=text).returncode == 1
    for arguments, code in (
        (("--check", "nowhere.conf"), 4),
        (("--check", "zephyr/VERSION", "nowhere.conf"), 4),
        (("--check",), 2),
        (("--sarif", "question"), 2),
        (("--check", "zephyr/VERSION", "--status"), 2),
    ):
        refused = west("ask", *arguments, cwd=made.topdir)
        assert refused.returncode == code, refused.stderr
        assert "Traceback" not in refused.stderr and refused.stderr.strip()


def test_check_of_many_findings_into_a_closed_pipe(workspace: MakeWorkspace, run: Run) -> None:
    made = workspace()
    lines = "\n".join(f"CONFIG_NOPE{n}=y" for n in range(4000))
    (made.topdir / "m.conf").write_text(lines)
    os.mkfifo(made.topdir / "Kconfig.pipe")
    script = f"set -o pipefail; '{sys.executable}' -m west ask --check m.conf | head -1"
    done = run("bash", "-c", script, cwd=made.topdir)
    assert done.returncode in (1, 4) and "unknown CONFIG_NOPE0" in done.stdout
    assert "Traceback" not in done.stderr


def test_check_is_linear_in_blanks(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    (made.topdir / "sp.md").write_text(" " * 400_000 + "!\n" + "\t> " * 100_000)
    done = west("ask", "--check", "sp.md", cwd=made.topdir)  # a square of it takes minutes
    assert done.returncode == 0, done.stderr
