# SPDX-License-Identifier: Apache-2.0
"""Which files `west ask --check` reads, and their text."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_BYTES = 2_000_000  # of a file; larger ones are generated, or no text
DEPTH = 40  # of folders
_SNIFFED = 8_000  # bytes in which a NUL makes a file binary, as git has it


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_SUFFIXES = _set(
    ".conf .overlay .dts .dtsi .c .h .cpp .hpp .cc .cxx .hh .hxx .cmake .md .markdown .mdx .mdc"
    " .rst .txt .sh"
)
_NAMES = _set(
    "sample.yaml testcase.yaml snippet.yml shield.yml board.yml defconfig .cursorrules"
    " .windsurfrules Dockerfile Makefile"
)
# Folders that hold no sources of a person's, or other projects' whole trees.
_SKIPPED = _set(
    ".git .hg .svn .west .venv venv __pycache__ node_modules .tox .mypy_cache .ruff_cache"
    " .pytest_cache .cache twister-out"
)


@dataclass(frozen=True, slots=True)
class File:
    """A text to check; line ends are "\\n"."""

    path: str  # as found: what was given, and below it with "/"
    text: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not checked, or a name that finds none, and why in one line."""

    path: str
    why: str
    given: bool  # by name, not found in a folder


def files(arguments: Sequence[str], given: bool = True) -> Iterator[File | Skipped]:
    """The files that arguments name, "-" being stdin, and in folders those whose names say that
    names of Zephyr's may be in them; each once, in the order of their names.

    A file that is given by name is read whatever it is called; `given` False: only regular ones.
    """
    seen: set[tuple[int, int]] = set()
    for argument in arguments:
        if argument == "-":
            stream = getattr(sys.stdin, "buffer", None)
            if stream is None:
                yield Skipped("-", "there is no standard input", True)
            else:
                yield _decoded("-", stream.read(MAX_BYTES + 1), True)
        elif os.path.isdir(argument):
            yield from _folder(argument, seen)
        else:
            yield from _file(argument, seen, given)


def is_checked(name: str) -> bool:
    """Whether a folder's file of this name is checked; and so what `own_names` may come from:
    bindings besides (.yaml)."""
    if name.startswith("Kconfig") or name.endswith("_defconfig") or name in _NAMES:
        return True
    return os.path.splitext(name)[1].lower() in _SUFFIXES


def _folder(path: str, seen: set[tuple[int, int]], depth: int = 0) -> Iterator[File | Skipped]:
    try:
        status = os.stat(path)
        entries = sorted(os.listdir(path))
    except OSError as error:
        yield Skipped(path, f"cannot be read: {_reason(error)}", depth == 0)
        return
    key = (status.st_dev, status.st_ino)
    if key in seen:
        return  # a symbolic link back to where we were
    if depth > DEPTH:
        yield Skipped(path, f"more than {DEPTH} folders deep", True)
        return
    seen.add(key)
    for name in entries:
        below = os.path.join(path, name).replace(os.sep, "/")
        if os.path.isdir(below):
            if name not in _SKIPPED and not _is_build(below, name):
                yield from _folder(below, seen, depth + 1)
        elif is_checked(name) or _is_binding(below):
            yield from _file(below, seen, given=False)


def _is_build(path: str, name: str) -> bool:
    return (name.startswith("build") or name.endswith("build")) and (
        name == "build"
        or any(
            os.path.exists(os.path.join(path, made))
            for made in ("CMakeCache.txt", "build.ninja", "build_info.yml")
        )
    )


def _is_binding(path: str) -> bool:
    return path.endswith((".yaml", ".yml")) and "/bindings/" in path


def _file(path: str, seen: set[tuple[int, int]], given: bool) -> Iterator[File | Skipped]:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) and not given:
            return  # a pipe or a device in a folder
        key = (status.st_dev, status.st_ino)
        if key in seen:
            return
        seen.add(key)
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        yield Skipped(path, _reason(error), given)
        return
    yield _decoded(path, data, given)


def _decoded(path: str, data: bytes, given: bool) -> File | Skipped:
    if len(data) > MAX_BYTES:
        return Skipped(path, f"larger than {MAX_BYTES // 1_000_000} MB", given)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return File(path, _lines(data.decode("utf-16")))
        except UnicodeDecodeError:
            return Skipped(path, "binary", given)
    if b"\0" in data[:_SNIFFED]:
        return Skipped(path, "binary", given)
    try:
        return File(path, _lines(data.decode("utf-8-sig")))
    except UnicodeDecodeError:
        return File(path, _lines(data.decode("latin-1")))  # names are ASCII in either


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _reason(error: OSError) -> str:
    text = error.strerror or type(error).__name__
    return text[0].lower() + text[1:]
