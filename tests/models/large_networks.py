"""Large models: one with the layers of ResNet-50, and some with gigabytes of external data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import small_models
from onnx import helper, parser
from small_models import FLOAT, tensor

# Of each stage: how many blocks, inner and outer channels.
BLOCKS = ((3, 64, 256), (4, 128, 512), (6, 256, 1024), (3, 512, 2048))


def resnet() -> onnx.ModelProto:
    """All convolutions of ResNet-50, 94 MB, each behind a Pad, as some exporters write it.

    Every other Pad has the mode reflect, which cannot fold; the rest are constant.
    """
    rng = np.random.default_rng(0)
    nodes, tensors = list[onnx.NodeProto](), list[onnx.TensorProto]()

    def add(op: str, *inputs: str, **attributes: object) -> str:
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def conv(x: str, given: int, made: int, kernel: int = 1, stride: int = 1, mode: str = "constant") -> str:
        name = f"w{len(nodes)}"
        weights = rng.standard_normal((made, given, kernel, kernel), np.float32) / 50
        tensors.append(tensor(name, weights, np.float32))
        if kernel > 1:
            tensors.append(tensor(f"{name}_pads", [0, 0, kernel // 2, kernel // 2] * 2))
            x = add("Pad", x, f"{name}_pads", mode=mode)
        return add("Conv", x, name, strides=[stride, stride])

    x, width = add("Relu", conv("x", 3, 64, 7, 2)), 64
    x = add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    for stage, (count, inner, outer) in enumerate(BLOCKS):
        for block in range(count):
            stride = 2 if stage and not block else 1
            y = add("Relu", conv(x, width, inner))
            y = add("Relu", conv(y, inner, inner, 3, stride, "reflect" if block % 2 else "constant"))
            y = conv(y, inner, outer)
            beside = x if block else conv(x, width, outer, 1, stride)
            x, width = add("Relu", add("Add", y, beside)), outer
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["y"]))
    return small_models.model(nodes, inputs=[("x", FLOAT, ["n", 3, 224, 224])], tensors=tensors)


def products(folder: Path, count: int, side: int) -> Path:
    """A chain of products with matrices of ``side`` * ``side`` floats, each behind a Pad."""
    link = 'p{0} = Pad <mode = "reflect"> (m{0}, pads) s{0} = Slice (p{0}, one, end, one) m{1} = MatMul (s{0}, w{0})'
    links = " ".join(link.format(i, i + 1) for i in range(count))
    given = "int64[4] pads = {0, 1, 0, 1}, int64[1] one = {1}, int64[1] end = {-1}"
    body = f"(float[n, {side}] m0) => (float[n, {side}] m{count}) <{given}> {{ {links} }}"
    return _external(folder, body, count, side)


def lookup(folder: Path, rows: int, columns: int) -> Path:
    """A Pad of one row of a matrix."""
    given = "int64[2] p = {1, 2}, int32[1] a = {1}"
    body = f"(int64[1] i) => (float[1, m] y) <{given}> {{ r = Gather (w0, i)  y = Pad (r, p, , a) }}"
    return _external(folder, body, 1, rows, columns)


def _external(folder: Path, body: str, count: int, rows: int, columns: int = 0) -> Path:
    """A model with so many matrices in one file, which has holes.

    Each matrix begins with a number of its own, so that no two are equal; all else in it is 0.
    """
    made = parser.parse_model(f'<ir_version: 8, opset_import: ["": 18]> g {body}')
    elements = rows * (columns or rows)
    with (folder / "model.data").open("wb") as file:
        file.truncate(4 * count * elements)
        for i in range(count):
            file.seek(4 * i * elements)
            file.write(np.float32(i + 1).tobytes())
            made.graph.initializer.append(small_models.external(f"w{i}", "model.data", elements, 4 * i * elements))
            made.graph.initializer[-1].dims[:] = [rows, columns or rows]
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    return folder / "model.onnx"
