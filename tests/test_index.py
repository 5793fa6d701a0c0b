# SPDX-License-Identifier: Apache-2.0
"""The index equals its tree: whatever changed, whatever was killed, whatever is damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import MINIATURE

from zephyr_ask import corpus
from zephyr_ask.index import Index
from zephyr_ask.listing import Roster
from zephyr_ask.refresh import fingerprints, is_current, refresh
from zephyr_ask.retrieval import expression
from zephyr_ask.table import Damaged
from zephyr_ask.tree import Source, look
from zephyr_ask.types import IndexFailure, silent
from zephyr_ask.workspace import Workspace


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A copy of the miniature whose files are old enough to be trusted by their stat."""
    target = tmp_path / "zephyr"
    shutil.copytree(MINIATURE, target)
    return target


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = Index(tmp_path / "index.sqlite3")
    yield opened
    opened.close()


def of(base: Path) -> Workspace:
    return Workspace(base, None, ())


def bring_up(index: Index, base: Path) -> bool:
    return refresh(index, of(base), silent, lambda line: None)


def content(index: Index) -> set[tuple[object, ...]]:
    """Everything a search can see, without row numbers."""
    rows = index._rows(
        "SELECT p.path, p.title, p.digest, c.file, c.start_line, c.end_line, c.heading, c.anchor,"
        " c.text, c.digest, c.signature, c.kind FROM chunks c JOIN pages p ON p.id = c.page"
    )
    return set(rows)


def found(index: Index, *words: str) -> list[str]:
    return [c.page for c in index.search(expression(words), 20)]


def test_first_and_second_look(index: Index, base: Path) -> None:
    assert bring_up(index, base) is True
    assert index.check() == []
    bring_up(index, base)  # the files were younger than the clock can tell: looked at once more
    assert is_current(index, of(base)) or corpus.RACY_NS > 0


def test_old_files_need_one_look(index: Index, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "RACY_NS", 0)
    assert bring_up(index, base) is True
    assert bring_up(index, base) is False


def test_changes_are_seen(index: Index, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "RACY_NS", 0)
    bring_up(index, base)
    page = base / "doc" / "kernel" / "threads.rst"
    page.write_text(page.read_text() + "\nMarmalade threads spread slowly.\n")
    assert bring_up(index, base) is True
    assert found(index, "marmalade") == ["doc/kernel/threads.rst"]

    new = base / "doc" / "kernel" / "quokka.rst"
    new.write_text("Quokka\n######\n\nQuokkas are scheduled by the kernel.\n")
    assert bring_up(index, base) is True
    assert found(index, "quokkas") == ["doc/kernel/quokka.rst"]

    new.rename(base / "samples" / "quokka.rst")
    assert bring_up(index, base) is True
    assert found(index, "quokkas") == ["samples/quokka.rst"]

    (base / "samples" / "quokka.rst").unlink()
    assert bring_up(index, base) is True
    assert found(index, "quokkas") == []
    assert index.check() == []


def test_a_change_that_keeps_size_and_time_is_seen(
    index: Index, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "RACY_NS", 0)
    page = base / "doc" / "glossary.rst"
    bring_up(index, base)
    before = page.stat()
    text = page.read_bytes()
    page.write_bytes(text[:-8] + b" zzyzx\n\n")
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert page.stat().st_size == before.st_size and page.stat().st_mtime_ns == before.st_mtime_ns
    assert bring_up(index, base) is True
    assert found(index, "zzyzx") == ["doc/glossary.rst"]


def test_an_included_file_counts_as_the_page(
    index: Index, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "RACY_NS", 0)
    bring_up(index, base)
    footer = base / "boards" / "common" / "flash-footer.rst"
    footer.write_text(footer.read_text() + "\nThe xylophone jumper selects the boot mode.\n")
    assert bring_up(index, base) is True
    users = set(found(index, "xylophone"))
    assert users == {
        "boards/acme/acorn_dk/doc/index.rst",
        "boards/acme/birch_nano/doc/index.rst",
        "boards/fern/cedar_evb/doc/index.rst",
        "boards/common/flash-footer.rst",  # a page of its own, too
    }
    hit = index.search(expression(["xylophone"]), 1)[0]
    assert hit.file == "boards/common/flash-footer.rst"


def test_an_include_that_appears_later(
    index: Index, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "RACY_NS", 0)
    page = base / "doc" / "later.rst"
    page.write_text("Later\n#####\n\nOwn words.\n\n.. include:: later-part.txt\n")
    bring_up(index, base)
    assert found(index, "walrus") == []
    (base / "doc" / "later-part.txt").write_text("A walrus was included.\n")
    assert bring_up(index, base) is True
    assert found(index, "walrus") == ["doc/later.rst"]


def test_incremental_equals_fresh(index: Index, base: Path, tmp_path: Path) -> None:
    bring_up(index, base)
    for path in (
        "doc/kernel/timing.rst",
        "doc/services/shell.rst",
        "boards/common/flash-footer.rst",
    ):
        (base / path).write_text("Changed page\n############\n\nOther words about thyme.\n")
    (base / "doc" / "hardware" / "gpio.rst").unlink()
    shutil.copytree(base / "samples" / "basic", base / "samples" / "more")
    bring_up(index, base)
    fresh = Index(tmp_path / "fresh.sqlite3")
    bring_up(fresh, base)
    assert content(index) == content(fresh)
    words = ["logging", "thyme", "enable", "board"]
    assert [
        (c.page, c.start_line, round(c.bm25, 9)) for c in index.search(expression(words), 50)
    ] == [(c.page, c.start_line, round(c.bm25, 9)) for c in fresh.search(expression(words), 50)]
    assert index.page_scores(expression(words), 50) == pytest.approx(
        fresh.page_scores(expression(words), 50)
    )
    fresh.close()


def test_a_new_analyzer_makes_the_words_again(index: Index, base: Path) -> None:
    bring_up(index, base)
    before = content(index)
    with index.writing():
        index.set_meta(analyzer="of an older version")
    assert bring_up(index, base) is True
    assert content(index) == before and index.check() == []
    assert found(index, "logging")


def test_a_new_parser_reads_every_page_again(index: Index, base: Path) -> None:
    bring_up(index, base)
    with index.writing():
        index.set_meta(parser="of an older version")
        index._db.execute("UPDATE pages SET parser = 'old'")
        index._db.execute("UPDATE chunks SET start_line = 999")
    assert bring_up(index, base) is True
    assert all(row[0] < 999 for row in index._rows("SELECT start_line FROM chunks"))
    assert {row[4] for row in index.pages().values()} <= {*fingerprints().parsers.values()}


def test_parallel_reading_equals_reading_one_by_one(base: Path) -> None:
    found = look(base)
    alone = {r.path: r for r in corpus.read_pages(base, sorted(found.sources.items()), {})}
    limit = corpus.PARALLEL_BYTES
    try:
        corpus.PARALLEL_BYTES = 0
        batches = list(corpus.read_in_parallel(base, found.files, found.sources, {}, workers=2))
    finally:
        corpus.PARALLEL_BYTES = limit
    assert {r.path: r for batch in batches for r in batch} == alone


def test_unreadable_and_odd_files(index: Index, base: Path) -> None:
    (base / "doc" / "loop").symlink_to(base / "doc", target_is_directory=True)
    (base / "doc" / "gone.rst").symlink_to(base / "doc" / "nowhere.rst")
    (base / "doc" / "folder.rst").mkdir()
    os.mkfifo(base / "doc" / "pipe.rst")
    (base / "doc" / "bytes.rst").write_bytes(b"\xff\xfe walnut \x00 \x1b[2J bytes\n")
    assert bring_up(index, base) is True
    assert found(index, "walnut") == ["doc/bytes.rst"]
    assert not any("loop" in path or "pipe" in path for path in index.pages())


@pytest.mark.parametrize(
    "damage",
    [lambda data: b"", lambda data: data[:5000], lambda data: b"garbage" * 2000,
     lambda data: data[:20_000] + os.urandom(30_000) + data[50_000:],
     lambda data: data[:100] + b"\0" * 4000 + data[4100:]],
    ids=["empty", "truncated", "garbage", "noise inside", "schema lost"],
)  # fmt: skip
def test_a_damaged_file_is_noticed_or_repaired(tmp_path: Path, base: Path, damage: object) -> None:
    assert callable(damage)
    path = tmp_path / "index.sqlite3"
    first = Index(path)
    bring_up(first, base)
    first.close()
    path.write_bytes(damage(path.read_bytes()))
    try:
        again = Index(path)
        bring_up(again, base)
        problems = again.check()
        again.close()
    except Damaged:
        return
    assert problems or path.stat().st_size > 100_000, "an empty file is simply filled"


def test_a_changed_text_inside_the_file_is_noticed(index: Index, base: Path) -> None:
    bring_up(index, base)
    index._db.execute(
        "UPDATE chunks SET text = (SELECT text FROM chunks WHERE id = 2) WHERE id = 1"
    )
    with pytest.raises(Damaged):
        index.chunk(1)
    assert index.check() != []


def test_a_foreign_database_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs(x)")
    other.commit()
    other.close()
    with pytest.raises(Damaged):
        Index(path)


def test_an_index_of_another_version_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite3"
    Index(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(Damaged):
        Index(path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(IndexFailure):
        Index(tmp_path / "absent" / "index.sqlite3")


def test_nothing_in_a_term_is_syntax(index: Index, base: Path) -> None:
    bring_up(index, base)
    for word in ('"', "NEAR(", "a OR b", "*", "col:", "-", ""):
        index.holders(word or "x", 5)
        assert index.frequency(word or "x") >= 0


def test_an_include_that_changes_while_pages_are_read(
    index: Index, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "RACY_NS", 0)
    shared = base / "doc" / "shared-part.txt"
    shared.write_text("The snorkel limit is 100 units.\n")
    for number in range(6):
        (base / "doc" / f"diver{number}.rst").write_text(
            f"Diver {number}\n#######\n\n.. include:: shared-part.txt\n"
        )
    read = corpus.read_pages
    calls = []

    def read_and_edit(
        where: Path, items: list[tuple[str, Source]], roster: Roster
    ) -> list[corpus.PageRecord]:
        half = len(items) // 2
        first = read(where, items[:half], roster)
        if not calls:  # an editor saves the file in the middle of the first reading
            shared.write_text("A preamble.\n\nThe snorkel limit is 999 units.\n")
        calls.append(1)
        return first + read(where, items[half:], roster)

    monkeypatch.setattr(corpus, "read_pages", read_and_edit)
    bring_up(index, base)
    bring_up(index, base)
    assert index.disagreeing() == set()
    texts = {index.chunk(c.id).text for c in index.search(expression(["snorkel"]), 20)}
    assert len(texts) == 1 and "999" in texts.pop()


def test_one_index_a_checkout_in_the_users_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    files = []
    for name in ("a", "b"):
        top = tmp_path / name
        files.append(Workspace(top / "zephyr", top, (top / ".west" / "ask", cache)).index_files())
    assert files[0][0].name == files[1][0].name, "the same place in its workspace: it can be moved"
    assert files[0][1] != files[1][1], "but not one file for two checkouts"
