# SPDX-License-Identifier: Apache-2.0
"""Chunks of any page: nothing lost, nothing too long, text at its lines."""

from __future__ import annotations

import re
import string
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from test_sources import PAGE, chunks_of, uncovered

from zephyr_ask.types import CHUNK_CHARS

NOWHERE = Path("/nowhere")
WORDS = st.text(string.ascii_lowercase + "äß", min_size=1, max_size=12)
SENTENCE = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=6).map("\n".join)


def _indent(text: str, by: str = "   ") -> str:
    return "\n".join(by + line if line else "" for line in text.split("\n"))


BLOCK = st.one_of(
    PARAGRAPH,
    st.lists(SENTENCE, min_size=1, max_size=40).map(lambda items: "\n".join(f"* {i}" for i in items)),
    st.lists(SENTENCE, min_size=1, max_size=60).map(
        lambda lines: ".. code-block:: c\n\n" + _indent("\n".join(lines))
    ),
    PARAGRAPH.map(lambda text: ".. note::\n\n" + _indent(text)),
    st.tuples(WORDS, PARAGRAPH).map(lambda pair: f"{pair[0]}\n{_indent(pair[1])}"),
    st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=90).map(
        lambda rows: ".. list-table::\n\n"
        + "\n".join(f"   * - {a}\n     - {b}" for a, b in rows)
    ),
    SENTENCE.map(lambda text: f".. {text}\n   hidden"),
    st.text(max_size=60).map(lambda text: " ".join(text.split())),
)  # fmt: skip
SECTION = st.tuples(SENTENCE.map(lambda s: s[:60]), st.lists(BLOCK, max_size=6))


def _page(sections: list[tuple[str, list[str]]]) -> str:
    text = "Page title\n##########\n\n"
    for number, (name, blocks) in enumerate(sections):
        name = name.strip() or "x"
        text += f"{name}\n{'*=-'[number % 3] * 70}\n\n" if number % 2 else ""
        text += "".join(block + "\n\n" for block in blocks)
    return text


@settings(max_examples=120, deadline=None)
@given(st.lists(SECTION, max_size=6).map(_page))
def test_properties_of_chunks(page: str) -> None:
    chunks, dropped, files = chunks_of(NOWHERE, page)
    lines = files[PAGE]
    assert uncovered(lines, PAGE, chunks, dropped) == []
    for piece in chunks:
        assert len(piece.text) <= CHUNK_CHARS
        source = "\n".join(lines[piece.start_line - 1 : piece.end_line])
        assert len(source) <= CHUNK_CHARS + 200 or piece.start_line == piece.end_line
        there = set(re.findall(r"\w{3,}", source.lower()))
        shown = set(re.findall(r"\w{3,}", piece.text.lower())) - {"note"}
        assert shown <= there, "a word that does not stand at those lines"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_any_bytes(data: bytes) -> None:
    chunks, _, files = chunks_of(NOWHERE, data)
    for piece in chunks:
        assert len(piece.text) <= CHUNK_CHARS
        assert 1 <= piece.start_line <= piece.end_line <= len(files[PAGE])


def test_code_rows_and_items_are_not_cut_where_they_fit() -> None:
    code = "\n".join(f"   int leaf_{n} = {n};" for n in range(40))
    filler = ("Some words that fill the section up. " * 30).strip()
    page = f"Title\n#####\n\n{filler}\n\n.. code-block:: c\n\n{code}\n\n{filler}\n"
    chunks, _, _ = chunks_of(NOWHERE, page)
    assert sum("leaf_0 =" in c.text and "leaf_39 =" in c.text for c in chunks) == 1


def test_a_long_block_is_cut_between_lines_and_stays_code() -> None:
    code = "\n".join(f"   int leaf_number_{n:04} = {n};" for n in range(300))
    chunks, _, files = chunks_of(NOWHERE, f"Title\n#####\n\n.. code-block:: c\n\n{code}\n")
    assert len(chunks) > 3
    for piece in chunks:
        assert piece.text.startswith("```c\n") and piece.text.endswith("\n```")
        inner = piece.text.split("\n")[1:-1]
        source = [line.strip() for line in files[PAGE][piece.start_line - 1 : piece.end_line]]
        assert [line.strip() for line in inner] == source[-len(inner) :]
    together = "\n".join(c.text for c in chunks)
    assert all(f"leaf_number_{n:04} " in together for n in range(300))


def test_a_very_long_section_and_a_very_long_line() -> None:
    line = "word " * 25_000  # 125 kB
    chunks, _, _ = chunks_of(NOWHERE, f"Title\n#####\n\n{line}\n")
    assert sum(c.text.count("word") for c in chunks) == 25_000
    assert {(c.start_line, c.end_line) for c in chunks} <= {(1, 4), (4, 4)}
    solid = "x" * 5000
    chunks, _, _ = chunks_of(NOWHERE, f"Title\n#####\n\n{solid}\n")
    assert "".join(c.text for c in chunks) == solid
