# SPDX-License-Identifier: Apache-2.0
"""The symbol table: the part of the index that holds what files define. Speaks SQL, as
`index.py` does, whose transactions and errors it uses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

from zephyr_ask.listing import Listed, symbol_terms, unpack
from zephyr_ask.types import SYMBOL_KINDS, Change, Symbol, SymbolKind

SCHEMA = """
CREATE TABLE symbols(id INTEGER PRIMARY KEY, page INTEGER, kind INTEGER, name TEXT, path TEXT,
    line INTEGER, end_line INTEGER, summary TEXT, data BLOB);
CREATE INDEX symbols_page ON symbols(page);
CREATE INDEX symbols_kind ON symbols(kind);
CREATE INDEX symbols_name ON symbols(name COLLATE NOCASE);
CREATE VIRTUAL TABLE symbol_fts USING fts5(kind, name, text, content='',
    tokenize="porter unicode61 remove_diacritics 2 tokenchars '_'");
CREATE TABLE changes(page INTEGER, kind INTEGER, name TEXT, became TEXT, version TEXT,
    replacements TEXT, line INTEGER);
CREATE INDEX changes_page ON changes(page);
CREATE INDEX changes_name ON changes(name COLLATE NOCASE);
CREATE TABLE spoken(page INTEGER, kind INTEGER, name TEXT, line INTEGER);
CREATE INDEX spoken_page ON spoken(page);
CREATE INDEX spoken_name ON spoken(name COLLATE NOCASE);
CREATE TABLE links(page INTEGER, target TEXT, data TEXT);
CREATE INDEX links_page ON links(page);
CREATE INDEX links_target ON links(target);
CREATE INDEX links_globs ON links(target) WHERE target GLOB '*[*?[]*';
"""
TABLES = ("symbols", "changes", "spoken", "links")
_ADD = "INSERT INTO symbol_fts(rowid, kind, name, text) VALUES (?, ?, ?, ?)"
_REMOVE = ("INSERT INTO symbol_fts(symbol_fts, rowid, kind, name, text) "
           "VALUES ('delete', ?, ?, ?, ?)")  # fmt: skip
# A word in a name says what it is about; in a help text it may stand for many reasons.
BM25_WEIGHTS = (0.0, 2.0, 1.0)
_SYMBOL = ("SELECT s.id, s.name, s.kind, coalesce(s.path, p.path), s.line, s.end_line, s.summary,"
           " s.data FROM symbols s JOIN pages p ON p.id = s.page ")  # fmt: skip

Rows = Callable[..., "list[Any]"]


class Entry(NamedTuple):
    """A symbol that shares words with a question."""

    id: int
    symbol: Symbol
    bm25: float  # higher is better; not scaled


class Damaged(Exception):
    """The file is not, or no longer, an index of this program: make it anew."""


class Table:
    """The symbols of an open index. `rows` runs a query; `execute` a statement, inside a
    transaction of the index."""

    def __init__(self, rows: Rows, execute: Callable[..., Any]) -> None:
        self._rows = rows
        self._execute = execute

    # --- writing

    def put(self, page: int, listed: Listed) -> None:
        for symbol in listed.symbols:
            row = self._execute(
                "INSERT INTO symbols VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", (page, *symbol[:7])
            ).lastrowid
            if symbol.terms[1]:  # by its name alone a symbol is looked up, not searched for
                self._execute(_ADD, (row, f"k{symbol.kind}", *symbol.terms))
        for change in listed.changes:
            kind = SYMBOL_KINDS.index(change.kind)
            self._execute(
                "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?)",
                (page, kind, change.name, change.became, change.version,
                 json.dumps(change.replacements), change.line),
            )  # fmt: skip
        for spoken, name, line in listed.spoken:
            kind = SYMBOL_KINDS.index(cast("SymbolKind", spoken))
            self._execute("INSERT INTO spoken VALUES (?, ?, ?, ?)", (page, kind, name, line))
        for link in listed.links:
            target = link.get("to", "") if isinstance(link, dict) else ""
            self._execute("INSERT INTO links VALUES (?, ?, ?)", (page, target, json.dumps(link)))

    def delete(self, page: int) -> None:
        for symbol_id, kind, terms in self._stored_terms("WHERE s.page = ?", (page,)):
            self._execute(_REMOVE, (symbol_id, kind, *terms))
        for table in TABLES:
            self._execute(f"DELETE FROM {table} WHERE page = ?", (page,))

    def clear(self) -> None:
        self._execute("INSERT INTO symbol_fts(symbol_fts) VALUES ('delete-all')")
        for table in TABLES:
            self._execute(f"DELETE FROM {table}")

    def analyse_again(self) -> None:
        self._execute("INSERT INTO symbol_fts(symbol_fts) VALUES ('delete-all')")
        for symbol_id, kind, terms in self._stored_terms("", ()):
            self._execute(_ADD, (symbol_id, kind, *terms))

    def _stored_terms(
        self, where: str, parameters: Sequence[Any]
    ) -> Iterable[tuple[int, str, tuple[str, str]]]:
        for row in self._rows(_SYMBOL + where, parameters):
            symbol = _symbol(row)
            terms = symbol_terms(symbol.name, symbol.summary, symbol.text)
            if terms[1]:
                yield row[0], f"k{row[2]}", terms

    # --- reading

    def defined(self, name: str, kind: SymbolKind) -> list[Symbol]:
        """Every definition of a name, exactly as written, in the order of the files' paths."""
        return [symbol for symbol in self.like(name, kind) if symbol.name == name]

    def like(self, name: str, kind: SymbolKind) -> list[Symbol]:
        """The same, whatever the case."""
        # +: found by the name, which is rare, not by the kind.
        sql = "WHERE s.name = ? COLLATE NOCASE AND +s.kind = ? ORDER BY p.path, s.line"
        found = self._rows(_SYMBOL + sql, (name, SYMBOL_KINDS.index(kind)))
        return [_symbol(row) for row in found]

    def symbol(self, symbol_id: int) -> Symbol:
        """Raises Damaged if it is not there."""
        rows = self._rows(_SYMBOL + "WHERE s.id = ?", (symbol_id,))
        if not rows:
            raise Damaged(f"symbol {symbol_id} is gone")
        return _symbol(rows[0])

    def exists(self, name: str, kind: SymbolKind) -> bool:
        sql = (
            "SELECT 1 FROM symbols WHERE name = ? COLLATE NOCASE AND name = ? AND +kind = ? LIMIT 1"
        )
        return bool(self._rows(sql, (name, name, SYMBOL_KINDS.index(kind))))

    def bindings_of_part(self, part: str, limit: int) -> list[str]:
        """Compatibles of a chip that is named without its vendor: bma280, TCA9548A."""
        name = re.sub(r"[^a-z0-9-]", "", part.lower())
        sql = """SELECT DISTINCT name FROM symbols
                 WHERE kind = ? AND (name LIKE ? OR name LIKE ? OR name LIKE ?)
                 ORDER BY length(name), name LIMIT ?"""
        forms = (f"%,{name}", f"%,{name}-i2c", f"%,{name}-spi")
        kind = SYMBOL_KINDS.index("binding")
        return [row[0] for row in self._rows(sql, (kind, *forms, limit))] if name else []

    def of_kind(self, kind: SymbolKind) -> list[Symbol]:
        return [_symbol(row) for row in self._rows(_SYMBOL + "WHERE s.kind = ?",
                                                   (SYMBOL_KINDS.index(kind),))]  # fmt: skip

    def names(self, kind: SymbolKind) -> str:
        """All names of a kind, each once, one a line."""
        sql = """SELECT group_concat(name, char(10)) FROM
                 (SELECT DISTINCT name FROM symbols WHERE kind = ?)"""
        return str(self._rows(sql, (SYMBOL_KINDS.index(kind),))[0][0] or "")

    def search(self, match: str, kind: SymbolKind, limit: int) -> list[Entry]:
        """Symbols of a kind that match an FTS5 expression over {name text}, best first."""
        weights = ", ".join(str(w) for w in BM25_WEIGHTS)
        sql = f"""SELECT rowid AS id, bm25(symbol_fts, {weights}) AS score FROM symbol_fts
                  WHERE symbol_fts MATCH ? ORDER BY score, rowid LIMIT ?"""
        expression = f"kind : k{SYMBOL_KINDS.index(kind)} AND {{name text}} : ({match})"
        found = self._rows(
            _SYMBOL.replace("s.data", "s.data, -f.score")
            + f"JOIN ({sql}) f ON f.id = s.id ORDER BY f.score, p.path, s.line",
            (expression, limit),
        )
        return [Entry(row[0], _symbol(row), row[8]) for row in found]

    def changes(self, name: str, kind: SymbolKind) -> list[Change]:
        """What release notes and migration guides say became of a name, newest first."""
        sql = """SELECT c.became, c.version, c.replacements, p.path, c.line FROM changes c
                 JOIN pages p ON p.id = c.page WHERE c.name = ? AND c.kind = ?"""
        found = [
            Change(name, kind, row[0], row[1], tuple(json.loads(row[2])), row[3], row[4])
            for row in self._rows(sql, (name, SYMBOL_KINDS.index(kind)))
        ]
        return sorted(found, key=lambda c: ([-int(n) for n in c.version.split(".") if n.isdigit()],
                                            "migration" not in c.path, c.line))  # fmt: skip

    def spoken(self, name: str, kind: SymbolKind) -> list[tuple[str, int]]:
        """(path, line) of release notes that name it."""
        sql = """SELECT p.path, s.line FROM spoken s JOIN pages p ON p.id = s.page
                 WHERE s.name = ? AND s.kind = ? ORDER BY p.path DESC, s.line"""
        return [(row[0], row[1]) for row in self._rows(sql, (name, SYMBOL_KINDS.index(kind)))]

    def links_to(self, path: str) -> list[tuple[str, dict[str, Any]]]:
        """(file, link) of every Kconfig file that sources `path`."""
        # Two halves, each with an index of its own; joined by OR they read every link there is.
        sql = """SELECT p.path, l.data, l.target FROM links l JOIN pages p ON p.id = l.page
                 WHERE l.target = ?
                 UNION ALL
                 SELECT p.path, l.data, l.target
                 FROM links l INDEXED BY links_globs JOIN pages p ON p.id = l.page
                 WHERE l.target GLOB '*[*?[]*' AND l.target <> ? AND ? GLOB l.target
                 ORDER BY 1"""
        return [
            (row[0], json.loads(row[1]))
            for row in self._rows(sql, (path, path, path))
            if row[2].count("/") == path.count("/")  # GLOB's * is any text, Kconfig's has no /
        ]

    def missing_targets(self) -> list[str]:
        """Every Kconfig file that some file sources and that is not itself indexed."""
        sql = """SELECT DISTINCT target FROM links
                 WHERE target NOT IN (SELECT path FROM pages) ORDER BY target"""
        return [row[0] for row in self._rows(sql)]

    def looks_in_vain(self, path: str) -> bool:
        """Whether a file uses one that is nowhere; see `listing._binding`."""
        sql = """SELECT 1 FROM uses u JOIN pages p ON p.id = u.page
                 WHERE p.path = ? AND u.path LIKE '?/%' LIMIT 1"""
        return bool(self._rows(sql, (path,)))

    def headers(self) -> list[str]:
        """Paths of the C headers that are indexed."""
        return [r[0] for r in self._rows("SELECT path FROM pages WHERE path LIKE '%.h'")]

    def kinds(self) -> set[str]:
        """The kinds of which the tree defines any name."""
        sql = "SELECT EXISTS(SELECT 1 FROM symbols WHERE kind = ?)"
        return {kind for at, kind in enumerate(SYMBOL_KINDS) if self._rows(sql, (at,))[0][0]}

    def counts(self) -> dict[str, int]:
        sql = "SELECT kind, count(DISTINCT name) FROM symbols GROUP BY kind"
        return {SYMBOL_KINDS[row[0]]: row[1] for row in self._rows(sql)}


def _symbol(row: Sequence[Any]) -> Symbol:
    try:
        text, details = unpack(row[7])
        return Symbol(row[1], SYMBOL_KINDS[row[2]], row[3], row[4], row[5], row[6], text, details)
    except (ValueError, TypeError, IndexError) as error:
        raise Damaged(f"symbol {row[0]} is not what was stored: {error}") from error
