"""onnxruntime sessions that take and give every element type, bit for bit.

onnxruntime's Python API takes no ml_dtypes arrays, so tensors of the types that NumPy lacks are written to and read
from their memory directly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np
import onnxruntime

from padops.conformance.arrays import from_bytes, to_bytes
from padops.conformance.peers.request import Unsupported
from padops.spec.dtypes import by_name, by_numpy

RUNTIME = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])

_PLAIN = frozenset("float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64".split())


def session_options() -> onnxruntime.SessionOptions:
    """Options of one thread and without a log: errors reach the caller as exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return options


def run_model(model: bytes, feeds: Mapping[str, np.ndarray], options: onnxruntime.SessionOptions) -> np.ndarray:
    """The first output of a model."""
    return run_session(onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]), feeds)


def run_session(session: onnxruntime.InferenceSession, feeds: Mapping[str, np.ndarray]) -> np.ndarray:
    """The first output of a session."""
    plain = all(by_numpy(array.dtype).name in _PLAIN for array in feeds.values())
    if plain and _name(session.get_outputs()[0].type) in _PLAIN:
        return session.run(None, dict(feeds))[0]
    values = {name: to_value(array) for name, array in feeds.items()}
    return from_value(session.run_with_ort_values(None, values)[0])


def require_type(name: str) -> None:
    """Raises Unsupported where the installed runtime has no tensors of a type."""
    if by_name(name).since > RUNTIME[1]:
        raise Unsupported(f"onnxruntime {onnxruntime.__version__} has no tensor({name})")


def _name(told: str) -> str:
    return told[len("tensor(") : -1]


def to_value(array: np.ndarray) -> onnxruntime.OrtValue:
    """A tensor of any element type, with the bits of an array."""
    dtype = by_numpy(array.dtype)
    if dtype.name in _PLAIN:
        return onnxruntime.OrtValue.ortvalue_from_numpy(np.array(array, order="C"))
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(array.shape, dtype.onnx, "cpu")
    raw = to_bytes(array)
    if raw:
        ctypes.memmove(value.data_ptr(), raw, len(raw))
    return value


def from_value(value: onnxruntime.OrtValue) -> np.ndarray:
    """The bits of a tensor as an array."""
    name = _name(value.data_type())
    if name in _PLAIN:
        return value.numpy()
    dtype = by_name(name)
    count = int(np.prod(value.shape(), dtype=np.int64))
    size = (count * dtype.bits + 7) // 8
    return from_bytes(ctypes.string_at(value.data_ptr(), size) if size else b"", dtype, value.shape())
