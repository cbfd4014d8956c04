"""Layers that become ONNX operators without a rule of onnxifier: it has none, or forgets types, masks or axes.

Each function adds nodes, and gives a value for each output of the layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES
from padops.convert.readers.openvino_ir.values import (
    Unreadable,
    Values,
    attributes_of,
    decimal,
    integer,
    integers,
    word,
)

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)
FIRST, LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max  # ends of a Slice, whatever the size of the axis


class Layer:
    """A layer and the nodes that it becomes."""

    def __init__(self, node: onnx.NodeProto, values: Values) -> None:
        self.node, self.values = node, values
        self.attributes = attributes_of(node)
        self.type = values.types[node.input[0]]
        self.nodes: list[onnx.NodeProto] = []

    def add(self, op_type: str, *inputs: str, count: int = 1, **attributes: Any) -> str:
        """Adds a node; gives the name of its first output, or of its only one."""
        name = self.values.fresh(f"{self.node.name}/{op_type}_{len(self.nodes)}")
        outputs = [name, *(self.values.fresh(f"{name}.{i}") for i in range(1, count))]
        self.nodes.append(helper.make_node(op_type, inputs, outputs, name, **attributes))
        return name

    def constant(self, value: Any, type: Any = np.int64) -> str:
        """Adds a constant."""
        return self.add("Constant", value=numpy_helper.from_array(np.asarray(value, type)))

    def number(self, value: float) -> str:
        """Adds a scalar of the type of the first input."""
        return self.constant(value, helper.tensor_dtype_to_np_dtype(self.type))

    def finish(self, given: Sequence[str]) -> list[onnx.NodeProto]:
        """The nodes, which give the values as the outputs of the layer."""
        names = dict(zip(given, self.node.output))
        for node in self.nodes:
            for names_of in (node.input, node.output):
                names_of[:] = [names.get(name, name) for name in names_of]
        self.nodes[-1].name = self.node.name
        return self.nodes


def onnx_nodes(node: onnx.NodeProto, values: Values) -> list[onnx.NodeProto]:
    """The operators that a layer of these types is.

    Raises:
        Unreadable: ONNX has nothing like it.
    """
    layer = Layer(node, values)
    given = CONVERT[node.op_type](layer, *node.input)
    return layer.finish([given] if isinstance(given, str) else given)


def _convert(layer: Layer, data: str) -> str:
    name = layer.attributes.get("destination_type", "None")
    if name not in ELEMENT_TYPES:
        raise Unreadable(f"ONNX does not have the type {name}")
    return layer.add("Cast", data, to=ELEMENT_TYPES[name])


def _transpose(layer: Layer, data: str, order: str) -> str:
    perm = layer.values.constant(order)
    if perm is None or not perm.size:
        raise Unreadable("the order of its axes is empty or not constant")
    return layer.add("Transpose", data, perm=perm.tolist())


def _shape_of(layer: Layer, data: str) -> str:
    """A constant where the shape is known; onnxifier casts the data where the result is to be int32."""
    name = layer.attributes.get("output_type", "i64")
    if name not in ("i32", "i64"):
        raise Unreadable(f"output_type='{name}' is not i32 or i64")
    dims = layer.values.static(data)
    if dims is not None:
        return layer.constant(dims, np.int64 if name == "i64" else np.int32)
    shape = layer.add("Shape", data)
    return shape if name == "i64" else layer.add("Cast", shape, to=ELEMENT_TYPES[name])


def _mvn(layer: Layer, data: str, axes: str) -> str:
    """(x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps), or without the division."""
    if layer.attributes.get("version") != "opset6":
        raise Unreadable("only MVN of opset6 is read")
    epsilon, mode = decimal(layer.attributes, "eps"), word(layer.attributes, "eps_mode").lower()
    if layer.type not in FLOATS:
        raise Unreadable("its data are no floats")
    centred = layer.add("Sub", data, layer.add("ReduceMean", data, axes, keepdims=1))
    if word(layer.attributes, "normalize_variance") != "true":
        return centred
    spread = layer.add("ReduceMean", layer.add("Mul", centred, centred), axes, keepdims=1)
    if mode == "inside_sqrt":
        spread = layer.add("Sqrt", layer.add("Add", spread, layer.number(epsilon)))
    else:
        spread = layer.add("Add", layer.add("Sqrt", spread), layer.number(epsilon))
    return layer.add("Div", centred, spread)


def _einsum(layer: Layer, *inputs: str) -> str:
    """Where the equation does not say what is kept, those labels are that occur once, in the order of the alphabet."""
    equation = "".join(word(layer.attributes, "equation").split())
    if "->" not in equation:
        labels = equation.replace(",", "").replace("...", "")
        kept = "".join(label for label in sorted(set(labels)) if labels.count(label) == 1)
        equation += f"->{'...' if '...' in equation else ''}{kept}"
    return layer.add("Einsum", *inputs, equation=equation)


def _fake_quantize(layer: Layer, data: str, low: str, high: str, new_low: str, new_high: str) -> str:
    """As OpenVINO's CPU device computes it: the formula of its documentation gives other numbers for ties."""
    if layer.attributes.get("auto_broadcast", "numpy") not in ("numpy", "none"):
        raise Unreadable(f"auto_broadcast='{layer.attributes['auto_broadcast']}'")
    if layer.type not in FLOATS:
        raise Unreadable("its data are no floats")
    levels = integer(layer.attributes, "levels")
    if levels < 2:
        raise Unreadable(f"levels is {levels}, expected 2 or more")
    lowest, highest = (layer.values.array(name) for name in (low, high))
    if lowest is not None and highest is not None and np.equal(lowest, highest).any():
        raise Unreadable("its limits of inputs are equal, where OpenVINO's CPU device gives NaN")
    steps = layer.number(levels - 1)
    scale = layer.add("Div", steps, layer.add("Sub", high, low))
    shift = layer.add("Mul", layer.add("Neg", low), scale)
    inside = layer.add("Max", data, layer.add("Min", low, high))
    inside = layer.add("Min", inside, layer.add("Max", low, high))
    level = layer.add("Round", layer.add("Add", layer.add("Mul", inside, scale), shift))
    step = layer.add("Div", layer.add("Sub", new_high, new_low), steps)
    return layer.add("Add", layer.add("Mul", level, step), new_low)


def _strided_slice(layer: Layer, data: str, begin: str, end: str, strides: str = "") -> str:
    """Slice, with ends in place of masks; axes of shrink_axis_mask are removed after it, new axes added last."""
    count = layer.values.static(begin)
    if count is None or len(count) != 1 or any(layer.values.static(name) != count for name in (end, strides) if name):
        raise Unreadable("the numbers of axes of begin, end and strides are not known, or differ")
    entries, shrunk, added = _axes(layer, data, count[0])
    rows = [row for row, _ in entries]
    first, last, shrink = (
        np.array([_bit(layer, f"{name}_mask", row) for row in rows], bool) for name in ("begin", "end", "shrink_axis")
    )
    steps = layer.values.constant(strides) if strides else np.ones(count)
    if steps is None and (first | last | shrink).any():
        raise Unreadable("begin_mask, end_mask or shrink_axis_mask with strides that are not constant")
    forward = np.ones(len(rows), bool) if steps is None else (steps[rows] > 0) | shrink
    starts = _chosen(layer, begin, rows, first & ~shrink, np.where(forward, 0, LAST))
    ends = _chosen(layer, end, rows, last & ~shrink, np.where(forward, LAST, FIRST))
    if shrink.any():
        behind = layer.add("Add", starts, layer.constant(1))
        behind = layer.add("Where", layer.add("Equal", starts, layer.constant(-1)), layer.constant(LAST), behind)
        ends = layer.add("Where", layer.constant(shrink, bool), behind, ends)
    by = layer.add("Cast", strides, to=TensorProto.INT64) if steps is None else ""
    by = by or layer.constant(np.where(shrink, 1, steps[rows]) if steps is not None else ())
    given = layer.add("Slice", data, starts, ends, layer.constant([axis for _, axis in entries]), by)
    given = layer.add("Squeeze", given, layer.constant(shrunk)) if shrunk else given
    return layer.add("Unsqueeze", given, layer.constant(added)) if added else given


def _bit(layer: Layer, mask: str, row: int) -> bool:
    bits = integers(layer.attributes, mask, missing="")
    return row < len(bits) and bits[row] != 0


def _axes(layer: Layer, data: str, count: int) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Rows of a StridedSlice's begin with their axes, the axes that it drops, and those of the output that are new."""
    names = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    marks = [next((name for name in names if _bit(layer, name, row)), "") for row in range(count)]
    dims = layer.values.dims[data]
    entries, shrunk, added = [], [], []
    axis = output = 0
    for row, mark in enumerate(marks):
        if mark == "ellipsis_mask":
            if dims is None:
                raise Unreadable("ellipsis_mask with data of unknown rank")
            passed = len(dims) - sum(other in ("", "shrink_axis_mask") for other in marks)
            axis, output = axis + passed, output + passed
        elif mark == "new_axis_mask":
            added.append(output)
            output += 1
        else:
            entries.append((row, axis))
            if mark:
                shrunk.append(axis)
            axis, output = axis + 1, output + (not mark)
    return entries, shrunk, added


def _chosen(layer: Layer, given: str, rows: list[int], masked: np.ndarray, ends: np.ndarray) -> str:
    """Some rows of begin or end as int64, with other numbers where they are masked."""
    array = layer.values.constant(given)
    if array is not None:
        return layer.constant(np.where(masked, ends, array.astype(np.int64)[rows]))
    rowed = layer.add("Cast", given, to=TensorProto.INT64)
    rowed = layer.add("Gather", rowed, layer.constant(rows))
    return layer.add("Where", layer.constant(masked, bool), layer.constant(ends), rowed) if masked.any() else rowed


# Gates of a sequence by their letters, as OpenVINO orders them and as ONNX does; ONNX adds a bias of R's rows, of which
# OpenVINO has at most that of GRU's hidden gate ("H").
GATES = {"LSTM": ("fico", "iofc"), "GRU": ("zrh", "zrh"), "RNN": ("h", "h")}
ACTIVATIONS = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu"}
USUAL = {"LSTM": "sigmoid,tanh,tanh", "GRU": "sigmoid,tanh", "RNN": "tanh"}
DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}


def _sequence(layer: Layer, data: str, *inputs: str) -> list[str]:
    """LSTM, GRU or RNN: the batch is axis 0 in OpenVINO and axis 1 in ONNX, whose runtime has no other layout."""
    kind, attributes = layer.node.op_type.removesuffix("Sequence"), layer.attributes
    *states, lengths, weights, recurrent, bias = inputs
    size = integer(attributes, "hidden_size")
    direction = word(attributes, "direction").lower()
    names = [name.strip().lower() for name in attributes.get("activations", USUAL[kind]).split(",")]
    if reason := _sequence_refusal(layer, kind, direction, names):
        raise Unreadable(reason)
    theirs, ours = GATES[kind]
    reset = attributes.get("linear_before_reset", "false").lower() == "true"
    width = (len(theirs) + reset) * size
    if layer.values.static(bias) != [DIRECTIONS[direction], width]:
        raise Unreadable(f"its biases do not have the dims {DIRECTIONS[direction]}, {width}")
    rows = [theirs.index(gate) * size + i for gate in ours for i in range(size)]
    order = layer.constant(rows)
    # A column of zeros, behind those that there are, is the bias that OpenVINO does not have.
    zeros = layer.constant(np.zeros((DIRECTIONS[direction], 1)), helper.tensor_dtype_to_np_dtype(layer.type))
    none = [width] * len(rows)
    other = [*none[:-size], *range(width - size, width)] if reset else none
    biases = layer.add("Gather", layer.add("Concat", bias, zeros, axis=1), layer.constant(rows + other), axis=1)
    more = {"linear_before_reset": int(reset)} if kind == "GRU" else {}
    layer.add(
        kind,
        layer.add("Transpose", data, perm=[1, 0, 2]),
        layer.add("Gather", weights, order, axis=1),
        layer.add("Gather", recurrent, order, axis=1),
        biases,
        layer.add("Cast", lengths, to=TensorProto.INT32),
        *(layer.add("Transpose", state, perm=[1, 0, 2]) for state in states),
        count=1 + len(states),
        hidden_size=size,
        direction=direction,
        activations=[ACTIVATIONS[name] for name in names] * DIRECTIONS[direction],
        **more,
    )
    all_states, *last = layer.nodes[-1].output
    return [
        layer.add("Transpose", all_states, perm=[2, 1, 0, 3]),
        *(layer.add("Transpose", state, perm=[1, 0, 2]) for state in last),
    ]


def _sequence_refusal(layer: Layer, kind: str, direction: str, names: list[str]) -> str | None:
    """Why ONNX Runtime has no such sequence, or None."""
    attributes = layer.attributes
    if attributes.get("version") != "opset5":
        return f"only {layer.node.op_type} of opset5 is read"
    if layer.type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        return "ONNX Runtime has it only for float and double"
    if direction not in DIRECTIONS:
        return f"direction='{direction}'"
    if len(names) != len(USUAL[kind].split(",")) or not ACTIVATIONS.keys() >= set(names):
        return f"activations='{attributes['activations']}'"
    if decimal({"clip": "0", **attributes}, "clip") or attributes.get("input_forget", "false") != "false":
        return "clip or input_forget"
    return None


CONVERT: Mapping[str, Callable[..., str | list[str]]] = {
    "Convert": _convert,
    "Einsum": _einsum,
    "FakeQuantize": _fake_quantize,
    "MVN": _mvn,
    "ShapeOf": _shape_of,
    "StridedSlice": _strided_slice,
    "Transpose": _transpose,
    **{f"{kind}Sequence": _sequence for kind in GATES},
}
OWN = frozenset(CONVERT)
