"""The symmetric Pad that tf2onnx spells in ONNX: recognised, or left for whatever one node has different.

``test_tf2onnx_export.py`` does the same with what tf2onnx really exports, where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import native
import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import BOOL, FLOAT, INT64, convert, model, tensor

OP = "OpenVINOPad_12"
ROWS = [[1, 2], [0, 3]]


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


def run(message: onnx.ModelProto, data: np.ndarray) -> np.ndarray:
    return native.session(message).run(None, {"x": data})[0]


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return native.bits(a) == native.bits(b)


ROWS_BY_RANK = [[[2, 3]], [[2, 0], [1, 4]], [[0, 0], [1, 1], [0, 2]], [[0, 0], [1, 1], [2, 3], [0, 0]]]


@pytest.mark.parametrize(("rows", "opset"), [*zip(ROWS_BY_RANK, (9, 11, 13, 21)), *zip(ROWS_BY_RANK[1:], (10, 18))])
def test_emulation(rows: list, opset: int) -> None:
    original = Emulation(rows, opset).model()
    conversion = convert(original)
    first, second = conversion.records
    assert (first.name, second.name) == ("first", "second")
    assert {first.status, second.status} == {"converted"} and {first.op_type, second.op_type} == {OP}
    assert {first.form, second.form} == {"symmetric emulation of tf2onnx"}
    last = original.graph.node[-1].name
    assert first.notes[0] == f"one operator for the {len(original.graph.node)} nodes up to {last}"
    assert second.notes[0] == "in one with first"
    message = conversion.proto()
    (node,) = message.graph.node
    assert (node.domain, node.op_type, node.name) == ("padops", OP, last)
    assert sorted(t.name for t in message.graph.initializer) == ["y_pads_begin", "y_pads_end"]
    onnx.checker.check_model(message)
    data = np.random.default_rng(0).standard_normal([4 + i for i in range(len(rows))], np.float32)
    wanted = np.pad(data, rows, "symmetric")
    assert same(run(original, data), wanted) and same(run(message, data), wanted)


@pytest.mark.parametrize("gathered", [True, False])
@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2]], ids=str)
def test_emulation_with_a_transpose_inside(order: list[int], gathered: bool) -> None:
    rows = [[0, 0], [0, 1], [1, 1], [2, 3]]
    original = Emulation(rows, order=order, gathered=gathered).model()
    conversion = convert(original)
    assert [record.op_type for record in conversion.records] == [OP, OP]
    assert [node.op_type for node in conversion.proto().graph.node] == [OP, "Transpose"]
    assert len(conversion.proto().graph.initializer) == 2
    data = np.random.default_rng(0).standard_normal((2, 3, 4, 5), np.float32)
    wanted = np.pad(data, rows, "symmetric").transpose(order)
    assert same(run(original, data), wanted) and same(run(conversion.proto(), data), wanted)


Change = Callable[[Emulation], object]
# A change of one node or constant of the emulation that has a Transpose inside.
TURNED: dict[str, Change] = {
    "another order of dims": lambda e: e.tensors.update(order=np.array([2, 1, 0])),
    "the default order": lambda e: e.nodes["transpose"].ClearField("attribute"),
    "not put in order": lambda e: e.nodes["split"].input.__setitem__(0, "plain_dims"),
    "the plain dims are read": lambda e: another("plain_dims")(e),
    "the turned data are read": lambda e: another("turned")(e),
}


@pytest.mark.parametrize("name", TURNED)
def test_another_transpose_is_left(name: str) -> None:
    emulation = Emulation([[0, 0], [2, 1], [0, 3]], order=[1, 2, 0])
    TURNED[name](emulation)
    assert {record.op_type for record in convert(emulation.model()).records} == {"Pad_13"}


def test_a_pad_without_data_begins_no_emulation() -> None:
    emulation = Emulation(ROWS)
    emulation.nodes["first"].input[0] = ""
    assert [record.op_type for record in convert(emulation.model()).records] == [None, "Pad_13"]


def amount(name: str, *values: int) -> Change:
    return lambda e: e.tensors.update({name: np.array(values)})


def attribute(node: str, name: str, value: Any) -> Change:
    def change(emulation: Emulation) -> None:
        kept = [a for a in emulation.nodes[node].attribute if a.name != name]
        del emulation.nodes[node].attribute[:]
        emulation.nodes[node].attribute.extend([*kept, helper.make_attribute(name, value)])

    return change


def another(value: str) -> Change:
    """One more node, which reads what is in between."""
    return lambda e: e.nodes.update(another=helper.make_node("Identity", [value], ["other"]))


def inputs(node: str, *names: str) -> Change:
    return lambda e: (e.nodes[node].ClearField("input"), e.nodes[node].input.extend(names))


NOT_THE_EMULATION: dict[str, Change] = {
    "another place": amount("at_0", 0, -3),
    "another end": amount("at_1", 0, -3),
    "one place": amount("at_0", 1, 1),
    "other marks": lambda e: e.tensors.update(no=np.array([False, True])),
    "two elements added": amount("first_pads", 2, 1, 2, 1),
    "added on one side": amount("first_pads", 1, 1, 1, 0),
    "one axis not widened": amount("first_pads", 1, 0, 1, 0),
    "cropped": amount("second_pads", 1, 0, 2, -1),
    "edge": attribute("second", "mode", "edge"),
    "edge first": attribute("first", "mode", "edge"),
    "zeros": attribute("fill_0", "value", tensor("value", [False], bool)),
    "another axis": attribute("compress_1", "axis", 0),
    "flattened": lambda e: e.nodes["compress_1"].ClearField("attribute"),
    "masks exchanged": inputs("compress_0", "mirrored", "mask_1"),
    "dims exchanged": inputs("fill_0", "dim_1"),
    "a constant dim": lambda e: (amount("ten", 10)(e), inputs("fill_0", "ten")(e)),
    "shape of something else": inputs("shape", "wider"),
    "the shape's end": attribute("shape", "end", 2),
    "reduction": attribute("scatter_0", "reduction", "none"),
    **{f"{value} is read": another(value) for value in
       ("mirrored", "wider", "left_0", "mask_0", "ones_0", "dim_0", "dims")},
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_THE_EMULATION)
def test_anything_else_is_left(name: str) -> None:
    """Whatever one node or constant has different, the Pads are converted one by one, and every other node stays."""
    emulation = Emulation(ROWS, 18)
    NOT_THE_EMULATION[name](emulation)
    original = emulation.model()
    conversion = convert(original)
    assert [record.op_type for record in conversion.records] == ["Pad_18", "Pad_18"]
    assert len(conversion.proto().graph.node) == len(original.graph.node)


@pytest.mark.parametrize("value", ["mirrored", "mask_1", "dims"])
def test_an_output_in_between_is_left(value: str) -> None:
    kind = BOOL if value.startswith("mask") else INT64 if value == "dims" else FLOAT
    original = Emulation(ROWS).model(outputs=[("y", FLOAT, [None, None]), (value, kind, None)])
    assert [record.op_type for record in convert(original).records] == ["Pad_13", "Pad_13"]


def test_known_to_reach_too_far_is_left() -> None:
    """At n + 1 the emulation shows the padding of the other end, which is what its nodes say."""
    for size, op_type in ((3, OP), (2, "Pad_13")):
        original = Emulation([[3, 0]]).model([size])
        converted = convert(original)
        assert {record.op_type for record in converted.records} == {op_type}
        data = np.arange(1, 1 + size, dtype=np.float32)
        assert same(run(converted.proto(), data), run(original, data))


def test_the_split_may_name_its_parts() -> None:
    emulation = Emulation(ROWS)
    emulation.tensors["parts"] = np.array([1, 1])
    emulation.nodes["split"].input.append("parts")
    conversion = convert(emulation.model())
    assert {record.op_type for record in conversion.records} == {OP}
    old = Emulation(ROWS, 9)
    attribute("split", "split", [1, 1])(old)
    assert {record.op_type for record in convert(old.model()).records} == {OP}
