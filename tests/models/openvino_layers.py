"""One OpenVINO layer of every type that the converter takes, each with the shape and type of its data and a builder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from openvino import opset8, opset11, opset15
from openvino import opset13 as op
from openvino.utils.node_factory import NodeFactory
from openvino_irs import IMAGE, SHAPE, Build, constant, f, i, parameter, rng, save


def interpolate(mode: str, kind: str, where: str) -> Build:
    attributes = {"mode": mode, "shape_calculation_mode": kind, "coordinate_transformation_mode": where}
    attributes |= {"nearest_mode": "floor", "antialias": False, "pads_begin": [0], "pads_end": [0], "cube_coeff": -0.75}
    inputs = [node.output(0) for node in (i(18, 20), constant([2.0, 2.5], np.float32), i(2, 3))]
    return lambda x: NodeFactory("opset4").create("Interpolate", [x.output(0), *inputs], attributes)


def between_transposes(x: openvino.Node, kind: str, wanted: np.ndarray) -> openvino.Node:
    """As a network of TensorFlow Lite has it: the axes in the middle, and a convolution's order around that."""
    inner = op.transpose(op.relu(x), i(0, 2, 3, 1))
    resized = opset11.interpolate(inner, constant(wanted), "linear_onnx", kind, axes=i(1, 2))
    return op.relu(op.transpose(resized, i(0, 3, 1, 2)))


ACTIVATIONS = {"lstm": ["sigmoid", "tanh", "tanh"], "gru": ["sigmoid", "tanh"], "rnn": ["tanh"]}


def sequence(name: str, gates: int, direction: str = "forward", biases: int = 0, lengths=(3, 2), **attributes) -> Build:
    """A recurrent layer of 5 numbers for two sequences."""

    def build(x: openvino.Node) -> openvino.Node:
        count = 2 if direction == "bidirectional" else 1
        states = [f(2, count, 5)] * (2 if name == "lstm" else 1)
        weights = (f(count, gates * 5, 4), f(count, gates * 5, 5), f(count, (biases or gates) * 5))
        inputs = [node.output(0) for node in (x, *states, constant(lengths, np.int32), *weights)]
        given = {"hidden_size": 5, "direction": direction, "activations": ACTIVATIONS[name], **attributes}
        return NodeFactory("opset5").create(f"{name.upper()}Sequence", inputs, given)

    return build


def slices(begins, ends, strides, **masks) -> Build:
    masks = {f"{name}_mask": masks.get(name, []) for name in ("begin", "end", "shrink_axis", "new_axis", "ellipsis")}
    if any(masks.values()):  # OpenVINO wants all of one length
        masks = {name: [*bits, *[0] * (len(begins) - len(bits))] for name, bits in masks.items()}
    return lambda x: op.strided_slice(x, i(*begins), i(*ends), i(*strides), **masks)


def quantized(levels: int, *limits) -> Build:
    return lambda x: op.fake_quantize(x, *(constant(limit, np.float32) for limit in limits), levels)


# fmt: off
SLICES: dict[str, tuple[tuple[int, ...], Build]] = {
    "without masks": (SHAPE, slices([0, 1, -3], [2, 9, 3], [1, 1, 2])),
    "with masks": (SHAPE, slices([0, 1, 0], [2, 3, 3], [1, 1, 2], begin=[1, 0, 0], end=[0, 0, 1])),
    "that drops an axis": (SHAPE, slices([0, 1], [2, 2], [1, 1], shrink_axis=[0, 1])),
    "that drops the last of an axis": (SHAPE, slices([0, -1], [2, 9], [1, 5], shrink_axis=[0, 1])),
    "that ignores the end of an axis": (SHAPE, slices([0, 1, 0], [2, 3, 3], [1, 1, 2], shrink_axis=[0, 1, 0])),
    "backwards": (SHAPE, slices([9, -1, 0], [-9, 0, 3], [-1, -2, 1], end=[0, 1, 0], begin=[1])),
    "of open axes": ((-1, -1, -1), slices([1, 0, 1], [9, 0, 0], [1, 1, 2], end=[0, 1, 1], begin=[0, 1])),
    "that drops an axis beside an open one":
        ((-1, 3, -1), slices([0, 2], [0, 3], [1, 1], end=[1, 0], shrink_axis=[0, 1])),
    "with a new axis": (SHAPE, slices([0, 0, 1], [0, 9, 3], [1, 1, 1], new_axis=[1, 0, 0])),
    "with an ellipsis": (SHAPE, slices([1, 0, -1], [2, 0, 0], [1, 1, 1], ellipsis=[0, 1], shrink_axis=[0, 0, 1])),
    "with all masks": (SHAPE, slices([0, 0, 0, 1], [0, 0, 0, 9], [1, 1, 1, 2], shrink_axis=[1], new_axis=[0, 1],
                                     ellipsis=[0, 0, 1], end=[0, 0, 0, 1])),
    "to a computed end": ((-1, -1, -1), lambda x: op.strided_slice(
        x, i(0, 0, -1), op.shape_of(x), i(1, 2, 1), [0, 0, 0], [0, 1, 0], shrink_axis_mask=[0, 0, 1])),
    "from a computed begin": ((-1, -1, -1), lambda x: op.strided_slice(
        x, op.subtract(op.shape_of(x, "i32"), constant([2, 1, 6], np.int32)), constant([9] * 3, np.int32),
        constant([1] * 3, np.int32), [0, 0, 0], [0, 1, 0], shrink_axis_mask=[0, 0, 1])),
}
EINSUMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "abc->cab": (), "abc,cd->adb": ((4, 5),), "...c,dc->...d": ((5, 4),), "bac,Dc": ((5, 4),), "abc,abc->b": (SHAPE,),
    "abc,cd,d->a": ((4, 5), (5,)),
}
QUANTIZED: dict[str, Build] = {"of 256 levels": quantized(256, -1.3, 1.7, -1.3, 1.7),
                               "to other limits": quantized(16, -1.3, 1.7, 3, -5),
                               "of each channel": quantized(255, rng().random((3, 1)) - 2, rng().random((3, 1)), -2, 2),
                               "of two levels": quantized(2, [[[-0.1]]], [[[0.1]]], -1, 1)}  # fmt: skip
SEQUENCES: dict[str, tuple[tuple[int, ...], Build]] = {
    **{f"{name} sequence {direction}": ((2, 3, 4), sequence(name, gates, direction))
       for name, gates in (("lstm", 4), ("gru", 3), ("rnn", 1))
       for direction in ("forward", "reverse", "bidirectional")},
    "gru sequence, linear before reset": ((2, 3, 4), sequence("gru", 3, "bidirectional", 4, linear_before_reset=True)),
    "lstm sequence of open length": ((2, -1, 4), sequence("lstm", 4, "bidirectional", lengths=(6, 6))),
    "lstm sequence with other activations": ((2, 3, 4), sequence("lstm", 4, activations=["sigmoid", "tanh", "relu"])),
}  # fmt: skip
UNARY = ("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceiling", "cos", "cosh", "erf", "exp", "floor",
         "log", "mish", "negative", "relu", "sigmoid", "sign", "sin", "sinh", "softplus", "softsign", "sqrt", "tan",
         "tanh", "hsigmoid", "hswish", "is_nan", "non_zero")
BINARY = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "less", "less_equal",
          "greater", "greater_equal")
REDUCTIONS = ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_l1", "reduce_l2")
ROWS: dict[str, Any] = {  # a builder, of floats of SHAPE; or (shape, builder), or (shape, type, builder)
    **{f"strided slice {name}": row for name, row in SLICES.items()},
    **{f"einsum {equation}": lambda x, equation=equation, shapes=shapes: op.einsum(
        [x, *(f(*shape) for shape in shapes)], equation) for equation, shapes in EINSUMS.items()},
    **{f"fake quantize {name}": build for name, build in QUANTIZED.items()},
    **SEQUENCES,
    **{name: getattr(op, name) for name in UNARY},
    **{name: lambda x, name=name: getattr(op, name)(x, f(3, 1)) for name in BINARY},
    **{name: lambda x, name=name: getattr(op, name)(x, i(1, -1), True) for name in REDUCTIONS},
    **{f"logical_{name}": (SHAPE, bool, lambda x, name=name: getattr(op, f"logical_{name}")(x, constant([[True]])))
       for name in ("and", "or", "xor")},
    "logical_not": (SHAPE, bool, op.logical_not),
    "round": lambda x: op.round(x, "half_to_even"),
    "divide of integers": (SHAPE, np.int32, lambda x: op.divide(x, constant([3, -2, 2, 5], np.int32))),
    "cumsum backwards": lambda x: op.cum_sum(x, constant(1, np.int32), True, True),
    "convert to f16": lambda x: op.convert(x, "f16"),
    "convert like": lambda x: op.convert_like(x, constant(1, np.int32)),
    "tile": lambda x: op.tile(x, constant([1, 2, 1], np.int32)),
    "tile by computed numbers of i32":
        ((-1, 3, -1), lambda x: op.tile(x, op.gather(op.shape_of(x, "i32"), i(2, 0, 1), constant(0, np.int64)))),
    "shape of": ((-1, 3, -1), lambda x: op.shape_of(x)),
    "shape of as i32": ((-1, 3, -1), lambda x: op.shape_of(x, "i32")),
    "shape of, known": lambda x: op.add(op.shape_of(x, "i32"), constant(1, np.int32)),
    "transpose": ((-1, 3, -1), lambda x: op.transpose(x, i(2, 0, 1))),
    "mvn": (IMAGE, lambda x: op.mvn(x, i(2, 3), True, 1e-2, "inside_sqrt")),
    "mvn of an inner axis": (IMAGE, lambda x: op.mvn(x, i(1), True, 1e-2, "outside_sqrt")),
    "mvn without variance": (IMAGE, lambda x: op.mvn(x, i(1, 2), False, 1e-2, "inside_sqrt")),
    "clamp": lambda x: op.clamp(x, -0.5, 0.25),
    "clamp of integers": (SHAPE, np.int32, lambda x: op.clamp(x, -1, 2)),
    "gelu": lambda x: op.gelu(x, "erf"),
    "gelu tanh": lambda x: op.gelu(x, "tanh"),
    "swish": op.swish,
    "swish with beta": lambda x: op.swish(x, constant(1.7, np.float32)),
    "selu": lambda x: op.selu(x, constant([1.6], np.float32), constant([1.05], np.float32)),
    "hard sigmoid": lambda x: op.hard_sigmoid(x, constant(0.2, np.float32), constant(0.5, np.float32)),
    "prelu": lambda x: op.prelu(x, constant([0.1], np.float32)),
    "softmax": lambda x: opset8.softmax(x, -2),
    "select": lambda x: op.select(op.greater(x, f(4)), x, f(3, 1)),
    "concat": lambda x: op.concat([x, f(2, 5, 4)], 1),
    "split": lambda x: op.split(x, constant(-1, np.int64), 2),
    "variadic split": lambda x: op.variadic_split(x, constant(1, np.int64), i(1, -1)),
    "reshape": ((-1, 3, 4), lambda x: op.reshape(x, i(0, -1), True)),
    "reshape of i32": lambda x: op.reshape(x, constant([4, 6], np.int32), False),
    "reshape to a scalar": ((1,), lambda x: op.reshape(x, constant([], np.int64), False)),
    "squeeze": ((2, 1, 3, 1), lambda x: op.squeeze(x, i(1))),
    "squeeze of a scalar axis": ((2, 1, 3, 1), lambda x: op.squeeze(x, constant(-1, np.int64))),
    "unsqueeze": lambda x: op.unsqueeze(x, i(0, -1)),
    "unsqueeze of a scalar axis": lambda x: op.unsqueeze(x, constant(1, np.int32)),
    "slice": lambda x: op.slice(x, i(0), i(3), i(2), i(2)),
    "slice without axes": lambda x: op.slice(x, i(-1, 1), i(-9, 9), i(-1, 1)),
    "gather": lambda x: op.gather(x, constant([2, 0, -1], np.int32), constant(1, np.int64)),
    "gather of a list of one axis": lambda x: op.gather(x, i(2, 0), i(1)),
    "gather elements": lambda x: op.gather_elements(x, constant([[[2, 0, 1, 0]]] * 2), 1),
    "gather nd": lambda x: op.gather_nd(x, constant([[0, 1], [1, 2]], np.int32), 0),
    "gather nd with batches": lambda x: op.gather_nd(x, constant([[1], [2]], np.int32), 1),
    "scatter update": lambda x: op.scatter_update(x, i(0, 2), f(2, 2, 4), constant(1, np.int64)),
    "scatter update of axis 0": lambda x: op.scatter_update(x, constant([[1]], np.int32), f(1, 1, 3, 4), i(0)),
    "scatter nd update that adds": lambda x: opset15.scatter_nd_update(x, constant([[0, 1], [0, 1]]), f(2, 4), "sum"),
    "scatter elements update":
        lambda x: op.scatter_elements_update(x, constant(np.ones((2, 2, 4)), np.int32), f(2, 2, 4), i(1), "sum", True),
    "broadcast": lambda x: op.broadcast(x, i(5, 2, 3, 4)),
    "broadcast along axes": ((2, 3), lambda x: op.broadcast(x, i(2, 5, 3), i(0, 2), "EXPLICIT")),
    "broadcast of both": lambda x: op.broadcast(x, i(5, 1, 3, 1), broadcast_spec="BIDIRECTIONAL"),
    "broadcast to computed dims":
        ((-1, 1), lambda x: op.broadcast(x, op.concat([i(3), op.shape_of(x)], 0), i(1, 2), "EXPLICIT")),
    "range": ((-1, 3), lambda x: op.range(constant(0), op.reduce_sum(op.shape_of(x), i(0), False), constant(2), "f32")),
    "topk": lambda x: op.topk(x, constant(2, np.int32), 1, "min", "value", "i64"),
    "topk of all": lambda x: op.topk(x, constant(4), 2, "max", "value"),
    "matmul": lambda x: op.matmul(x, f(5, 4), False, True),
    "matmul transposed": ((2, 4, 3), lambda x: op.matmul(x, f(4, 5), True, False)),
    "matmul with a vector": lambda x: op.matmul(x, f(4), False, False),
    "causal attention": ((1, 2, 5, 8), lambda x: op.scaled_dot_product_attention(x, x, x, causal=True)),
    **{f"attention with a mask of {name} and a scale": ((1, 2, 5, 8),
       lambda x, mask=mask: op.scaled_dot_product_attention(x, x, x, mask, constant(0.7, np.float32)))
       for name, mask in (("floats", f(5, 5)), ("bools", constant(np.tri(5, k=1), bool)))},
    "causal attention of open lengths":
        ((1, 2, -1, 8), lambda x: op.scaled_dot_product_attention(x, x, x, causal=True)),
    "batch norm of opset1":
        (IMAGE, lambda x: NodeFactory("opset1").create("BatchNormInference", [node.output(0) for node in (
        f(4), f(4), x, f(4), constant([1, 2, 3, 4], np.float32))], {"epsilon": 1e-3})),
    "batch norm":
        (IMAGE, lambda x: op.batch_norm_inference(x, f(4), f(4), f(4), constant([1, 2, 3, 4], np.float32), 1e-3)),
    "convolution": (IMAGE, lambda x: op.convolution(x, f(6, 4, 3, 3), [1, 2], [1, 0], [0, 2], [2, 1])),
    "convolution SAME_UPPER with dilations":
        (IMAGE, lambda x: op.convolution(x, f(6, 4, 3, 2), [2, 1], [0, 0], [0, 0], [2, 3], "same_upper")),
    "convolution SAME_LOWER of open dims":
        ((1, 4, -1, -1), lambda x: op.convolution(x, f(6, 4, 3, 2), [2, 1], [0, 0], [0, 0], [1, 1], "same_lower")),
    "group convolution": (IMAGE, lambda x: op.group_convolution(x, f(2, 3, 2, 3, 3), [1, 1], [1, 1], [1, 1], [1, 2])),
    "group convolution SAME_LOWER with dilations":
        (IMAGE, lambda x: op.group_convolution(x, f(4, 1, 1, 3, 2), [2, 1], [0, 0], [0, 0], [1, 3], "same_lower")),
    "group convolution of one group":
        (IMAGE, lambda x: op.group_convolution(x, f(1, 3, 4, 3, 3), [1, 1], [1, 1], [1, 1], [1, 2])),
    **{f"deconvolution to a shape, {mode}": (IMAGE, lambda x, mode=mode: op.convolution_backprop_data(
        x, f(4, 3, 4, 3), [2, 3], i(17, 24), auto_pad=mode)) for mode in ("same_upper", "same_lower")},
    "deconvolution":
        (IMAGE, lambda x: op.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], pads_begin=[1, 1], pads_end=[0, 1],
        dilations=[1, 1], output_padding=[1, 1])),
    "group deconvolution":
        (IMAGE, lambda x: op.group_convolution_backprop_data(x, f(2, 2, 3, 3, 3), [2, 2], pads_begin=[0, 0],
        pads_end=[0, 0], dilations=[1, 1])),
    "max pool": (IMAGE, lambda x: op.max_pool(x, [2, 1], [1, 2], [1, 0], [0, 1], [3, 2]).output(0)),
    "max pool with indices": (IMAGE, lambda x: op.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2])),
    "max pool with indices in each image":
        ((2, 4, 9, 8), lambda x: op.max_pool(x, [2, 2], [1, 1], *[[0, 0]] * 2, [2, 2], "ceil", "explicit", "i32", 2)),
    "max pool SAME_LOWER with dilations":
        (IMAGE, lambda x: op.max_pool(x, [2, 1], [2, 1], [0, 0], [0, 0], [3, 2], "floor", "same_lower").output(0)),
    "average pool that counts pads": (IMAGE, lambda x: op.avg_pool(x, [2, 2], [1, 1], [1, 0], [3, 3], False)),
    "average pool that does not": (IMAGE, lambda x: op.avg_pool(x, [2, 2], [1, 1], [1, 0], [3, 3], True)),
    "average pool SAME_UPPER that counts pads":
        (IMAGE, lambda x: op.avg_pool(x, [2, 2], [0, 0], [0, 0], [3, 3], False, "floor", "same_upper")),
    "depth to space": (IMAGE, lambda x: op.depth_to_space(x, "blocks_first", 2)),
    "depth to space, depth first": (IMAGE, lambda x: op.depth_to_space(x, "depth_first", 2)),
    "space to depth": ((1, 4, 4, 6), lambda x: op.space_to_depth(x, "blocks_first", 2)),
    **{f"interpolate {mode} {kind} {where}": (IMAGE, interpolate(mode, kind, where))
       for mode in ("nearest", "linear_onnx", "cubic")
       for kind, where in (("sizes", "half_pixel"), ("scales", "asymmetric"), ("sizes", "align_corners"))},
    **{f"interpolate of {kind} between transposes": (IMAGE, partial(between_transposes, kind=kind, wanted=wanted))
       for kind, wanted in (("sizes", np.int32([18, 20])), ("scales", np.float32([2, 2.5])))},
    "interpolate of open dims":
        ((1, 4, -1, -1), lambda x: opset11.interpolate(x, i(18, 20), "linear_onnx", "sizes", axes=i(3, 2))),
    "interpolate of all axes":
        (IMAGE, lambda x: opset11.interpolate(x, i(1, 4, 18, 20), "nearest", "sizes", nearest_mode="ceil")),
    "interpolate of opset11":
        (IMAGE, lambda x: opset11.interpolate(x, constant([0.7, 2.5], "f4"), "linear_onnx", "scales", axes=i(2, 3))),
}
# fmt: on
PAIRS = {name: row if isinstance(row, tuple) else (SHAPE, row) for name, row in ROWS.items()}
LAYERS = {name: row if len(row) == 3 else (row[0], np.float32, row[1]) for name, row in PAIRS.items()}


def layer_data(name: str) -> np.ndarray:
    shape, type, _ = LAYERS[name]
    data = rng().standard_normal([6 if n < 0 else n for n in shape]) * (6 if type is np.int32 else 1)
    if name in ("acos", "asin", "atanh"):
        data = np.tanh(data)
    if name.startswith("fake quantize"):  # ties of 255 steps
        data = np.round(data * 170) / 170
    if name in ("acosh", "log", "power", "sqrt"):
        data = np.abs(data) + 1
    return (data > 0 if type is bool else data).astype(type)


def save_layers(path: Path, *names: str) -> Path:
    given = [parameter(*LAYERS[name][:2], name=f"x{at}") for at, name in enumerate(names)]
    made = [LAYERS[name][2](x) for name, x in zip(names, given)]
    outputs = [one.outputs() if isinstance(one, openvino.Node) else [one] for one in made]
    return save(path, [op.result(output) for row in outputs for output in row], given)
