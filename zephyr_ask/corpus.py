# SPDX-License-Identifier: Apache-2.0
"""The pages of a checkout: which there are, whether any changed, and what each holds."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from zephyr_ask.types import KINDS, Chunk
from zephyr_ask.workspace import ABSENT, PAGE_ROOTS, Stat, is_page, stat_of

# A file written this shortly before it was looked at may be written again without a change
# of its time stamp (FAT counts in 2 s); it is looked at again the next time.
RACY_NS = 2_000_000_000
PARALLEL_BYTES = 1_500_000  # below this, starting worker processes costs more than it saves
_BATCH_BYTES = 150_000  # a worker's unit: small enough to keep progress smooth


class Snapshot(NamedTuple):
    """What the tree looked like: folders, then files, as paths relative to zephyr."""

    paths: tuple[str, ...]
    folders: int  # how many of `paths` are folders
    stats: array[int]  # size, mtime_ns, ctime_ns of each; a folder's size is 0

    def is_current(self, base: Path, just_now: bool = False) -> bool:
        """Whether nothing was changed, added or deleted since. About 2 µs a path.

        `just_now`: it was taken during this question, so what was too young to trust then
        counts if its ctime and size are the same.
        """
        root, look = str(base) + os.sep, os.stat
        recorded = iter(self.stats)
        try:
            for index, (path, size, mtime, ctime) in enumerate(
                zip(self.paths, recorded, recorded, recorded, strict=True)
            ):
                if size < 0:  # a file that was not there: an include without its target
                    if stat_of(root + path) != ABSENT:
                        return False
                    continue
                found = look(root + path)
                if found.st_ctime_ns != ctime:
                    return False
                if found.st_mtime_ns != mtime and not (just_now and mtime == -1):
                    return False
                if index >= self.folders and found.st_size != size:
                    return False
        except (OSError, ValueError):
            return False
        return True

    def to_bytes(self) -> tuple[str, bytes]:
        return "\0".join((str(self.folders), *self.paths)), self.stats.tobytes()

    @classmethod
    def from_bytes(cls, text: str, data: bytes) -> Snapshot:
        """Raises ValueError if the two do not fit together."""
        folders, *paths = text.split("\0")
        stats = array("q")
        stats.frombytes(data)
        if len(stats) != 3 * len(paths) or not folders.isdigit():
            raise ValueError("snapshot is damaged")
        return cls(tuple(paths), int(folders), stats)


def settled(status: Stat, now: int) -> Stat:
    """The stat, or one that no file has if the file was too young at `now` (ns) to trust it."""
    size, mtime, ctime = status
    racy = size >= 0 and max(mtime, ctime) > now - RACY_NS
    return (size, -1, ctime) if racy else status


def take(folders: dict[str, tuple[int, int]], files: dict[str, Stat], now: int) -> Snapshot:
    """A Snapshot in which what is younger than RACY_NS at `now` (ns) never counts as current."""
    stats = array("q")
    for mtime, ctime in folders.values():
        racy = max(mtime, ctime) > now - RACY_NS
        stats.extend((0, -1 if racy else mtime, ctime))
    for status in files.values():
        stats.extend(settled(status, now))
    return Snapshot((*folders, *files), len(folders), stats)


def walk(base: Path) -> tuple[dict[str, tuple[int, int]], dict[str, Stat]]:
    """All folders and all pages below PAGE_ROOTS; links to folders are not followed."""
    folders: dict[str, tuple[int, int]] = {}
    pages: dict[str, Stat] = {}
    pending = [root for root in reversed(PAGE_ROOTS) if (base / root).is_dir()]
    found = os.stat(base)
    folders["."] = (found.st_mtime_ns, found.st_ctime_ns)
    while pending:
        folder = pending.pop()
        place = os.path.join(base, folder)
        try:
            status = os.stat(place)
            # Before listing: what is added in between shows as a change the next time.
            folders[folder] = (status.st_mtime_ns, status.st_ctime_ns)
            with os.scandir(place) as entries:
                inner = sorted(entries, key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        for entry in inner:
            path = f"{folder}/{entry.name}"
            try:
                path.encode()
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith("."):
                        pending.append(path)
                elif is_page(path):
                    pages[path] = stat_of(entry.path)
            except (OSError, UnicodeEncodeError):
                continue
    return folders, {path: status for path, status in pages.items() if status != ABSENT}


class PageRecord(NamedTuple):
    """What the index keeps of a page. Comes from a worker process, so plain tuples throughout:
    dataclasses take five times as long to send."""

    path: str
    status: Stat  # taken before the page was read
    digest: bytes  # of the page's bytes, 16 bytes
    title: str
    note: str | None
    used: tuple[tuple[str, Stat, bytes | None], ...]  # included files; None: could not be read
    chunks: list[ChunkRecord]


class ChunkRecord(NamedTuple):
    """A row of the index's chunks, and the terms to find it by."""

    kind: int  # index into types.KINDS
    file: str
    start_line: int
    end_line: int
    heading: str  # JSON list
    anchor: str | None
    text: bytes  # packed
    digest: bytes  # of `encoder_text`, 16 bytes
    signature: int  # of the text without names and numbers, 63 bits: equal in boilerplate
    terms: tuple[str, str, str]  # of title, heading path and text, separated by spaces


def pack(text: str) -> bytes:
    return zlib.compress(text.encode(errors="surrogatepass"), 6)


def unpack(data: bytes) -> str:
    """Raises ValueError for what `pack` did not make."""
    try:
        return zlib.decompress(data).decode(errors="surrogatepass")
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from error


def encoder_text(chunk: Chunk) -> str:
    """What the encoder reads of a chunk: its place, then its text."""
    return f"{' > '.join((chunk.title, *chunk.heading))}\n{chunk.text}"


def digest_of(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def chunk_digest(chunk: Chunk) -> bytes:
    return digest_of(encoder_text(chunk).encode(errors="surrogatepass"))


_PLAIN_WORD = re.compile(r"(?<![\w/`.-])[a-z]{2,}(?![\w/`-])")


def signature(chunk: Chunk) -> int:
    """Equal for texts that differ in code, names, numbers and the words of the title only."""
    own = set(re.findall(r"[a-z]+", chunk.title.lower()))
    words = [w for w in _PLAIN_WORD.findall(chunk.text.lower()) if w not in own]
    return int.from_bytes(digest_of(" ".join(words).encode())[:8], "big") >> 1


def read_pages(base: Path, paths: Sequence[str]) -> list[PageRecord]:
    """Parse, chunk and analyse pages; one that cannot be read has no chunks and a note."""
    return [_read_page(base, path) for path in paths]


def _read_page(base: Path, path: str) -> PageRecord:
    from zephyr_ask.analyzer import terms
    from zephyr_ask.chunking import chunk
    from zephyr_ask.sources import read

    place = str(base / path)
    status = stat_of(place)
    try:
        data = Path(place).read_bytes()
    except OSError as error:
        note = f"{path}: left out, since it cannot be read: {error.strerror}"
        return PageRecord(path, status, b"", path, note, (), [])
    try:
        document, reader = read(base, path, data)
        chunks, _ = chunk(document, reader.files)
    except ImportError:  # of a package that is not installed: no page can be read
        raise
    except (Exception, RecursionError) as error:  # one page must not cost all the others
        note = f"{path}: left out, since it cannot be read: {error!r:.200}"
        return PageRecord(path, status, digest_of(data), path, note, (), [])
    title = " ".join(terms(document.title))
    headings: dict[tuple[str, ...], tuple[str, str]] = {}
    records = []
    for piece in chunks:
        if piece.heading not in headings:
            words = " ".join(terms(" ".join(piece.heading)))
            headings[piece.heading] = json.dumps(piece.heading, ensure_ascii=False), words
        heading, above = headings[piece.heading]
        records.append(
            ChunkRecord(KINDS.index(piece.kind), piece.path, piece.start_line, piece.end_line,
                        heading, piece.anchor, pack(piece.text), chunk_digest(piece),
                        signature(piece), (title, above, " ".join(terms(piece.text))))
        )  # fmt: skip
    used = tuple(
        (name, found, None if content is None else digest_of(content))
        for name, (found, content) in sorted(reader.used.items())
    )
    return PageRecord(path, status, digest_of(data), document.title, document.note, used, records)


def read_in_parallel(
    base: Path, pages: dict[str, Stat], workers: int | None = None
) -> Iterator[list[PageRecord]]:
    """PageRecords of `pages`, in batches as they are done; on all cores where that pays."""
    batches = _batches(pages)
    count = workers or min(len(batches), available_cores())
    total = sum(max(0, status[0]) for status in pages.values())
    if count < 2 or total < PARALLEL_BYTES:
        for batch in batches:
            yield read_pages(base, batch)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    # spawn: the same on every system, and safe beside the encoder's threads.
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_start_worker)
    try:
        jobs = [pool.submit(_work, base, batch) for batch in batches]
        for job in as_completed(jobs):
            yield job.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _work(base: Path, paths: list[str]) -> list[PageRecord]:
    import gc

    records = read_pages(base, paths)
    gc.collect()
    gc.freeze()  # what is left are modules and caches
    return records


def _start_worker() -> None:
    """Ends with the process that started it, however that ends; leaves Ctrl-C to it."""
    import gc
    import signal
    import threading
    from multiprocessing import connection, parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Looking for cycles at the default pace costs a fifth of the time, and doctrees are freed
    # without it (`sources.rst`): `_work` looks once a batch for the little that is left.
    gc.disable()
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _batches(pages: dict[str, Stat]) -> list[list[str]]:
    """The largest pages first, so that no worker is left alone with one at the end."""
    batches: list[list[str]] = []
    room = 0
    for path in sorted(pages, key=lambda p: (-pages[p][0], p)):
        size = max(1, pages[path][0])
        if not batches or room < size:
            batches.append([])
            room = _BATCH_BYTES
        batches[-1].append(path)
        room -= size
    return batches


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
