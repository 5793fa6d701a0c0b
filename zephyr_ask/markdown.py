# SPDX-License-Identifier: Apache-2.0
"""A passage's Markdown → blocks: paragraphs, code, tables, and what nests them.

Only what chunk texts hold is understood: paragraphs, fenced code, nested lists, block
quotes, pipe tables, indented blocks (a definition beneath its term), and in layout.py `code`,
*emph*, **strong** and [links](https://…). All else stands as it is, so no text is ever lost.
rich.markdown would do most of it, but importing it costs 50-110 ms, a fifth of the time
that a question has, and CommonMark takes a definition's indent for code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MAX_DEPTH = 8  # deeper nesting is shown as it stands: no page has it, hostile text may
TAB = 8  # Zephyr's own coding style

_FENCE = re.compile(r"( *)(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$")
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])( {1,4}|$)")
_NEST = re.compile(_ITEM.pattern + r"|: |\t| +")  # an item, a definition, an indent
_HEADING = re.compile(r"#{1,6} +(.+)$")
_RULE_ROW = re.compile(r"\|(?: *:?-{3,}:? *\|)+ *$")
_QUOTE = re.compile(r">(?:[ >]|$)")
_TERM = re.compile(r"\*\*.+\*\*$")
_CELL_END = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that is wrapped; a newline in it is a line break."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that keep their breaks and indents."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the header is empty where the table has none."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Nest:
    """Blocks within a list item (marker "-", "2."), a quote (">") or an indent ("")."""

    marker: str
    blocks: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """A block, and whether a blank line stands before it."""

    block: AnyBlock
    spaced: bool


AnyBlock = Paragraph | Code | Table | Nest


def parse(text: str, depth: int = 0) -> tuple[Placed, ...]:
    """The blocks of `text`; `depth` is how many nests it already stands in."""
    return tuple(_blocks(text.split("\n"), depth))


def _blocks(lines: list[str], depth: int) -> Iterable[Placed]:
    at = 0
    spaced = False
    while at < len(lines):
        if not lines[at].strip():
            spaced, at = True, at + 1
            continue
        block, at = _block(lines, at, depth)
        yield Placed(block, spaced)
        spaced = False


def _block(lines: list[str], at: int, depth: int) -> tuple[AnyBlock, int]:
    """The block that begins at line `at`, and the line after it."""
    line = lines[at]
    if fence := _FENCE.match(line):
        return _code(lines, at, fence)
    if depth >= MAX_DEPTH:
        return Paragraph(line.strip()), at + 1
    if _QUOTE.match(line):
        end = _quote_end(lines, at)
        inner = [each[2:] if each.startswith("> ") else each[1:] for each in lines[at:end]]
        return Nest(">", tuple(_blocks(inner, depth + 1))), end
    if nest := _NEST.match(line):
        indent = TAB if line[0] == "\t" else nest.end()
        end = _nested(lines, at + 1, indent)
        inner = [line[nest.end() :], *(_dedent(each, indent) for each in lines[at + 1 : end])]
        return Nest(nest[1] or "", tuple(_blocks(inner, depth + 1))), end
    if line.startswith("|") and len(_cells(line)) > 1:
        end = _while(lines, at, lambda each: each.startswith("|"))
        return _table(lines[at:end]), end
    if heading := _HEADING.match(line):
        return Paragraph(f"**{heading[1].strip()}**"), at + 1
    return _paragraph(lines, at)


def _paragraph(lines: list[str], at: int) -> tuple[Paragraph, int]:
    text = lines[at]
    end = at + 1
    term = _TERM.match(text.rstrip()) is not None
    while end < len(lines):
        line = lines[end]
        if not line.strip() or line.startswith(("|", ": ")):
            break
        if _FENCE.match(line) or _QUOTE.match(line):
            break
        if (term and line[0].isspace()) or _ITEM.match(line.lstrip()):
            break
        text += ("\n" if text.endswith("  ") else " ") + line.lstrip()
        end += 1
    return Paragraph(text.strip()), end


def _code(lines: list[str], at: int, fence: re.Match[str]) -> tuple[Code, int]:
    """The fenced block that `fence` opens, to the end of the text if nothing closes it."""
    indent, mark, language = len(fence[1]), fence[2], fence[3]
    body: list[str] = []
    for end in range(at + 1, len(lines)):
        line = lines[end]
        if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
            return Code(language, "\n".join(body)), end + 1
        body.append(_dedent(line, indent).expandtabs(TAB).rstrip())
    return Code(language, "\n".join(body)), len(lines)


def _table(lines: list[str]) -> Table:
    rule = next((at for at, line in enumerate(lines) if at and _RULE_ROW.match(line)), 0)
    rows = [_cells(line) for at, line in enumerate(lines) if not rule or at != rule]
    return Table(rows[0], tuple(rows[1:])) if rule else Table((), tuple(rows))


def _cells(line: str) -> tuple[str, ...]:
    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line))


def _while(lines: list[str], at: int, holds: Callable[[str], object]) -> int:
    while at < len(lines) and holds(lines[at]):
        at += 1
    return at


def _quote_end(lines: list[str], at: int) -> int:
    """Where a quote ends; its paragraphs may be apart, a bold label begins another quote."""
    end = _while(lines, at, _QUOTE.match)
    while end + 1 < len(lines) and not lines[end].strip() and _QUOTE.match(lines[end + 1]):
        if lines[end + 1].startswith("> **"):
            break
        end = _while(lines, end + 1, _QUOTE.match)
    return end


def _nested(lines: list[str], at: int, indent: int) -> int:
    """Where the lines end that are blank or indented by at least `indent`."""
    end = at
    for here in range(at, len(lines)):
        if lines[here].strip():
            if indent_of(lines[here]) < indent:
                break
            end = here + 1
    return end


def indent_of(line: str) -> int:
    """Columns of white space that `line` begins with."""
    return len(line) - len(line.lstrip(" ")) if line[:1] != "\t" else TAB


def _dedent(line: str, indent: int) -> str:
    """`line` without up to `indent` columns of leading white space."""
    if line[:1] == "\t":
        line = line[1:].rjust(len(line) - 1 + TAB)
    return line[min(indent, indent_of(line)) :]
