# SPDX-License-Identifier: Apache-2.0
"""The blocks of a passage's Markdown → lines of rich Text that fit a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from zephyr_ask.console import clean, highlight
from zephyr_ask.markdown import AnyBlock, Code, Nest, Paragraph, Placed, Table, indent_of, parse

MIN_CELLS = 12  # a wide column is cut no narrower: rather than that, rows become records
MIN_TEXT = 8  # cells; text is never laid out narrower, however deep it is nested

# A wildcard, CONFIG_LAMP_*, neither opens nor closes anything.
# Bounded repeats keep hostile text linear; a chunk is shorter than they are.
_INLINE = re.compile(
    r"(?P<ticks>(?<!`)`+)(?!`)(?P<code>.{1,2000}?)(?<!`)(?P=ticks)(?!`)"
    r"|\*\*(?=\S)(?P<strong>.{1,2000}?)(?<=\S)\*\*"
    r"|(?<![\w*\\])\*(?=[^\s*])(?P<emph>[^*]{1,2000}?)(?<![\s_])\*(?![\w*])"
    r"|\[(?P<label>[^\[\]]{1,500})\]\((?P<url>(?:https?://|ftp://|mailto:)[^\s()]{1,500})\)",
    re.DOTALL,
)


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
            indent = min(indent_of(line.plain), width // 3)
            hang = min(indent + 4, width // 2)  # a continued line stands deeper than its own
            body = line[indent_of(line.plain) :]
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
