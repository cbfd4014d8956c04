"""The implementations: a function each, which prepares a workload and returns a call without arguments for the output.

The function returns None if the implementation cannot do the workload. Implementations that take memory for the output
write into the workload's; NumPy, PyTorch and TensorFlow allocate theirs, as they do for their users.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from padops.bench import sessions
from padops.bench.sessions import Call, identity, padops
from padops.bench.workloads import Memory, Workload
from padops.conformance.peers import numpy_pad as numpy_peer
from padops.deferred import import_openvino
from padops.spec.dtypes import by_name

# The element types that the other libraries have, too.
_COMMON = frozenset("float double float16 bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())


def numpy_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """``numpy.pad``; slices if nothing is added. Strings are NumPy's own of variable length, which it copies, too."""
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


def tensorflow_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """TensorFlow's Pad and MirrorPad, run eagerly. Its number of threads can be set once per process."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow

        from padops.conformance.peers import tensorflow_pad as peer
    except ImportError:
        return None
    if workload.interior or workload.mode not in peer.MODES or workload.dtype not in _COMMON:
        return None
    if min(workload.begin + workload.end) < 0 or not any(workload.begin + workload.end):
        return None  # TensorFlow does not crop, and returns its input if nothing is added
    tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    pads = tensorflow.constant(workload.pairs)
    return peer.prepare(memory.view(workload), pads, workload.mode)


# Plain copies: the memory speed of this machine, which limits every Pad.
MIN_BYTES = 1 << 16  # bytes below which a call costs more than the copy


class _Team:
    """Threads that copy parts at a signal, and end with the process. ctypes releases the GIL meanwhile."""

    def __init__(self, parts: list[tuple[int, int, int]]) -> None:
        self._start = [threading.Semaphore(0) for _ in parts]
        self._done = threading.Semaphore(0)
        for part, start in zip(parts, self._start):
            threading.Thread(target=self._work, args=(part, start), daemon=True).start()

    def _work(self, part: tuple[int, int, int], start: threading.Semaphore) -> None:
        while True:
            start.acquire()
            ctypes.memmove(*part)
            self._done.release()

    def begin(self) -> None:
        for start in self._start:
            start.release()

    def wait(self) -> None:
        for _ in self._start:
            self._done.acquire()


def copy(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """libc's copy of as many bytes as the output has; for strings, the runtime's Identity."""
    if workload.dtype == "string":
        return identity(workload, memory, threads)
    # For fewer bytes, a session's call takes longer than the copy, so the copy would be no limit.
    return _by_one(memory.target) if memory.target.size >= MIN_BYTES else None


def _by_one(target: np.ndarray) -> Call:
    source = np.ones(target.size, np.uint8)
    part = target.ctypes.data, source.ctypes.data, target.size

    def call(kept: Any = (target, source)) -> None:  # keeps the arrays, and so their addresses, alive
        ctypes.memmove(*part)

    return call


def copy_by_all(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The same copy by all threads, each on a part."""
    target = memory.target
    if threads == 1 or target.size < MIN_BYTES or workload.dtype == "string":
        return None
    source = np.ones(target.size, np.uint8)
    bounds = [target.size * i // threads for i in range(threads + 1)]
    parts = [(target.ctypes.data + a, source.ctypes.data + a, b - a) for a, b in pairwise(bounds)]
    team = _Team(parts[1:])

    def call(kept: Any = (target, source)) -> None:
        team.begin()
        ctypes.memmove(*parts[0])
        team.wait()

    return call


def copy_by_padops(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The same copy by a Pad of padops that adds nothing: by the runtime's threads, past the caches if too small."""
    target = memory.target
    if target.size < MIN_BYTES or workload.dtype == "string":
        return None
    nothing = Workload("copy", target.shape, (0,), (0,), dtype="uint8")
    return padops(nothing, Memory(np.ones(target.size, np.uint8), target), threads)


IMPLEMENTATIONS: dict[str, Callable[[Workload, Memory, int], Call | None]] = {
    "padops": padops,
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
