"""OpenVINO's Pad-1 and Pad-12 on its CPU device, and ONNX's Pad through its frontend."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from padops.conformance.adapters import (
    OPENVINO_ELEMENTS,
    OPENVINO_SETTINGS,
    from_openvino,
    infer_with_openvino,
    openvino_pad_model,
    to_openvino,
)
from padops.conformance.model import feeds, make_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import Request, Unsupported, unsupported_where
from padops.deferred import import_openvino
from padops.spec.bits import dtype_of

openvino = import_openvino()
# Before 2025 these were elsewhere; the adapters, which scripts show, name the new place.
if not hasattr(openvino, "opset1"):
    runtime = import_module("openvino.runtime")
    openvino.op, openvino.opset1, openvino.opset12 = runtime.op, runtime.opset1, runtime.opset12

PACKAGES = ("openvino",)
REFUSALS = (RuntimeError,)

_UNSUPPORTED = ("Unsupported padding mode", "Only CONSTANT pad mode is supported for element::string", "Unknown type")


@cache
def _core() -> Any:
    core = openvino.Core()
    core.set_property("CPU", OPENVINO_SETTINGS)
    return core


def run_pad(request: Request) -> np.ndarray:
    """Pad-1 or Pad-12 of OpenVINO's own operators; what a model holds as constants is constant here too."""
    tensors = [_tensor(array) for array in request.inputs if array is not None]
    version = int(request.op.split("_")[1])
    mode, constants = request.attributes["pad_mode"], request.constant_inputs
    with unsupported_where(_UNSUPPORTED, RuntimeError):
        model, fed = openvino_pad_model(tensors, mode, version, constants, request.static)
    return _infer(model, fed, request.data)


def run_onnx(request: Request) -> np.ndarray:
    """The model of ONNX, read by OpenVINO."""
    content = make_model(request, request.inputs, standard=True).SerializeToString()
    return _run(content, feeds(request, request.inputs), request.data)


def run_without_pad(request: Request) -> np.ndarray:
    """What ``padops convert --target onnx --without-pad`` leaves."""
    return _run(without_pad(request).SerializeToString(), feeds(request, request.inputs), request.data)


def _run(content: bytes, fed: Mapping[str, np.ndarray], data: np.ndarray) -> np.ndarray:
    """A model of ONNX, fed by name; ``data`` are of the type that its output has."""
    _element(data)
    with unsupported_where(_UNSUPPORTED, RuntimeError):
        model = _core().read_model(content)
    return _infer(model, [_tensor(fed[port.get_any_name()]) for port in model.inputs], data)


def _element(array: np.ndarray) -> str:
    name = dtype_of(array).name
    if name not in OPENVINO_ELEMENTS:
        raise Unsupported(f"OpenVINO has no {name}")
    return OPENVINO_ELEMENTS[name]


def _tensor(array: np.ndarray) -> Any:
    return to_openvino(array, _element(array))


def _infer(model: Any, tensors: list[Any], data: np.ndarray) -> np.ndarray:
    tensor, element = infer_with_openvino(_core(), model, tensors), _element(data)
    if element != "string" and tensor.element_type != getattr(openvino.Type, element):
        raise TypeError(f"an output of {tensor.element_type}")
    return from_openvino(tensor, element, data.dtype)
