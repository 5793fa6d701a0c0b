# SPDX-License-Identifier: Apache-2.0
"""The SQLite file that holds an index. The only module that speaks SQL.

Every page is keyed by its content, every chunk by what the encoder reads of it, every
vector by that and the model. Work is committed in steps of which each leaves a correct
index, so that a kill loses at most one of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zephyr_ask import table
from zephyr_ask.corpus import PageRecord, Snapshot, chunk_digest, settled, unpack
from zephyr_ask.table import Damaged
from zephyr_ask.tree import SOURCES
from zephyr_ask.types import KINDS, Chunk, IndexFailure, Kind
from zephyr_ask.workspace import Project, Stat

APPLICATION_ID = 0x57415349  # "WASI": a file with another one is not ours
SCHEMA_VERSION = 4
BUSY_MS = 120_000  # as long as another process may take for its first index, and more
# Column weights of BM25: a word in title or heading path names what the text is about. Between
# 1 and 8 the evaluation hardly moves.
BM25_WEIGHTS = (2.0, 2.0, 1.0)

_SCHEMA = (
    """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE snapshot(id INTEGER PRIMARY KEY CHECK (id = 1), paths TEXT, stats BLOB, token BLOB);
CREATE TABLE pages(id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INTEGER, mtime INTEGER,
    ctime INTEGER, digest BLOB, parser TEXT, title TEXT, note TEXT, source INTEGER);
CREATE TABLE uses(page INTEGER, path TEXT, digest BLOB, PRIMARY KEY (page, path)) WITHOUT ROWID;
CREATE INDEX uses_path ON uses(path);
CREATE TABLE includes(path TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, ctime INTEGER,
    digest BLOB) WITHOUT ROWID;
CREATE TABLE chunks(id INTEGER PRIMARY KEY, page INTEGER, kind INTEGER, file TEXT,
    start_line INTEGER, end_line INTEGER, heading TEXT, anchor TEXT, text BLOB, digest BLOB,
    signature INTEGER);
CREATE INDEX chunks_page ON chunks(page);
CREATE INDEX chunks_signature ON chunks(signature);
CREATE VIRTUAL TABLE fts USING fts5(title, heading, text, content='',
    tokenize="porter unicode61 remove_diacritics 2 tokenchars '_'");
CREATE VIRTUAL TABLE page_fts USING fts5(text, content='',
    tokenize="porter unicode61 remove_diacritics 2 tokenchars '_'");
CREATE TABLE models(id INTEGER PRIMARY KEY, hash TEXT UNIQUE);
CREATE TABLE vectors(model INTEGER, digest BLOB, vector BLOB, PRIMARY KEY (model, digest))
    WITHOUT ROWID;
"""
    + table.SCHEMA
)

Terms = tuple[str, str, str]  # of title, heading path and text, each separated by spaces
_ADD = "INSERT INTO fts(rowid, title, heading, text) VALUES (?, ?, ?, ?)"
_REMOVE = "INSERT INTO fts(fts, rowid, title, heading, text) VALUES ('delete', ?, ?, ?, ?)"
_ADD_PAGE = "INSERT INTO page_fts(rowid, text) VALUES (?, ?)"
_REMOVE_PAGE = "INSERT INTO page_fts(page_fts, rowid, text) VALUES ('delete', ?, ?)"


class Candidate(NamedTuple):  # not a dataclass: making one costs each start of the program 1 ms
    """A chunk that shares words with a question; its text is fetched later, if at all."""

    id: int
    page: str
    kind: Kind
    file: str
    start_line: int
    digest: bytes
    bm25: float  # higher is better; not scaled
    copies: int  # pages on which the same text stands, names and numbers aside
    title: str  # of the page


class Counts(NamedTuple):
    pages: int
    chunks: int
    vectors: int  # of the given model, for chunks of today
    bytes: int  # the file's size


class Index:
    """One open index file. `Damaged` and `IndexFailure` are the only errors it raises."""

    def __init__(self, path: Path | None) -> None:
        """Open, or make where there is none; None keeps it in memory.

        Raises Damaged for a file that is none of ours, IndexFailure where the file can
        be neither opened nor made.
        """
        self.path = path
        self.table = table.Table(self._rows, lambda *args: self._db.execute(*args))
        with _sqlite_errors(path):
            self._db = sqlite3.connect(
                ":memory:" if path is None else str(path),
                timeout=BUSY_MS / 1000,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise

    def _open(self) -> None:
        db = self._db
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
        if self._pragma("application_id") == 0 and self._pragma("user_version") == 0:
            db.execute("BEGIN IMMEDIATE")
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                if self._pragma("application_id") == 0:
                    raise Damaged("a database of some other program")
                db.execute("COMMIT")  # another process made it in between
            else:
                for statement in _SCHEMA.split(";\n"):
                    if statement.strip():
                        db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                db.execute("COMMIT")
        if self._pragma("application_id") != APPLICATION_ID:
            raise Damaged("a database of some other program")
        if self._pragma("user_version") != SCHEMA_VERSION:
            raise Damaged("an index of another version of west ask")

    def _pragma(self, name: str) -> int:
        return int(self._db.execute(f"PRAGMA {name}").fetchone()[0])

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that is committed at the end and undone by any exception."""
        with _sqlite_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read inside comes from one state of the index."""
        with _sqlite_errors(self.path):
            self._db.execute("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("COMMIT")

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with _sqlite_errors(self.path):
            return self._db.execute(sql, parameters).fetchall()

    # --- meta and snapshot

    def meta(self) -> dict[str, Any]:
        return dict(self._rows("SELECT key, value FROM meta"))

    def set_meta(self, **values: Any) -> None:
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def projects(self) -> tuple[Project, ...]:
        """The other projects that the index was last made of."""
        try:
            rows = json.loads(self.meta().get("projects") or "[]")
            return tuple(Project(row[0], row[1], tuple(row[2]), row[3]) for row in rows)
        except (ValueError, TypeError, IndexError) as error:
            raise Damaged(f"the list of projects: {error}") from error

    def snapshot(self) -> Snapshot | None:
        rows = self._rows("SELECT paths, stats FROM snapshot")
        if not rows:
            return None
        try:
            return Snapshot.from_bytes(*rows[0])
        except (ValueError, TypeError, AttributeError) as error:
            raise Damaged(str(error)) from error

    def set_snapshot(self, snapshot: Snapshot | None) -> None:
        self._db.execute("DELETE FROM snapshot")
        if snapshot is not None:
            self._db.execute(
                "INSERT INTO snapshot VALUES (1, ?, ?, ?)", (*snapshot.to_bytes(), os.urandom(16))
            )

    def snapshot_token(self) -> bytes:
        """Tells this snapshot from any other; b"" where there is none."""
        rows = self._rows("SELECT token FROM snapshot")
        return bytes(rows[0][0]) if rows else b""

    # --- pages

    def pages(self) -> dict[str, tuple[int, int, int, bytes, str, int]]:
        """path → size, mtime, ctime, digest, fingerprint of what read it, its source."""
        rows = self._rows("SELECT path, size, mtime, ctime, digest, parser, source FROM pages")
        return {row[0]: row[1:] for row in rows}

    def includes(self) -> dict[str, tuple[int, int, int, bytes | None]]:
        rows = self._rows("SELECT path, size, mtime, ctime, digest FROM includes")
        return {row[0]: row[1:] for row in rows}

    def users_of(self, paths: Iterable[str]) -> set[str]:
        """Pages that include any of `paths`."""
        sql = "SELECT p.path FROM uses u JOIN pages p ON p.id = u.page WHERE u.path = ?"
        return {row[0] for path in paths for row in self._rows(sql, (path,))}

    def users_of_names(self, names: Iterable[str]) -> set[str]:
        """Files that use, or looked for, a file of one of these names in any folder."""
        sql = """SELECT p.path FROM uses u JOIN pages p ON p.id = u.page
                 WHERE u.path LIKE '%/' || ? ESCAPE '\\'"""
        found: set[str] = set()
        for name in names:
            escaped = re.sub(r"([%_\\])", r"\\\1", name)
            found.update(row[0] for row in self._rows(sql, (escaped,)))
        return found

    def disagreeing(self) -> set[str]:
        """Pages that were read with another content of an included file than the last page that
        includes it: the file changed while pages were read."""
        sql = """SELECT p.path FROM uses u JOIN includes i ON i.path = u.path
                 JOIN pages p ON p.id = u.page WHERE u.digest IS NOT i.digest"""
        return {row[0] for row in self._rows(sql)}

    def notes(self) -> list[str]:
        """What could not be read or parsed, a line each."""
        return [
            r[0] for r in self._rows("SELECT note FROM pages WHERE note NOT NULL ORDER BY path")
        ]

    def put(self, record: PageRecord, parser: str, now: int) -> None:
        """Store a page in place of what was there of it. Inside `writing`.

        `now` (ns): before the page was read; a younger file is read again the next time.
        """
        self.delete(record.path)
        size, mtime, ctime = settled(record.status, now)
        page = self._db.execute(
            "INSERT INTO pages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.path,
                size,
                mtime,
                ctime,
                record.digest,
                parser,
                record.title,
                record.note,
                SOURCES.index(record.source),
            ),
        ).lastrowid
        assert page is not None
        for path, status, digest in record.used:
            self._db.execute("INSERT OR REPLACE INTO uses VALUES (?, ?, ?)", (page, path, digest))
            self._db.execute("INSERT OR REPLACE INTO includes VALUES (?, ?, ?, ?, ?)",
                             (path, *settled(status, now), digest))  # fmt: skip
        for entry in record.chunks:
            row = self._db.execute(
                "INSERT INTO chunks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (page, *entry[:9]),
            ).lastrowid
            self._db.execute(_ADD, (row, *entry.terms))
        if record.source == "page":
            self._db.execute(
                _ADD_PAGE, (page, _page_terms([entry.terms for entry in record.chunks]))
            )
        self.table.put(page, record.listed)

    def touch(self, table: str, path: str, status: Stat, now: int) -> None:
        """A file of `table` ("pages", "includes") has a new stat and its old content."""
        self._db.execute(f"UPDATE {table} SET size = ?, mtime = ?, ctime = ? WHERE path = ?",
                         (*settled(status, now), path))  # fmt: skip

    def delete(self, path: str) -> None:
        """Forget a page. Inside `writing`."""
        found = self._db.execute("SELECT id, source FROM pages WHERE path = ?", (path,)).fetchone()
        if found is None:
            return
        row, source = found[:1], SOURCES[found[1]]
        self.table.delete(found[0])
        stored = list(self._stored_terms("WHERE c.page = ?", row))
        for chunk_id, _, terms in stored:
            self._db.execute(_REMOVE, (chunk_id, *terms))
        if source == "page":
            self._db.execute(_REMOVE_PAGE, (*row, _page_terms([terms for *_, terms in stored])))
        self._db.execute("DELETE FROM chunks WHERE page = ?", row)
        self._db.execute("DELETE FROM uses WHERE page = ?", row)
        self._db.execute("DELETE FROM pages WHERE id = ?", row)

    def _stored_terms(
        self, where: str, parameters: Sequence[Any] = ()
    ) -> Iterator[tuple[int, int, Terms]]:
        """(chunk, page, terms) in page order: what was given to FTS5, which keeps no copy,
        and a deletion must repeat."""
        from zephyr_ask.analyzer import terms

        rows = self._rows(
            "SELECT c.id, c.page, p.title, c.heading, c.text FROM chunks c "
            f"JOIN pages p ON p.id = c.page {where} ORDER BY c.page, c.id",
            parameters,
        )
        for chunk_id, page, title, heading, text in rows:
            parts = (title, " ".join(_heading(heading)), _unpack(text))
            first, second, third = (" ".join(terms(part)) for part in parts)
            yield chunk_id, page, (first, second, third)

    def forget_unused_includes(self) -> None:
        self._db.execute("DELETE FROM includes WHERE path NOT IN (SELECT path FROM uses)")

    def analyse_again(self, progress: Callable[[int, int], None]) -> None:
        """Make the full-text part anew from the stored chunks. Inside `writing`."""
        for name in ("fts", "page_fts"):
            self._db.execute(f"INSERT INTO {name}({name}) VALUES ('delete-all')")
        total = self._rows("SELECT count(*) FROM chunks")[0][0]
        pages: dict[int, list[Terms]] = {
            row[0]: [] for row in self._rows("SELECT id FROM pages WHERE source = 0 ORDER BY id")
        }
        for done, (chunk_id, page, terms) in enumerate(self._stored_terms(""), 1):
            self._db.execute(_ADD, (chunk_id, *terms))
            pages[page].append(terms)
            if done % 500 == 0 or done == total:
                progress(done, total)
        self._db.executemany(_ADD_PAGE, [(p, _page_terms(found)) for p, found in pages.items()])
        self.table.analyse_again()

    def clear(self) -> None:
        """Forget every page, keeping vectors. Inside `writing`."""
        for name in ("fts", "page_fts"):
            self._db.execute(f"INSERT INTO {name}({name}) VALUES ('delete-all')")
        for name in ("chunks", "uses", "includes", "pages", "snapshot"):
            self._db.execute(f"DELETE FROM {name}")
        self.table.clear()

    # --- search

    def search(self, match: str, limit: int, kinds: Sequence[Kind] = ()) -> list[Candidate]:
        """Chunks that match an FTS5 expression, best BM25 first, `copies` counted."""
        weights = ", ".join(str(w) for w in BM25_WEIGHTS)
        sql = f"SELECT rowid AS id, bm25(fts, {weights}) AS score FROM fts WHERE fts MATCH ?"
        if kinds:
            marks = ", ".join(str(KINDS.index(kind)) for kind in kinds)
            sql += f" AND rowid IN (SELECT id FROM chunks WHERE kind IN ({marks}))"
        sql = f"""SELECT c.id, p.path, c.kind, c.file, c.start_line, c.digest, -f.score,
                  (SELECT count(DISTINCT o.page) FROM chunks o
                   WHERE o.signature = c.signature), p.title
                  FROM ({sql} ORDER BY score LIMIT ?) f JOIN chunks c ON c.id = f.id
                  JOIN pages p ON p.id = c.page"""
        found = [
            Candidate(row[0], row[1], KINDS[row[2]], *row[3:])
            for row in self._rows(sql, (match, limit))
        ]
        return sorted(found, key=lambda c: (-c.bm25, c.file, c.start_line, c.page))

    def page_scores(self, match: str, limit: int) -> dict[str, float]:
        """Page → BM25 of its whole text, of the `limit` best; higher is better."""
        sql = """SELECT p.path, -f.score FROM (SELECT rowid AS id, bm25(page_fts) AS score
                 FROM page_fts WHERE page_fts MATCH ? ORDER BY score LIMIT ?) f
                 JOIN pages p ON p.id = f.id"""
        return dict(self._rows(sql, (match, limit)))

    def holders(self, term: str, limit: int) -> list[int]:
        """Chunks that hold a term (after stemming), at most `limit`, in no order."""
        sql = "SELECT rowid FROM fts WHERE fts MATCH ? LIMIT ?"
        return [row[0] for row in self._rows(sql, (_quoted(term), limit))]

    def hold(self, term: str, ids: Sequence[int]) -> bool:
        """Whether any of the chunks `ids` holds a term (after stemming)."""
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT 1 FROM fts WHERE fts MATCH ? AND rowid IN ({marks}) LIMIT 1"
        return bool(self._rows(sql, (_quoted(term), *ids)))

    def chunk_count(self) -> int:
        return int(self._rows("SELECT count(*) FROM chunks")[0][0])

    def frequency(self, term: str) -> int:
        """Number of chunks that hold a term (after stemming)."""
        return int(self._rows("SELECT count(*) FROM fts WHERE fts MATCH ?", (_quoted(term),))[0][0])

    def chunk(self, chunk_id: int) -> Chunk:
        """Raises Damaged if the stored chunk is not what was stored."""
        rows = self._rows(
            "SELECT c.file, c.start_line, c.end_line, p.path, p.title, c.heading, c.anchor, c.kind,"
            " c.text, c.digest FROM chunks c JOIN pages p ON p.id = c.page WHERE c.id = ?",
            (chunk_id,),
        )
        if not rows:
            raise Damaged(f"chunk {chunk_id} is gone")
        file, start, end, page, title, heading, anchor, kind, text, digest = rows[0]
        chunk = Chunk(file, start, end, page, title, _heading(heading), anchor, KINDS[kind],
                      _unpack(text))  # fmt: skip
        if chunk_digest(chunk) != digest:
            raise Damaged(f"chunk {chunk_id} is not what was stored")
        return chunk

    def file_digest(self, page: str, path: str) -> bytes | None:
        """Digest of the bytes of `path` when `page` was made of it."""
        if path == page:
            rows = self._rows("SELECT digest FROM pages WHERE path = ?", (page,))
        else:
            rows = self._rows(
                "SELECT u.digest FROM uses u JOIN pages p ON p.id = u.page "
                "WHERE p.path = ? AND u.path = ?",
                (page, path),
            )
        return bytes(rows[0][0]) if rows and rows[0][0] is not None else None

    def page_paths(self) -> list[str]:
        """Of every file of the zephyr tree that is indexed."""
        return [row[0] for row in self._rows("SELECT path FROM pages WHERE path NOT LIKE '../%'")]

    # --- vectors

    def model_id(self, model_hash: str) -> int | None:
        rows = self._rows("SELECT id FROM models WHERE hash = ?", (model_hash,))
        return rows[0][0] if rows else None

    def vectors(self, model_hash: str, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """Digest → float16 vector as bytes, of those that are there."""
        model = self.model_id(model_hash)
        if model is None:
            return {}
        sql = "SELECT vector FROM vectors WHERE model = ? AND digest = ?"
        found = {d: self._rows(sql, (model, d)) for d in digests}
        return {d: bytes(rows[0][0]) for d, rows in found.items() if rows}

    def all_vectors(self, model_hash: str) -> list[tuple[str, bytes]]:
        """(page, float16 vector) of every chunk that has one."""
        return self._rows(
            "SELECT p.path, v.vector FROM chunks c JOIN pages p ON p.id = c.page "
            "JOIN vectors v ON v.digest = c.digest AND v.model = ? ORDER BY c.id",
            (self.model_id(model_hash) or -1,),
        )

    def missing(self, model_hash: str) -> list[tuple[bytes, int]]:
        """(digest, a chunk's id) of every chunk of today without a vector."""
        model = self.model_id(model_hash) or -1
        return self._rows(
            "SELECT c.digest, min(c.id) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM vectors v "
            "WHERE v.model = ? AND v.digest = c.digest) GROUP BY c.digest ORDER BY min(c.id)",
            (model,),
        )

    def put_vectors(self, model_hash: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Inside `writing`."""
        self._db.execute("INSERT OR IGNORE INTO models(hash) VALUES (?)", (model_hash,))
        model = self.model_id(model_hash)
        self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                             [(model, digest, vector) for digest, vector in vectors])  # fmt: skip

    def drop_vectors(self, keep: str | None = None) -> None:
        """Forget vectors: all, or those of other models than `keep` and of chunks that are
        gone. Inside `writing`."""
        if keep is None:
            self._db.execute("DELETE FROM vectors")
            return
        model = self.model_id(keep) or -1
        self._db.execute(
            "DELETE FROM vectors WHERE model != ? OR digest NOT IN (SELECT digest FROM chunks)",
            (model,),
        )

    # --- status

    def counts(self, model_hash: str | None) -> Counts:
        pages = self._rows("SELECT count(*) FROM pages WHERE source = 0")[0][0]
        chunks = self._rows("SELECT count(*) FROM chunks")[0][0]
        model = self.model_id(model_hash) if model_hash else None
        vectors = self._rows(
            "SELECT count(*) FROM chunks c JOIN vectors v ON v.digest = c.digest AND v.model = ?",
            (model if model is not None else -1,),
        )[0][0]
        size = self._pragma("page_count") * self._pragma("page_size")
        return Counts(pages, chunks, vectors, size)

    def check(self) -> list[str]:
        """What is wrong with the file, a line each; all of it is read."""
        try:
            wrong = [r[0] for r in self._rows("PRAGMA integrity_check") if r[0] != "ok"]
            with self.writing():
                for name in ("fts", "page_fts", "symbol_fts"):
                    self._db.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
            for row in self._rows("SELECT id FROM chunks"):
                self.chunk(row[0])
        except Damaged as error:
            return [str(error)]
        return wrong

    def vacuum(self) -> None:
        with _sqlite_errors(self.path):
            for name in ("fts", "page_fts", "symbol_fts"):
                self._db.execute(f"INSERT INTO {name}({name}) VALUES ('optimize')")
            self._db.execute("VACUUM")


def _page_terms(chunks: Sequence[Terms]) -> str:
    """Of a whole page: its title once, each run of chunks' heading once, all texts."""
    parts = [chunks[0][0]] if chunks else []
    heading = None
    for _, above, text in chunks:
        if above != heading:
            parts.append(above)
            heading = above
        parts.append(text)
    return " ".join(parts)


def _quoted(term: str) -> str:
    """A term as an FTS5 string: nothing in it is syntax."""
    return '"' + term.replace('"', "") + '"'


def _unpack(data: bytes) -> str:
    try:
        return unpack(data)
    except ValueError as error:
        raise Damaged(f"a chunk's text cannot be read: {error}") from error


def _heading(text: str) -> tuple[str, ...]:
    try:
        return tuple(str(part) for part in json.loads(text))
    except (ValueError, TypeError) as error:
        raise Damaged(f"a heading cannot be read: {error}") from error


@contextlib.contextmanager
def _sqlite_errors(path: Path | None) -> Iterator[None]:
    """sqlite3's errors → Damaged (make the file anew) or IndexFailure (nothing helps here)."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", "") or ""
        text = str(error)
        full = "full" in text or code.startswith(("SQLITE_FULL", "SQLITE_IOERR"))
        if full or "unable to open" in text or "readonly" in text or "disk I/O" in text:
            raise IndexFailure(
                f"cannot write the index {path}: {text}",
                "free some room there, or make the folder writable",
            ) from error
        if "locked" in text:
            raise IndexFailure(
                f"the index {path} is in use by another west ask", "try again when it has finished"
            ) from error
        raise Damaged(text) from error


def remove(path: Path) -> None:
    """Take a damaged index out of the way, with its journal; OSError if that fails."""
    for name in (path, path.with_name(path.name + "-journal")):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
