# SPDX-License-Identifier: Apache-2.0
"""Pages → readable text at its lines: every directive family, every role, and bad pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import MINIATURE

from zephyr_ask.chunking import Dropped, chunk
from zephyr_ask.sources import read
from zephyr_ask.sources.directives import app_commands, slice_lines
from zephyr_ask.sources.inline import markdown
from zephyr_ask.types import CHUNK_CHARS, Chunk
from zephyr_ask.workspace import decode, is_page

PAGE = "doc/page.rst"


def chunks_of(
    base: Path, text: str | bytes, path: str = PAGE
) -> tuple[list[Chunk], list[Dropped], dict[str, list[str]]]:
    """Chunks, dropped lines and files of a page that is not on disk."""
    data = text if isinstance(text, bytes) else text.encode()
    document, reader = read(base, path, data)
    chunks, dropped = chunk(document, reader.files)
    return chunks, dropped, reader.files


def text_of(base: Path, text: str, path: str = PAGE) -> str:
    return "\n\n".join(c.text for c in chunks_of(base, text, path)[0])


PAGES = sorted(p.relative_to(MINIATURE).as_posix() for p in MINIATURE.rglob("*.rst"))
UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")


def uncovered(
    lines: list[str], path: str, chunks: list[Chunk], dropped: list[Dropped]
) -> list[str]:
    """Lines with text that no chunk holds and no rule dropped; headings stand in paths."""
    covered = {
        number
        for piece in [*chunks, *dropped]
        if piece.path == path
        for number in range(piece.start_line, piece.end_line + 1)
    }
    left = []
    for number, line in enumerate(lines, 1):
        below = lines[number] if number < len(lines) else ""
        heading = UNDERLINE.fullmatch(line) or (line.strip() and UNDERLINE.fullmatch(below))
        if line.strip() and number not in covered and not heading:
            left.append(f"{path}:{number}: {line}")
    return left


@pytest.mark.parametrize("path", [p for p in PAGES if is_page(p)])
def test_miniature_pages(path: str) -> None:
    chunks, dropped, files = chunks_of(MINIATURE, (MINIATURE / path).read_bytes(), path)
    assert chunks or {d.rule for d in dropped} <= {"navigation", "link target"}
    assert uncovered(files[path], path, chunks, dropped) == []
    for piece in chunks:
        source = files[piece.path][piece.start_line - 1 : piece.end_line]
        assert 1 <= piece.start_line <= piece.end_line <= len(files[piece.path])
        assert source[0].strip() and source[-1].strip(), "blank lines at the ends"
        assert len(piece.text) <= CHUNK_CHARS
        if path == "doc/contribute/draft.rst":
            continue  # wrong on purpose: what docutils cannot read stays as it stands
        outside = re.sub(r"```.*?```|`[^`]*`", "", piece.text, flags=re.DOTALL)
        assert not re.search(r":[a-z:]+:`|^\s*\.\. \w+|``|`_|\|\w+\|(?! )", outside, re.M), piece


def test_sections_anchors_and_duplicates(tmp_path: Path) -> None:
    chunks, _, _ = chunks_of(
        tmp_path,
        ".. _garden:\n\nGarden\n######\n\nTop text of it.\n\nOverview\n********\n\nFirst overview.\n\n"
        ".. _second-overview:\n\nOverview\n********\n\nSecond overview.\n\nDetails\n=======\n\nDeep text.\n",
    )
    assert [(c.title, c.heading, c.anchor, c.start_line, c.end_line) for c in chunks] == [
        ("Garden", (), "garden", 3, 6),
        ("Garden", ("Overview",), "overview", 8, 11),
        ("Garden", ("Overview",), "second-overview", 15, 18),
        ("Garden", ("Overview", "Details"), "details", 20, 23),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (":kconfig:option:`CONFIG_LEAF`", "`CONFIG_LEAF`"),
        (":ref:`the shed <shed-page>`", "the shed"),
        (":ref:`shed_page`", "shed page"),
        (":c:func:`leaf_open`", "`leaf_open()`"),
        (":c:func:`leaf_open()`", "`leaf_open()`"),
        (":c:macro:`LEAF_MAX`", "`LEAF_MAX`"),
        (":py:class:`~west.Leaf`", "`west.Leaf`"),
        (":zephyr:code-sample:`blinky`", "blinky sample"),
        (":dtcompatible:`acme,leaf`", "`acme,leaf`"),
        (":file:`prj.conf`", "`prj.conf`"),
        (":file:`<BOARD>.overlay`", "`<BOARD>.overlay`"),
        (":file:`~/.westconfig`", "`~/.westconfig`"),
        (":ref:`<garden>`", "garden"),
        (":abbr:`DT (Devicetree)`", "DT (Devicetree)"),
        (":github:`1234`", "#1234"),
        (":menuselection:`File --> Open`", "File --> Open"),
        (":unheard:of:`some text`", "some text"),
        ("``a :ref:`b` c``", "`` a :ref:`b` c ``".replace("`` ", "``").replace(" ``", "``")),
        ("`Zephyr site <https://example.com/a>`_", "[Zephyr site](https://example.com/a)"),
        ("`Zephyr site`_", "Zephyr site"),
        ("see Garden_ there", "see Garden there"),
        ("see other_ there", "see other_ there"),
        ("a\\ b \\* c", "ab * c"),
        ("|leaf| grows", "Leaf 3.0 grows"),
        ("|nobody| knows", "|nobody| knows"),
        ("note [1]_", "note [1]"),
        ("k_sleep_() and x_y_z", "k_sleep_() and x_y_z"),
    ],
)
def test_inline(source: str, expected: str) -> None:
    assert markdown(source, {"leaf": "Leaf 3.0"}, frozenset({"garden"})) == expected


def test_inline_keeps_the_number_of_lines() -> None:
    source = "one :ref:`two\nthree <label\nfour>` five\n``six\nseven`` |leaf|\n"
    assert markdown(source, {"leaf": "x"}, frozenset()).count("\n") == source.count("\n")


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (".. note:: Mind the gap.", "> **Note:** Mind the gap."),
        (".. warning::\n\n   Hot\n\n   - very", "> **Warning:** Hot\n\n> - very"),
        (".. deprecated:: 3.2 Use leaves.", "> **Deprecated since version 3.2:** Use leaves."),
        (".. code-block:: c\n   :caption: Trees\n\n   int a;\n\n   int b;",
         "Trees\n\n```c\nint a;\n\nint b;\n```"),
        ("Text::\n\n   verbatim\n     more", "Text:\n\n```\nverbatim\n  more\n```"),
        (".. doxygengroup:: leaf_api\n   :project: x", "API reference: group `leaf_api`"),
        (".. zephyr:board-supported-hw::", "The hardware that this board supports, from its "
         "devicetree."),
        (".. figure:: a.png\n   :alt: A tree\n\n   In the garden.",
         "Figure: A tree\n\nIn the garden."),
        (".. tabs::\n\n   .. group-tab:: Linux\n\n      Use apt.\n\n   .. group-tab:: macOS\n\n"
         "      Use brew.", "**Linux**\n\nUse apt.\n\n**macOS**\n\nUse brew."),
        (".. versionadded:: 3.1\n\n   Growing faster.",
         "> **Added in version 3.1:** Growing faster."),
        (".. unheard:: of argument\n   :option: x\n\n   Content stays here.",
         "**of argument**\n\nContent stays here."),
        (".. only:: html\n\n   Shown to readers.", "Shown to readers."),
        (".. envvar:: LEAF_HOME\n\n   Where leaves live.", "`LEAF_HOME`\n\nWhere leaves live."),
        (".. option:: --leaf", "`--leaf`"),
        ("-a, --all  Everything green.\n-b       Some brown.",
         "**`-a, --all`**\n: Everything green.\n**`-b`**\n: Some brown."),
        ("Term : kind\n   What it means.", "**Term : kind**\n: What it means."),
        ("#. first step\n#. second step", "1. first step\n2. second step"),
        ("3. third step\n4. fourth step", "3. third step\n4. fourth step"),
        ("* outer item\n\n  * inner item", "- outer item\n  - inner item"),
        ("| a poem\n| of lines", "a poem\nof lines"),
        ("== ==\nA  B\n== ==\nx1 yy\n== ==\n\nwith words", "| A | B |\n| --- | --- |\n| x1 | yy |"
         "\n\nwith words"),
        ("+----+----+\n| Aa | Bb |\n+====+====+\n| cc | dd |\n+----+----+",
         "| Aa | Bb |\n| --- | --- |\n| cc | dd |"),
        (".. csv-table:: Plants\n   :header: Name, Size\n\n   oak tree, 30\n   \"a, b\", 2",
         "**Plants**\n\n| Name | Size |\n| --- | --- |\n| oak tree | 30 |\n| a, b | 2 |"),
        (".. list-table::\n   :header-rows: 1\n\n   * - Name\n     - Size\n   * - oak tree\n     - 30",
         "| Name | Size |\n| --- | --- |\n| oak tree | 30 |"),
        (".. |x| replace:: the oak\n\nUnder |x| it is dark.", "Under the oak it is dark."),
        (":field one: some value", "**field one**\n: some value"),
        (".. glossary::\n\n   Leaf\n      A green thing.", "**Leaf**\n: A green thing."),
        (".. math::\n\n   a^2 + beta", "```\na^2 + beta\n```"),
    ],
)  # fmt: skip
def test_directives_and_blocks(tmp_path: Path, page: str, expected: str) -> None:
    assert text_of(tmp_path, f"Title\n#####\n\n{page}\n") == expected


@pytest.mark.parametrize(
    ("page", "rule"),
    [
        (".. toctree::\n   :maxdepth: 1\n\n   a\n   b", "navigation"),
        (".. highlight:: c", "build instruction"),
        (".. raw:: html\n\n   <br/>", "raw output"),
        (".. graphviz::\n\n   digraph { a -> b }", "drawing"),
        (".. image:: a.png", "picture without text"),
        (".. a comment of words", "comment"),
        (".. _label_of_words:", "link target"),
        (".. include:: absent.rst", "included file is not in the tree"),
    ],
)
def test_what_is_left_out_is_named(tmp_path: Path, page: str, rule: str) -> None:
    chunks, dropped, _ = chunks_of(tmp_path, f"Title\n#####\n\n{page}\n")
    assert chunks == []
    assert rule in {d.rule for d in dropped}


def test_lists_of_issues_are_left_out_of_release_notes_only(tmp_path: Path) -> None:
    page = (
        "Zephyr 9.9\n##########\n\nNew things came.\n\nIssue Related Items\n*******************\n\n"
        "Fixed here:\n\n* :github:`1` - one thing\n* :github:`2` - other thing\n\n"
        "Deeper\n======\n\n* :github:`3` - third thing\n\nDrivers\n*******\n\nA driver came.\n"
    )
    chunks, dropped, _ = chunks_of(tmp_path, page, "doc/releases/release-notes-9.9.rst")
    assert [c.heading for c in chunks] == [(), ("Drivers",)]
    assert ("list of issues or CVE numbers", 8, 18) in {
        (d.rule, d.start_line, d.end_line) for d in dropped
    }
    kept = chunks_of(tmp_path, page, "doc/other.rst")[0]
    assert ("Issue Related Items",) in [c.heading for c in kept]


@pytest.mark.parametrize("text", ["West commands\n", "``west flash``\n", "====== ===\nOption Use\n"
                                  "====== ===\nA      b\n====== ===\n"])  # fmt: skip
def test_short_useful_sections_are_kept(tmp_path: Path, text: str) -> None:
    assert chunks_of(tmp_path, f"Title\n#####\n\n{text}")[0]


@pytest.mark.parametrize("text", ["0x00 0x01 0x02 0x0f", "1, 2, 3 ... 9", "::\n\n   + - + - +"])
def test_what_is_no_prose_is_left_out(tmp_path: Path, text: str) -> None:
    chunks, dropped, _ = chunks_of(tmp_path, f"Title\n#####\n\n{text}\n")
    assert chunks == [] and "no prose" in {d.rule for d in dropped}


def test_include_cites_the_included_file(tmp_path: Path) -> None:
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "part.txt").write_text(
        "ignored line\n.. start\n\nShared words here.\n\nInner\n*****\n\nMore shared words.\n"
    )
    chunks, _, files = chunks_of(
        tmp_path, "Title\n#####\n\nOwn words.\n\n.. include:: part.txt\n   :start-after: start\n"
        "\nAfter all.\n"
    )  # fmt: skip
    found = [(c.path, c.start_line, c.end_line, c.heading, c.page, c.text) for c in chunks]
    assert found == [
        (PAGE, 1, 4, (), PAGE, "Own words."),
        ("doc/part.txt", 4, 4, (), PAGE, "Shared words here."),
        ("doc/part.txt", 6, 9, ("Inner",), PAGE, "More shared words."),
        (PAGE, 9, 9, ("Inner",), PAGE, "After all."),
    ]
    assert files["doc/part.txt"][3] == "Shared words here."


def test_literalinclude_cites_the_code(tmp_path: Path) -> None:
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "main.c").write_text(
        "/* no */\n/* begin */\nint leaf;\nint tree;\n/* end */\n"
    )
    chunks, _, _ = chunks_of(
        tmp_path, "Title\n#####\n\n.. literalinclude:: main.c\n   :language: c\n"
        "   :start-after: begin\n   :end-before: end\n"
    )  # fmt: skip
    assert [(c.path, c.start_line, c.end_line, c.text) for c in chunks] == [
        ("doc/main.c", 3, 4, "```c\nint leaf;\nint tree;\n```")
    ]


@pytest.mark.parametrize("target", ["/etc/hostname", "../../../../../../etc/hostname", "link.txt"])
def test_include_cannot_leave_the_tree(tmp_path: Path, target: str) -> None:
    base = tmp_path / "zephyr"
    (base / "doc").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret words outside")
    (base / "doc" / "link.txt").symlink_to(tmp_path / "secret.txt")
    text = text_of(base, f"Title\n#####\n\nOwn words.\n\n.. include:: {target}\n")
    assert text == "Own words."


def test_include_of_itself_and_of_each_other_ends(tmp_path: Path) -> None:
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "a.rst").write_text("Words of a.\n\n.. include:: b.rst\n")
    (tmp_path / "doc" / "b.rst").write_text("Words of b.\n\n.. include:: a.rst\n")
    (tmp_path / "doc" / "page.rst").write_text("Title\n#####\n\n.. include:: page.rst\n")
    text = text_of(tmp_path, "Title\n#####\n\n.. include:: page.rst\n\n.. include:: a.rst\n")
    assert "Words of a." in text and "Words of b." in text


def test_board_and_sample_pages_have_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "boards" / "acme" / "oak"
    (folder / "doc").mkdir(parents=True)
    (folder / "board.yml").write_text("board:\n  name: oak\n  full_name: Oak Kit 3\n  socs:\n"
                                      "  - name: acorn\n")  # fmt: skip
    chunks, _, _ = chunks_of(tmp_path, ".. zephyr:board:: oak\n\nOverview\n********\n\nA board.\n",
                             "boards/acme/oak/doc/index.rst")  # fmt: skip
    assert {c.title for c in chunks} == {"Oak Kit 3"}
    assert chunks[-1].heading == ("Overview",) and chunks[-1].kind == "boards"
    chunks, _, _ = chunks_of(
        tmp_path,
        ".. zephyr:code-sample:: leaf\n   :name: Leaf sample\n   :relevant-api: leaf_api\n\n"
        "   Shows a leaf.\n\nOverview\n********\n\nMore words.\n",
        "samples/leaf/README.rst",
    )
    assert {c.title for c in chunks} == {"Leaf sample"}
    assert chunks[0].text == "API: `leaf_api`\n\nShows a leaf."


@pytest.mark.parametrize(
    ("options", "commands"),
    [
        ({"zephyr-app": "samples/a", "board": "oak", "goals": "build flash"},
         ["west build -b oak samples/a", "west flash"]),
        ({"zephyr-app": "samples/a", "board": "oak", "goals": "run", "gen-args": "-DX=y"},
         ["west build -b oak samples/a -- -DX=y", "west build -t run"]),
        ({"app": "app", "tool": "cmake", "board": "oak", "goals": "build menuconfig"},
         ["cmake -B build -GNinja -DBOARD=oak app", "ninja -C build menuconfig"]),
        ({"zephyr-app": "a", "board": "o", "goals": "build", "shield": "s1", "snippets": "x,y",
          "build-dir": "d", "west-args": "--pristine", "conf": "prj_a.conf"},
         ["west build -b o -S x -S y --shield s1 -d build/d --pristine a -- -DCONF_FILE=prj_a.conf"]),
        ({"zephyr-app": "a", "goals": "debug", "cd-into": "", "debug-args": "-r jlink"},
         ["cd a", "west build", "west debug -r jlink"]),
    ],
)  # fmt: skip
def test_app_commands(options: dict[str, str], commands: list[str]) -> None:
    assert app_commands(options) == commands


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, (0, 6)), ({"lines": "2-3"}, (1, 3)), ({"lines": "4-"}, (3, 6)),
     ({"start-at": "b", "end-at": "d"}, (1, 4)), ({"start-line": "2", "end-line": "4"}, (2, 4)),
     ({"start-after": "zz"}, (0, 6)), ({"lines": "90-99"}, (89, 89))],
)  # fmt: skip
def test_slices(options: dict[str, str], expected: tuple[int, int]) -> None:
    first, last = slice_lines(list("abcdef"), options)
    assert (first, last) == expected or (first >= 6 and first >= last)


def test_page_that_docutils_cannot_parse(tmp_path: Path) -> None:
    # Nesting this deep ends docutils with a RecursionError.
    deep = "\n".join("  " * n + "* deep item" + "\n" for n in range(600))
    page = f"Title\n#####\n\nWords above.\n\nSection\n*******\n\nSee ``code`` here.\n\n{deep}\n"
    document, reader = read(tmp_path, PAGE, page.encode())
    assert document.note is not None and PAGE in document.note
    chunks, _ = chunk(document, reader.files)
    assert document.title == "Title"
    texts = {c.heading: c.text for c in chunks}
    assert texts[()] == "Words above."
    assert "See `code` here." in texts[("Section",)] or any(
        "See `code` here." in c.text for c in chunks
    )
    assert max(len(c.text) for c in chunks) <= CHUNK_CHARS


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe\x00broken \xe9\xe8 bytes\n", b"\xef\xbb\xbfTitle\r\n=====\r\n\r\nBody words.\r\n",
     b"Title\n=====\n\nform\x0cfeed and \x1b[31mescape words\n", b"\0" * 100, b"=" * 5000,
     b"Title\n=====\n\n" + b"word " * 30000, "Überschrift\n###########\n\nGrüße, 漢字 words.\n".encode()],
)  # fmt: skip
def test_any_bytes_are_a_page(tmp_path: Path, data: bytes) -> None:
    chunks, _, files = chunks_of(tmp_path, data)
    assert files[PAGE] == decode(data).split("\n")
    for piece in chunks:
        assert len(piece.text) <= CHUNK_CHARS


def test_crlf_and_bom_lines_are_counted_like_others(tmp_path: Path) -> None:
    plain = "Title\n=====\n\nFirst words.\n\nSecond\n------\n\nMore words.\n"
    other = b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode()
    assert chunks_of(tmp_path, plain)[0] == chunks_of(tmp_path, other)[0]


@pytest.mark.parametrize(
    ("path", "page"),
    [("doc/index.rst", True), ("doc/404.rst", False), ("doc/index-tex.rst", False),
     ("doc/templates/board.rst", False), ("doc/_static/x.rst", False), ("doc/a.txt", False),
     ("doc/build/requirements.rst", False), ("samples/a/README.rst", True)],
)  # fmt: skip
def test_which_files_are_pages(path: str, page: bool) -> None:
    assert is_page(path) is page
