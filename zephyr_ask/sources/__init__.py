# SPDX-License-Identifier: Apache-2.0
"""A file's bytes → Document, by the file's ending: one module a kind of source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from zephyr_ask.types import Document

if TYPE_CHECKING:
    from zephyr_ask.sources.rst import Reader


def _rst(base: Path, path: str, data: bytes) -> tuple[Document, Reader]:
    from zephyr_ask.sources.rst import read_page

    return read_page(base, path, data)


# Ending → what reads it.
SOURCES: dict[str, Callable[[Path, str, bytes], tuple[Document, Reader]]] = {".rst": _rst}


def read(base: Path, path: str, data: bytes) -> tuple[Document, Reader]:
    """Document of the file at `path` (relative to `base`), and the lines it was made from.

    Raises KeyError for an ending that nothing here reads; never on content.
    """
    return SOURCES[PurePosixPath(path).suffix](base, path, data)
