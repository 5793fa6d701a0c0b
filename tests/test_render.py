# SPDX-License-Identifier: Apache-2.0
"""What a person and what a script gets from an Answer."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from zephyr_ask.console import clean
from zephyr_ask.layout import Layout
from zephyr_ask.render import answer_to_dict, answer_to_json, file_uri, print_answer, print_notes
from zephyr_ask.types import Answer, Chunk, Hit, Reasons, Revision

ROOT = Path(__file__).resolve().parents[1]
REVISION = Revision("4.1.99", "0123456789abcdef0123456789abcdef01234567", True, "/w s/zephyr")
URL = "https://docs.example.org/4.1.0/services/lamp/index.html#dimming"
ESCAPE = re.compile("\x1b\\][^\x1b]*\x1b\\\\|\x1b\\[[0-9;]*m")

LAMP = """The lamp is dimmed by `lamp_dim()`, and *never* faster than **twice** a second; see
[the sketch](https://example.org/sketch).

- a first wish that is long enough to be wrapped on a narrow terminal, perhaps even on a wide one
  - a wish within it

    ```c
    if (lamp) {
    \tlamp_dim(lamp, 3);
    }
    ```
- a last one

1. Press.
2. Hold.

> **Warning:** Hot.

**lamp**
: What shines.

**switch**
  What turns it.

| Option | Meaning |
|---|---|
| `CONFIG_LAMP` | A lamp \\| a bulb |
| `CONFIG_LAMP_DIM` | Slowly |
"""


def make_hit(text: str = LAMP, rank: int = 1, **change: Any) -> Hit:
    path = change.pop("path", "doc/services/lamp/index.rst")
    chunk = Chunk(
        path=path,
        start_line=34,
        end_line=change.pop("end_line", 61),
        page=path,
        title=change.pop("title", "Lamps"),
        heading=change.pop("heading", ("Usage", "Dimming")),
        anchor="dimming",
        kind="doc",
        text=text,
    )
    reasons = Reasons(2, 0.712345, 0.5, 0.04, 1.0)
    fields: dict[str, Any] = {"source": text, "url": URL, "score": 0.876543, "reasons": reasons}
    return Hit(rank=rank, chunk=chunk, **{**fields, **change})


def make_answer(*hits: Hit, **change: Any) -> Answer:
    fields: dict[str, Any] = {
        "question": "how do I dim a lamp",
        "revision": REVISION,
        "abstained": False,
        "confidence": 0.83,
        "timings_ms": {"refresh": 31.24, "search": 9.0, "total": 243.8},
    }
    return Answer(hits=hits or (make_hit(),), **{**fields, **change})


def shown(answer: Answer, width: int = 80, verbosity: int = 0, **options: Any) -> str:
    """What print_answer writes to a console of that width; no colour unless asked for."""
    encoding = options.pop("encoding", "utf-8")
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="")
    options = {"color_system": None, "force_terminal": False, **options}
    console = Console(file=file, width=width, legacy_windows=False, _environ={}, **options)
    print_answer(console, answer, verbosity=verbosity)
    file.flush()
    return raw.getvalue().decode(encoding)


COLOR: dict[str, Any] = {"color_system": "standard", "force_terminal": True}


def test_json_has_exactly_these_fields() -> None:
    assert answer_to_dict(make_answer()) == {
        "schema": 1,
        "question": "how do I dim a lamp",
        "revision": {
            "version": "4.1.99",
            "commit": REVISION.commit,
            "modified": True,
            "path": "/w s/zephyr",
        },
        "abstained": False,
        "confidence": 0.83,
        "symbols": [],
        "passages": [
            {
                "rank": 1,
                "path": "doc/services/lamp/index.rst",
                "start_line": 34,
                "end_line": 61,
                "page": "doc/services/lamp/index.rst",
                "title": "Lamps",
                "heading": ["Usage", "Dimming"],
                "url": URL,
                "kind": "doc",
                "text": LAMP,
                "markdown": LAMP,
                "score": 0.8765,
                "reasons": {
                    "lexical_rank": 2,
                    "lexical_score": 0.7123,
                    "dense_score": 0.5,
                    "page_score": 0.04,
                    "prior": 1.0,
                },
            }
        ],
        "answer": None,
        "timings_ms": {"refresh": 31.2, "search": 9.0, "total": 243.8},
    }


def test_json_is_one_line_whatever_is_in_it() -> None:
    hit = make_hit("a\ud800\nb\u2028c", score=float("nan"), reasons=Reasons(None, 0, None, 0, 1))
    answer = make_answer(hit, question="q\udcff\r\n", timings_ms={"t\ud900": float("inf")})
    line = answer_to_json(answer)
    assert len(line.splitlines()) == 1
    read = json.loads(line)
    line.encode("ascii")
    json.dumps(read, ensure_ascii=False).encode()
    assert read["question"] == "q\ufffd\r\n"
    assert read["passages"][0]["text"] == "a\ufffd\nb\u2028c"
    assert read["passages"][0]["score"] is None
    assert read["passages"][0]["reasons"]["dense_score"] is None
    assert read["timings_ms"] == {"t\ufffd": None}


def test_json_takes_numbers_that_are_not_pythons_own() -> None:
    numpy = pytest.importorskip("numpy")
    reasons = Reasons(numpy.int64(3), numpy.float32(0.5), numpy.float32(0.25), 0, numpy.float64(1))
    read = json.loads(
        answer_to_json(make_answer(make_hit(score=numpy.float32(0.5), reasons=reasons)))
    )
    assert read["passages"][0]["score"] == 0.5
    assert read["passages"][0]["reasons"]["lexical_rank"] == 3


def test_json_imports_no_rich() -> None:
    code = "import sys, zephyr_ask.render; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


EXPECTED = """\
1  Lamps › Usage › Dimming
   doc/services/lamp/index.rst:34-61

   The lamp is dimmed by `lamp_dim()`, and never faster than twice a second; see
   the sketch <https://example.org/sketch>.

   • a first wish that is long enough to be wrapped on a narrow terminal,
     perhaps even on a wide one
     • a wish within it

         if (lamp) {
                 lamp_dim(lamp, 3);
         }

   • a last one

   1. Press.
   2. Hold.

   > Warning: Hot.

   lamp
     What shines.

   switch
     What turns it.

   Option             Meaning
   -----------------  ---------------
   `CONFIG_LAMP`      A lamp | a bulb
   `CONFIG_LAMP_DIM`  Slowly

Zephyr 4.1.99 · 0123456789 · modified · 0.24 s
"""


def test_a_page_at_80_columns() -> None:
    assert shown(make_answer()) == EXPECTED


def test_an_ascii_terminal_gets_ascii() -> None:
    seen = shown(make_answer(), encoding="ascii")
    assert seen == EXPECTED.replace("›", ">").replace("•", "-").replace("·", "-")


@pytest.mark.parametrize("width", [30, 40, 80, 120, 400])
@pytest.mark.parametrize("options", [{}, COLOR])
def test_no_line_is_wider_than_the_terminal_nor_than_reads_well(
    width: int, options: dict[str, Any]
) -> None:
    hits = [make_hit(LAMP, rank) for rank in range(1, 13)]
    lines = ESCAPE.sub("", shown(make_answer(*hits), width, **options)).split("\n")
    for line in lines:
        assert "doc/services" in line or cell_len(line) <= min(width, 100), line
        assert line == line.rstrip()


def test_colours_and_links() -> None:
    seen = shown(make_answer(), **COLOR)
    assert "file:///w%20s/zephyr/doc/services/lamp/index.rst#34" in seen
    assert "]8;id=" in seen and URL in seen and "https://example.org/sketch" in seen
    assert "`" not in ESCAPE.sub("", seen), "code is coloured, not quoted"
    assert "\x1b[35mif" in seen, "code is highlighted"


def test_no_color_keeps_quotes_around_code() -> None:
    seen = shown(make_answer(), no_color=True, **COLOR)
    assert "`lamp_dim()`" in ESCAPE.sub("", seen)
    assert "\x1b[35m" not in seen and "\x1b[32m" not in seen


IMPORTS = """
import io, sys
from rich.console import Console
from zephyr_ask.layout import Layout
def lay(text, color):
    Layout(Console(file=io.StringIO(), force_terminal=True, color_system=color)).lines(text, 80)
    return sorted({{"rich.syntax", "pygments", "rich.markdown", "markdown_it"}} & set(sys.modules))
assert not lay({code!r}, None)
assert not lay("only *prose* and `code`", "standard")
assert lay({code!r}, "standard") == ["pygments", "rich.syntax"]
"""


def test_highlighting_is_imported_only_for_coloured_code() -> None:
    code = IMPORTS.format(code="```c\nint lamp;\n```")
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, check=True)


def test_the_url_is_shown_where_there_is_room_or_when_asked_for() -> None:
    assert URL not in shown(make_answer())
    assert f"index.rst:34-61  {URL}\n" in shown(make_answer(), 120)
    assert f"\n   {URL}\n" in shown(make_answer(), verbosity=1)


def test_verbosity() -> None:
    assert "Zephyr" not in shown(make_answer(), verbosity=-1)
    assert "score" not in shown(make_answer())
    more = shown(make_answer(), verbosity=1)
    assert "score 0.88, words 0.71 (rank 2), meaning 0.50, page +0.04, doc" in more
    assert "confidence 0.83 · refresh 31 ms · search 9 ms" in more
    most = shown(make_answer(), verbosity=2)
    assert str(REVISION.commit) in most and "/w s/zephyr" in most


def test_what_git_cannot_tell_is_said() -> None:
    revision = Revision("4.1.99", None, None, "zephyr")
    seen = shown(make_answer(revision=revision), **COLOR)
    assert "commit unknown" in seen and "modified" not in seen
    assert "file:" not in seen, "a relative tree has no address"


def test_an_abstained_answer_names_the_nearest_pages_as_such() -> None:
    seen = shown(make_answer(abstained=True, question="why is \x1b[31mthe sky\n blue"))
    assert "do not seem to answer this question" in seen
    assert "why is \ufffd[31mthe sky blue" in seen
    assert "nearest pages, which may not help" in seen
    assert "doc/services/lamp/index.rst:34-61" in seen
    assert "first wish" not in seen, "no passage is offered as an answer"
    assert "first wish" in shown(make_answer(abstained=True), verbosity=1)
    nothing = shown(Answer("q" * 100_000, REVISION, (), True, 0.0))
    assert "No page comes near." in nothing and len(nothing) < 500


def test_one_line_and_no_heading() -> None:
    seen = shown(make_answer(make_hit(heading=(), title="", end_line=34)))
    assert seen.startswith("1  doc/services/lamp/index.rst\n   doc/services/lamp/index.rst:34\n")


def test_long_code_is_wrapped_beneath_its_own_indent() -> None:
    words = " ".join(f"--option-{n}=value" for n in range(12))
    seen = shown(make_answer(make_hit(f"```sh\nif true\n  west build {words}\nfi\n```")), 60)
    block = seen.split("\n\n")[1].split("\n")
    assert block[0] == "     if true" and block[-1] == "     fi"
    assert block[1].startswith("       west build --option-0=value")
    assert all(line.startswith("           --option") for line in block[2:-1])
    assert " ".join(" ".join(block).split()) == f"if true west build {words} fi"


def test_a_table_that_is_too_wide_becomes_records() -> None:
    row = "| " + " | ".join(f"`CONFIG_A_LONG_NAME_{n}`" for n in range(5)) + " |"
    table = f"| A | B | C | D | E |\n|---|---|---|---|---|\n{row}"
    seen = shown(make_answer(make_hit(table)), 40)
    assert "  A: `CONFIG_A_LONG_NAME_0`\n    B: `CONFIG_A_LONG_NAME_1`\n    C: " in seen


@pytest.mark.parametrize(
    "text",
    [
        "the pointers char *p, *q stay; CONFIG_A_* and 2*3*4 too",
        "[bold]not markup[/bold] [link=file:///x]y[/link] a[0](b)",
        "an `open quote, ** and an * alone",
        ">= 4.1 is a comparison",
        "a | b\n\n| alone",
        "#include is no heading",
        ":smile: and \\*backslashes\\* C:\\dir",
    ],
)
def test_what_is_not_markdown_stands_as_it_is(text: str) -> None:
    seen = shown(make_answer(make_hit(text)), verbosity=-1)
    assert " ".join(seen.split("\n\n", 1)[1].split()) == " ".join(text.split())


def test_paragraphs_of_one_note_stay_together() -> None:
    text = "> **Note:** one\n\n> two\n\n> ```\n> three\n> ```\n\n> **Tip:** four"
    seen = shown(make_answer(make_hit(text)), verbosity=-1).split("\n\n", 1)[1]
    wanted = ["> Note: one", ">", "> two", ">", ">   three", "", "> Tip: four"]
    assert [line.strip() for line in seen.splitlines()] == wanted


def test_a_table_without_a_header_or_with_a_tall_one() -> None:
    seen = shown(make_answer(make_hit("| a | b |\n| c | d |")))
    assert "   a  b\n   c  d\n" in seen
    seen = shown(make_answer(make_hit("| a | b |\n| c | d |\n| --- | --- |\n| e | - |")))
    assert "   a  b\n   -  -\n   c  d\n   e  -\n" in seen


def test_unclosed_and_unknown_code() -> None:
    seen = shown(make_answer(make_hit("```no-such-language\nx  y\n\n\tz")), **COLOR)
    assert "     x  y\n\n             z\n" in ESCAPE.sub("", seen)


def test_hostile_nesting_ends() -> None:
    for text in (
        "> " * 700 + "x",
        "- " * 700 + "x",
        "  " * 700 + "x",
        "| a " * 400 + "|",
        "> x\n\n" * 2000,
    ):
        assert shown(make_answer(make_hit(text)), 40)


def test_notes_are_one_line_each() -> None:
    file = io.StringIO()
    answer = make_answer(notes=("no model\x1b[31m:\nby words alone",))
    print_notes(Console(file=file, width=20, highlight=False, markup=False), answer)
    assert file.getvalue() == "note: no model\ufffd[31m: by words alone\n"


def test_file_uri() -> None:
    assert file_uri(REVISION, "doc/a\x1b#b.rst", 3) == "file:///w%20s/zephyr/doc/a%1B%23b.rst#3"
    assert file_uri(REVISION, "doc/\ud800.rst", 3) == ""


HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from(list("\n\n  `*_|>-#[]():.\\1a b\t") + ["\x1b", "\x9b", "\u202e", "語"]),
        st.characters(),
    ),
    max_size=300,
)


def letters(text: str) -> str:
    """The letters and digits of `text`, in order; wrapping and markup add none."""
    return "".join(char for char in text if char.isalnum())


@settings(max_examples=150, deadline=None)
@given(text=HOSTILE, width=st.integers(20, 120), colored=st.booleans())
def test_any_text_is_shown_whole_and_harmless(text: str, width: int, colored: bool) -> None:
    options: dict[str, Any] = COLOR if colored else {}
    answer = make_answer(make_hit(text, title=text, heading=(text,)), question=text)
    for abstained in (False, True):
        seen = shown(
            Answer(text, REVISION, answer.hits, abstained, 0.5), width, verbosity=2, **options
        )
        rest = ESCAPE.sub("", seen)
        assert clean(rest) == rest, "nothing but what rich and this project write escapes"
        if not colored:
            assert "\x1b" not in seen


WORD = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=12)
SENTENCE = st.lists(WORD, min_size=1, max_size=12).map(" ".join)
BLOCK = st.one_of(
    SENTENCE,
    st.builds("- {}\n  {}".format, SENTENCE, SENTENCE),
    st.builds("1. {}\n\n   {}".format, SENTENCE, SENTENCE),
    st.builds("> **Note:** {}\n> {}".format, SENTENCE, SENTENCE),
    st.builds("**{}**\n: {}".format, SENTENCE, SENTENCE),
    st.builds("```c\n{}\n\t{}\n```".format, SENTENCE, SENTENCE),
    st.builds("`{}` *{}* **{}** [{}](https://x.y/z)".format, WORD, SENTENCE, SENTENCE, SENTENCE),
)


@settings(max_examples=100, deadline=None)
@given(
    blocks=st.lists(BLOCK, min_size=1, max_size=6),
    width=st.integers(20, 100),
    colored=st.booleans(),
)
def test_every_word_is_shown(blocks: list[str], width: int, colored: bool) -> None:
    text = "\n\n".join(blocks)
    console = Console(
        file=io.StringIO(),
        width=width,
        _environ={},
        legacy_windows=False,
        **(COLOR if colored else {}),
    )
    seen = "\n".join(line.plain for line in Layout(console).lines(text, width))
    # Fence languages and the addresses behind linked text are the only words not shown.
    wanted = text.replace("```c", "")
    wanted = wanted.replace("https://x.y/z", "") if colored else wanted
    assert letters(seen) == letters(wanted)


@settings(max_examples=100, deadline=None)
@given(
    cells=st.lists(st.lists(SENTENCE, min_size=3, max_size=3), min_size=1, max_size=4),
    width=st.integers(20, 100),
)
def test_every_cell_is_shown(cells: list[list[str]], width: int) -> None:
    rows = ["| " + " | ".join(row) + " |" for row in cells]
    text = "\n".join([rows[0], "|---|---|---|", *rows[1:]])
    console = Console(file=io.StringIO(), width=width, _environ={})
    seen = "".join(line.plain for line in Layout(console).lines(text, width))
    for word in {word for row in cells for cell in row for word in cell.split() if len(word) < 5}:
        assert word in seen
