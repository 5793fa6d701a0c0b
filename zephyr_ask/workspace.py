# SPDX-License-Identifier: Apache-2.0
"""Which zephyr, which revision, which files, where the cache is, where a page is published."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from zephyr_ask.types import Revision, WorkspaceError

# The folders whose pages Zephyr's documentation build publishes, now or in a release that
# `west ask` reads (tests/ was published up to 3.x).
PAGE_ROOTS = ("doc", "samples", "boards", "snippets", "tests")

# Files below these folders that are not documentation, each by its name.
_NOT_PAGES = re.compile(
    r"""(^|/)\.                   # hidden files
      | (^|/)404\.rst$            # the page for pages that do not exist
      | ^doc/index-tex\.rst$      # the table of contents of the PDF: doc/index.rst says the same
      | ^doc/_[^/]*/              # the build's own machinery and templates
      | (^|/)_?templates?/        # skeletons that authors copy
      | (^|/)requirements[^/]*\.rst$  # lists of Python packages
    """,
    re.VERBOSE,
)
_PUBLISHED = "https://docs.zephyrproject.org"


def is_page(path: str) -> bool:
    """Whether `path` (POSIX, relative to zephyr) is a page of the documentation."""
    return path.endswith(".rst") and not _NOT_PAGES.search(path)


Stat = tuple[int, int, int]  # size, mtime_ns, ctime_ns; (-1, -1, -1): absent
ABSENT: Stat = (-1, -1, -1)


def stat_of(path: str) -> Stat:
    """Of a regular file; anything else counts as absent."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    if not stat.S_ISREG(found.st_mode):
        return ABSENT
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def decode(data: bytes) -> str:
    """UTF-8 with or without a BOM; other bytes become U+FFFD; any newline becomes "\\n"."""
    text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


@dataclass(frozen=True, slots=True)
class Project:
    """Another project of the west manifest, checked out."""

    path: str  # POSIX, relative to the zephyr folder: "../modules/hal/nordic"
    name: str
    commands: tuple[str, ...] = ()  # its files of west commands, relative to it
    manifest: bool = False  # the one that holds the manifest: an application, mostly

    @classmethod
    def at(cls, base: Path, checkout: Checkout) -> Project:
        path = os.path.relpath(checkout.place, base).replace(os.sep, "/")
        return cls(path, checkout.name, checkout.commands, checkout.manifest)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A zephyr folder and the folders in which its index may be kept, best first."""

    base: Path
    topdir: Path | None
    caches: tuple[Path, ...]
    projects: tuple[Project, ...] = ()  # the others; in the order of the manifest

    def index_files(self) -> list[Path]:
        """Where the index may be kept, best first. Inside the workspace it is named by
        zephyr's place in it, so that it may be moved; elsewhere by zephyr's full path."""
        files = []
        for folder in self.caches:
            name = str(self.base)
            if self.topdir is not None and folder.is_relative_to(self.topdir):
                name = os.path.relpath(self.base, self.topdir)
            digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:8]
            files.append(folder / f"{digest}.sqlite3")
        return files


class Checkout(NamedTuple):
    """A project of the manifest as west names it."""

    place: Path
    name: str
    commands: tuple[str, ...]  # its files of west commands, relative to it
    manifest: bool  # it holds the manifest


def find(
    environ: Mapping[str, str], topdir: Path | None, checkouts: Iterable[Checkout] = ()
) -> Workspace:
    """The zephyr that west chose (ZEPHYR_BASE), or else the project that looks like it; and the
    other projects that are checked out.

    Raises WorkspaceError if there is none, or if its documentation is not there.
    """
    named = environ.get("ZEPHYR_BASE", "")
    checkouts = list(checkouts)
    if named:
        base = Path(named).expanduser()
    else:
        base = next((c.place for c in checkouts if _looks_like_zephyr(c.place)), Path())
        if base == Path():
            raise WorkspaceError(
                "no zephyr in this workspace" if topdir else "not in a west workspace",
                "name the folder: west config zephyr.base <path>"
                if topdir
                else "name the folder: export ZEPHYR_BASE=<path to zephyr>",
            )
    base = Path(os.path.abspath(base))
    _check(base, "ZEPHYR_BASE" if named else "the workspace's zephyr")
    inside = [topdir / ".west" / "ask"] if topdir else []
    caches = (*inside, user_cache(environ) / "index")
    real = os.path.realpath(base)
    projects = tuple(
        Project.at(base, checkout)
        for checkout in checkouts
        # Not west's is_cloned(): that starts git for each.
        if checkout.place.is_dir() and os.path.realpath(checkout.place) != real
    )
    return Workspace(base, topdir, caches, projects if _in(base, topdir) else ())


def _in(base: Path, topdir: Path | None) -> bool:
    """Whether a zephyr is of this workspace, and so the workspace's other projects are its."""
    return topdir is not None and base.is_relative_to(topdir)


def _looks_like_zephyr(path: Path) -> bool:
    return all((path / name).exists() for name in ("VERSION", "doc", "west.yml"))


def _check(base: Path, what: str) -> None:
    if not base.is_dir():
        raise WorkspaceError(
            f"{what} is {base}, which is not a folder",
            "name the right one: west config zephyr.base <path>",
        )
    if not (base / "VERSION").is_file():
        raise WorkspaceError(
            f"{what} is {base}, which has no VERSION file: it is not a zephyr checkout",
            "name the right one: west config zephyr.base <path>",
        )
    if not (base / "doc" / "index.rst").is_file():
        raise WorkspaceError(
            f"{base} has no doc/index.rst: its documentation is not checked out",
            f"in a sparse checkout add it: git -C {base} sparse-checkout add doc samples boards",
        )


def user_cache(environ: Mapping[str, str]) -> Path:
    """The user's cache folder for this program; it may not exist yet."""
    if sys.platform == "win32":
        root = environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = str(Path.home() / "Library" / "Caches")
    else:
        root = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "west-ask"


def version(base: Path) -> str:
    """ "4.1.99", "4.2.0-rc1": what the VERSION file says, or "unknown"."""
    try:
        text = (base / "VERSION").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    values = dict(re.findall(r"^[ \t]*(\w+)[ \t]*=[ \t]*(\S*)[ \t]*$", text, re.MULTILINE))
    parts = [values.get(name, "") for name in ("VERSION_MAJOR", "VERSION_MINOR", "PATCHLEVEL")]
    if not all(part.isdigit() for part in parts):
        return "unknown"
    extra = values.get("EXTRAVERSION", "")
    return ".".join(parts) + (f"-{extra}" if extra else "")


def page_url(version: str, page: str, anchor: str | None) -> str:
    """Where docs.zephyrproject.org publishes a page of this version.

    A release has its own copy; everything between releases (x.y.99, -rcN) is "latest".
    """
    name = page.removeprefix("doc/").removesuffix(".rst")
    return f"{_edition(version)}/{quote(name)}.html" + (f"#{quote(anchor)}" if anchor else "")


def _edition(version: str) -> str:
    match = re.fullmatch(r"\d+\.\d+\.(\d+)", version)
    return f"{_PUBLISHED}/{version if match and int(match[1]) < 99 else 'latest'}"


def symbol_url(version: str, kind: str, name: str, path: str) -> str:
    """Where a symbol of this version is published: the Kconfig search, a binding's own page, and
    for C, whose pages have no names that follow from anything, the site's search."""
    edition = _edition(version)
    if kind == "kconfig":
        return f"{edition}/kconfig.html#{quote(name)}"
    if kind == "bindings" and path.startswith("dts/bindings/"):
        page = os.path.splitext(path.removeprefix("dts/bindings/"))[0]
        return f"{edition}/build/dts/api/bindings/{quote(page, safe='/,')}.html"
    return f"{edition}/search.html?q={quote(name)}"


# git's patterns for what may be indexed of a tree; more do no harm.
_INDEXED = ("*.rst", "*Kconfig*", "*.yml", "*.yaml", "include/*.h", "boards/*.cmake")


_HEAD = ("rev-parse", "--show-prefix", "HEAD")


class GitProbe:
    """Asks git about the revision while other work goes on; `revision` collects the answer."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._head = _git(base, *_HEAD)
        self._status = _git(base, "status", "--porcelain", "--untracked-files=no")

    def revision(self, tracked: str = "", pages: Callable[[], Iterable[str]] = tuple) -> Revision:
        """The tree also counts as modified if git does not know one of the indexed `pages`; at the
        commit `tracked` it knew them all. Waits for git."""
        commit, modified = _commit(_output(self._head)), None
        status = _output(self._status)
        if commit is not None and status is not None:
            modified = bool(status.strip()) or not (
                commit == tracked or knows_all(self._base, pages())
            )
        return Revision(version(self._base), commit, modified, str(self._base))


def _commit(head: str | None) -> str | None:
    """From what _HEAD prints; None if zephyr is a folder of some other repository."""
    prefix, _, rest = (head or "").partition("\n")
    return None if prefix else rest.strip() or None


def tracked_at(base: Path, pages: Iterable[str]) -> str:
    """The commit that is checked out if git tracks every one of `pages`, else ""."""
    commit = _commit(_output(_git(base, *_HEAD)))
    return commit if commit and knows_all(base, pages) else ""


def knows_all(base: Path, pages: Iterable[str]) -> bool:
    """Whether git tracks every one of `pages`."""
    tracked = _output(_git(base, "ls-files", "-z", "--", *_INDEXED))
    known = set((tracked or "").split("\0"))
    return all(page in known for page in pages)


def _git(base: Path, *arguments: str) -> subprocess.Popen[str] | None:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environ.update(GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    try:
        return subprocess.Popen(
            ["git", "-c", "core.fsmonitor=false", "-C", str(base), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            env=environ,
        )
    except OSError:  # no git, or not to be run
        return None


def _output(process: subprocess.Popen[str] | None) -> str | None:
    if process is None:
        return None
    output, _ = process.communicate()
    return output if process.returncode == 0 else None
