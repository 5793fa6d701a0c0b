# SPDX-License-Identifier: Apache-2.0
"""Keeps an index equal to its tree: reads again what changed, and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from zephyr_ask.corpus import digest_of, read_in_parallel, take, walk
from zephyr_ask.index import BUSY_MS, Index
from zephyr_ask.types import IndexFailure, Progress
from zephyr_ask.workspace import Stat, stat_of

if TYPE_CHECKING:
    from zephyr_ask.encoder import Encoder

# Which modules decide what a page's chunks are, and what a chunk's terms are. Their own text
# is the fingerprint: none can be changed and the change forgotten.
_PARSER = ("sources", "chunking.py", "corpus.py", "types.py")
_ANALYZER = ("analyzer.py",)
_READINGS = 3  # of pages whose included files change meanwhile
_VECTOR_BATCH = 64  # chunks between commits: about a second of work


def fingerprints() -> tuple[str, str]:
    """Of parser and chunker, docutils included, and of the analyzer."""
    home = Path(__file__).parent
    digests = []
    for names in (_PARSER, _ANALYZER):
        digest = hashlib.sha256()
        for name in names:
            place = home / name
            for file in sorted(place.glob("*.py")) if place.is_dir() else [place]:
                digest.update(file.read_bytes())
        if names is _PARSER:
            spec = importlib.util.find_spec("docutils")
            if spec is not None and spec.origin:  # holds the version; importing it costs 70 ms
                digest.update(Path(spec.origin).read_bytes())
        digests.append(digest.hexdigest()[:16])
    return digests[0], digests[1]


def is_current(index: Index, base: Path, just_now: bool = False) -> bool:
    """Whether the index is of this tree as it stands, and of this program.

    `just_now`: it was refreshed during this question (see Snapshot.is_current).
    """
    parser, analyzer = fingerprints()
    meta = index.meta()
    if meta.get("parser") != parser or meta.get("analyzer") != analyzer:
        return False
    snapshot = index.snapshot()
    return snapshot is not None and snapshot.is_current(base, just_now)


def refresh(index: Index, base: Path, progress: Progress, say: Callable[[str], None]) -> bool:
    """Make the index equal to the tree at `base`; False if it was already.

    `say` is told, once, if another process has to be waited for.
    """
    if is_current(index, base):
        return False
    with _alone(index, say):
        if is_current(index, base):
            return False
        _refresh(index, base, progress)
    return True


@contextlib.contextmanager
def _alone(index: Index, say: Callable[[str], None]) -> Iterator[None]:
    """One process at a time refreshes an index. The lock is SQLite's, on a file beside the
    index, so it ends with its process, however that ends."""
    if index.path is None:
        yield
        return
    path = index.path.with_suffix(".lock")
    try:
        lock = sqlite3.connect(path, timeout=1.0, isolation_level=None)
        try:
            _acquire(lock, say)
            yield
        finally:
            lock.close()
    except sqlite3.Error as error:
        raise IndexFailure(
            f"cannot lock {path}: {error}", "make the folder writable, or free some room there"
        ) from error


def _acquire(lock: sqlite3.Connection, say: Callable[[str], None]) -> None:
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        say("another west ask is reading the pages: waiting for it")
        lock.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        lock.execute("BEGIN EXCLUSIVE")


def _refresh(index: Index, base: Path, progress: Progress) -> None:
    parser, analyzer = fingerprints()
    meta = index.meta()
    if meta.get("analyzer") != analyzer:
        with index.writing():
            if meta.get("parser") == parser:
                index.analyse_again(
                    lambda done, total: progress("Analysing", done, total, "chunks")
                )
            else:
                index.clear()
            index.set_meta(analyzer=analyzer)
    now = time.time_ns()  # before looking: what is younger is looked at again
    folders, pages = walk(base)
    stored = index.pages()
    dirty, settled_pages = _changed(base, pages, {p: row[:4] for p, row in stored.items()})
    dirty |= {path for path in pages if path in stored and stored[path][4] != parser}
    includes = index.includes()
    found = {path: stat_of(str(base / path)) for path in includes}
    changed, settled_includes = _changed(base, found, includes)
    dirty |= (index.users_of(changed) | index.disagreeing()) & pages.keys()
    with index.writing():
        index.set_snapshot(None)
        for path in settled_pages - dirty:
            index.touch("pages", path, pages[path], now)
        for path in settled_includes:
            index.touch("includes", path, found[path], now)
        for path in stored.keys() - pages.keys():
            index.delete(path)
    for _ in range(_READINGS):
        if dirty:
            _read(index, base, {path: pages[path] for path in sorted(dirty)}, parser, now, progress)
        dirty = index.disagreeing() & pages.keys()
        if not dirty:
            break
    with index.writing():
        index.forget_unused_includes()
        looked_at: dict[str, Stat] = {path: row[:3] for path, row in index.pages().items()}
        looked_at.update({path: row[:3] for path, row in index.includes().items()})
        # Without a snapshot the next question looks again.
        index.set_snapshot(None if dirty else take(folders, looked_at, now))
        index.set_meta(parser=parser)


def _changed(
    base: Path, now: dict[str, Stat], before: dict[str, tuple[int, int, int, bytes | None]]
) -> tuple[set[str], set[str]]:
    """Paths whose content is new or other than before, and those whose stat alone is."""
    changed, touched = set(), set()
    for path, status in now.items():
        if path in before and before[path][:3] == status:
            continue
        try:
            digest = digest_of((base / path).read_bytes()) if status[0] >= 0 else None
        except OSError:
            digest = b"" if path not in before else None
        if path in before and before[path][3] == digest:
            touched.add(path)
        else:
            changed.add(path)
    return changed, touched


def _read(
    index: Index, base: Path, pages: dict[str, Stat], parser: str, now: int, progress: Progress
) -> None:
    total = len(pages)
    done = 0
    progress("Reading", done, total, "pages")
    for records in read_in_parallel(base, pages):
        with index.writing():  # committed batch by batch: a kill loses one of them
            for record in records:
                index.put(record, parser, now)
        done += len(records)
        progress("Reading", done, total, "pages")


def rebuild(
    index: Index,
    base: Path,
    encoder: Encoder | None,
    progress: Progress,
    say: Callable[[str], None],
) -> None:
    """Make the whole index again, every vector included; goes on where one was interrupted."""
    model = encoder.hash if encoder is not None else ""
    key = "/".join((*fingerprints(), model))
    with _alone(index, say):
        if index.meta().get("rebuild") == key:
            say("going on with the rebuild that was interrupted")
        else:
            with index.writing():
                index.clear()
                index.drop_vectors()
                index.set_meta(rebuild=key, parser="")
        _refresh(index, base, progress)
    if encoder is not None:
        fill_vectors(index, encoder, progress)
    with index.writing():
        index.set_meta(rebuild="")
        if encoder is not None:
            index.drop_vectors(keep=model)
    index.vacuum()


def fill_vectors(index: Index, encoder: Encoder, progress: Progress) -> None:
    """Make every vector that is missing; each batch is kept as soon as it is made."""
    from zephyr_ask.corpus import encoder_text

    missing = index.missing(encoder.hash)
    total = len(missing)
    progress("Encoding", 0, total, "chunks")
    for start in range(0, total, _VECTOR_BATCH):
        batch = missing[start : start + _VECTOR_BATCH]
        vectors = encoder.encode([encoder_text(index.chunk(chunk_id)) for _, chunk_id in batch])
        packed = [(digest, row.astype("float16").tobytes())
                  for (digest, _), row in zip(batch, vectors, strict=True)]  # fmt: skip
        with index.writing():
            index.put_vectors(encoder.hash, packed)
        progress("Encoding", start + len(batch), total, "chunks")
