"""The implementations: each function prepares a workload, and returns a call that computes the output, or None.

Implementations that accept memory for the output write into the workload's memory; NumPy and PyTorch allocate their
own, as they do for their users. All sessions of onnxruntime have the same options and the same bound memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from padops.bench.workloads import Memory, Workload
from padops.conformance.model import one_node_model, tensor
from padops.conformance.peers import numpy_pad as numpy_peer
from padops.deferred import import_openvino
from padops.spec.dialects import DOMAIN, VERSION
from padops.spec.dtypes import by_name

Call = Callable[[], Any]


def session(model: bytes | str, threads: int, kind: str) -> Any:
    """A session: ``"built-in"`` without padops, ``"padops"`` with its operators, or a ``padops.InferenceSession``."""
    import onnxruntime

    import padops

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # refusals are exceptions
    if kind == "unmodified":
        return padops.InferenceSession(model, options)
    if kind == "padops":
        padops.register(options)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def in_session(kind: str, workload: Workload, memory: Memory, threads: int) -> Call | None:
    """A Pad in a session of this kind: for ``"padops"``, an operator of padops."""
    from padops.convert.runtimes import KERNELS

    begin, end = np.array(workload.pairs, np.int64).T
    op_type, attributes = "Pad", dict[str, Any](mode=workload.mode)
    constants = {"pads": np.concatenate([begin, end])}
    if workload.interior:
        op_type, constants = "NGraphPad_0", {"fill": np.zeros((), by_name(workload.dtype).numpy)}
        amounts = (begin.tolist(), end.tolist(), workload.interior)
        attributes = dict(zip(("padding_below", "padding_above", "padding_interior"), amounts))
    elif workload.mode == "symmetric":  # which ONNX lacks
        op_type, attributes, constants = "OpenVINOPad_12", {"pad_mode": "symmetric"}, {"begin": begin, "end": end}
    elif kind == "padops":
        op_type = f"Pad_{max(19, by_name(workload.dtype).pad)}"
    if kind != "padops" and op_type != "Pad":
        return None
    if kind == "built-in" and workload.dtype not in ("float16", *KERNELS[""]):  # onnxruntime casts float16
        return None
    return _call(workload, memory, threads, kind, (op_type, attributes, constants))


# A node: its operator, its attributes, and its inputs beside the data.
Node = tuple[str, Mapping[str, Any], Mapping[str, np.ndarray]]


def _call(workload: Workload, memory: Memory, threads: int, kind: str, node: Node) -> Call:
    """Returns a call that runs a node on a workload's data: other inputs are constants, input and output are bound."""
    dtype, (op_type, attributes, constants) = by_name(workload.dtype), node
    opset = max(19, dtype.pad)  # the first with the mode and the element type
    inputs, output = {"x": (dtype.onnx, workload.shape)}, (dtype.onnx, workload.output_shape)
    tensors = [tensor(name, array) for name, array in constants.items()]
    domain, opsets = DOMAIN if kind == "padops" else "", {"": opset, DOMAIN: VERSION}
    names, ir_version = ["x", *constants], 9 if opset < 21 else 11
    model = one_node_model(op_type, names, attributes, inputs, output, opsets, ir_version, tensors, domain)
    made = session(model.SerializeToString(), threads, kind)
    if dtype.name == "string":  # cannot be bound
        data = workload.data()
        return lambda: made.run(None, {"x": data})[0]
    binding = made.io_binding()
    binding.bind_input("x", "cpu", 0, dtype.onnx, workload.shape, memory.source.ctypes.data)
    binding.bind_output("output", "cpu", 0, dtype.onnx, workload.output_shape, memory.target.ctypes.data)

    def call() -> Any:
        made.run_with_iobinding(binding)
        return memory.target

    return call


# The element types that the other libraries also have.
_COMMON = frozenset("float double float16 bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())


def numpy_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """``numpy.pad``; slices if it adds nothing. Strings are NumPy's variable-length strings, which it also copies."""
    bits = by_name(workload.dtype).bits
    if workload.interior or 0 < bits < 8:
        return None
    data = memory.view(workload) if bits else workload.data().astype(np.dtypes.StringDType())
    if min(map(min, workload.pairs)) < 0:
        part = data[tuple(slice(-b, n + e) for n, (b, e) in zip(workload.shape, workload.pairs))]
        return lambda: np.ascontiguousarray(part)
    return numpy_peer.prepare(data, workload.pairs, workload.mode, 0 if bits else "")


def torch_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """``torch.nn.functional.pad``."""
    try:
        import torch

        from padops.conformance.peers import torch_pad as peer
    except ImportError:
        return None
    types = _COMMON - {"uint16", "uint32", "uint64"}
    if workload.interior or workload.dtype not in types or workload.mode not in peer.MODES:
        return None
    data = torch.from_numpy(memory.view(workload))
    torch.set_num_threads(threads)
    pad = peer.prepare(data, workload.pairs, workload.mode)

    def call() -> Any:
        with torch.inference_mode():
            return pad()

    try:
        call()
    except (RuntimeError, NotImplementedError):
        return None
    return call


def openvino_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """OpenVINO's Pad-12 on its CPU device."""
    try:
        from padops.conformance.peers import openvino as peer
    except ImportError:
        return None
    if workload.interior or workload.mode == "wrap" or workload.dtype not in _COMMON:
        return None
    openvino = import_openvino()
    data = memory.view(workload)
    output = memory.target.view(data.dtype).reshape(workload.output_shape)
    shared = openvino.Tensor(data, shared_memory=True), openvino.Tensor(output, shared_memory=True)
    amounts = (openvino.Tensor(np.array(side, np.int64)) for side in zip(*workload.pairs))
    fill = openvino.Tensor(np.zeros((), data.dtype))
    model, _ = peer.pad_model([shared[0], *amounts, fill], workload.mode, 12, constants=(1, 2, 3))
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    request.set_input_tensor(shared[0])
    request.set_output_tensor(shared[1])

    def call(kept: Any = (data, shared)) -> Any:  # shared memory, which must live as long as the call
        request.infer()
        return output

    return call


# Plain copies: the memory speed of this machine, which limits every Pad.
MIN_BYTES = 1 << 16  # below so many bytes, a call costs more than the copy, so the copy is no limit


def copy(by_all: bool, workload: Workload, memory: Memory, threads: int) -> Call | None:
    """libc's copy of as many bytes as the output has, by one thread or all; for strings, the runtime's Identity."""
    target, is_string = memory.target, workload.dtype == "string"
    if by_all and (threads == 1 or is_string):
        return None
    if is_string:
        alike = replace(workload, shape=workload.output_shape, amounts={})
        return _call(alike, memory, threads, "built-in", ("Identity", {}, {}))
    if target.size < MIN_BYTES:
        return None
    parts = threads if by_all else 1
    source = np.ones(target.size, np.uint8)
    bounds = [target.size * i // parts for i in range(parts + 1)]
    first, *others = [(target.ctypes.data + a, source.ctypes.data + a, b - a) for a, b in pairwise(bounds)]
    pool = ThreadPoolExecutor(parts)  # starts a thread only for work; ctypes releases the GIL

    def call(kept: Any = (target, source)) -> None:  # keeps the arrays, and so their addresses, alive
        running = [pool.submit(ctypes.memmove, *part) for part in others]
        ctypes.memmove(*first)
        for part in running:
            part.result()

    return call


def copy_by_padops(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The copy of ``copy`` by an empty Pad of padops: by the runtime's threads, past caches that are too small."""
    target = memory.target
    if target.size < MIN_BYTES or workload.dtype == "string":
        return None
    nothing = Workload("copy", target.shape, {}, dtype="uint8")
    return in_session("padops", nothing, Memory(np.ones(target.size, np.uint8), target), threads)


IMPLEMENTATIONS: dict[str, Callable[[Workload, Memory, int], Call | None]] = {
    **{kind: partial(in_session, kind) for kind in ("padops", "unmodified", "built-in")},
    "copy": partial(copy, False),
    "copy by all": partial(copy, True),
    "copy by padops": copy_by_padops,
    "numpy": numpy_pad,
    "torch": torch_pad,
    "openvino": openvino_pad,
}
