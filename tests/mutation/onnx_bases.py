"""Right models to begin with: the samples in ``models/``, and small ones of what those lack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper, parser

import padops

MODELS = Path(__file__).resolve().parents[2] / "models"
DATA = "weights.bin"

TEXTS = {
    "calls": """
        <ir_version: 9, opset_import: ["": 18, "local": 1]>
        g (float[2, 3] x, int64[4] p) => (float[N, M] y, float[K, L] z) {
            a = local.Twice <mode = "edge"> (x, p)
            y = local.Once <mode: string = "reflect"> (a, p)
            z = local.Twice (y, p)
        }
        <domain: "local", opset_import: ["": 18]>
        Once <mode: string = "constant"> (x, p) => (y) { y = Pad <mode: string = @mode> (x, p) }
        <domain: "local", opset_import: ["": 18, "local": 1]>
        Twice <mode: string = "reflect"> (x, p) => (y) {
            a = local.Once <mode: string = @mode> (x, p)
            y = local.Once <mode = "wrap"> (a, p)
        }
    """,
    "concat": """
        <ir_version: 8, opset_import: ["": 17]>
        g (float[2, N] x, float value) => (float[M, K] y)
        <int64[2] front = {0, 1}, int64[1] one = {1}, int64[1] axis = {0}> {
            two = Constant <value_ints = [2]> ()
            size = Shape (x)
            rows = Gather <axis = 0> (size, axis)
            same = Sub (rows, rows)
            both = Concat <axis = 0> (same, two)
            pads = Concat <axis = 0> (front, both)
            y = Pad <mode = "reflect"> (x, pads, value)
        }
    """,
    "chain": """
        <ir_version: 8, opset_import: ["": 17]>
        g (float[2, 3, 4] x) => (float[N, M, K] y)
        <int64 zero = {0}, int64 six = {6}, int64 one = {1}, int64[1] two = {2}, int64[1] count = {6}> {
            steps = Range (zero, six, one)
            halves = Div (steps, two)
            none = ConstantOfShape <value = int64[1] {0}> (count)
            some = Greater (steps, two)
            pads = Where (some, halves, none)
            y = Pad <mode = "edge"> (x, pads)
        }
    """,
    "folding": """
        <ir_version: 8, opset_import: ["": 17]>
        g (float[1, 2, 6, 6] x) => (float[N, C, H, W] y, int8[2] b)
        <int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}, int64[8] none = {0, 0, 0, 0, 0, 0, 0, 0},
         float[2, 2, 3, 3] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7,
                                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7},
         int8[1] q = {3}, int64[2] behind = {0, 1}> {
            a = Pad (x, none)
            c = Pad (a, pads)
            d = Conv <kernel_shape = [3, 3], pads = [0, 0, 0, 0]> (c, w)
            e = Pad (d, pads)
            f = Pad (e, pads)
            y = AveragePool <kernel_shape = [2, 2], auto_pad = "SAME_UPPER", strides = [2, 2]> (f)
            r = Cast <to = 1> (q)
            s = Pad (r, behind)
            b = Cast <to = 3> (s)
        }
    """,
    "same": """
        <ir_version: 8, opset_import: ["": 17]>
        g (float[1, 1, 7, W] x) => (float[1, 1, H, V] y)
        <float[1, 1, 2, 3] w = {0, 1, 2, 3, 4, 5}> {
            a = Conv <auto_pad = "SAME_LOWER", dilations = [2, 2], kernel_shape = [2, 3]> (x, w)
            y = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [3, 3], strides = [2, 1]> (a)
        }
    """,
    "microsoft": """
        <ir_version: 8, opset_import: ["": 12, "com.microsoft": 1]>
        g (float[2, 3] x, float value) => (float[N, M] y) <int64[4] pads = {1, 0, 1, 2}> {
            y = com.microsoft.Pad <mode = "reflect"> (x, pads, value)
        }
    """,
    "optional": """
        <ir_version: 9, opset_import: ["": 19]>
        g (float[2, 3] x, seq(float[N]) s, optional(float[2]) o, bool c) => (float[M] y, float[K, 3] z)
        <int64[2] pads = {1, 1}, int64[1] at = {0}, int32[1] axes = {0}> {
            item = SequenceAt (s, at)
            y = Pad <mode = "wrap"> (item, pads)
            z = If (c) <
                then_branch = t () => (float[K, 3] a) { a = Pad (x, pads, , axes) },
                else_branch = e () => (float[K, 3] b) {
                    none = Constant <value = int64[2] {0, 0}> ()
                    b = Pad <mode = "edge"> (x, none, , axes)
                }>
        }
    """,
}


@dataclass(frozen=True)
class Base:
    """A model, and the files beside it."""

    name: str
    message: onnx.ModelProto
    files: dict[str, bytes] = field(default_factory=dict)


def bases() -> list[Base]:
    """All of them, in an order that does not change."""
    return [*_samples(), *_written(), _external(), *_converted()]


def _samples() -> Iterator[Base]:
    for path in sorted(MODELS.glob("*.onnx")):
        yield Base(path.name, onnx.load(path))


def _written() -> Iterator[Base]:
    for name, text in TEXTS.items():
        yield Base(name, parser.parse_model(text))


def _external() -> Base:
    """The amounts and the data in one file of their own."""
    message = parser.parse_model("""
        <ir_version: 8, opset_import: ["": 18]>
        g (float[2, 3] x) => (float[4, 7] y, float[6, 3] z) { y = Pad (x, pads) z = Pad <mode = "edge"> (w, pads) }
    """)
    content = b""
    for name, array in (("pads", np.array([1, 2, 1, 2])), ("w", np.arange(12, dtype=np.float32).reshape(4, 3))):
        tensor = numpy_helper.from_array(array, name)
        entries = {"location": DATA, "offset": len(content), "length": len(tensor.raw_data)}
        content += tensor.raw_data
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=str(value))
        message.graph.initializer.append(tensor)
    return Base("external", message, {DATA: content})


def _converted() -> Iterator[Base]:
    """What padops made itself: its operators and their fallbacks, and its Python kernels."""
    for target in ("padops", "pyop"):
        message = padops.convert(MODELS / "pad_18.onnx", target=target).proto()
        yield Base(f"pad_18 as {target}", message)
