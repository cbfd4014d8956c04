"""The Pad of onnxruntime itself, at every opset it knows."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
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

    Args:
        array: What ml_dtypes has of the type: elements of less than a byte take one each.
        element: ONNX's number of the type.
        bits: Of an element; those of less than a byte lie packed, the first in the low bits.
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
    """The reverse of ``to_onnxruntime``.

    Args:
        value: A tensor.
        dtype: The type of the array, of ml_dtypes.
        bits: Of an element.
    """
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
    """The first output of a model of ONNX.

    Args:
        model: The model.
        fed: Its inputs by name, the data first.
        elements: Of each input ONNX's number of the type, and its bits, where NumPy lacks the type of the data.
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

KNOWN = (
    Divergence(
        "ort-rank-0", "ort-builtin", "error", rule="P5",
        versions=RECORDED, tags={"rank-0"}, expected="output", says="data_rank > 0",
        reason="a tensor of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "ort-unused-fill", "ort-builtin", "error", rule="P7", versions=RECORDED, modes=_EXTENDS, tags={"fill-not-one"},
        expected="output", says="Value tensor should be a 1D tensor of size 1",
        reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "ort-reflect-limit", "ort-builtin", "error", rule="P4", modes=("reflect",), tags={"reflect-beyond-left"},
        expected="output", says="Pad reflect", versions=">=1.24.0,<=1.32.0",
        reason="an amount of a reflection may be n - 1 at most, where the ONNX text's own Example 2 needs n; n counts "
        "after the crop", link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "ort-huge-empty", "ort-builtin", ("differ", "error"), rule="P10",
        versions=RECORDED, tags={"huge", "empty-output"}, expected="error",
        rules=("P10",), reason="a dim beyond any memory is made where another one is 0; NumPy may have no array of it",
    ),
    Divergence(
        "ort-int32-axes", "ort-builtin", "error", rule="P8", versions=RECORDED, tags={"axes-int32", "constant-amounts"},
        says="ParseData type mismatch",
        reason="constant int32 axes fail at load, in onnx's strict shape inference, though the specification has them",
    ),
    Divergence(
        "ort-repeated-axes", "ort-builtin", "differ", rule="P8",
        versions=RECORDED, tags={"axes-repeated"}, expected="error", rules=("P8",),
        reason="of an axis that is named twice, the last amounts are taken at run time",
    ),
    Divergence(
        "ort-cropped-to-nothing", "ort-builtin", "error", rule="P5", modes=_EXTENDS, tags={"cropped-away"},
        expected="output", says="zero effective input extent", versions=">=1.24.0,<=1.32.0",
        reason="an output without elements that a crop makes is refused outside of constant mode",
    ),
    Divergence(
        "ort-row-of-pads", "ort-builtin", "error", rule="P8",
        versions=RECORDED, tags={"pads-row", "constant-amounts"}, says="input must be a 1D",
        reason="constant pads of shape [1, 2r] fail at load, in onnx's shape inference; at run time they are taken",
    ),
    Divergence(
        "ort-wrap-of-nothing", "ort-builtin", "error", rule="P5",
        versions=RECORDED, modes=("wrap",), tags={"empty-data"}, expected="output",
        reason="wrap of data without elements always fails, even where nothing is added",
    ),
    Divergence(
        "ort-empty-output", "ort-builtin", "error", rule="P5", versions=RECORDED, modes=("edge", "reflect"),
        tags={"empty-axis-padded", "empty-output"}, expected="output", says="to pad dimension with a value of 0",
        reason="an axis without elements is refused though the output has none either",
    ),
    Divergence(
        "ort-float16-attributes", "ort-builtin", "error", rule="P7",
        versions=RECORDED, dtypes=("float16",), families=("onnx",), opsets=(1, 5),
        says="InsertedPrecisionFreeCast",
        reason="float16 has no kernel and runs between Casts, whose form in opsets below 6 onnxruntime gets wrong",
    ),
    Divergence(
        "ort-float16-nan", "ort-builtin", "differ", rule="P7", versions=RECORDED, dtypes=("float16",),
        expected="output",
        some={"nan", "fill-nan", "fill"},
        reason="float16 runs as Cast, Pad, Cast, which changes the bits of NaNs and rounds the value of an attribute "
        "at another time",
    ),
    Divergence(
        "ort-wrap-before-19", "ort-builtin", "differ", rule="P9", versions=RECORDED, modes=("wrap",),
        tags={"mode-unknown"},
        expected="error", rules=("P9",),
        reason="wrap is taken at every opset, though the specification has it from 19 on",
    ),
    Divergence(
        "ort-wrap-period", "ort-builtin", "differ", rule="P2", modes=("wrap",), tags={"beyond-left"}, expected="output",
        versions=">=1.20.1,<1.31",
        reason="beyond one period of a wrap the output is zeros, or memory that nothing has written",
    ),
    Divergence(
        "ort-reflect-reads-beyond", "ort-builtin", ("differ", "crash"), rule="P4", modes=("reflect",),
        tags={"reflect-beyond-left"}, versions=">=1.20.1,<1.25",
        reason="a reflection longer than what the crop leaves reads beyond the data",
        link="https://github.com/microsoft/onnxruntime/issues/11828",
    ),
    Divergence(
        "ort-crop-overflow", "ort-builtin", "error", rule="P3", tags={"overcropped", "mixed"}, expected="output",
        says="Integer overflow", versions=">=1.20.1,<1.24",
        reason="a crop longer than its axis is refused even where the other side makes up for it",
    ),
    Divergence(
        "ort-cropped-away", "ort-builtin", ("differ", "crash"), rule="P5", tags={"cropped-away", "mixed"},
        versions=">=1.20.1,<1.24",
        reason="where a crop leaves nothing, the output comes from outside of the data",
        link="https://github.com/microsoft/onnxruntime/issues/11828",
    ),
)  # fmt: skip
