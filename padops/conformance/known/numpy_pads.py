"""``numpy.pad``, and ONNX's reference implementation, which is built on it."""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known.versions import NUMPY, ONNX

_EXTENDS = ("edge", "reflect", "symmetric", "wrap")

KNOWN = (
    Divergence(
        "numpy-rank-0", "numpy", "error", rule="P5",
        versions=NUMPY, tags={"rank-0"}, expected="output", says="zero-size array",
        reason="an array of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "numpy-empty-axis", "numpy", "error", rule="P5",
        versions=NUMPY, modes=_EXTENDS, tags={"empty-axis-padded", "empty-output"},
        expected="output", says="can't extend empty axis",
        reason="an axis without elements is refused though the output has none either",
    ),
    Divergence(
        "numpy-huge-empty", "numpy", "differ", rule="P10",
        versions=NUMPY, tags={"huge", "empty-data"}, expected="error",
        rules=("P10",),
        reason="there is no limit to the shape of an array without elements but that of its bytes",
    ),
    Divergence(
        "onnx-reference-huge-empty", "onnx-reference", "differ", rule="P10", versions=ONNX, tags={"huge", "empty-data"},
        expected="error", rules=("P10",),
        reason="there is no limit to the shape of an array without elements but that of its bytes",
    ),
    Divergence(
        "onnx-reference-negative", "onnx-reference", "error", rule="P1",
        versions=ONNX, tags={"negative"}, expected="output",
        says="can't contain negative values", link="https://github.com/onnx/onnx/issues/4294",
        reason="numpy.pad underneath takes no negative amounts",
    ),
    Divergence(
        "onnx-reference-row-of-pads", "onnx-reference", "error", rule="P8",
        versions=ONNX, tags={"pads-row"}, expected="output",
        reason="pads of shape [1, 2r], which exporters write and runtimes take, are counted by their first dim",
        says="number of elements in raw_pads",
    ),
    Divergence(
        "onnx-reference-rank-0", "onnx-reference", "error", rule="P5",
        versions=ONNX, tags={"rank-0"},
        reason="numpy.pad underneath refuses an array of rank 0", says="Issues with types",
    ),
    Divergence(
        "onnx-reference-axes", "onnx-reference", "error", rule="P8", versions=ONNX, tags={"amounts-wrong"},
        expected="error", says="list assignment index out of range",
        reason="axes out of range are not refused: the assignment by them ends in an IndexError",
    ),
    Divergence(
        "onnx-reference-repeated-axes", "onnx-reference", "differ", rule="P8", versions=ONNX, tags={"axes-repeated"},
        expected="error", rules=("P8",), reason="of an axis that is named twice, the last amounts are taken",
    ),
    Divergence(
        "onnx-reference-fill", "onnx-reference", "differ", rule="P7",
        versions=ONNX, modes=("constant",), tags={"fill-not-one"},
        expected="error", rules=("P7",), reason="numpy.pad takes two fills as one for either side",
    ),
    Divergence(
        "onnx-reference-modes", "onnx-reference", "differ", rule="P9", versions=ONNX, modes=("symmetric", "wrap"),
        tags={"mode-unknown"}, expected="error", rules=("P9",),
        reason="every mode of numpy.pad is taken at every opset",
    ),
    Divergence(
        "onnx-reference-empty-axis", "onnx-reference", "error", rule="P5", versions=ONNX, modes=_EXTENDS,
        tags={"empty-axis-padded", "empty-output"}, expected="output", says="can't extend empty axis",
        reason="an axis without elements is refused though the output has none either",
    ),
    Divergence(
        "onnx-reference-string-fill", "onnx-reference", "differ", rule="P7",
        versions=ONNX, modes=("constant",), dtypes=("string",),
        expected="output", tags={"grows"}, without={"fill", "negative", "empty-output", "pads-row"},
        reason="the default fill of strings is the number 0, not the empty string",
    ),
    Divergence(
        "onnx-reference-e8m0-fill", "onnx-reference", "differ", rule="P7",
        versions=ONNX, modes=("constant",), dtypes=("float8e8m0",),
        expected="output", tags={"grows"}, without={"fill", "negative", "empty-output", "pads-row"},
        reason="the default fill of float8e8m0, which has no zero, becomes NaN",
    ),
)  # fmt: skip
