"""The newest opsets of the standard: Pads of versions that padops knows are taken, and a newer one is named as such."""

from __future__ import annotations

from types import SimpleNamespace

import onnx
import pytest
from onnx import parser

import padops
from padops.convert.matchers import onnx_pad
from padops.convert.matchers.onnx_pad import KNOWN_OPSET
from padops.spec.dialects import VERSIONS


def model(opset: int) -> onnx.ModelProto:
    return parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {opset}]> g (float[4] x) => (float[n] y) '
        '<int64[2] p = {2, 3}> { [pad] q = Pad <mode = "wrap"> (x, p) y = Relu (q) }'
    )


def test_the_standard_has_no_newer_pad() -> None:
    """No opset that padops accepts by default has a newer Pad than padops knows."""
    for opset in range(VERSIONS[-1], min(KNOWN_OPSET, onnx.defs.onnx_opset_version()) + 1):
        assert onnx.defs.get_schema("Pad", opset).since_version == VERSIONS[-1]


def reason(opset: int) -> str | None:
    (record,) = padops.convert(model(opset)).records
    (pad,) = padops.inspect(model(opset)).pads
    if record.reason:
        assert (record.reason, "unknown") == (pad.why, pad.verdict)
    else:  # whatever padops knows of the Pad, this onnxruntime may not load the model
        assert pad.verdict == "runs" or f" loads no model of opset {opset}, but up to " in pad.why
    return record.reason


def test_an_opset_that_nobody_knows() -> None:
    newest = max(KNOWN_OPSET, onnx.defs.onnx_opset_version())
    assert reason(newest + 1) == (
        f"padops knows the Pads up to opset {KNOWN_OPSET}, onnx {onnx.__version__} up to opset "
        f"{onnx.defs.onnx_opset_version()}, and the model has opset {newest + 1}; update padops and onnx"
    )


def test_an_opset_that_onnx_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Pad is asked of onnx: the same is taken, a newer one is named."""
    versions = {29: 25, 30: 30}
    asked = SimpleNamespace(
        onnx_opset_version=lambda: 30, get_schema=lambda name, opset: SimpleNamespace(since_version=versions[opset])
    )
    monkeypatch.setattr(onnx_pad, "onnx", SimpleNamespace(__version__="1.24", defs=asked))
    assert reason(29) is None
    assert reason(30) == "padops knows the Pads up to Pad-25, and opset 30 has Pad-30; update padops"


def test_the_newest_opset_of_this_onnx() -> None:
    """The result does not depend on onnxruntime; tests/long/long_install.py runs this test with onnx-weekly."""
    newest = onnx.defs.onnx_opset_version()
    (pad,) = padops.inspect(model(newest)).pads
    assert (pad.form, pad.opset, pad.verdict) == (f"Pad-{VERSIONS[-1]} inputs", newest, "runs")
    for made in (padops.convert(model(newest), verify=True), padops.lower(model(newest), without_pad=True)):
        assert [record.status for record in made.records] == ["converted"]
        assert padops.verify(model(newest), made.proto()).passed
