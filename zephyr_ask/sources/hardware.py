# SPDX-License-Identifier: Apache-2.0
"""board.yml, soc.yml, shield.yml, snippet.yml, sample.yaml, Kconfig.shield and
boards/deprecated.cmake → symbols.

`details`, by kind; keys left out where they would be empty:

    board    {"full_name", "vendor", "socs": [{"name", "variants": [variant]}],
              "variants": [variant], "revisions": [names], "revision_default",
              "revision_format", "revision_exact": true};
             variant: {"name", "cpucluster", "variants": [variant]};
             of a file that extends a board of another: {"extend": true,
              "variants": [{"name", "qualifier"}]}; one file's word, see `targets`
    soc      {"level": "soc", "series", "family", "cpuclusters": [names], "extend": true where
              another file defines it}; {"level": "series", "family", "socs": [names]};
             {"level": "family", "series": [names], "socs": [names]}
    shield   {"full_name", "vendor", "features": [names]}
    snippet  {"append": {variable: file}, "boards": {board or /expression/: {variable: file}}}
    sample   {"title", "tests": [names], "tags", "platforms" (allowed), "integration",
              "depends_on", "harness": [names]}; its name is the folder's path

deprecated.cmake gives no symbols but Changes, without a version.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from zephyr_ask.sources.yaml_text import (
    ITEMS,
    NameLines,
    cut,
    line_of,
    load_yaml,
    mapping,
    name_in,
    sequence,
    word,
    words,
)
from zephyr_ask.types import Change, Listing, Load, Symbol, SymbolKind

TEXT_CHARS = 1000
TESTS = 100  # of a sample; Zephyr's longest has 60
_DEPTH = 4  # of variants; Zephyr's own have 2


def read_hardware(path: str, text: str, load: Load) -> Listing:
    """What one file defines. `load` is asked for the shield.yml beside a Kconfig.shield."""
    name = posixpath.basename(path)
    text = text.removeprefix("\ufeff")
    if name == "deprecated.cmake":
        return Listing(changes=_deprecated(path, text))
    if name == "Kconfig.shield":
        return _bare_shields(path, text, load)
    reader = _READERS.get(name.replace(".yaml", ".yml"))
    if reader is None:
        return Listing(note=f"{path}: no file of boards, SoCs, shields, snippets or samples")
    value, note = load_yaml(path, text)
    if note is None and not isinstance(value, dict):
        note = f"{path}: a mapping of keys is expected, and this is none"
    if note is not None:
        return Listing(note=note)
    symbols = tuple(reader(path, value, NameLines(text)))
    return Listing(symbols, note=None if symbols else f"{path}: names nothing")


def _symbol(
    path: str, name: str, kind: SymbolKind, line: int, summary: str, text: str, details: Any
) -> Symbol:
    """`text` is one line or more; keys without a value are left out of `details`."""
    kept = {key: value for key, value in details.items() if value}
    return Symbol(name, kind, path, line, line, cut(summary, 200), cut(text.strip(), TEXT_CHARS),
                  kept)  # fmt: skip


def _named(value: Any) -> Iterator[tuple[str, dict[Any, Any]]]:
    """(name, entry) of the entries of a list that have one."""
    for entry in sequence(value):
        name = name_in(mapping(entry).get("name"))
        if name:
            yield name, entry


# --- boards


def _boards(path: str, value: dict[Any, Any], lines: NameLines) -> Iterator[Symbol]:
    for board in [value.get("board"), *sequence(value.get("boards"))]:
        board = mapping(board)
        name = name_in(board.get("name")) or name_in(board.get("extend"))
        if not name:
            continue
        line = lines.take(name)
        if not board.get("name"):
            variants = [{"name": variant, "qualifier": line_of(entry.get("qualifier"))}
                        for variant, entry in _named(board.get("variants"))]  # fmt: skip
            details: dict[str, Any] = {"extend": True, "variants": variants}
            yield _symbol(path, name, "board", line, f"more variants of {name}", "", details)
            continue
        full, vendor = line_of(board.get("full_name")), line_of(board.get("vendor"))
        revision = mapping(board.get("revision"))
        socs: list[dict[str, Any]] = []
        for soc, entry in _named(board.get("socs")):
            variants = _variants(entry.get("variants"))
            socs.append({"name": soc, "variants": variants} if variants else {"name": soc})
        details = {
            "full_name": full,
            "vendor": vendor,
            "socs": socs,
            "variants": _variants(board.get("variants")),
            "revisions": [name for name, _ in _named(revision.get("revisions"))],
            "revision_default": line_of(revision.get("default")),
            "revision_format": line_of(revision.get("format")),
            "revision_exact": revision.get("exact") is True,
        }
        about = " ".join(soc["name"] for soc in socs)
        text = f"{full or name} board" + (f" by {vendor}" if vendor else "")
        text += f" with the SoC {about}" if about else ""
        yield _symbol(path, name, "board", line, full, text, details)


def _variants(value: Any, left: int = _DEPTH) -> list[dict[str, Any]]:
    found = []
    for name, entry in _named(value):
        variant = {
            "name": name,
            "cpucluster": line_of(entry.get("cpucluster")),
            "variants": _variants(entry.get("variants"), left - 1) if left else [],
        }
        found.append({key: said for key, said in variant.items() if said})
    return found


def _deprecated(path: str, text: str) -> tuple[Change, ...]:
    lines = {name: text.count("\n", 0, start) + 1 for name, _, start in _settings(text)}
    return tuple(
        Change(old, "board", "renamed", "", (new,), path, lines[old])
        for old, new in parse_deprecated(text).items()
    )


_SET = re.compile(
    r"^[ \t]*set\s*\(\s*(\S+)_DEPRECATED\s+\"?([^\s()\"#]+)\"?\s*\)", re.MULTILINE | re.IGNORECASE
)


def _settings(text: str) -> Iterator[tuple[str, str, int]]:
    for match in _SET.finditer(text):
        yield match[1], match[2], match.start()


def parse_deprecated(text: str) -> dict[str, str]:
    """boards/deprecated.cmake → {old board or target: today's}; the last setting stands, as in
    CMake. An old name may have qualifiers, a new one a revision ("arduino_uno_r4@minima")."""
    return {old: new for old, new, _ in _settings(text)}


# --- SoCs


def _socs(path: str, value: dict[Any, Any], lines: NameLines) -> Iterator[Symbol]:
    for family, entry in _named(value.get("family")):
        line = lines.take(family)
        found = [*_series(path, entry, family, lines),
                 *_leaves(path, entry.get("socs"), "", family, lines)]  # fmt: skip
        details = {
            "level": "family",
            "series": [s.name for s in found if s.details.get("level") == "series"],
            "socs": [s.name for s in found if s.details.get("level") == "soc"],
        }
        yield _symbol(path, family, "soc", line, f"family of SoCs: {family}", "", details)
        yield from found
    yield from _series(path, value, "", lines)
    yield from _leaves(path, value.get("socs"), "", "", lines)


def _series(path: str, value: Any, family: str, lines: NameLines) -> Iterator[Symbol]:
    for series, entry in _named(value.get("series")):
        line = lines.take(series)
        found = list(_leaves(path, entry.get("socs"), series, family, lines))
        details = {"level": "series", "family": family, "socs": [s.name for s in found]}
        yield _symbol(path, series, "soc", line, f"series of SoCs: {series}", "", details)
        yield from found


def _leaves(path: str, value: Any, series: str, family: str, lines: NameLines) -> Iterator[Symbol]:
    for entry in map(mapping, sequence(value)):
        own = name_in(entry.get("name"))
        name = own or name_in(entry.get("extend"))
        if not name:
            continue
        clusters = [cluster for cluster, _ in _named(entry.get("cpuclusters"))]
        details = {
            "level": "soc",
            "series": series,
            "family": family,
            "cpuclusters": clusters,
            "extend": not own,
        }
        about = " · ".join(part for part in (family, series) if part)
        text = f"{name} SoC" + (f" of {about}" if about else "")
        text += f" with CPU clusters {' '.join(clusters)}" if clusters else ""
        yield _symbol(path, name, "soc", lines.take(name), f"SoC {name}", text, details)


# --- shields


def _shields(path: str, value: dict[Any, Any], lines: NameLines) -> Iterator[Symbol]:
    for name, shield in _named([value.get("shield"), *sequence(value.get("shields"))]):
        full, vendor = line_of(shield.get("full_name")), line_of(shield.get("vendor"))
        features = words(shield.get("supported_features"))
        text = f"{full or name} shield" + (f" by {vendor}" if vendor else "")
        text += f" with {' '.join(features)}" if features else ""
        details = {"full_name": full, "vendor": vendor, "features": features}
        yield _symbol(path, name, "shield", lines.take(name), full, text, details)


_CONTAINS = re.compile(r"shields_list_contains\s*,\s*([^\s,()]+)")


def _bare_shields(path: str, text: str, load: Load) -> Listing:
    """Shields of a tree from before shield.yml: each has an option of its own."""
    folder = posixpath.dirname(path)
    if load(posixpath.join(folder, "shield.yml")) is not None:
        return Listing()
    found: dict[str, int] = {}
    for match in _CONTAINS.finditer(text):
        found.setdefault(match[1], text.count("\n", 0, match.start()) + 1)
    title = posixpath.basename(folder)
    return Listing(tuple(
        _symbol(path, name, "shield", line, "", f"{title} shield", {})
        for name, line in found.items()
    ))  # fmt: skip


# --- snippets and samples


def _snippet(path: str, value: dict[Any, Any], lines: NameLines) -> Iterator[Symbol]:
    name = name_in(value.get("name"))
    if not name:
        return
    boards = {}
    for board, entry in list(mapping(value.get("boards")).items())[:ITEMS]:
        boards[word(board)] = _appended(mapping(entry).get("append"))
    details = {"append": _appended(value.get("append")), "boards": boards}
    text = f"snippet {name} (west build -S {name})"
    yield _symbol(path, name, "snippet", lines.take(name), f"snippet {name}", text, details)


def _appended(value: Any) -> dict[str, str]:
    return {word(key): line_of(said) for key, said in list(mapping(value).items())[:ITEMS]}


def _sample(path: str, value: dict[Any, Any], lines: NameLines) -> Iterator[Symbol]:
    sample, common = mapping(value.get("sample")), mapping(value.get("common"))
    tests = [(word(name), mapping(test)) for name, test in mapping(value.get("tests")).items()]
    title, description = line_of(sample.get("name")), line_of(sample.get("description"))

    def gathered(key: str, split: bool = True) -> list[str]:
        said = [common.get(key), *(test.get(key) for _, test in tests)]
        lists = [words(item) if split or isinstance(item, list) else [line_of(item)]
                 for item in said]  # fmt: skip
        return list(dict.fromkeys(item for items in lists for item in items if item))[:ITEMS]

    name = posixpath.dirname(path)
    details = {
        "title": title,
        "tests": [test for test, _ in tests[:TESTS]],
        "tags": gathered("tags"),
        "platforms": gathered("platform_allow"),
        "integration": gathered("integration_platforms"),
        "depends_on": gathered("depends_on"),
        "harness": gathered("harness"),
    }
    text = "\n".join([title, description, " ".join(details["tags"])])
    yield _symbol(path, name, "sample", lines.take(title) if title else 1,
                  title or description, text, details)  # fmt: skip


_READERS: Mapping[str, Callable[[str, dict[Any, Any], NameLines], Iterable[Symbol]]] = {
    "board.yml": _boards,
    "soc.yml": _socs,
    "shield.yml": _shields,
    "snippet.yml": _snippet,
    "sample.yml": _sample,
}
