"""PyTorch's and Caffe2's Pads in models built node by node, and what of them stays, with the reason.

``test_torch_aten_export.py`` does the same with what PyTorch really exports, beside PyTorch.
"""

from __future__ import annotations

from typing import Any

import native
import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import FLOAT, INT64, STRING, UINT8, convert, model, tensor

ATEN = "org.pytorch.aten"


def aten(
    operator: str = "pad",
    pads: Any = (1, 2, 0, 1),
    mode: Any = "reflect",
    value: Any = None,
    *,
    domain: str = ATEN,
    dims: Any = (3, 4),
    dtype: int = FLOAT,
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node that calls ``operator``, as PyTorch's exporter writes it."""
    nodes, names, tensors = [], ["x", "p"], [tensor("p", pads)]
    if operator in ("pad", "_pad_enum"):
        names.append("m")
        nodes.append(helper.make_node("Constant", [], ["m"], value=mode))  # a string, as PyTorch has it
    if value is not None:
        names.append("v")
        tensors.append(tensor("v", value, np.asarray(value).dtype))
    nodes.append(helper.make_node("ATen", names, ["y"], "pad", domain=domain, operator=operator, **attributes))
    imports = [(domain, 1)] if domain else []
    inputs = [("x", dtype, None if dims is None else list(dims))]
    return model(nodes, 18, inputs=inputs, outputs=[("y", dtype, None)], tensors=tensors, imports=imports)


def run(message: onnx.ModelProto, data: np.ndarray) -> np.ndarray:
    return native.session(message).run(None, {"x": data})[0]


DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("dims", [(3, 4), None], ids=["known rank", "unknown rank"])
@pytest.mark.parametrize("domain", [ATEN, "aten", ""], ids=repr)
def test_domains(domain: str, dims: Any) -> None:
    conversion = convert(aten(domain=domain, dims=dims))
    (record,) = conversion.records
    assert (record.status, record.form) == ("converted", "PyTorch pad")
    assert [node.op_type for node in conversion.proto().graph.node] == [record.op_type]  # the text is gone
    assert native.bits(run(conversion.proto(), DATA)) == native.bits(np.pad(DATA, [(0, 1), (1, 2)], "reflect"))


@pytest.mark.parametrize("value", [None, 2.5], ids=["no fill", "fill"])
def test_no_constant_is_left_that_nothing_reads(value: float | None) -> None:
    """ONNX Runtime warns of such a one when a session is created."""
    given = None if value is None else np.float32(value)
    graph = convert(aten("constant_pad_nd" if value else "reflection_pad2d", value=given)).proto().graph
    read = {name for node in graph.node for name in node.input}
    assert {tensor.name for tensor in graph.initializer} <= read


@pytest.mark.parametrize("operator", ["pad", "symmetric_pad2d"])
def test_symmetric(operator: str) -> None:
    """The mode that PyTorch may get: a reflection with the edge, n elements at most (P4), cropped afterwards (P3)."""
    converted = convert(aten(operator, mode="symmetric", pads=(4, 2, -1, 3))).proto()
    wanted = np.pad(DATA, [(0, 3), (4, 2)], "symmetric")[1:]
    assert native.bits(run(converted, DATA)) == native.bits(wanted)
    (record,) = convert(aten(operator, mode="symmetric", pads=(5, 0, 0, 0))).records
    assert record.status == "unconverted" and "[P4]" in record.reason


def without(operator: str) -> onnx.ModelProto:
    message = aten(operator)
    del message.graph.node[-1].input[1:]
    return message


def uncounted() -> onnx.ModelProto:
    message = aten()
    del message.graph.initializer[:]
    message.graph.input.append(helper.make_tensor_value_info("p", INT64, ["n"]))
    return message


LEFT: list[tuple[str, onnx.ModelProto, str]] = [
    ("mode", aten(mode="mirror"), "mode 'mirror' is not one of reflect, replicate, circular, constant, symmetric [P9]"),
    ("a number of symmetric", aten("_pad_enum", mode=tensor("m", 4)),
     "mode 4 is not one of reflect, replicate, circular, constant, symmetric [P9]"),
    ("no amounts", without("reflection_pad1d"), "it has 1 input, expected 2"),
    ("no amounts, no mode", without("pad"), "it has 1 input, expected 2 to 4"),
    ("amounts that nothing counts", uncounted(), "the number of its amounts is not known"),
    ("symmetric of any rank", aten(mode="symmetric", dims=None),
     "the rank of its data is not known, and ONNX has no symmetric that crops as PyTorch's does"),
    ("amounts for three axes", aten(pads=[1] * 6), "it has amounts for 3 axes, but its data have rank 2"),
    ("odd amounts", aten(pads=[1] * 3), "it has 3 amounts, expected an even number"),
    ("amounts of another", aten("reflection_pad2d", pads=[1, 1]), "it has 2 amounts, expected 4"),
    ("matrix of amounts", aten(pads=[[1, 1]]), "its amounts have shape [1, 2], expected a list"),
    ("crops of any rank", aten(pads=[-1, 0], dims=None),
     "the rank of its data is not known, and ONNX has no reflect that crops as PyTorch's does"),
    ("value that the type lacks", aten(mode="constant", value=300, dtype=UINT8),
     "the value 300 is not of the data's type, uint8"),
    ("value that no float is", aten(mode="constant", value=1e300), "the value 1e+300 is not of the data's type, float"),
    ("value of strings", aten(mode="constant", value=1.5, dtype=STRING),
     "the value 1.5 is not of the data's type, string"),
    ("two values", aten(mode="constant", value=[1.0, 2.0]), "its value is not one constant number"),
    ("overload", aten(overload_name="out"), "its overload is 'out', which padops does not know"),
    ("attribute", aten(dim=1), "its attribute dim is unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "why"), [row[1:] for row in LEFT], ids=[row[0] for row in LEFT])
def test_left(message: onnx.ModelProto, why: str) -> None:
    conversion = convert(message)
    (record,) = conversion.records
    assert (record.status, record.reason) == ("unconverted", why)
    assert conversion.proto().SerializeToString() == message.SerializeToString()


# --- Caffe2 ----------------------------------------------------------------------------------------------------------

IMAGE = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
SIDES = {"pad_t": 1, "pad_l": 2, "pad_b": 0, "pad_r": -1}


def image(**attributes: Any) -> onnx.ModelProto:
    """A model of one PadImage, as Caffe2's frontend writes it."""
    node = helper.make_node("PadImage", ["x"], ["y"], **attributes)
    return model([node], 9, inputs=[("x", FLOAT, [1, 2, 3, 4])], outputs=[("y", FLOAT, None)])


IMAGES: dict[str, tuple[dict[str, Any], Any]] = {
    "one amount": ({"pad": 1}, np.pad(IMAGE, [(0, 0), (0, 0), (1, 1), (1, 1)])),
    "sides": (SIDES | {"mode": "edge"}, np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (2, 0)], "edge")[..., :-1]),
    "pads": ({"pads": [1, 2, 0, 3], "value": 1.5},
             np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (2, 3)], constant_values=np.float32(1.5))),
    "NHWC": ({"pads": [1, 2, 0, 1], "order": "NHWC", "mode": "reflect"},
             np.pad(IMAGE, [(0, 0), (1, 0), (2, 1), (0, 0)], "reflect")),
    "none": ({"stride": 1, "legacy_pad": 0}, IMAGE),
}  # fmt: skip


@pytest.mark.parametrize("name", IMAGES)
def test_pad_image(name: str) -> None:
    attributes, wanted = IMAGES[name]
    conversion = convert(image(**attributes))
    assert [(record.form, record.status) for record in conversion.records] == [("Caffe2 PadImage", "converted")]
    assert native.bits(run(conversion.proto(), IMAGE)) == native.bits(wanted)


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ({"pad_t": 1}, "of its amounts it has pad_t, expected pad_t, pad_l, pad_b, pad_r"),
        ({"pad": 1, "pads": [1] * 4}, "its amounts are given more than once: pads, pad"),
        ({"pads": [1, 1]}, "its attribute pads has 2 values, expected 4"),
        ({"stride_h": 2}, "its attribute stride_h is 2, expected 1"),
        ({"mode": "symmetric"}, "mode 'symmetric' is not one of constant, reflect, edge [P9]"),
        ({"order": "HWC"}, "order 'HWC' is not one of NCHW, NHWC"),
        ({"scale": 1.0}, "its attribute scale is unknown"),
        ({"value": 1}, "its attribute value is of type INT, expected FLOAT"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_pad_image_left(attributes: dict[str, Any], why: str) -> None:
    (record,) = convert(image(**attributes)).records
    assert (record.status, record.reason) == ("unconverted", why)
