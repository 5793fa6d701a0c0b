# SPDX-License-Identifier: Apache-2.0
"""What a devicetree binding says with all that it includes, by the rules of Zephyr's build:

- what several files say of one thing is merged; the including file's word stands, the first
  of two includes' likewise; a property is required where any of them says so;
- an include can let only some properties through, for each level of child bindings;
- an include inside a child binding is merged last, into what that level has by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zephyr_ask.sources.yaml_text import key_lines, load_yaml, mapping, name_in, word

CHILDREN = 8  # levels of child bindings; Zephyr's own bindings have 3
PROPERTIES = 1000  # of a level; Zephyr's longest has 57
VISITS = 500  # include files read for one binding; Zephyr's deepest needs 12
_CACHED = 1000  # include files whose merged content is kept; Zephyr has about 600


@dataclass(slots=True)
class Level:
    """A binding, or the child binding of one. Not changed once it is made: levels are shared."""

    keys: dict[str, Any] = field(default_factory=dict)  # but properties and child-binding
    properties: dict[str, dict[str, Any]] = field(default_factory=dict)  # with "path" and "line"
    child: Level | None = None
    line: int = 1  # of its compatible, or of its first line
    description_end: int = 0


def own_level(path: str, text: str) -> tuple[Level | None, str | None]:
    """What the file itself says, without its includes; None with a note if it cannot be read."""
    value, note = load_yaml(path, text)
    if note is None and not isinstance(value, dict):
        note = f"{path}: a binding is a mapping of keys, and this is none"
    if note is not None:
        return None, note
    lines = key_lines(text)
    return _level(path, value, lines, (), CHILDREN), None


Lines = Mapping["tuple[str, ...]", int]


def _level(
    path: str, value: dict[Any, Any], lines: Lines, place: tuple[str, ...], left: int
) -> Level:
    here = lines.get(place, 1)
    properties = {}
    inside = (*place, "properties")
    start = lines.get(inside, here)
    for key, options in list(mapping(value.get("properties")).items())[:PROPERTIES]:
        name = name_in(key)
        if name:
            stated = {word(option): said for option, said in mapping(options).items()}
            stated |= {"path": path, "line": lines.get((*inside, name), start)}
            properties[name] = stated
    child = value.get("child-binding")
    keys = {word(key): said for key, said in value.items()
            if key not in ("properties", "child-binding")}  # fmt: skip
    return Level(
        keys,
        properties,
        _level(path, child, lines, (*place, "child-binding"), left - 1)
        if isinstance(child, dict) and left
        else None,
        lines.get((*place, "compatible"), here),
        _end(lines, (*place, "description")),
    )


def _end(lines: Lines, place: tuple[str, ...]) -> int:
    """The line before the next key after `place`; 0 if there is none."""
    start = lines.get(place)
    if start is None:
        return 0
    return min((line for line in lines.values() if line > start), default=start + 1) - 1


# --- merging


def _merge(into: Level, other: Level) -> Level:
    properties = dict(into.properties)
    for name, options in other.properties.items():
        mine = properties.get(name)
        properties[name] = options if mine is None else _merge_options(mine, options)
    child = into.child or other.child
    if into.child is not None and other.child is not None:
        child = _merge(into.child, other.child)
    return Level({**other.keys, **into.keys}, properties, child, into.line, into.description_end)


def _merge_options(mine: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The place of a property is where its type is stated."""
    merged = {**other, **mine}
    if "type" not in mine and "type" in other:
        merged["path"], merged["line"] = other["path"], other["line"]
    if mine.get("required") is True or other.get("required") is True:
        merged["required"] = True
    return merged


def _filter(level: Level, item: Mapping[Any, Any], left: int = CHILDREN) -> Level:
    """What an entry of `include:` lets through."""
    allow, block = item.get("property-allowlist"), item.get("property-blocklist")
    below = item.get("child-binding")
    properties, child = level.properties, level.child
    if isinstance(allow, list):
        names = {word(name) for name in allow}
        properties = {name: entry for name, entry in properties.items() if name in names}
    elif isinstance(block, list):
        names = {word(name) for name in block}
        properties = {name: entry for name, entry in properties.items() if name not in names}
    if isinstance(below, dict) and child is not None and left:
        child = _filter(child, below, left - 1)
    return Level(level.keys, properties, child, level.line, level.description_end)


# --- including


class _Cached(NamedTuple):
    level: Level
    used: dict[str, tuple[str | None, str | None]]  # base name → its path and text


_cache: dict[str, _Cached] = {}  # by the path of an include file; of this process


class Reader:
    """Resolves the includes of one binding; `notes` says what went wrong."""

    def __init__(
        self,
        path: str,
        text: str,
        load: Callable[[str], str | None],
        find: Callable[[str], str | None],
    ) -> None:
        self.notes: list[str] = []
        self._path = path
        self._load = load
        self._find = find
        self._places: dict[str, str | None] = {}
        self._texts: dict[str, str | None] = {path: text}
        self._open = [path]
        self._visits = 0
        self._cut = False  # something was left out: not to be kept

    def resolve(self, level: Level) -> Level:
        """`level` with its includes, and those of its children."""
        used: dict[str, tuple[str | None, str | None]] = {}
        whole = self._included(level, used)
        if whole.child is not None:
            below = self.resolve(whole.child)
            whole = Level(whole.keys, whole.properties, below, whole.line, whole.description_end)
        return whole

    def named(self, level: Level) -> list[str]:
        """Paths of the files that a level includes itself, as far as they are there."""
        names = (name for name, _ in _entries(level.keys.get("include")))
        return [path for name in names if (path := self._place(name)) is not None]

    def _included(self, level: Level, used: dict[str, tuple[str | None, str | None]]) -> Level:
        merged: Level | None = None
        for name, item in _entries(level.keys.get("include")):
            other = self._file(name, used)
            if other is not None:
                if item:
                    other = _filter(other, item)
                merged = other if merged is None else _merge(merged, other)
        if merged is None:
            return level
        keys = {key: said for key, said in merged.keys.items() if key != "include"}
        rest = Level(keys, merged.properties, merged.child)
        return _merge(level, rest)

    def _file(self, name: str, used: dict[str, tuple[str | None, str | None]]) -> Level | None:
        """An include file with its own includes. `used` learns what it was made from."""
        path = self._place(name)
        text = self._text(path)
        used[name] = (path, text)
        if path is None or text is None:
            self._note(f"{self._open[-1]}: includes {name}, which is not there")
            return None
        if path in self._open:
            self._cut = True
            self._note(f"{self._open[-1]}: includes itself through {name}")
            return None
        self._visits += 1
        if self._visits > VISITS:
            self._cut = True
            self._note(f"{self._path}: has more than {VISITS} includes")
            return None
        cached = _cache.get(path)
        if cached is not None and self._fits(cached):
            used |= cached.used
            return cached.level
        return self._read(path, text, used)

    def _read(
        self, path: str, text: str, used: dict[str, tuple[str | None, str | None]]
    ) -> Level | None:
        own, problem = own_level(path, text)
        if own is None:
            self._note(problem or path)
            return None
        parts: dict[str, tuple[str | None, str | None]] = {}
        before, self._cut = self._cut, False
        count = len(self.notes)
        self._open.append(path)
        level = self._included(own, parts)
        self._open.pop()
        used |= parts
        if not self._cut and len(self.notes) == count:
            if len(_cache) >= _CACHED:
                _cache.clear()
            _cache[path] = _Cached(level, {**parts, "": (path, text)})
        self._cut |= before
        return level

    def _fits(self, cached: _Cached) -> bool:
        return all(
            (not name or self._place(name) == path) and self._text(path) == text
            for name, (path, text) in cached.used.items()
        )

    def _place(self, name: str) -> str | None:
        if name not in self._places:
            self._places[name] = self._find(name)
        return self._places[name]

    def _text(self, path: str | None) -> str | None:
        if path is None:
            return None
        if path not in self._texts:
            self._texts[path] = self._load(path)
        return self._texts[path]

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _entries(include: Any) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """(base name, its filter) of each entry of `include:`."""
    for item in include if isinstance(include, list) else [include]:
        name = word(item.get("name")) if isinstance(item, dict) else word(item)
        if name and item is not None:
            yield name, item if isinstance(item, dict) else {}
