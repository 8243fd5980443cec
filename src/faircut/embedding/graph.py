"""A BERT encoder as an ONNX graph, built from its weights with numpy and onnx alone.

Comes in: the tensors of ``model.safetensors``, by name. Goes out: an ONNX model, ``input_ids (b, l)`` to
``last_hidden_state (b, l, d)``. Texts of one batch must have the same length: there is no mask, because there is no
padding. Pooling is left to the embedder, where to keep the graph to ``weights.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

__all__ = ["BertShape", "bert_graph"]

Tensors = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class BertShape:
    """The sizes of a BERT encoder, as in its ``config.json``."""

    layers: int
    heads: int
    hidden: int
    epsilon: float = 1e-12


@dataclass
class _Graph:
    """Collects nodes and constants; each method returns the name of its result."""

    tensors: Tensors
    shape: BertShape
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def constant(self, value: NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def affine(self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        return self.op("Add", self.op("MatMul", x, self.constant(weight)), self.constant(bias))

    def linear(self, x: str, name: str) -> str:
        return self.affine(x, self.tensors[f"{name}.weight"].T, self.tensors[f"{name}.bias"])

    def normalised(self, x: str, name: str) -> str:
        scale, shift = (self.constant(self.tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=self.shape.epsilon)

    def embeddings(self) -> str:
        """Word, position and segment; every text is segment 0, so that row is added to the positions at once."""
        words = self.op("Gather", self.constant(self.tensors["embeddings.word_embeddings.weight"]), "input_ids")
        table = self.tensors["embeddings.position_embeddings.weight"]
        table = table + self.tensors["embeddings.token_type_embeddings.weight"][0]
        length = self.op("Shape", "input_ids", start=1, end=2)
        positions = self.op("Slice", self.constant(table), self.integers(0), length, self.integers(0))
        return self.normalised(self.op("Add", words, positions), "embeddings.LayerNorm")

    def attention(self, x: str, name: str) -> str:
        """Query, key and value from one product of ``(d, 3d)``, the scale folded into the query's weights."""
        heads, width = self.shape.heads, self.shape.hidden // self.shape.heads
        parts = [f"{name}.self.{part}" for part in ("query", "key", "value")]
        scales = [np.float32(width**-0.5), np.float32(1), np.float32(1)]
        weight = np.concatenate([self.tensors[f"{p}.weight"].T * s for p, s in zip(parts, scales, strict=True)], axis=1)
        bias = np.concatenate([self.tensors[f"{p}.bias"] * s for p, s in zip(parts, scales, strict=True)])
        split = self.op("Reshape", self.affine(x, weight, bias), self.integers(0, 0, 3, heads, width))
        stacked = self.op("Transpose", split, perm=[2, 0, 3, 1, 4])  # (3, b, heads, l, width)
        query, key, value = (self.op("Gather", stacked, self.constant(np.array(i)), axis=0) for i in range(3))
        scores = self.op("MatMul", query, self.op("Transpose", key, perm=[0, 1, 3, 2]))
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        joined = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.op("Reshape", joined, self.integers(0, 0, self.shape.hidden))

    def layer(self, x: str, name: str) -> str:
        attended = self.linear(self.attention(x, f"{name}.attention"), f"{name}.attention.output.dense")
        x = self.normalised(self.op("Add", attended, x), f"{name}.attention.output.LayerNorm")
        wide = self.op("Gelu", self.linear(x, f"{name}.intermediate.dense"))
        return self.normalised(self.op("Add", self.linear(wide, f"{name}.output.dense"), x), f"{name}.output.LayerNorm")


def bert_graph(tensors: Tensors, shape: BertShape) -> onnx.ModelProto:
    """The encoder of Devlin et al. (2019) with exact GELU, without the pooler.

    Args:
        tensors: float32 weights under the names of Hugging Face's ``BertModel``.
        shape: layers, heads and hidden size.

    Returns:
        A model of opset 20: ``input_ids`` int64 ``(b, l)`` to ``last_hidden_state`` float32 ``(b, l, d)``.
    """
    graph = _Graph(tensors, shape)
    x = graph.embeddings()
    for layer in range(shape.layers):
        x = graph.layer(x, f"encoder.layer.{layer}")
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "l"])
    hidden = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "l", shape.hidden])
    built = helper.make_graph(graph.nodes, "bert", [ids], [hidden], graph.constants)
    model = helper.make_model(built, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    return model
