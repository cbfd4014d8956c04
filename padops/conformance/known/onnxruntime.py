"""onnxruntime's own Pad on the CPU, as Python has it and as WebAssembly."""

from __future__ import annotations

from dataclasses import replace

from padops.conformance.divergences import Divergence, in_range
from padops.conformance.known.versions import ONNXRUNTIME, ONNXRUNTIME_SINCE_24, ONNXRUNTIME_WEB

_PEER = "ort-builtin"
_EXTENDS = ("edge", "reflect", "wrap")

_PYTHON = (
    Divergence(
        "ort-rank-0", _PEER, "error", rule="P5",
        versions=ONNXRUNTIME, tags={"rank-0"}, expected="output", says="data_rank > 0",
        reason="a tensor of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "ort-unused-fill", _PEER, "error", rule="P7", versions=ONNXRUNTIME, modes=_EXTENDS, tags={"fill-not-one"},
        expected="output", says="Value tensor should be a 1D tensor of size 1",
        reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "ort-reflect-limit", _PEER, "error", rule="P4", modes=("reflect",), tags={"reflect-beyond-left"},
        expected="output", says="Pad reflect", versions=ONNXRUNTIME_SINCE_24,
        reason="an amount of a reflection may be n - 1 at most, where the ONNX text's own Example 2 needs n; n counts "
        "after the crop", link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "ort-huge-empty", _PEER, ("differ", "error"), rule="P10",
        versions=ONNXRUNTIME, tags={"huge", "empty-output"}, expected="error",
        rules=("P10",), reason="a dim beyond any memory is made where another one is 0; NumPy may have no array of it",
    ),
    Divergence(
        "ort-int32-axes", _PEER, "error", rule="P8", versions=ONNXRUNTIME, tags={"axes-int32", "constant-amounts"},
        says="ParseData type mismatch",
        reason="constant int32 axes fail at load, in onnx's strict shape inference, though the specification has them",
    ),
    Divergence(
        "ort-repeated-axes", _PEER, "differ", rule="P8",
        versions=ONNXRUNTIME, tags={"axes-repeated"}, expected="error", rules=("P8",),
        reason="of an axis that is named twice, the last amounts are taken at run time",
    ),
    Divergence(
        "ort-cropped-to-nothing", _PEER, "error", rule="P5", modes=_EXTENDS, tags={"cropped-away"},
        expected="output", says="zero effective input extent", versions=ONNXRUNTIME_SINCE_24,
        reason="an output without elements that a crop makes is refused outside of constant mode",
    ),
    Divergence(
        "ort-row-of-pads", _PEER, "error", rule="P8",
        versions=ONNXRUNTIME, tags={"pads-row", "constant-amounts"}, says="input must be a 1D",
        reason="constant pads of shape [1, 2r] fail at load, in onnx's shape inference; at run time they are taken",
    ),
    Divergence(
        "ort-wrap-of-nothing", _PEER, "error", rule="P5",
        versions=ONNXRUNTIME, modes=("wrap",), tags={"empty-data"}, expected="output",
        reason="wrap of data without elements always fails, even where nothing is added",
    ),
    Divergence(
        "ort-empty-output", _PEER, "error", rule="P5", versions=ONNXRUNTIME, modes=("edge", "reflect"),
        tags={"empty-axis-padded", "empty-output"}, expected="output", says="to pad dimension with a value of 0",
        reason="an axis without elements is refused though the output has none either",
    ),
    Divergence(
        "ort-float16-attributes", _PEER, "error", rule="P7",
        versions=ONNXRUNTIME, dtypes=("float16",), families=("onnx",), opsets=(1, 5),
        says="InsertedPrecisionFreeCast",
        reason="float16 has no kernel and runs between Casts, whose form in opsets below 6 onnxruntime gets wrong",
    ),
    Divergence(
        "ort-float16-nan", _PEER, "differ", rule="P7", versions=ONNXRUNTIME, dtypes=("float16",), expected="output",
        some={"nan", "fill-nan", "fill"},
        reason="float16 runs as Cast, Pad, Cast, which changes the bits of NaNs and rounds the value of an attribute "
        "at another time",
    ),
    Divergence(
        "ort-wrap-before-19", _PEER, "differ", rule="P9", versions=ONNXRUNTIME, modes=("wrap",), tags={"mode-unknown"},
        expected="error", rules=("P9",),
        reason="wrap is taken at every opset, though the specification has it from 19 on",
    ),
    Divergence(
        "ort-wrap-period", _PEER, "differ", rule="P2", modes=("wrap",), tags={"beyond-left"}, expected="output",
        versions=">=1.20.1,<1.31",
        reason="beyond one period of a wrap the output is zeros, or memory that nothing has written",
    ),
    Divergence(
        "ort-reflect-reads-beyond", _PEER, ("differ", "crash"), rule="P4", modes=("reflect",),
        tags={"reflect-beyond-left"}, versions=">=1.20.1,<1.25",
        reason="a reflection longer than what the crop leaves reads beyond the data",
        link="https://github.com/microsoft/onnxruntime/issues/11828",
    ),
    Divergence(
        "ort-crop-overflow", _PEER, "error", rule="P3", tags={"overcropped", "mixed"}, expected="output",
        says="Integer overflow", versions=">=1.20.1,<1.24",
        reason="a crop longer than its axis is refused even where the other side makes up for it",
    ),
    Divergence(
        "ort-cropped-away", _PEER, ("differ", "crash"), rule="P5", tags={"cropped-away", "mixed"},
        versions=">=1.20.1,<1.24",
        reason="where a crop leaves nothing, the output comes from outside of the data",
        link="https://github.com/microsoft/onnxruntime/issues/11828",
    ),
)  # fmt: skip

# The same kernel, compiled to WebAssembly.
_WEB = tuple(
    replace(row, id=row.id.replace("ort-", "web-"), peer="onnxruntime-web", versions=ONNXRUNTIME_WEB)
    for row in _PYTHON
    if in_range("1.30.0", row.versions)
)

KERNEL = _PYTHON
KNOWN = (*_PYTHON, *_WEB)
