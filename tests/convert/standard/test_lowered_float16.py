"""A Pad of float16 stays one where ONNX Runtime is right with a Pad of float: it casts the data there and back."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from small_models import HALF, model, pad, tensor

import padops
from padops.spec import reference

DATA = np.array([[1, -0.0, 6e-8, np.inf, 65504], [-6e-8, 0.1, -np.inf, 2, 3]], np.float16)


def _model(mode: str, dims: list[int | str], opset: int = 18, pads: tuple[int, ...] = (1, 1, 0, 1)) -> onnx.ModelProto:
    return model([pad(mode=mode)], opset, ir_version=9, inputs=[("x", HALF, dims)], outputs=[("y", HALF, None)],
                 tensors=[tensor("pads", pads)])  # fmt: skip


def _run(made: onnx.ModelProto, data: np.ndarray) -> np.ndarray:
    return onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"x": data})[0]


@pytest.mark.parametrize("opset", [11, 18])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_it_stays_where_a_pad_of_float_does(mode: str, opset: int) -> None:
    """The operators around it then are rounded as in the original."""
    made = _model(mode, [2, 5], opset)
    lowered = padops.lower(made)
    (record,) = lowered.records
    assert record.status == "not needed"
    assert record.reason == "ONNX Runtime's Pad is right for it, by a cast to float and back, or fails"
    assert [node.op_type for node in lowered.proto().graph.node] == ["Pad"]
    expected = reference.run("Pad_18", {"mode": mode}, [DATA, np.array([1, 1, 0, 1]), None, None])
    assert _run(lowered.proto(), DATA).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("mode", "pads"), [("reflect", (2, 0, 0, 0)), ("edge", (-1, 1, 0, 0)), ("constant", (-2, 0, 1, 0))]
)
def test_it_goes_where_a_pad_of_float_would_be_wrong(mode: str, pads: tuple[int, ...]) -> None:
    lowered = padops.lower(_model(mode, [2, 5], pads=pads))
    assert [record.status for record in lowered.records] == ["converted"]
    expected = reference.run("Pad_18", {"mode": mode}, [DATA, np.array(pads), None, None])
    assert _run(lowered.proto(), DATA).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("opset", "value", "stays"), [(5, 0.0, False), (6, 0.0, True), (10, 0.0, True), (10, 0.1, False)]
)
def test_before_the_fill_was_an_input(opset: int, value: float, stays: bool) -> None:
    """ONNX Runtime rounds a float fill later than the specification; below opset 6 it cannot cast."""
    node = pad(["x"], pads=[1, 0, 0, 0], mode="constant", value=value)
    made = model([node], opset, ir_version=3, inputs=[("x", HALF, [2, 5])], outputs=[("y", HALF, None)])
    (record,) = padops.lower(made).records
    assert (record.status == "not needed") == stays
