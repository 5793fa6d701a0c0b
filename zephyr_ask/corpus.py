# SPDX-License-Identifier: Apache-2.0
"""The files of a checkout: whether any changed, and what each holds."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from zephyr_ask.listing import Listed, Roster, read_listing, read_page_names
from zephyr_ask.tree import BIG, Source
from zephyr_ask.types import KINDS, Chunk
from zephyr_ask.workspace import Stat, decode, stat_of

# A file written this shortly before it was looked at may be written again without a change
# of its time stamp (FAT counts in 2 s); it is looked at again the next time.
RACY_NS = 2_000_000_000
PARALLEL_BYTES = 1_500_000  # below this, starting worker processes costs more than it saves
BIG_PAGE = 20_000_000  # bytes; the largest page of Zephyr's has 0.3 MB
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
        try:
            # Relative to the open folder: a tenth less time than by full paths.
            folder = os.open(base, os.O_RDONLY) if os.stat in os.supports_dir_fd else None
        except OSError:
            return False
        try:
            return self._is_current(str(base) + os.sep, folder, just_now)
        finally:
            if folder is not None:
                os.close(folder)

    def _is_current(self, root: str, folder: int | None, just_now: bool) -> bool:
        look = os.stat
        root = root if folder is None else ""
        recorded = iter(self.stats)
        try:
            for index, (path, size, mtime, ctime) in enumerate(
                zip(self.paths, recorded, recorded, recorded, strict=True)
            ):
                if size < 0:  # a file that was not there: an include without its target
                    try:
                        found = look(root + path, dir_fd=folder)
                    except (OSError, ValueError):
                        continue
                    if stat.S_ISREG(found.st_mode) or path.endswith("/"):  # or a folder
                        return False
                    continue
                found = look(root + path, dir_fd=folder)
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


class PageRecord(NamedTuple):
    """What the index keeps of a file. Comes from a worker process, so plain tuples throughout:
    dataclasses take five times as long to send."""

    path: str
    source: Source
    status: Stat  # taken before the page was read
    digest: bytes  # of the page's bytes, 16 bytes
    title: str
    note: str | None
    used: tuple[tuple[str, Stat, bytes | None], ...]  # included files; None: could not be read
    chunks: list[ChunkRecord]
    listed: Listed = Listed()


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


def digest_of_file(place: str, status: Stat) -> bytes:
    """Of a file's bytes; of one too large to be read, of its stat. Raises OSError."""
    if status[0] > BIG_PAGE:
        return digest_of(repr(status).encode())
    with open(place, "rb") as file:
        return digest_of(file.read())


def chunk_digest(chunk: Chunk) -> bytes:
    return digest_of(encoder_text(chunk).encode(errors="surrogatepass"))


_PLAIN_WORD = re.compile(r"(?<![\w/`.-])[a-z]{2,}(?![\w/`-])")


def signature(chunk: Chunk) -> int:
    """Equal for texts that differ in code, names, numbers and the words of the title only."""
    own = set(re.findall(r"[a-z]+", chunk.title.lower()))
    words = [w for w in _PLAIN_WORD.findall(chunk.text.lower()) if w not in own]
    return int.from_bytes(digest_of(" ".join(words).encode())[:8], "big") >> 1


def read_pages(base: Path, items: Sequence[tuple[str, Source]], roster: Roster) -> list[PageRecord]:
    """Read files, each by its source: pages are parsed, chunked and analysed, others give their
    symbols. One that cannot be read has none and a note."""
    return [
        _read_page(base, path) if source == "page" else _read_other(base, path, source, roster)
        for path, source in items
    ]


def _read_other(base: Path, path: str, source: Source, roster: Roster) -> PageRecord:
    """A file that only defines names."""
    place = os.path.join(base, path)
    status = stat_of(place)
    if status[0] > BIG:
        note = f"{path}: left out, since it has {status[0]:,} bytes"
        return PageRecord(path, source, status, digest_of_file(place, status), path, note, (), [])
    try:
        with open(place, "rb") as file:
            data = file.read()
    except OSError as error:
        note = f"{path}: left out, since it cannot be read: {error.strerror}"
        return PageRecord(path, source, status, b"", path, note, (), [])
    digest = digest_of(data)
    try:
        listed = read_listing(str(base), path, source, data, roster)
    except ImportError:  # of a package that is not installed: nothing can be read
        raise
    except (Exception, RecursionError) as error:  # one file must not cost all the others
        note = f"{path}: left out, since it cannot be read: {error!r:.200}"
        return PageRecord(path, source, status, digest, path, note, (), [])
    used = tuple(
        (name, found, None if content is None else digest_of(content))
        for name, (found, content) in sorted(listed.used.items())
    )
    return PageRecord(path, source, status, digest, path, listed.note, used, [],
                      listed._replace(used={}))  # fmt: skip


def _read_page(base: Path, path: str) -> PageRecord:
    from zephyr_ask.analyzer import terms
    from zephyr_ask.chunking import chunk
    from zephyr_ask.sources import read

    place = str(base / path)
    status = stat_of(place)
    if status[0] > BIG_PAGE:
        note = f"{path}: left out, since it has {status[0]:,} bytes"
        return PageRecord(path, "page", status, digest_of_file(place, status), path, note, (), [])
    try:
        data = Path(place).read_bytes()
    except OSError as error:
        note = f"{path}: left out, since it cannot be read: {error.strerror}"
        return PageRecord(path, "page", status, b"", path, note, (), [])
    try:
        document, reader = read(base, path, data)
        chunks, _ = chunk(document, reader.files)
        listed = read_page_names(path, decode(data))
    except ImportError:  # of a package that is not installed: no page can be read
        raise
    except (Exception, RecursionError) as error:  # one page must not cost all the others
        note = f"{path}: left out, since it cannot be read: {error!r:.200}"
        return PageRecord(path, "page", status, digest_of(data), path, note, (), [])
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
    return PageRecord(path, "page", status, digest_of(data), document.title, document.note, used,
                      records, listed)  # fmt: skip


def read_in_parallel(
    base: Path,
    pages: dict[str, Stat],
    sources: Mapping[str, Source],
    roster: Roster,
    workers: int | None = None,
) -> Iterator[list[PageRecord]]:
    """PageRecords of `pages`, in batches as they are done; on all cores where that pays."""
    batches = [[(path, sources[path]) for path in batch] for batch in _batches(pages)]
    count = workers or min(len(batches), available_cores())
    total = sum(max(0, status[0]) for status in pages.values())
    if count < 2 or total < PARALLEL_BYTES:
        for batch in batches:
            yield read_pages(base, batch, roster)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    # spawn: the same on every system, and safe beside the encoder's threads.
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_start_worker,
                               initargs=(dict(roster),))  # fmt: skip
    try:
        jobs = [pool.submit(_work, base, batch) for batch in batches]
        for job in as_completed(jobs):
            yield job.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_roster: Roster = {}  # of a worker process


def _work(base: Path, items: list[tuple[str, Source]]) -> list[PageRecord]:
    import gc

    records = read_pages(base, items, _roster)
    gc.collect()
    gc.freeze()  # what is left are modules and caches
    return records


def _start_worker(roster: Roster) -> None:
    """Ends with the process that started it, however that ends; leaves Ctrl-C to it."""
    global _roster
    import gc
    import signal
    import threading
    from multiprocessing import connection, parent_process

    _roster = roster
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
