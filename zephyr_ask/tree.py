# SPDX-License-Identifier: Apache-2.0
"""Which files of a workspace define something, and what reads each: zephyr's own, then those of
every other project of the manifest that is checked out.

Paths are relative to the zephyr folder; of another project "../modules/…".
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from zephyr_ask.workspace import ABSENT, PAGE_ROOTS, Project, Stat, is_page, stat_of

Source = Literal["page", "kconfig", "binding", "hardware", "commands", "header", "module"]
SOURCES: tuple[Source, ...] = (
    "page", "kconfig", "binding", "hardware", "commands", "header", "module"
)  # fmt: skip

BIG = 2_000_000  # bytes; no file that defines names is near it (the largest has 0.7 MB)
# Zephyr's own folders that hold any of them, now or in a release that `west ask` reads. Named,
# not found: what people keep in their zephyr folder besides (build, a venv) is not Zephyr's.
ROOTS = (*PAGE_ROOTS, "arch", "cmake", "drivers", "dts", "ext", "include", "kernel", "lib",
         "misc", "modules", "scripts", "share", "soc", "subsys")  # fmt: skip
# Where another project's module.yml says nothing else.
MODULE_FILES = ("zephyr/module.yml", "zephyr/module.yaml")
_ROOT_FOLDERS = {"board_root": "boards", "soc_root": "soc", "dts_root": "dts",
                 "snippet_root": "snippets"}  # fmt: skip
_HARDWARE = frozenset(("board.yml", "soc.yml", "shield.yml", "snippet.yml", "sample.yaml"))
_KCONFIG = re.compile(r"(?:^|/)Kconfig(?:\.[\w.+-]+)?$")
_NOT_KCONFIG = re.compile(r"\.(?:rst|md|txt|py|ya?ml|cmake|orig|rej|swp)$|~$")
_BINDING = re.compile(r"(?:^|/)dts/bindings/.+\.ya?ml$")
# ztest and fff are included as <zephyr/…> from beside the test suite.
_HEADER = re.compile(r"^(?:include|subsys/testsuite/(?:include|ztest/include))/zephyr/.+\.h$")
# Fixtures of Zephyr's own tests of its tools: they define nothing that a build could use.
_FIXTURES = re.compile(r"^scripts/(?:tests|ci|dts/python-devicetree/tests)/")


class Found(NamedTuple):
    """What a look at the tree found."""

    folders: dict[str, tuple[int, int]]  # mtime_ns, ctime_ns of each
    files: dict[str, Stat]
    sources: dict[str, Source]  # what reads each file
    absent: tuple[str, ...]  # files that would count if they were there


def source_of(path: str) -> Source | None:
    """What reads a file of the zephyr tree; None: it defines nothing."""
    if path.endswith(".rst"):
        return "page" if path.startswith(_PAGES) and is_page(path) else None
    name = path[path.rfind("/") + 1 :]
    if name.startswith("Kconfig"):
        if _NOT_KCONFIG.search(name) or _FIXTURES.match(path):
            return None
        return "kconfig" if _KCONFIG.search(path) else None
    if name in _HARDWARE:
        return None if _FIXTURES.match(path) else "hardware"
    if path.endswith((".yaml", ".yml")):
        if _BINDING.search(path) and not _FIXTURES.match(path):
            return "binding"
        return "commands" if path == "scripts/west-commands.yml" else None
    if path.endswith(".h") and _HEADER.match(path):
        return "header"
    return "hardware" if path == "boards/deprecated.cmake" else None


_PAGES = tuple(f"{root}/" for root in PAGE_ROOTS)


def look(base: Path, projects: Sequence[Project] = ()) -> Found:
    """All folders that may hold sources, and all sources."""
    found = Found({}, {}, {}, ())
    status = os.stat(base)
    found.folders["."] = (status.st_mtime_ns, status.st_ctime_ns)
    for name in ("Kconfig", "Kconfig.zephyr", "Kconfig.constants"):
        _add(found, base, name, "kconfig")
    for root in sorted(ROOTS):
        _walk(found, base, root, source_of)
    absent: list[str] = []
    for project in projects:
        absent += _project(found, base, project)
    return found._replace(absent=tuple(absent))


def _add(found: Found, base: Path, path: str, source: Source) -> bool:
    status = stat_of(os.path.join(base, path)) if nameable(path) else ABSENT
    if status == ABSENT:
        return False
    found.files[path] = status
    found.sources[path] = source
    return True


def nameable(path: str) -> bool:
    """Whether a file may have this path, as far as the index can hold it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in path and len(path) < 2000


def _walk(found: Found, base: Path, root: str, source_of: Callable[[str], Source | None]) -> None:
    """Sources below `root`; links to folders are not followed."""
    if not os.path.isdir(os.path.join(base, root)):
        return
    pending = [root]
    while pending:
        folder = pending.pop()
        place = os.path.join(base, folder)
        try:
            status = os.stat(place)
            # Before listing: what is added in between shows as a change the next time.
            found.folders[folder] = (status.st_mtime_ns, status.st_ctime_ns)
            with os.scandir(place) as entries:
                inner = sorted(entries, key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        for entry in inner:
            path = f"{folder}/{entry.name}"
            try:
                path.encode()
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith("."):
                        pending.append(path)
                    continue
                source = source_of(path)
                if source is not None:
                    _add(found, base, path, source)
            except (OSError, UnicodeEncodeError):
                continue


# --- other projects


def _project(found: Found, base: Path, project: Project) -> list[str]:
    """Sources of another project; the paths of what would count if it were there, a folder's with
    a "/" at its end. Nothing outside of the project is looked at, whatever its files say."""
    absent = []
    for name in project.commands:
        path = _join(project.path, name)
        if _contained(base, project, path) and not _add(found, base, path, "commands"):
            absent.append(path)
    module = None
    for name in MODULE_FILES:
        path = posixpath.join(project.path, name)
        if module is None and _contained(base, project, path) and _add(found, base, path, "module"):
            module = path
        elif path not in found.files:
            absent.append(path)
    folders, kconfigs = _layout(base, project, module)
    inside = _inside(project.path)
    for folder in folders:
        path = _join(project.path, folder)
        if not _contained(base, project, path):
            continue
        if os.path.isdir(os.path.join(base, path)):
            _walk(found, base, path, inside)
        else:
            absent.append(f"{path}/")
    absent += _follow(found, base, project, [_join(project.path, name) for name in kconfigs])
    return [path for path in absent if nameable(path)]


def _join(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name))


def _contained(base: Path, project: Project, path: str) -> bool:
    """Whether a path lies in its project, links followed."""
    if not nameable(path) or not (path == project.path or path.startswith(project.path + "/")):
        return False
    try:
        root = os.path.realpath(os.path.join(base, project.path))
        place = os.path.realpath(os.path.join(base, path))
    except (OSError, ValueError):
        return False
    return place == root or place.startswith(root + os.sep)


def _inside(project: str) -> Callable[[str], Source | None]:
    """`source_of` for a file of another project: its pages are not Zephyr's to publish."""

    def source(path: str) -> Source | None:
        kind = source_of(path.removeprefix(project + "/"))
        return kind if kind in ("kconfig", "binding", "hardware") else None

    return source


def _layout(base: Path, project: Project, module: str | None) -> tuple[list[str], list[str]]:
    """Folders to walk and Kconfig files to begin with, relative to the project."""
    build = module_build(module, _text(base, module) or "") if module is not None else {}
    settings = build.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    folders = []
    for name, folder in _ROOT_FOLDERS.items():
        root = settings.get(name)
        if root is None and project.manifest and module is None:
            root = "."
        if isinstance(root, str):
            below = posixpath.join(root, folder)
            folders.append(f"{below}/bindings" if name == "dts_root" else below)
    named = [build.get(key) for key in ("kconfig", "sysbuild-kconfig")]
    kconfigs = [value for value in named if isinstance(value, str)]
    if module is not None and "kconfig" not in build:
        kconfigs.append("zephyr/Kconfig")
    if project.manifest:
        kconfigs += ["Kconfig", "app/Kconfig"]
    return folders, kconfigs


def module_build(path: str, text: str) -> dict[str, object]:
    """The `build:` part of a module.yml; {} for what cannot be read."""
    from zephyr_ask.sources.yaml_text import load_yaml

    data, _ = load_yaml(path, text)
    build = data.get("build") if isinstance(data, dict) else None
    return build if isinstance(build, dict) else {}


_SOURCED = re.compile(r'^[ \t]*(o?r?)source[ \t]+"([^"\n]+)"', re.MULTILINE)
_FOLLOWED = 2000  # Kconfig files of one project; more is a loop through links


def _follow(found: Found, base: Path, project: Project, pending: list[str]) -> list[str]:
    """Kconfig files that a project's own Kconfig sources, as far as they lie in it."""
    absent = []
    seen: set[str] = set()
    while pending and len(seen) < _FOLLOWED:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        if not _contained(base, project, path):
            continue
        if path not in found.files and not _add(found, base, path, "kconfig"):
            absent.append(path)
            continue
        folder = posixpath.dirname(path)
        for how, target in _SOURCED.findall(_text(base, path) or ""):
            if "r" in how and "$" not in target:
                pending += _glob(found, base, project, _join(folder, target))
    return absent


def _glob(found: Found, base: Path, project: Project, pattern: str) -> list[str]:
    """The files that a pattern matches; the folders in which others may appear are looked at."""
    if not _WILD.search(pattern):
        return [pattern]
    whole = ["."]
    for part in pattern.split("/"):
        if not _WILD.search(part):
            whole = [_join(path, part) for path in whole]
            continue
        matched = []
        for folder in whole:
            if not _contained(base, project, folder):
                continue
            try:
                status = os.stat(os.path.join(base, folder))
                found.folders[folder] = (status.st_mtime_ns, status.st_ctime_ns)
                names = sorted(os.listdir(os.path.join(base, folder)))
            except (OSError, ValueError):
                continue
            matched += [_join(folder, n) for n in names if fnmatch.fnmatchcase(n, part)]
        whole = matched[:_FOLLOWED]
    return whole


_WILD = re.compile(r"[*?[]")


def _text(base: Path, path: str) -> str | None:
    """Of a regular file of a sane size."""
    place = os.path.join(base, path)
    if not 0 <= stat_of(place)[0] <= BIG:
        return None
    try:
        with open(place, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None
