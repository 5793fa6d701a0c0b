# SPDX-License-Identifier: Apache-2.0
"""What the tests stand on: real west, real git, workspaces of the project's own pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

ROOT = Path(__file__).resolve().parent.parent
MINIATURE = ROOT / "tests" / "miniature" / "zephyr"

CONFIG = "[manifest]\npath = zephyr\nfile = west.yml\n\n[zephyr]\nbase = zephyr\n"
ENTRY = """\
manifest:
  projects:
    - name: west-ask
      url: https://git.example.com/west-ask
      revision: main
      west-commands: west-commands.yml
"""
# What a person's shell or CI sets and a test must not depend on.
UNSET = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONPATH", "PYTHONWARNINGS", "CI", "TERM")
UNSET_PREFIXES = ("WEST_", "ZEPHYR_", "GIT_", "HF_", "ASK_", "XDG_", "LC_", "PYTHONIO")

Result = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Workspace:
    """A west workspace on disk."""

    topdir: Path
    zephyr: Path


class Run(Protocol):
    """Runs a program to its end; output is text."""

    def __call__(
        self,
        *args: str | Path,
        cwd: Path,
        input: str | None = None,
        env: Mapping[str, str | None] | None = None,
    ) -> Result: ...


class MakeWorkspace(Protocol):
    """Makes a workspace; see the fixture `workspace`."""

    def __call__(
        self,
        name: str = "ws",
        *,
        register: bool = True,
        copy: bool = False,
        git: bool = True,
    ) -> Workspace: ...


@pytest.fixture(scope="session")
def clean_env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment without this machine's settings of west, git and the like.

    The home and the cache last for the session, so that the model is prepared once.
    """
    home = tmp_path_factory.mktemp("home")
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in UNSET and not name.startswith(UNSET_PREFIXES)
    }
    moment = "2025-06-01T12:00:00+00:00"
    return env | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "LOCALAPPDATA": str(home / "cache"),
        "WEST_CONFIG_GLOBAL": str(home / "westconfig"),
        "WEST_CONFIG_SYSTEM": str(home / "westconfig-system"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Gardener",
        "GIT_AUTHOR_EMAIL": "gardener@example.com",
        "GIT_AUTHOR_DATE": moment,
        "GIT_COMMITTER_NAME": "Gardener",
        "GIT_COMMITTER_EMAIL": "gardener@example.com",
        "GIT_COMMITTER_DATE": moment,
        "PYTHONUTF8": "1",
    }


@pytest.fixture(scope="session")
def run(clean_env: dict[str, str]) -> Run:
    """Runs a program in the clean environment; `env` adds to it, or removes with None."""

    def call(
        *args: str | Path,
        cwd: Path,
        input: str | None = None,
        env: Mapping[str, str | None] | None = None,
    ) -> Result:
        merged = {**clean_env, **(env or {})}
        return subprocess.run(
            [str(arg) for arg in args],
            cwd=cwd,
            env={name: value for name, value in merged.items() if value is not None},
            input=input or "",
            capture_output=True,
            encoding="utf-8",
            timeout=240,
        )

    return call


@pytest.fixture(scope="session")
def west(run: Run) -> Run:
    """Real west, as this interpreter has it: west("ask", "…", cwd=…)."""

    def call(
        *args: str | Path,
        cwd: Path,
        input: str | None = None,
        env: Mapping[str, str | None] | None = None,
    ) -> Result:
        return run(sys.executable, "-m", "west", *args, cwd=cwd, input=input, env=env)

    return call


@pytest.fixture(scope="session")
def zephyr_ask(run: Run) -> Run:
    """The console script, without its having to be on PATH."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import zephyr_ask.cli as cli; "

    def call(
        *args: str | Path,
        cwd: Path,
        input: str | None = None,
        env: Mapping[str, str | None] | None = None,
    ) -> Result:
        code = start + "sys.exit(cli.main())"
        return run(sys.executable, "-c", code, *args, cwd=cwd, input=input, env=env)

    return call


@pytest.fixture
def workspace(tmp_path: Path, run: Run) -> MakeWorkspace:
    """Makes workspaces of the miniature, under a name that may hold spaces or any letters.

    `register` adds west-ask to the manifest (README, way a) and links the checkout in, or
    copies it; without `git` zephyr is a plain folder.
    """

    def make(
        name: str = "ws", *, register: bool = True, copy: bool = False, git: bool = True
    ) -> Workspace:
        topdir = tmp_path / name
        made = Workspace(topdir, topdir / "zephyr")
        shutil.copytree(MINIATURE, made.zephyr)
        (topdir / ".west").mkdir()
        (topdir / ".west" / "config").write_text(CONFIG, encoding="utf-8")
        if git:
            for args in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "Sow")):
                done = run("git", *args, cwd=made.zephyr)
                assert done.returncode == 0, done.stderr
        if register:
            add_west_ask(made, copy=copy)
        return made

    return make


def add_west_ask(made: Workspace, *, copy: bool = False) -> None:
    """Registers the checkout in the way (a) of the README, as if west had cloned it."""
    (made.zephyr / "submanifests").mkdir(exist_ok=True)
    (made.zephyr / "submanifests" / "west-ask.yaml").write_text(ENTRY, encoding="utf-8")
    exclude = made.zephyr / ".git" / "info" / "exclude"
    if exclude.is_file():
        with exclude.open("a", encoding="utf-8") as stream:
            stream.write("/submanifests/west-ask.yaml\n")
    checkout = made.topdir / "west-ask"
    if copy:
        copy_checkout(checkout)
    else:
        checkout.symlink_to(ROOT, target_is_directory=True)


def copy_checkout(target: Path) -> None:
    """A copy of this checkout without what is made in it."""
    made = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
    shutil.copytree(ROOT, target, ignore=made, symlinks=True)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Zephyr's own documentation sources and real questions, where the developer has them."""
    found = ROOT.parent / "shared"
    if not (found / "zephyr" / "make-workspace").is_file():
        pytest.skip(
            f"no {found}: it holds Zephyr's documentation, which is not part of the project"
        )
    return found


@pytest.fixture(scope="session")
def zephyr_workspace(shared: Path, tmp_path_factory: pytest.TempPathFactory, run: Run) -> Workspace:
    """Zephyr's own pages with the command registered. Tests that change it put it back."""
    topdir = tmp_path_factory.mktemp("zephyr") / "ws"
    done = run(shared / "zephyr" / "make-workspace", topdir, cwd=topdir.parent)
    assert done.returncode == 0, done.stderr
    made = Workspace(topdir, topdir / "zephyr")
    add_west_ask(made)
    return made
