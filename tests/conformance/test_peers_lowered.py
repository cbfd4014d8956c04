"""Peers that run what ``padops convert --target onnx --without-pad`` leaves: their models have no Pad."""

from __future__ import annotations

import base64
import json
import re
import shlex
import sys
from dataclasses import replace

import lines_peer
import onnx
import pytest

from padops.conformance import cases, lines, runner


@pytest.mark.parametrize(
    "case", ["specification/Pad_11/example-2/float", "specification/OpenVINOPad_12/negative-edge/float"]
)
def test_a_question_without_pad(case: str) -> None:
    """Of an operator that ONNX does not have as well, for which there is no other model."""
    sent = cases.find_case(case)
    model = onnx.load_from_string(base64.b64decode(json.loads(lines.question(sent, lowered=True))["model"]))
    assert [value.name for value in model.graph.output] == ["output"]
    assert {node.domain for node in model.graph.node} == {""} and "Pad" not in {n.op_type for n in model.graph.node}
    plain = json.loads(lines.question(sent))["model"]
    assert plain is None or b"Pad" in base64.b64decode(plain)


CASES = (
    "specification/Pad_11/example-2/float",
    "table/OpenVINOPad_12/reflect/float8e5m2/3/crop/empty/none/int16.int32/held/1",
    "table/Pad_2/wrap/float/2/both/plain/none/absent.flat/dynamic/0",  # P9
)


def test_what_the_converter_refuses_is_not_asked() -> None:
    """The program says of every case with work to do that it is too much for it."""
    peer = runner.parse_command(shlex.join([sys.executable, lines_peer.__file__, "right"]))
    peer = replace(peer, lowered=True, families=("onnx", "openvino"))
    (ran,) = runner.run_cases(list(map(cases.find_case, CASES)), [peer], ())
    found = [(result["outcome"], re.sub(r"opset \d+", "opset N", result["detail"])) for result in ran.results]
    no_model = ("unsupported", "no standard operator of opset N copies float8e5m2 without changing bits")
    assert found == [("unsupported", "work"), no_model, ("agree", "")]
