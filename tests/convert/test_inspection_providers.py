"""padops inspect --providers: what a session with other execution providers does with each Pad, and who runs it."""

from __future__ import annotations

import onnx
import pytest
from provider_sessions import CPU, EP_NAME, model, pad

import padops
from padops.runtime.provider import FIRST_NAME, runtime_minor

OPENVINO, WEBGPU, QNN, COREML, CUDA, DML = (
    f"{name}ExecutionProvider" for name in ("OpenVINO", "WebGpu", "QNN", "CoreML", "CUDA", "Dml")
)
MINOR = runtime_minor()
AXES = model(
    "g (float[2, 4] x) => (float[a, b] y) <int64[2] p = {1, 1}, int64[1] a = {1}> "
    '{ y = Pad <mode = "edge"> (x, p, , a) }'
)
COMPUTED = model("g (float[4] x, int64[2] p) => (float[n] y) { y = Pad (x, p) }")
ROWS = [
    (QNN, COMPUTED, "runs", EP_NAME),
    (COREML, COMPUTED, "runs", EP_NAME),
    (WEBGPU, COMPUTED, "runs", WEBGPU),
    (OPENVINO, COMPUTED, "may be wrong", FIRST_NAME),
    (OPENVINO, pad([1, 1], "edge", 18, "float[4]"), "runs", OPENVINO),
    (OPENVINO, pad([1, 1], "edge", 18, "float[n]"), "runs", OPENVINO),
    (OPENVINO, pad([1, 1], "wrap", 19, "float[4]"), "refuses", FIRST_NAME),
    (OPENVINO, pad([3, 3], "reflect", 18, "float[4]"), "runs", OPENVINO),
    (OPENVINO, pad([4, 0], "reflect", 18, "float[4]"), "refuses", FIRST_NAME),
    (OPENVINO, pad([-1, 3], "reflect", 18, "float[4]"), "wrong", FIRST_NAME),
    (OPENVINO, pad([-1, 4], "reflect", 18, "float[4]"), "refuses", FIRST_NAME),
    (OPENVINO, pad([-4, 3], "constant", 18, "float[4]"), "runs", OPENVINO),
    (OPENVINO, pad([1, 1], "reflect", 18, "float[n]"), "may be wrong", FIRST_NAME),
    (OPENVINO, pad([-5, 2], "constant", 18, "float[4]"), "refuses", FIRST_NAME),
    (OPENVINO, AXES, "refuses", FIRST_NAME),
    (WEBGPU, AXES, "runs", WEBGPU),
    (WEBGPU, pad([4, 4], "wrap", 19, "float[4]"), "runs", WEBGPU),
    (WEBGPU, pad([5, 0], "wrap", 19, "float[4]"), "wrong", FIRST_NAME),
    (WEBGPU, pad([-1, 1], "wrap", 19, "float[4]"), "wrong", FIRST_NAME),
    (WEBGPU, pad([-1, 2], "reflect", 18, "float[4]"), "runs", WEBGPU),
    (WEBGPU, pad([-1, 3], "reflect", 18, "float[4]"), "wrong", FIRST_NAME),
    (WEBGPU, pad([1, 1], "edge", 24, "float[4]"), "runs", EP_NAME),
    (QNN, pad([1, 1], "edge", 18, "float[4]"), "refuses", FIRST_NAME),
    (QNN, pad([1, 1], "edge", 18, "float[n]"), "runs", EP_NAME),
    (QNN, pad([1, 1], "edge", 18, "float16[4]"), "may be wrong", FIRST_NAME),
    (QNN, pad([0] * 5 + [1] * 5, "constant", 18, "float[1, 2, 3, 4, 5]"), "may be wrong", FIRST_NAME),
    (QNN, AXES, "runs", EP_NAME),
    (COREML, pad([1, 1], "edge", 18, "float[4]"), "runs", EP_NAME),
    (CUDA, pad([1, 1], "edge", 18, "int32[4]"), "runs", EP_NAME),
    (CUDA, pad([4, 0], "reflect", 18, "float[4]"), "refuses" if MINOR >= 25 else "wrong", FIRST_NAME),
    (CUDA, pad([9, 0], "wrap", 25, "float[4]"), "runs", CUDA if MINOR >= 25 else EP_NAME),
    (DML, pad([9, 0], "reflect", 18, "float[4]"), "runs", DML),
    (DML, pad([1, 0], "edge", 25, "float[4]"), "runs", EP_NAME),
    (DML, pad([-1, 0], "constant", 18, "float[4]"), "wrong", FIRST_NAME),
    ("DnnlExecutionProvider", pad([1, 1], "edge", 18, "float[4]"), "runs", EP_NAME),
]


@pytest.mark.parametrize(("provider", "content", "verdict", "runner"), ROWS)
def test_the_verdict_and_who_runs_it(provider: str, content: onnx.ModelProto, verdict: str, runner: str) -> None:
    inspection = padops.inspect(content, providers=[provider, CPU])
    (found,) = inspection.pads
    assert (found.verdict, found.runner) == (verdict, runner), found.why
    if provider != "DnnlExecutionProvider":
        assert runner == EP_NAME or provider in found.why


def test_providers_in_their_order() -> None:
    """The first one that takes the Pad decides; what one leaves, the next is asked for."""
    content = pad([5, 0], "wrap", 19, "float[4]")
    for names, verdict, runner in (
        ([COREML, WEBGPU], "wrong", FIRST_NAME),
        ([QNN, OPENVINO], "refuses", FIRST_NAME),
        ([EP_NAME, OPENVINO], "runs", EP_NAME),
        ([CPU, OPENVINO], "runs", EP_NAME),
    ):
        (found,) = padops.inspect(content, providers=names).pads
        assert (found.verdict, found.runner) == (verdict, runner), names


def test_notes() -> None:
    inspection = padops.inspect(pad([5, 0], "wrap", 19, "float[4]"), providers=["DnnlExecutionProvider", WEBGPU])
    unknown, cost = inspection.notes
    assert unknown.startswith("padops has no rules for DnnlExecutionProvider: padops stands behind")
    costs = (
        "where another provider runs the nodes before and behind such a Pad, they are two parts "
        "instead of one, and a device's "
        "data are copied to the processor and back"
    )
    assert cost == f"1 of 1 Pad runs on the processor, unless DnnlExecutionProvider takes them: {costs}"
    assert padops.inspect(pad([5, 0], "wrap", 19, "float[4]"), providers=[WEBGPU]).notes == (
        f"1 of 1 Pad runs on the processor: {costs}",
    )
    assert inspection.pads[0].why.startswith("unless DnnlExecutionProvider takes it, which padops has no rules for: ")
    with pytest.raises(padops.UsageError, match="providers is 'CPUExecutionProvider', expected names"):
        padops.inspect(pad([1, 1]), providers=CPU)
    with pytest.raises(
        padops.UsageError, match=r"^providers: onnxruntime .* knows no provider Cupid; expected one of "
    ):
        padops.inspect(pad([1, 1]), providers=["Cupid", CPU])
