"""onnxruntime's own Pad, at every opset that onnxruntime knows; and sessions for the other peers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as states

from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, Unsupported, unsupported_where
from padops.runtime.ort_values import PLAIN, run_session
from padops.spec.dtypes import by_name

PACKAGES = ("onnxruntime",)

# onnxruntime's exceptions for a wrong model or wrong inputs.
REFUSALS = (states.Fail, states.InvalidArgument, states.InvalidGraph, states.RuntimeException)
RUNTIME = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])

# onnxruntime's errors for an unknown opset or type, before it asks a provider.
UNKNOWN = ("is under development and support for this is limited", "in type constraint", "Unsupported model IR version")
_UNSUPPORTED = (*UNKNOWN, "Could not find an implementation for", "Opset", "not supported")  # for a missing kernel


def session_options() -> onnxruntime.SessionOptions:
    """Return options with one thread and without a log: errors reach the caller as exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return options


def run_model(model: bytes, feeds: Mapping[str, np.ndarray], options: onnxruntime.SessionOptions) -> np.ndarray:
    """Return the first output of a serialized model; ``feeds`` has the inputs by name, of any element type."""
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    output: np.ndarray = run_session(session, feeds)[0]
    return output


def require_type(name: str) -> None:
    """Raise Unsupported if the installed runtime has no tensors of a type."""
    if by_name(name).since > RUNTIME[1]:
        raise Unsupported(f"onnxruntime {onnxruntime.__version__} has no tensor({name})")


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """Run an ONNX model on inputs by name, and return its first output."""
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, session_options(), providers=["CPUExecutionProvider"])
    output: np.ndarray = session.run(None, dict(fed))[0]
    return output


def arguments(request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    return make_model(request, standard=True), feeds(request)


def run_case(request: Request) -> np.ndarray:
    """Return the output of ``pad``; for a type that NumPy lacks, padops itself reads and writes the tensors."""
    require_type(request.dtype.name)
    with unsupported_where(_UNSUPPORTED):
        if request.dtype.name in PLAIN:
            return pad(*arguments(request))
        model, fed = arguments(request)
        return run_model(model.SerializeToString(), fed, session_options())
