"""ONNX's own reference implementation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

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


RECORDED = ">=1.21.0,<=1.24.0.dev20261026"
_WITHOUT_PAD = "without-pad-reference"
_EXTENDS = ("edge", "reflect", "symmetric", "wrap")
_row = partial(Divergence, peer="onnx-reference", versions=RECORDED)
KNOWN = (
    _row("onnx-reference-huge-empty", "differ", "P10",
         "there is no limit to the shape of an array without elements but that of its bytes", expected="error",
         rules=("P10",), tags={"huge", "empty-data"}),
    _row("onnx-reference-negative", "error", "P1", "numpy.pad underneath takes no negative amounts", expected="output",
         tags={"negative"}, says="can't contain negative values", link="https://github.com/onnx/onnx/issues/4294",
         versions=">=1.21.0,<=1.23.2"),
    _row("onnx-reference-unreflected", "error", "P5",
         "an axis without elements, or cropped to none, is refused in a reflection that adds nothing to it",
         modes=("reflect",), expected="output", tags={"empty-output"}, says="axis length minus 1",
         link="https://github.com/onnx/onnx/pull/8199", versions=">=1.24.0,<=1.24.0.dev20261026"),
    _row("onnx-reference-row-of-pads", "error", "P8",
         "pads of shape [1, 2r], which exporters write and runtimes take, are counted by their first dim",
         expected="output", tags={"pads-row"}, says="number of elements in raw_pads"),
    _row("onnx-reference-rank-0", "error", "P5", "numpy.pad underneath refuses an array of rank 0", tags={"rank-0"},
         says="Issues with types"),
    _row("onnx-reference-axes", "error", "P8",
         "axes out of range are not refused: the assignment by them ends in an IndexError", expected="error",
         tags={"amounts-wrong"}, says="list assignment index out of range"),
    _row("onnx-reference-repeated-axes", "differ", "P8", "of an axis that is named twice, the last amounts are taken",
         expected="error", rules=("P8",), tags={"axes-repeated"}),
    _row("onnx-reference-fill", "differ", "P7", "numpy.pad takes two fills as one for either side", modes=("constant",),
         expected="error", rules=("P7",), tags={"fill-not-one"}),
    _row("onnx-reference-modes", "differ", "P9", "every mode of numpy.pad is taken at every opset",
         modes=("symmetric", "wrap"), expected="error", rules=("P9",), tags={"mode-unknown"}),
    _row("onnx-reference-empty-axis", "error", "P5",
         "an axis without elements is refused though the output has none either", modes=_EXTENDS, expected="output",
         tags={"empty-output"}, some={"empty-axis-padded", "cropped-away"}, says="can't extend empty axis"),
    _row("onnx-reference-string-fill", "differ", "P7",
         "the default fill of strings is the number 0, not the empty string", modes=("constant",), dtypes=("string",),
         expected="output", tags={"grows"}, without={"fill", "negative", "empty-output", "pads-row"}),
    _row("onnx-reference-e8m0-fill", "differ", "P7", "the default fill of float8e8m0, which has no zero, becomes NaN",
         modes=("constant",), dtypes=("float8e8m0",), expected="output", tags={"grows"},
         without={"fill", "negative", "empty-output", "pads-row"}),
    huge_passes(_WITHOUT_PAD, RECORDED),
    repeated_axes_pass(_WITHOUT_PAD, RECORDED),
    Divergence("without-pad-reference-e8m0", ("differ", "error"), "P7",
               "onnx.reference casts float8e8m0 with another rounding: its bits 0 become 1", _WITHOUT_PAD,
               ">=1.21.0,<=1.23.2", dtypes=("float8e8m0",), expected="output"),
)  # fmt: skip
