# SPDX-License-Identifier: Apache-2.0
"""Devicetree sources and overlays: compatibles, and properties with their node's compatibles.

A scanner, not a parser: braces make nodes, `name = …;` and `name;` make properties. Macros are
not expanded; what lies in values is skipped. A file that breaks off in the middle gives what it
has up to there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from zephyr_ask.syntaxes.code import blank_comments
from zephyr_ask.syntaxes.mention import Mention, Source, options

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(?:include|define|undef|if|ifdef|ifndef|elif|else|endif|error|warning|pragma|"
    r"line)\b(?:\\\n|[^\n])*",
    re.MULTILINE,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
_TOKEN = re.compile(
    r'(?P<text>"(?:\\.|[^"\\\n])*")|(?P<mark>[{};=])|(?P<delete>/delete-(?:property|node)/)'
    r"|(?P<label>[A-Za-z_]\w*):|(?P<word>[&#\w,.+?/@$*-]+|&\{[^}\n]*\})|(?P<other>\S)"
)
_NAME = re.compile(r"#?[A-Za-z][\w,.+?#-]*")
_COMPATIBLE = re.compile(r"[A-Za-z0-9][\w.+-]*,[\w.,+*<>-]+")


@dataclass
class _Node:
    name: str
    labels: list[str]
    properties: list[tuple[str, int]] = field(default_factory=list)
    compatibles: list[tuple[str, int]] = field(default_factory=list)


def devicetree(source: Source, start: int, end: int) -> Iterator[Mention]:
    """Mentions of a devicetree file, in no order."""
    for match in _INCLUDE.finditer(source.text, start, end):
        # include/zephyr is on the way of a devicetree's includes: <mem.h>, <dt-bindings/…>.
        if match[1] == "<" and match[2].startswith("zephyr/"):
            yield source.mention("include", match[2], match.start(2), "angle")
    yield from options(source, start, end, "code")
    nodes = list(_nodes(source.text[start:end]))
    labelled = {
        label: node.compatibles for node in nodes if node.compatibles for label in node.labels
    }
    for node in nodes:
        known = node.compatibles
        if node.name.startswith("&") and not known:
            known = labelled.get(node.name[1:], [])
        # The root's compatible names the board; boards, SoCs and many CPUs have no binding.
        if node.name != "/" and not node.name.startswith("cpu"):
            for name, offset in node.compatibles:
                if _COMPATIBLE.fullmatch(name):
                    others = "\n".join(other for other, _ in node.compatibles if other != name)
                    yield source.mention(
                        "binding", name, start + offset, "compatible", context=others
                    )
        for name, offset in node.properties:
            yield source.mention(
                "property",
                name,
                start + offset,
                "property",
                context="\n".join(other for other, _ in known) if node.name != "/" else "",
            )


def _nodes(text: str) -> Iterator[_Node]:
    """Nodes as they close; those that stay open at the end close there."""
    text = _DIRECTIVE.sub(lambda match: _blank(match[0]), blank_comments(text))
    stack = [_Node("", [])]
    statement: list[tuple[str, int]] = []  # words since the last ; { or }
    labels: list[str] = []
    value = deleted = False
    for match in _TOKEN.finditer(text):
        mark, node = match["mark"], stack[-1]
        if mark == "{":
            stack.append(_Node(statement[-1][0] if statement else "", labels))
        elif mark in (";", "}"):
            if statement and not value and not deleted and len(statement) == 1:
                _property(node, *statement[0])  # `name;`
            if mark == "}" and len(stack) > 1:
                yield stack.pop()
        elif mark == "=":
            if statement and not value and not deleted:
                _property(node, *statement[-1])
            value = True
            continue
        elif match["text"] is not None:
            if value and statement and statement[-1][0] == "compatible":
                node.compatibles.append((match["text"][1:-1], match.start() + 1))
            continue
        elif match["label"] is not None:
            if not value:
                labels = [*labels, match["label"]]
            continue
        elif match["delete"] is not None:
            deleted = True
            continue
        else:
            if match["word"] is not None and not value:
                statement.append((match["word"], match.start()))
            continue
        statement, labels, value, deleted = [], [], False, False
    while stack:
        yield stack.pop()


def _property(node: _Node, name: str, offset: int) -> None:
    if _NAME.fullmatch(name):
        node.properties.append((name, offset))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
