"""Functions of a model with operators of padops: without a fallback, onnxruntime infers no types in them."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from onnx import parser

import padops
from padops.runtime.ort_values import run_session

MODEL = """<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
g (float[N, 4] x, bool c) => (float[A, B] y) <int32[1] held = {-1}> { BODY }
<domain: "local", opset_import: ["" : 21]>
F (data, given) => (made) {
    pads = Constant <value = int64[2] {1, 3}> ()
    axes = Constant <value = int32[1] {-1}> ()
    made = Pad <mode = "edge"> (data, pads, , AXES)
}"""
BODIES = {
    "in the graph": "d = local.F (x, held) y = Identity (d)",
    "twice": "d = local.F (x, held) y = local.F (d, held)",
    "in a branch": "y = If (c) <then_branch = t () => (float[] a) { d = local.F (x, held) a = Identity (d) }, "
    "else_branch = e () => (float[] b) { b = Identity (x) }>",
}
AXES = {"a Constant": "axes", "an input": "given"}


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("body", BODIES)
def test_axes_of_int32(body: str, axes: str) -> None:
    """The converter states the type of the calls: onnxruntime said "output arg (d) type inference failed"."""
    model = parser.parse_model(MODEL.replace("BODY", BODIES[body]).replace("AXES", AXES[axes]))
    made = padops.convert(model, fallback=False)
    options = onnxruntime.SessionOptions()
    padops.register(options)
    session = onnxruntime.InferenceSession(made.proto().SerializeToString(), options)
    data = np.arange(8, dtype=np.float32).reshape(2, 4)
    (output,) = run_session(session, {"x": data, "c": np.array(True)})
    expected = data
    for _ in range(2 if body == "twice" else 1):
        expected = np.pad(expected, [(0, 0), (1, 3)], "edge")
    assert output.tobytes() == expected.tobytes()
