"""ONNX's Pad through OpenVINO's frontend, on its CPU device."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from padops.conformance.model import feeds, make_model, without_pad
from padops.conformance.peers.openvino import PACKAGES, REFUSALS, UNSUPPORTED, core, element_of, infer, tensor_of
from padops.conformance.peers.request import Request, unsupported_where

__all__ = ["PACKAGES", "REFUSALS", "run_case", "run_without_pad"]


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray], elements: Mapping[str, str]) -> np.ndarray:
    """Return an ONNX model's output. ``fed`` begins with the data; ``elements`` has OpenVINO's names of the types."""
    read = core().read_model(model.SerializeToString())
    names = [port.get_any_name() for port in read.inputs]
    first = next(iter(fed))
    return infer(read, [tensor_of(fed[name], elements[name]) for name in names], elements[first], fed[first].dtype)


def arguments(
    request: Request, model: onnx.ModelProto | None = None
) -> tuple[onnx.ModelProto, dict[str, np.ndarray], dict[str, str]]:
    """Return the arguments of ``pad``; by default, the model has ONNX's own Pad."""
    fed = feeds(request)
    elements = {name: element_of(array) for name, array in fed.items()}
    return model or make_model(request, standard=True), fed, elements


def run_case(request: Request, model: onnx.ModelProto | None = None) -> np.ndarray:
    given = arguments(request, model)
    with unsupported_where(UNSUPPORTED):
        core().read_model(given[0].SerializeToString())
    return pad(*given)


def run_without_pad(request: Request) -> np.ndarray:
    return run_case(request, without_pad(request))
