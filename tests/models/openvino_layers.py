"""One OpenVINO layer of every type that the converter takes, each with the shape and type of its data and a builder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino
from openvino import opset8, opset11, opset13, opset15
from openvino.utils.node_factory import NodeFactory
from openvino_composed_layers import COMPOSED_LAYERS
from openvino_irs import IMAGE, SHAPE, Build, constant, f, i, parameter, rng, save


def interpolate(mode: str, kind: str, where: str) -> Build:
    attributes = {"mode": mode, "shape_calculation_mode": kind, "coordinate_transformation_mode": where}
    attributes |= {"nearest_mode": "floor", "antialias": False, "pads_begin": [0], "pads_end": [0], "cube_coeff": -0.75}
    inputs = (i(18, 20), constant([2.0, 2.5], np.float32), i(2, 3))
    return lambda x: NodeFactory("opset4").create(
        "Interpolate", [x.output(0), *(node.output(0) for node in inputs)], attributes
    )


def between_transposes(kind: str, wanted: np.ndarray) -> Build:
    """As a network of TensorFlow Lite has it: the axes in the middle, and a convolution's order around that."""

    def build(x: openvino.Node) -> openvino.Node:
        inner = opset13.transpose(opset13.relu(x), i(0, 2, 3, 1))
        resized = opset11.interpolate(inner, constant(wanted), "linear_onnx", kind, axes=i(1, 2))
        return opset13.relu(opset13.transpose(resized, i(0, 3, 1, 2)))

    return build


def binary(name: str) -> Build:
    return lambda x: getattr(opset13, name)(x, f(3, 1))


def reduce(name: str) -> Build:
    return lambda x: getattr(opset13, name)(x, i(1, -1), True)


# fmt: off
UNARY = ("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceiling", "cos", "cosh", "erf", "exp", "floor",
         "log",
         "mish", "negative", "relu", "sigmoid", "sign", "sin", "sinh", "softplus", "softsign", "sqrt", "tan", "tanh",
         "hsigmoid", "hswish", "is_nan", "non_zero")
BINARY = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "less", "less_equal",
          "greater", "greater_equal")
REDUCTIONS = ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_l1", "reduce_l2")
LAYERS: dict[str, tuple[tuple[int, ...], type, Build]] = {
    **COMPOSED_LAYERS,
    **{name: (SHAPE, np.float32, getattr(opset13, name)) for name in UNARY},
    **{name: (SHAPE, np.float32, binary(name)) for name in BINARY},
    **{name: (SHAPE, np.float32, reduce(name)) for name in REDUCTIONS},
    **{f"logical_{name}": (SHAPE, bool, lambda x, name=name: getattr(opset13, f"logical_{name}")(x, constant([[True]])))
       for name in ("and", "or", "xor")},
    "logical_not": (SHAPE, bool, opset13.logical_not),
    "round": (SHAPE, np.float32, lambda x: opset13.round(x, "half_to_even")),
    "divide of integers": (SHAPE, np.int32, lambda x: opset13.divide(x, constant([3, -2, 2, 5], np.int32))),
    "cumsum": (SHAPE, np.float32, lambda x: opset13.cum_sum(x, constant(1, np.int64))),
    "cumsum backwards": (SHAPE, np.float32, lambda x: opset13.cum_sum(x, constant(1, np.int32), True, True)),
    "convert to bool": (SHAPE, np.float32, lambda x: opset13.convert(x, "boolean")),
    "convert to f16": (SHAPE, np.float32, lambda x: opset13.convert(x, "f16")),
    "convert like": (SHAPE, np.float32, lambda x: opset13.convert_like(x, constant(1, np.int32))),
    "tile": (SHAPE, np.float32, lambda x: opset13.tile(x, constant([1, 2, 1], np.int32))),
    "tile by computed numbers of i32": ((-1, 3, -1), np.float32,
        lambda x: opset13.tile(x, opset13.gather(opset13.shape_of(x, "i32"), i(2, 0, 1), constant(0, np.int64)))),
    "shape of": ((-1, 3, -1), np.float32, lambda x: opset13.shape_of(x)),
    "shape of as i32": ((-1, 3, -1), np.float32, lambda x: opset13.shape_of(x, "i32")),
    "shape of, known": (SHAPE, np.float32, lambda x: opset13.add(opset13.shape_of(x, "i32"), constant(1, np.int32))),
    "transpose": ((-1, 3, -1), np.float32, lambda x: opset13.transpose(x, i(2, 0, 1))),
    "mvn": (IMAGE, np.float32, lambda x: opset13.mvn(x, i(2, 3), True, 1e-2, "inside_sqrt")),
    "mvn of a negative axis": (IMAGE, np.float32, lambda x: opset13.mvn(x, i(-1), True, 1e-2, "inside_sqrt")),
    "mvn of an inner axis": (IMAGE, np.float32, lambda x: opset13.mvn(x, i(1), True, 1e-2, "outside_sqrt")),
    "mvn without variance": (IMAGE, np.float32, lambda x: opset13.mvn(x, i(1, 2), False, 1e-2, "inside_sqrt")),
    "clamp": (SHAPE, np.float32, lambda x: opset13.clamp(x, -0.5, 0.25)),
    "clamp of integers": (SHAPE, np.int32, lambda x: opset13.clamp(x, -1, 2)),
    "gelu": (SHAPE, np.float32, lambda x: opset13.gelu(x, "erf")),
    "gelu tanh": (SHAPE, np.float32, lambda x: opset13.gelu(x, "tanh")),
    "swish": (SHAPE, np.float32, opset13.swish),
    "swish with beta": (SHAPE, np.float32, lambda x: opset13.swish(x, constant(1.7, np.float32))),
    "selu": (SHAPE, np.float32, lambda x: opset13.selu(x, constant([1.6], np.float32), constant([1.05], np.float32))),
    "hard sigmoid": (SHAPE, np.float32,
        lambda x: opset13.hard_sigmoid(x, constant(0.2, np.float32), constant(0.5, np.float32))),
    "prelu": (SHAPE, np.float32, lambda x: opset13.prelu(x, constant([0.1], np.float32))),
    "softmax": (SHAPE, np.float32, lambda x: opset8.softmax(x, -2)),
    "softmax of axis 0": (SHAPE, np.float32, lambda x: opset8.softmax(x, 0)),
    "select": (SHAPE, np.float32, lambda x: opset13.select(opset13.greater(x, f(4)), x, f(3, 1))),
    "concat": (SHAPE, np.float32, lambda x: opset13.concat([x, f(2, 5, 4)], 1)),
    "split": (SHAPE, np.float32, lambda x: opset13.split(x, constant(-1, np.int64), 2)),
    "variadic split": (SHAPE, np.float32, lambda x: opset13.variadic_split(x, constant(1, np.int64), i(1, -1))),
    "variadic split of i32": (SHAPE, np.float32,
        lambda x: opset13.variadic_split(x, constant(-1, np.int32), constant([3, -1], np.int32))),
    "reshape": ((-1, 3, 4), np.float32, lambda x: opset13.reshape(x, i(0, -1), True)),
    "reshape of i32": (SHAPE, np.float32, lambda x: opset13.reshape(x, constant([4, 6], np.int32), False)),
    "reshape to a scalar": ((1,), np.float32, lambda x: opset13.reshape(x, constant([], np.int64), False)),
    "squeeze": ((2, 1, 3, 1), np.float32, lambda x: opset13.squeeze(x, i(1))),
    "squeeze of a scalar axis": ((2, 1, 3, 1), np.float32, lambda x: opset13.squeeze(x, constant(-1, np.int64))),
    "unsqueeze": (SHAPE, np.float32, lambda x: opset13.unsqueeze(x, i(0, -1))),
    "unsqueeze of a scalar axis": (SHAPE, np.float32, lambda x: opset13.unsqueeze(x, constant(1, np.int32))),
    "slice": (SHAPE, np.float32, lambda x: opset13.slice(x, i(0), i(3), i(2), i(2))),
    "slice without axes": (SHAPE, np.float32, lambda x: opset13.slice(x, i(-1, 1), i(-9, 9), i(-1, 1))),
    "gather": (SHAPE, np.float32, lambda x: opset13.gather(x, constant([2, 0, -1], np.int32), constant(1, np.int64))),
    "gather of a list of one axis": (SHAPE, np.float32, lambda x: opset13.gather(x, i(2, 0), i(1))),
    "gather elements": (SHAPE, np.float32, lambda x: opset13.gather_elements(x, constant([[[2, 0, 1, 0]]] * 2), 1)),
    "gather nd": (SHAPE, np.float32, lambda x: opset13.gather_nd(x, constant([[0, 1], [1, 2]], np.int32), 0)),
    "gather nd with batches": (SHAPE, np.float32, lambda x: opset13.gather_nd(x, constant([[1], [2]], np.int32), 1)),
    "scatter update": (SHAPE, np.float32,
        lambda x: opset13.scatter_update(x, i(0, 2), f(2, 2, 4), constant(1, np.int64))),
    "scatter update of axis 0": (SHAPE, np.float32,
        lambda x: opset13.scatter_update(x, constant([[1]], np.int32), f(1, 1, 3, 4), i(0))),
    "scatter nd update that adds": (SHAPE, np.float32,
        lambda x: opset15.scatter_nd_update(x, constant([[0, 1], [0, 1]]), f(2, 4), "sum")),
    "scatter nd update": (SHAPE, np.float32,
        lambda x: opset13.scatter_nd_update(x, constant([[0, 1], [1, 2]], np.int32), f(2, 4))),
    "scatter elements update": (SHAPE, np.float32,
        lambda x: opset13.scatter_elements_update(x, constant(np.ones((2, 2, 4)), np.int32), f(2, 2, 4),
            constant(1, np.int64), "sum", True)),
    "broadcast": (SHAPE, np.float32, lambda x: opset13.broadcast(x, i(5, 2, 3, 4))),
    "broadcast along axes": ((2, 3), np.float32, lambda x: opset13.broadcast(x, i(2, 5, 3), i(0, 2), "EXPLICIT")),
    "broadcast of both": (SHAPE, np.float32,
        lambda x: opset13.broadcast(x, i(5, 1, 3, 1), broadcast_spec="BIDIRECTIONAL")),
    "broadcast to computed dims": ((-1, 1), np.float32,
        lambda x: opset13.broadcast(x, opset13.concat([i(3), opset13.shape_of(x)], 0), i(1, 2), "EXPLICIT")),
    "range": ((-1, 3), np.float32,
        lambda x: opset13.range(constant(0, np.int64), opset13.reduce_sum(opset13.shape_of(x), i(0), False),
            constant(2, np.int64), "f32")),
    "topk": (SHAPE, np.float32, lambda x: opset13.topk(x, constant(2, np.int32), 1, "min", "value", "i64")),
    "topk of all": (SHAPE, np.float32, lambda x: opset13.topk(x, constant(4, np.int64), 2, "max", "value")),
    "matmul": (SHAPE, np.float32, lambda x: opset13.matmul(x, f(5, 4), False, True)),
    "matmul transposed": ((2, 4, 3), np.float32, lambda x: opset13.matmul(x, f(4, 5), True, False)),
    "matmul with a vector": (SHAPE, np.float32, lambda x: opset13.matmul(x, f(4), False, False)),
    "attention": ((1, 2, 5, 8), np.float32, lambda x: opset13.scaled_dot_product_attention(x, x, x)),
    "causal attention": ((1, 2, 5, 8), np.float32,
        lambda x: opset13.scaled_dot_product_attention(x, x, x, causal=True)),
    **{
        f"attention with a mask of {name} and a scale": ((1, 2, 5, 8), np.float32,
            lambda x, mask=mask: opset13.scaled_dot_product_attention(x, x, x, mask, constant(0.7, np.float32)))
        for name, mask in (("floats", f(5, 5)), ("bools", constant(np.tri(5, k=1), bool)))
    },
    "causal attention of open lengths": ((1, 2, -1, 8), np.float32,
        lambda x: opset13.scaled_dot_product_attention(x, x, x, causal=True)),
    "batch norm of opset1": (IMAGE, np.float32,
        lambda x: NodeFactory("opset1").create("BatchNormInference", [
            f(4).output(0), f(4).output(0), x.output(0), f(4).output(0), constant([1, 2, 3, 4], np.float32).output(0),
        ], {"epsilon": 1e-3})),
    "batch norm": (IMAGE, np.float32,
        lambda x: opset13.batch_norm_inference(x, f(4), f(4), f(4), constant([1, 2, 3, 4], np.float32), 1e-3)),
    "convolution": (IMAGE, np.float32, lambda x: opset13.convolution(x, f(6, 4, 3, 3), [1, 2], [1, 0], [0, 2], [2, 1])),
    "convolution SAME_UPPER with dilations": (IMAGE, np.float32,
        lambda x: opset13.convolution(x, f(6, 4, 3, 2), [2, 1], [0, 0], [0, 0], [2, 3], "same_upper")),
    "convolution SAME_LOWER of open dims": ((1, 4, -1, -1), np.float32,
        lambda x: opset13.convolution(x, f(6, 4, 3, 2), [2, 1], [0, 0], [0, 0], [1, 1], "same_lower")),
    "group convolution": (IMAGE, np.float32,
        lambda x: opset13.group_convolution(x, f(2, 3, 2, 3, 3), [1, 1], [1, 1], [1, 1], [1, 2])),
    "group convolution SAME_LOWER with dilations": (IMAGE, np.float32,
        lambda x: opset13.group_convolution(x, f(4, 1, 1, 3, 2), [2, 1], [0, 0], [0, 0], [1, 3], "same_lower")),
    "group convolution of one group": (IMAGE, np.float32,
        lambda x: opset13.group_convolution(x, f(1, 3, 4, 3, 3), [1, 1], [1, 1], [1, 1], [1, 2])),
    **{
        f"deconvolution to a shape, {mode}": (IMAGE, np.float32,
            lambda x, mode=mode: opset13.convolution_backprop_data(x, f(4, 3, 4, 3), [2, 3], i(17, 24), auto_pad=mode))
        for mode in ("same_upper", "same_lower")
    },
    "deconvolution": (IMAGE, np.float32,
        lambda x: opset13.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], pads_begin=[1, 1], pads_end=[0, 1],
            dilations=[1, 1], output_padding=[1, 1])),
    "group deconvolution": (IMAGE, np.float32,
        lambda x: opset13.group_convolution_backprop_data(x, f(2, 2, 3, 3, 3), [2, 2], pads_begin=[0, 0],
            pads_end=[0, 0], dilations=[1, 1])),
    "max pool": (IMAGE, np.float32, lambda x: opset13.max_pool(x, [2, 1], [1, 2], [1, 0], [0, 1], [3, 2]).output(0)),
    "max pool with indices": (IMAGE, np.float32, lambda x: opset13.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2])),
    "max pool with indices in each image": ((2, *IMAGE[1:]), np.float32,
        lambda x: opset13.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2], index_element_type="i32", axis=2)),
    "max pool SAME_LOWER with dilations": (IMAGE, np.float32,
        lambda x: opset13.max_pool(x, [2, 1], [2, 1], [0, 0], [0, 0], [3, 2], "floor", "same_lower").output(0)),
    "max pool with ceil": (IMAGE, np.float32,
        lambda x: opset13.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 3], "ceil").output(0)),
    "average pool that counts pads": (IMAGE, np.float32,
        lambda x: opset13.avg_pool(x, [2, 2], [1, 1], [1, 0], [3, 3], False)),
    "average pool that does not": (IMAGE, np.float32,
        lambda x: opset13.avg_pool(x, [2, 2], [1, 1], [1, 0], [3, 3], True)),
    "average pool SAME_UPPER that counts pads": (IMAGE, np.float32,
        lambda x: opset13.avg_pool(x, [2, 2], [0, 0], [0, 0], [3, 3], False, "floor", "same_upper")),
    "depth to space": (IMAGE, np.float32, lambda x: opset13.depth_to_space(x, "blocks_first", 2)),
    "depth to space, depth first": (IMAGE, np.float32, lambda x: opset13.depth_to_space(x, "depth_first", 2)),
    "space to depth": ((1, 4, 4, 6), np.float32, lambda x: opset13.space_to_depth(x, "blocks_first", 2)),
    **{
        f"interpolate {mode} {kind} {where}": (IMAGE, np.float32, interpolate(mode, kind, where))
        for mode in ("nearest", "linear_onnx", "cubic")
        for kind, where in (("sizes", "half_pixel"), ("scales", "asymmetric"), ("sizes", "align_corners"))
    },
    **{
        f"interpolate of {kind} between transposes": (IMAGE, np.float32, between_transposes(kind, wanted))
        for kind, wanted in (("sizes", np.int32([18, 20])), ("scales", np.float32([2, 2.5])))
    },
    "interpolate of open dims": ((1, 4, -1, -1), np.float32,
        lambda x: opset11.interpolate(x, i(18, 20), "linear_onnx", "sizes", axes=i(3, 2))),
    "interpolate of all axes": (IMAGE, np.float32,
        lambda x: opset11.interpolate(x, i(1, 4, 18, 20), "nearest", "sizes", nearest_mode="round_prefer_ceil")),
    "interpolate of opset11": (IMAGE, np.float32,
        lambda x: opset11.interpolate(x, constant([0.7, 2.5], np.float32), "linear_onnx", "scales", axes=i(2, 3))),
}
# fmt: on


def layer_data(name: str, shape: tuple[int, ...], type: type) -> np.ndarray:
    """Numbers in the domain of the layer."""
    shape = tuple(6 if n < 0 else n for n in shape)
    data = rng().standard_normal(shape) * (6 if type is np.int32 else 1)
    if name in ("acos", "asin", "atanh"):
        data = np.tanh(data)
    if name.startswith("fake quantize"):  # ties of 255 steps
        data = np.round(data * 170) / 170
    if name in ("acosh", "log", "power", "sqrt"):
        data = np.abs(data) + 1
    return (data > 0 if type is bool else data).astype(type)


def save_layer(path: Path, name: str) -> Path:
    shape, type, build = LAYERS[name]
    x = parameter(shape, type)
    made = build(x)
    outputs = made.outputs() if isinstance(made, openvino.Node) else [made]
    return save(path, [opset13.result(output) for output in outputs], [x])
