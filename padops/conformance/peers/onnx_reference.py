"""ONNX's own reference implementation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx.defs import onnx_opset_version
from onnx.reference import ReferenceEvaluator

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds, standard_model
from padops.conformance.peers.converted import huge_passes, repeated_axes_pass, without_pad
from padops.conformance.peers.request import Refused, Request, Unsupported

PACKAGES = ("onnx", "numpy")
REFUSALS = (RuntimeError, ValueError, MemoryError)


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The first output of a model of RECORDED, fed by name."""
    outputs = ReferenceEvaluator(model).run(None, dict(fed))
    assert isinstance(outputs, list)  # a dict is for intermediate values
    return np.asarray(outputs[0])


def arguments(request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Those of ``pad``: the model of ONNX and what it is fed with.

    Raises:
        Unsupported: The installed onnx does not know the opset.
    """
    if request.opset > onnx_opset_version():
        raise Unsupported(f"this onnx knows opsets up to {onnx_opset_version()}")
    return standard_model(request), feeds(request, request.inputs)


def run_without_pad(request: Request) -> np.ndarray:
    """That of what ``padops convert --target onnx --without-pad`` leaves; it says what the operators mean.

    Raises:
        Refused: An index is out of bounds, which a broken rule becomes in such a model.
    """
    try:
        return pad(without_pad(request), feeds(request, request.inputs))
    except IndexError as error:
        raise Refused(f"IndexError: {error}") from error


RECORDED = ">=1.21.0,<=1.23.2"
_WITHOUT_PAD = "without-pad-reference"
_EXTENDS = ("edge", "reflect", "symmetric", "wrap")
KNOWN = (
    Divergence(
        "onnx-reference-huge-empty", "onnx-reference", "differ", rule="P10", versions=RECORDED, tags={"huge",
        "empty-data"},
        expected="error", rules=("P10",),
        reason="there is no limit to the shape of an array without elements but that of its bytes",
    ),
    Divergence(
        "onnx-reference-negative", "onnx-reference", "error", rule="P1",
        versions=RECORDED, tags={"negative"}, expected="output",
        says="can't contain negative values", link="https://github.com/onnx/onnx/issues/4294",
        reason="numpy.pad underneath takes no negative amounts",
    ),
    Divergence(
        "onnx-reference-row-of-pads", "onnx-reference", "error", rule="P8",
        versions=RECORDED, tags={"pads-row"}, expected="output",
        reason="pads of shape [1, 2r], which exporters write and runtimes take, are counted by their first dim",
        says="number of elements in raw_pads",
    ),
    Divergence(
        "onnx-reference-rank-0", "onnx-reference", "error", rule="P5",
        versions=RECORDED, tags={"rank-0"},
        reason="numpy.pad underneath refuses an array of rank 0", says="Issues with types",
    ),
    Divergence(
        "onnx-reference-axes", "onnx-reference", "error", rule="P8", versions=RECORDED, tags={"amounts-wrong"},
        expected="error", says="list assignment index out of range",
        reason="axes out of range are not refused: the assignment by them ends in an IndexError",
    ),
    Divergence(
        "onnx-reference-repeated-axes", "onnx-reference", "differ", rule="P8", versions=RECORDED,
        tags={"axes-repeated"},
        expected="error", rules=("P8",), reason="of an axis that is named twice, the last amounts are taken",
    ),
    Divergence(
        "onnx-reference-fill", "onnx-reference", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), tags={"fill-not-one"},
        expected="error", rules=("P7",), reason="numpy.pad takes two fills as one for either side",
    ),
    Divergence(
        "onnx-reference-modes", "onnx-reference", "differ", rule="P9", versions=RECORDED, modes=("symmetric", "wrap"),
        tags={"mode-unknown"}, expected="error", rules=("P9",),
        reason="every mode of numpy.pad is taken at every opset",
    ),
    Divergence(
        "onnx-reference-empty-axis", "onnx-reference", "error", rule="P5", versions=RECORDED, modes=_EXTENDS,
        tags={"empty-axis-padded", "empty-output"}, expected="output", says="can't extend empty axis",
        reason="an axis without elements is refused though the output has none either",
    ),
    Divergence(
        "onnx-reference-string-fill", "onnx-reference", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), dtypes=("string",),
        expected="output", tags={"grows"}, without={"fill", "negative", "empty-output", "pads-row"},
        reason="the default fill of strings is the number 0, not the empty string",
    ),
    Divergence(
        "onnx-reference-e8m0-fill", "onnx-reference", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), dtypes=("float8e8m0",),
        expected="output", tags={"grows"}, without={"fill", "negative", "empty-output", "pads-row"},
        reason="the default fill of float8e8m0, which has no zero, becomes NaN",
    ),
    huge_passes(_WITHOUT_PAD, RECORDED),
    repeated_axes_pass(_WITHOUT_PAD, RECORDED),
    Divergence(
        f"{_WITHOUT_PAD}-e8m0", _WITHOUT_PAD, ("differ", "error"), rule="P7",
        versions=RECORDED, dtypes=("float8e8m0",), expected="output",
        reason="onnx.reference casts float8e8m0 with another rounding: its bits 0 become 1",
    ),
)  # fmt: skip
