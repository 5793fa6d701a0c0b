# SPDX-License-Identifier: Apache-2.0
"""Looks at the tree in a second process while this one loads the encoder.

Python's lock lets one thread run at a time, and a look takes 20,000 system calls: beside the
encoder's thread it took 230 ms, in a process of its own 90 of which the question waits for none.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from pathlib import Path


class Ahead:
    """A look at the tree that began when this was made, where the system can do it."""

    def __init__(self, path: Path | None, base: Path) -> None:
        """`path`: the index whose snapshot the tree is compared with."""
        self._pid = 0
        # Forking is safe while there is one thread; macOS's own libraries are not made for it.
        if (
            path is None
            or not hasattr(os, "fork")
            or sys.platform == "darwin"
            or threading.active_count() > 1
        ):
            return
        with contextlib.suppress(OSError):
            if path.stat().st_size == 0:
                return
            self._end, far = os.pipe()
            # A collection after the fork would copy every page of both: 20 ms of a question.
            gc.freeze()
            self._pid = os.fork()
            if self._pid == 0:
                _look(path, base, far)
            os.close(far)

    def found(self, token: bytes) -> bool:
        """Whether the tree was as in the snapshot that has this token. Waits for the look; asked
        again it knows nothing."""
        if not self._pid:
            return False
        said = b""
        with contextlib.suppress(OSError), open(self._end, "rb") as pipe:
            said = pipe.read()
        with contextlib.suppress(OSError):
            os.waitpid(self._pid, 0)
        self._pid = 0
        return bool(said) and said == token

    def close(self) -> None:
        self.found(b"")


def _look(path: Path, base: Path, far: int) -> None:
    """In the child: writes the snapshot's token if the tree is as it says; never returns."""
    try:
        from zephyr_ask.index import Index  # in the child: the parent loads its own meanwhile

        index = Index(path)
        with index.reading():
            token, snapshot = index.snapshot_token(), index.snapshot()
        if snapshot is not None and snapshot.is_current(base):
            os.write(far, token)
    finally:
        # Nothing of the parent's is flushed, closed or told.
        os._exit(0)
