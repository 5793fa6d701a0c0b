# SPDX-License-Identifier: Apache-2.0
"""The encoder against a plain numpy BERT, and its promises: alone, unit, the same everywhere.

`make_bert` makes a small random model in the layout of a sentence-transformers folder;
test_models.py uses it too.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask import graph, models
from zephyr_ask.encoder import LIGHT_FILE, WORDS_FILE, Encoder, Model, lighten
from zephyr_ask.types import ModelError

ROOT = Path(__file__).resolve().parent.parent
HIDDEN, HEADS, LAYERS, INNER, POSITIONS = 32, 4, 2, 64, 64
WORDS = ["enable", "logging", "in", "a", "zephyr", "sample", "devicetree", "overlay", "board"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *(f"word{i}" for i in range(2100))]
TEXTS = [" ".join(WORDS[i % 9] for i in range(n, 3 * n + 1)) for n in range(1, 12)]

Weights = dict[str, np.ndarray[Any, np.dtype[np.float32]]]


def random_weights(seed: int = 1) -> Weights:
    """A BERT's float32 tensors by the names of its checkpoints."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
        for part, out, into in (
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ):
            shapes[f"{name}.{part}.weight"] = (out, into)
            shapes[f"{name}.{part}.bias"] = (out,)
    weights = {name: random.normal(0, 0.3, shape) for name, shape in shapes.items()}
    for name in norms:
        weights[f"{name}.weight"] = random.normal(1, 0.1, HIDDEN)
        weights[f"{name}.bias"] = random.normal(0, 0.1, HIDDEN)
    return {name: value.astype(np.float32) for name, value in weights.items()}


def safetensors(weights: Weights) -> bytes:
    """The tensors in the safetensors format, written independently of the reader."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, value in weights.items():
        data = np.ascontiguousarray(value).tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": value.shape,
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": HIDDEN,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "intermediate_size": INNER,
    "max_position_embeddings": POSITIONS,
    "layer_norm_eps": 1e-12,
}


def make_bert(folder: Path, seed: int = 1, max_tokens: int = 24) -> Path:
    """A sentence-transformers folder with random weights; returns it."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(safetensors(random_weights(seed)))
    (folder / "config.json").write_text(json.dumps(CONFIG), "utf-8")
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": max_tokens}), "utf-8"
    )
    tokenizer = Tokenizer(
        WordPiece({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=20)  # as the real file has it; the encoder must undo it
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def numpy_bert(w: Weights, ids: list[int]) -> Any:
    """The sentence embedding of one text, straight from the definition, in float64."""
    erf = np.vectorize(math.erf)

    def norm(x: Any, name: str) -> Any:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + 1e-12) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T.astype(np.float64) + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{name}.attention.self.{part}").reshape(len(ids), HEADS, -1)
            for part in ("query", "key", "value")
        )
        logits = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(HIDDEN / HEADS)
        weight = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        seen = np.einsum("hij,jhd->ihd", weight, v).reshape(len(ids), HIDDEN)
        seen = linear(seen, f"{name}.attention.output.dense")
        x = norm(x + seen, f"{name}.attention.output.LayerNorm")
        inner = linear(x, f"{name}.intermediate.dense")
        inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
        x = norm(x + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def token_ids(text: str) -> list[int]:
    return [2, *(VOCABULARY.index(word) for word in text.split()), 3]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Model:
    place = tmp_path_factory.mktemp("tiny")
    model = models.resolve(str(make_bert(place / "bert")), place / "cache")
    assert model is not None
    return model


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Model:
    if importlib.util.find_spec(models.PACKAGE) is None:
        pytest.skip(f"{models.PACKAGE_PIN} is not installed")
    model = models.resolve(None, tmp_path_factory.mktemp("real"))
    assert model is not None
    return model


def test_exported_graph_computes_bert() -> None:
    import onnxruntime

    weights = random_weights()
    model = graph.export(weights, CONFIG)
    graph.pool(model)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    rows = [token_ids(text) for text in TEXTS]
    longest = max(map(len, rows))
    ids = np.array([row + [0] * (longest - len(row)) for row in rows])
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    found = session.run(None, inputs)[0]
    wanted = np.array([numpy_bert(weights, row) for row in rows])
    assert np.abs(found - wanted).max() < 2e-6


def test_int8_stays_near_float(tiny: Model) -> None:
    import onnx

    weights = random_weights()
    found = Encoder(tiny).encode(TEXTS)
    wanted = np.array(
        [
            numpy_bert(weights, token_ids(text)[:23] + [3])
            if len(text.split()) > 22
            else numpy_bert(weights, token_ids(text))
            for text in TEXTS
        ]
    )
    assert (found * wanted).sum(1).min() > 0.99
    prepared = onnx.load(tiny.onnx).graph
    assert sum(node.op_type == "DynamicQuantizeMatMul" for node in prepared.node) == 6 * LAYERS
    assert not any(
        table.data_type == 1 and table.dims[:1] == [len(VOCABULARY)] and table.dims[1:] == [HIDDEN]
        for table in prepared.initializer
    )


def test_rows_are_unit_float32_in_order(tiny: Model) -> None:
    rows = Encoder(tiny).encode(TEXTS)
    assert rows.shape == (len(TEXTS), HIDDEN)
    assert rows.dtype == np.float32
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6
    assert Encoder(tiny).dimensions == HIDDEN
    assert Encoder(tiny).encode([]).shape == (0, HIDDEN)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_vector_depends_on_its_text_alone(tiny: Model, threads: int) -> None:
    alone = [Encoder(tiny, threads=1).encode([text])[0] for text in TEXTS]
    assert np.array_equal(Encoder(tiny, threads).encode(TEXTS), alone)
    assert np.array_equal(Encoder(tiny, threads).encode(TEXTS[::-1] * 3), (alone[::-1]) * 3)


def test_vector_is_the_same_in_another_process(tiny: Model) -> None:
    code = (
        "import sys; from pathlib import Path; from zephyr_ask.encoder import *\n"
        f"m = Model(Path({str(tiny.onnx)!r}), Path({str(tiny.tokenizer)!r}), 'n', 'h', 24, 'o')\n"
        "sys.stdout.buffer.write(Encoder(m, threads=2).encode(['enable logging', 'a board'])"
        ".tobytes())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, check=True
    )
    assert done.stdout == Encoder(tiny).encode(["enable logging", "a board"]).tobytes()


@pytest.mark.parametrize(
    "text", ["", " \n", "\0", "a\0b", "\ud800", "x\udfff y", "word " * 20_000, "x" * 100_000]
)
def test_odd_texts_have_vectors(tiny: Model, text: str) -> None:
    row = Encoder(tiny).encode([text])
    assert np.isfinite(row).all()
    assert abs(float(np.linalg.norm(row)) - 1) < 1e-6


def test_text_is_cut_after_max_tokens(tiny: Model) -> None:
    coder = Encoder(tiny)
    words = (WORDS * 5)[:22]  # and [CLS] and [SEP]: 24
    long, exact, short = coder.encode([" ".join(w) for w in (words + ["board"], words, words[:21])])
    assert np.array_equal(long, exact)
    assert not np.array_equal(exact, short)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_every_text(tiny: Model, threads: int) -> None:
    seen: list[tuple[int, int]] = []
    Encoder(tiny, threads).encode(TEXTS, lambda _, done, total, unit: seen.append((done, total)))
    assert seen == [(i + 1, len(TEXTS)) for i in range(len(TEXTS))]


def test_error_in_a_thread_reaches_the_caller(tiny: Model) -> None:
    texts: Any = ["a", "board", None, "zephyr"]
    with pytest.raises(AttributeError):
        Encoder(tiny, threads=2).encode(texts)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for a child alone")
def test_ctrl_c_stops_promptly(tiny: Model) -> None:
    code = (
        "from pathlib import Path; from zephyr_ask.encoder import *\n"
        f"m = Model(Path({str(tiny.onnx)!r}), Path({str(tiny.tokenizer)!r}), 'n', 'h', 24, 'o')\n"
        "first = lambda s, done, total, unit: done == 1 and print('go', flush=True)\n"
        "Encoder(m, threads=2).encode(['enable logging'] * 10_000_000, first)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.readline() == b"go\n"
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in child.stderr.read()
        child.wait(timeout=10)
        assert time.monotonic() - start < 5


def copied(model: Model, place: Path) -> Model:
    """The same model from files that a test may spoil."""
    folder = Path(shutil.copytree(model.onnx.parent, place / "copy"))
    return replace(model, onnx=folder / model.onnx.name, tokenizer=folder / model.tokenizer.name)


@pytest.mark.parametrize("name", ["model.int8.onnx", LIGHT_FILE, WORDS_FILE])
@pytest.mark.parametrize("content", [b"x", b"\0", b"\n"])
def test_damaged_file_is_a_clear_error(
    tiny: Model, tmp_path: Path, name: str, content: bytes
) -> None:
    copy = copied(tiny, tmp_path)
    broken = copy.onnx.with_name(name)
    broken.write_bytes(content * broken.stat().st_size)
    with pytest.raises(ModelError) as caught:
        Encoder(copy)
    assert str(broken.parent) in caught.value.message
    assert str(broken.parent) in caught.value.hint


def test_lost_line_of_the_vocabulary_is_a_clear_error(tiny: Model, tmp_path: Path) -> None:
    copy = copied(tiny, tmp_path)
    path = copy.onnx.with_name(WORDS_FILE)
    path.write_bytes(path.read_bytes().replace(b"zephyr\n", b"zephyr_"))
    with pytest.raises(ModelError, match="vocab"):
        Encoder(copy)


def whole_file(model: Model) -> Any:
    """The tokenizer straight from its tokenizer.json, set as the encoder sets it."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.max_tokens)
    return tokenizer


ODD_TEXTS = [
    "",
    " \n\t ",
    "How do I enable logging?",
    "CONFIG_LOG_MODE_DEFERRED=y in prj.conf, see :ref:`logging_api`",
    '&uart0 { compatible = "zephyr,cdc-acm-uart"; current-speed = <115200>; };',
    "[UNK] [MASK] [CLS] [SEP] [PAD]",
    "a[MASK]b[UNK][UNK] [mask] [ UNK ] [UN",
    "naïve Übung café e\u0301 ÅNGSTRÖM İstanbul straße ﬁ ½",
    "中文文档 zephyr日本語のテキスト 한국어 العربية हिन्दी Ελληνικά",
    "🙂 👩‍👩‍👧 ∑∫√ ™ → “quoted” it's…",
    "qzxjvkwq zzzzqqqq ##ing ing ## #",
    "\0 a\0b \x07 \u200b \ufeff \u00ad \u2028 a\u00a0b\u3000c \ufffd",
    *("x" * n for n in (99, 100, 101, 5000)),
    "pneumonoultramicroscopicsilicovolcanoconiosis" * 2,
    "0x1F 3.14e-10 v4.1.99-rc1 1,000 2**31",
    "enable logging in a zephyr sample " * 300,
]


@pytest.mark.parametrize("name", ["tiny", "real"])
def test_light_tokenizer_gives_the_same_tokens(name: str, request: pytest.FixtureRequest) -> None:
    model: Model = request.getfixturevalue(name)
    assert model.tokenizer.with_name(LIGHT_FILE).stat().st_size < 4000
    whole, light = whole_file(model), Encoder(model)._tokenizer
    for text in ODD_TEXTS:
        wanted, found = whole.encode(text), light.encode(text)
        for part in ("ids", "tokens", "type_ids", "attention_mask", "offsets"):
            assert getattr(found, part) == getattr(wanted, part), text
    assert len(light.encode("")) == 2  # not padded
    assert len(light.encode(ODD_TEXTS[-1])) == model.max_tokens
    assert light.get_vocab() == whole.get_vocab()


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=400) | st.lists(st.sampled_from(ODD_TEXTS[:-1])).map("".join))
def test_light_tokenizer_gives_the_same_tokens_for_any_text(real: Model, text: str) -> None:
    whole, light = both_tokenizers(real)
    assert light.encode(text).ids == whole.encode(text).ids


@cache
def both_tokenizers(model: Model) -> tuple[Any, Any]:
    return whole_file(model), Encoder(model)._tokenizer


def test_folder_of_before_has_the_same_vectors(tiny: Model, tmp_path: Path) -> None:
    """Folders that were prepared without the light files are used as they are."""
    old = copied(tiny, tmp_path)
    old.onnx.with_name(LIGHT_FILE).unlink()
    texts = [text for text in ODD_TEXTS if text]
    assert np.array_equal(Encoder(old).encode(texts), Encoder(tiny).encode(texts))
    old.onnx.with_name(WORDS_FILE).unlink()
    assert np.array_equal(Encoder(old).encode(texts), Encoder(tiny).encode(texts))


def test_other_tokenizers_stay_whole(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models

    words = {word: i for i, word in enumerate(VOCABULARY)}
    last = len(words)
    added = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    added.add_tokens(["devicetree_overlay"])
    others = {
        "word level": Tokenizer(models.WordLevel(words, unk_token="[UNK]")),
        "pairs": Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])),
        "unigram": Tokenizer(models.Unigram([("a", -1.0), ("b", -2.0)], 0)),
        "number left out": Tokenizer(models.WordPiece({**words, "x": last + 1}, unk_token="[UNK]")),
        "blank": Tokenizer(models.WordPiece({**words, "x ": last}, unk_token="[UNK]")),
        "two lines": Tokenizer(models.WordPiece({**words, "x\ny": last}, unk_token="[UNK]")),
        "word added": added,
    }
    for name, tokenizer in others.items():
        path = tmp_path / name / "tokenizer.json"
        path.parent.mkdir()
        tokenizer.save(str(path))
        assert lighten(path) == (), name
        assert [each.name for each in path.parent.iterdir()] == [path.name], name


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"model": 1, "added_tokens": []}',
        b'{"model": {"type": "WordPiece", "unk_token": "", "vocab": 5}, "added_tokens": []}',
        b'{"model": {"type": "WordPiece", "unk_token": "", "vocab": {}}, "added_tokens": []}',
        b'{"model": {"type": "WordPiece", "unk_token": "", "vocab": {"a": 0}}, "added_tokens": []}',
    ],
)
def test_garbage_is_not_lightened(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    assert lighten(path) == ()
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_heavy_is_imported_for_the_module() -> None:
    code = (
        "import sys, zephyr_ask.encoder, zephyr_ask.models\n"
        "print(sorted({'numpy', 'onnx', 'onnxruntime', 'tokenizers', 'huggingface_hub'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "roberta"},
        {"hidden_act": "relu"},
        {"num_attention_heads": 5},
        {"hidden_size": None},
        {"position_embedding_type": "relative_key"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_architectures_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ModelError):
        graph.export(random_weights(), {**CONFIG, **change})


def test_missing_tensor_is_named() -> None:
    weights = random_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(ModelError, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        graph.export(weights, CONFIG)


def test_safetensors_come_back(tmp_path: Path) -> None:
    weights = random_weights()
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors({f"bert.{name}": value for name, value in weights.items()}))
    found = graph.read_safetensors(path)
    assert found.keys() == weights.keys()
    assert all(np.array_equal(found[name], weights[name]) for name in weights)


@pytest.mark.parametrize("keep", [0, 4, 100, 5000, 100_000])
def test_truncated_safetensors_are_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(random_weights())[:keep])
    with pytest.raises(ModelError, match="Not a safetensors"):
        graph.read_safetensors(path)


def test_real_model_knows_what_is_near(real: Model) -> None:
    coder = Encoder(real)
    assert coder.dimensions == 384
    question, near, far = coder.encode(
        [
            "How do I turn on logging?",
            "Set CONFIG_LOG=y in prj.conf to enable the logging subsystem.",
            "The board has two Ethernet connectors and a barrel jack for power.",
        ]
    )
    assert question @ near > question @ far + 0.2


def test_real_model_stays_near_float(real: Model) -> None:
    import onnxruntime
    from tokenizers import Tokenizer

    place = Path(str(importlib.util.find_spec(models.PACKAGE).origin)).parent / "model"  # type: ignore[union-attr]
    config = json.loads((place / "config.json").read_text("utf-8"))
    model = graph.export(graph.read_safetensors(place / "model.safetensors"), config)
    graph.pool(model)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(real.tokenizer))
    tokenizer.no_padding()
    texts = ["How do I turn on logging?", "A devicetree overlay changes nodes of a board. " * 12]
    rows = Encoder(real).encode(texts)
    for text, row in zip(texts, rows, strict=True):
        tokenizer.enable_truncation(real.max_tokens)
        ids = np.array([tokenizer.encode(text).ids])
        ones, zeros = np.ones_like(ids), np.zeros_like(ids)
        wanted = session.run(
            None, {"input_ids": ids, "attention_mask": ones, "token_type_ids": zeros}
        )[0][0]
        assert row @ wanted > 0.98
