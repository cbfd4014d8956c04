"""Large models for the verifier: one with the layers of ResNet-50, and one with gigabytes of external data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from small_models import FLOAT, model, pad, tensor

BLOCKS = (
    (3, 64, 256),
    (4, 128, 512),
    (6, 256, 1024),
    (3, 512, 2048),
)  # of each stage: how many, inner and outer channels


class _Layers:
    """Layers one after another; every convolution has a Pad in front of it, as some exporters write it."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def add(self, op: str, inputs: list[str], **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def conv(self, x: str, channels: tuple[int, int], kernel: int = 1, stride: int = 1, mode: str = "constant") -> str:
        weights = self._rng.standard_normal((channels[1], channels[0], kernel, kernel), np.float32) / 50
        name = f"w{len(self.tensors)}"
        self.tensors.append(tensor(name, weights, np.float32))
        if kernel > 1:
            amounts = [0, 0, kernel // 2, kernel // 2] * 2
            self.tensors.append(tensor(f"{name}_pads", amounts))
            x = self.add("Pad", [x, f"{name}_pads"], mode=mode)
        return self.add("Conv", [x, name], strides=[stride, stride])


def resnet(seed: int = 0) -> onnx.ModelProto:
    """All convolutions of ResNet-50, 94 MB: every other Pad in mode reflect, which cannot fold, the rest constant."""
    layers = _Layers(seed)
    x = layers.add("Relu", [layers.conv("x", (3, 64), 7, 2)])
    x = layers.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2])
    width = 64
    for stage, (count, inner, outer) in enumerate(BLOCKS):
        for block in range(count):
            stride = 2 if stage and not block else 1
            y = layers.add("Relu", [layers.conv(x, (width, inner))])
            mode = "reflect" if block % 2 else "constant"
            y = layers.add("Relu", [layers.conv(y, (inner, inner), 3, stride, mode)])
            y = layers.conv(y, (inner, outer))
            beside = x if block else layers.conv(x, (width, outer), 1, stride)
            x, width = layers.add("Relu", [layers.add("Add", [y, beside])]), outer
    layers.nodes.append(helper.make_node("GlobalAveragePool", [x], ["y"]))
    return model(layers.nodes, inputs=[("x", FLOAT, ["n", 3, 224, 224])], tensors=layers.tensors)


def external(folder: Path, tensors: int, side: int) -> Path:
    """A chain of products with matrices of ``side`` * ``side`` floats in one file, which has holes, each behind a Pad.

    Each matrix begins with a number of its own, so that no two are equal; all else in it is 0.
    """
    folder.mkdir(parents=True)
    size, path = side * side * 4, folder / "model.onnx"
    with (folder / "model.data").open("wb") as file:
        file.truncate(tensors * size)
        for i in range(tensors):
            file.seek(i * size)
            file.write(np.float32(i + 1).tobytes())
    nodes, matrices = [], []
    for i in range(tensors):
        matrix = TensorProto(name=f"w{i}", data_type=FLOAT, dims=[side, side], data_location=TensorProto.EXTERNAL)
        for key, value in {"location": "model.data", "offset": i * size, "length": size}.items():
            matrix.external_data.add(key=key, value=str(value))
        matrices.append(matrix)
        begin = f"m{i - 1}" if i else "x"
        nodes += [
            pad([begin, "pads"], f"p{i}", mode="reflect"),
            helper.make_node("Slice", [f"p{i}", "one", "end", "axis"], [f"s{i}"]),
            helper.make_node("MatMul", [f"s{i}", f"w{i}"], [f"m{i}"]),
        ]
    given = [tensor("pads", [0, 1, 0, 1]), tensor("one", [1]), tensor("end", [-1]), tensor("axis", [1])]
    inputs, outputs = [("x", FLOAT, ["n", side])], [(f"m{tensors - 1}", FLOAT, None)]
    path.write_bytes(model(nodes, inputs=inputs, outputs=outputs, tensors=[*given, *matrices]).SerializeToString())
    return path
