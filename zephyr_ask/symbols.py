# SPDX-License-Identifier: Apache-2.0
"""Name → its card: what this tree defines under it, or what became of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from zephyr_ask.elsewhere import module_of
from zephyr_ask.naming import Named
from zephyr_ask.nearest import Lexicon, suggest
from zephyr_ask.sources import (
    api_names,
    bindings,
    commands,
    hardware_targets,
    kconfig_generated,
)
from zephyr_ask.sources.changes_follow import follow
from zephyr_ask.table import Table
from zephyr_ask.types import CHUNK_CHARS, Card, Change, Symbol, SymbolKind

_DT_HAS = re.compile(r"DT_HAS_\w+_ENABLED")
CARDS = 4  # shown of one question
PARTS = 3  # bindings that one part's name may stand for; of more it is the name of a family
NEAR = 3  # suggestions for a name that does not exist
_CLIMB = 12  # Kconfig files between a symbol and the root; the deepest of Zephyr's is 9
_SCOPES = ("app", "sysbuild", "sample", "test")


class Catalog:
    """The names of one open index."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lexicons: dict[SymbolKind, Lexicon] = {}

    def cards(self, names: Sequence[Named]) -> list[Card]:
        """Cards of the names that exist or are surely meant as names."""
        found: list[Card] = []
        for named in names:
            defined = [card for kind in named.kinds if (card := self.defined(named.name, kind))]
            if not defined and "binding" in named.kinds:
                parts = self._table.bindings_of_part(named.name, PARTS + 1)
                if len(parts) <= PARTS:
                    defined = [card for part in parts if (card := self.defined(part, "binding"))]
            kinds = self._decidable(named)
            if not defined and kinds:
                defined = [self.missing(named.name, kinds)]
            elif not defined and (card := self.gone(named.name, named.kinds)):
                defined = [card]
            found += defined
        return found[:CARDS]

    def _decidable(self, named: Named) -> list[SymbolKind]:
        """The kinds of which it can be said that there is no such name: none where the tree has
        no files of a kind, and none for a C name that may as well be anybody's."""
        if "api" in named.kinds and "api" not in self._kinds:
            return []  # it may well be a C name, and this tree has no headers
        kinds = [kind for kind in named.kinds if named.sure and kind in self._kinds]
        if "api" in kinds and not api_names.claims_to_be_api(named.name, True):
            kinds.remove("api")
        return kinds

    @cached_property
    def _kinds(self) -> Collection[str]:
        return self._table.kinds()

    def defined(self, name: str, kind: SymbolKind) -> Card | None:
        symbols = self.definitions(name, kind)
        if not symbols:
            return None
        symbols.sort(key=_explains)
        details = dict(symbols[0].details)
        if kind == "kconfig":
            details |= self._kconfig(symbols)
        elif kind == "binding":
            details["properties"] = bindings.properties(details)
            details.pop("inherited", None)
        elif kind == "board":
            details["targets"] = self.boards.get(symbols[0].name, [])
        change = next(
            (c for c in self._table.changes(name, kind) if c.became == "deprecated"), None
        )
        evidence = (change.path, change.line) if change else None
        return Card(name, kind, "defined", tuple(symbols), change=change, evidence=evidence,
                    details=details)  # fmt: skip

    def definitions(self, name: str, kind: SymbolKind) -> list[Symbol]:
        """In the tree, or by rule: an option that the build makes, a board's target, a command of
        west's own."""
        symbols = self._table.defined(name, kind)
        if symbols:
            return symbols
        if kind == "kconfig" and (made := self.made(name)):
            return [made]
        board, *qualifiers = re.split("[@/]", name)
        # A name without qualifiers is none, and the boards of the whole tree need not be read.
        if kind == "board" and qualifiers and hardware_targets.full_target(name, self.boards):
            return self._table.defined(board, "board")
        if kind == "west":
            return [symbol for symbol in self.builtin if symbol.name == name]
        return []

    def gone(self, name: str, kinds: Iterable[SymbolKind]) -> Card | None:
        """A name that this tree has no more, of which release notes speak."""
        for kind in kinds:
            change, replacement = self.became(name, kind)
            if change is not None:
                return Card(name, kind, "gone", (), replacement, change, (change.path, change.line),
                            self.near(name, kind) if replacement is None else ())  # fmt: skip
        if "board" in kinds and (today := hardware_targets.old_board_name(name, self.boards)):
            return Card(name, "board", "gone", replacement=today)
        for kind in kinds:
            if spoken := self._table.spoken(name, kind):
                return Card(name, kind, "gone", evidence=spoken[0], near=self.near(name, kind))
        return None

    def missing(self, name: str, kinds: Sequence[SymbolKind]) -> Card:
        """A name that this tree does not have."""
        card = self.gone(name, kinds)
        if card is not None:
            return card
        near = {kind: self._alike(name, kind) or self.near(name, kind) for kind in kinds}
        kind = max(kinds, key=lambda k: (bool(near[k]), -kinds.index(k)))
        module = module_of(name) if kind == "kconfig" else ""
        return Card(name, kind, "unknown", near=near[kind],
                    details={"module": module} if module else {})  # fmt: skip

    @cached_property
    def hardware(self) -> list[Symbol]:
        """Every definition of a board or a SoC."""
        return [*self._table.of_kind("board"), *self._table.of_kind("soc")]

    @cached_property
    def boards(self) -> Mapping[str, list[str]]:
        """Board → its targets."""
        return hardware_targets.board_targets(self.hardware)

    def made(self, name: str) -> Symbol | None:
        """An option that Zephyr's build makes of a binding or of a board."""
        source: Symbol | None = None
        if _DT_HAS.fullmatch(name):
            source = self._by_dt_has.get(name)
        elif name.startswith("BOARD_REVISION_"):
            source = self._by_revision.get(name)
        elif name.startswith("BOARD_"):
            source = self._by_board.get(name)
        if source is None:
            return None
        return replace(source, name=name, kind="kconfig", summary="",
                       details={"type": "bool", "scope": "app", "generated": True})  # fmt: skip

    @cached_property
    def _by_dt_has(self) -> Mapping[str, Symbol]:
        return {kconfig_generated.dt_has(s.name): s for s in self._table.of_kind("binding")}

    @cached_property
    def _by_board(self) -> Mapping[str, Symbol]:
        symbols = {s.name: s for s in self.hardware if s.kind == "board"}
        made = {}
        for board, targets in self.boards.items():
            for target in (board, *targets):
                if board in symbols:
                    made[kconfig_generated.board(target)] = symbols[board]
        return made

    @cached_property
    def _by_revision(self) -> Mapping[str, Symbol]:
        made = {}
        for symbol in self.hardware:
            for revision in symbol.details.get("revisions", ()):
                name = revision.get("name", "") if isinstance(revision, dict) else str(revision)
                made[kconfig_generated.revision(name)] = symbol
        return made

    @cached_property
    def builtin(self) -> Sequence[Symbol]:
        return commands.builtin_commands().symbols

    def _alike(self, name: str, kind: SymbolKind) -> tuple[str, ...]:
        """Names that differ in case alone."""
        return tuple(dict.fromkeys(symbol.name for symbol in self._table.like(name, kind)))[:NEAR]

    def became(self, name: str, kind: SymbolKind) -> tuple[Change | None, str | None]:
        """What is said to have become of a name, and the name that exists instead of it."""
        changes = self._table.changes(name, kind)
        if not changes:
            return None, None
        best = max(changes, key=lambda c: (bool(c.replacements), c.became != "deprecated"))
        reached: dict[str, list[Change]] = {name: changes}
        for _ in range(4):  # renamed, renamed again, …
            ahead = {r for found in reached.values() for c in found for r in c.replacements}
            for other in ahead - reached.keys():
                reached[other] = self._table.changes(other, kind)
        names = follow(name, reached, lambda other: self._table.exists(other, kind))
        return best, names[0] if names else None

    def near(self, name: str, kind: SymbolKind, limit: int = NEAR) -> tuple[str, ...]:
        """Existing names of a kind that a wrong one may have been meant to be, best first."""
        if kind not in self._lexicons:
            self._lexicons[kind] = Lexicon(self._table.names(kind))
        return tuple(suggest(name, self._lexicons[kind], limit))

    def _kconfig(self, symbols: Sequence[Symbol]) -> dict[str, Any]:
        """What all definitions say together, and the conditions of the files above the first."""
        merged: dict[str, Any] = {}
        for key in ("type", "prompt", "help", "choice"):
            value = next((s.details[key] for s in symbols if s.details.get(key)), None)
            if value is not None:
                merged[key] = value
        for key in ("defaults", "selects", "implies", "ranges"):
            values = list(symbols[0].details.get(key, ()))
            for symbol in symbols[1:]:
                if symbol.details.get("scope") == symbols[0].details.get("scope"):
                    at = f"{symbol.path}:{symbol.line}"
                    values += [{**value, "at": at} for value in symbol.details.get(key, ())]
            if values:
                merged[key] = values
        above = self._above(symbols[0].details.get("via", [symbols[0].path])[0])
        if above:
            merged["inherited"] = above
        return merged

    def _above(self, path: str) -> list[str]:
        """Conditions under which a Kconfig file is sourced, outermost first."""
        conditions: list[str] = []
        seen = {path}
        for _ in range(_CLIMB):
            links = [link for link in self._table.links_to(path) if link[0] not in seen]
            if not links:
                break
            path, link = links[0]
            seen.add(path)
            conditions = [*link.get("if", ()), *conditions]
        return conditions


def _explains(symbol: Symbol) -> tuple[Any, ...]:
    """Sorts the definition first that says what the symbol is for."""
    details = symbol.details
    if symbol.kind == "kconfig":
        scope = details.get("scope", "app")
        return (_SCOPES.index(scope) if scope in _SCOPES else 0, bool(details.get("configdefault")),
                not details.get("prompt"), not details.get("help"), symbol.path)  # fmt: skip
    return (bool(details.get("internal")), not symbol.summary, not symbol.text, symbol.path)


def symbol_markdown(symbol: Symbol) -> str:
    """A symbol as a passage among others: what is said of it, and the facts in one line."""
    details = symbol.details
    parts = []
    if symbol.kind == "kconfig":
        facts = [details.get("type", "")]
        facts += [f"default {d['value']}" for d in details.get("defaults", ())[:2]]
        facts += [f"depends on {d}" for d in details.get("depends", ())[-2:]]
        parts = [", ".join(fact for fact in facts if fact), details.get("help", "")]
    elif symbol.kind == "api":
        parts = [f"`{details['signature']}`" if details.get("signature") else "", symbol.text]
    else:
        parts = [symbol.text]
    return "\n\n".join(part for part in parts if part)[:CHUNK_CHARS]
