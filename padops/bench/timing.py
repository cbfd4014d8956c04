"""Times the implementations of a workload in turns, many times, and reports the medians.

A separate process measures, and returns results after each workload: an interrupt loses no finished measurement.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from timeit import timeit
from typing import Any

import numpy as np

from padops.bench.table import Measurement
from padops.bench.workloads import Memory, Workload
from padops.conformance.model import one_node_model, tensor
from padops.conformance.peers import numpy_pad as numpy_peer
from padops.deferred import import_openvino
from padops.extras import needing
from padops.processes import Pickled, serve
from padops.spec.dialects import DOMAIN, VERSION
from padops.spec.dtypes import by_name
from padops.terminal import Progress

# ---- The implementations: each function prepares a workload, and returns a call that computes the output, or None.
# Implementations that accept memory for the output write into the workload's memory; NumPy and PyTorch allocate their
# own, as they do for their users. All sessions of onnxruntime have the same options and the same bound memory.

Call = Callable[[], Any]


def session(model: bytes | str, threads: int, kind: str) -> Any:
    """Returns a session; kind ``"padops"`` registers the operators, ``"unmodified"`` is ``padops.InferenceSession``."""
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
    """Prepares the Pad in a session of this kind; the kind ``"padops"`` runs an operator of padops."""
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


# A node: its operator, its attributes, and its inputs except the data.
Node = tuple[str, Mapping[str, Any], Mapping[str, np.ndarray]]


def _call(workload: Workload, memory: Memory, threads: int, kind: str, node: Node) -> Call:
    """Returns a call that runs a node on a workload; data and output are bound, and the other inputs are constants."""
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
    """Prepares ``numpy.pad``, or a slice for a crop. Strings have ``StringDType``, so that NumPy copies the text."""
    bits = by_name(workload.dtype).bits
    if workload.interior or 0 < bits < 8:
        return None
    data = memory.view(workload) if bits else workload.data().astype(np.dtypes.StringDType())
    if min(map(min, workload.pairs)) < 0:
        part = data[tuple(slice(-b, n + e) for n, (b, e) in zip(workload.shape, workload.pairs))]
        return lambda: np.ascontiguousarray(part)
    return numpy_peer.prepare(data, workload.pairs, workload.mode, 0 if bits else "")


def torch_pad(workload: Workload, memory: Memory, threads: int) -> Call | None:
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
    """Prepares a plain copy of as many bytes as the output has, by ``memmove`` in one or all threads."""
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
    """Prepares a copy by padops' Pad (amounts 0, ONNX Runtime's threads); a large copy bypasses the caches."""
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

# ---- The times.

MIN_ROUNDS = 5
_WARM, _TIMED, _SAMPLE = 2e-3, 10e-3, 200e-6  # seconds of a block, untimed and timed, and of one sample
_WATCHED = 12e-3  # seconds: three ticks of a kernel that counts the CPU time of threads at 250 Hz
_LIMIT = 3600  # seconds that one workload may take
_SIZE = 16000  # the size to try first for open dims of a model: a second of speech

Step = Callable[[int, float], Sequence[Measurement]]  # measures with a number of threads, for some seconds


def time_workload(workload: Workload, names: Sequence[str], threads: int, seconds: float) -> list[Measurement]:
    """Times every named implementation that can run the workload, for ``seconds`` in total."""
    memory = Memory.of(workload)
    made = {name: IMPLEMENTATIONS[name](workload, memory, threads) for name in names}
    calls = {name: call for name, call in made.items() if call is not None}
    compare(workload.name, memory.target, calls)
    return time_calls(workload.name, workload.output_bytes, threads, calls, seconds)


def time_model(path: Path, folder: str, threads: int, seconds: float) -> list[Measurement]:
    """Times the converted model, and the unchanged model with padops and without padops.

    The caller deletes ``folder``, which has the converted model: an interrupt kills this process without any cleanup.
    """
    import padops

    files = {"padops": Path(folder, path.name), "unmodified": path, "built-in": path}
    padops.convert(path, files["padops"])
    sessions = {}
    for kind, file in files.items():
        try:
            sessions[kind] = session(str(file), threads, kind)
        except Exception as error:  # onnxruntime's errors have no common base
            by = "stock onnxruntime" if kind == "built-in" else "onnxruntime with padops"
            raise padops.PadopsError(f"{by} does not run {path}: {error}") from error
    feeds = feeds_for(path, sessions["built-in"])
    calls = {kind: partial(made.run, None, feeds) for kind, made in sessions.items()}
    compare(str(path), np.empty(0), calls)
    size = sum(np.asarray(output).nbytes for output in calls["padops"]())
    return time_calls(str(Path(*path.parts[-2:])), size, threads, calls, seconds)


def feeds_for(source: Path, original: Any) -> dict[str, np.ndarray]:
    """Returns random inputs that a session of a model accepts."""
    import onnx

    from padops.convert import PadopsError
    from padops.convert.inputs.given import inputs_of
    from padops.convert.inputs.pads import hints_of
    from padops.convert.inputs.random_inputs import FIRST, random_inputs

    message = onnx.load(source, load_external_data=False)
    refusal: Exception | None = None
    for feeds in random_inputs(inputs_of(message), 0, FIRST.index(_SIZE), hints_of(message)):
        try:
            original.run(None, feeds)
            return feeds
        except Exception as error:  # onnxruntime's errors have no common base
            refusal = error
    raise PadopsError(f"{source} runs on none of the inputs that were tried: {refusal}")


def compare(name: str, target: np.ndarray, calls: Mapping[str, Call]) -> None:
    """Raises RuntimeError if two outputs differ in any bit; skips plain copies. A call may write into ``target``."""
    wanted: Sequence[Any] | None = None
    for by, call in calls.items():
        if by.startswith("copy"):  # its output differs from the workload's
            continue
        target[:] = 0xA5  # instead of the previous output
        given = bits_of(call())
        wanted = given if wanted is None else wanted
        if given != wanted:
            at = next((i for i, pair in enumerate(zip(wanted, given)) if pair[0] != pair[1]), len(wanted))
            raise RuntimeError(f"{name}: {by} differs from padops, first at position {at} of {len(wanted)}")


def bits_of(output: Any) -> bytes | list[Any]:
    """Returns a call's output as bytes; returns strings or several outputs as a list."""
    if isinstance(output, list):
        return [bits_of(one) for one in output]
    array = output if isinstance(output, np.ndarray) else output.numpy()
    return array.tobytes() if array.dtype.kind in "biufV" else array.reshape(-1).tolist()


def time_calls(name: str, size: int, threads: int, calls: Mapping[str, Call], seconds: float) -> list[Measurement]:
    """Times equivalent calls in turns, for ``seconds`` in total; a turn begins when all threads are idle."""
    times: dict[str, list[float]] = {by: [] for by in calls}
    end, rounds = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or rounds < MIN_ROUNDS:
        rounds += 1
        for by, call in calls.items():
            _rest()
            times[by] += _block(call)
    results = []
    for by, taken in times.items():
        low, median, high = statistics.quantiles(taken, n=4)
        results.append(Measurement(name, by, threads, size, median, high - low, len(taken)))
    return results


def _block(call: Call) -> list[float]:
    """Returns the times of single calls, in seconds."""
    begin, warm = time.perf_counter(), 0
    while warm == 0 or time.perf_counter() - begin < _WARM:
        call()
        warm += 1
    # Time several short calls together, so that the clock's own cost does not count.
    repeats = max(1, int(_SAMPLE * warm / (time.perf_counter() - begin)))
    taken: list[float] = []
    while not taken or sum(taken) * repeats < _TIMED:
        taken.append(timeit(call, number=repeats) / repeats)
    return taken


def _rest(limit: float = 10.0) -> None:
    """Waits until no thread of this process is working.

    Thread pools spin after a call (ONNX Runtime's for some 40 ms) on cores that the next implementation needs.
    """
    begin = time.perf_counter()
    while True:
        wall, used = time.perf_counter(), time.process_time()
        time.sleep(_WATCHED)
        if time.process_time() - used < 0.1 * (time.perf_counter() - wall):
            return
        if wall - begin > limit:
            raise TimeoutError(f"the threads of an implementation are still busy after {limit:g} s")


def measure(
    steps: Sequence[tuple[str, Step]],
    threads: int,
    seconds: float,
    keep: Callable[[Sequence[Measurement]], None],
    progress: Progress,
) -> None:
    """Measures all steps in a new process, because a thread pool keeps the size with which it started."""
    with closing(Pickled("the measuring process", _LIMIT, ("-m", "padops.bench.timing"))) as process:
        for done, (name, step) in enumerate(steps):
            progress(name, done, len(steps))
            keep(process.ask((step, threads, seconds)))


if __name__ == "__main__":
    serve(needing("padops bench")(lambda asked: asked[0](*asked[1:])))
