"""OpenVINO layers with many attributes: slices, einsums, quantizers, recurrent layers."""

from __future__ import annotations

import numpy as np
import openvino
from openvino import opset13
from openvino.utils.node_factory import NodeFactory
from openvino_irs import SHAPE, Build, constant, f, i, rng

ACTIVATIONS = {"lstm": ["sigmoid", "tanh", "tanh"], "gru": ["sigmoid", "tanh"], "rnn": ["tanh"]}


def sequence(name: str, gates: int, direction: str = "forward", biases: int = 0, lengths=(3, 2), **attributes) -> Build:
    """A recurrent layer of 5 numbers for two sequences."""

    def build(x: openvino.Node) -> openvino.Node:
        count = 2 if direction == "bidirectional" else 1
        states = [f(2, count, 5)] * (2 if name == "lstm" else 1)
        weights = (f(count, gates * 5, 4), f(count, gates * 5, 5), f(count, (biases or gates) * 5))
        inputs = [x.output(0), *(node.output(0) for node in (*states, constant(lengths, np.int32), *weights))]
        given = {"hidden_size": 5, "direction": direction, "activations": ACTIVATIONS[name], **attributes}
        return NodeFactory("opset5").create(f"{name.upper()}Sequence", inputs, given)

    return build


def slices(begins, ends, strides, **masks) -> Build:
    masks = {f"{name}_mask": masks.get(name, []) for name in ("begin", "end", "shrink_axis", "new_axis", "ellipsis")}
    if any(masks.values()):  # OpenVINO wants all of one length
        masks = {name: [*bits, *[0] * (len(begins) - len(bits))] for name, bits in masks.items()}
    return lambda x: opset13.strided_slice(x, i(*begins), i(*ends), i(*strides), **masks)


def quantized(levels: int, *limits) -> Build:
    return lambda x: opset13.fake_quantize(x, *(constant(limit, np.float32) for limit in limits), levels)


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
    "with an ellipsis":
        (SHAPE, slices([1, 0, -1], [2, 0, 0], [1, 1, 1], ellipsis=[0, 1], shrink_axis=[0, 0, 1])),
    "with all masks": (SHAPE, slices([0, 0, 0, 1], [0, 0, 0, 9], [1, 1, 1, 2], shrink_axis=[1], new_axis=[0, 1],
                                     ellipsis=[0, 0, 1], end=[0, 0, 0, 1])),
    "to a computed end": ((-1, -1, -1), lambda x: opset13.strided_slice(
        x, i(0, 0, -1), opset13.shape_of(x), i(1, 2, 1), [0, 0, 0], [0, 1, 0], shrink_axis_mask=[0, 0, 1])),
    "from a computed begin": ((-1, -1, -1), lambda x: opset13.strided_slice(
        x, opset13.subtract(opset13.shape_of(x, "i32"), constant([2, 1, 6], np.int32)), constant([9] * 3, np.int32),
        constant([1] * 3, np.int32), [0, 0, 0], [0, 1, 0], shrink_axis_mask=[0, 0, 1])),
}
EINSUMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "abc->cab": (), "abc,cd->adb": ((4, 5),), "...c,dc->...d": ((5, 4),), "bac,Dc": ((5, 4),), "abc,abc->b": (SHAPE,),
    "abc,cd,d->a": ((4, 5), (5,)),
}
QUANTIZED: dict[str, Build] = {
    "of 256 levels": quantized(256, -1.3, 1.7, -1.3, 1.7),
    "to other limits": quantized(16, -1.3, 1.7, 3, -5),
    "of each channel": quantized(255, rng().random((3, 1)) - 2, rng().random((3, 1)), -2, 2),
    "of two levels": quantized(2, [[[-0.1]]], [[[0.1]]], -1, 1),
}
SEQUENCES: dict[str, tuple[tuple[int, ...], Build]] = {
    **{
        f"{name} sequence {direction}": ((2, 3, 4), sequence(name, gates, direction))
        for name, gates in (("lstm", 4), ("gru", 3), ("rnn", 1))
        for direction in ("forward", "reverse", "bidirectional")
    },
    "gru sequence, linear before reset":
        ((2, 3, 4), sequence("gru", 3, "bidirectional", 4, linear_before_reset=True)),
    "lstm sequence of open length": ((2, -1, 4), sequence("lstm", 4, "bidirectional", lengths=(6, 6))),
    "lstm sequence with other activations":
        ((2, 3, 4), sequence("lstm", 4, activations=["sigmoid", "tanh", "relu"])),
}
COMPOSED_LAYERS: dict[str, tuple[tuple[int, ...], type, Build]] = {
    **{f"strided slice {name}": (shape, np.float32, build) for name, (shape, build) in SLICES.items()},
    **{
        f"einsum {equation}": (SHAPE, np.float32, lambda x, equation=equation, shapes=shapes: opset13.einsum(
            [x, *(f(*shape) for shape in shapes)], equation))
        for equation, shapes in EINSUMS.items()
    },
    **{f"fake quantize {name}": (SHAPE, np.float32, build) for name, build in QUANTIZED.items()},
    **{name: (shape, np.float32, build) for name, (shape, build) in SEQUENCES.items()},
}
