"""padops beside what comes with onnx itself: compose, the inliner, the version converter."""

from __future__ import annotations

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import compose, parser

import padops

ROWS = np.arange(12, dtype=np.float32).reshape(2, 6)
CPU = ["CPUExecutionProvider"]


def network(data: str, result: str) -> onnx.ModelProto:
    """A reflection of more than once around, which a stock session refuses."""
    return parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]> net (float[2, n] {data}) => (float[2, m] {result}) '
        f'<int64[4] p = {{0, 7, 0, 1}}> {{ {result} = Pad <mode = "reflect"> ({data}, p) }}'
    )


def operators(model: onnx.ModelProto) -> list[str]:
    return [f"{node.domain}::{node.op_type}" for node in model.graph.node if node.op_type != "Constant"]


def run(model: onnx.ModelProto, data: np.ndarray = ROWS) -> object:
    session = padops.InferenceSession(model.SerializeToString())
    return native.bits(session.run(None, {session.get_inputs()[0].name: data})[0])


def stock(model: onnx.ModelProto) -> object:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=CPU)
    return native.bits(session.run(None, {session.get_inputs()[0].name: ROWS})[0])


@pytest.fixture(scope="module")
def expected() -> object:
    return native.bits(np.pad(ROWS, [(0, 0), (7, 1)], "reflect"))


def test_a_prefix_renames_the_operators_and_convert_mends_them(expected: object) -> None:
    """A prefix renames padops' operators, so their functions silently run instead; ``convert`` restores the names."""
    renamed = compose.add_prefix(padops.convert(network("x", "y")).proto(), "a/")
    assert operators(renamed) == ["padops::a/Pad_13"]
    assert run(renamed) == stock(renamed) == expected
    (found,) = padops.inspect(renamed).pads
    assert (found.mode, found.verdict) == ("reflect", "runs")
    assert "a prefix has renamed Pad_13, so padops' library is not asked; padops convert mends that" in found.why
    mended = padops.convert(renamed, verify=True, run=True)
    assert mended.verification is not None and mended.verification.passed
    assert [record.notes for record in mended.records] == [("Pad_13 again, which a prefix had renamed",)]
    model = mended.proto()
    assert (operators(model), [function.name for function in model.functions]) == (["padops::Pad_13"], ["Pad_13"])
    assert run(model) == stock(model) == expected


def test_a_renamed_operator_without_its_function() -> None:
    renamed = padops.convert(network("x", "y"), fallback=False).proto()
    for node in renamed.graph.node:
        node.op_type = f"a/{node.op_type}"
    inspection = padops.inspect(renamed)
    why = "a prefix has renamed Pad_13, and neither padops' library nor the model has that name"
    assert [(found.verdict, found.why) for found in inspection.pads] == [("refuses", why)]
    assert inspection.roads == ("memory", "convert", "lower")
    assert operators(padops.convert(renamed).proto()) == ["padops::Pad_13"]
    assert run(renamed) == native.bits(np.pad(ROWS, [(0, 0), (7, 1)], "reflect"))


@pytest.mark.parametrize("name", padops.OPS)
def test_a_prefix_is_told_from_the_name(name: str) -> None:
    """SamePad_1 and OpenVINOPad_1 end as Pad_1 does."""
    from padops.convert.matchers.onnx_pad import operator_of

    assert [operator_of(text) for text in (name, f"a/{name}", f"b_a_{name}")] == [name] * 3
    assert [operator_of(text) for text in (f"{name}0", "Pad", "a/Pad_12")] == [None] * 3
