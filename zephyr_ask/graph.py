# SPDX-License-Identifier: Apache-2.0
"""The encoder's graph: checkpoint → float32 ONNX → pooled → fused → int8, without torch.

Used once for each model, when it is prepared; `onnx` is imported nowhere else.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyr_ask.types import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# 7 of 8 bits, signed, a scale for each column. Over 200 passages and 80 questions (cosine to
# fp32, smallest cosine, top-10 overlap):
#   S8 7 bit per column .9928 .987 .90 | per tensor .795 .561 .59
#   S8 8 bit per column .9914 .982 .90 | per tensor .933 .870 .76
#   U8 8 bit per column .9943 .987 .91 | per tensor .974 .950 .84
# Speed goes by the sign: S8 17 passages/s on one core (7 bit 15-19, 8 bit 16-21), U8 15 (14-16);
# medians and ranges of 7 rounds over 60 long passages, AVX2 without VNNI, CPU time.
# AVX2 adds pairs of u8 × s8 products in 16 bits with saturation: 255 × 127 × 2 does not fit,
# 255 × 63 × 2 does. With 7 bits no CPU saturates, so VNNI, AVX2 and ARM give the same sums.
WEIGHT_MAX = 63
# Word embeddings: int8, a scale for each token: .9928 as with float32 rows, 12 MB, not 47.
EMBEDDING_MAX = 127
EMBEDDING_ELEMENTS = 1 << 16  # a table smaller than 256 kB gains nothing
OPSET = 17  # the first with LayerNormalization; ONNX Runtime 1.12 (2022) and later take it
IR_VERSION = 8  # belongs to opset 17
MASKED = -10000.0  # added to the logits of padding; as in BERT, far below any real logit
VECTOR = "ask.vector"  # the name of a prepared model's one output
INLINE_BYTES = 1024  # tensors above this stand in the .bin, which is mapped, not parsed:
# opening a session takes 28 ms and 66 MB so, 83 ms and 88 MB as one .onnx, 103 and 111 as .ort
QUANTISED = {"DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DequantizeLinear"}
QUANTISED |= {"MatMulInteger", "MatMulIntegerToFloat", "QAttention"}
SAFETENSORS = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}  # other types hold no weights here
INPUTS = ("input_ids", "attention_mask", "token_type_ids")

Weights = Mapping[str, "NDArray[np.float32]"]


def read(weights: Path, config: Mapping[str, Any]) -> Any:
    """The ONNX model in an .onnx file, or exported from a .safetensors file."""
    if weights.suffix == ".safetensors":
        return export(read_safetensors(weights), config)
    import onnx

    return onnx.load(weights)


def save(model: Any, path: Path, data: Path) -> None:
    """Writes the nodes to `path` and the large tensors to `data`, in the same folder."""
    import onnx

    place: dict[str, Any] = {"location": data.name, "size_threshold": INLINE_BYTES}
    onnx.save(model, path, save_as_external_data=True, **place)
    data.touch()  # a model without a large tensor has no .bin


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Float tensors by name, mapped rather than read. ModelError: it is none.

    The format is a little-endian u64 (length of the header), a JSON header of dtype, shape and
    byte range of each tensor, and the bytes; too little to need a package for.
    """
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

    def __init__(self, weights: Weights) -> None:
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
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=eps)


def export(weights: Weights, config: Mapping[str, Any]) -> Any:
    """A BERT encoder as an ONNX model in standard operators, float32.

    int64 [batch, tokens] input_ids, attention_mask, token_type_ids → last_hidden_state
    [batch, tokens, hidden], as the hub's own exports. ModelError: the config is not BERT's.
    """
    from onnx import TensorProto, helper

    hidden, heads, layers, eps = _shape(config)
    graph = _Graph(weights)
    x = graph.norm(_embeddings(graph), "embeddings.LayerNorm", eps)
    mask = _mask(graph)
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
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in INPUTS
    ]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", hidden]
    )
    return helper.make_model(
        helper.make_graph(graph.nodes, "bert", inputs, [output], list(graph.constants.values())),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )


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


def _embeddings(graph: _Graph) -> str:
    """Word + kind + place of each token, not yet normed."""
    size = graph.node("Shape", "input_ids")
    length = graph.node("Slice", size, graph.constant([1]), graph.constant([2]))
    parts = ("word", "token_type", "position")
    word, kind, place = (graph.weight(f"embeddings.{part}_embeddings.weight") for part in parts)
    words = graph.node("Gather", word, "input_ids")
    words = graph.node("Add", words, graph.node("Gather", kind, "token_type_ids"))
    places = graph.node("Slice", place, graph.constant([0]), length, graph.constant([0]))
    return graph.node("Add", words, places)


def _mask(graph: _Graph) -> str:
    """What is added to the logits: 0 for a token, MASKED for padding."""
    from onnx import TensorProto

    mask = graph.node("Unsqueeze", "attention_mask", graph.constant([1, 2]))
    mask = graph.node("Cast", mask, to=TensorProto.FLOAT)
    padding = graph.node("Sub", graph.constant(1.0, "float32"), mask)
    return graph.node("Mul", padding, graph.constant(MASKED, "float32"))


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
    if any(output.name == VECTOR for output in graph.output):
        return  # prepared by this very function before
    strange = {node.name for node in graph.input} - set(INPUTS)
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
        last, tokens = "pool.last", "pool.tokens"
        for name, axis in ((last, -1), (tokens, 1)):
            graph.initializer.append(helper.make_tensor(name, TensorProto.INT64, [1], [axis]))
        nodes = [
            helper.make_node("Unsqueeze", [mask, last], ["pool.mask64"]),
            helper.make_node("Cast", ["pool.mask64"], ["pool.mask"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [x, "pool.mask"], ["pool.kept"]),
            helper.make_node("ReduceSum", ["pool.kept", tokens], ["pool.sum"], keepdims=0),
            helper.make_node("ReduceSum", ["pool.mask", tokens], ["pool.n"], keepdims=0),
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


def fuse(model: Any, folder: Path) -> Any:
    """ONNX Runtime's own fusions (LayerNorm, Gelu, scaled MatMul), none bound to this CPU.

    It works on files: `folder` is where they may stand for a moment.
    """
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    with tempfile.TemporaryDirectory(dir=folder) as place:
        plain, fused = os.path.join(place, "plain.onnx"), os.path.join(place, "fused.onnx")
        onnx.save(model, plain)
        options.optimized_model_filepath = fused
        onnxruntime.InferenceSession(plain, options, providers=["CPUExecutionProvider"])
        return onnx.load(fused)


def quantise(model: Any) -> None:
    """Puts int8 weights into products and the word table; leaves an int8 model as it is.

    Not onnxruntime.quantization, which cannot follow types through fused operators, gives a
    table one scale only, and asks for more packages.
    """
    from onnx import helper

    graph = model.graph
    if any(node.op_type in QUANTISED for node in graph.node):
        return
    work = _Quantiser(graph)
    nodes = [new for node in graph.node for new in work.replace(node)]
    read = {name for node in nodes for name in node.input}
    tables = [table for name, table in work.tables.items() if name in read]
    inputs, outputs = list(graph.input), list(graph.output)
    graph.CopyFrom(helper.make_graph(nodes, graph.name, inputs, outputs, tables))
    if all(o.domain != "com.microsoft" for o in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))


class _Quantiser:
    """Gives for each node, in order, those that compute the same from int8 tables."""

    def __init__(self, graph: Any) -> None:
        self.tables: dict[str, Any] = {table.name: table for table in graph.initializer}
        self._merged: set[str] = set()  # outputs of additions that went into a product
        self._readers: dict[str, list[Any]] = {}
        for node in graph.node:
            for name in node.input:
                self._readers.setdefault(name, []).append(node)

    def replace(self, node: Any) -> list[Any]:
        if node.op_type == "MatMul" and self._rank(node.input[1]) == 2:
            return [self._product(node)]
        if node.op_type == "Gather" and self._rank(table := node.input[0]) == 2:
            rows, columns = self.tables[table].dims
            if rows * columns > EMBEDDING_ELEMENTS and len(self._readers[table]) == 1:
                return self._rows(node)
        return [] if node.output[0] in self._merged else [node]

    def _rank(self, name: str) -> int:
        return len(self.tables[name].dims) if name in self.tables else 0

    def _product(self, node: Any) -> Any:
        from onnx import helper

        (x, table), y = node.input, node.output[0]
        inputs = [x, *self._integers(table, 0, WEIGHT_MAX), ""]
        after = self._readers.get(y, [])
        if len(after) == 1 and after[0].op_type == "Add":
            bias = next(name for name in after[0].input if name != y)
            if self._rank(bias) == 1:
                inputs.append(bias)
                y = after[0].output[0]
                self._merged.add(y)
        return helper.make_node("DynamicQuantizeMatMul", inputs, [y], domain="com.microsoft")

    def _rows(self, node: Any) -> list[Any]:
        from onnx import TensorProto, helper

        (table, at), y = node.input, node.output[0]
        values, scale = self._integers(table, 1, EMBEDDING_MAX)
        return [
            helper.make_node("Gather", [values, at], [f"{y}.int8"]),
            helper.make_node("Gather", [scale, at], [f"{y}.scale"]),
            helper.make_node("Cast", [f"{y}.int8"], [f"{y}.float"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{y}.float", f"{y}.scale"], [y]),
        ]

    def _integers(self, name: str, axis: int, most: int) -> tuple[str, str]:
        """Names of new tables: int8 in ±most, and the float32 scale of each column (0) or row."""
        import numpy as np
        from onnx import numpy_helper

        table = numpy_helper.to_array(self.tables[name])
        scale = np.abs(table).max(axis=axis, keepdims=True).astype(np.float32) / np.float32(most)
        scale = np.maximum(scale, np.finfo(np.float32).tiny)  # a column of zeros
        values = np.rint(table / scale).astype(np.int8)
        names = f"{name}.int8", f"{name}.scale"
        for new, array in zip(
            names, (values, scale.reshape(-1) if axis == 0 else scale), strict=True
        ):
            self.tables.setdefault(new, numpy_helper.from_array(array, new))
        return names
