"""OpenCV's dnn module, with the engine that came with OpenCV 5, on the model of ONNX."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
import onnx

from padops.conformance.divergences import Divergence
from padops.conformance.model import declare_shapes, feeds, standard_model
from padops.conformance.peers.converted import without_pad
from padops.conformance.peers.request import Request

ENVIRONMENT = {
    "name": "opencv",
    "families": ("onnx",),
    # onnx-ir is for the converter, which makes the models without Pad.
    "requires": (
        "opencv-python-headless==5.0.0.93",
        "numpy==2.4.6",
        "ml_dtypes==0.5.4",
        "onnx==1.23.2",
        "onnx-ir==1.1.0",
    ),
    # Its importer needs shapes. It ends its process often, or hangs.
    "form": "declared",
    "max_cases": 400,
    "forks": True,
    "seconds": 5,
    "without_pad": {"name": "without-pad-opencv", "form": "declared", "max_cases": 500, "forks": True, "seconds": 10},
}

PACKAGES = ("opencv-python-headless",)
REFUSALS = (cv2.error,)

# Python's arrays become matrices of these; of 64-bit integers 32 bits arrive, and float16 comes back as float.
TYPES = ("float", "double", "bool", "int8", "int16", "int32", "uint8", "uint16", "uint32")

# How it says that it pads five axes at most, and has no fill of a type.
UNSUPPORTED = ("PAD_MAX_DIMS", "is not supported in function 'tensorToScalar'")


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The output of a model of ONNX, fed by name."""
    content = np.frombuffer(model.SerializeToString(), np.uint8)
    net = cv2.dnn.readNetFromONNX(content, cv2.dnn.ENGINE_NEW)
    for name, array in fed.items():
        net.setInput(array, name)
    return np.asarray(net.forward())


def arguments(request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Those of ``pad``: the model of ONNX and what it is fed with."""
    request.require_type(TYPES)
    return standard_model(request, ranked=True), feeds(request, request.inputs)


def run_without_pad(request: Request) -> np.ndarray:
    """That of what ``padops convert --target onnx --without-pad`` leaves."""
    request.require_type(TYPES)
    return pad(declare_shapes(without_pad(request), request.data.ndim), feeds(request, request.inputs))


RECORDED = ">=5.0.0.93,<=5.0.0.93"
_EXTENDS = ("edge", "reflect", "wrap")
_WITHOUT_PAD = "without-pad-opencv"
KNOWN = (
    Divergence(
        "opencv-version-1", "opencv", ("differ", "error", "crash"), rule="P1", versions=RECORDED, opsets=(1, 1),
        reason="the amounts of version 1, paddings, are read as begin and end of each axis in turn, not as all "
        "begins and then "
        "all ends",
    ),
    Divergence(
        "opencv-empty", "opencv", ("differ", "error", "crash"), rule="P5",
        versions=RECORDED, some={"empty-data", "empty-output"},
        reason="data without elements are refused, give an output of another shape, or run without an end",
    ),
    Divergence(
        "opencv-row-of-pads", "opencv", "error", rule="P8",
        versions=RECORDED, tags={"pads-row"}, expected="output", says="pads_.dims == 1",
        reason="pads of shape [1, 2r] are refused",
    ),
    Divergence(
        "opencv-rank-0", "opencv", ("error", "differ"), rule="P5", versions=RECORDED, tags={"rank-0"},
        expected="output",
        reason="a tensor of rank 0 is refused, where there is nothing to pad",
    ),
    Divergence(
        "opencv-no-axes", "opencv", ("error", "differ"), rule="P8",
        versions=RECORDED, tags={"axes-empty"}, expected="output",
        reason="an empty list of axes is refused, or counts as all axes",
    ),
    Divergence(
        "opencv-unused-fill", "opencv", "error", rule="P7",
        versions=RECORDED, modes=_EXTENDS, tags={"fill-not-one"}, expected="output",
        says="value.total() == 1", reason="the fill is checked in modes that do not use it",
    ),
    Divergence(
        "opencv-full", "opencv", "differ", rule="P3",
        versions=RECORDED, modes=_EXTENDS, tags={"mixed"}, without={"full-is-crop"},
        expected="output", reason="negative amounts crop after the extension, not before it",
        link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "opencv-wrap-before-19", "opencv", "differ", rule="P9", versions=RECORDED, modes=("wrap",),
        tags={"mode-unknown"},
        expected="error", rules=("P9",),
        reason="wrap is taken at every opset, though the specification has it from 19 on",
    ),
    Divergence(
        "opencv-run-time-fill", "opencv", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), dtypes=("int8", "uint16"),
        tags={"fill", "grows", "dynamic"}, expected="output",
        reason="a fill of int8 or uint16 that is an input of the model is read as uint8",
    ),
    Divergence(
        "opencv-denormal-value", "opencv", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), tags={"fill", "grows"}, opsets=(2, 10),
        expected="output", reason="a value that is an attribute and denormal becomes 0",
    ),
    Divergence(
        "opencv-empty-fill", "opencv", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), tags={"fill-empty"}, expected="error",
        reason="a fill without elements counts as 0",
    ),
    Divergence(
        "opencv-nothing-left", "opencv", ("differ", "crash"), rule="P5", versions=RECORDED, modes=_EXTENDS,
        some={"cropped-away", "empty-axis-padded"}, expected="error",
        reason="where there is nothing to extend, the output comes from outside of the data, or the process ends",
    ),
    Divergence(
        "opencv-huge", "opencv", ("differ", "crash"), rule="P10", versions=RECORDED, tags={"huge"}, expected="error",
        reason="amounts beyond 32 bits wrap around",
    ),
    Divergence(
        "opencv-wrong-axes", "opencv", ("differ", "crash"), rule="P8",
        versions=RECORDED, tags={"amounts-wrong"}, expected="error",
        reason="axes that name one axis twice or lie outside of the rank, and amounts of another number, are not "
        "refused",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-empty", _WITHOUT_PAD, ("differ", "error"), rule="P5",
        versions=RECORDED, some={"empty-data", "empty-output", "negative-output"},
        expected="output",
        reason="an output without elements does not come out, and Concat refuses a part without elements",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-no-axes", _WITHOUT_PAD, "error", rule="P8", versions=RECORDED, tags={"axes-empty"},
        expected="output",
        says="cannot copy dimension", reason="an empty list of axes cannot be reshaped",
    ),
    Divergence(
        f"{_WITHOUT_PAD}-errors", _WITHOUT_PAD, ("differ", "crash"), rule="P1", versions=RECORDED, expected="error",
        reason="what breaks a rule shows in an index out of bounds or a negative size, which are not refused: the "
        "output holds "
        "stray memory, or the process ends",
    ),
)  # fmt: skip
