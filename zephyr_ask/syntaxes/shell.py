# SPDX-License-Identifier: Apache-2.0
"""Command lines: west commands with their options, boards, shields, snippets, samples, and
options of Kconfig in -D arguments. Transcripts, scripts, and lines of a page alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from zephyr_ask.syntaxes.kconfig import plain
from zephyr_ask.syntaxes.mention import Mention, MentionKind, Source

# `west` where a command begins: after a prompt, an operator, a key of YAML, at a line's start.
_WEST = re.compile(
    r"(?:^[ \t]*(?:[-*][ \t]+)?(?:run:[ \t]*)?(?:[\w.~/:@()\[\]-]*[ \t]?[$#>%][ \t]+)?"
    r"|[;&|][ \t]*|\$\(|`|\"|')"
    r"(?:sudo[ \t]+|[A-Z_]+=\S*[ \t]+)*(?P<west>west)(?=[ \t])",
    re.MULTILINE,
)
_WORD = re.compile(
    r"(?P<joint>[ \t]+|[ \t]*\\\r?\n[ \t]*|[ \t]*\^\r?\n[ \t]*)"
    r"(?P<word>(?:\\.|'[^'\n]*'|\"(?:\\.|[^\"\\\n])*\"|<[^<>\n]*>|\[[^\]\n]*\]|\$\{[^}\n]*\}"
    r"|\{[^}\n]*\}|[^\s\\;&|`'\"<>\[{])+)"
)
_COMMAND = re.compile(r"[a-z][a-z0-9-]*")
_OPTION_WORD = re.compile(r"--?[A-Za-z][\w-]*")
_D_ARGUMENT = re.compile(
    r"-D[ \t]*(?P<image>[\w.-]+?_)?(?P<key>BOARD|SHIELD|SNIPPET)(?::\w+)?="
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'"
    r"|<[^<>\n]*>|\[[^\]\n]*\]|[^\s'\"`]+)"
)
_IMAGE = re.compile(
    r"-D(?!(?:SB_)?CONFIG_)(?P<image>[A-Za-z]\w*?)_(?P<shown>(?:SB_)?CONFIG_(?P<name>[A-Za-z0-9_]+))=(?P<value>[^\s'\"`;]*)"
)
_KEYS: dict[str, MentionKind] = {"BOARD": "board", "SHIELD": "shield", "SNIPPET": "snippet"}
# Options whose value is a name; of all west commands that have them.
_NAMED: dict[str, MentionKind] = {
    "-b": "board", "--board": "board", "--shield": "shield", "-S": "snippet",
    "--snippet": "snippet",
}  # fmt: skip
_BOARDS_OF = {"build", "flash", "debug", "bindesc", "simulate", "robot", "patch", "spdx"}
_GLOBAL = frozenset(
    re.findall(r"\S+", "-v -q -h -V -z --verbose --quiet --help --version --zephyr-base")
)


class _Argument(NamedTuple):
    text: str
    offset: int


def shell(source: Source, start: int, end: int) -> Iterator[Mention]:
    """Mentions of a script or a transcript."""
    yield from commands(source, start, end)
    yield from plain(source, start, end)


def commands(source: Source, start: int, end: int) -> Iterator[Mention]:
    """Mentions of the west command lines and -D arguments in a range."""
    taken = set()
    for match in _WEST.finditer(source.text, start, end):
        if match.start("west") not in taken:
            taken.add(match.start("west"))
            yield from _west(source, match.end("west"), end)
    for match in _D_ARGUMENT.finditer(source.text, start, end):
        if not (match["image"] or "").startswith("CONFIG_"):
            offset = match.start("value")
            yield from named(source, _KEYS[match["key"]], match["value"], offset, "option")
    for match in _IMAGE.finditer(source.text, start, end):
        yield source.mention(
            "kconfig", match["name"], match.start("shown"), "fragment", shown=match["shown"],
            value=match["value"], context=match["image"],
        )  # fmt: skip


def _arguments(text: str, start: int, end: int) -> list[_Argument]:
    found: list[_Argument] = []
    at = start
    while len(found) < 100:
        match = _WORD.match(text, at, end)
        if not match or match["word"].startswith("#"):
            break
        found.append(_Argument(match["word"], match.start("word")))
        at = match.end()
    return found


def _west(source: Source, start: int, end: int) -> Iterator[Mention]:
    arguments = _arguments(source.text, start, end)
    while arguments and arguments[0].text in _GLOBAL:
        takes = arguments[0].text in ("-z", "--zephyr-base")
        arguments = arguments[2 if takes else 1 :]
    if not arguments:
        return
    command, offset = arguments[0]
    command = command.rstrip(",.")
    if not _COMMAND.fullmatch(command):
        return  # `west <command>`, `west: error`, `west ...`
    yield source.mention("west", command, offset, "command")
    yield from _options(source, command, arguments[1:])


def _options(source: Source, command: str, arguments: list[_Argument]) -> Iterator[Mention]:
    awaited: MentionKind | None = None
    for word, offset in arguments:
        if word == "--":
            return  # the rest is CMake's, or another program's
        if awaited is not None:
            yield from named(source, awaited, word, offset, "option")
            awaited = None
            continue
        if not word.startswith("-"):
            bare = word.strip("'\"").rstrip("/")
            match = re.fullmatch(r"(?:\.{1,2}/)*(?:zephyr/)?(samples/[\w./+-]+)", bare)
            if match and command == "build":
                at = offset + word.index(match[1])
                yield source.mention("sample", match[1], at, "path")
            continue
        option, value, at = _split(word, offset)
        if not option:
            continue
        yield source.mention("option", option, offset, "option", context=command)
        kind = _NAMED.get(option)
        if kind == "board" and command not in _BOARDS_OF:
            kind = None
        if kind and value:
            yield from named(source, kind, value, at, "option")
        elif kind:
            awaited = kind


def _split(word: str, offset: int) -> tuple[str, str, int]:
    """An option, what is glued to it, and where that begins: --board=x, -bx, -p=auto."""
    if word.startswith("--"):
        option, equals, value = word.partition("=")
        option = option.rstrip(",.:")
        good = _OPTION_WORD.fullmatch(option)
        return (option if good else ""), value, offset + len(option) + len(equals)
    if not re.match(r"-[A-Za-z]", word):
        return "", "", offset
    value = word[2:].lstrip("=")
    return word[:2], value, offset + len(word) - len(value)


_ALTERNATIVES = re.compile(r"[^\s|,\[\]]+")
_LIST = re.compile(r"[^\s;,|'\"\[\]]+")


def named(
    source: Source, kind: MentionKind, text: str, offset: int, form: str
) -> Iterator[Mention]:
    """The boards, shields or snippets in a value: one, several of a list, or one of [a | b]."""
    inner = text.strip("'\"")
    offset += text.index(inner) if inner else 0
    if kind == "board" and (inner[:1] in "<{$%" or "<" in inner or not inner):
        yield source.mention(kind, inner, offset, form)
    elif kind == "board":
        for match in _ALTERNATIVES.finditer(inner):  # [a | b], or two where one is due
            bare = match[0].rstrip(".;:)")
            if bare and (form != "option" or not bare.isdigit()):
                yield source.mention(kind, bare, offset + match.start(), form)
    else:
        for match in _LIST.finditer(inner):  # [a | b], "a;b", "a b"
            if not match[0].startswith("<") and not match[0].endswith(">"):
                yield source.mention(kind, match[0].rstrip(".)"), offset + match.start(), form)
