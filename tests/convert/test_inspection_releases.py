"""What ``padops.inspect`` says for other releases of onnxruntime, by the measurements that ``docs/fusions.md`` and the known
divergences of the conformance suite hold."""

from __future__ import annotations

import sys
from typing import Any

import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from small_models import FLOAT, model, pad, tensor

import padops
from padops.convert.facts import PadFacts
from padops.runtime import installed


def of(amounts: list[int], mode: str, dims: Any = (2, 3)) -> onnx.ModelProto:
    return model([pad(mode=mode)], 19, inputs=[("x", FLOAT, dims)], tensors=[tensor("pads", amounts)])


def of_bfloat16(opset: int) -> onnx.ModelProto:
    kind = TensorProto.BFLOAT16
    return model([pad()], opset, inputs=[("x", kind, [2, 3])], outputs=[("y", kind, None)],
                 tensors=[tensor("pads", [0, 1, 0, 1])])  # fmt: skip


def pooled() -> onnx.ModelProto:
    pool = helper.make_node("MaxPool", ["p"], ["y"], kernel_shape=[3, 3])
    inputs = [("x", FLOAT, [1, 1, 4, 4])]
    return model([pad(output="p"), pool], 13, inputs=inputs, tensors=[tensor("pads", [0, 0, 1, 1, 0, 0, 1, 1])])


FLOAT8 = model([pad()], 24, inputs=[("x", TensorProto.FLOAT8E8M0, [2, 3])],
               outputs=[("y", TensorProto.FLOAT8E8M0, None)], tensors=[tensor("pads", [0, 1, 0, 1])])  # fmt: skip

# A model, and from which release 1.x on each verdict holds.
ROWS: dict[str, tuple[onnx.ModelProto, dict[int, str]]] = {
    "reflect beyond n - 1": (of([0, 4, 0, 0], "reflect"), {20: "wrong", 25: "refuses"}),
    "reflect and crop": (of([-1, 0, 1, 0], "reflect", (4, 3)), {20: "wrong", 25: "runs"}),
    "crop and reflect": (of([1, 0, -1, 0], "reflect", (4, 3)), {20: "wrong", 25: "runs"}),
    "crop and reflect, of open size": (of([1, 0, -1, 0], "reflect", ("n", 3)), {20: "wrong", 25: "runs if"}),
    "crop away": (of([0, -4, 0, 4], "constant"), {20: "wrong", 24: "runs"}),
    "crop what may leave some": (of([0, -4, 0, 4], "constant", (2, "n")), {20: "runs if", 24: "runs"}),
    "wrap beyond n": (of([0, 4, 0, 0], "wrap"), {20: "wrong", 31: "runs"}),
    "wrap of open size": (of([0, 4, 0, 0], "wrap", (2, "n")), {20: "runs if", 31: "runs"}),
    "in front of a MaxPool": (pooled(), {20: "may be wrong", 32: "runs"}),
    "a type that came late": (FLOAT8, {20: "refuses"}),
    "bfloat16": (of_bfloat16(21), {20: "refuses", 32: "runs"}),
    "bfloat16 at opset 19": (of_bfloat16(19), {20: "refuses"}),
}


def inspected(source: onnx.ModelProto, minor: int, monkeypatch: pytest.MonkeyPatch) -> PadFacts:
    for name in ("padops.convert.inspection", "padops.convert.pipeline"):
        __import__(name)
        monkeypatch.setattr(sys.modules[name], "installed_minor", lambda: minor)
    (facts,) = padops.inspect(source).pads
    (record,) = padops.convert(source, fold=False).records
    assert (record.facts.verdict, record.facts.why) == (facts.verdict, facts.why)
    return facts


@pytest.mark.parametrize("name", ROWS)
def test_verdicts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, since = ROWS[name]
    for minor in range(20, 33):
        expected = since[max(first for first in since if first <= minor)]
        facts = inspected(source, minor, monkeypatch)
        assert facts.verdict == expected, minor
        if expected not in ("runs",):
            assert facts.roads[0] == ("session" if minor >= (27 if "late" in name else 24) else "convert"), minor


@pytest.mark.parametrize("opset", [18, 19, 21, 23, 25])
def test_bfloat16_as_the_installed_runtime_has_it(opset: int) -> None:
    source = of_bfloat16(opset)
    (facts,) = padops.inspect(source).pads
    try:
        onnxruntime.InferenceSession(source.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        assert "Could not find an implementation for Pad" in str(error)
        assert facts.verdict == "refuses"
    else:
        assert facts.verdict == "runs"


def test_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any distribution that brings the module counts; where there is none, the newest release is judged."""
    there = {"onnxruntime-gpu": "1.24.4"}
    monkeypatch.setattr(installed, "version_of", there.get)
    source = of([0, 4, 0, 0], "wrap")
    assert (padops.inspect(source).runtime, padops.inspect(source).failing != ()) == ("onnxruntime-gpu 1.24.4", True)
    there.clear()
    inspection = padops.inspect(source)
    assert inspection.runtime == f"onnxruntime 1.{installed.NEWEST_MINOR}, as none is installed"
    assert inspection.failing == ()
