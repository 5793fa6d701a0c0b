# SPDX-License-Identifier: Apache-2.0
"""Release notes and migration guides → what became of which name.

A Change is made of a statement ("A was renamed to B", "Removed A. Use B instead."), of a table
with old and new names, or of a list below a line or heading that says it ("The following options
were removed:"). What only adds, fixes or mentions a name makes none; `mentions` has those.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from zephyr_ask.sources.changes_grammar import WEIGHT, Indexes, introduced, judge
from zephyr_ask.sources.changes_names import (
    NAME,
    NAMES,
    OTHER,
    RUN,
    Marked,
    Name,
    mark,
    settle,
    spoken,
    topic,
)
from zephyr_ask.sources.changes_text import Lines, Unit, ancestors, read_units
from zephyr_ask.types import Became, Change, SymbolKind

_VERSION = re.compile(r"(\d+\.\d+(?:\.\d+)?)\.rst$")
_TITLE = re.compile(r"^.*?\bv?(\d+\.\d+(?:\.\d+)?)\b.*\n[=#*~^-]{4,}[ \t]*$", re.MULTILINE)
# Only a text with one of these can say anything of its own.
_SAYS = [
    *re.findall(
        r"\S+",
        """remov deprec renam replac instead obsolet drop delet elimin retir supersed favo longer
        anymore gone merge unif split becom becam change migrat convert relat fold combin consolid
        -> =>""",
    ),
    *(" now", "support for", "any more", "not exist", "(previous", "(former", "(was "),
]
_FOREIGN = re.compile(f"{NAME}|{RUN}")  # what stands for names below
_ISSUE = re.compile(r":github:`\d+`\s*-|``ZEP-\d+``|#?\d+\s*-\s")
_OLD = re.compile(r"\b(?:old|previous|removed|deprecated|legacy|former|before|original)\b", re.I)
_NEW = re.compile(r"\b(?:new|replacements?|replaced|use|current|after|now|instead)\b", re.I)
_PREVIOUSLY = re.compile(r"(?:previous(?:ly)?|before|old)\b[^:.]{0,24}:", re.IGNORECASE)
_NOW = re.compile(r"(?:now|new|use|after|instead)\b[^:.]{0,24}:", re.IGNORECASE)
_OFFERS = re.compile(
    r"\b(?:(?:replaced (?:it |them )?(?:with|by)|in favou?r of|instead|replacements?|split into"
    r"|use the following|use one of)\b[^.]*|renamed to(?: the following)?):$",
    re.IGNORECASE,
)
_LABEL_WORDS = 6
_LEAD_CHARS = 1000  # only the last sentence counts
_TEXT_CHARS = 6000  # longer ones say nothing about a name; the longest of Zephyr's has 3,200
_ITEM_CHARS = 120  # a longer item of a list of replacements says more than a name


def read_changes(path: str, text: str) -> tuple[Change, ...]:
    """What the page says became of names, in its order; never raises.

    `path`: for the version, unless the title has to tell; "" where neither does.
    """
    text = _FOREIGN.sub("\ufffd", text.removeprefix("\ufeff").replace("\r\n", "\n"))
    page = _Page(path, _version(path, text))
    for unit in read_units(text):
        page.read(unit)
    return tuple(page.changes)


def mentions(path: str, text: str) -> tuple[tuple[str, str, int], ...]:
    """(kind, name, line) of Kconfig, binding and API names, each where it stands first."""
    first: dict[tuple[str, str], int] = {}
    for kind, name, line in spoken(text):
        first.setdefault((kind, name), line)
    return tuple((kind, name, line) for (kind, name), line in first.items())


def _version(path: str, text: str) -> str:
    match = _VERSION.search(path) or _TITLE.search(text[:4000])
    return match[1].removesuffix(".0") if match and match[1].count(".") == 2 else (
        match[1] if match else "")  # fmt: skip


class _Page:
    """The changes of one page."""

    def __init__(self, path: str, version: str) -> None:
        self._path = path
        self._version = version
        self._done: set[int] = set()  # ids of units that were read with another
        self.changes: list[Change] = []

    def read(self, unit: Unit) -> None:
        if id(unit) in self._done:
            return
        if unit.cells:
            self._row(unit)
            return
        text = unit.text
        if len(text) > _TEXT_CHARS or _ISSUE.match(text) or self._previously(unit, text):
            return
        inherited, listed, context = _inherited(unit)
        if inherited is None:
            lower = text.lower()
            if not any(word in lower for word in _SAYS):
                return
        marked = mark(unit.lines)
        if not marked.names:
            return
        lines = self._with_offers(unit, text)
        if lines is not unit.lines:
            marked = mark(lines)
        names = settle(marked, context)
        made = _Made()
        for gone, became, instead in judge(_hidden(marked, names), inherited, listed):
            made.add(names, gone, became, instead)
        self._put(made)

    def _with_offers(self, unit: Unit, text: str) -> Lines:
        """A unit that ends in "… with the following:" with the names that follow it."""
        if not unit.children or not _OFFERS.search(text):
            return unit.lines
        lines = list(unit.lines)
        for child in unit.children:
            if not child.cells and len(child.text) <= _ITEM_CHARS:
                lines += [(number, f"{line} ,") for number, line in child.lines]
                self._done.add(id(child))
        return lines

    def _previously(self, unit: Unit, text: str) -> bool:
        """ "Previously: A" beside "Now use: B", the names in the line or in a list below it."""
        if not _PREVIOUSLY.match(text):
            return False
        after = unit.after
        if after is None or not _NOW.match(after.text):
            return False
        _, _, context = _inherited(unit)
        old, new = (
            settle(marked, ("function", *context))
            for marked in (mark(_all_lines(unit)), mark(_all_lines(after)))
        )
        self._pair(old, new, "replaced")
        for part in (unit, after):
            self._done.update(map(id, (part, *part.children)))
        return True

    def _row(self, unit: Unit) -> None:
        olds = [i for i, head in enumerate(unit.header) if _OLD.search(head)]
        news = [i for i, head in enumerate(unit.header) if _NEW.search(head) and i not in olds]
        if not olds:
            return
        inherited, _, context = _inherited(unit)
        head = unit.header[olds[0]].lower()
        old = settle(mark(unit.cells[olds[0]]), (head, *context))
        new: list[Name] = []
        said: Became = (
            introduced(head) or inherited or ("renamed" if "name" in head else "replaced")
        )
        if news:
            cell = unit.cells[news[0]]
            new = settle(mark(cell), (unit.header[news[0]].lower(), head, *context))
            content = " ".join(text for _, text in cell).strip("*-\u2013 ").lower()
            if said == "removed" and new:
                said = "replaced"
            elif not new and content in ("", "none", "removed", "n/a", "not available"):
                said = "removed"
        self._pair(old, new, said)

    def _pair(self, old: list[Name], new: list[Name], became: Became) -> None:
        made = _Made()
        names = [*old, *new]
        count = len(old)
        made.add(names, tuple(range(count)), became, tuple(range(count, len(names))))
        self._put(made)

    def _put(self, made: _Made) -> None:
        for (kind, name), (became, line, instead) in made.items():
            change = Change(name, kind, became, self._version, instead, self._path, line)
            self.changes.append(change)


class _Made:
    """What one unit says, by kind and name."""

    def __init__(self) -> None:
        self._said: dict[tuple[SymbolKind, str], tuple[Became, int, dict[str, None]]] = {}

    def add(self, names: Sequence[Name], gone: Indexes, became: Became, instead: Indexes) -> None:
        old = [names[i] for i in gone if names[i].kinds and not names[i].offers]
        new = [names[i] for i in instead if names[i].kinds]
        sure: set[SymbolKind] = {n.kinds[0] for n in (*old, *new) if n.sure}
        by_kind: dict[SymbolKind, list[Name]] = {}
        for name in old:
            if any(name.name == other.name for other in new):
                continue  # split up or reduced, but still there
            if named := _kind(name, sure):
                by_kind.setdefault(named, []).append(name)
        for kind, group in by_kind.items():
            offered = [
                n.name for n in new if kind == n.kinds[0] or (not n.sure and kind in n.kinds)
            ]
            for index, name in enumerate(group):
                self._say(kind, name, became, _matched(name.name, index, len(group), offered))

    def _say(self, kind: SymbolKind, name: Name, became: Became, instead: list[str]) -> None:
        key = (kind, name.name)
        before, line, offers = self._said.get(key, (became, name.line, {}))
        offers.update(dict.fromkeys(other for other in instead if other != name.name))
        self._said[key] = (max(before, became, key=WEIGHT.__getitem__), line, offers)

    def items(self) -> list[tuple[tuple[SymbolKind, str], tuple[Became, int, tuple[str, ...]]]]:
        """Without names that are offered instead of another."""
        offered = {(kind, new) for (kind, _), said in self._said.items() for new in said[2]}
        return [
            (key, (became, line, tuple(offers)))
            for key, (became, line, offers) in self._said.items()
            if key not in offered
        ]


def _kind(name: Name, sure: set[SymbolKind]) -> SymbolKind | None:
    """`sure`: kinds of names in the same statement that are sure."""
    if name.sure:
        return name.kinds[0]
    for kind in name.kinds:
        if kind in sure:
            return kind
    # Where nothing tells: CAPITALS are API, vendor,part is a compatible, the rest may be anything.
    tells = "," in name.name or (name.kinds[0] == "api" and "_" in name.name)
    return name.kinds[0] if tells else None


def _matched(name: str, index: int, count: int, offered: list[str]) -> list[str]:
    """Of several names for several, the one at the same place; else all, the most alike first."""
    if count == len(offered):
        return [offered[index]]
    if count == 1 or len(offered) < 2:
        return offered
    parts = set(re.split(r"[\W_]+", name.lower()))
    return sorted(offered, key=lambda new: -len(parts & set(re.split(r"[\W_]+", new.lower()))))


def _hidden(marked: Marked, names: Sequence[Name]) -> str:
    """The text with marks for real names only."""
    text = marked.text
    for index, name in enumerate(names):
        if not name.kinds:
            text = text.replace(chr(NAMES + index), OTHER)
    return text


def _all_lines(unit: Unit) -> Lines:
    return [*unit.lines, *(line for child in unit.children for line in child.lines)]


def _inherited(unit: Unit) -> tuple[Became | None, bool, tuple[str, ...]]:
    """What lines and headings above say of a unit; whether the line introduces pairs; their
    lower-case text, nearest first.
    """
    titled, titles = _titled(unit.headings)
    if unit.parent is None:
        return titled, False, titles
    leads = [_lead(above.text) for above in ancestors(unit)]
    context = (*(lead.sentence for lead in leads), *titles)
    for lead in leads:
        if lead.became is not None or not lead.label:
            return lead.became, lead.pairs, context
    return titled, False, context


class _Lead(NamedTuple):
    """A text that introduces others."""

    sentence: str  # its last, lower-case
    became: Became | None  # what that says of what follows
    pairs: bool  # of pairs of old and new
    label: bool  # a mere label: what stands above it goes on to hold


@lru_cache(maxsize=64)
def _titled(headings: tuple[str, ...]) -> tuple[Became | None, tuple[str, ...]]:
    titles = tuple(topic(heading) for heading in reversed(headings))
    return next((became for title in titles if (became := introduced(title))), None), titles


@lru_cache(maxsize=64)  # a list's items ask one after the other
def _lead(text: str) -> _Lead:
    text = " ".join(text[-_LEAD_CHARS:].lower().split())
    last = re.split(r"[.;!?]\s+", text)[-1]
    label = len(text.split()) <= _LABEL_WORDS and not _NOW.match(text) and "`" not in text
    if not (last.endswith(":") or re.search(r"\b(?:following|below|these|listed)\b", last)):
        return _Lead(last, None, False, label)
    pairs = re.search("replac|renam|favou?r|new", last) is not None
    return _Lead(last, introduced(last), pairs, label)
