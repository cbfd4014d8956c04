"""OpenVINO in a process of its own, because it can crash: Pad requests in, bits or an error out.

Tensors travel as ``(element type, shape, bytes)``, 4-bit elements packed, and strings as lists.
"""

from __future__ import annotations

import multiprocessing
import os
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np
import openvino
from openvino import opset1, opset12

# padops' element types by OpenVINO's names. It has u2 too, but returns zeros for it, and no float8 of the fnuz kinds.
ELEMENT_TYPES = {
    "bool": "boolean",
    "bfloat16": "bf16",
    "float16": "f16",
    "float": "f32",
    "double": "f64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float8e4m3fn": "f8e4m3",
    "float8e5m2": "f8e5m2",
    "float8e8m0": "f8e8m0",
    "int4": "i4",
    "uint4": "u4",
    "float4e2m1": "f4e2m1",
    "string": "string",
}


class Tensor(NamedTuple):
    type: str
    shape: tuple[int, ...]
    content: bytes | list[str]


class Request(NamedTuple):
    """One Pad.

    Attributes:
        op: ``"OpenVINOPad_1"`` or ``"OpenVINOPad_12"``.
        where: ``"evaluate"``, the operator's own reference code, or the CPU device: ``"constant"`` compiles a model of
            static shape with amounts and fill inside, ``"fill input"`` the same with the fill as an input,
            ``"dynamic"`` one of unknown shape with all of them as inputs.
    """

    op: str
    mode: str
    where: str
    data: Tensor
    begins: np.ndarray
    ends: np.ndarray
    fill: Tensor | None


class OpenVINO:
    """The process. ``crashes`` holds the requests that it did not survive."""

    def __init__(self) -> None:
        self.crashes: list[Request] = []
        self._process = None

    def ask(self, request: Request) -> Tensor | str:
        """The output, or the text of an error; ``"crash"`` where the process died, or answered nothing for 60 s."""
        if self._process is None:
            self._start()
        try:
            self._connection.send(request)
            if self._connection.poll(60):
                return self._connection.recv()
        except (EOFError, ConnectionError):
            pass
        self.crashes.append(request)
        self.close()
        return "crash"

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()


def _serve(connection: Connection) -> None:
    # What a dying process prints (glibc's heap checks) would stand in the middle of the test's own output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            answer = _evaluate(request) if request.where == "evaluate" else _infer(request)
        except RuntimeError as error:  # what OpenVINO raises; anything else is a mistake here, and ends the process
            answer = str(error)
        connection.send(answer)


@lru_cache(maxsize=1)
def _core() -> openvino.Core:
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1})
    return core


def _element(name: str) -> openvino.Type:
    return getattr(openvino.Type, ELEMENT_TYPES[name])


def _pad(request: Request, shape: list[int], amounts: list) -> tuple[openvino.Node, list]:
    """The operator with its parameters; ``shape`` is the data's, -1 for what is unknown, ``amounts`` are two nodes."""
    element = _element(request.data.type)
    parameters = [opset12.parameter(openvino.PartialShape(shape), element)]
    parameters += [node for node in amounts if node.get_type_name() == "Parameter"]
    values = []
    if request.fill is not None:
        if request.where == "constant":
            values = [openvino.op.Constant(_tensor(request.fill))]
        else:
            values = [opset12.parameter([], element)]
            parameters += values
    make = opset1.pad if request.op == "OpenVINOPad_1" else opset12.pad
    return make(parameters[0], *amounts, request.mode, *values), parameters


@lru_cache(maxsize=2000)
def _dynamic_model(op: str, mode: str, element: str, rank: int, begin: str, end: str, filled: bool):
    """A compiled model with everything as an input: one for many shapes and amounts."""
    amounts = [opset12.parameter([rank], np.dtype(name)) for name in (begin, end)]
    stand_in = Tensor(element, (), b"")
    request = Request(op, mode, "dynamic", stand_in, None, None, stand_in if filled else None)
    node, parameters = _pad(request, [-1] * rank, amounts)
    return _core().compile_model(openvino.Model([node], parameters, "pad"), "CPU").create_infer_request()


def _infer(request: Request) -> Tensor:
    rank = len(request.data.shape)
    tensors = [_tensor(request.data)]
    if request.where != "dynamic":
        amounts = [openvino.op.Constant(openvino.Tensor(array)) for array in (request.begins, request.ends)]
        node, parameters = _pad(request, list(request.data.shape), amounts)
        run = _core().compile_model(openvino.Model([node], parameters, "pad"), "CPU").create_infer_request()
    else:
        kinds = (request.begins.dtype.name, request.ends.dtype.name)
        run = _dynamic_model(request.op, request.mode, request.data.type, rank, *kinds, request.fill is not None)
        tensors += [openvino.Tensor(request.begins), openvino.Tensor(request.ends)]
    if request.fill is not None and request.where != "constant":
        tensors.append(_tensor(request.fill))
    run.infer(tensors)
    return _read(request.data.type, run.get_output_tensor(0))


def _evaluate(request: Request) -> Tensor:
    rank = len(request.data.shape)
    kinds = [np.dtype(array.dtype) for array in (request.begins, request.ends)]
    node, _ = _pad(request, [-1] * rank, [opset12.parameter([rank], kind) for kind in kinds])
    tensors = [_tensor(request.data), openvino.Tensor(request.begins), openvino.Tensor(request.ends)]
    if request.fill is not None:
        tensors.append(_tensor(request.fill))
    # evaluate() wants a tensor that is as large as the output already.
    shape = [max(b + n + e, 0) for b, n, e in zip(request.begins.tolist(), request.data.shape, request.ends.tolist())]
    output = openvino.Tensor(_element(request.data.type), openvino.Shape(shape))
    outputs = [output]
    if not node.evaluate(outputs, tensors):
        raise RuntimeError("evaluate() returned false")
    return _read(request.data.type, outputs[0])


def _tensor(given: Tensor) -> openvino.Tensor:
    if given.type == "string":
        return openvino.Tensor(np.array(given.content, np.str_).reshape(given.shape))
    made = openvino.Tensor(_element(given.type), openvino.Shape(given.shape))
    if given.content:
        made.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(given.content, np.uint8)
    return made


def _read(name: str, tensor: openvino.Tensor) -> Tensor:
    shape = tuple(tensor.shape)
    if name == "string":
        return Tensor(name, shape, tensor.str_data.reshape(-1).tolist())
    return Tensor(name, shape, tensor.data.tobytes() if tensor.byte_size else b"")
