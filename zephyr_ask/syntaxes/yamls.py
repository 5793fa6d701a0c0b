# SPDX-License-Identifier: Apache-2.0
"""sample.yaml, testcase.yaml, workflows: options, boards and compatibles, line by line, so that
a file that is no valid YAML is read as well."""

from __future__ import annotations

import re
from collections.abc import Iterator

from zephyr_ask.syntaxes.mention import Mention, Source
from zephyr_ask.syntaxes.shell import named, shell

_BOARDS = re.compile(
    r"^(?P<indent>[ \t]*)(?:-[ \t]+)?(?P<key>platform_allow|platform_exclude|integration_platforms)"
    r":[ \t]*(?P<value>[^\n#]*)",
    re.MULTILINE,
)
_ITEM = re.compile(r"\n[ \t]*(?:#[^\n]*|-[ \t]+(?P<item>[^\s#:]+)[ \t]*(?:#[^\n]*)?|)(?=\n|\Z)")
_ENABLED = re.compile(r"\bdt_compat_enabled(?:_\w+)?\([ \t]*[\"']([^\"'\n]+)[\"']")
_EXTRA = re.compile(
    r"(?<![\w-])(?P<key>SHIELD|SNIPPET)=(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s'\",\]]+)"
)


def yamls(source: Source, start: int, end: int) -> Iterator[Mention]:
    """Mentions of a YAML file."""
    yield from shell(source, start, end)
    text = source.text
    for match in _ENABLED.finditer(text, start, end):
        yield source.mention("binding", match[1], match.start(1), "compatible")
    for match in _EXTRA.finditer(text, start, end):
        if text[match.start() - 2 : match.start()] == "-D":
            continue
        kind = "shield" if match["key"] == "SHIELD" else "snippet"
        yield from named(source, kind, match["value"], match.start("value"), "option")  # type: ignore[arg-type]
    for match in _BOARDS.finditer(text, start, end):
        for name, offset in _listed(text, match, end):
            if not name.startswith(("/", "*")):
                yield source.mention("board", name, offset, "list")


def _listed(text: str, match: re.Match[str], end: int) -> Iterator[tuple[str, int]]:
    """Names in `key: [a, b]`, `key: a b` or the list beneath it."""
    value = match["value"]
    for name in re.finditer(r"[^\s\[\],\"']+", value):
        yield name[0], match.start("value") + name.start()
    if value.strip():
        return
    at = match.end() if not text.startswith("#", match.end()) else text.find("\n", match.end())
    while at >= 0:
        item = _ITEM.match(text, at, end)
        if not item:
            return
        if item["item"]:
            name_ = item["item"].strip("\"'")
            yield name_, item.start("item") + item["item"].index(name_)
        at = item.end()
