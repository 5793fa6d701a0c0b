# SPDX-License-Identifier: Apache-2.0
"""Keeps an index equal to its tree: reads again what changed, and nothing else."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import json
import posixpath
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zephyr_ask.corpus import digest_of_file, read_in_parallel, take
from zephyr_ask.index import BUSY_MS, Index
from zephyr_ask.tree import SOURCES, Found, Source, look
from zephyr_ask.types import IndexFailure, Progress
from zephyr_ask.workspace import ABSENT, Stat, Workspace, stat_of, tracked_at

if TYPE_CHECKING:
    from zephyr_ask.encoder import Encoder

# Which modules decide what the index keeps of a file of each source, and what terms are. Their
# own text is the fingerprint: none can be changed and the change forgotten.
_COMMON = ("types.py", "corpus.py", "listing.py")
_PARSERS: dict[Source, tuple[str, ...]] = {
    "page": ("sources/__init__.py", "sources/rst.py", "sources/parser.py", "sources/directives.py",
             "sources/blocks.py", "sources/inline.py", "sources/changes*.py", "chunking.py"),
    "kconfig": ("sources/kconfig*.py",),
    "binding": ("sources/bindings*.py", "sources/yaml_text.py"),
    "hardware": ("sources/hardware*.py", "sources/yaml_text.py"),
    "commands": ("sources/commands*.py", "sources/yaml_text.py"),
    "header": ("sources/headers.py", "sources/attachment.py", "sources/comments.py",
               "sources/declarations.py", "sources/doxygen.py", "sources/preprocessor.py"),
    "module": ("sources/kconfig_generated.py", "sources/yaml_text.py", "tree.py"),
}  # fmt: skip
_ANALYZER = ("analyzer.py",)
_READINGS = 3  # of pages whose included files change meanwhile
_VECTOR_BATCH = 64  # chunks between commits: about a second of work


class Fingerprints(NamedTuple):
    parsers: dict[Source, str]  # of what reads each source, docutils included
    analyzer: str

    @property
    def whole(self) -> str:
        return hashlib.sha256(" ".join(self.parsers.values()).encode()).hexdigest()[:16]


def fingerprints() -> Fingerprints:
    """Of this program as it is installed. About 2 ms."""
    home = Path(__file__).parent
    digests: dict[str, bytes] = {}

    def digest(names: Sequence[str], more: bytes = b"") -> str:
        whole = hashlib.sha256(more)
        for name in names:
            for file in sorted(home.glob(name)) if "*" in name else [home / name]:
                key = str(file)
                if key not in digests:
                    digests[key] = hashlib.sha256(file.read_bytes()).digest()
                whole.update(digests[key])
        return whole.hexdigest()[:16]

    docutils = b""
    spec = importlib.util.find_spec("docutils")
    if spec is not None and spec.origin:  # holds the version; importing it costs 70 ms
        docutils = Path(spec.origin).read_bytes()
    parsers = {
        source: digest((*_COMMON, *names), docutils if source == "page" else b"")
        for source, names in _PARSERS.items()
    }
    return Fingerprints(parsers, digest(_ANALYZER))


def is_current(
    index: Index,
    workspace: Workspace,
    just_now: bool = False,
    looked: Callable[[bytes], bool] = lambda token: False,
) -> bool:
    """Whether the index is of this tree as it stands, and of this program.

    `just_now`: it was refreshed during this question (see Snapshot.is_current). `looked`: says of
    a snapshot's token whether the tree was found to be the same, during this question.
    """
    prints = fingerprints()
    meta = index.meta()
    if meta.get("parser") != prints.whole or meta.get("analyzer") != prints.analyzer:
        return False
    if meta.get("projects") != _projects(workspace):
        return False
    token = index.snapshot_token()
    if token and looked(token):
        return True
    snapshot = index.snapshot()
    return snapshot is not None and snapshot.is_current(workspace.base, just_now)


def _projects(workspace: Workspace) -> str:
    return json.dumps([dataclasses.astuple(project) for project in workspace.projects])


def refresh(
    index: Index, workspace: Workspace, progress: Progress, say: Callable[[str], None]
) -> bool:
    """Make the index equal to the workspace's tree; False if it was already.

    `say` is told, once, if another process has to be waited for.
    """
    if is_current(index, workspace):
        return False
    with _alone(index, say):
        if is_current(index, workspace):
            return False
        _refresh(index, workspace, progress)
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


def _refresh(index: Index, workspace: Workspace, progress: Progress) -> None:
    base, prints = workspace.base, fingerprints()
    meta = index.meta()
    if meta.get("analyzer") != prints.analyzer:
        with index.writing():
            if meta.get("parser") == prints.whole:
                index.analyse_again(
                    lambda done, total: progress("Analysing", done, total, "chunks")
                )
            else:
                index.clear()
            index.set_meta(analyzer=prints.analyzer)
    now = time.time_ns()  # before looking: what is younger is looked at again
    found = look(base, workspace.projects)
    files = found.files
    stored = index.pages()
    dirty, settled_pages = _changed(base, files, {p: row[:4] for p, row in stored.items()})
    dirty |= {
        path
        for path, source in found.sources.items()
        if path in stored and stored[path][4:] != (prints.parsers[source], SOURCES.index(source))
    }
    includes = index.includes()
    seen = {path: stat_of(str(base / path)) for path in includes}
    changed, settled_includes = _changed(base, seen, includes)
    dirty |= (index.users_of(changed) | index.disagreeing()) & files.keys()
    dirty |= _users_of_new_bindings(index, found, stored.keys()) & files.keys()
    with index.writing():
        index.set_snapshot(None)
        for path in settled_pages - dirty:
            index.touch("pages", path, files[path], now)
        for path in settled_includes:
            index.touch("includes", path, seen[path], now)
        for path in stored.keys() - files.keys():
            index.delete(path)
    for _ in range(_READINGS):
        if dirty:
            _read(index, base, found, sorted(dirty), prints, now, progress)
        dirty = index.disagreeing() & files.keys()
        if not dirty:
            break
    tracked = tracked_at(base, index.page_paths())
    with index.writing():
        index.forget_unused_includes()
        looked_at: dict[str, Stat] = {path: row[:3] for path, row in index.pages().items()}
        looked_at.update({path: row[:3] for path, row in index.includes().items()})
        looked_at.update(dict.fromkeys(found.absent, ABSENT))
        # Without a snapshot the next question looks again.
        index.set_snapshot(None if dirty else take(found.folders, looked_at, now))
        index.set_meta(parser=prints.whole, projects=_projects(workspace), tracked=tracked)


def _users_of_new_bindings(index: Index, found: Found, stored: Collection[str]) -> set[str]:
    """Bindings include each other by file name alone: those whose include may now be another
    file, since one of that name came or went."""
    if not stored:
        return set()
    bindings = {path for path, source in found.sources.items() if source == "binding"}
    moved = (bindings - set(stored)) | {
        path for path in stored if path not in found.files and path.endswith((".yaml", ".yml"))
    }
    return index.users_of_names({posixpath.basename(path) for path in moved})


def roster(found: Found) -> dict[str, list[str]]:
    """A binding's file name → where files of that name are."""
    places: dict[str, list[str]] = {}
    for path, source in found.sources.items():
        if source == "binding":
            places.setdefault(posixpath.basename(path), []).append(path)
    return places


def _changed(
    base: Path, now: dict[str, Stat], before: dict[str, tuple[int, int, int, bytes | None]]
) -> tuple[set[str], set[str]]:
    """Paths whose content is new or other than before, and those whose stat alone is."""
    changed, touched = set(), set()
    for path, status in now.items():
        if path in before and before[path][:3] == status:
            continue
        try:
            digest = digest_of_file(str(base / path), status) if status[0] >= 0 else None
        except (OSError, ValueError):
            digest = b"" if path not in before else None
        if path in before and before[path][3] == digest:
            touched.add(path)
        else:
            changed.add(path)
    return changed, touched


def _read(
    index: Index,
    base: Path,
    found: Found,
    paths: Sequence[str],
    prints: Fingerprints,
    now: int,
    progress: Progress,
) -> None:
    total = len(paths)
    done = 0
    progress("Reading", done, total, "files")
    pages = {path: found.files[path] for path in paths}
    for records in read_in_parallel(base, pages, found.sources, roster(found)):
        with index.writing():  # committed batch by batch: a kill loses one of them
            for record in records:
                index.put(record, prints.parsers[record.source], now)
        done += len(records)
        progress("Reading", done, total, "files")


def rebuild(
    index: Index,
    workspace: Workspace,
    encoder: Encoder | None,
    progress: Progress,
    say: Callable[[str], None],
) -> None:
    """Make the whole index again, every vector included; goes on where one was interrupted."""
    model = encoder.hash if encoder is not None else ""
    prints = fingerprints()
    key = "/".join((prints.whole, prints.analyzer, model))
    with _alone(index, say):
        if index.meta().get("rebuild") == key:
            say("going on with the rebuild that was interrupted")
        else:
            with index.writing():
                index.clear()
                index.drop_vectors()
                index.set_meta(rebuild=key, parser="")
        _refresh(index, workspace, progress)
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
