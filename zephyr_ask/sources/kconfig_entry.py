# SPDX-License-Identifier: Apache-2.0
"""An entry of a Kconfig file and the blocks around it, from its properties to a Symbol."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from zephyr_ask.sources.kconfig_text import plain, read_string, split_if, tidy, two_values
from zephyr_ask.types import Symbol

_DEPRECATED = re.compile(r"\bdeprecated\b", re.IGNORECASE)
OPEN_QUOTE = "a quote is never closed"


class Frame:
    """An open if, menu or choice, and what all entries inside it take over."""

    __slots__ = ("choice", "conditions", "kind", "line", "menus", "visible")

    def __init__(self, kind: str, line: int, outer: Frame | None) -> None:
        self.kind = kind
        self.line = line
        self.conditions: list[str] = list(outer.conditions) if outer else []
        self.menus: list[str] = outer.menus if outer else []
        self.visible: list[str] = outer.visible if outer else []
        self.choice: Entry | None = outer.choice if outer else None

    def set(self, word: str, rest: str) -> None:
        """A property of a menu itself."""
        if word == "depends":
            self.conditions.append(tidy(rest.removeprefix("on")))
        elif word == "visible":
            self.visible = [*self.visible, tidy(rest.removeprefix("if"))]


class Entry:
    """A config, a choice or a comment whose properties are being read."""

    __slots__ = ("block", "depends", "details", "end", "frame", "line", "name")

    def __init__(self, name: str, line: int, frame: Frame) -> None:
        self.name = name  # "" for what gives no symbol
        self.line = line
        self.end = line
        self.frame = frame  # that it stands in
        self.block: Frame | None = None  # that it opens, of a choice
        self.depends: list[str] = []
        self.details: dict[str, Any] = {}

    def set(self, word: str, rest: str) -> str:
        """Read a property; "" or what is wrong with it."""
        return PROPERTIES[word](self, word, rest)

    def symbol(self, path: str, scope: str, via: list[Any]) -> Symbol:
        frame, details = self.frame, self.details
        prompt = details.get("prompt", "")
        if frame.visible and prompt:
            own = details.get("prompt_if")
            details["prompt_if"] = " && ".join([*frame.visible, *([own] if own else [])])
        if frame.conditions or self.depends:
            details["depends"] = [*frame.conditions, *self.depends]
        if frame.choice is not None:
            choice = frame.choice.name or frame.choice.details.get("prompt")
            if choice:
                details["choice"] = choice
        if frame.menus:
            details["menu"] = frame.menus
        details["scope"] = scope
        if via:
            details["via"] = via
        if (prompt and _DEPRECATED.search(prompt)) or any(
            item["name"] == "DEPRECATED" for item in details.get("selects", ())
        ):
            details["deprecated"] = True
        text = plain(prompt, details.get("help", ""))
        return Symbol(self.name, "kconfig", path, self.line, self.end, prompt, text, details)


def _type(entry: Entry, word: str, rest: str) -> str:
    if word != "prompt":
        entry.details["type"] = "bool" if word == "boolean" else word
    if not rest:
        return ""
    prompt, rest, closed = read_string(rest)
    entry.details["prompt"] = " ".join(prompt.split())
    condition = split_if(rest)[1]
    if condition:
        entry.details["prompt_if"] = condition
    return "" if closed else OPEN_QUOTE


def _default(entry: Entry, word: str, rest: str) -> str:
    if word != "default":
        entry.details["type"] = word[4:]
    return _add(entry, "defaults", "value", rest)


def _select(entry: Entry, word: str, rest: str) -> str:
    return _add(entry, "selects" if word == "select" else "implies", "name", rest)


def _add(entry: Entry, key: str, name: str, rest: str) -> str:
    value, condition = split_if(rest)
    if not value:
        return "a value is missing"
    item = {name: value, "if": condition} if condition else {name: value}
    entry.details.setdefault(key, []).append(item)
    return ""


def _range(entry: Entry, word: str, rest: str) -> str:
    values, condition = split_if(rest)
    low, high = two_values(values)
    if not high:
        return "a range needs two values"
    item = {"low": low, "high": high}
    if condition:
        item["if"] = condition
    entry.details.setdefault("ranges", []).append(item)
    return ""


def _depends(entry: Entry, word: str, rest: str) -> str:
    condition = tidy(rest.removeprefix("on"))
    entry.depends.append(condition)
    if entry.block is not None:
        entry.block.conditions.append(condition)
    return ""


def _ignore(entry: Entry, word: str, rest: str) -> str:
    return ""  # `option`, `optional`, …: nothing that a reader asks for


PROPERTIES: dict[str, Callable[[Entry, str, str], str]] = {
    **dict.fromkeys(("bool", "boolean", "tristate", "string", "int", "hex", "prompt"), _type),
    **dict.fromkeys(
        ("default", "def_bool", "def_tristate", "def_string", "def_int", "def_hex"), _default
    ),
    "select": _select,
    "imply": _select,
    "range": _range,
    "depends": _depends,
    **dict.fromkeys(("visible", "option", "optional", "modules", "transitional"), _ignore),
}
