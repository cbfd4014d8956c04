"""The Pad of onnxruntime itself, at every opset it knows."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import onnx
import onnxruntime

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds, standard_model
from padops.conformance.peers.request import Request, unsupported_where
from padops.conformance.peers.sessions import RECORDED, REFUSALS, require_type, session_options
from padops.runtime.ort_values import PLAIN
from padops.spec.bits import dtype_of

PACKAGES = ("onnxruntime",)

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "run_case"]

# How it says that it has no kernel for a type, or does not know an opset or a type at all.
_UNSUPPORTED = (
    "Could not find an implementation for",
    "is under development and support for this is limited",
    "Opset",
    "in type constraint",
    "Unsupported model IR version",
    "not supported",
)


def to_onnxruntime(array: np.ndarray, element: int, bits: int) -> Any:
    """A tensor of onnxruntime with the bits of an array of a type that NumPy lacks.

    In ml_dtypes' arrays, elements of less than a byte take one each; in the tensor they lie packed, the first in the
    low bits. ``element`` is ONNX's number of the type, ``bits`` are those of an element.
    """
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(array.shape), element, "cpu")
    raw: np.ndarray = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if bits < 8:
        count = 8 // bits
        rows = np.append(raw & (1 << bits) - 1, np.zeros(-raw.size % count, np.uint8)).reshape(-1, count)
        raw = np.bitwise_or.reduce(rows << np.arange(0, 8, bits, dtype=np.uint8), axis=1)
    if raw.size:
        ctypes.memmove(value.data_ptr(), raw.tobytes(), raw.size)
    return value


def from_onnxruntime(value: Any, dtype: np.dtype, bits: int) -> np.ndarray:
    """The reverse of ``to_onnxruntime``: an array of a type of ml_dtypes."""
    shape = value.shape()
    size = (math.prod(shape) * dtype.itemsize * min(bits, 8) + 7) // 8
    raw: np.ndarray = np.frombuffer(ctypes.string_at(value.data_ptr(), size) if size else b"", np.uint8)
    if bits < 8:
        raw = (raw[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & (1 << bits) - 1).reshape(-1)[: math.prod(shape)]
    made: np.ndarray = raw.astype(np.uint8).view(dtype).reshape(shape)
    return made


def pad(
    model: onnx.ModelProto, fed: Mapping[str, np.ndarray], elements: Mapping[str, tuple[int, int]] | None = None
) -> np.ndarray:
    """The first output of a model of ONNX, fed by name, the data first.

    Where NumPy lacks the type of the data, ``elements`` has ONNX's number of each input's type, and the bits of an
    element.
    """
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, session_options(), providers=["CPUExecutionProvider"])
    if elements is None:
        output: np.ndarray = session.run(None, dict(fed))[0]
        return output
    given = {name: to_onnxruntime(array, *elements[name]) for name, array in fed.items()}
    (value,) = session.run_with_ort_values(None, given)
    first = next(iter(fed))
    return from_onnxruntime(value, fed[first].dtype, elements[first][1])


def arguments(request: Request) -> tuple[Any, ...]:
    """Those of ``pad``."""
    model, fed = standard_model(request), feeds(request, request.inputs)
    if request.dtype.name in PLAIN:
        return model, fed
    types = {name: dtype_of(array) for name, array in fed.items()}
    return model, fed, {name: (dtype.onnx, dtype.bits) for name, dtype in types.items()}


def run_case(request: Request) -> np.ndarray:
    """The output of ``pad``."""
    require_type(request.dtype.name)
    with unsupported_where(_UNSUPPORTED):
        return pad(*arguments(request))


_EXTENDS = ("edge", "reflect", "wrap")

_row = partial(Divergence, peer="ort-builtin", versions=RECORDED)
KNOWN = (
    _row("ort-rank-0", "error", "P5", "a tensor of rank 0 is refused, where there is nothing to pad", expected="output",
         tags={"rank-0"}, says="data_rank > 0"),
    _row("ort-unused-fill", "error", "P7", "the fill is checked in modes that do not use it", modes=_EXTENDS,
         expected="output", tags={"fill-not-one"}, says="Value tensor should be a 1D tensor of size 1"),
    _row("ort-huge-empty", ("differ", "error"), "P10",
         "a dim beyond any memory is made where another one is 0; NumPy may have no array of it", expected="error",
         rules=("P10",), tags={"huge", "empty-output"}),
    _row("ort-int32-axes", "error", "P8",
         "constant int32 axes fail at load, in onnx's strict shape inference, though the specification has them",
         tags={"axes-int32", "constant-amounts"}, says="ParseData type mismatch"),
    _row("ort-repeated-axes", "differ", "P8", "of an axis that is named twice, the last amounts are taken at run time",
         expected="error", rules=("P8",), tags={"axes-repeated"}),
    _row("ort-cropped-to-nothing", "error", "P5",
         "an output without elements that a crop makes is refused outside of constant mode", modes=_EXTENDS,
         expected="output", tags={"cropped-away"}, says="zero effective input extent", versions=">=1.24.0,<=1.32.0"),
    _row("ort-row-of-pads", "error", "P8",
         "constant pads of shape [1, 2r] fail at load, in onnx's shape inference; at run time they are taken",
         tags={"pads-row", "constant-amounts"}, says="input must be a 1D"),
    _row("ort-wrap-of-nothing", "error", "P5",
         "wrap of data without elements always fails, even where nothing is added", modes=("wrap",), expected="output",
         tags={"empty-data"}),
    _row("ort-empty-output", "error", "P5", "an axis without elements is refused though the output has none either",
         modes=("edge", "reflect"), expected="output", tags={"empty-axis-padded", "empty-output"},
         says="to pad dimension with a value of 0"),
    _row("ort-float16-attributes", "error", "P7",
         "float16 has no kernel and runs between Casts, whose form in opsets below 6 onnxruntime gets wrong",
         families=("onnx",), dtypes=("float16",), opsets=(1, 5), says="InsertedPrecisionFreeCast"),
    _row("ort-float16-nan", "differ", "P7",
         "float16 runs as Cast, Pad, Cast, which changes the bits of NaNs and rounds the value of an attribute at "
         "another time", dtypes=("float16",), expected="output", some={"nan", "fill-nan", "fill"}),
    _row("ort-wrap-before-19", "differ", "P9",
         "wrap is taken at every opset, though the specification has it from 19 on", modes=("wrap",), expected="error",
         rules=("P9",), tags={"mode-unknown"}),
    _row("ort-wrap-period", "differ", "P2",
         "beyond one period of a wrap the output is zeros, or memory that nothing has written", modes=("wrap",),
         expected="output", tags={"beyond-left"}, versions=">=1.20.1,<1.31"),
    _row("ort-reflect-reads-beyond", ("differ", "crash"), "P4",
         "a reflection longer than what the crop leaves reads beyond the data", modes=("reflect",),
         tags={"reflect-beyond-left"}, link="https://github.com/microsoft/onnxruntime/issues/11828",
         versions=">=1.20.1,<1.25"),
    _row("ort-crop-overflow", "error", "P3",
         "a crop longer than its axis is refused even where the other side makes up for it", expected="output",
         tags={"overcropped", "mixed"}, says="Integer overflow", versions=">=1.20.1,<1.24"),
    _row("ort-cropped-away", ("differ", "crash"), "P5",
         "where a crop leaves nothing, the output comes from outside of the data", tags={"cropped-away", "mixed"},
         link="https://github.com/microsoft/onnxruntime/issues/11828", versions=">=1.20.1,<1.24"),
)  # fmt: skip
