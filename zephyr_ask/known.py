# SPDX-License-Identifier: Apache-2.0
"""What a tree knows of names: the symbol table, and the names that follow from it by rule."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import cast

from zephyr_ask.elsewhere import may_define
from zephyr_ask.nearest import Lexicon, suggest
from zephyr_ask.report import Target
from zephyr_ask.sources import api_names, bindings, hardware_targets
from zephyr_ask.symbols import Catalog
from zephyr_ask.table import Table
from zephyr_ask.types import SYMBOL_KINDS, Change, Symbol, SymbolKind
from zephyr_ask.workspace import Workspace

_MODULE = re.compile(r"ZEPHYR_\w+_MODULE(?:_BLOBS)?")
_TREE_HEADERS = ("include", "subsys/testsuite/include", "subsys/testsuite/ztest/include",
                 "subsys/testsuite/ztest/unittest/include")  # fmt: skip


class TreeNames:
    """`report.Names` of one open index."""

    def __init__(self, table: Table, workspace: Workspace) -> None:
        self._table = table
        self._base = Path(workspace.base)
        self._projects = workspace.projects
        self.catalog = Catalog(table)
        self.defined = lru_cache(maxsize=20_000)(self._defined)

    def _defined(self, kind: str, name: str) -> Sequence[Symbol]:
        return self.catalog.definitions(name, cast("SymbolKind", kind))

    # --- what is not defined

    def near(self, kind: str, name: str, limit: int) -> Sequence[str]:
        if kind == "include":
            return suggest(name, self._header_names, limit)
        if kind == "west":
            names = [
                *self._table.names("west").split("\n"),
                *(s.name for s in self.catalog.builtin),
            ]
            return suggest(name, names, limit)
        if kind not in SYMBOL_KINDS:
            return []
        return self.catalog.near(name, kind, limit)

    def became(self, kind: str, name: str) -> tuple[Change | None, str | None]:
        if kind not in SYMBOL_KINDS:
            return None, None
        return self.catalog.became(name, kind)

    def mentioned(self, kind: str, name: str) -> tuple[str, int] | None:
        if kind not in SYMBOL_KINDS:
            return None
        found = self._table.spoken(name, kind)
        return found[0] if found else None

    def has(self, what: str) -> bool:
        kind, _, name = what.partition(":")
        if kind == "module":
            return any(name in (p.name, posixpath.basename(p.path)) for p in self._projects)
        if kind == "vendor":
            return f"\n{name}," in self._compatibles
        if kind == "property":
            return any(
                name in bindings.properties(s.details) for s in self._table.of_kind("binding")
            )
        if kind == "path":
            return self._inside(name)
        return kind in self._kinds

    def _inside(self, name: str) -> bool:
        place = posixpath.normpath(name)
        return not place.startswith(("/", "..")) and (self._base / place).exists()

    @cached_property
    def _kinds(self) -> Collection[str]:
        return self._table.kinds()

    @cached_property
    def _compatibles(self) -> str:
        return "\n" + self._table.names("binding") + "\n"

    def absent(self, kind: str, name: str) -> str | None:
        if kind == "kconfig":
            if _MODULE.fullmatch(name):
                return "made for a module that is not checked out"
            missing = next((path for path in self._unread if may_define(path, name)), None)
            return f"may be defined by {missing}, which is not there" if missing else None
        if kind == "west":
            project = next((p for p in self._projects_with_commands if name in p), None)
            return f"may be a command of {project}, which is not checked out" if project else None
        if kind == "api":
            longer = re.compile(rf"^{re.escape(name)}_", re.MULTILINE)
            if longer.search(self._api_names):
                return "the beginning of longer names"
        return None

    @cached_property
    def _projects_with_commands(self) -> Sequence[str]:
        """Projects of Zephyr's manifest that bring west commands and are not checked out."""
        try:
            text = (self._base / "west.yml").read_text("utf-8", "replace")
        except OSError:
            return []
        blocks = re.split(r"^[ \t]*- name:[ \t]*", text, flags=re.MULTILINE)[1:]
        names = [block.split(None, 1)[0] for block in blocks if "west-commands:" in block]
        return [name for name in names if not self.has(f"module:{name}")]

    @cached_property
    def _unread(self) -> Sequence[str]:
        """Kconfig files that others source and that are not there."""
        base = f"{self._base}{os.sep}"
        return [
            target
            for target in self._table.missing_targets()
            if "$" not in target
            and not set("*?[") & set(target)
            and not os.path.exists(f"{base}{target}")
        ]

    @cached_property
    def _api_names(self) -> str:
        return self._table.names("api")

    # --- headers, boards, bindings

    @cached_property
    def _header_names(self) -> Lexicon:
        return Lexicon(
            path.partition("include/")[2] for path in self._table.headers() if "include/" in path
        )

    def header(self, path: str) -> bool | None:
        if ".." in path.split("/"):
            return False
        if any((self._base / folder / path).is_file() for folder in _TREE_HEADERS):
            return True
        if not (self._base / "include" / "zephyr").is_dir():
            return None
        return any(
            (self._base / project.path / folder / path).is_file()
            for project in self._projects
            for folder in ("include", "zephyr/include")
        )

    def target(self, written: str) -> Target | None:
        board = re.split(r"[@/]", written)[0]
        if hardware_targets.full_target(written, self.catalog.boards) is not None:
            return Target(True)
        if board in self.catalog.boards:
            return Target(False, tuple(self.catalog.boards[board]))
        change, instead = self.catalog.became(written, "board")
        if change is not None and change.replacements:
            today = instead or change.replacements[0]
            if hardware_targets.full_target(today, self.catalog.boards) is not None:
                return Target(False, (), today, (change.path, change.line))
        today = hardware_targets.old_board_name(written, self.catalog.boards) or ""
        return Target(False, (), today) if today else None

    def properties(self, compatible: str) -> Collection[str] | None:
        symbols = self.defined("binding", compatible)
        if not symbols or any(self._table.looks_in_vain(symbol.path) for symbol in symbols):
            return None
        known: set[str] = set()
        for symbol in symbols:
            known.update(bindings.properties(symbol.details))
        return known

    def token(self, token: str) -> bool:
        return token.lower() in self._tokens

    @cached_property
    def _tokens(self) -> Collection[str]:
        names = re.sub(r"[^\w\n]", "_", self._compatibles.lower())
        return frozenset(names.split("\n"))

    def claims(self, name: str, called: bool) -> bool:
        return api_names.claims_to_be_api(name, called)
