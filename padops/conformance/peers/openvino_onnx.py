"""ONNX's Pad by way of OpenVINO's frontend, on its CPU device."""

from __future__ import annotations

from collections.abc import Mapping

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
    """The output of a model of ONNX.

    Args:
        model: The model.
        fed: Its inputs by name, the data first.
        elements: OpenVINO's names of their types.
    """
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
KNOWN = (
    *cpu_device(_FRONTEND),
    Divergence(
        "openvino-onnx-reflect-limit", _FRONTEND, ("error", "differ"), rule="P4", versions=RECORDED, modes=("reflect",),
        tags={"reflect-beyond-size"}, expected="output",
        reason="an amount of a reflection may be n - 1 at most; a larger one at run time gives a wrong shape",
    ),
    Divergence(
        "openvino-onnx-full", _FRONTEND, ("differ", "error"), rule="P3",
        versions=RECORDED, modes=("edge", "reflect"), tags={"mixed"},
        expected="output", without={"full-is-crop"}, link="https://github.com/onnx/onnx/issues/4294",
        reason="negative amounts crop after the extension, as in OpenVINO's own operator, not before it",
    ),
    Divergence(
        "openvino-onnx-cropped-away", _FRONTEND, ("differ", "crash"), rule="P5",
        versions=RECORDED, modes=("edge", "reflect"),
        tags={"cropped-away"}, expected="error",
        reason="where a crop leaves nothing, the data before the crop are extended",
    ),
    Divergence(
        "openvino-onnx-unused-fill", _FRONTEND, "error", rule="P7",
        versions=RECORDED, tags={"fill-not-one"}, expected="output",
        says="Scalar value can't be derived", modes=("edge", "reflect", "wrap"),
        reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "openvino-onnx-float4-layout", _FRONTEND, "error", rule="P7",
        versions=RECORDED, dtypes=("float4e2m1",), expected="output",
        tags={"empty-data"}, says="could not create reorder primitive",
        reason="for data of rank 4 that are empty the CPU device wants another layout, and cannot reorder float4e2m1",
    ),
    Divergence(
        "openvino-onnx-fill", _FRONTEND, "differ", rule="P7",
        versions=RECORDED, modes=("constant",), tags={"fill-not-one"},
        expected="error", reason="of several fills the first one is taken",
    ),
    Divergence(
        "openvino-onnx-row-of-pads", _FRONTEND, "error", rule="P8",
        versions=RECORDED, tags={"pads-row"}, expected="output",
        says="split number is invalid",
        reason="pads of shape [1, 2r] are split along their first dim at run time",
    ),
    Divergence(
        "openvino-onnx-amounts", _FRONTEND, ("differ", "crash"), rule="P8",
        versions=RECORDED, tags={"amounts-wrong"}, expected="error",
        rules=("P8",),
        reason="neither the length of pads nor repeated axes nor, at run time, axes out of range are refused",
    ),
    Divergence(
        "openvino-onnx-value", _FRONTEND, "error", rule="P7",
        versions=RECORDED, tags={"fill"}, expected="output", opsets=(1, 10),
        says="assigned value out of range",
        reason="a value that is NaN or infinite is refused",
    ),
    Divergence(
        "openvino-onnx-fill-lost", _FRONTEND, "differ", rule="P7",
        versions=RECORDED, modes=("constant",), tags={"fill", "grows"},
        expected="output",
        reason="a negative zero loses its sign, and the fill is 0 where only some of amounts and fill are constants",
    ),
    Divergence(
        "openvino-onnx-no-axes", _FRONTEND, ("error", "differ"), rule="P8",
        versions=RECORDED, tags={"axes-empty"}, expected="output",
        reason="an empty list of axes is refused",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-errors", _WITHOUT_PAD, ("differ", "crash"), rule="P1", versions=RECORDED, expected="error",
        reason="what breaks a rule shows in an index out of bounds, which the CPU device does not refuse: it takes a "
        "0 there, "
        "and a Range with steps of 0 ends the process",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-narrow", _WITHOUT_PAD, "differ", rule="P7",
        versions=RECORDED, dtypes=("double", "int64", "uint64", "uint32"),
        expected="output", reason="the CPU device has no kernels for double, int64, uint64 and uint32, and computes "
        "them as "
        "float and int32",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-small-floats", _WITHOUT_PAD, "differ", rule="P7", versions=RECORDED,
        dtypes=("float16", "bfloat16", "float8e4m3fn", "float8e8m0"), expected="output",
        reason="elements are converted on the way, so that NaNs, negative zeros and denormals may lose their bits",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-empty", _WITHOUT_PAD, ("differ", "error", "crash"), rule="P5",
        versions=RECORDED, some={"empty-output", "negative-output"},
        expected="output",
        reason="a constant without elements is read as one of rank 0, and empty tensors are refused by some operators",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-no-axes", _WITHOUT_PAD, "error", rule="P8",
        versions=RECORDED, tags={"axes-empty"}, expected="output",
        says="reshape_shape_inference", reason="an empty list of axes cannot be reshaped",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-fill-denormal", _WITHOUT_PAD, "differ", rule="P7",
        versions=RECORDED, dtypes=("float",), modes=("constant",), tags={"fill"},
        expected="output", reason="denormals of a fill become 0",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-strings", _WITHOUT_PAD, ("crash", "error"), rule="P7",
        versions=RECORDED, dtypes=("string",), expected="output",
        reason="strings cannot be broadcast, and some operators free their memory twice",
    ),
)  # fmt: skip
