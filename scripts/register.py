# SPDX-License-Identifier: Apache-2.0
"""Give a west workspace the command `west ask` without touching its manifest.

west takes extension commands from manifests only. Where the manifest must stay as it is
(an SDK's, a colleague's), this script writes a manifest of its own to
<topdir>/.west/west-ask.yml, which imports the real one and adds west-ask as a project of a
group that is switched off, and points the workspace's setting manifest.file at it.
`west update`, `west list` and builds see what they saw before.
"""

from __future__ import annotations

import argparse
import configparser
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
PROJECT = "west-ask"
WRAPPER = Path(".west", "west-ask.yml")
RECORD = "# before: "  # the wrapper remembers here what --undo has to put back

WAYS = """\
Where the manifest is yours to extend, these are simpler than this script:

(a) Zephyr itself is the manifest repository (west init -m .../zephyr):
    write this to zephyr/submanifests/west-ask.yaml, then run: west update west-ask

        manifest:
          projects:
            - name: west-ask
              url: {url}
              revision: main
              west-commands: west-commands.yml

(b) Your application has its own west.yml: add the same four lines under `projects:`
    there, then run: west update west-ask

Of the real manifest, only `self: userdata:` is not passed on while the wrapper is in place.
"""


class Refused(Exception):
    """What stands in the way, and what to try next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Workspace:
    """A west workspace as its local settings describe it."""

    topdir: Path
    config: Path  # .west/config, or what WEST_CONFIG_LOCAL names
    text: str  # what is in it
    repo: Path  # the manifest repository, as written: <topdir>/<manifest.path>
    line: str | None  # the line that sets manifest.file; None where it is not set

    @property
    def wrapper(self) -> Path:
        return self.topdir / WRAPPER

    @property
    def active(self) -> bool:
        """Whether manifest.file names the wrapper."""
        return self.line is not None and same(self.repo / value_of(self.line), self.wrapper)


@dataclass(frozen=True)
class Plan:
    """Everything that registering writes."""

    config_text: str
    wrapper_text: str
    link: Path | None  # to be made, pointing at the checkout


def same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def value_of(line: str) -> str:
    """The value that a line `file = VALUE` sets."""
    return re.split(r"[=:]", line, maxsplit=1)[1].strip()


def with_line(text: str, line: str | None) -> str:
    """The settings with the line for manifest.file replaced, added or (None) removed.

    By hand, not by configparser: the rest of the file keeps its comments and spacing.
    """
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    start, stop = _section(lines, "manifest")
    for at in range(start, stop):
        if _sets_file(lines[at]):
            lines[at : at + 1] = [] if line is None else [line + end]
            return "".join(lines)
    if line is not None:
        while stop > start and not lines[stop - 1].strip():
            stop -= 1
        if stop and not lines[stop - 1].endswith("\n"):
            lines[stop - 1] += end
        lines.insert(stop, line + end)
    return "".join(lines)


def _section(lines: list[str], name: str) -> tuple[int, int]:
    """Where the body of [name] starts and stops; both are 0 where there is none."""
    heads = [at for at, line in enumerate(lines) if line.startswith("[")]
    for head, following in zip(heads, [*heads[1:], len(lines)], strict=True):
        if lines[head].strip() == f"[{name}]":
            return head + 1, following
    return 0, 0


def _sets_file(line: str) -> bool:
    return re.match(r"file\s*[=:]", line, re.IGNORECASE) is not None


def find_workspace(start: Path) -> Workspace:
    """The workspace that `start` lies in."""
    start = start.absolute()
    for topdir in (start, *start.parents):
        if (topdir / ".west").is_dir():
            return read_workspace(topdir)
    raise Refused(
        f"{start} is not in a west workspace (no .west folder in it or above it).",
        "cd into the workspace, or pass --workspace DIR. A new one: west init, west update.",
    )


def read_workspace(topdir: Path) -> Workspace:
    config = Path(os.environ.get("WEST_CONFIG_LOCAL") or topdir / ".west" / "config")
    if not config.is_file():
        raise Refused(f"{config} is missing: this workspace is not complete.", "Try: west init")
    settings = configparser.ConfigParser(allow_no_value=True)  # as west parses it
    try:
        with config.open(encoding="utf-8", newline="") as stream:
            text = stream.read()
        settings.read_string(text)
        path = settings.get("manifest", "path", fallback="")
    except (UnicodeDecodeError, configparser.Error) as err:
        raise Refused(f"{config}: {err}", "Repair this file; west cannot read it either.") from err
    if not path:
        raise Refused(f"{config} sets no manifest.path.", "Try: west config manifest.path zephyr")
    lines = text.splitlines()
    start, stop = _section(lines, "manifest")
    line = next((one for one in lines[start:stop] if _sets_file(one)), None)
    return Workspace(topdir, config, text, topdir / path, line)


def record(workspace: Workspace) -> dict[str, Any]:
    """What the wrapper says was there before it; empty where it says nothing."""
    try:
        for line in workspace.wrapper.read_text(encoding="utf-8").splitlines():
            if line.startswith(RECORD):
                found = json.loads(line[len(RECORD) :])
                return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        pass
    return {}


def make_plan(workspace: Workspace, checkout: Path) -> Plan:
    """What has to be written so that `west ask` is there; pure but for looking at files."""
    before = record(workspace) if workspace.active else {"line": workspace.line}
    line = before.get("line")
    real = value_of(line) if line else "west.yml"
    if not (workspace.repo / real).is_file():
        raise Refused(
            f"The workspace's manifest {workspace.repo / real} does not exist.",
            "Check with: west config manifest.path; west config manifest.file",
        )
    path, link = project_path(workspace, checkout)
    made = link is not None or bool(before.get("link"))
    remembered = json.dumps({"line": line, "link": path if made else None})
    return Plan(
        config_text=with_line(workspace.text, "file = " + wrapper_setting(workspace)),
        wrapper_text=wrapper_text(imported(workspace.repo, real), path, checkout, remembered),
        link=link,
    )


def imported(repo: Path, real: str) -> str:
    """The real manifest, relative to its repository: west refuses to import an absolute path."""
    if os.path.isabs(real):
        real = os.path.relpath(os.path.realpath(real), os.path.realpath(repo))
    return Path(real).as_posix()


def project_path(workspace: Workspace, checkout: Path) -> tuple[str, Path | None]:
    """Where in the workspace west finds the checkout, and the link that takes it there.

    west refuses projects outside the workspace, but follows links.
    """
    top = Path(os.path.realpath(workspace.topdir))
    link = workspace.topdir / PROJECT
    if top in checkout.parents:
        path = checkout.relative_to(top)
        if path.parts[0] != ".west":
            return path.as_posix(), None
    if same(link, checkout):
        return PROJECT, None
    if os.path.lexists(link):
        raise Refused(
            f"{link} is in the way: west-ask is registered under that path.",
            "Move it, or clone west-ask into the workspace under another name and register that.",
        )
    return PROJECT, link


def wrapper_setting(workspace: Workspace) -> str:
    """The value of manifest.file: relative, so that the workspace can be moved.

    Behind a link `..` is the parent of the link's target, so there it is absolute.
    """
    top, repo = os.path.realpath(workspace.topdir), os.path.realpath(workspace.repo)
    wrapper = str(workspace.wrapper)
    written = os.path.relpath(workspace.repo, workspace.topdir)
    if repo == os.path.normpath(os.path.join(top, written)):
        wrapper = os.path.relpath(os.path.join(top, WRAPPER), repo)
    if "%" in wrapper:
        raise Refused(
            f"west cannot keep a path with % in its settings: {wrapper}",
            f"Rename that folder, or make {workspace.repo} a folder instead of a link.",
        )
    return Path(wrapper).as_posix()


def wrapper_text(real: str, path: str, checkout: Path, remembered: str) -> str:
    quote = json.dumps  # a JSON string is a YAML string, in ASCII whatever is in it
    return f"""\
# Written by west-ask's scripts/register.py; `register.py --undo` removes it and restores
# manifest.file. The group is off, so west neither lists, updates nor builds this project.
{RECORD}{remembered}
manifest:
  group-filter: [-{PROJECT}]
  projects:
    - name: {PROJECT}
      url: {quote(checkout.as_uri())}
      revision: HEAD
      path: {quote(path)}
      groups: [{PROJECT}]
      west-commands: west-commands.yml
  self:
    import: {quote(real)}
"""


def apply(workspace: Workspace, plan: Plan, checkout: Path) -> None:
    """Writes the plan; the setting comes last, so that a failure before it changes nothing."""
    if plan.link is not None:
        make_link(plan.link, checkout)
    write(workspace.wrapper, plan.wrapper_text)
    write(workspace.config, plan.config_text)


def make_link(link: Path, target: Path) -> None:
    try:
        link.symlink_to(target, target_is_directory=True)
    except OSError:
        if sys.platform == "win32":
            import _winapi  # junctions need no privilege, symbolic links on Windows do

            _winapi.CreateJunction(str(target), str(link))
        else:
            raise


def write(path: Path, text: str) -> None:
    """Whole or not at all; through a link, if path is one."""
    path = Path(os.path.realpath(path))
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)
    if path.exists():
        shutil.copymode(path, part)
    part.replace(path)


def undo(workspace: Workspace) -> list[str]:
    """Puts manifest.file back and deletes the wrapper and the link; says what it did."""
    before, done = record(workspace), []
    if workspace.active:
        line = before.get("line")
        if line is None and not (workspace.repo / "west.yml").is_file():
            raise Refused(
                f"{workspace.wrapper} no longer says which manifest was in use before.",
                "Set it by hand: west config manifest.file NAME",
            )
        write(workspace.config, with_line(workspace.text, line))
        done.append(f"manifest.file is {value_of(line) if line else 'unset'} again")
    if workspace.wrapper.exists():
        workspace.wrapper.unlink()
        done.append(f"deleted {workspace.wrapper}")
    link = workspace.topdir / str(before.get("link") or PROJECT)
    if before.get("link") and (link.is_symlink() or same(link, CHECKOUT)):
        # A junction looks like a folder and is removed like an empty one.
        link.unlink() if link.is_symlink() else link.rmdir()
        done.append(f"deleted the link {link}")
    return done


def west(topdir: Path, *args: str) -> tuple[int, str] | None:
    """Runs west in the workspace: exit code and output, or None where there is no west."""
    argv = [sys.executable, "-m", "west"]
    if importlib.util.find_spec("west") is None:
        found = shutil.which("west")
        if found is None:
            return None
        argv = [found]
    run = subprocess.run(
        [*argv, *args],
        cwd=topdir,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    return run.returncode, run.stdout.strip()


def provides_ask(topdir: Path) -> bool | None:
    """Whether west lists the command; None where there is no west to be asked."""
    said = west(topdir, "help")
    return None if said is None else re.search(r"^\s+ask:", said[1], re.MULTILINE) is not None


def register(workspace: Workspace, checkout: Path, dry_run: bool = False) -> list[str]:
    """Registers the checkout and asks west whether it worked; says what was done."""
    plan = make_plan(workspace, checkout)
    if not workspace.active:
        said = west(workspace.topdir, "manifest", "--validate")
        if said is not None and said[0] != 0:
            raise Refused(
                "west cannot load this workspace's manifest as it is:\n"
                + "\n".join(said[1].splitlines()[-4:]),  # the reason; west may print a traceback
                "Nothing was changed. Try: west update",
            )
        if provides_ask(workspace.topdir):
            return [f"west ask is there already, from the manifest of {workspace.topdir}"]
    if dry_run:
        return [
            *([f"Would link {plan.link} -> {checkout}"] if plan.link else []),
            f"Would write {workspace.wrapper}:\n{plan.wrapper_text}"
            f"Would set in {workspace.config}: file = {wrapper_setting(workspace)}",
        ]
    apply(workspace, plan, checkout)
    if provides_ask(workspace.topdir) is False:
        undo(read_workspace(workspace.topdir))
        raise Refused(
            "west does not show the command ask afterwards, so everything was put back.",
            "Are extension commands switched off? west config commands.allow_extensions",
        )
    return [
        f"west ask is registered in {workspace.topdir}",
        f"manifest.file = {wrapper_setting(workspace)} (imports the manifest used so far)",
        f"Before you delete {checkout}, run:",
        f'  python3 "{Path(__file__).resolve()}" --undo --workspace "{workspace.topdir}"',
    ]


def clone_url() -> str:
    """Where this checkout was cloned from, without a password; else the checkout itself."""
    argv = ["git", "-C", str(CHECKOUT), "remote", "get-url", "origin"]
    try:
        url = subprocess.run(argv, capture_output=True, encoding="utf-8").stdout.strip()
    except (OSError, ValueError):
        url = ""
    return re.sub(r"(?<=://)[^/@]*@", "", url) or CHECKOUT.as_uri()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="register.py",
        description=__doc__,
        epilog=WAYS.format(url=clone_url()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--undo", action="store_true", help="put the old setting back, delete what was written"
    )
    parser.add_argument(
        "--workspace", metavar="DIR", type=Path, default=Path(), help="default: where you are"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")
    args = parser.parse_args(argv)
    try:
        workspace = find_workspace(args.workspace)
        if not args.undo:
            lines = register(workspace, CHECKOUT, args.dry_run)
        elif args.dry_run:
            lines = [f"Would undo what {workspace.wrapper} records: {record(workspace)}"]
        else:
            lines = undo(workspace) or [f"Nothing to undo in {workspace.topdir}"]
    except Refused as err:
        print(f"register.py: {err.message}", file=sys.stderr)
        if err.hint:
            print(f"  {err.hint}", file=sys.stderr)
        return 1
    except OSError as err:
        print(f"register.py: {err}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
