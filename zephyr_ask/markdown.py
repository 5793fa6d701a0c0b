# SPDX-License-Identifier: Apache-2.0
"""A passage's Markdown → lines of rich Text that fit a terminal.

Only what chunk texts hold is understood: paragraphs, fenced code, nested lists, block
quotes, pipe tables, indented blocks (a definition beneath its term), `code`, *emph*,
**strong** and [links](https://…); all else stands as it is, so no text is ever lost.
rich.markdown would do most of it, but importing it costs 50-110 ms, a fifth of the time
that a question has, and CommonMark takes a definition's indent for code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from zephyr_ask.console import clean, highlight

MAX_DEPTH = 8  # deeper nesting is shown as it stands: no page has it, hostile text may
MIN_CELLS = 12  # a wide column is cut no narrower: rather than that, rows become records
MIN_TEXT = 8  # cells; text is never laid out narrower, however deep it is nested
TAB = 8  # Zephyr's own coding style

_FENCE = re.compile(r"( *)(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$")
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])( {1,4}|$)")
_NEST = re.compile(_ITEM.pattern + r"|: |\t| +")  # an item, a definition, an indent
_HEADING = re.compile(r"#{1,6} +(.+)$")
_RULE_ROW = re.compile(r"\|(?: *:?-{3,}:? *\|)+ *$")
_QUOTE = re.compile(r">(?:[ >]|$)")
_TERM = re.compile(r"\*\*.+\*\*$")
_CELL_END = re.compile(r"(?<!\\)\|")
# A wildcard, CONFIG_LAMP_*, neither opens nor closes anything.
# Bounded repeats keep hostile text linear; a chunk is shorter than they are.
_INLINE = re.compile(
    r"(?P<ticks>(?<!`)`+)(?!`)(?P<code>.{1,2000}?)(?<!`)(?P=ticks)(?!`)"
    r"|\*\*(?=\S)(?P<strong>.{1,2000}?)(?<=\S)\*\*"
    r"|(?<![\w*\\])\*(?=[^\s*])(?P<emph>[^*]{1,2000}?)(?<![\s_])\*(?![\w*])"
    r"|\[(?P<label>[^\[\]]{1,500})\]\((?P<url>(?:https?://|ftp://|mailto:)[^\s()]{1,500})\)",
    re.DOTALL,
)


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
            if _indent(lines[here]) < indent:
                break
            end = here + 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" ")) if line[:1] != "\t" else TAB


def _dedent(line: str, indent: int) -> str:
    """`line` without up to `indent` columns of leading white space."""
    if line[:1] == "\t":
        line = line[1:].rjust(len(line) - 1 + TAB)
    return line[min(indent, _indent(line)) :]


class Layout:
    """Blocks → lines of Text for one console.

    Where colour is off `code` keeps its backticks and a link its address.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._colored = console.color_system is not None and not console.no_color
        self._linked = console.color_system is not None and not console.legacy_windows
        drawn = console.is_terminal  # a file gets what any program can read back
        self._bullet = self.clean("•")
        self._quote = self.clean("│ ") if drawn else "> "
        self._rule = self.clean("─") if drawn else "-"

    def clean(self, text: str) -> str:
        """`text` as this console may show it."""
        return clean(text, self._console.encoding)

    def lines(self, text: str, width: int) -> list[Text]:
        """A chunk's text in lines of at most `width` cells."""
        return self._lay(parse(self.clean(text)), width)

    def _lay(self, blocks: Sequence[Placed], width: int) -> list[Text]:
        lines: list[Text] = []
        before: AnyBlock | None = None
        for placed in blocks:
            block = placed.block
            if before is not None and (placed.spaced or _ends_apart(before) or _apart(block)):
                lines.append(Text())
            lines += self._block(block, width)
            before = block
        return lines

    def _block(self, block: AnyBlock, width: int) -> list[Text]:
        if isinstance(block, Paragraph):
            return self.wrap(self.inline(block.text), width)
        if isinstance(block, Code):
            return self._code(block, width)
        if isinstance(block, Table):
            return self._table(block, width)
        if block.marker == ">":
            mark = Text(self._quote, style="dim")
            inner = self._lay(block.blocks, max(width - 2, MIN_TEXT))
            return [_join(mark, line) for line in inner]
        sign = self._bullet if block.marker in "-*+" else block.marker
        mark = Text(f"{sign} " if block.marker else "  ", style="dim" if self._colored else "")
        inner = self._lay(block.blocks, max(width - mark.cell_len, MIN_TEXT)) or [Text()]
        rest = Text(" " * mark.cell_len)
        return [_join(rest if at else mark, line) for at, line in enumerate(inner)]

    def wrap(self, text: Text, width: int) -> list[Text]:
        """`text` in lines of at most `width` cells; a word that is longer is folded."""
        lines = list(text.wrap(self._console, max(width, MIN_TEXT), overflow="fold"))
        for line in lines:
            line.rstrip()
        return lines

    def inline(self, text: str, style: str = "") -> Text:
        """One paragraph's Markdown as styled text."""
        out = Text(style=style)
        at = 0
        for match in _INLINE.finditer(text):
            out.append(text[at : match.start()])
            at = match.end()
            if code := match["code"]:
                # As CommonMark has it: one blank within the backticks is not the code's.
                code = code[1:-1] if code[:1] == code[-1:] == " " and code.strip() else code
                out.append(code if self._colored else f"`{code}`", "cyan" if self._colored else "")
            elif match["label"]:
                label = self.inline(match["label"])
                url = match["url"]
                if self._linked:
                    label.stylize(Style(underline=True, link=url))
                elif url != label.plain:
                    label.append(f" <{url}>")
                out.append_text(label)
            elif match["strong"]:
                out.append_text(self.inline(match["strong"], "bold"))
            else:
                out.append_text(self.inline(match["emph"], "italic"))
        return out.append(text[at:])

    def _code(self, block: Code, width: int) -> list[Text]:
        """Code, set off by an indent alone: what is copied from it can be pasted."""
        code = highlight(block.text, block.language) if self._colored else Text(block.text)
        lines: list[Text] = []
        for line in code.split("\n", allow_blank=True):
            if line.cell_len <= width - 2:
                lines.append(_join(Text("  "), line) if line.plain else line)
                continue
            indent = min(_indent(line.plain), width // 3)
            hang = min(indent + 4, width // 2)  # a continued line stands deeper than its own
            body = line[_indent(line.plain) :]
            for at, part in enumerate(self.wrap(body, width - 2 - hang)):
                lines.append(_join(Text(" " * (2 + (hang if at else indent))), part))
        return lines

    def _table(self, block: Table, width: int) -> list[Text]:
        """Aligned columns where each keeps a readable width, else a record per row."""
        rows = [[self.inline(cell) for cell in row] for row in block.rows]
        head = [self.inline(cell, "bold") for cell in block.header]
        count = max(map(len, [head, *rows]))
        for row in [head, *rows]:
            row += [Text() for _ in range(count - len(row))]
        columns = list(zip(head, *rows, strict=True))
        widths = _shared_out(columns, width - 2 * (count - 1))
        if not widths:
            return self._records(head, rows, width)
        lines = self._row(head, widths) if block.header else []
        if block.header:
            lines += self._row([Text(self._rule * each, "dim") for each in widths], widths)
        for row in rows:
            lines += self._row(row, widths)
        return lines

    def _row(self, row: Sequence[Text], widths: Sequence[int]) -> list[Text]:
        cells = [
            list(cell.wrap(self._console, wide, overflow="fold"))
            for cell, wide in zip(row, widths, strict=True)
        ]
        lines: list[Text] = []
        for at in range(max(len(cell) for cell in cells)):
            line = Text()
            for cell, wide in zip(cells, widths, strict=True):
                part = cell[at] if at < len(cell) else Text()
                part.rstrip()
                line.append_text(part).append(" " * (wide - part.cell_len + 2))
            line.rstrip()
            lines.append(line)
        return lines

    def _records(self, head: list[Text], rows: list[list[Text]], width: int) -> list[Text]:
        """Each row as "header: cell" lines, all but the first of them indented."""
        lines: list[Text] = []
        for row in rows or [head]:
            for at, (name, cell) in enumerate(zip(head, row, strict=True)):
                labelled = name.plain and row is not head
                record = _join(_join(name, Text(": ")), cell) if labelled else cell
                indent = "  " if at else ""
                for part in self.wrap(record, width - len(indent)):
                    lines.append(_join(Text(indent), part))
        return lines


def _apart(block: AnyBlock) -> bool:
    """Whether blank lines set the block off whatever its source has."""
    return isinstance(block, (Code, Table)) or (isinstance(block, Nest) and block.marker == ">")


def _ends_apart(block: AnyBlock) -> bool:
    while isinstance(block, Nest) and block.blocks and not _apart(block):
        block = block.blocks[-1].block
    return _apart(block)


def _join(prefix: Text, line: Text) -> Text:
    return Text().append_text(prefix).append_text(line)


def _shared_out(columns: Sequence[Sequence[Text]], room: int) -> list[int]:
    """Widths of `columns`, the widest cut until all fit; [] where that would break words."""
    natural = [max(cell.cell_len for cell in column) for column in columns]
    words = [
        max((cell_len(word) for cell in column for word in cell.plain.split()), default=1)
        for column in columns
    ]
    for cap in range(min(max(natural), max(room, 0)), MIN_CELLS - 1, -1):
        widths = [max(min(each, cap), word) for each, word in zip(natural, words, strict=True)]
        if sum(widths) <= room:
            return widths
    return natural if sum(natural) <= room else []
