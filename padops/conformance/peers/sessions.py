"""onnxruntime sessions as the peers use them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as states

from padops.conformance.peers.request import Unsupported
from padops.runtime.ort_values import run_session
from padops.spec.dtypes import by_name

RECORDED = ">=1.20.1,<=1.32.0"

# How onnxruntime says that a model or its inputs are wrong.
REFUSALS = (states.Fail, states.InvalidArgument, states.InvalidGraph, states.RuntimeException)
RUNTIME = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])


def session_options() -> onnxruntime.SessionOptions:
    """Options of one thread and without a log: errors reach the caller as exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return options


stock_options = cache(session_options)  # the same ones at every call, for sessions without any library


def run_model(model: bytes, feeds: Mapping[str, np.ndarray], options: onnxruntime.SessionOptions) -> np.ndarray:
    """The first output of a serialized model, fed by name with arrays of any element type."""
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    output: np.ndarray = run_session(session, feeds)[0]
    return output


def require_type(name: str) -> None:
    """Checks that the installed runtime has tensors of a type.

    Raises:
        Unsupported: It has none.
    """
    if by_name(name).since > RUNTIME[1]:
        raise Unsupported(f"onnxruntime {onnxruntime.__version__} has no tensor({name})")
