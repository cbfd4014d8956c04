"""OpenVINO in a process of its own, because it can crash: Pad requests in, bits or an error out.

Tensors travel as ``(element type, shape, bytes)``, 4-bit elements packed, and strings as lists.
"""

from __future__ import annotations

import multiprocessing
import os
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
        self.crashes: list[list[Request]] = []
        self._process = None

    def ask(self, requests: list[Request]) -> list[Tensor] | str:
        """The outputs, or the text of an error.

        Requests to the CPU device become one model, because compiling is what takes the time: an error in one of them
        is an error of all. ``"crash"`` where the process died, or answered nothing for two minutes.
        """
        if self._process is None:
            self._start()
        try:
            self._connection.send(requests)
            if self._connection.poll(120):
                return self._connection.recv()
        except (EOFError, ConnectionError):
            pass
        self.crashes.append(requests)
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
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1})
    while True:
        try:
            requests = connection.recv()
        except EOFError:
            return
        try:
            evaluated = [_evaluate(request) for request in requests if request.where == "evaluate"]
            answer = evaluated or _infer(core, requests)
        except RuntimeError as error:  # what OpenVINO raises; anything else is a mistake here, and ends the process
            answer = str(error)
        connection.send(answer)


def _infer(core: openvino.Core, requests: list[Request]) -> list[Tensor]:
    nodes, inputs = [], []
    for request in requests:
        node, its = _pad(request)
        nodes.append(node)
        inputs += its
    model = openvino.Model(nodes, [parameter for parameter, _ in inputs], "pads")
    run = core.compile_model(model, "CPU").create_infer_request()
    run.infer([tensor for _, tensor in inputs])
    return [_read(request.data.type, run.get_output_tensor(i)) for i, request in enumerate(requests)]


def _evaluate(request: Request) -> Tensor:
    node, inputs = _pad(request)
    # It wants a tensor that is as large as the output already.
    rows = zip(request.begins.tolist(), request.data.shape, request.ends.tolist())
    outputs = [openvino.Tensor(_element(request.data.type), openvino.Shape([max(b + n + e, 0) for b, n, e in rows]))]
    if not node.evaluate(outputs, [tensor for _, tensor in inputs]):
        raise RuntimeError("evaluate() returned false")
    return _read(request.data.type, outputs[0])


def _pad(request: Request) -> tuple[openvino.Node, list]:
    """The operator, and its parameters with their tensors."""
    element, rank = _element(request.data.type), len(request.data.shape)
    static = request.where in ("constant", "fill input")
    shape = list(request.data.shape) if static else [-1] * rank
    inputs = [(opset12.parameter(openvino.PartialShape(shape), element), _tensor(request.data))]
    arguments = []
    for array in (request.begins, request.ends):
        if static:
            arguments.append(openvino.op.Constant(openvino.Tensor(array)))
        else:
            arguments.append(opset12.parameter([rank], array.dtype))
            inputs.append((arguments[-1], openvino.Tensor(array)))
    arguments.append(request.mode)
    if request.fill is not None and request.where == "constant":
        arguments.append(openvino.op.Constant(_tensor(request.fill)))
    elif request.fill is not None:
        arguments.append(opset12.parameter([], element))
        inputs.append((arguments[-1], _tensor(request.fill)))
    make = opset1.pad if request.op == "OpenVINOPad_1" else opset12.pad
    return make(inputs[0][0], *arguments), inputs


def _element(name: str) -> openvino.Type:
    return getattr(openvino.Type, ELEMENT_TYPES[name])


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
