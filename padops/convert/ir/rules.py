"""The rules that convert layers to ONNX, one for each type of layer.

A rule accepts the inputs of a layer, adds nodes, and returns a value for each output. A test compares each rule with
OpenVINO's CPU device (``tests/convert/readers/test_convert_openvino_layers.py``; 2026.4.1, with onnxruntime 1.31.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from math import inf, sqrt

import numpy as np
import onnx
from onnx import TensorProto, helper

from padops.convert.ir.layer import FLOATS, Dims, Layer, Unreadable, Values
from padops.convert.ir.windows import WINDOWS
from padops.plural import plural

FIRST, LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max  # bounds of a Slice that reach the ends of any axis
REDUCTIONS = {"none": "none", "sum": "add", "prod": "mul", "min": "min", "max": "max"}  # of a scatter
# The gates of a sequence as letters, in OpenVINO's order and in ONNX's order. ONNX also has a bias for the recurrent
# weights R; OpenVINO has this bias at most for GRU's hidden gate.
GATES = {"LSTM": ("fico", "iofc"), "GRU": ("zrh", "zrh"), "RNN": ("h", "h")}
ACTIVATIONS = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu"}
USUAL = {"LSTM": "sigmoid,tanh,tanh", "GRU": "sigmoid,tanh", "RNN": "tanh"}
DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}

# Layers that equal an ONNX operator, and the operator's name. UNARY layers have one input, BINARY layers have two.
UNARY = {
    **{name: name for name in ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Erf", "Exp")},
    **{name: name for name in ("IsNaN", "Log", "Mish", "NonZero", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt")},
    **{"HSwish": "HardSwish", "LogicalNot": "Not", "Negative": "Neg", "ReLU": "Relu", "SoftPlus": "Softplus"},
    **{"Ceiling": "Ceil", "Floor": "Floor", "SoftSign": "Softsign", "Tan": "Tan", "Tanh": "Tanh"},
}
BINARY = {
    **{name: name for name in ("Add", "Equal", "Greater", "Less")},
    **{"ConvertLike": "CastLike", "GreaterEqual": "GreaterOrEqual", "LessEqual": "LessOrEqual"},
    **{"LogicalAnd": "And", "LogicalOr": "Or", "LogicalXor": "Xor", "Maximum": "Max", "Minimum": "Min"},
    **{"Multiply": "Mul", "Power": "Pow", "Subtract": "Sub"},
}

# Values of attributes that change nothing, so that no rule reads them; "*" means every layer, or every value.
WITHOUT_EFFECT: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("*", "auto_broadcast"): ("numpy",),
    ("*", "activations_alpha"): ("*",),  # of a sequence; the supported activations have no alpha and no beta
    ("*", "activations_beta"): ("*",),
    ("Divide", "m_pythondiv"): ("*",),  # for integers, OpenVINO rounds towards zero in any case
    ("Gather", "batch_dims"): ("0",),
    ("Interpolate", "antialias"): ("false",),
    ("NonZero", "output_type"): ("i64",),
    ("Round", "mode"): ("half_to_even",),
    ("ScatterElementsUpdate", "use_init_val"): ("true",),
    ("Squeeze", "allow_axis_skip"): ("false",),
    ("TopK", "stable"): ("*",),  # ONNX's TopK is stable
}


def _broadcast(layer: Layer, data: str, shape: str, axes: str = "") -> str:
    if layer.choice("mode", {"numpy": False, "bidirectional": False, "explicit": True}, "numpy"):
        rank = layer.values.static(shape)
        if not axes or rank is None or len(rank) != 1:
            raise Unreadable("mode='explicit' without axes, or with a target of unknown rank")
        mapped = layer.numbers(axes).reshape(-1).tolist()
        data = layer.add("Unsqueeze", data, layer.constant([i for i in range(rank[0]) if i not in mapped]))
    return layer.add("Expand", data, layer.integral(shape))


def _gather_nd(layer: Layer, data: str, indices: str) -> str:
    batches = layer.integer("batch_dims", "0")
    if batches > 1 and layer.word("version") == "opset5":
        raise Unreadable("GatherND of opset5 joins all batch dims into one dim, and ONNX's GatherND does not")
    return layer.add("GatherND", data, layer.integral(indices), batch_dims=batches)


def _scatter_update(layer: Layer, data: str, indices: str, updates: str, axis: str) -> str:
    """Write ScatterND along the first axis; Transposes move the layer's axis to the front, and back again."""
    rank, count, at = len(layer.dims(data)), len(layer.dims(indices)), layer.number(axis)
    at += rank if at < 0 else 0
    wanted = layer.add("Unsqueeze", layer.integral(indices), layer.constant([-1]))
    if not at:
        return layer.add("ScatterND", data, wanted, updates)
    first = [at, *(i for i in range(rank) if i != at)]
    order = [*range(at, at + count), *range(at), *range(at + count, rank + count - 1)]
    moved = layer.add("Transpose", data, perm=first), layer.add("Transpose", updates, perm=order)
    return layer.add("Transpose", layer.add("ScatterND", moved[0], wanted, moved[1]), perm=np.argsort(first).tolist())


def _split(layer: Layer, data: str, axis: str) -> list[str]:
    count, outputs = layer.integer("num_splits"), len(layer.node.output)
    if count != outputs:
        raise Unreadable(f"num_splits is {count}, but the layer has {outputs} outputs")
    layer.add("Split", data, count=count, axis=layer.number(axis), num_outputs=count)
    return list(layer.nodes[-1].output)


def _variadic_split(layer: Layer, data: str, axis: str, lengths: str) -> list[str]:
    sizes, at, dims = layer.numbers(lengths).tolist(), layer.number(axis), layer.dims(data)
    if -1 in sizes:
        if dims[at] is None:
            raise Unreadable("a length is -1, and the size of its axis is dynamic")
        sizes[sizes.index(-1)] = (dims[at] or 0) - sum(sizes) - 1
    layer.add("Split", data, layer.constant(sizes), count=len(sizes), axis=at)
    return list(layer.nodes[-1].output)


def _transpose(layer: Layer, data: str, order: str) -> str:
    perm = layer.values.array(order)
    if perm is None or not perm.size:
        raise Unreadable("the order of its axes is empty or not constant")
    return layer.add("Transpose", data, perm=perm.tolist())


def _shape_of(layer: Layer, data: str) -> str:
    type = layer.choice("output_type", {"i32": TensorProto.INT32, "i64": TensorProto.INT64}, "i64")
    dims = layer.values.static(data)
    if dims is not None:
        return layer.constant(dims, np.int64 if type == TensorProto.INT64 else np.int32)
    shape = layer.add("Shape", data)
    return shape if type == TensorProto.INT64 else layer.add("Cast", shape, to=type)


def _slice(layer: Layer, data: str, start: str, stop: str, step: str, axes: str = "") -> str:
    start, stop, step = (layer.integral(name) for name in (start, stop, step))
    return layer.add("Slice", data, start, stop, layer.integral(axes) if axes else "", step)


def _strided_slice(layer: Layer, data: str, begin: str, end: str, strides: str = "") -> str:
    """Write a Slice whose bounds replace masks, then Squeeze for shrink_axis_mask, then Unsqueeze for new_axis_mask."""
    count = layer.values.static(begin)
    if count is None or len(count) != 1 or any(layer.values.static(name) != count for name in (end, strides) if name):
        raise Unreadable("begin, end and strides are not vectors of one known length")
    masks = {key: layer.integers(f"{key}_mask", "") for key in ("ellipsis", "new_axis", "shrink_axis", "begin", "end")}
    masks = {name: (bits + [0] * count[0])[: count[0]] for name, bits in masks.items()}
    rows, axes, shrunk, added = _axes(layer.values.dims[data], masks, count[0])
    shrink, first, last = (np.array(masks[name], bool)[rows] for name in ("shrink_axis", "begin", "end"))
    steps = layer.values.array(strides) if strides else np.ones(count)
    if steps is None and (first | last | shrink).any():
        raise Unreadable("begin_mask, end_mask or shrink_axis_mask with strides that are not constant")
    forward = np.ones(len(rows), bool) if steps is None else (steps[rows] > 0) | shrink
    starts = _chosen(layer, begin, rows, first & ~shrink, np.where(forward, 0, LAST))
    ends = _chosen(layer, end, rows, last & ~shrink, np.where(forward, LAST, FIRST))
    if shrink.any():
        behind = layer.add("Add", starts, layer.constant(1))
        behind = layer.add("Where", layer.add("Equal", starts, layer.constant(-1)), layer.constant(LAST), behind)
        ends = layer.add("Where", layer.constant(shrink, bool), behind, ends)
    if steps is None:
        by = layer.add("Cast", strides, to=TensorProto.INT64)
    else:
        by = layer.constant(np.where(shrink, 1, steps[rows]))
    given = layer.add("Slice", data, starts, ends, layer.constant(axes), by)
    given = layer.add("Squeeze", given, layer.constant(shrunk)) if shrunk else given
    return layer.add("Unsqueeze", given, layer.constant(added)) if added else given


def _axes(dims: Dims, masks: Mapping[str, list[int]], count: int) -> tuple[list[int], ...]:
    """Return the positions in ``begin`` that slice an axis, these axes, the axes to drop, and the output's new axes."""
    kinds = ("ellipsis", "new_axis", "shrink_axis")
    marks = [next((name for name in kinds if masks[name][row]), "") for row in range(count)]
    rows, axes, shrunk, added = [], [], [], []
    axis = output = 0
    for row, mark in enumerate(marks):
        if mark == "ellipsis":
            if dims is None:
                raise Unreadable("ellipsis_mask with data of unknown rank")
            passed = len(dims) - sum(other in ("", "shrink_axis") for other in marks)
            axis, output = axis + passed, output + passed
        elif mark == "new_axis":
            added.append(output)
            output += 1
        else:
            rows.append(row)
            axes.append(axis)
            if mark:
                shrunk.append(axis)
            axis, output = axis + 1, output + (not mark)
    return rows, axes, shrunk, added


def _chosen(layer: Layer, given: str, rows: list[int], masked: np.ndarray, ends: np.ndarray) -> str:
    """Return the entries ``rows`` of begin or end as int64; masked entries come from ``ends`` instead."""
    array = layer.values.array(given)
    if array is not None:
        return layer.constant(np.where(masked, ends, array.astype(np.int64)[rows]))
    rowed = layer.add("Cast", given, to=TensorProto.INT64)
    rowed = layer.add("Gather", rowed, layer.constant(rows))
    return layer.add("Where", layer.constant(masked, bool), layer.constant(ends), rowed) if masked.any() else rowed


def _sequence(layer: Layer, data: str, *inputs: str) -> list[str]:
    """Write LSTM, GRU or RNN. The batch is axis 0 in OpenVINO; ONNX Runtime supports the batch only as axis 1."""
    kind = layer.node.op_type.removesuffix("Sequence")
    if len(inputs) != 5 + (kind == "LSTM"):
        raise Unreadable(f"it has {plural(len(inputs) + 1, 'input')}, expected {6 + (kind == 'LSTM')}")
    *states, lengths, weights, recurrent, bias = inputs
    layer.choice("version", {"opset5": None})
    size = layer.integer("hidden_size")
    direction = layer.word("direction").lower()
    names = [name.strip().lower() for name in layer.word("activations", USUAL[kind]).split(",")]
    if layer.type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        raise Unreadable("ONNX Runtime supports this layer only for float and double")
    if direction not in DIRECTIONS:
        raise Unreadable(f"padops does not support direction='{direction}'")
    if len(names) != len(USUAL[kind].split(",")) or not ACTIVATIONS.keys() >= set(names):
        raise Unreadable(f"padops does not support activations='{layer.word('activations')}'")
    if layer.decimal("clip", "0") or layer.flag("input_forget", "false"):
        raise Unreadable("padops does not support clip or input_forget")
    theirs, ours = GATES[kind]
    reset = kind == "GRU" and layer.flag("linear_before_reset", "false")
    width = (len(theirs) + reset) * size
    if layer.values.static(bias) != [DIRECTIONS[direction], width]:
        raise Unreadable(f"its biases do not have the dims {DIRECTIONS[direction]}, {width}")
    rows = [theirs.index(gate) * size + i for gate in ours for i in range(size)]
    order = layer.constant(rows)
    # A column of zeros after the existing columns stands for the biases that OpenVINO does not have.
    zeros = layer.constant(np.zeros((DIRECTIONS[direction], 1)), helper.tensor_dtype_to_np_dtype(layer.type))
    other = [width] * len(rows)
    other[-size:] = range(width - size, width) if reset else other[-size:]
    biases = layer.add("Gather", layer.add("Concat", bias, zeros, axis=1), layer.constant(rows + other), axis=1)
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
        **({"linear_before_reset": int(reset)} if kind == "GRU" else {}),
    )
    all_states, *last = layer.nodes[-1].output
    return [
        layer.add("Transpose", all_states, perm=[2, 1, 0, 3]),
        *(layer.add("Transpose", state, perm=[1, 0, 2]) for state in last),
    ]


def _reduce(layer: Layer, data: str, axes: str) -> str:
    if not layer.numbers(axes).size:
        raise Unreadable("ONNX reduces all axes if the list of axes is empty")
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
    """Return a value with its last two axes swapped."""
    rank = len(layer.dims(name))
    return layer.add("Transpose", name, perm=[*range(rank - 2), rank - 1, rank - 2])


def _attention(layer: Layer, query: str, key: str, value: str, mask: str = "", scale: str = "") -> str:
    scores = layer.add("MatMul", query, _transposed(layer, key))
    size = layer.dims(query)[-1]
    if not scale and size is None:
        raise Unreadable("it has no scale, and the size of its query vectors is dynamic")
    scores = layer.add("Mul", scores, scale or layer.like(1 / sqrt(max(size or 1, 1))))
    if causal := layer.flag("causal"):
        rows = layer.add("Unsqueeze", _places(layer, query), layer.constant([-1]))
        mask = layer.add("LessOrEqual", _places(layer, key), rows)
    if causal or mask and layer.values.types[mask] == TensorProto.BOOL:
        scores = layer.add("Where", mask, scores, layer.like(-inf))
    elif mask:
        scores = layer.add("Add", scores, mask)
    return layer.add("MatMul", layer.add("Softmax", scores, axis=-1), value)


def _places(layer: Layer, vectors: str) -> str:
    """Return the positions of the vectors: 0, 1, 2 and so on."""
    count = layer.add("Squeeze", layer.add("Shape", vectors, start=-2, end=-1))
    return layer.add("Range", layer.constant(0), count, layer.constant(1))


def _batch_norm(layer: Layer, data: str, scale: str, shift: str, mean: str, variance: str) -> str:
    if layer.word("version") == "opset1":
        data, scale, shift = shift, data, scale
    return layer.add("BatchNormalization", data, scale, shift, mean, variance, epsilon=layer.decimal("epsilon"))


def _mvn(layer: Layer, data: str, axes: str) -> str:
    """Write (x - mean) / sqrt(variance + eps), (x - mean) / (sqrt(variance) + eps), or x - mean."""
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
    """Write Einsum. An equation without output labels keeps the labels that occur once, in alphabetical order."""
    equation = "".join(layer.word("equation").split())
    if "->" not in equation:
        labels = equation.replace(",", "").replace("...", "")
        kept = "".join(label for label in sorted(set(labels)) if labels.count(label) == 1)
        equation += f"->{'...' if '...' in equation else ''}{kept}"
    return layer.add("Einsum", first, *others, equation=equation)


def _topk(layer: Layer, data: str, count: str) -> list[str]:
    if layer.word("sort", "value") != "value":
        raise Unreadable(f"ONNX does not have sort='{layer.word('sort')}'")
    largest = layer.choice("mode", {"max": 1, "min": 0})
    layer.add("TopK", data, layer.integral(count, 1), count=2, axis=layer.integer("axis"), largest=largest, sorted=1)
    found, places = layer.nodes[-1].output
    return [found, layer.add("Cast", places, to=layer.element_type("index_element_type", "i32"))]


def _unary(layer: Layer, data: str) -> str:
    if layer.node.op_type in ("Ceiling", "Floor") and layer.type not in FLOATS:
        raise Unreadable("ONNX supports this layer only for floats")
    return layer.add(UNARY[layer.node.op_type], data)


def _divide(layer: Layer, first: str, second: str) -> str:
    if layer.type not in (*FLOATS, TensorProto.INT32, TensorProto.INT64):
        raise Unreadable("OpenVINO rounds quotients of small integers to the nearest, ONNX towards zero")
    return layer.add("Div", first, second)


def _range(layer: Layer, start: str, stop: str, step: str) -> str:
    type = layer.element_type("output_type") if layer.word("output_type", "") else layer.type
    return layer.add("Range", *(layer.of_type(name, type) for name in (start, stop, step)))


def _clamp(layer: Layer, data: str) -> str:
    limits = [layer.decimal(name) for name in ("min", "max")]
    for name, limit in zip(("min", "max"), limits):
        if layer.type not in FLOATS and (not limit.is_integer() or abs(limit) > 2**31 - 1):
            raise Unreadable(f"{name}='{layer.word(name)}' is not an integer of the data's type")
    return layer.add("Clip", data, *map(layer.like, limits))


def _prelu(layer: Layer, data: str, slope: str) -> str:
    dims = layer.dims(slope)
    if len(dims) == 1 and dims != [1]:
        raise Unreadable("OpenVINO applies a slope of rank 1 along axis 1, and ONNX along the last axis")
    return layer.add("PRelu", data, slope)


def _swish(layer: Layer, data: str, beta: str = "") -> str:
    scaled = data if not beta or layer.values.array(beta) == 1 else layer.add("Mul", data, beta)
    return layer.add("Mul", data, layer.add("Sigmoid", scaled))


def _fake_quantize(layer: Layer, data: str, low: str, high: str, new_low: str, new_high: str) -> str:
    """Compute as OpenVINO's CPU device does: OpenVINO's documented formula returns different numbers for ties."""
    layer.choice("auto_broadcast", {"numpy": None, "none": None}, "numpy")
    if layer.type not in FLOATS:
        raise Unreadable("its data are no floats")
    levels = layer.integer("levels")
    if levels < 2:
        raise Unreadable(f"levels is {levels}, expected 2 or more")
    lowest, highest = (layer.values.array(name, inf) for name in (low, high))
    if lowest is not None and highest is not None and np.equal(lowest, highest).any():
        raise Unreadable("input_low and input_high have equal elements, for which OpenVINO's CPU device returns NaN")
    steps = layer.like(levels - 1)
    scale = layer.add("Div", steps, layer.add("Sub", high, low))
    shift = layer.add("Mul", layer.add("Neg", low), scale)
    inside = layer.add("Max", data, layer.add("Min", low, high))
    inside = layer.add("Min", inside, layer.add("Max", low, high))
    level = layer.add("Round", layer.add("Add", layer.add("Mul", inside, scale), shift))
    step = layer.add("Div", layer.add("Sub", new_high, new_low), steps)
    return layer.add("Add", layer.add("Mul", level, step), new_low)


Rule = Callable[..., "str | list[str]"]
RULES: Mapping[str, Rule] = {
    "Pad": lambda layer, data, begin, end, fill="": "",  # it stays a layer
    # Layers that move data.
    "Broadcast": _broadcast, "GatherND": _gather_nd, "ScatterUpdate": _scatter_update, "ShapeOf": _shape_of,
    "Slice": _slice, "Split": _split, "StridedSlice": _strided_slice, "Transpose": _transpose,
    "VariadicSplit": _variadic_split,
    "Concat": lambda layer, first, *others: layer.add("Concat", first, *others, axis=layer.integer("axis")),
    "DepthToSpace": lambda layer, data: layer.add(
        "DepthToSpace", data, mode=layer.choice("mode", {"blocks_first": "DCR", "depth_first": "CRD"}),
        blocksize=layer.integer("block_size", "1")),
    "SpaceToDepth": lambda layer, data: layer.choice("mode", {"blocks_first": layer}).add(
        "SpaceToDepth", data, blocksize=layer.integer("block_size", "1")),
    "Gather": lambda layer, data, indices, axis: layer.add(
        "Gather", data, layer.indices(indices), axis=layer.number(axis)),
    "GatherElements": lambda layer, data, indices: layer.add(
        "GatherElements", data, layer.indices(indices), axis=layer.integer("axis")),
    "Reshape": lambda layer, data, shape: layer.add(
        "Reshape", data, layer.integral(shape), allowzero=int(not layer.flag("special_zero"))),
    "ScatterElementsUpdate": lambda layer, data, indices, updates, axis: layer.add(
        "ScatterElements", data, layer.indices(indices), updates, axis=layer.number(axis),
        reduction=layer.choice("reduction", REDUCTIONS, "none")),
    "ScatterNDUpdate": lambda layer, data, indices, updates: layer.add(
        "ScatterND", data, layer.integral(indices), updates, reduction=layer.choice("reduction", REDUCTIONS, "none")),
    "Squeeze": lambda layer, data, axes="": layer.add("Squeeze", data, *([layer.integral(axes, 1)] if axes else [])),
    "Unsqueeze": lambda layer, data, axes: layer.add("Unsqueeze", data, layer.integral(axes, 1)),
    "Tile": lambda layer, data, repeats: layer.add("Tile", data, layer.integral(repeats)),
    # Layers with a kernel, gates or sums.
    **WINDOWS, **dict.fromkeys((f"{kind}Sequence" for kind in GATES), _sequence),
    **dict.fromkeys((f"Reduce{name}" for name in ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum")), _reduce),
    "BatchNormInference": _batch_norm, "Einsum": _einsum, "MVN": _mvn, "MatMul": _matmul,
    "ScaledDotProductAttention": _attention, "TopK": _topk,
    "SoftMax": lambda layer, data: layer.add("Softmax", data, axis=layer.integer("axis", "1")),
    "CumSum": lambda layer, data, axis: layer.add(
        "CumSum", data, axis, **{name: int(layer.flag(name, "false")) for name in ("exclusive", "reverse")}),
    # Layers that compute each element separately.
    **dict.fromkeys(UNARY, _unary), "Clamp": _clamp, "Divide": _divide, "FakeQuantize": _fake_quantize,
    "PReLU": _prelu, "Range": _range, "Swish": _swish,
    **dict.fromkeys(BINARY, lambda layer, first, second: layer.add(BINARY[layer.node.op_type], first, second)),
    "Convert": lambda layer, data: layer.add("Cast", data, to=layer.element_type("destination_type")),
    "Gelu": lambda layer, data: layer.add(
        "Gelu", data, approximate=layer.choice("approximation_mode", {"erf": "none", "tanh": "tanh"}, "erf")),
    "HardSigmoid": lambda layer, data, alpha, beta: layer.add(
        "HardSigmoid", data, alpha=layer.number(alpha), beta=layer.number(beta)),
    "HSigmoid": lambda layer, data: layer.add("HardSigmoid", data, alpha=1 / 6, beta=0.5),
    "Select": lambda layer, condition, then, otherwise: layer.add("Where", condition, then, otherwise),
    "Selu": lambda layer, data, alpha, scale: layer.add(
        "Selu", data, alpha=layer.number(alpha), gamma=layer.number(scale)),
}  # fmt: skip


def onnx_nodes(node: onnx.NodeProto, values: Values) -> list[onnx.NodeProto]:
    """Return the ONNX nodes for a layer; a Pad's node stays. Raise Unreadable if no rule converts the layer."""
    rule = RULES.get(node.op_type)
    if rule is None:
        raise Unreadable("there is no rule for this type of layer")
    try:
        signature(rule).bind(node, *node.input)
    except TypeError as error:
        raise Unreadable(f"it has {plural(len(node.input), 'input')}: {error}") from None
    if not node.output:
        raise Unreadable("it has no outputs")
    if node.op_type == "Pad":
        return [node]
    layer = Layer(node, values)
    try:
        given = rule(layer, *node.input)
        layer.refuse_what_is_not_read(WITHOUT_EFFECT)
        given = [given] if isinstance(given, str) else given
        if len(given) < len(node.output):
            raise Unreadable(f"it has {plural(len(node.output), 'output')}, expected {len(given)}")
        return layer.finish(given)
    except (IndexError, OverflowError, TypeError, ValueError) as error:  # NumPy and protobuf refuse unusual numbers
        raise Unreadable(" ".join(str(error).split())) from error
