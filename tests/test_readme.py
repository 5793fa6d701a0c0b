# SPDX-License-Identifier: Apache-2.0
"""What the README says is done as it says: each way to register, each example."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import CONFIG, ROOT, MakeWorkspace, Run, Workspace, copy_checkout

README = (ROOT / "README.md").read_text(encoding="utf-8")
QUESTION = "how do I enable logging"


def block(name: str) -> str:
    """The code block after `<!-- name -->`."""
    match = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert match is not None, name
    return match[1]


def clone_into(made: Workspace, run: Run) -> None:
    """The checkout as `git clone` leaves it: a repository with an origin."""
    target = made.topdir / "west-ask"
    copy_checkout(target)
    for args in (["init", "-q"], ["remote", "add", "origin", "https://git.example.com/west-ask"]):
        assert run("git", *args, cwd=target).returncode == 0


def shell(script: str, cwd: Path, env: dict[str, str]) -> None:
    # `python3` of the README is the interpreter of the tests.
    script = re.sub(r"\bpython3\b", f"'{sys.executable}'", script)
    done = subprocess.run(
        ["bash", "-euc", script], cwd=cwd, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def asks(made: Workspace, west: Run) -> None:
    result = west("ask", QUESTION, cwd=made.topdir)
    assert result.returncode == 0, result.stderr
    assert "doc/services/logging/index.rst:" in result.stdout


def test_way_a(workspace: MakeWorkspace, run: Run, west: Run, clean_env: dict[str, str]) -> None:
    made = workspace(register=False)
    clone_into(made, run)
    shell(block("way a"), made.topdir, clean_env)
    asks(made, west)
    assert run("git", "status", "--porcelain", cwd=made.zephyr).stdout == ""


def test_way_b(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    clone_into(made, run)
    app = made.topdir / "app"
    app.mkdir()
    entry = textwrap.dedent(block("way b"))
    zephyr = "- name: zephyr\n  url: https://git.example.com/zephyr\n  revision: main\n"
    (app / "west.yml").write_text(
        "manifest:\n  projects:\n" + textwrap.indent(zephyr + entry, "    "), encoding="utf-8"
    )
    (made.topdir / ".west" / "config").write_text(CONFIG.replace("path = zephyr", "path = app"))
    asks(made, west)


def test_way_c_and_undo(
    workspace: MakeWorkspace, run: Run, west: Run, clean_env: dict[str, str]
) -> None:
    made = workspace(register=False)
    clone_into(made, run)
    before = (made.topdir / ".west" / "config").read_bytes()
    shell(block("way c"), made.topdir, clean_env)
    asks(made, west)
    shell(block("way c").strip() + " --undo", made.topdir, clean_env)
    assert (made.topdir / ".west" / "config").read_bytes() == before
    assert west("ask", QUESTION, cwd=made.topdir).returncode != 0


def test_examples(workspace: MakeWorkspace, west: Run, clean_env: dict[str, str]) -> None:
    made = workspace()
    (made.topdir / "questions.txt").write_text(f"{QUESTION}\nblink a light\n")
    (made.topdir / "prj.conf").write_text("CONFIG_LOG=y\n")
    (made.topdir / "README.md").write_text("Set `CONFIG_GPIO=y`.\n")
    (made.topdir / "boards").mkdir()
    examples = re.findall(r"^west ask .*$", README, re.MULTILINE)
    assert len(examples) >= 6
    for example in dict.fromkeys(examples):
        if "--fetch" in example:
            continue
        command = example.replace("west ask", f"'{sys.executable}' -m west ask", 1)
        done = subprocess.run(["bash", "-c", command], cwd=made.topdir, env=clean_env,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode in (0, 3), f"{example}\n{done.stderr}"


@pytest.mark.parametrize("name", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_links_lead_somewhere(name: str) -> None:
    assert (ROOT / name).exists()
