# SPDX-License-Identifier: Apache-2.0
"""Text of a release page → the names in it, and its sentences with a mark for each name.

A role or a prefix tells what a name is; of a bare literal the words around it do ("Kconfig
options", "macro", "board"), and where none does, the name with which it is paired.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zephyr_ask.sources.changes_text import Lines
from zephyr_ask.types import SymbolKind

# Marks are characters that no text has: one for each name, one for each run of names, one for
# what is marked up but no name.
NAMES, RUNS, OTHER = 0xE000, 0xF0000, "\u00a4"
_MARKS = 0xF8FF - NAMES
NAME = f"[{chr(NAMES)}-{chr(NAMES + _MARKS)}]"
RUN = f"[{chr(RUNS)}-{chr(RUNS + _MARKS)}]"


class Name(NamedTuple):
    """A name at a place of the text."""

    name: str  # as a Symbol's
    kinds: tuple[SymbolKind, ...]  # what it can be by its form
    sure: bool  # a role or its form says so: kinds has one entry
    line: int
    offers: bool = False  # a reference to a page: can be offered instead, never be what went


_TOKEN = re.compile(
    r"""
      :(?P<role>[a-zA-Z][\w:+.-]*):[ ]?`(?P<argument>[^`]+)`+
    | ``(?P<literal>[^`]+)``
    | `(?P<phrase>[^`\n]+)`(?P<link>_{0,2})
    | (?<![\w/.:<-])(?:-D)?(?:SB_)?CONFIG_(?P<config>\w+)(?P<more>\\?[*<{\[(]|\.\.\.)?
    | (?<![\w/.:<>-])(?P<call>[A-Za-z_]\w*_\w+)\(\)
    | (?<![\w/.:<>-])(?P<bare>(?=[A-Za-z]\w*?_)\w+\b)(?![*:</(.-]*[\w*:</(-])
    """,
    re.VERBOSE,
)
_CONFIG = re.compile(r"(?:-D)?(?:SB_)?CONFIG_(\w*[A-Za-z0-9])(?:=.*)?")
_COMPATIBLE = re.compile(r"[a-z][a-z0-9-]*,[a-z0-9][\w.+-]*[\w+]|[a-z][a-z0-9]*(?:-[a-z0-9.]+)+")
_CALL = re.compile(r"([A-Za-z_]\w+)\s*\([^()]*\)")
_TAGGED = re.compile(r"(?:struct|enum|union)\s+([A-Za-z_]\w+)(?:\s*\*)?")
_IDENTIFIER = re.compile(r"[A-Za-z]\w*_\w+|_\w+_\w+|[A-Z][A-Z0-9]{3,}")
_UPPER = re.compile(r"[A-Z_][A-Z0-9_]*")
_BOARD = re.compile(r"[a-z0-9][a-z0-9_]+(?:@[\w.]+)?(?:/[a-z0-9_]+)*(?:@[\w.]+)?")
_PLAIN_TYPE = re.compile(r"u?int\d*_t|size_t|ssize_t|NULL")
_WEST = re.compile(r"west\s+([a-z][a-z-]+)")
_TARGET = re.compile(r".*<([^<>]*)>\s*", re.DOTALL)
_API_ROLES = frozenset(
    ["func", "function", "macro", "struct", "type", "enum", "enumerator", "union", "var"]
)
_CODE_ROLES = frozenset(["code", "file", "makevar", "envvar"])
_DROPPED_ROLES = frozenset(["github", "cve"])

# What things are called, and so what a name beside the word is; None: no symbol.
_CALLED: dict[SymbolKind | None, str] = {
    "kconfig": "kconfig",
    "api": """function macro struct structure api callback typedef type enum enumeration enumerator
        syscall define initializer constant call""",
    "binding": "compatible binding",
    "board": "board",
    "shield": "shield",
    "soc": "soc",
    "snippet": "snippet",
    None: """property properties field member parameter param argument attribute cell file header
        module driver sample level chosen label runner node script subsystem toolchain variable
        section sensor peripheral emulator library directory folder namespace prefix suffix tag
        alias region command log pin register test testcase""",
}
_WORDS: dict[str, SymbolKind | None] = {
    word + ending: kind
    for kind, words in _CALLED.items()
    for word in re.findall(r"\S+", words)
    for ending in ("", "s")
}
_PROPERTIES = frozenset(
    ["property", "properties", "cell", "cells", "chosen", "field", "fields", "attribute"]
    + ["attributes", "label", "labels"]
)
_WORD = re.compile(r"[a-z]+")
_PAST = re.compile(rf"(?:{NAME}|{OTHER}|[\s,&/]|(?:and|or|the|their)\b)*")
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)")


class Marked(NamedTuple):
    """Lower-case text with a mark for each name."""

    text: str
    names: list[Name]


def mark(lines: Lines) -> Marked:
    """Names of consecutive lines; an unsure one has every kind that its form allows."""
    text = "\n".join(line for _, line in lines)
    names: list[Name] = []
    parts: list[str] = []
    at = row = 0
    counted = 0
    for match in _TOKEN.finditer(text):
        row += text.count("\n", counted, match.start())
        counted = match.start()
        parts.append(text[at : match.start()].lower())
        at = match.end()
        parts.append(_mark(match, lines[row][0], names))
    parts.append(text[at:].lower())
    return Marked("".join(parts), names)


def _mark(match: re.Match[str], line: int, names: list[Name]) -> str:
    role = match["role"]
    if role is not None and role in _DROPPED_ROLES:
        return ""
    found = _name(match, line)
    if found is None or len(names) > _MARKS:
        bare = match["bare"]
        return bare.lower() if bare else OTHER
    names.append(found)
    return chr(NAMES + len(names) - 1)


def _name(match: re.Match[str], line: int) -> Name | None:
    if match["config"] is not None:
        config = match["config"]
        whole = not match["more"] and not config.endswith("_")
        return Name(config, ("kconfig",), True, line) if whole else None
    if match["call"] is not None:
        return Name(match["call"], ("api",), True, line)
    if match["role"] is not None:
        return _role(match["role"], match["argument"], line)
    bare = match["bare"]
    if bare is not None:
        kinds = _form(bare)
        return Name(bare, kinds, False, line) if kinds else None
    if match["link"]:
        return None
    return _literal(match["literal"] or match["phrase"], line)


def _role(role: str, argument: str, line: int) -> Name | None:
    target = _TARGET.fullmatch(argument)
    word = (target[1] if target else argument).strip().lstrip("~!")
    head, _, tail = role.rpartition(":")
    if role == "kconfig:option":
        config = re.fullmatch(r"(?:(?:SB_)?CONFIG_)?(\w*[A-Za-z0-9])", word)
        return Name(config[1], ("kconfig",), True, line) if config else None
    if role == "dtcompatible":
        whole = re.fullmatch(r"[\w,.+-]+", word) and not word.endswith(".yaml")
        return Name(word, ("binding",), True, line) if whole else None
    if head == "c" and tail in _API_ROLES:
        api = re.fullmatch(r"(?:struct |enum )?([A-Za-z_]\w*[A-Za-z0-9])(?:\(.*)?", word, re.DOTALL)
        return Name(api[1], ("api",), True, line) if api else None
    if role == "zephyr:board":
        return Name(word, ("board",), True, line)
    if role == "ref" and _BOARD.fullmatch(word):
        return Name(word, ("board", "shield"), False, line, True)
    return _literal(argument, line) if role in _CODE_ROLES else None


def _literal(word: str, line: int) -> Name | None:
    word = word.strip()
    if config := _CONFIG.fullmatch(word):
        return Name(config[1], ("kconfig",), True, line)
    if api := _CALL.fullmatch(word) or _TAGGED.fullmatch(word):
        return Name(api[1], ("api",), True, line)
    if west := _WEST.fullmatch(word):
        return Name(west[1], ("west",), True, line)
    kinds = _form(word)
    return Name(word, kinds, False, line) if kinds else None


def _form(word: str) -> tuple[SymbolKind, ...]:
    """What a bare word can be."""
    if word.startswith("CONFIG_") or len(word) < 3 or _PLAIN_TYPE.fullmatch(word):
        return ()
    if _UPPER.fullmatch(word):
        return ("api", "kconfig") if _IDENTIFIER.fullmatch(word) and word[-1] != "_" else ()
    kinds: list[SymbolKind] = []
    if _COMPATIBLE.fullmatch(word):
        kinds.append("binding")
    if _BOARD.fullmatch(word):
        kinds += ["board", "shield", "soc"]
    if _IDENTIFIER.fullmatch(word) and word[-1] != "_":
        kinds.append("api")
    return tuple(kinds)


def settle(marked: Marked, context: Sequence[str]) -> list[Name]:
    """The names with their kinds as the words around them say.

    `context`: lower-case texts that govern this one, nearest first. A name whose word says that
    it is no symbol (a property, a file) has no kind; one of which nothing is said stays unsure.
    """
    if all(name.sure for name in marked.names):
        return marked.names
    around = [_last_word(text) for text in context]
    found = []
    for index, name in enumerate(marked.names):
        if not name.sure and not name.offers:
            at = marked.text.index(chr(NAMES + index))
            said = [_after(marked.text, at), _before(marked.text, at),
                    _last_word(marked.text[:at]), *around]  # fmt: skip
            name = _said(name, next((word for word in said if word), None))
        found.append(name)
    return found


def _said(name: Name, word: str | None) -> Name:
    """The name as the word for what it is has it."""
    kind = _WORDS[word] if word else None
    if kind in name.kinds:
        return name._replace(kinds=(kind,), sure=True) if kind else name
    if word and kind is None and (word in _PROPERTIES or "," not in name.name):
        return name._replace(kinds=())
    return name


_ENDS = re.compile(r"has|have|had|is|are|was|were|to|with|by|in|from|for|instead")


def _after(text: str, at: int) -> str | None:
    """The word for what a name is, right after it or after the names that follow it."""
    past = _PAST.match(text, at)
    at = past.end() if past else at
    for count, match in enumerate(_WORD.finditer(text, at, at + 40)):
        if count > 2 or re.search(r"[.;:()]", text[at : match.start()]):
            return None
        if count == 0 and match[0] == "option":
            return "kconfig"
        if match[0] in _WORDS:
            return None if match[0] == "type" and count else match[0]
        if _ENDS.fullmatch(match[0]):
            return None
    return None


def _before(text: str, at: int) -> str | None:
    """The last word for what things are before a name, in the same sentence."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, at)]
    return _last_word(text[ends[-1] if ends else 0 : at])


def _last_word(text: str) -> str | None:
    if re.search(r"\bconfig(?:uration)? (?:options?|symbols?)\b", text):
        return "kconfig"
    text = text.replace("compatible propert", "compatible ")
    return next((word for word in reversed(_WORD.findall(text)) if word in _WORDS), None)


def topic(heading: str) -> str:
    """A heading in lower case, without what says nothing of names ("Drivers", "Modules")."""
    return " ".join(word for word in heading.lower().split() if _WORDS.get(word, "api"))


# Each branch begins with a character of its own, which makes it five times as fast as _TOKEN.
_SPOKEN = re.compile(
    r""":(?P<role>[a-zA-Z][\w:+.-]*):[ ]?`(?P<argument>[^`]+)`
    |``(?P<literal>[^`]+)``
    |CONFIG_(?P<config>\w+)(?P<more>\\?[*<{\[(]|\.\.\.)?""",
    re.VERBOSE,
)
_PART = re.compile(r"[\w/.]")


def spoken(text: str) -> Iterator[tuple[SymbolKind, str, int]]:
    """(kind, name, line) of every name whose kind its role or form tells, in order."""
    row = 1
    counted = 0
    for match in _SPOKEN.finditer(text):
        start = match.start()
        name: Name | None = None
        if match["config"] is not None:
            before = text[max(0, start - 3) : start]
            whole = not match["more"] and not match["config"].endswith("_")
            if whole and (before == "SB_" or not _PART.match(before[-1:])):
                name = Name(match["config"], ("kconfig",), True, 0)
        elif match["role"] is not None:
            name = _role(match["role"], match["argument"], 0)
        else:
            name = _literal(match["literal"], 0)
        if name is None or not name.kinds or not _is_spoken(name, text, start, match.end()):
            continue
        row += text.count("\n", counted, start)
        counted = start
        yield name.kinds[0], name.name, row


def _is_spoken(name: Name, text: str, start: int, end: int) -> bool:
    if name.sure:
        return name.kinds[0] in ("kconfig", "binding", "api")
    if name.kinds[0] != "binding" or "," not in name.name:
        return False
    around = text[max(0, start - 60) : end + 40].lower()
    return not any(word in _PROPERTIES for word in _WORD.findall(around))
