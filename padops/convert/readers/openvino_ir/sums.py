"""Layers that add up elements: reductions, products, norms and sorting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt

import numpy as np
from onnx import TensorProto

from padops.convert.readers.openvino_ir.layer import FLOATS, Layer, Unreadable


def _softmax(layer: Layer, data: str) -> str:
    return layer.add("Softmax", data, axis=layer.integer("axis", "1"))


def _reduce(layer: Layer, data: str, axes: str) -> str:
    if not layer.numbers(axes).size:
        raise Unreadable("ONNX reduces all axes where the list of them is empty")
    return layer.add(layer.node.op_type, data, layer.integral(axes, 1), keepdims=int(layer.flag("keep_dims", "false")))


def _matmul(layer: Layer, first: str, second: str) -> str:
    given = []
    for name, mark in ((first, "transpose_a"), (second, "transpose_b")):
        if layer.flag(mark, "false"):
            if len(layer.values.dims[name] or ()) < 2:
                raise Unreadable(f"{mark} of a vector, or of an input of unknown rank")
            name = _transposed(layer, name)
        given.append(name)
    return layer.add("MatMul", *given)


def _transposed(layer: Layer, name: str) -> str:
    """A value with its last two axes in the other order."""
    rank = len(layer.dims(name))
    return layer.add("Transpose", name, perm=[*range(rank - 2), rank - 1, rank - 2])


def _attention(layer: Layer, query: str, key: str, value: str, mask: str = "", scale: str = "") -> str:
    scores = layer.add("MatMul", query, _transposed(layer, key))
    size = layer.dims(query)[-1]
    if not scale and size is None:
        raise Unreadable("without a scale, and of vectors whose size is dynamic")
    scores = layer.add("Mul", scores, scale or layer.like(1 / sqrt(max(size or 1, 1))))
    if layer.flag("causal"):
        rows = layer.add("Unsqueeze", _places(layer, query), layer.constant([-1]))
        past = layer.add("LessOrEqual", _places(layer, key), rows)
        scores = layer.add("Where", past, scores, layer.like(-np.inf))
    elif mask and layer.values.types[mask] == TensorProto.BOOL:
        scores = layer.add("Where", mask, scores, layer.like(-np.inf))
    elif mask:
        scores = layer.add("Add", scores, mask)
    return layer.add("MatMul", layer.add("Softmax", scores, axis=-1), value)


def _places(layer: Layer, vectors: str) -> str:
    """The numbers of the vectors, from 0."""
    count = layer.add("Squeeze", layer.add("Shape", vectors, start=-2, end=-1))
    return layer.add("Range", layer.constant(0), count, layer.constant(1))


def _batch_norm(layer: Layer, data: str, scale: str, shift: str, mean: str, variance: str) -> str:
    if layer.word("version") == "opset1":
        data, scale, shift = shift, data, scale
    return layer.add("BatchNormalization", data, scale, shift, mean, variance, epsilon=layer.decimal("epsilon"))


def _mvn(layer: Layer, data: str, axes: str) -> str:
    """(x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps), or without the division."""
    layer.choice("version", {"opset6": None})
    epsilon, inside = layer.decimal("eps"), layer.choice("eps_mode", {"inside_sqrt": True, "outside_sqrt": False})
    if layer.type not in FLOATS:
        raise Unreadable("its data are no floats")
    axes = layer.integral(axes)
    centred = layer.add("Sub", data, layer.add("ReduceMean", data, axes, keepdims=1))
    if not layer.flag("normalize_variance"):
        return centred
    spread = layer.add("ReduceMean", layer.add("Mul", centred, centred), axes, keepdims=1)
    if inside:
        spread = layer.add("Sqrt", layer.add("Add", spread, layer.like(epsilon)))
    else:
        spread = layer.add("Add", layer.add("Sqrt", spread), layer.like(epsilon))
    return layer.add("Div", centred, spread)


def _einsum(layer: Layer, first: str, *others: str) -> str:
    """Where the equation does not say what is kept, those labels are that occur once, in the order of the alphabet."""
    equation = "".join(layer.word("equation").split())
    if "->" not in equation:
        labels = equation.replace(",", "").replace("...", "")
        kept = "".join(label for label in sorted(set(labels)) if labels.count(label) == 1)
        equation += f"->{'...' if '...' in equation else ''}{kept}"
    return layer.add("Einsum", first, *others, equation=equation)


def _topk(layer: Layer, data: str, count: str) -> list[str]:
    """Indices are of int32 unless the layer says otherwise."""
    if layer.word("sort", "value") != "value":
        raise Unreadable(f"ONNX does not have sort='{layer.word('sort')}'")
    largest = layer.choice("mode", {"max": 1, "min": 0})
    layer.add("TopK", data, layer.integral(count, 1), count=2, axis=layer.integer("axis"), largest=largest, sorted=1)
    found, places = layer.nodes[-1].output
    return [found, layer.add("Cast", places, to=layer.element_type("index_element_type", "i32"))]


SUMS: Mapping[str, Callable[..., str | list[str]]] = {
    "BatchNormInference": _batch_norm, "Einsum": _einsum, "MVN": _mvn, "MatMul": _matmul,
    "ScaledDotProductAttention": _attention, "SoftMax": _softmax, "TopK": _topk,
    **{f"Reduce{name}": _reduce for name in ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum")},
}  # fmt: skip
