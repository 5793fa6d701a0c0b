# SPDX-License-Identifier: Apache-2.0
"""A file that defines names → what the index keeps of it. Runs in the worker processes."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from zephyr_ask.tree import BIG, Source, nameable
from zephyr_ask.types import SYMBOL_KINDS, Change, Listing, Load, Symbol
from zephyr_ask.workspace import Stat, decode, stat_of

Roster = Mapping[str, "list[str]"]  # a binding's file name → where files of that name are

# Most common strings of the packed JSON: each symbol is packed alone, and they are short.
_DICTIONARY = (
    b'"deprecated":true"enum":"internal":true"since":"retval":"syscall":true"members":'
    b'"targets":["platform_allow":"tags":["arm","properties":{"required":true'
    b'"type":"phandle-array","type":"int","type":"boolean","type":"string","description":"'
    b'"includes":["base.yaml","bus":["on_bus":"i2c","spi"'
    b'"what":"enumerator"},"what":"struct","what":"macro","signature":"#define "signature":"int '
    b'(const struct device *dev, "params":[{"name":"dev","text":"Pointer to the device structure'
    b'"returns":"0 on success, negative errno on failure","group":"'
    b'"configdefault":true"menuconfig":true"scope":"app","scope":"test","scope":"sample"'
    b'"ranges":[{"low":"0","high":"implies":[{"name":"selects":[{"name":"'
    b'"defaults":[{"value":"n"}],"defaults":[{"value":"y","if":"'
    b'"depends":["DT_HAS__ENABLED","help":"Enable support for "prompt":"'
    b'{"type":"bool","prompt":"{"type":"int","prompt":"{"type":"hex","{"type":"string",'
)


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class SymbolRecord(NamedTuple):
    """A row of the index's symbols, and the terms to find it by. Plain, for the way between
    processes."""

    kind: int  # index into types.SYMBOL_KINDS
    name: str
    path: str | None  # None: the file that the record belongs to
    line: int
    end_line: int
    summary: str
    data: bytes  # of `pack`; b"" where there is no more to say
    terms: tuple[str, str]  # of name and text, separated by spaces


class Listed(NamedTuple):
    """All that a file defines."""

    symbols: list[SymbolRecord] = []  # noqa: RUF012  (never changed)
    changes: list[Change] = []  # noqa: RUF012
    spoken: list[tuple[str, str, int]] = []  # noqa: RUF012  (kind, name, line), of release notes
    links: list[Any] = []  # noqa: RUF012
    note: str | None = None
    used: Mapping[str, tuple[Stat, bytes | None]] = {}  # noqa: RUF012


def pack(text: str, details: Mapping[str, Any]) -> bytes:
    """Text and details of a symbol. About a third of its JSON."""
    if not text and not details:
        return b""
    data = _JSON.encode([text, details])
    packer = zlib.compressobj(6, wbits=-15, zdict=_DICTIONARY)
    return packer.compress(data.encode(errors="surrogatepass")) + packer.flush()


def unpack(data: bytes) -> tuple[str, dict[str, Any]]:
    """Raises ValueError for what `pack` did not make."""
    if not data:
        return "", {}
    try:
        unpacker = zlib.decompressobj(wbits=-15, zdict=_DICTIONARY)
        raw = unpacker.decompress(data) + unpacker.flush()
        text, details = json.loads(raw.decode(errors="surrogatepass"))
        return str(text), dict(details)
    except (zlib.error, TypeError, ValueError) as error:
        raise ValueError(str(error)) from error


def symbol_terms(name: str, summary: str, text: str) -> tuple[str, str]:
    """What a symbol is found by: the terms of its name, and those of what is said of it. Of one
    of which nothing is said, none: it is looked up by its name, not searched for."""
    from zephyr_ask.analyzer import terms

    said = " ".join(terms(text if text.startswith(summary) else f"{summary}\n{text}"))
    return (" ".join(terms(name)), said) if said else ("", "")


class _Loader:
    """Gives the text of other files of the tree, and remembers which were asked for."""

    def __init__(self, base: str) -> None:
        self._base = base
        self.used: dict[str, tuple[Stat, bytes | None]] = {}
        self._texts: dict[str, str | None] = {}

    def __call__(self, path: str) -> str | None:
        if not nameable(path):
            return None
        if path not in self._texts:
            place = os.path.join(self._base, path)
            status = stat_of(place)
            data: bytes | None = None
            if 0 <= status[0] <= BIG:
                try:
                    with open(place, "rb") as file:
                        data = file.read()
                except (OSError, ValueError):
                    data = None
            self.used[path] = (status, data)
            self._texts[path] = None if data is None else decode(data)
        return self._texts[path]


def read_listing(base: str, path: str, source: Source, data: bytes, roster: Roster) -> Listed:
    """What a file of any kind but a page defines. Never raises on content."""
    if len(data) > BIG:
        return Listed(note=f"{path}: left out, since it has {len(data):,} bytes")
    if b"\0" in data[:4096]:
        return Listed(note=f"{path}: left out, since it is binary")
    load = _Loader(base)
    listing = _READERS[source](path, decode(data), load, roster)
    used = {name: entry for name, entry in load.used.items() if name != path}
    return listed(path, listing)._replace(used=used)


def listed(path: str, listing: Listing) -> Listed:
    """A Listing as records."""
    symbols = [_record(path, symbol) for symbol in listing.symbols]
    return Listed(symbols, list(listing.changes), [], list(listing.links), listing.note)


def _record(path: str, symbol: Symbol) -> SymbolRecord:
    return SymbolRecord(
        SYMBOL_KINDS.index(symbol.kind),
        symbol.name,
        None if symbol.path == path else symbol.path,
        symbol.line,
        symbol.end_line,
        symbol.summary,
        pack(symbol.text, symbol.details),
        symbol_terms(symbol.name, symbol.summary, symbol.text),
    )


_SAMPLE = re.compile(
    r"^\.\.[ \t]+zephyr:code-sample::[ \t]*(\S+)[ \t]*\n[ \t]+:name:[ \t]*(\S.*)$", re.MULTILINE
)
_RELEASES = "doc/releases/"


def read_page_names(path: str, text: str) -> Listed:
    """What a page of the documentation says of names, besides its prose."""
    if path.startswith(_RELEASES):
        from zephyr_ask.sources.changes import mentions, read_changes

        return Listed(changes=list(read_changes(path, text)), spoken=list(mentions(path, text)))
    found = _SAMPLE.search(text) if "code-sample::" in text else None
    if found is None:
        return Listed()
    line = text.count("\n", 0, found.start()) + 1
    symbol = Symbol(os.path.dirname(path), "sample", path, line, line + 1, found[2].strip(), "",
                    {"id": found[1]})  # fmt: skip
    return listed(path, Listing((symbol,)))


def _kconfig(path: str, text: str, load: Load, roster: Roster) -> Listing:
    from zephyr_ask.sources.kconfig import read_kconfig

    return read_kconfig(path, text, load)


def _binding(path: str, text: str, load: Load, roster: Roster) -> Listing:
    from zephyr_ask.sources.bindings import read_binding

    def find(name: str) -> str | None:
        places = roster.get(name, [])
        if not places:
            load(f"?/{name}")  # nowhere: remembered, so that its coming is noticed
            return None
        own = os.path.commonpath
        return max(places, key=lambda place: (len(own([place, path])), -len(place), place))

    return read_binding(path, text, load, find)


def _hardware(path: str, text: str, load: Load, roster: Roster) -> Listing:
    from zephyr_ask.sources.hardware import read_hardware

    return read_hardware(path, text, load)


def _commands(path: str, text: str, load: Load, roster: Roster) -> Listing:
    from zephyr_ask.sources.commands import read_commands

    return read_commands(path, text, load)


def _header(path: str, text: str, load: Load, roster: Roster) -> Listing:
    from zephyr_ask.sources.headers import read_header

    return read_header(path, text)


def _module(path: str, text: str, load: Load, roster: Roster) -> Listing:
    from zephyr_ask.sources.kconfig_generated import read_module

    return read_module(path, text)


_READERS: dict[Source, Callable[[str, str, Load, Roster], Listing]] = {
    "kconfig": _kconfig,
    "binding": _binding,
    "hardware": _hardware,
    "commands": _commands,
    "header": _header,
    "module": _module,
}
