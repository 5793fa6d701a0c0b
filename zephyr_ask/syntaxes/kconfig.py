# SPDX-License-Identifier: Apache-2.0
"""Kconfig: .conf files that assign options, Kconfig files that define and use them, and the
options in texts that have no more to say of them (CMake, YAML, scripts)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zephyr_ask.syntaxes.mention import Mention, Source, options, unfinished

_ASSIGNMENT = re.compile(
    r"^[ \t]*(?P<hash>#[ \t#]*)?(?P<shown>(?:SB_)?CONFIG_(?P<name>[A-Za-z0-9_-]+))(?P<gap>[ \t]*)="
    r"(?P<value>[^\n]*)",
    re.MULTILINE,
)
_UNSET = re.compile(
    r"^#[ \t]*(?P<shown>(?:SB_)?CONFIG_(?P<name>\w+)) is not set[ \t]*$", re.MULTILINE
)


def conf(source: Source, start: int, end: int) -> Iterator[Mention]:
    """prj.conf and its like. Commented assignments are comments: nothing is said of their value."""
    made = set()
    for match in _ASSIGNMENT.finditer(source.text, start, end):
        made.add(match.start("shown"))
        value = match["gap"] + match["value"] if match["gap"] else match["value"]
        why = unfinished(match["name"], match["value"][:3] if match["gap"] else "")
        yield source.mention(
            "kconfig",
            match["name"],
            match.start("shown"),
            "comment" if match["hash"] else "assignment",
            shown=match["shown"],
            value=None if match["hash"] or why else value.rstrip("\r"),
            placeholder=why,
        )
    for match in _UNSET.finditer(source.text, start, end):
        made.add(match.start("shown"))
        yield source.mention(
            "kconfig", match["name"], match.start("shown"), "assignment", shown=match["shown"]
        )
    yield from options(source, start, end, "comment", made.__contains__)


_FRAGMENT = re.compile(
    r"(?:(?<![A-Za-z0-9_])|(?<=-D))(?P<shown>(?:SB_)?CONFIG_(?P<name>[A-Za-z0-9_]+))=(?P<value>[^\s'\";,]*)"
)


def plain(source: Source, start: int, end: int) -> Iterator[Mention]:
    """CONFIG_ names in any text; those that are given a bare value with the value."""
    made = set()
    for match in _FRAGMENT.finditer(source.text, start, end):
        if unfinished(match["name"], match["value"][:3] or "="):
            continue
        made.add(match.start("shown"))
        yield source.mention(
            "kconfig", match["name"], match.start("shown"), "fragment", shown=match["shown"],
            value=match["value"],
        )  # fmt: skip
    yield from options(source, start, end, "prose", made.__contains__)


_ARGUMENT = re.compile(r"-D(?P<shown>CONFIG_(?P<name>[A-Za-z0-9_]+))")


def cmake(source: Source, start: int, end: int) -> Iterator[Mention]:
    """CONFIG_ names; ${CONFIG_X} and if(CONFIG_X) alike."""
    for match in _ARGUMENT.finditer(source.text, start, end):
        yield source.mention(
            "kconfig", match["name"], match.start("shown"), "code", shown=match["shown"],
            placeholder="an argument to the build of another project",
        )  # fmt: skip
    yield from options(source, start, end, "code")


_ENTRY = re.compile(
    r"\s*(config|menuconfig|configdefault|choice)[ \t]+([A-Za-z0-9_.-]+)[ \t]*(?:#.*)?$"
)
_EXPRESSIONS = re.compile(
    r"\s*(?:(?P<whole>depends[ \t]+on|visible[ \t]+if|if|range)\b"
    r"|(?P<reverse>select|imply|default|def_bool|def_tristate|def_int|def_hex|def_string)\b"
    r"|(?P<prompt>bool|tristate|int|hex|string|prompt|menu|comment|choice)\b)"
)
_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\$\([^\n]*|(?<!\S)#[^\n]*')
_SYMBOL = re.compile(r"(?<![\w$.-])[A-Za-z0-9_]+(?![\w.-])")
_WORDS = frozenset(
    re.findall(
        r"\S+",
        """y n m if on depends visible range select imply default def_bool def_tristate def_int
        def_hex def_string bool tristate int hex string prompt menu comment choice optional""",
    )
)
_HELP = re.compile(r"\s*(?:---)?help(?:---)?\s*$")


def kconfig(source: Source, start: int, end: int) -> Iterator[Mention]:
    """A Kconfig file: "definition" for what it defines, "reference" in expressions; CONFIG_ names
    in help texts and comments."""
    helped: int | None = None  # indentation of the help text
    pending = -1  # of the `help` line, until its text begins
    offset = start
    going_on = False
    for line in source.text[start:end].split("\n"):
        here, offset = offset, offset + len(line) + 1
        indent = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        if pending >= 0 and line.strip():
            helped, pending = (indent if indent > pending else None), -1
        if helped is not None and line.strip() and indent < helped:
            helped = None
        if helped is not None or pending >= 0:
            yield from options(source, here, here + len(line), "comment")
            continue
        if _HELP.match(line):
            pending = indent
            continue
        yield from options(source, here, here + len(line), "comment")
        entry = _ENTRY.match(line)
        if entry and not going_on:
            form = "reference" if entry[1] == "configdefault" else "definition"
            yield source.mention("kconfig", entry[2], here + entry.start(2), form)
        elif going_on or _EXPRESSIONS.match(line):
            yield from _references(source, line, here)
        going_on = line.rstrip().endswith("\\")


def _references(source: Source, line: str, offset: int) -> Iterator[Mention]:
    bare = _TEXT.sub(lambda match: " " * len(match[0]), line)
    for match in _SYMBOL.finditer(bare):
        word = match[0]
        if word in _WORDS or word[0].isdigit() or word.startswith("CONFIG_"):
            continue
        if not word.isupper():
            continue  # n in "default n"; lower-case names are macros' arguments mostly
        why = unfinished(word, line[match.end() : match.end() + 3])
        yield source.mention("kconfig", word, offset + match.start(), "reference", placeholder=why)
