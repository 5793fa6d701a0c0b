# SPDX-License-Identifier: Apache-2.0
"""The nouns of this program, in the order in which data flows, and its errors.

Everything here is a frozen value. Lines are 1-based and inclusive; paths are POSIX
and relative to the zephyr folder; scores lie in [0, 1] and higher is nearer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Kind = Literal["doc", "samples", "boards", "releases", "kconfig", "bindings", "api"]
KINDS: tuple[Kind, ...] = ("doc", "samples", "boards", "releases", "kconfig", "bindings", "api")

BlockKind = Literal["prose", "code", "row", "item"]

# A chunk's text. MiniLM reads 256 word pieces, about 1,000 characters of prose; at 1,600 the
# tail is read by the words' ranking only, and a section stays whole more often.
CHUNK_CHARS = 1600


@dataclass(frozen=True, slots=True)
class Revision:
    """Which Zephyr the answers come from; what git cannot tell is None."""

    version: str  # "4.1.99", from the VERSION file
    commit: str | None  # full hash
    modified: bool | None  # tracked files differ from the commit
    path: str  # absolute path of the zephyr folder


@dataclass(frozen=True, slots=True)
class Block:
    """The smallest piece of a page that is not cut in two where it fits."""

    path: str  # the file in which the lines stand: an included file's own path
    start_line: int
    end_line: int
    text: str  # readable Markdown, no reStructuredText markup left; "" if `rule` says why
    kind: BlockKind = "prose"
    rule: str = ""  # why these lines are not searched: "navigation", "comment", …


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands beneath it, up to the next heading of any level."""

    heading: tuple[str, ...]  # from below the page title down to this section; () is the page's top
    anchor: str | None  # the published page's id for it, without "#"
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One published page, as parsed."""

    path: str
    title: str
    kind: Kind
    sections: tuple[Section, ...]
    includes: tuple[str, ...] = ()  # other files of the tree that the text was made from
    note: str | None = None  # what went wrong while parsing, in one line


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit of retrieval: consecutive lines of one file under one heading."""

    path: str  # the file in which the lines stand
    start_line: int
    end_line: int
    page: str  # the published page that shows them; equals path unless included
    title: str
    heading: tuple[str, ...]
    anchor: str | None
    kind: Kind
    text: str  # readable Markdown, at most chunking.CHUNK_CHARS characters


SymbolKind = Literal[
    "kconfig", "binding", "board", "soc", "shield", "snippet", "sample", "west", "api"
]
SYMBOL_KINDS: tuple[SymbolKind, ...] = (
    "kconfig", "binding", "board", "soc", "shield", "snippet", "sample", "west", "api"
)  # fmt: skip

# Symbols that are found by meaning among the pages, and the kind of passage they make there.
SYMBOLS_OF: dict[Kind, SymbolKind] = {"kconfig": "kconfig", "bindings": "binding", "api": "api"}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name as one place of the tree defines it; several places may define the same name.

    `details` holds JSON values that depend on the kind; the module in `sources/` that reads the
    kind says which.
    """

    name: str  # without CONFIG_: "LOG", "nordic,nrf-uarte", "nrf52840dk/nrf52840", "k_sem_give"
    kind: SymbolKind
    path: str  # of the file that defines it; of another project's: "../modules/…"
    line: int
    end_line: int
    summary: str  # one line: the prompt, the title, the brief; "" where the file says nothing
    text: str  # what a search by meaning reads, in plain words: prompt and help, description, …
    details: dict[str, Any] = field(default_factory=dict)


def shown_name(symbol: Symbol | Card) -> str:
    """A symbol's name as people write it."""
    if symbol.kind != "kconfig":
        return symbol.name
    return ("SB_CONFIG_" if symbol.details.get("scope") == "sysbuild" else "CONFIG_") + symbol.name


Became = Literal["removed", "renamed", "replaced", "deprecated"]


@dataclass(frozen=True, slots=True)
class Change:
    """A line of a release note or a migration guide that says what became of a name."""

    name: str  # as a Symbol's
    kind: SymbolKind
    became: Became
    version: str  # "3.2": of the release whose page says so
    replacements: tuple[str, ...]  # names of the same form that the line offers instead, best first
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What one file of the tree defines."""

    symbols: tuple[Symbol, ...] = ()
    changes: tuple[Change, ...] = ()
    links: tuple[Any, ...] = ()  # JSON: what else a card needs to know of the file; see its reader
    note: str | None = None  # what could not be read, in one line that names the file


Status = Literal["defined", "gone", "unknown"]


@dataclass(frozen=True, slots=True)
class Card:
    """What this tree knows of a name: its definitions, or what became of it."""

    name: str
    kind: SymbolKind
    status: Status
    definitions: tuple[Symbol, ...] = ()  # the one that explains it first
    replacement: str | None = None  # of a gone name: one that exists
    change: Change | None = None  # what release notes or migration guides say of it
    evidence: tuple[str, int] | None = None  # path and line that say so
    near: tuple[str, ...] = ()  # of an unknown name: existing ones, best first
    details: dict[str, Any] = field(default_factory=dict)  # of all definitions together

    @property
    def summary(self) -> str:
        return next((s.summary for s in self.definitions if s.summary), "")


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why a hit stands where it stands."""

    lexical_rank: int | None  # 1-based rank among the words' candidates
    lexical_score: float  # BM25 scaled to [0, 1] over the candidates
    dense_score: float | None  # cosine in [-1, 1]; None without a model
    page_score: float  # what the page's other candidates added
    prior: float  # product of the weights of kind and boilerplate


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk with its source lines, as shown to a person: a passage."""

    rank: int  # 1-based
    chunk: Chunk
    source: str  # the file's own lines start_line..end_line
    url: str  # the published page with the section's anchor
    score: float  # [0, 1]
    reasons: Reasons


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question got: ranked passages, or the nearest ones and abstained."""

    question: str
    revision: Revision
    hits: tuple[Hit, ...]
    abstained: bool
    confidence: float  # [0, 1]; abstained where it is under the threshold
    timings_ms: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # talk for stderr: no model, a page that did not parse, …
    cards: tuple[Card, ...] = ()  # of the names in the question, in its order


# Path → the text of another file of the tree; None where there is none. It is remembered which
# were asked for: a change of them reads the asker again.
Load = Callable[[str], "str | None"]


class Progress(Protocol):
    """Receives how far a long job is; `total` and `done` count `unit`s."""

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None: ...


def silent(stage: str, done: int, total: int, unit: str) -> None:
    """A Progress that shows nothing."""


class AskError(Exception):
    """What a person can act on: what failed and where, and what to try next.

    AskError
    ├── WorkspaceError   no zephyr, no doc/, nothing to read
    ├── SettingError     a bad ask.* setting or option value
    ├── QuestionError    a question that cannot be searched for
    ├── IndexFailure     the index can be neither read nor made
    └── ModelError       the encoder's model is missing, broken or not fetched
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class WorkspaceError(AskError):
    """No zephyr, or no documentation in it."""


class SettingError(AskError):
    """A setting or an option has a value that means nothing."""


class QuestionError(AskError):
    """A question that cannot be searched for."""


class IndexFailure(AskError):
    """The index can be neither read nor made."""


class ModelError(AskError):
    """The encoder's model is missing, broken or could not be fetched."""
