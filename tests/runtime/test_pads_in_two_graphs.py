"""onnxruntime 1.24 refuses Pads in two graphs that padops takes before OpenVINO; the session lowers such a model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import padops
from padops.convert import inspection
from padops.runtime import placing
from padops.runtime.provider import CPU, FIRST_NAME

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import provider_cases
import providers
from provider_cases import OPENVINO

SAID = (
    f"Failed to add kernel for {FIRST_NAME}_1_0 {FIRST_NAME} {FIRST_NAME}: Conflicting with a "
    "registered kernel with op versions."
)
BODIES = """<ir_version: 10, opset_import: ["" : 19]> g (float[a, b, c, d] x) => (float[e, f, h, i] y)
    <float zero = {0}, int64[8] p = {0, 0, 2, 0, 0, 0, 0, 1}, int64[8] q = {0, 0, 0, 1, 0, 0, 0, 0}> {
    r = Relu (x) m = ReduceMax <keepdims = 0> (r) [condition] k = Greater (m, zero)
    [branches] s = If (k) <then_branch = t () => (float[j, l, n, o] u) { [p1] u = Pad <mode = "MODE"> (r, p) },
        else_branch = w () => (float[j, l, n, o] v) { [p2] v = Pad <mode = "MODE"> (r, q) }> y = Relu (s) }"""
CASE = provider_cases.Case("bodies", "reflect", (1, 2, 4, 5), (0, 0, 2, 0, 0, 0, 0, 1), 19)


def model(mode: str) -> onnx.ModelProto:
    return parser.parse_model(BODIES.replace("MODE", mode))


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """An onnxruntime that refuses the first model of a session, for the names; what it is given after that."""
    given, create = [], padops.InferenceSession._create

    def refuse_once(self, content, *rest) -> None:
        given.append(content)
        if len(given) == 1:
            raise RuntimeError(SAID)
        create(self, content, *rest)

    monkeypatch.setattr(padops.InferenceSession, "_create", refuse_once)
    monkeypatch.setattr(placing, "available", lambda: {OPENVINO, CPU})
    return given


@pytest.mark.parametrize("mode", ["reflect", "wrap"])
def test_the_session_lowers_it(refusing: list[bytes], mode: str) -> None:
    """And leaves it as it is where the caller wants that."""
    content = model(mode).SerializeToString()
    session = padops.InferenceSession(content, providers=[CPU])
    lowered = padops.lower(content, provider="openvino").proto()
    assert onnx.load_from_string(refusing[1]) == lowered and b"padops" not in refusing[1]
    assert [record.op_type for record in session.padops_records] == ["standard ONNX"] * 2
    fed = provider_cases.feeds_of(CASE)
    np.testing.assert_array_equal(session.run(None, fed)[0], provider_cases.expected_of(replace(CASE, mode=mode)))
    refusing.clear()
    with pytest.raises(RuntimeError, match="Failed to add kernel"):
        padops.InferenceSession(content, providers=[CPU], convert="never")
    assert len(refusing) == 1


def test_inspect_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"onnxruntime 1.24 refuses Pads that padops takes before {OPENVINO} in 2 graphs of one model"
    said += ": padops.InferenceSession lowers the model for it in memory"
    for minor, runner in ((24, OPENVINO), (25, FIRST_NAME)):
        monkeypatch.setattr(inspection, "installed_minor", lambda minor=minor: minor)
        found = padops.inspect(model("wrap"), providers=[OPENVINO, CPU])
        assert [pad.runner for pad in found.pads] == [runner] * 2
        assert (said in found.notes) is ("1.24 refuses" in " ".join(found.notes)) is (minor == 24)


@pytest.mark.needs_environment("ort-openvino")
def test_beside_openvino() -> None:
    """The real one: right, with both branches on it, where a session of stock onnxruntime has refused the wrap."""
    lines = {}
    for mode in ("reflect", "wrap"):
        case = replace(CASE, name=mode, mode=mode)
        expected = provider_cases.expected_of(case).tolist()
        lines[mode] = provider_cases.as_line(case, model(mode).SerializeToString(), expected)
    for mode, answer in providers.ask_lines("ort-openvino", "name", lines).items():
        assert answer["outcome"] == "right", (mode, answer)
        assert not providers.elsewhere(answer, OPENVINO), (mode, answer)
    assert providers.ask_lines("ort-openvino", "stock", lines)["wrap"]["outcome"] == "refused"
