"""padops as an execution provider: the model of standard ONNX as it is."""

from __future__ import annotations

import os
from functools import cache, partial

import numpy as np
import onnxruntime

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, Skipped, unsupported_where
from padops.conformance.peers.sessions import RECORDED, REFUSALS, require_type, session_options
from padops.runtime.ort_values import run_session
from padops.runtime.provider import CPU, EP_NAME, FIRST_MINOR, runtime_minor

PACKAGES = ("onnxruntime",)

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "run_case"]

# How onnxruntime says that it does not know an opset or a type at all; it says so before it asks a provider.
_UNSUPPORTED = (
    "is under development and support for this is limited",
    "in type constraint",
    "Unsupported model IR version",
)


@cache
def _options() -> onnxruntime.SessionOptions:
    onnxruntime.register_execution_provider_library("padops", os.environ["PADOPS_LIBRARY"])
    options = session_options()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    # It would run a Pad of constants before the provider is asked.
    options.add_session_config_entry("optimization.disable_specified_optimizers", "ConstantFolding")
    devices = onnxruntime.get_ep_devices()
    for name, chosen in ((EP_NAME, {"float16": "native"}), (CPU, {})):
        options.add_provider_for_devices([next(row for row in devices if row.ep_name == name)], chosen)
    return options


def run_case(request: Request) -> np.ndarray:
    """The node of ONNX, which the provider must have claimed.

    Raises:
        Skipped: This onnxruntime has no registries of kernels.
        Unsupported: It does not know the opset or the type.
        RuntimeError: Another provider runs the Pad.
        Exception: onnxruntime refuses the model or the inputs, or padops does, with exceptions of onnxruntime's own.
    """
    if runtime_minor() < FIRST_MINOR:
        raise Skipped(f"onnxruntime {onnxruntime.__version__} takes no kernels from a library; 1.{FIRST_MINOR} does")
    require_type(request.dtype.name)
    model = make_model(request, request.inputs, standard=True).SerializeToString()
    with unsupported_where(_UNSUPPORTED):
        session = onnxruntime.InferenceSession(model, _options(), enable_fallback=0)
    for part in session.get_provider_graph_assignment_info():
        names = [node.op_type for node in part.get_nodes()]
        if "Pad" in names and part.ep_name != EP_NAME:
            raise RuntimeError(f"{part.ep_name} runs the Pad")
    output: np.ndarray = run_session(session, feeds(request, request.inputs))[0]
    return output


# What onnxruntime refuses or allows before it asks the provider.
_row = partial(Divergence, peer="padops-provider", versions=RECORDED)
KNOWN = (
    _row("provider-int32-axes", "error", "P8",
         "constant int32 axes fail at load, in onnx's strict shape inference; the converter helps",
         tags={"axes-int32", "constant-amounts"}, says="ParseData type mismatch"),
    _row("provider-row-of-pads", "error", "P8",
         "constant pads of shape [1, 2r] fail at load, in onnx's shape inference; the converter helps",
         tags={"pads-row", "constant-amounts"}, says="input must be a 1D"),
    _row("provider-wrap-before-19", "differ", "P9",
         "onnxruntime's own Pad takes wrap at every opset, and models that rely on it are to run on", modes=("wrap",),
         expected="error", rules=("P9",), tags={"mode-unknown"}),
)  # fmt: skip
