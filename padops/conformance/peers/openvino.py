"""OpenVINO's Pad-1 and Pad-12 on its CPU device, and ONNX's Pad through its frontend."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import openvino
from openvino import opset1, opset12

from padops.conformance.arrays import pack, unpack
from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, Unsupported
from padops.spec.dtypes import by_numpy

PACKAGES = ("openvino",)

_UNSUPPORTED = ("Unsupported padding mode", "Only CONSTANT pad mode is supported for element::string", "Unknown type")

# fmt: off
TYPES = {
    "bool": "boolean", "bfloat16": "bf16", "float16": "f16", "float": "f32", "double": "f64",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float8e4m3fn": "f8e4m3", "float8e5m2": "f8e5m2", "float8e8m0": "f8e8m0", "float4e2m1": "f4e2m1",
    "int4": "i4", "uint4": "u4", "string": "string",
}
# fmt: on


@cache
def _core() -> Any:
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    return core


def run(request: Request) -> np.ndarray:
    """Pad-1 or Pad-12 of OpenVINO's own operators; what a model holds as constants is constant here too."""
    version = int(request.op.split("_")[1])
    _element(request.data)
    shape = list(request.data.shape) if request.static else [-1] * request.data.ndim
    parameters, tensors = [], []

    def source(position: int, shape: list[int]) -> Any:
        array = request.inputs[position]
        if position in request.held:
            return openvino.op.Constant(_tensor(array))
        parameters.append(opset12.parameter(openvino.PartialShape(shape), _element(array)))
        tensors.append(_tensor(array))
        return parameters[-1]

    given = [source(0, shape), *(source(i, list(request.inputs[i].shape)) for i in (1, 2))]
    mode = request.attributes["pad_mode"]
    filled = len(request.inputs) > 3 and request.inputs[3] is not None
    fill = [source(3, list(request.inputs[3].shape))] if filled else []
    try:
        node = (opset1 if version == 1 else opset12).pad(*given, mode, *fill)
    except RuntimeError as error:
        raise _judged(error) from error
    return _infer(openvino.Model([node], parameters, "pad"), tensors, request.data)


def run_onnx(request: Request) -> np.ndarray:
    """The model of ONNX, read by OpenVINO. It declares its shapes: the CPU device takes no unknown ranks."""
    _element(request.data)
    request = replace(request, static=True)
    content = make_model(request, request.inputs, standard=True).SerializeToString()
    try:
        model = _core().read_model(content)
    except RuntimeError as error:
        raise _judged(error) from error
    fed = feeds(request, request.inputs)
    tensors = [_tensor(fed[port.get_any_name()]) for port in model.inputs]
    return _infer(model, tensors, request.data)


def _judged(error: RuntimeError) -> Exception:
    """The error, as Unsupported where it says that there is no such mode or type."""
    return Unsupported(str(error)) if any(text in str(error) for text in _UNSUPPORTED) else error


def _infer(model: Any, tensors: list, data: np.ndarray) -> np.ndarray:
    call = _core().compile_model(model, "CPU").create_infer_request()
    call.infer(tensors)
    tensor = call.get_output_tensor(0)
    name, shape = by_numpy(data.dtype).name, tuple(tensor.shape)
    if name == "string":
        return unpack((name, shape, tensor.str_data.reshape(-1).tolist()))
    if tensor.element_type != _element(data):
        raise TypeError(f"an output of {tensor.element_type}")
    return unpack((name, shape, tensor.data.tobytes() if tensor.byte_size else b""))


def _element(array: np.ndarray) -> Any:
    name = by_numpy(array.dtype).name
    if name not in TYPES:
        raise Unsupported(f"OpenVINO has no {name}")
    return getattr(openvino.Type, TYPES[name])


def _tensor(array: np.ndarray) -> Any:
    name, shape, content = pack(array)
    if name == "string":
        return openvino.Tensor(np.array(content, np.str_).reshape(shape))
    made = openvino.Tensor(_element(array), openvino.Shape(shape))
    if content:
        made.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(content, np.uint8)
    return made
