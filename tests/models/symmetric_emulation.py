"""The nodes that tf2onnx writes for one symmetric Pad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper
from small_models import FLOAT, model, tensor


@dataclass
class Emulation:
    """The nodes that tf2onnx writes for one symmetric Pad, each to be changed before the model is built."""

    rows: Sequence[Sequence[int]]  # begin and end of each axis of the data
    opset: int = 13  # Scatter and the form of Pad and Split follow from it
    order: Sequence[int] | None = None  # the axes of the result, where a Transpose stands behind the reflection
    gathered: bool = True  # whether the shape is taken in front of that Transpose, and put in order by a Gather
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    nodes: dict[str, onnx.NodeProto] = field(default_factory=dict)

    def __post_init__(self) -> None:
        amounts = np.array(self.rows, np.int64)
        axes = np.flatnonzero(amounts.any(1)).tolist()
        one = amounts.any(1).astype(np.int64)
        self._pad("first", "x", "wider", np.concatenate([one, one]), "constant")
        self._pad("second", "wider", "mirrored", amounts.T.reshape(-1), "reflect")
        value = "mirrored"
        if self.order is not None:
            value = "turned"
            self._node("transpose", "Transpose", ["mirrored"], ["turned"], perm=self.order)
        if self.order is not None and self.gathered:
            self.tensors["order"] = np.array(self.order)
            self._node("shape", "Shape", ["mirrored"], ["plain_dims"])
            self._node("gather", "Gather", ["plain_dims", "order"], ["dims"])
        else:
            self._node("shape", "Shape", [value], ["dims"])
        parts = {"num_outputs": len(amounts)} if self.opset >= 18 else {}
        self._node("split", "Split", ["dims"], [f"dim_{axis}" for axis in range(len(amounts))], **parts)
        self.tensors["no"] = np.zeros(2, bool)
        if self.order is not None:
            amounts = amounts[list(self.order)]
            axes = np.flatnonzero(amounts.any(1)).tolist()
        for axis in axes:
            ones = tensor("value", [True], bool)
            self._node(f"fill_{axis}", "ConstantOfShape", [f"dim_{axis}"], [f"ones_{axis}"], value=ones)
            self.tensors[f"at_{axis}"] = np.array([amounts[axis, 0], -1 - amounts[axis, 1]])
            scatter = "ScatterElements" if self.opset >= 11 else "Scatter"
            self._node(f"scatter_{axis}", scatter, [f"ones_{axis}", f"at_{axis}", "no"], [f"mask_{axis}"])
            result = "y" if axis == axes[-1] else f"left_{axis}"
            self._node(f"compress_{axis}", "Compress", [value, f"mask_{axis}"], [result], axis=axis)
            value = result

    def _node(self, name: str, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        self.nodes[name] = helper.make_node(op, inputs, outputs, name, **attributes)

    def _pad(self, name: str, value: str, result: str, amounts: np.ndarray, mode: str) -> None:
        if self.opset < 11:
            self._node(name, "Pad", [value], [result], pads=amounts.tolist(), mode=mode)
        else:
            self.tensors[f"{name}_pads"] = amounts
            self._node(name, "Pad", [value, f"{name}_pads"], [result], mode=mode)

    def model(self, shape: Sequence[int] | None = None, **parts: Any) -> onnx.ModelProto:
        dims = [None] * len(self.rows)
        given = {"inputs": [("x", FLOAT, dims if shape is None else shape)], "outputs": [("y", FLOAT, dims)],
                 "tensors": [tensor(name, array, array.dtype) for name, array in self.tensors.items()]}  # fmt: skip
        return model(list(self.nodes.values()), self.opset, ir_version=8 if self.opset > 10 else 4, **given | parts)
