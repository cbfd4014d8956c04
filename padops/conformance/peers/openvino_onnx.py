"""ONNX's Pad by way of OpenVINO's frontend, on its CPU device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import onnx

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds, standard_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.openvino import (
    PACKAGES,
    RECORDED,
    REFUSALS,
    UNSUPPORTED,
    core,
    cpu_device,
    element_of,
    infer,
    tensor_of,
)
from padops.conformance.peers.request import Request, unsupported_where

__all__ = ["KNOWN", "PACKAGES", "REFUSALS", "run_case", "run_without_pad"]


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray], elements: Mapping[str, str]) -> np.ndarray:
    """The output of a model of ONNX, fed by name, the data first; ``elements`` are OpenVINO's names of the types."""
    read = core().read_model(model.SerializeToString())
    names = [port.get_any_name() for port in read.inputs]
    first = next(iter(fed))
    return infer(read, [tensor_of(fed[name], elements[name]) for name in names], elements[first], fed[first].dtype)


def arguments(
    request: Request, model: onnx.ModelProto | None = None
) -> tuple[onnx.ModelProto, dict[str, np.ndarray], dict[str, str]]:
    """Those of ``pad``; of ONNX's own Pad unless there is a model.

    Raises:
        Unsupported: OpenVINO has no such type.
    """
    fed = feeds(request, request.inputs)
    elements = {name: element_of(array) for name, array in fed.items()}
    return model or standard_model(request), fed, elements


def run_case(request: Request, model: onnx.ModelProto | None = None) -> np.ndarray:
    """The output of ``pad``.

    Raises:
        Unsupported: As of ``arguments``; or the frontend says so, which reads the model.
    """
    given = arguments(request, model)
    with unsupported_where(UNSUPPORTED, RuntimeError):
        core().read_model(given[0].SerializeToString())
    return pad(*given)


def run_without_pad(request: Request) -> np.ndarray:
    """That of what ``padops convert --target onnx --without-pad`` leaves."""
    return run_case(request, without_pad(request))


_FRONTEND, _WITHOUT_PAD = "openvino-onnx", "without-pad-openvino"
_without = partial(Divergence, peer=_WITHOUT_PAD, versions=RECORDED)
_row = partial(Divergence, peer=_FRONTEND, versions=RECORDED)
KNOWN = (
    *cpu_device(_FRONTEND),
    _row("openvino-onnx-reflect-limit", ("error", "differ"), "P4",
         "an amount of a reflection may be n - 1 at most; a larger one at run time gives a wrong shape",
         modes=("reflect",), expected="output", tags={"reflect-beyond-size"}),
    _row("openvino-onnx-full", ("differ", "error"), "P3",
         "negative amounts crop after the extension, as in OpenVINO's own operator, not before it",
         modes=("edge", "reflect"), expected="output", tags={"mixed"}, without={"full-is-crop"},
         link="https://github.com/onnx/onnx/issues/4294"),
    _row("openvino-onnx-cropped-away", ("differ", "crash"), "P5",
         "where a crop leaves nothing, the data before the crop are extended", modes=("edge", "reflect"),
         expected="error", tags={"cropped-away"}),
    _row("openvino-onnx-unused-fill", "error", "P7", "the fill is checked in modes that do not use it",
         modes=("edge", "reflect", "wrap"), expected="output", tags={"fill-not-one"},
         says="Scalar value can't be derived"),
    _row("openvino-onnx-float4-layout", "error", "P7",
         "for data of rank 4 that are empty the CPU device wants another layout, and cannot reorder float4e2m1",
         dtypes=("float4e2m1",), expected="output", tags={"empty-data"}, says="could not create reorder primitive"),
    _row("openvino-onnx-fill", "differ", "P7", "of several fills the first one is taken", modes=("constant",),
         expected="error", tags={"fill-not-one"}),
    _row("openvino-onnx-row-of-pads", "error", "P8",
         "pads of shape [1, 2r] are split along their first dim at run time", expected="output", tags={"pads-row"},
         says="split number is invalid"),
    _row("openvino-onnx-amounts", ("differ", "crash"), "P8",
         "neither the length of pads nor repeated axes nor, at run time, axes out of range are refused",
         expected="error", rules=("P8",), tags={"amounts-wrong"}),
    _row("openvino-onnx-value", "error", "P7", "a value that is NaN or infinite is refused", expected="output",
         opsets=(1, 10), tags={"fill"}, says="assigned value out of range"),
    _row("openvino-onnx-fill-lost", "differ", "P7",
         "a negative zero loses its sign, and the fill is 0 where only some of amounts and fill are constants",
         modes=("constant",), expected="output", tags={"fill", "grows"}),
    _row("openvino-onnx-no-axes", ("error", "differ"), "P8", "an empty list of axes is refused", expected="output",
         tags={"axes-empty"}),
    _without("without-pad-openvino-errors", ("differ", "crash"), "P1",
             "what breaks a rule shows in an index out of bounds, which the CPU device does not refuse: it takes a 0 "
             "there, and a Range with steps of 0 ends the process", expected="error"),
    _without("without-pad-openvino-narrow", "differ", "P7",
             "the CPU device has no kernels for double, int64, uint64 and uint32, and computes them as float and int32",
             dtypes=("double", "int64", "uint64", "uint32"), expected="output"),
    _without("without-pad-openvino-small-floats", "differ", "P7",
             "elements are converted on the way, so that NaNs, negative zeros and denormals may lose their bits",
             dtypes=("float16", "bfloat16", "float8e4m3fn", "float8e8m0"), expected="output"),
    _without("without-pad-openvino-empty", ("differ", "error", "crash"), "P5",
             "a constant without elements is read as one of rank 0, and empty tensors are refused by some operators",
             expected="output", some={"empty-output", "negative-output"}),
    _without("without-pad-openvino-no-axes", "error", "P8", "an empty list of axes cannot be reshaped",
             expected="output", tags={"axes-empty"}, says="reshape_shape_inference"),
    _without("without-pad-openvino-fill-denormal", "differ", "P7", "denormals of a fill become 0", modes=("constant",),
             dtypes=("float",), expected="output", tags={"fill"}),
    _without("without-pad-openvino-strings", ("crash", "error"), "P7",
             "strings cannot be broadcast, and some operators free their memory twice", dtypes=("string",),
             expected="output"),
)  # fmt: skip
