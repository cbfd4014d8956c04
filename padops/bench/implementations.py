"""Who pads: one function each, which prepares a workload and returns a call without arguments that gives the output.

An implementation that cannot do a workload returns None. Those whose interface takes memory for the output write into
the one of the workload; NumPy, PyTorch and TensorFlow allocate theirs, as whoever uses them has it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from padops.bench import copies, sessions
from padops.bench.sessions import Call
from padops.bench.workloads import Memory, Workload
from padops.conformance.peers import numpy_pad as numpy_peer
from padops.deferred import import_openvino
from padops.spec.dtypes import by_name

# What the other libraries can hold as well.
_COMMON = frozenset("float double float16 bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())


def copy(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """libc's copy of as many bytes as the output has; of strings, the runtime's Identity.

    Args:
        workload: Whose output's bytes count.
        memory: Room for the output, which is written to.
        threads: Of the session that copies strings; libc works with one.
    """
    if workload.dtype == "string":
        return sessions.identity(workload, memory, threads)
    # Below, a call in a session costs more than the copy, which is none.
    return copies.copy_by_one(memory.target) if memory.target.size >= copies.MIN_BYTES else None


def copy_by_all(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The same by all threads.

    Args:
        workload: Whose output's bytes count.
        memory: Room for the output, which is written to.
        threads: How many copy.
    """
    return None if workload.dtype == "string" else copies.copy_by_all(memory.target, threads)


def copy_by_padops(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The same by padops, where it has nothing to add.

    Args:
        workload: Whose output's bytes count.
        memory: Room for the output, which is written to.
        threads: How many copy.
    """
    return None if workload.dtype == "string" else copies.copy_by_padops(memory.target, threads)


def numpy_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """``numpy.pad``; slices where nothing is added. Strings are NumPy's own of variable length, which it copies too.

    Args:
        workload: What to pad.
        memory: Its data; the library allocates the output.
        threads: Unused: it works with one.
    """
    bits = by_name(workload.dtype).bits
    if workload.interior or 0 < bits < 8:
        return None
    data = memory.view(workload) if bits else workload.data().astype(np.dtypes.StringDType())
    if min(workload.begin + workload.end) < 0:
        part = data[tuple(slice(-b, n + e) for n, (b, e) in zip(workload.shape, workload.pairs))]
        return lambda: np.ascontiguousarray(part)
    return numpy_peer.prepare(data, workload.pairs, workload.mode, 0 if bits else "")


def torch_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """``torch.nn.functional.pad``.

    Args:
        workload: What to pad.
        memory: Its data; the library allocates the output.
        threads: How many may work.
    """
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
    """OpenVINO's Pad-12 on its CPU device.

    Args:
        workload: What to pad.
        memory: Its data, and room for the output.
        threads: How many may work.
    """
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

    def call(kept: Any = (data, shared)) -> Any:  # shared: they must live as long as the call
        request.infer()
        return output

    return call


def tensorflow_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """TensorFlow's Pad and MirrorPad, run eagerly. It takes a number of threads once in a process.

    Args:
        workload: What to pad.
        memory: Its data; the library allocates the output.
        threads: How many may work.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow

        from padops.conformance.peers import tensorflow_pad as peer
    except ImportError:
        return None
    if workload.interior or workload.mode not in peer.MODES or workload.dtype not in _COMMON:
        return None
    if min(workload.begin + workload.end) < 0 or not any(workload.begin + workload.end):
        return None  # no crops; and where nothing is added it hands its input back
    tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    pads = tensorflow.constant(workload.pairs)
    return peer.prepare(memory.view(workload), pads, workload.mode)


IMPLEMENTATIONS: dict[str, Callable[[Workload, Memory, int], Call | None]] = {
    "padops": sessions.padops,
    "built-in": sessions.built_in,
    "copy": copy,
    "copy by all": copy_by_all,
    "copy by padops": copy_by_padops,
    "numpy": numpy_pad,
    "torch": torch_pad,
    "openvino": openvino_pad,
    "tensorflow": tensorflow_pad,
    "as float": sessions.as_float,
}
