# SPDX-License-Identifier: Apache-2.0
"""A name in a text, where it stands, and whether it is meant as a name at all."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

MentionKind = Literal[
    "kconfig", "binding", "property", "board", "shield", "snippet", "sample", "west", "option",
    "include", "api",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text.

    `form` says where it was found, and so what can be said of it: "assignment" (of a .conf file,
    then `value` is what stands right of "=", spaces included), "fragment" (an assignment on a
    command line or in YAML, unquoted by a shell first), "comment", "code", "prose", "role",
    "reference" and "definition" (Kconfig, #define), "compatible", "token" (the C form of a
    compatible: nordic_nrf_uarte), "call", "struct", "angle" and "quoted" (includes), "command",
    "option".
    """

    kind: MentionKind
    name: str  # as a Symbol's: without CONFIG_
    shown: str  # as people write it: "CONFIG_LOG"
    line: int  # 1-based
    column: int  # 1-based, of the first character of the name in its line
    form: str
    value: str | None = None
    # property: the node's compatibles, one a line; binding: likewise the node's others;
    # option: the command; kconfig: the image of a sysbuild build it is for
    context: str = ""
    placeholder: str = ""  # why it stands for any name and not for itself; "" if it does not


Syntax = Callable[["Source", int, int], Iterator[Mention]]


class Source:
    """A text, and the mentions made of its offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in re.finditer(r"\n", text))]

    def offset(self, line: int, column: int) -> int:
        """Where a line and a column are in the text."""
        return self._starts[line - 1] + column - 1

    def mention(
        self,
        kind: MentionKind,
        name: str,
        offset: int,
        form: str,
        *,
        shown: str = "",
        value: str | None = None,
        context: str = "",
        placeholder: str = "",
    ) -> Mention:
        line = bisect_right(self._starts, offset)
        column = offset - self._starts[line - 1] + 1
        placeholder = placeholder or meant_as_any(kind, name)
        shown = shown or name
        return Mention(kind, name, shown, line, column, form, value, context, placeholder)


_OPTION = re.compile(
    r"(?:(?<![A-Za-z0-9_])|(?<=-D))(?P<shown>(?P<sb>SB_)?CONFIG_(?P<name>[A-Za-z0-9_]*))"
    r"(?P<after>[^\s\w]{0,3})"
)


def options(
    source: Source, start: int, end: int, form: str, skip: Callable[[int], bool] | None = None
) -> Iterator[Mention]:
    """Every CONFIG_ name; `skip` says of an offset that a mention was made of it already."""
    for match in _OPTION.finditer(source.text, start, end):
        offset = match.start("shown")
        if skip and skip(offset):
            continue
        before = source.text[max(offset - 2, 0) : offset]
        why = unfinished(match["name"], match["after"], before, form)
        yield source.mention(
            "kconfig", match["name"], offset, form, shown=match["shown"], placeholder=why
        )


_OPEN = re.compile(r"[<{$%@]|\[[A-Z^<]|\.\.\.|\u2026|##")


def unfinished(name: str, after: str, before: str = "", form: str = "prose") -> str:
    """Why `name`, with `after` right behind it, is the beginning of names and not one."""
    if not name or name.endswith("_"):
        return "the beginning of names"
    if after.startswith("##") or before.endswith("##"):
        return "a name that the preprocessor puts together"
    if form == "code":
        return "" if not after.startswith("@") else "a name that CMake puts together"
    if after.startswith("*") and not before.endswith("*"):
        return "a wildcard"
    if _OPEN.match(after) and not after.startswith(("...", "\u2026")) and after[:2] != "<=":
        return "a placeholder"
    return "a wildcard" if after.startswith(("...", "\u2026")) and name.count("_") else ""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ANY_WORD = _set("FOO BAR BAZ QUX FOOBAR FOOBARBAZ XX XXX XXXX XXXXX YYY ZZZ BLAH")
_ANY_FIRST = _set("MY YOUR OUR ACME SOME ANY ANOTHER")
_ANY_NAME = _set(
    """X Y Z N A B C NAME NAMES OPTION OPTIONS SYMBOL SYMBOLS EXAMPLE SOMETHING ANYTHING
    OPTION_NAME SYMBOL_NAME SOME_OPTION SOME_SYMBOL EXAMPLE_OPTION ANOTHER_OPTION CUSTOM_OPTION
    FEATURE FEATURE_X SOME_FEATURE KEY VALUE OPTION_A OPTION_B"""
)
_ANY_VENDOR = _set(
    """vendor manufacturer company mycompany my-company acme foo bar your-company yourcompany
    custom example vnd my-vendor myvendor my your your-vendor yourvendor xxx"""
)
_ANY_PART = _set("foo bar xxx my your dummy mydev")
_ANY_BOARD = re.compile(
    r"(?:my|your|custom|some|the|target|new)?[-_]?(?:board|target)(?:[-_]?(?:name|target|to[-_]use|id))?"
    r"|(?:my|your|custom|some)[-_].*|.*your[-_]board.*|.*[<>${}%|\[\]*\u2026].*|.*\.\.\.|plank|board/.*"
    r"|[A-Z_]+",
    re.DOTALL,
)
_ANY_TEXT = re.compile(r"[<>${}%*\u2026]|\.\.\.")


def meant_as_any(kind: MentionKind, name: str) -> str:
    """Why a name stands for any name; "" if it does not."""
    if kind == "kconfig":
        parts = name.upper().split("_")
        if not _ANY_WORD.isdisjoint(parts) or parts[0] in _ANY_FIRST or name.upper() in _ANY_NAME:
            return "a placeholder"
    elif kind in ("binding", "property"):
        vendor, comma, part = name.partition(",")
        words = re.split(r"[^a-z0-9]+", name.lower())
        first = vendor if comma else words[0]  # of the C form, vnd_my_device
        if first in _ANY_VENDOR or not _ANY_PART.isdisjoint(words):
            return "a placeholder"
        if comma and part in ("device", "part", "chip", "model", "name", "compatible"):
            return "a placeholder"
    elif kind in ("board", "shield", "snippet"):
        words = re.split(r"[^a-z0-9]+", name.lower())
        if _ANY_BOARD.fullmatch(name) or not {"foo", "bar", "xxx"}.isdisjoint(words):
            return "a placeholder"
        if kind != "board" and re.match(r"(?:my|your|some)_?|shield_?|snippet", name):
            return "a placeholder"
    elif kind in ("sample", "west", "option", "include") and _ANY_TEXT.search(name):
        return "a placeholder"
    return ""
