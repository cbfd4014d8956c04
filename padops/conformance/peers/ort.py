"""onnxruntime's own Pad, at every opset that onnxruntime knows; and the sessions of all peers."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as states

from padops.conformance.model import feeds, standard_model
from padops.conformance.peers.request import Request, Unsupported, unsupported_where
from padops.runtime.ort_values import PLAIN, run_session
from padops.spec.bits import dtype_of
from padops.spec.dtypes import by_name

PACKAGES = ("onnxruntime",)

# onnxruntime's exceptions for a wrong model or wrong inputs.
REFUSALS = (states.Fail, states.InvalidArgument, states.InvalidGraph, states.RuntimeException)
RUNTIME = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])

# onnxruntime's errors for an unknown opset or type, before it asks a provider.
UNKNOWN = ("is under development and support for this is limited", "in type constraint", "Unsupported model IR version")
_UNSUPPORTED = (*UNKNOWN, "Could not find an implementation for", "Opset", "not supported")  # the last: no kernel


def session_options() -> onnxruntime.SessionOptions:
    """Return options with one thread and without a log: errors reach the caller as exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return options


def run_model(model: bytes, feeds: Mapping[str, np.ndarray], options: onnxruntime.SessionOptions) -> np.ndarray:
    """Return the first output of a serialized model, fed by name with arrays of any element type."""
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    output: np.ndarray = run_session(session, feeds)[0]
    return output


def require_type(name: str) -> None:
    """Check that the installed runtime has tensors of a type.

    Raises:
        Unsupported: The runtime lacks the type.
    """
    if by_name(name).since > RUNTIME[1]:
        raise Unsupported(f"onnxruntime {onnxruntime.__version__} has no tensor({name})")


def to_onnxruntime(array: np.ndarray, element: int, bits: int) -> Any:
    """Make a tensor of onnxruntime with the bits of an array whose type NumPy lacks.

    In ml_dtypes' arrays, a smaller element occupies one byte; the tensor packs the elements, the first in the low bits.
    ``element``: ONNX's number of the type. ``bits``: the bits of an element.
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
    """Return an array of a type of ml_dtypes with the bits of a tensor: the reverse of ``to_onnxruntime``."""
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
    """Return the first output of an ONNX model, fed by name, the data first.

    If NumPy lacks the type of the data, ``elements`` has ONNX's number of each input's type, and the bits of an
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
    """Return the arguments of ``pad``."""
    model, fed = standard_model(request), feeds(request, request.inputs)
    if request.dtype.name in PLAIN:
        return model, fed
    types = {name: dtype_of(array) for name, array in fed.items()}
    return model, fed, {name: (dtype.onnx, dtype.bits) for name, dtype in types.items()}


def run_case(request: Request) -> np.ndarray:
    """Return the output of ``pad``."""
    require_type(request.dtype.name)
    with unsupported_where(_UNSUPPORTED):
        return pad(*arguments(request))
