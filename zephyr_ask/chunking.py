# SPDX-License-Identifier: Apache-2.0
"""Document → Chunks: consecutive blocks of one section, never across a heading. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from zephyr_ask.types import CHUNK_CHARS, Block, Chunk, Document

_TIGHT = ("row", "item")  # consecutive ones are joined without a blank line between
_WORD = re.compile(r"[^\W\d_]{2,}")
_ALNUM_SHARE = 0.3  # of what is not blank; drawings and rulers lie below, pin tables above


class Dropped(NamedTuple):
    """Lines that no chunk holds, and the rule that says why."""

    path: str
    start_line: int
    end_line: int
    rule: str


def chunk(
    document: Document, files: Mapping[str, Sequence[str]]
) -> tuple[list[Chunk], list[Dropped]]:
    """Split a page into chunks of at most CHUNK_CHARS characters, and say what was left out.

    `files`: lines (without newlines) of the page and of what it includes. A block is cut
    only where it does not fit into a chunk of its own, and then between lines.
    """
    chunks: list[Chunk] = []
    dropped: list[Dropped] = []
    for section in document.sections:
        pieces: list[Block] = []
        for block in section.blocks:
            if block.rule or not block.text.strip():
                why = block.rule or "no text"
                dropped.append(Dropped(block.path, block.start_line, block.end_line, why))
            else:
                pieces.extend(_fit(block, files.get(block.path, ())))
        for group in _groups(pieces, files):
            text = _join(group)
            if not _is_prose(text):
                first, last = group[0].start_line, group[-1].end_line
                dropped.append(Dropped(group[0].path, first, last, "no prose"))
                continue
            chunks.append(
                Chunk(
                    path=group[0].path,
                    start_line=group[0].start_line,
                    end_line=max(block.end_line for block in group),
                    page=document.path,
                    title=document.title,
                    heading=section.heading,
                    anchor=section.anchor,
                    kind=document.kind,
                    text=text,
                )
            )
    return chunks, dropped


def _is_prose(text: str) -> bool:
    """A word of two letters or more, and not mostly punctuation.

    Commands, option tables, `TX = P0.8` and one-word sections pass; rulers, drawings,
    hex dumps and bare numbers do not.
    """
    solid = "".join(text.split())
    if sum(map(str.isalnum, solid)) < _ALNUM_SHARE * len(solid):
        return False
    return _WORD.search(text) is not None


def _groups(blocks: Iterable[Block], files: Mapping[str, Sequence[str]]) -> Iterator[list[Block]]:
    """Consecutive blocks of one file that fit into one chunk together."""
    group: list[Block] = []
    size = 0
    for block in blocks:
        # Two blocks of one directive (a caption and its code) share their lines.
        if (
            group
            and group[-1].path == block.path
            and group[-1].start_line <= block.start_line
            and size + len(block.text) + 2 <= CHUNK_CHARS
            and _source_size(group[0], block, files.get(block.path, ())) <= CHUNK_CHARS
        ):
            group.append(block)
            size += len(block.text) + 2
            continue
        if group:
            yield group
        group, size = [block], len(block.text) + 2
    if group:
        yield group


def _source_size(first: Block, last: Block, lines: Sequence[str]) -> int:
    """Characters of the lines from one block to another, what lies between included."""
    end = max(first.end_line, last.end_line)
    return sum(len(line) + 1 for line in lines[first.start_line - 1 : end])


def _join(group: Sequence[Block]) -> str:
    text = group[0].text
    for before, block in zip(group, group[1:], strict=False):
        tight = before.kind == block.kind and block.kind in _TIGHT
        text += ("\n" if tight else "\n\n") + block.text
    return text


def _fit(block: Block, lines: Sequence[str]) -> list[Block]:
    """The block itself, or pieces of it, cut between lines, that each fit into a chunk."""
    if max(len(block.text), _source_size(block, block, lines)) + 2 <= CHUNK_CHARS:
        return [block]
    text = block.text.split("\n")
    fenced = len(text) > 2 and text[0].startswith("```") and text[-1].startswith("```")
    opening, closing = (text[0], text[-1]) if fenced else ("", "")
    if fenced:
        text = text[1:-1]
    span = block.end_line - block.start_line + 1
    if fenced and len(text) <= span:  # code stands at the end of its directive
        numbers = [block.end_line - len(text) + 1 + index for index in range(len(text))]
    else:  # line for line, or spread out where the block's markup has fewer lines
        numbers = [block.start_line + index * span // len(text) for index in range(len(text))]
    room = CHUNK_CHARS - len(opening) - len(closing) - 4
    starts = [*numbers[1:], block.end_line + 1]
    pieces: list[Block] = []
    for start, end, part in _cut(text, numbers, starts, lines, room):
        first = block.start_line if start == 0 and not pieces else numbers[start]
        last = max(first, starts[end - 1] - 1)
        body = f"{opening}\n{part}\n{closing}" if fenced else part
        if part.strip():
            pieces.append(Block(block.path, first, last, body, block.kind))
    return pieces


def _cut(
    text: Sequence[str],
    numbers: Sequence[int],
    following: Sequence[int],
    lines: Sequence[str],
    room: int,
) -> Iterator[tuple[int, int, str]]:
    """Ranges [start, end) of `text`'s lines whose text and source both fit into `room`.

    `numbers[i]` is the source line at which `text[i]` begins, `following[i]` the next
    one's. A line that does not fit is cut in itself.
    """
    start, size = 0, 0
    for index, line in enumerate(text):
        source = sum(len(s) + 1 for s in lines[numbers[index] - 1 : following[index] - 1])
        cost = max(len(line) + 1, source)
        if index > start and size + cost > room:
            yield start, index, "\n".join(text[start:index])
            start, size = index, 0
        if len(line) > room:
            for part in _wrap(line, room):
                yield index, index + 1, part
            start, size = index + 1, 0
        else:
            size += cost
    if start < len(text):
        yield start, len(text), "\n".join(text[start:])


def _wrap(line: str, room: int) -> list[str]:
    """One long line in parts, at spaces where there are any."""
    parts = []
    while len(line) > room:
        cut = line.rfind(" ", room // 2, room)
        cut = cut if cut > 0 else room
        parts.append(line[:cut])
        line = line[cut:].lstrip(" ")
    return [*parts, line]
