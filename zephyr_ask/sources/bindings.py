# SPDX-License-Identifier: Apache-2.0
"""A devicetree binding (dts/bindings/**/*.yaml) → a symbol for each compatible it defines.

`details` of a "binding", keys left out where they would be empty:

    "title", "description": text, bounded
    "bus": [names], "on_bus": name, "cells": {"gpio-cells": ["pin", "flags"]}
    "includes": [paths of the files that it names]
    "parent": the compatible whose child this is, where it is a child binding's
    "properties": {name: {"type", "required": true, "default", "enum", "const",
        "deprecated": true, "description", "path", "line"}}: those that the file itself or a
        vendor's own include states; "path" only where it is another file's
    "inherited": {path: {name: [line, type] or [line, type, true where it is required]}}: those
        that it has from shared files (base.yaml and the like), which describe them
    "child": {"description", "compatible", "properties", "inherited", "cells", "child"}

`properties()` gives both as one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zephyr_ask.sources.bindings_includes import Level, Reader, own_level
from zephyr_ask.sources.yaml_text import cut, line_of, name_in, plain, sentence, word
from zephyr_ask.types import Listing, Load, Symbol

Find = Callable[[str], "str | None"]  # an include file's base name → its path

DESCRIPTION_CHARS = 1000
PROPERTY_CHARS = 300
TEXT_CHARS = 1500
_HEAD_CHARS = 900  # of the text: leaves room for the properties
_SHORT = 60  # lines; a shorter file is shown whole
_COMPATIBLE = re.compile(r"""^compatible: *["']?([^\s"'#]+)["']?""", re.MULTILINE)


def read_binding(path: str, text: str, load: Load, find: Find) -> Listing:
    """Symbols of one file. `find`: base name of an include file → its path, or None.

    A file without a compatible (one that others include) has none, and no note either.
    """
    text = text.removeprefix("\ufeff")
    level, problem = own_level(path, text)
    if level is None:
        return _salvaged(path, text, problem)
    reader = Reader(path, text, load, find)
    if not any(below.keys.get("compatible") for below in _levels(level)):
        # Nothing to say but what is wrong: a fault of an include is told where that is read.
        return Listing(note=problem)
    whole = reader.resolve(level)
    notes = [problem] if problem else reader.notes[:1]
    symbols = []
    parent = ""
    for own, full in zip(_levels(level), _levels(whole), strict=False):
        name = name_in(own.keys.get("compatible"))
        if name:
            details = _details(path, own, full, reader)
            if parent:
                details["parent"] = parent
            symbols.append(_symbol(path, text, name, own, full, details))
            parent = name
    return Listing(tuple(symbols), note=notes[0] if notes else None)


def properties(details: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """All properties of a binding, or of its "child": those it states and those it inherits.

    An inherited one has "path", "line", "type" and "required", no description:
    `read_property` takes that from the file at "path".
    """
    found: dict[str, dict[str, Any]] = dict(details.get("properties", {}))
    for path, entries in details.get("inherited", {}).items():
        for name, entry in entries.items():
            options = {"type": entry[1]} if entry[1] else {}
            found[name] = {**options, "path": path, "line": entry[0]}
            if len(entry) > 2:
                found[name]["required"] = True
    return found


def read_property(path: str, text: str, name: str) -> dict[str, Any] | None:
    """A property as the file at `path` states it, like an entry of "properties" in `details`."""
    level, _ = own_level(path, text)
    for below in _levels(level) if level else ():
        if name in below.properties:
            return _options(path, below.properties[name], described=True)
    return None


def _salvaged(path: str, text: str, problem: str | None) -> Listing:
    """What a broken file still says: its compatible."""
    found = _COMPATIBLE.search(text)
    if found is None:
        return Listing(note=problem)
    line = text.count("\n", 0, found.start()) + 1
    return Listing((Symbol(found[1], "binding", path, line, line, "", "", {}),), note=problem)


def _levels(level: Level) -> Iterator[Level]:
    """A binding, its children's, theirs, …"""
    below: Level | None = level
    while below is not None:
        yield below
        below = below.child


def _symbol(
    path: str, text: str, name: str, own: Level, full: Level, details: dict[str, Any]
) -> Symbol:
    title, description = (word(full.keys.get(key)).strip() for key in ("title", "description"))
    lines = text.rstrip("\n").count("\n") + 1
    end = lines if lines <= _SHORT else max(own.line, own.description_end)
    summary = cut(line_of(title), 200) or sentence(description)
    return Symbol(name, "binding", path, own.line, max(end, own.line), summary,
                  _text(title, description, details), details)  # fmt: skip


def _text(title: str, description: str, details: Mapping[str, Any]) -> str:
    """What a search by meaning reads."""
    said = description if description.startswith(title) else f"{title}\n{description}"
    text = cut(said.strip(), _HEAD_CHARS)
    for name, entry in details.get("properties", {}).items():
        line = f"{name}: {sentence(entry.get('description', ''))}".rstrip(": ")
        if len(text) + len(line) + 1 <= TEXT_CHARS:
            text = f"{text}\n{line}" if text else line
    return text


def _details(path: str, own: Level, full: Level, reader: Reader) -> dict[str, Any]:
    keys = full.keys
    bus = keys.get("bus")
    details: dict[str, Any] = {
        "title": cut(line_of(keys.get("title")), PROPERTY_CHARS),
        "description": cut(word(keys.get("description")).strip(), DESCRIPTION_CHARS),
        "bus": [line_of(name) for name in (bus if isinstance(bus, list) else [bus]) if name],
        "on_bus": line_of(keys.get("on-bus")),
        "cells": {key: [line_of(cell) for cell in value[:20]] for key, value in keys.items()
                  if key.endswith("-cells") and isinstance(value, list)},
        "includes": reader.named(own),
        **_properties(path, own, full),
    }  # fmt: skip
    if full.child is not None:
        below = own.child or Level()
        child = _details(path, below, full.child, reader)
        name = name_in(below.keys.get("compatible"))
        details["child"] = {**child, "compatible": name} if name else child
    return {key: value for key, value in details.items() if value}


def _properties(path: str, own: Level, full: Level) -> dict[str, Any]:
    stated: dict[str, Any] = {}
    inherited: dict[str, Any] = {}
    for name, options in full.properties.items():
        source = options["path"]
        vendors = source == path or "," in posixpath.basename(source)
        if name in own.properties or vendors:
            described = vendors or "description" in own.properties[name]
            stated[name] = _options(path, options, described)
        else:
            entry = [options["line"], line_of(options.get("type"))]
            entry += [True] if options.get("required") is True else []
            inherited.setdefault(source, {})[name] = entry
    return {"properties": stated, "inherited": inherited}


def _options(path: str, options: Mapping[str, Any], described: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"type": line_of(options.get("type"))}
    for key in ("required", "deprecated"):
        found[key] = options.get(key) is True
    for key in ("default", "enum", "const"):
        if options.get(key) is not None:
            found[key] = plain(options[key])
    if described:
        found["description"] = cut(line_of(options.get("description")), PROPERTY_CHARS)
    if options["path"] != path:
        found["path"] = options["path"]
    found = {key: value for key, value in found.items()
             if value or key in ("default", "const")}  # fmt: skip
    return {**found, "line": options["line"]}
