"""Inference engines and compilers that read the model of ONNX: tract, TVM, tinygrad, OpenCV's dnn module."""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known.versions import OPENCV, TINYGRAD, TRACT, TVM

_EXTENDS = ("edge", "reflect", "wrap")
_NOT_SEEN = "axes that name one axis twice or lie outside of the rank, and amounts of another number, are not refused"

_OF_TRACT = (
    Divergence(
        "tract-crop", "tract", "crash", rule="P1", versions=TRACT, tags={"negative"},
        reason="a negative amount ends the process: it is taken for one that is positive and huge",
    ),
    Divergence(
        "tract-fill-wins", "tract", "differ", rule="P7",
        versions=TRACT, modes=("edge", "reflect"), tags={"fill", "grows"},
        reason="a fill that is given makes the Pad a constant one, whatever its mode says",
    ),
    Divergence(
        "tract-reflect-limit", "tract", ("differ", "crash"), rule="P4",
        versions=TRACT, modes=("reflect",), tags={"reflect-beyond-left"},
        reason="a reflection longer than n - 1 gives zeros, or ends the process",
    ),
    Divergence(
        "tract-rank-of-inputs", "tract", "error", rule="P7",
        versions=TRACT, some={"fill-not-scalar", "pads-row"}, expected="output",
        says="Impossible to unify", reason="a fill must have the shape [], and amounts one axis",
    ),
    Divergence(
        "tract-bool", "tract", "error", rule="P1",
        versions=TRACT, dtypes=("bool",), expected="output", says="Bool is not a number",
        reason="data of bool are refused once the Pad has something to do",
    ),
    Divergence(
        "tract-empty", "tract", ("differ", "crash"), rule="P5",
        versions=TRACT, modes=("edge", "reflect"), tags={"empty-axis-padded"}, expected="error",
        reason="where there is nothing to extend, the output holds stray memory, or the process ends",
    ),
    Divergence(
        "tract-huge", "tract", "crash", rule="P10", versions=TRACT, tags={"huge"}, expected="error",
        reason="amounts beyond any memory end the process, or run without an end",
    ),
    Divergence(
        "tract-wrong-axes", "tract", ("differ", "crash"), rule="P8",
        versions=TRACT, tags={"amounts-wrong"}, expected="error",
        reason=_NOT_SEEN,
    ),
)  # fmt: skip

_OF_TVM = (
    Divergence(
        "tvm-reflect-limit", "tvm", "differ", rule="P4", versions=TVM, modes=("reflect",), tags={"reflect-beyond-left"},
        reason="a reflection longer than n - 1 reads memory beyond the data",
    ),
    Divergence(
        "tvm-wrap-limit", "tvm", "differ", rule="P2", versions=TVM, modes=("wrap",), tags={"beyond-left"},
        reason="a wrap over more than one period reads memory beyond the data",
    ),
    Divergence(
        "tvm-full", "tvm", "differ", rule="P3", versions=TVM, modes=_EXTENDS, tags={"mixed"}, without={"full-is-crop"},
        reason="negative amounts crop after the extension, not before it",
        link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "tvm-nothing-left", "tvm", ("differ", "error", "crash"), rule="P5",
        versions=TVM, modes=_EXTENDS, some={"empty-axis-padded", "cropped-away"},
        expected="error", reason="where there is nothing to extend, the output comes from outside of the data",
    ),
    Divergence(
        "tvm-negative-output", "tvm", "error", rule="P1", versions=TVM, tags={"negative-output"}, expected="error",
        says="std::bad_alloc", reason="a negative output dim is not refused: it is asked of memory, as a huge one",
    ),
    Divergence(
        "tvm-row-of-pads", "tvm", "error", rule="P8",
        versions=TVM, tags={"pads-row"}, expected="output", says="equal division",
        reason="pads of shape [1, 2r] are split along their first dim",
    ),
    Divergence(
        "tvm-fill-shape", "tvm", "error", rule="P7", versions=TVM, some={"fill-not-scalar"}, expected="output",
        says="Python scalar", reason="the fill is read as a number in modes that do not use it",
    ),
    Divergence(
        "tvm-rank-0", "tvm", "error", rule="P5", versions=TVM, tags={"rank-0"}, expected="output",
        reason="a tensor of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "tvm-nan-fill", "tvm", "differ", rule="P7",
        versions=TVM, modes=("constant",), tags={"fill-nan", "grows"}, expected="output",
        reason="the fill becomes a number of Python, on whose way a NaN loses its bits",
    ),
    Divergence(
        "tvm-huge", "tvm", ("differ", "crash"), rule="P10", versions=TVM, tags={"huge"}, expected="error",
        reason="amounts beyond any memory are not refused, and end the process",
    ),
)  # fmt: skip

_OF_TINYGRAD = (
    Divergence(
        "tinygrad-reflect-limit", "tinygrad", "error", rule="P4", versions=TINYGRAD, modes=("reflect",),
        some={"reflect-beyond-left", "empty-data"}, expected="output", says="should be less than the input size",
        reason="an amount of a reflection may be n - 1 at most, and none at all where n = 0",
    ),
    Divergence(
        "tinygrad-wrap-limit", "tinygrad", "error", rule="P4",
        versions=TINYGRAD, modes=("wrap",), tags={"beyond-left"}, expected="output",
        says="wrapping around more than once", reason="an amount of a wrap may be n at most",
    ),
    Divergence(
        "tinygrad-full", "tinygrad", ("differ", "error"), rule="P3",
        versions=TINYGRAD, modes=_EXTENDS, tags={"mixed"}, without={"full-is-crop"},
        expected="output", reason="negative amounts crop after the extension, not before it",
        link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "tinygrad-cropped-away", "tinygrad", "differ", rule="P5",
        versions=TINYGRAD, modes=_EXTENDS, tags={"cropped-away"}, expected="error",
        reason="where a crop leaves nothing, the data before the crop are extended",
    ),
    Divergence(
        "tinygrad-overcropped", "tinygrad", "error", rule="P3",
        versions=TINYGRAD, tags={"overcropped"}, expected="output",
        says="invalid shrink", reason="a crop longer than its axis is refused",
    ),
    Divergence(
        "tinygrad-row-of-pads", "tinygrad", "error", rule="P8", versions=TINYGRAD, tags={"pads-row"},
        says="list index out of range", reason="pads of shape [1, 2r] are taken for one number",
    ),
    Divergence(
        "tinygrad-no-axes", "tinygrad", "error", rule="P8", versions=TINYGRAD, tags={"axes-empty"}, expected="output",
        says="list index out of range", reason="an empty list of axes counts as all axes",
    ),
    Divergence(
        "tinygrad-fill-shape", "tinygrad", "error", rule="P7",
        versions=TINYGRAD, tags={"fill-not-scalar"}, expected="output",
        reason="a fill with an axis is refused",
    ),
    Divergence(
        "tinygrad-float-bits", "tinygrad", "differ", rule="P7",
        versions=TINYGRAD, dtypes=("float", "double", "float16"), tags={"grows"},
        some={"nan", "fill-nan", "fill"}, expected="output",
        reason="NaNs get other bits on their way, and a fill of -0 loses its sign",
    ),
    Divergence(
        "tinygrad-wrap-before-19", "tinygrad", "differ", rule="P9",
        versions=TINYGRAD, modes=("wrap",), tags={"mode-unknown"},
        expected="error", rules=("P9",),
        reason="wrap is taken at every opset, though the specification has it from 19 on",
    ),
    Divergence(
        "tinygrad-short-pads", "tinygrad", "error", rule="P8", versions=TINYGRAD, tags={"amounts-wrong"},
        expected="error", says="list index out of range",
        reason="amounts that are too few are not refused: reading them ends in an IndexError",
    ),
    Divergence(
        "tinygrad-huge", "tinygrad", "error", rule="P10", versions=TINYGRAD, tags={"huge"}, expected="error",
        reason="amounts beyond any memory are not refused: the system's mmap fails, or a number is too large for C",
    ),
    Divergence(
        "tinygrad-wrong-axes", "tinygrad", "differ", rule="P8",
        versions=TINYGRAD, tags={"amounts-wrong"}, expected="error", reason=_NOT_SEEN,
    ),
)  # fmt: skip

_OF_OPENCV = (
    Divergence(
        "opencv-version-1", "opencv", ("differ", "error", "crash"), rule="P1", versions=OPENCV, opsets=(1, 1),
        reason="the amounts of version 1, paddings, are read as begin and end of each axis in turn, not as all begins and then "
        "all ends",
    ),
    Divergence(
        "opencv-empty", "opencv", ("differ", "error", "crash"), rule="P5",
        versions=OPENCV, some={"empty-data", "empty-output"},
        reason="data without elements are refused, give an output of another shape, or run without an end",
    ),
    Divergence(
        "opencv-row-of-pads", "opencv", "error", rule="P8",
        versions=OPENCV, tags={"pads-row"}, expected="output", says="pads_.dims == 1",
        reason="pads of shape [1, 2r] are refused",
    ),
    Divergence(
        "opencv-rank-0", "opencv", ("error", "differ"), rule="P5", versions=OPENCV, tags={"rank-0"}, expected="output",
        reason="a tensor of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "opencv-no-axes", "opencv", ("error", "differ"), rule="P8",
        versions=OPENCV, tags={"axes-empty"}, expected="output",
        reason="an empty list of axes is refused, or counts as all axes",
    ),
    Divergence(
        "opencv-unused-fill", "opencv", "error", rule="P7",
        versions=OPENCV, modes=_EXTENDS, tags={"fill-not-one"}, expected="output",
        says="value.total() == 1", reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "opencv-full", "opencv", "differ", rule="P3",
        versions=OPENCV, modes=_EXTENDS, tags={"mixed"}, without={"full-is-crop"},
        expected="output", reason="negative amounts crop after the extension, not before it",
        link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "opencv-wrap-before-19", "opencv", "differ", rule="P9", versions=OPENCV, modes=("wrap",), tags={"mode-unknown"},
        expected="error", rules=("P9",),
        reason="wrap is taken at every opset, though the specification has it from 19 on",
    ),
    Divergence(
        "opencv-run-time-fill", "opencv", "differ", rule="P7",
        versions=OPENCV, modes=("constant",), dtypes=("int8", "uint16"),
        tags={"fill", "grows", "dynamic"}, expected="output",
        reason="a fill of int8 or uint16 that is an input of the model is read as uint8",
    ),
    Divergence(
        "opencv-denormal-value", "opencv", "differ", rule="P7",
        versions=OPENCV, modes=("constant",), tags={"fill", "grows"}, opsets=(2, 10),
        expected="output", reason="a value that is an attribute and denormal becomes 0",
    ),
    Divergence(
        "opencv-empty-fill", "opencv", "differ", rule="P7",
        versions=OPENCV, modes=("constant",), tags={"fill-empty"}, expected="error",
        reason="a fill without elements counts as 0",
    ),
    Divergence(
        "opencv-nothing-left", "opencv", ("differ", "crash"), rule="P5", versions=OPENCV, modes=_EXTENDS,
        some={"cropped-away", "empty-axis-padded"}, expected="error",
        reason="where there is nothing to extend, the output comes from outside of the data, or the process ends",
    ),
    Divergence(
        "opencv-huge", "opencv", ("differ", "crash"), rule="P10", versions=OPENCV, tags={"huge"}, expected="error",
        reason="amounts beyond 32 bits wrap around",
    ),
    Divergence(
        "opencv-wrong-axes", "opencv", ("differ", "crash"), rule="P8",
        versions=OPENCV, tags={"amounts-wrong"}, expected="error",
        reason=_NOT_SEEN,
    ),
)  # fmt: skip

KNOWN = (*_OF_TRACT, *_OF_TVM, *_OF_TINYGRAD, *_OF_OPENCV)
