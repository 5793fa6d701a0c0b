# SPDX-License-Identifier: Apache-2.0
"""Raw reStructuredText of a release page → its items, paragraphs and table rows as a tree.

No docutils: the source lines are wanted, and only who governs whom. An item's parent is the item
or paragraph that introduces it; where columns are sloppy the nearer one wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Lines = list[tuple[int, str]]  # 1-based line, its text without indentation and bullet


@dataclass(slots=True, eq=False)
class Unit:
    """An item or a paragraph, or a row of a table."""

    lines: Lines
    headings: tuple[str, ...]  # outermost first
    parent: Unit | None = None  # what introduces it
    children: list[Unit] = field(default_factory=list, repr=False)
    after: Unit | None = field(default=None, repr=False)  # the next that the parent introduces
    bullet: bool = False
    cells: tuple[Lines, ...] = ()  # of a row; `lines` is empty then
    header: tuple[str, ...] = ()  # of its table, as many as cells; () where it has none

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)


_DEPTH = 8  # lists within lists; the deepest of Zephyr's is 4

_BULLET = re.compile(r"(?:[-*+\u2022]|\d{1,3}[.)]|#\.)[ \t]+(?=\S)")
_BULLETS = frozenset("-*+\u2022#0123456789")
_STOP = re.compile(rf"{_BULLET.pattern}|\.\. |\+[-=+]+\+\s*")
_STOPS = _BULLETS | {"."}
_ADORNMENT = re.compile(r"""([=\-~*#^+"'`:._])\1{2,}\s*""")
_DIRECTIVE = re.compile(r"\.\.[ \t]+([\w:+.-]+)::")
_OPTION = re.compile(r":[\w-]+:(?:\s|$)")
_BORDER = re.compile(r"\+[-=+]+\+\s*")
_RULER = re.compile(r"=+(?:[ ]+=+)+\s*")
# What stands in these is no statement about names.
_SKIPPED = frozenset(
    re.findall(
        r"\S+",
        """code-block code sourcecode parsed-literal literalinclude highlight raw math image figure
        graphviz uml digraph mermaid toctree contents csv-table include doxygengroup""",
    )
)


class _Reader:
    """One pass over the lines."""

    def __init__(self, text: str) -> None:
        self._lines = text.expandtabs(8).split("\n")
        self._at = 0
        self.units: list[Unit] = []
        self._open: list[tuple[int, Unit]] = []  # (least column that it governs, unit)
        self._headings: list[tuple[str, str]] = []  # (adornment, title)
        self._titles: tuple[str, ...] = ()

    def read(self) -> list[Unit]:
        lines = self._lines
        while self._at < len(lines):
            line = lines[self._at]
            body = line.strip()
            column = len(line) - len(line.lstrip())
            if not body:
                self._at += 1
            elif body == ".." or body.startswith(".. "):
                self._explicit(body, column)
            elif column == 0 and self._heading(body):
                pass
            elif body[0] == "+" and _BORDER.fullmatch(body):
                self._grid(column)
            elif body[0] == "=" and _RULER.fullmatch(body):
                self._simple(column)
            else:
                self._block(body, column)
        return self.units

    # --- headings

    def _heading(self, body: str) -> bool:
        """Takes the heading at this line, if it is one."""
        at, lines = self._at, self._lines
        if _ADORNMENT.fullmatch(body):
            if at + 2 < len(lines) and lines[at + 2].rstrip() == body and lines[at + 1].strip():
                self._enter(body[0] * 2, lines[at + 1].strip())
                self._at += 3
            else:
                self._at += 1
            return True
        below = lines[at + 1].rstrip() if at + 1 < len(lines) else ""
        if len(below) + 2 < len(body) or not _ADORNMENT.fullmatch(below):
            return False
        self._enter(below[0], body)
        self._at += 2
        return True

    def _enter(self, adornment: str, title: str) -> None:
        known = [mark for mark, _ in self._headings]
        if adornment in known:
            del self._headings[known.index(adornment) :]
        self._headings.append((adornment, title))
        self._titles = tuple(title for _, title in self._headings)
        self._open.clear()

    # --- blocks

    def _deeper(self, column: int) -> range:
        """The lines that are indented more than `column`, from here on."""
        at = end = self._at
        while at < len(self._lines):
            line = self._lines[at]
            if line.strip():
                if len(line) - len(line.lstrip()) <= column:
                    break
                end = at + 1
            at += 1
        found = range(self._at, end)
        self._at = max(end, self._at)
        return found

    def _explicit(self, body: str, column: int) -> None:
        """A directive: its content counts unless it is code. Comments and targets do not."""
        directive = _DIRECTIVE.match(body)
        self._at += 1
        if directive is None or directive[1] in _SKIPPED:
            self._deeper(column)
        elif directive[1] in ("list-table", "flat-table"):
            self._list_table(column)
        else:
            while self._at < len(self._lines) and _OPTION.match(self._lines[self._at].strip()):
                self._at += 1

    def _block(self, body: str, column: int) -> None:
        """An item or a paragraph, up to a blank line or the next item."""
        lines = self._lines
        bullet = _BULLET.match(body) if body[0] in _BULLETS else None
        found = [(self._at + 1, body[bullet.end() :] if bullet else body)]
        at = self._at + 1
        while at < len(lines):
            body = lines[at].strip()
            if not body or (body[0] in _STOPS and _STOP.match(body)):
                break
            found.append((at + 1, body))
            at += 1
        self._at = at
        self._add(Unit(found, self._titles, bullet=bullet is not None), column)
        if found[-1][1].endswith("::"):
            self._deeper(column)

    def _add(self, unit: Unit, column: int) -> None:
        """Puts the unit below what introduces it."""
        stack = self._open
        while stack and stack[-1][0] > column:
            stack.pop()
        paragraph = not unit.bullet and not unit.cells
        if paragraph and stack and stack[-1][0] == column and not stack[-1][1].bullet:
            stack.pop()
        if stack:
            unit.parent = stack[-1][1]
            siblings = unit.parent.children
            if siblings:
                siblings[-1].after = unit
            siblings.append(unit)
        if not unit.cells:
            stack.append((column + 1 if unit.bullet else column, unit))
        self.units.append(unit)

    # --- tables

    def _rows(self, rows: list[list[Lines]], headed: bool, column: int) -> None:
        header: tuple[str, ...] = ()
        for row in rows:
            if headed and not header:
                header = tuple(" ".join(text for _, text in cell) for cell in row)
            elif any(row):
                fitting = header if len(header) == len(row) else ()
                self._add(Unit([], self._titles, cells=tuple(row), header=fitting), column)

    def _grid(self, column: int) -> None:
        rows: list[list[Lines]] = []
        fresh = True
        while self._at < len(self._lines):
            body = self._lines[self._at].strip()
            if _BORDER.match(body):
                fresh = True
            elif body.startswith("|") and body.endswith("|"):
                parts = body[1:-1].split("|")
                if fresh or len(parts) != len(rows[-1]):
                    rows.append([[] for _ in parts])
                    fresh = False
                _fill(rows[-1], parts, self._at + 1)
            else:
                break
            self._at += 1
        self._rows(rows, True, column)

    def _simple(self, column: int) -> None:
        ruler = self._lines[self._at]
        starts = [match.start() for match in re.finditer("=+", ruler)]
        spans = list(zip(starts, [*starts[1:], 10_000], strict=True))
        rows: list[list[Lines]] = []
        rulers = 1
        self._at += 1
        while self._at < len(self._lines) and rulers < 3:
            line = self._lines[self._at]
            if _RULER.fullmatch(line.strip()):
                rulers += 1
                if (
                    not self._lines[self._at + 1 : self._at + 2]
                    or not self._lines[self._at + 1].strip()
                ):
                    self._at += 1
                    break
            elif line.strip():
                parts = [line[start:end] for start, end in spans]
                if not rows or parts[0].strip():
                    rows.append([[] for _ in parts])
                _fill(rows[-1], parts, self._at + 1)
            self._at += 1
        self._rows(rows, True, column)

    def _list_table(self, column: int) -> None:
        rows: list[list[Lines]] = []
        inner = 0  # column of the cells' bullets
        for at in self._deeper(column):
            line = self._lines[at]
            body = line.strip()
            outer = _BULLET.match(body)
            nested = _BULLET.match(body[outer.end() :]) if outer else None
            if outer and nested:
                inner = line.index(body) + outer.end()
                rows.append([[(at + 1, body[outer.end() + nested.end() :])]])
            elif not rows or not body:
                continue
            elif line[inner : inner + 2] in ("- ", "* ", "-", "*") and line[:inner].isspace():
                rows[-1].append([(at + 1, line[inner + 1 :].strip())])
            else:
                rows[-1][-1].append((at + 1, body))
        self._rows(rows, True, column)


def _fill(row: list[Lines], parts: list[str], line: int) -> None:
    for cell, part in zip(row, parts, strict=False):
        if part.strip():
            cell.append((line, part.strip()))


def read_units(text: str) -> list[Unit]:
    """The units of a page in its order."""
    return _Reader(text).read()


def ancestors(unit: Unit) -> Iterator[Unit]:
    """What introduces a unit, nearest first."""
    for _ in range(_DEPTH):
        if unit.parent is None:
            return
        unit = unit.parent
        yield unit
