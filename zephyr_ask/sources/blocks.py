# SPDX-License-Identifier: Apache-2.0
"""Doctree nodes → Blocks: Markdown with the lines that it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from docutils import nodes

from zephyr_ask.sources.parser import Span
from zephyr_ask.types import CHUNK_CHARS, Block, BlockKind

# Nodes that hold no text of the page, and the rule that leaves them out.
_RULES: dict[type[nodes.Node], str] = {
    nodes.comment: "comment",
    nodes.target: "link target",
    nodes.substitution_definition: "substitution definition",
    nodes.transition: "transition",
    nodes.pending: "build instruction",
    nodes.decoration: "build instruction",
    nodes.docinfo: "page metadata",
}


class Writer:
    """Turns nodes into blocks; `files` holds the lines of the page and what it includes."""

    def __init__(self, files: Mapping[str, Sequence[str]]) -> None:
        self._files = files

    def section(self, content: list[Any], outer: Span | None, until: Span) -> list[Block]:
        """Blocks of a section; the first reaches up to the heading at `outer.first`."""
        end = outer
        if end is None and content:
            first = next((c.span for c in content if hasattr(c, "span")), None)
            if first is not None:
                end = Span(
                    first.path, first.first, until.last if until.path == first.path else first.last
                )
        blocks = [self._trim(block) for block in self._blocks(content, end)]
        for index, block in enumerate(blocks):
            if not block.rule:
                if (
                    outer is not None
                    and block.path == outer.path
                    and outer.first < block.start_line
                ):
                    blocks[index] = _moved(block, outer.first, block.end_line)
                break
        return blocks

    def _trim(self, block: Block) -> Block:
        """Without blank lines at its ends, and inside its file."""
        lines = self._files.get(block.path, ())
        first = max(1, min(block.start_line, len(lines) or 1))
        last = max(first, min(block.end_line, len(lines) or 1))
        while last > first and not lines[last - 1].strip():
            last -= 1
        while first < last and not lines[first - 1].strip():
            first += 1
        return _moved(block, first, last)

    def _blocks(self, children: Sequence[Any], outer: Span | None) -> list[Block]:
        blocks: list[Block] = []
        for node, span in place(children, outer):
            blocks.extend(self._node(node, span))
        return blocks

    def _node(self, node: Any, span: Span) -> list[Block]:
        rule = _RULES.get(type(node)) or getattr(node, "rule", None)
        if rule:
            return [_block(span, "", rule=rule)]
        foreign = getattr(node, "foreign", None)
        if foreign is not None:
            return [
                _block(span, "", rule="replaced by the included file"),
                _block(foreign, self.markdown(node), "code"),
            ]
        if isinstance(node, (nodes.literal_block, nodes.doctest_block, nodes.math_block)):
            return [_block(span, self.markdown(node), "code")]
        if isinstance(node, nodes.field_list) and node.parent is node.document:
            return [_block(span, "", rule="page metadata")]
        if hasattr(node, "rows"):
            return self._table(node.rows, node.header, getattr(node, "label", ""), span)
        if isinstance(node, nodes.table):
            rows, header, title = _rows(node)
            return self._table(rows, header, title, span)
        if isinstance(node, _LISTS):
            return self._list(node, span)
        if isinstance(node, (nodes.note, nodes.container, nodes.block_quote, nodes.figure)):
            return self._container(node, span)
        text = self.markdown(node)
        return [_block(span, text, rule="" if text.strip() else "no text")]

    def _list(self, node: Any, span: Span) -> list[Block]:
        blocks: list[Block] = []
        for index, (item, where) in enumerate(place(node.children, span)):
            text = self._item(node, item, index)
            if len(text) > CHUNK_CHARS and isinstance(item, nodes.Element):
                blocks.extend(self._long_item(node, item, index, where))
            else:
                blocks.append(_block(where, text, "item", "" if text.strip() else "no text"))
        return blocks

    def _long_item(self, node: Any, item: Any, index: int, span: Span) -> list[Block]:
        """An item that does not fit into a chunk: its parts, the first with the bullet."""
        lead, body = _parts(node, item, index)
        inner = self._blocks(body, span)
        if not inner:
            return [_block(span, self._item(node, item, index), "item")]
        first = inner[0]
        text = f"{lead}\n: {first.text}" if lead.startswith("**") else f"{lead} {first.text}"
        return [_block(Span(first.path, min(span.first, first.start_line) if first.path == span.path
                            else first.start_line, first.end_line), text, first.kind, first.rule),
                *inner[1:]]  # fmt: skip

    def _container(self, node: Any, span: Span) -> list[Block]:
        label = getattr(node, "label", "")
        blocks = self._blocks(node.children, span)
        quoted = isinstance(node, nodes.note)
        if label and quoted:
            label = f"**{label}:**"
        if label and blocks and not blocks[0].rule and blocks[0].path == span.path:
            first = blocks[0]
            glue = " " if quoted and first.kind == "prose" else "\n\n"
            blocks[0] = Block(
                first.path, span.first, first.end_line, label + glue + first.text, first.kind
            )
        elif label:
            head = Span(span.path, span.first, blocks[0].start_line - 1) if blocks else span
            blocks.insert(0, _block(Span(span.path, span.first, max(span.first, head.last)), label))
        elif not blocks:
            return [_block(span, "", rule="no text")]
        elif blocks[0].path == span.path and not blocks[0].rule:
            blocks[0] = _moved(blocks[0], span.first, blocks[0].end_line)
        if quoted:
            return [b if b.rule else Block(b.path, b.start_line, b.end_line, _quote(b.text), b.kind)
                    for b in blocks]  # fmt: skip
        return blocks

    def _table(self, rows: list[Any], header: int, label: str, span: Span) -> list[Block]:
        blocks: list[Block] = []
        start = span.first
        for index, (where, cells) in enumerate(rows):
            text = "| " + " | ".join(self._cell(cell) for cell in cells) + " |"
            if index == header - 1:
                text += "\n|" + " --- |" * max(1, len(cells))
            path = where.path if where is not None else span.path
            first = where.first if where is not None else start
            if path == span.path:
                first = max(first, start)
                start = first
            last = where.last if where is not None else first
            blocks.append(_block(Span(path, first, max(first, last)), text, "row"))
        if not blocks:
            return [_block(span, label, rule="" if label else "no text")]
        first_block = blocks[0]
        head = f"{label}\n\n{first_block.text}" if label else first_block.text
        if first_block.path == span.path:
            blocks[0] = Block(span.path, span.first, first_block.end_line, head, "row")
        else:
            blocks.insert(
                0, _block(span, label, rule="" if label else "replaced by the included file")
            )
        for index, block in enumerate(blocks):  # each row reaches to the next
            following = blocks[index + 1].start_line - 1 if index + 1 < len(blocks) else span.last
            if block.path == span.path and following >= block.start_line:
                blocks[index] = _moved(block, block.start_line, following)
        return blocks

    def _cell(self, cell: Any) -> str:
        text = self.children(cell) if not isinstance(cell, nodes.paragraph) else self.markdown(cell)
        text = re.sub(r"\s*```\S*\s*", " ", text)
        return " ".join(text.replace("|", "\\|").split())

    def _item(self, node: Any, item: Any, index: int) -> str:
        lead, body = _parts(node, item, index)
        text = ""
        for child in body:
            part = self.markdown(child)
            glue = "\n" if isinstance(child, _LISTS) else "\n\n"
            text += (glue if text and part else "") + part
        if lead.startswith("**"):
            return f"{lead}\n: {_hang(text, 2)}" if text else lead
        return f"{lead} {_hang(text, len(lead) + 1)}" if text else ""

    def children(self, node: Any) -> str:
        """Markdown of all children."""
        return "\n\n".join(filter(None, (self.markdown(child) for child in node.children)))

    def markdown(self, node: Any) -> str:
        """Markdown of a node and all that is in it; "" for what has no text."""
        if isinstance(node, nodes.paragraph):  # by far the most
            return _stripped(node.astext())
        if type(node) in _RULES or getattr(node, "rule", None):
            return ""
        if isinstance(node, (nodes.literal_block, nodes.doctest_block, nodes.math_block)):
            fence = "````" if "```" in node.astext() else "```"
            return f"{fence}{getattr(node, 'language', '')}\n{node.astext()}\n{fence}"
        if isinstance(node, nodes.system_message):
            return "\n\n".join(
                c.astext() for c in node.children if isinstance(c, nodes.literal_block)
            )
        if isinstance(node, _LISTS):
            items = (self._item(node, item, i) for i, item in enumerate(node.children))
            return "\n".join(filter(None, items))
        if hasattr(node, "rows") or isinstance(node, nodes.table):
            return "\n".join(b.text for b in self._node(node, Span("", 1, 1)))
        if isinstance(node, (nodes.note, nodes.container, nodes.block_quote, nodes.figure)):
            return "\n\n".join(b.text for b in self._container(node, Span("", 1, 1)) if b.text)
        if isinstance(node, nodes.line_block):
            return "\n".join(line.astext() for line in node.findall(nodes.line))
        if isinstance(node, (nodes.footnote, nodes.citation)):
            label = node[0].astext() if node.children else ""
            return f"[{label}] " + "\n\n".join(self.markdown(c) for c in node.children[1:])
        if isinstance(node, (nodes.Text, nodes.title, nodes.term, nodes.attribution)):
            return _stripped(node.astext())
        return self.children(node)


_LISTS = (nodes.bullet_list, nodes.enumerated_list, nodes.definition_list, nodes.option_list,
          nodes.field_list)  # fmt: skip


def _parts(node: Any, item: Any, index: int) -> tuple[str, list[Any]]:
    """What stands before an item's text, and the nodes of its text."""
    if isinstance(node, nodes.bullet_list):
        return "-", list(item.children)
    if isinstance(node, nodes.enumerated_list):
        return f"{int(node.get('start', 1)) + index}.", list(item.children)
    if isinstance(item, nodes.definition_list_item):
        terms = [c.astext() for c in item.children if not isinstance(c, nodes.definition)]
        body = [c for d in item.children if isinstance(d, nodes.definition) for c in d.children]
        return f"**{' : '.join(terms)}**", body
    if isinstance(item, nodes.option_list_item):
        options = ", ".join(o.astext() for o in item[0].children) if item.children else ""
        return f"**`{options}`**", list(item[1].children) if len(item.children) > 1 else []
    if isinstance(item, nodes.field):
        return f"**{item[0].astext()}**", list(item[1].children)
    return "-", [item]


def _rows(table: nodes.table) -> tuple[list[Any], int, str]:
    """Rows of a docutils table as (span, cells), the number of header rows, the title."""
    rows: list[Any] = []
    header = 0
    for group in table.findall(nodes.row):
        if isinstance(group.parent, nodes.thead):
            header += 1
        spans = [s for cell in group.children for c in cell.children
                 if (s := getattr(c, "span", None)) is not None]  # fmt: skip
        where = (
            Span(spans[0].path, min(s.first for s in spans), max(s.last for s in spans))
            if spans
            else None
        )
        rows.append((where, list(group.children)))
    title = next((f"**{c.astext()}**" for c in table.children if isinstance(c, nodes.title)), "")
    return rows, header, title


def place(children: Sequence[Any], outer: Span | None) -> list[tuple[Any, Span]]:
    """Each child with the lines that are its own: up to the next child's first.

    `outer` bounds them; a child whose place is unknown shares the one before it.
    """
    kept = [c for c in children if not _is_silent(c)]
    spans: list[Span] = []
    for child in kept:
        own = getattr(child, "span", None)
        before = spans[-1] if spans else None
        if own is None:
            own = before or outer or Span("", 1, 1)
        elif before is None and outer is not None and own.path == outer.path:
            own = Span(own.path, max(outer.first, own.first), own.last)
        elif before is not None and before.path == own.path and own.first < before.first:
            own = Span(own.path, before.first, max(before.first, own.last))
        spans.append(own)
    placed = []
    for index, (child, span) in enumerate(zip(kept, spans, strict=True)):
        last = outer.last if outer is not None and outer.path == span.path else span.last
        for following in spans[index + 1 :]:
            if following.path == span.path and following.first > span.first:
                last = following.first - 1
                break
        else:
            if any(s.path != span.path for s in spans[index + 1 :]):
                last = span.last
        placed.append((child, Span(span.path, span.first, max(span.first, last))))
    return placed


def _is_silent(node: Any) -> bool:
    """docutils' remarks; those that hold text which is nowhere else are kept."""
    if isinstance(node, nodes.system_message):
        return node.get("level", 0) < 3 or not any(
            isinstance(c, nodes.literal_block) for c in node.children
        )
    return isinstance(node, (nodes.title, nodes.subtitle)) and not isinstance(
        node.parent, nodes.topic
    )


def _stripped(text: str) -> str:
    """Without blanks at the ends of lines."""
    if " \n" not in text:
        return text.rstrip()
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _block(span: Span, text: str, kind: BlockKind = "prose", rule: str = "") -> Block:
    return Block(span.path, span.first, max(span.first, span.last), text.strip("\n"), kind, rule)


def _moved(block: Block, first: int, last: int) -> Block:
    return Block(block.path, first, last, block.text, block.kind, block.rule)


def _hang(text: str, width: int) -> str:
    return text.replace("\n", "\n" + " " * width).replace("\n" + " " * width + "\n", "\n\n")


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))
