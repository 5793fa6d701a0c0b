# SPDX-License-Identifier: Apache-2.0
"""The nouns of a check: what is asked of a tree, and what is said of a text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from zephyr_ask.types import Change, Symbol

Status = Literal["unknown", "gone", "invalid"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A name, or a value, that this tree does not have."""

    file: str
    line: int  # 1-based
    column: int  # 1-based
    kind: str  # a mentions.MentionKind
    name: str  # as written: "CONFIG_LOG"
    status: Status
    message: str  # one line, without the place
    suggestions: tuple[str, ...] = ()  # as they are written, best first
    replacement: str | None = None  # as it is written; exists in this tree
    evidence: tuple[str, int] | None = None  # path, line of the release note that says so


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A name of which nothing can be known, and why."""

    file: str
    line: int
    column: int
    kind: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in one text."""

    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    checked: int = 0  # names that were decided, those with findings among them


@dataclass(frozen=True, slots=True)
class Own:
    """Names that the texts define themselves; see `own.own_names`."""

    options: frozenset[str] = frozenset()  # without CONFIG_
    compatibles: frozenset[str] = frozenset()
    boards: frozenset[str] = frozenset()
    shields: frozenset[str] = frozenset()
    snippets: frozenset[str] = frozenset()
    api: frozenset[str] = frozenset()
    headers: frozenset[str] = frozenset()  # base names


@dataclass(frozen=True, slots=True)
class Target:
    """What `west build -b` takes a board target for."""

    valid: bool
    targets: tuple[str, ...] = ()  # of the board, where that exists
    today: str | None = None  # today's target of a name that is gone
    evidence: tuple[str, int] | None = None


class Names(Protocol):
    """What a tree can be asked. Kinds are `types.SymbolKind`s, and "include" in `near`."""

    def defined(self, kind: str, name: str) -> Sequence[Symbol]:
        """Every definition; "kconfig" without the prefix, choices among them."""
        ...

    def near(self, kind: str, name: str, limit: int) -> Sequence[str]:
        """Names of the kind that `name` may have been meant to be, best first."""
        ...

    def became(self, kind: str, name: str) -> tuple[Change | None, str | None]:
        """What release notes say became of a name that is not defined, and what exists instead."""
        ...

    def mentioned(self, kind: str, name: str) -> tuple[str, int] | None:
        """(path, line) of a release note that speaks of such a name without saying that."""
        ...

    def has(self, what: str) -> bool:
        """Whether this tree has: "api" (headers), "kconfig", "binding", "board", "west", …: any
        symbol of the kind; "module:NAME": the module is checked out; "vendor:NAME": a vendor's
        prefix of compatibles; "property:NAME": a property of some binding; "path:…": a folder."""
        ...

    def absent(self, kind: str, name: str) -> str | None:
        """Why an undefined name may yet exist where more is checked out; None: it may not."""
        ...

    def header(self, path: str) -> bool | None:
        """Whether `#include <path>` finds a file; None: there are no headers here."""
        ...

    def target(self, written: str) -> Target | None:
        """A board target, qualifiers and revision included; None: no such board, old or new."""
        ...

    def properties(self, compatible: str) -> Collection[str] | None:
        """All properties of a compatible's bindings; None: there is none, or not all is known."""
        ...

    def token(self, token: str) -> bool:
        """Whether some compatible has this C form: nordic_nrf_uarte."""
        ...

    def claims(self, name: str, called: bool) -> bool:
        """Whether an undefined C name can only have been meant as Zephyr's."""
        ...


@dataclass
class Tally:
    """A Report in the making."""

    findings: list[Finding] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    checked: int = 0

    def report(self) -> Report:
        return Report(tuple(self.findings), tuple(self.not_checked), self.checked)
