"""The implementations: each function prepares a workload and returns a call that computes the output.

A function returns None if the implementation cannot run the workload. Implementations that accept memory for the output
write into the workload's memory; NumPy and PyTorch allocate their own, as they do for their users. All sessions of
onnxruntime have the same options and the same bound memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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


def converted(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """An operator of padops."""
    begin, end = (np.array(side, np.int64) for side in (workload.begin, workload.end))
    attributes: dict[str, Any] = {"mode": workload.mode}
    constants, op_type = {"pads": np.concatenate([begin, end])}, f"Pad_{_opset(workload)}"
    if workload.interior:
        attributes = {"padding_below": workload.begin, "padding_above": workload.end}
        attributes["padding_interior"] = workload.interior
        constants, op_type = {"fill": np.zeros((), by_name(workload.dtype).numpy)}, "NGraphPad_0"
    elif workload.mode == "symmetric":  # which ONNX lacks
        attributes = {"pad_mode": "symmetric"}
        constants, op_type = {"begin": begin, "end": end}, "OpenVINOPad_12"
    return _call(workload, memory, threads, "padops", op_type, attributes, constants)


def unmodified(workload: Workload, memory: Memory, threads: int, kind: str = "unmodified") -> Call | None:
    """A standard Pad in a ``padops.InferenceSession``."""
    if workload.interior or workload.mode == "symmetric":
        return None
    pads = {"pads": np.array(workload.begin + workload.end, np.int64)}
    return _call(workload, memory, threads, kind, "Pad", {"mode": workload.mode}, pads)


def built_in(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """ONNX Runtime's own Pad."""
    from padops.convert.runtimes import KERNELS

    has_type = workload.dtype == "float16" or workload.dtype in KERNELS[""]  # onnxruntime casts float16
    return unmodified(workload, memory, threads, "built-in") if has_type else None


def _opset(workload: Workload) -> int:
    """Returns the version of Pad that has the mode and the element type."""
    return max(19, by_name(workload.dtype).pad)


def _call(
    workload: Workload,
    memory: Memory,
    threads: int,
    kind: str,
    op_type: str,
    attributes: Mapping[str, Any],
    constants: Mapping[str, np.ndarray],
) -> Call:
    """Returns a call that runs a node on a workload's data: other inputs are constants, input and output are bound.

    Strings, which cannot be bound, come from Python and go back to it.
    """
    dtype, opset = by_name(workload.dtype), _opset(workload)
    inputs, output = {"x": (dtype.onnx, workload.shape)}, (dtype.onnx, workload.output_shape)
    tensors = [tensor(name, array) for name, array in constants.items()]
    domain, opsets = DOMAIN if kind == "padops" else "", {"": opset, DOMAIN: VERSION}
    names, ir_version = ["x", *constants], 9 if opset < 21 else 11
    model = one_node_model(op_type, names, attributes, inputs, output, opsets, ir_version, tensors, domain)
    made = session(model.SerializeToString(), threads, kind)
    if dtype.name == "string":
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
    if min(workload.begin + workload.end) < 0:
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
    data, output = memory.view(workload), memory.output(workload)
    shared = openvino.Tensor(data, shared_memory=True), openvino.Tensor(output, shared_memory=True)
    amounts = (openvino.Tensor(np.array(side, np.int64)) for side in (workload.begin, workload.end))
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


def copy(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """libc's copy of as many bytes as the output has; for strings, the runtime's Identity."""
    if workload.dtype == "string":
        nothing = (0,) * len(workload.shape)
        alike = replace(workload, shape=workload.output_shape, begin=nothing, end=nothing)
        return _call(alike, memory, threads, "built-in", "Identity", {}, {})
    return _copy(memory.target, 1)


def copy_by_all(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The copy of ``copy`` by all threads, each on a part."""
    return None if threads == 1 or workload.dtype == "string" else _copy(memory.target, threads)


def _copy(target: np.ndarray, threads: int) -> Call | None:
    if target.size < MIN_BYTES:
        return None
    source = np.ones(target.size, np.uint8)
    bounds = [target.size * i // threads for i in range(threads + 1)]
    first, *others = [(target.ctypes.data + a, source.ctypes.data + a, b - a) for a, b in pairwise(bounds)]
    pool = ThreadPoolExecutor(threads)  # starts a thread only for work; ctypes releases the GIL

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
    nothing = Workload("copy", target.shape, (0,), (0,), dtype="uint8")
    return converted(nothing, Memory(np.ones(target.size, np.uint8), target), threads)


IMPLEMENTATIONS: dict[str, Callable[[Workload, Memory, int], Call | None]] = {
    "padops": converted,
    "unmodified": unmodified,
    "built-in": built_in,
    "copy": copy,
    "copy by all": copy_by_all,
    "copy by padops": copy_by_padops,
    "numpy": numpy_pad,
    "torch": torch_pad,
    "openvino": openvino_pad,
}
