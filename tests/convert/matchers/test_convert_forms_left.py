"""Pads that no operator is the same as: each is left, with the reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import (
    BOOL,
    COMPLEX64,
    FLOAT,
    INT8,
    INT32,
    INT64,
    STRING,
    UINT8,
    convert,
    model,
    pad,
    tensor,
)


@dataclass(frozen=True)
class Left:
    """A node that no operator is the same as, and the reason that has to be given."""

    label: str
    opset: int
    node: onnx.NodeProto
    reason: str
    type: int | None = FLOAT
    tensors: tuple[onnx.TensorProto, ...] = (tensor("pads", [0, 1, 0, 2]),)


LEFT = [
    Left("complex", 13, pad(), "its data are complex64, and ONNX Runtime has no complex tensors", COMPLEX64),
    Left("complex, attributes", 2, pad(["x"], pads=[0, 0, 0, 0]),
         "its data are complex64, and ONNX Runtime has no complex tensors", COMPLEX64),
    Left("no amounts", 13, pad(["x"]), "it has no amounts, neither as an input nor as an attribute"),
    Left("no data", 13, pad(["", "pads"]), "it has no data"),
    Left("unknown mode", 18, pad(mode="symmetric"),
         "mode 'symmetric' is not one of constant, reflect, edge, wrap [P9]"),
    Left("unknown mode, attributes", 2, pad(["x"], pads=[0, 0, 0, 0], mode="SAME"),
         "mode 'SAME' is not one of constant, reflect, edge, wrap [P9]"),
    Left("unknown attribute", 13, pad(extra=1), "no version of Pad has an attribute extra"),
    Left("mode of the wrong type", 13, pad(mode=1), "its attribute mode is of type INT, expected STRING"),
    Left("pads of the wrong type", 2, pad(["x"], pads=[0.0, 1.0]),
         "its attribute pads is of type FLOATS, expected INTS"),
    Left("both attributes", 2, pad(["x"], pads=[0, 0], paddings=[0, 0]),
         "it has both attributes, pads and paddings"),
    Left("pads twice, not the same", 13, pad(pads=[0, 1, 0, 3]),
         "its attribute pads is [0, 1, 0, 3], but its input pads is [0, 1, 0, 2]; remove one"),
    Left("pads twice, not constant", 13, pad(pads=[0, 1, 0, 3]),
         "its attribute pads is [0, 1, 0, 3], but its input pads is not constant; remove one", tensors=()),
    Left("value and another fill", 13, pad(["x", "pads", "fill"], value=2.0),
         "its attribute value is 2.0, but its input constant_value is 3.0; remove one",
         tensors=(tensor("pads", [0, 1, 0, 2]), tensor("fill", 3, np.float32))),
    Left("value that the type lacks", 13, pad(value=0.5), "the attribute value 0.5 is not of the data's type, int32",
         INT32),
    Left("value too large for the type", 13, pad(value=300.0),
         "the attribute value 300.0 is not of the data's type, int8", INT8),
    Left("value that an unsigned type lacks", 13, pad(value=1.5),
         "the attribute value 1.5 is not of the data's type, uint8", UINT8),
    Left("value that no bool is", 13, pad(value=2.0), "the attribute value 2.0 is not of the data's type, bool", BOOL),
    Left("value of strings", 13, pad(value=1.0), "the attribute value 1.0 is not a string, but the data are", STRING),
    Left("value and an unknown type", 13, pad(value=1.0),
         "the attribute value 1.0 has to become an input, and the type of the data is unknown", None),
    Left("integer value that no float is", 2, pad(["x"], pads=[0, 1, 0, 2], value=16777217),
         "the attribute value 16777217 is not a float"),
    Left("too many inputs", 18, pad(["x", "pads", "", "", "x"]), "it has 5 inputs, expected at most 4"),
    Left("too many outputs", 18, helper.make_node("Pad", ["x", "pads"], ["y", "z"]), "it has 2 outputs, expected one"),
    Left("com.microsoft, no pads", 18, pad(["x"], domain="com.microsoft"),
         "its inputs data and pads are not both given"),
    Left("com.microsoft, axes", 18, pad(["x", "pads", "", "pads"], domain="com.microsoft"),
         "it has 4 inputs, expected at most 3"),
    Left("com.microsoft, foreign attribute", 18, pad(domain="com.microsoft", value=1.0),
         "its attribute value is unknown"),
    Left("another domain", 18, pad(domain="somewhere"), "padops does not know the domain somewhere"),
    Left("a newer padops", 18, helper.make_node("Pad_99", ["x"], ["y"], domain="padops"),
         "this version of padops does not know the operator"),
]  # fmt: skip


@pytest.mark.parametrize("row", LEFT, ids=[row.label for row in LEFT])
def test_left(row: Left) -> None:
    x = ("x", row.type, [2, 3]) if row.type is not None else ("x", 0, None)
    inputs = [x] if row.tensors else [x, ("pads", INT64, [4])]
    source = model([row.node], row.opset, inputs=inputs, tensors=row.tensors, imports=[("com.microsoft", 1)])
    if row.type is None:
        del source.graph.output[:]
    conversion = convert(source)
    (record,) = conversion.records
    assert (record.status, record.op_type, record.reason) == ("unconverted", None, row.reason)
    assert conversion.proto().SerializeToString() == source.SerializeToString()


FOREIGN = [
    ("com.microsoft", "Pad", ["x", "pads"], {}),
    ("padops", "Pad_18", ["x", "pads"], {}),
    ("ai.intel.openvino", "Pad", ["x", "ones", "ones"], {"version": "opset1", "pad_mode": "edge"}),
    ("ngraph", "Pad", ["x", "fill"], {"padding_below": [1, 1], "padding_above": [1, 1]}),
    ("tf", "MirrorPad", ["x", "rows"], {"mode": "SYMMETRIC"}),
    ("com.microsoft", "NhwcMaxPool", ["x4"], {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"}),
]


@pytest.mark.parametrize("target", ["padops", "onnx", "pyop"])
@pytest.mark.parametrize("row", FOREIGN, ids=lambda row: f"{row[0]}.{row[1]}")
def test_a_node_without_one_output_is_left(row: tuple, target: str) -> None:
    for outputs in [[]] if row[1] == "NhwcMaxPool" else [[], ["a", "b"]]:  # a pooling may give indices as well
        check_left(row, outputs, target)


def check_left(row: tuple, outputs: list[str], target: str) -> None:
    domain, op_type, inputs, attributes = row
    nodes = [helper.make_node("Identity", ["x"], ["y"]),
             helper.make_node(op_type, inputs, outputs, name="p", domain=domain, **attributes)]  # fmt: skip
    tensors = [tensor("pads", [1, 1, 1, 1]), tensor("ones", [1, 1]), tensor("fill", 0, np.float32),
               tensor("rows", [[1, 1], [1, 1]]), tensor("x4", np.zeros((1, 4, 4, 1)), np.int8)]  # fmt: skip
    source = model(nodes, 18, imports=[(domain, 1)], tensors=tensors)
    options = {"fallback": True, "fold": True, "auto_pad": "explicit", "custom_domains": ["tf"]}
    conversion = convert(source, target=target, **options)
    (record,) = conversion.records
    assert (record.status, record.reason) == ("unconverted", f"it has {len(outputs)} outputs, expected one")
    assert [node.op_type for node in conversion.proto().graph.node] == ["Identity", op_type]
