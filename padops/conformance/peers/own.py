"""padops itself on onnxruntime: its library, provider and Python kernel, and converted models without any of these."""

from __future__ import annotations

import os
from functools import cache, partial
from typing import Any

import numpy as np
import onnxruntime

from padops.conformance.model import converted, feeds, make_model, one_node_model, tensor
from padops.conformance.peers.ort import REFUSALS, UNKNOWN, require_type, run_model, session_options
from padops.conformance.peers.request import Refused, Request, Skipped, Unsupported, unsupported_where
from padops.runtime import pyop
from padops.runtime.ort_values import run_session
from padops.runtime.provider import CPU, EP_NAME, FIRST_MINOR, runtime_minor
from padops.spec import pyop_node
from padops.spec.dtypes import dtype_of

PACKAGES = {  # by function; a peer is absent if one of its packages is missing
    "run_native": ("onnxruntime",),
    "run_provider": ("onnxruntime",),
    "run_pyop": ("onnxruntime-extensions", "onnxruntime"),
    "run_fallback": ("onnxruntime", "onnx-ir"),
    "run_lowered": ("onnxruntime", "onnx-ir"),
    "run_without_pad": ("onnxruntime", "onnx-ir"),
}

__all__ = ["PACKAGES", "REFUSALS", *PACKAGES]


@cache
def _options(road: str) -> onnxruntime.SessionOptions:
    """Return session options with which padops runs a Pad: by its library, its provider or its Python kernel."""
    options = session_options()
    if road == "library":
        options.register_custom_ops_library(os.environ["PADOPS_LIBRARY"])
    elif road == "kernel":
        pyop.register(options)
    else:
        onnxruntime.register_execution_provider_library("padops", os.environ["PADOPS_LIBRARY"])
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        # ConstantFolding would run a Pad of constants before onnxruntime asks the provider.
        options.add_session_config_entry("optimization.disable_specified_optimizers", "ConstantFolding")
        devices = onnxruntime.get_ep_devices()
        for name, chosen in ((EP_NAME, {"float16": "native"}), (CPU, {})):
            options.add_provider_for_devices([next(row for row in devices if row.ep_name == name)], chosen)
    return options


def run_native(request: Request) -> np.ndarray:
    """Run the case's operator of the domain padops, with the library."""
    require_type(request.dtype.name)
    model = make_model(request).SerializeToString()
    return run_model(model, feeds(request), _options("library"))


def run_provider(request: Request) -> np.ndarray:
    """Run the unchanged ONNX node; raise RuntimeError if padops' provider has not claimed the node."""
    if runtime_minor() < FIRST_MINOR:
        raise Skipped(f"kernels from a library need onnxruntime 1.{FIRST_MINOR}, not {onnxruntime.__version__}")
    require_type(request.dtype.name)
    model = make_model(request, standard=True).SerializeToString()
    with unsupported_where(UNKNOWN):
        session = onnxruntime.InferenceSession(model, _options("provider"), enable_fallback=0)
    for part in session.get_provider_graph_assignment_info():
        if part.ep_name != EP_NAME and "Pad" in [node.op_type for node in part.get_nodes()]:
            raise RuntimeError(f"{part.ep_name} runs the Pad")
    output: np.ndarray = run_session(session, feeds(request))[0]
    return output


def _run_converted(request: Request, **options: Any) -> np.ndarray:
    require_type(request.dtype.name)
    made = converted(make_model(request), **options)
    return run_model(made.SerializeToString(), feeds(request), session_options())


# These run the converted model of ``run_native`` without the library: with functions, standard operators, or no Pad.
run_fallback = partial(_run_converted, target="padops")
run_lowered = partial(_run_converted, target="onnx")
run_without_pad = partial(_run_converted, target="onnx", without_pad=True)


def run_pyop(request: Request) -> np.ndarray:
    """Run the node that ``padops convert --target pyop`` writes; raise Refused if its kernel recorded an error."""
    require_type(request.dtype.name)
    if reason := pyop_node.refusal(request.dtype.name):
        raise Unsupported(reason)
    if request.dtype.name == "string" and any("\0" in text for text in (*request.data.flat, *request.fill.flat)):
        raise Unsupported("strings end at NUL")
    pyop.pyop_errors(clear=True)
    fed = {f"input_{i}": array for i, array in enumerate(request.inputs) if array is not None}
    present = [array is not None for array in request.inputs]
    model = one_node_model(
        pyop_node.OP_TYPE,
        [*fed, *["empty"] * (pyop_node.SLOTS - len(fed))],
        pyop_node.encode(request.op, request.attributes, present, "pad"),
        {name: (dtype_of(array).onnx, None) for name, array in fed.items()},
        (request.dtype.onnx, None),
        {"": 18, pyop_node.DOMAIN: pyop_node.VERSION},
        8,
        [tensor("empty", np.zeros(0, np.int64))],
        pyop_node.DOMAIN,
    )
    result = run_model(model.SerializeToString(), fed, _options("kernel"))
    if errors := pyop.pyop_errors(clear=True):
        raise Refused(errors[0].message)
    return result
