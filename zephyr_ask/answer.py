# SPDX-License-Identifier: Apache-2.0
"""A checkout and a question → Answer: current index, ranked passages, or abstaining."""

from __future__ import annotations

import contextlib
import dataclasses
import posixpath
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyr_ask import retrieval
from zephyr_ask.corpus import digest_of
from zephyr_ask.index import Index, remove
from zephyr_ask.naming import names_in
from zephyr_ask.refresh import is_current, rebuild, refresh
from zephyr_ask.symbols import Catalog, symbol_markdown
from zephyr_ask.table import Damaged
from zephyr_ask.types import (
    SYMBOLS_OF,
    Answer,
    AskError,
    Card,
    Chunk,
    Hit,
    IndexFailure,
    Kind,
    ModelError,
    Progress,
    shown_name,
    silent,
)
from zephyr_ask.workspace import GitProbe, Workspace, page_url, symbol_url

if TYPE_CHECKING:
    from zephyr_ask.ahead import Ahead
    from zephyr_ask.checking import Checked
    from zephyr_ask.encoder import Encoder
    from zephyr_ask.report import Report

PASSAGES = 5
_ATTEMPTS = 8  # a page edited between index and answer makes one start again


class _Changed(Exception):
    """A file is not what was indexed any more: look again."""


class Session:
    """Answers questions about one checkout. Not for use by several threads at once.

    `warm`: the encoder is loaded at once, beside the check of the tree; else when a question
    needs it. `ahead`: a look at the tree that has begun, for the first question. `say` is told
    what a person should know meanwhile, a line each.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        model: str | None = None,
        cache: Path,
        warm: bool = True,
        ahead: Ahead | None = None,
        progress: Progress = silent,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.workspace = workspace
        self._progress = progress
        self._say = say
        self._probe: GitProbe | None = GitProbe(workspace.base)
        self._places: list[Path | None] = [*workspace.index_files()]
        self._ahead = ahead
        self._encoder = _LateEncoder(model, cache)
        if warm:
            self._encoder.start()
        self._places.append(None)  # in memory, for this process only
        self._index: Index | None = None
        self._refreshed = False

    # --- the index

    def index(self) -> Index:
        """The open index; where one cannot be kept, the next best place is taken."""
        while self._index is None:
            place = self._places[0]
            try:
                if place is not None:
                    _make_folder(place.parent, self.workspace)
                self._index = Index(place)
            except Damaged as error:
                assert place is not None
                self._replace(place, error)
            except (IndexFailure, OSError) as error:
                self._next_place(error)
        return self._index

    def _next_place(self, error: Exception) -> None:
        """After a folder refused: the next one, or the error if even memory did."""
        place = self._places.pop(0)
        self._close()
        if not self._places:
            raise error
        following = self._places[0]
        where = "in memory, for this question only" if following is None else f"in {following}"
        self._say(f"the index cannot be kept in {place} ({_reason(error)}): it is made {where}")

    def _replace(self, place: Path | None, error: Damaged) -> None:
        self._close()
        self._say(f"the index was damaged ({error}): it is made again")
        if place is not None:
            remove(place)

    def _close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def close(self) -> None:
        """Let go of the index, and wait for the encoder's thread: native code must not be cut
        off by the end of the process."""
        if self._ahead is not None:
            self._ahead.close()
        self._close()
        self._encoder.join()

    def _guarded(self, work: Callable[[Index], Any]) -> Any:
        """Do `work` on a good index: a damaged one is replaced, a full disk left."""
        for _ in range(_ATTEMPTS + len(self._places)):
            index = self.index()
            try:
                return work(index)
            except Damaged as error:
                self._replace(index.path, error)
            except IndexFailure as error:
                self._next_place(error)
            except _Changed:
                continue
        raise IndexFailure(
            "the pages change faster than they can be read", "try again when they are at rest"
        )

    def encoder(self) -> Encoder | None:
        """The encoder; None, and said once, where there is no model."""
        return self._encoder.get(self._say)

    def _take_probe(self) -> GitProbe:
        """git asked once a question; the first time since the session began."""
        probe, self._probe = self._probe or GitProbe(self.workspace.base), None
        return probe

    # --- what it is for

    def ask(self, question: str, count: int = PASSAGES, kinds: Sequence[Kind] = ()) -> Answer:
        """Ranked passages for a question, or the nearest ones and `abstained`.

        Raises QuestionError for a question with nothing in it, ModelError for a bad
        `ask.model`, IndexFailure where no index can be made at all.
        """
        text = retrieval.clean(question)
        self._refreshed = False  # during this question
        began = time.perf_counter()
        probe = self._take_probe()
        timings: dict[str, float] = {}
        answer: Answer = self._guarded(
            lambda index: self._ask(index, text, count, kinds, probe, timings)
        )
        answer.timings_ms["total"] = (time.perf_counter() - began) * 1000
        return answer

    def _ask(
        self,
        index: Index,
        question: str,
        count: int,
        kinds: Sequence[Kind],
        probe: GitProbe,
        timings: dict[str, float],
    ) -> Answer:
        clock = _Clock(timings)
        made: list[tuple[bytes, bytes]] = []
        names, only = names_in(question)
        if not only:
            self._encoder.start()
        with index.reading():
            current = self._is_current(index)
            if current:
                clock.lap("index")
                cards = Catalog(index.table).cards(names)
                only = only and bool(cards)
                clock.lap("symbols")
                ranking = retrieval.search(
                    index, _no_encoder if only else self.encoder, question, kinds,
                    keep=made.extend, symbols=not only,
                )  # fmt: skip
                clock.lap("search")
                ranked = _beside(cards, ranking.ranked) if only else ranking.ranked
                chosen = [
                    (entry, _chunk(index, entry)) for entry in retrieval.choose(ranked, count)
                ]
                sources = {
                    (chunk.page, chunk.path): self._lines(index, chunk) for _, chunk in chosen
                }
                tracked = str(index.meta().get("tracked", ""))
        if not current:
            self._refresh(index)
            clock.lap("index")
            raise _Changed("look again")
        if made:
            encoder = self.encoder()
            with contextlib.suppress(IndexFailure):  # they are kept to save time, not for truth
                assert encoder is not None
                with index.writing():
                    index.put_vectors(encoder.hash, made)
        revision = probe.revision(tracked, index.page_paths)
        hits = tuple(
            Hit(
                rank=rank,
                chunk=chunk,
                source=_passage(sources[chunk.page, chunk.path], chunk),
                url=_url(revision.version, chunk),
                score=entry.score,
                reasons=entry.reasons,
            )
            for rank, (entry, chunk) in enumerate(chosen, 1)
        )
        clock.lap("passages")
        known = any(card.status != "unknown" for card in cards)
        return Answer(
            question=question,
            revision=revision,
            hits=hits if known or not only else (),
            abstained=not known if only else not ranking.answers or not hits,
            confidence=float(known) if only else ranking.confidence,
            timings_ms=timings,
            cards=tuple(cards),
        )

    def _lines(self, index: Index, chunk: Chunk) -> list[str]:
        """Lines of a chunk's file as it stands; _Changed if that is not what was indexed."""
        from zephyr_ask.workspace import decode

        try:
            data = (self.workspace.base / chunk.path).read_bytes()
        except OSError as error:
            raise _Changed(chunk.path) from error
        if digest_of(data) != index.file_digest(chunk.page, chunk.path):
            raise _Changed(chunk.path)
        return decode(data).split("\n")

    def check(self, arguments: Sequence[str]) -> Checked:
        """What files, folders and stdin ("-") name that this tree does not have.

        Raises AskError where none of them can be read.
        """
        from zephyr_ask.checking import Checked, judge, read
        from zephyr_ask.known import TreeNames

        texts, skipped, own = read(arguments)
        probe = self._take_probe()
        self._refreshed = False

        def work(index: Index) -> tuple[list[Report], str]:
            with index.reading():
                if self._is_current(index):
                    names = TreeNames(index.table, self.workspace)
                    reports = judge(texts, own, names, skipped)
                    return reports, str(index.meta().get("tracked", ""))
            self._refresh(index)
            raise _Changed("look again")

        reports, tracked = self._guarded(work)
        revision = probe.revision(tracked, self.index().page_paths)
        return Checked(revision, tuple(reports), tuple(skipped))

    def _is_current(self, index: Index) -> bool:
        """In the transaction that is read: another process may change the index at any other
        moment."""
        looked = self._ahead.found if self._ahead else _not_looked
        self._ahead = None  # of this question, not of the next
        return is_current(index, self.workspace, self._refreshed, looked)

    def _refresh(self, index: Index) -> None:
        refresh(index, self.workspace, self._progress, self._say)
        self._refreshed = True

    def rebuild(self) -> None:
        """The whole index again, every vector included."""
        encoder = self.encoder()
        self._guarded(
            lambda index: rebuild(index, self.workspace, encoder, self._progress, self._say)
        )

    def status(self, check: bool = True) -> dict[str, Any]:
        """What is indexed, as JSON values; nothing is refreshed."""
        problem = None
        try:
            encoder = self.encoder()
        except ModelError as error:
            encoder, problem = None, error.message
        index = self.index()
        probe = self._take_probe()
        wrong: list[str] = []
        try:
            counts = index.counts(encoder.hash if encoder else None)
            current = is_current(index, self.workspace)
            notes = index.notes()
            wrong = index.check() if check else []
            pages = index.page_paths()
        except Damaged as error:
            wrong = [str(error)]
            counts, current, notes, pages = None, False, [], []
        revision = probe.revision("", lambda: pages)
        return {
            "schema": 1,
            "revision": dataclasses.asdict(revision),
            "index": {
                "path": str(index.path) if index.path else None,
                "current": current,
                "pages": counts.pages if counts else 0,
                "chunks": counts.chunks if counts else 0,
                "vectors": counts.vectors if counts else 0,
                "bytes": counts.bytes if counts else 0,
                "problems": wrong,
                "notes": notes,
            },
            "model": {"name": encoder.model.name, "hash": encoder.hash,
                      "origin": encoder.model.origin} if encoder else None,
            "model_problem": problem,
        }  # fmt: skip


def _not_looked(token: bytes) -> bool:
    return False


def _beside(cards: Sequence[Card], ranked: Sequence[retrieval.Ranked]) -> list[retrieval.Ranked]:
    """First the pages in the folders that define the names: a board's own, a sample's."""
    folders = tuple(
        posixpath.dirname(symbol.path) + "/"
        for card in cards
        for symbol in card.definitions
        if card.kind in ("board", "shield", "sample", "snippet")
    )
    return sorted(ranked, key=lambda entry: not entry.candidate.page.startswith(folders or "\0"))


def _url(version: str, chunk: Chunk) -> str:
    if chunk.kind in SYMBOLS_OF:
        return symbol_url(version, chunk.kind, chunk.title, chunk.path)
    return page_url(version, chunk.page, chunk.anchor)


def _no_encoder() -> None:
    """For a question that a symbol's card answers."""


def _chunk(index: Index, entry: retrieval.Ranked) -> Chunk:
    """The passage that a ranked candidate stands for."""
    if entry.candidate.kind not in SYMBOLS_OF:
        return index.chunk(entry.candidate.id)
    symbol = index.table.symbol(entry.candidate.id)
    place = symbol.path
    return Chunk(place, symbol.line, symbol.end_line, place, shown_name(symbol),
                 (symbol.summary,) if symbol.summary else (), None, entry.candidate.kind,
                 symbol_markdown(symbol))  # fmt: skip


class _LateEncoder:
    """Loads the encoder in a thread, beside the check of the tree."""

    def __init__(self, setting: str | None, cache: Path) -> None:
        self._setting = setting
        self._cache = cache
        self._encoder: Encoder | None = None
        self._error: BaseException | None = None
        self._told = False
        self._thread = threading.Thread(target=self._load, daemon=True)

    def start(self) -> None:
        if self._thread.ident is None:
            self._thread.start()

    def _load(self) -> None:
        try:
            from zephyr_ask.encoder import Encoder
            from zephyr_ask.models import resolve, verify

            model = resolve(self._setting, self._cache)
            # 20 ms for 24 MB: a flipped byte would make wrong vectors, and keep them.
            if model is not None and not verify(model):
                shutil.rmtree(model.onnx.parent, ignore_errors=True)
                model = resolve(self._setting, self._cache)
            if model is not None:
                self._encoder = Encoder(model)
        except BaseException as error:
            self._error = error

    def join(self) -> None:
        if self._thread.ident is not None:
            self._thread.join()

    def get(self, say: Callable[[str], None]) -> Encoder | None:
        """Waits for it. Raises ModelError if `ask.model` names what cannot be used."""
        self.start()
        self._thread.join()
        if self._encoder is not None:
            return self._encoder
        if self._setting and isinstance(self._error, AskError):
            raise self._error
        if self._error is not None and not isinstance(self._error, AskError):
            raise self._error
        if not self._told:
            self._told = True
            say(_without_model(self._error))
        return None


def _without_model(error: BaseException | None) -> str:
    import sys

    from zephyr_ask.models import remedy

    if isinstance(error, AskError):
        return f"answering by words alone: {error.message} {error.hint}".rstrip()
    return (
        "answering by words alone, since there is no model for the encoder. To get it:\n  "
        + remedy(sys.executable).replace("\n", "\n  or ")
    )


class _Clock:
    """Milliseconds between laps, added up by name."""

    def __init__(self, timings: dict[str, float]) -> None:
        self._timings = timings
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._timings[name] = self._timings.get(name, 0.0) + (now - self._last) * 1000
        self._last = now


def _make_folder(folder: Path, workspace: Workspace) -> None:
    """The cache folder. `.west` itself is west's to make, never ours."""
    inside = workspace.topdir is not None and folder.is_relative_to(workspace.topdir)
    folder.mkdir(parents=not inside, exist_ok=True)


def _passage(lines: Sequence[str], chunk: Chunk) -> str:
    return "\n".join(lines[chunk.start_line - 1 : chunk.end_line])


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error)
