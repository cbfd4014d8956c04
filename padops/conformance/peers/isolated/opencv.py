"""OpenCV's dnn module, with the engine that came with OpenCV 5, on the model of ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import cv2
import numpy as np
import onnx

from padops.conformance.divergences import Divergence
from padops.conformance.model import declare_shapes, feeds
from padops.conformance.peers.converted import arguments_of, without_pad
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


arguments = partial(arguments_of, TYPES)


def run_without_pad(request: Request) -> np.ndarray:
    """That of what ``padops convert --target onnx --without-pad`` leaves."""
    request.require_type(TYPES)
    return pad(declare_shapes(without_pad(request), request.data.ndim), feeds(request, request.inputs))


RECORDED = ">=5.0.0.93,<=5.0.0.93"
_EXTENDS = ("edge", "reflect", "wrap")
_WITHOUT_PAD = "without-pad-opencv"
_without = partial(Divergence, peer=_WITHOUT_PAD, versions=RECORDED)
_row = partial(Divergence, peer="opencv", versions=RECORDED)
KNOWN = (
    _row("opencv-version-1", ("differ", "error", "crash"), "P1",
         "the amounts of version 1, paddings, are read as begin and end of each axis in turn, not as all begins and "
         "then all ends", opsets=(1, 1)),
    _row("opencv-empty", ("differ", "error", "crash"), "P5",
         "data without elements are refused, give an output of another shape, or run without an end",
         some={"empty-data", "empty-output"}),
    _row("opencv-row-of-pads", "error", "P8", "pads of shape [1, 2r] are refused", expected="output", tags={"pads-row"},
         says="pads_.dims == 1"),
    _row("opencv-rank-0", ("error", "differ"), "P5", "a tensor of rank 0 is refused, where there is nothing to pad",
         expected="output", tags={"rank-0"}),
    _row("opencv-no-axes", ("error", "differ"), "P8", "an empty list of axes is refused, or counts as all axes",
         expected="output", tags={"axes-empty"}),
    _row("opencv-unused-fill", "error", "P7", "the fill is checked in modes that do not use it", modes=_EXTENDS,
         expected="output", tags={"fill-not-one"}, says="value.total() == 1"),
    _row("opencv-full", "differ", "P3", "negative amounts crop after the extension, not before it", modes=_EXTENDS,
         expected="output", tags={"mixed"}, without={"full-is-crop"}, link="https://github.com/onnx/onnx/issues/4294"),
    _row("opencv-wrap-before-19", "differ", "P9",
         "wrap is taken at every opset, though the specification has it from 19 on", modes=("wrap",), expected="error",
         rules=("P9",), tags={"mode-unknown"}),
    _row("opencv-run-time-fill", "differ", "P7",
         "a fill of int8 or uint16 that is an input of the model is read as uint8", modes=("constant",),
         dtypes=("int8", "uint16"), expected="output", tags={"fill", "grows", "dynamic"}),
    _row("opencv-denormal-value", "differ", "P7", "a value that is an attribute and denormal becomes 0",
         modes=("constant",), expected="output", opsets=(2, 10), tags={"fill", "grows"}),
    _row("opencv-empty-fill", "differ", "P7", "a fill without elements counts as 0", modes=("constant",),
         expected="error", tags={"fill-empty"}),
    _row("opencv-nothing-left", ("differ", "crash"), "P5",
         "where there is nothing to extend, the output comes from outside of the data, or the process ends",
         modes=_EXTENDS, expected="error", some={"cropped-away", "empty-axis-padded"}),
    _row("opencv-huge", ("differ", "crash"), "P10", "amounts beyond 32 bits wrap around", expected="error",
         tags={"huge"}),
    _row("opencv-wrong-axes", ("differ", "crash"), "P8",
         "axes that name one axis twice or lie outside of the rank, and amounts of another number, are not refused",
         expected="error", tags={"amounts-wrong"}),
    _without("without-pad-opencv-empty", ("differ", "error"), "P5",
             "an output without elements does not come out, and Concat refuses a part without elements",
             expected="output", some={"empty-data", "empty-output", "negative-output"}),
    _without("without-pad-opencv-no-axes", "error", "P8", "an empty list of axes cannot be reshaped", expected="output",
             tags={"axes-empty"}, says="cannot copy dimension"),
    _without("without-pad-opencv-errors", ("differ", "crash"), "P1",
             "what breaks a rule shows in an index out of bounds or a negative size, which are not refused: the "
             "output holds stray memory, or the process ends", expected="error"),
)  # fmt: skip
