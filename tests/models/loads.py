"""Load on sessions with padops: many threads, many calls, many sessions, forked processes, bound memory.

``python tests/models/loads.py NAME COUNT`` puts one of them into a process of its own, where nothing else takes memory,
and prints as JSON what was done, how much of it was wrong, and by how much the process grew after a tenth of it.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import small_models
from onnx import helper
from parsed_models import quiet

import padops
from padops.spec import reference

PADS = [1, 2, 0, 3]
MODES = ("constant", "reflect", "edge")
THREADS = 32


@dataclass
class Load:
    """What became of a load."""

    count: int  # what was done, in its own unit
    wrong: int  # how much of it gave other bits than the reference, or failed
    grown: int = 0  # kilobytes by which the process grew from a tenth of the way to the end


def in_process(name: str, count: int) -> Load:
    """One load in a process of its own; a process that dies or hangs is an error."""
    command = [sys.executable, str(Path(__file__)), name, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    return Load(**json.loads(done.stdout))


def model(modes: Sequence[str] = MODES, op: str = "Pad_2", domain: str = "padops") -> bytes:
    """Pads one after the other, of a matrix of any shape."""
    names = [f"t{i}" for i in range(len(modes))] + ["y"]
    nodes = [helper.make_node(op, [names[i]], [names[i + 1]], f"n{i}", domain=domain, mode=mode, pads=PADS)
             for i, mode in enumerate(modes)]  # fmt: skip
    inputs, opset = [(names[0], small_models.FLOAT, ["rows", "columns"])], 18 if domain else 10
    made = small_models.model(nodes, opset, imports=[("padops", 1)], ir_version=9, inputs=inputs)
    return made.SerializeToString()


def options(threads: int = 1, arena: bool = True) -> onnxruntime.SessionOptions:
    made = quiet(threads)
    made.inter_op_num_threads = 1
    made.enable_cpu_mem_arena = arena
    made.add_session_config_entry("session.intra_op.allow_spinning", "0")
    padops.register(made)
    return made


def session(threads: int = 1, arena: bool = True, modes: Sequence[str] = MODES) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model(modes), options(threads, arena), providers=["CPUExecutionProvider"])


def cases(count: int, most: int = 90, modes: Sequence[str] = MODES) -> list[tuple[np.ndarray, bytes]]:
    """Inputs of as many shapes, and the bits of what they must become."""
    rng = np.random.default_rng(count)
    made = []
    for _ in range(count):
        data = rng.standard_normal(rng.integers(4, most, 2), np.float32)
        output = data
        for mode in modes:
            output = reference.run("Pad_2", {"mode": mode, "pads": PADS}, [output])
        made.append((data, output.tobytes()))
    return made


def is_wrong(built: onnxruntime.InferenceSession, case: tuple[np.ndarray, bytes]) -> bool:
    return built.run(None, {"t0": case[0]})[0].tobytes() != case[1]


def in_threads(count: int, work: Callable[[int, int], bool]) -> Load:
    """So many calls of ``work``, given the numbers of the thread and of its call, in threads that start together."""
    barrier, each = threading.Barrier(THREADS), count // THREADS

    def started(i: int) -> int:
        barrier.wait()
        return sum(work(i, k) for k in range(each))

    with ThreadPoolExecutor(THREADS) as pool:
        return Load(each * THREADS, sum(pool.map(started, range(THREADS))))


def one_session(count: int, built: onnxruntime.InferenceSession | None = None) -> Load:
    """Threads that run one session with shapes that change from call to call, some large enough to be shared out."""
    drawn, built = [*cases(THREADS), *cases(4, 700)], built or session(threads=2)
    return in_threads(count, lambda i, k: is_wrong(built, drawn[(i + k * 7) % len(drawn)]))


def provider_threads(count: int) -> Load:
    """The same on a session whose Pads, of standard ONNX, the execution provider runs."""
    return one_session(count, provider_session())


def many_sessions(count: int) -> Load:
    """Threads that each make a session, run it, and make another one."""
    drawn = cases(THREADS)
    return in_threads(count, lambda i, k: is_wrong(session(arena=bool(k % 2)), drawn[(i + k) % len(drawn)]))


def tiny_calls(count: int) -> Load:
    """Calls of one Pad of a few elements, with shapes that change."""
    modes = MODES[:1]
    drawn, built = cases(8, 8, modes), session(modes=modes)
    return repeated(count, lambda i: is_wrong(built, drawn[i % len(drawn)]))


def fresh_options(count: int, made: Callable[[], onnxruntime.InferenceSession] = session) -> Load:
    """Sessions with options of their own, which are destroyed with them: no options are left in between."""
    (case,) = cases(1)
    return repeated(count, lambda _: is_wrong(made(), case))


def provider_sessions(count: int) -> Load:
    """Sessions with the execution provider, each with options of its own, created, run and destroyed."""
    return fresh_options(count, provider_session)


def provider_session() -> onnxruntime.InferenceSession:
    made = options(threads=2)
    padops.register(made, provider=True)
    return onnxruntime.InferenceSession(model(op="Pad", domain=""), made, enable_fallback=0)


def repeated(count: int, work: Callable[[int], bool]) -> Load:
    """So many turns of ``work``, which says whether it went wrong; memory is measured after a tenth of them."""
    tenth = count // 10
    wrong = sum(work(i) for i in range(tenth))
    before = resident()
    wrong += sum(work(i) for i in range(tenth, count))
    return Load(count, wrong, resident() - before)


def resident() -> int:
    """Kilobytes of the process in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def forks(count: int) -> Load:
    """Children of a process that has used padops: each runs its parent's session, and one of its own with two threads.

    The parent's session has one thread: a pool of threads does not survive a fork, in ONNX Runtime as elsewhere.
    """
    drawn, built = cases(4), session()
    wrong = sum(is_wrong(built, case) for case in drawn)
    for i in range(count):
        child = os.fork()
        if child == 0:
            bad = is_wrong(built, drawn[i % 4]) or is_wrong(session(threads=2), drawn[(i + 1) % 4])
            os._exit(1 if bad else 0)
        wrong += os.waitpid(child, 0)[1] != 0
        wrong += is_wrong(built, drawn[(i + 2) % 4])
    return Load(count, wrong)


def bindings(count: int) -> Load:
    """Inputs and outputs that the caller or the runtime holds, arena on and off, in turn."""
    drawn, wrong = cases(8), 0
    for arena in (True, False):
        built = session(threads=2, arena=arena)
        for i in range(count // 2):
            data, expected = drawn[i % len(drawn)]
            binding = built.io_binding()
            binding.bind_ortvalue_input("t0", onnxruntime.OrtValue.ortvalue_from_numpy(data))
            shape = [n + len(MODES) * (PADS[k] + PADS[k + 2]) for k, n in enumerate(data.shape)]
            # One element more than the output has, which must stay as it is.
            held = np.full(int(np.prod(shape)) + 1, np.nan, np.float32)
            if i % 2:
                binding.bind_output("y", "cpu", 0, np.float32, shape, held.ctypes.data)
            else:
                binding.bind_output("y", "cpu")
            built.run_with_iobinding(binding)
            wrong += binding.copy_outputs_to_cpu()[0].tobytes() != expected
            wrong += bool(i % 2) and (held[:-1].tobytes() != expected or not np.isnan(held[-1]))
    return Load(count // 2 * 2, wrong)


if __name__ == "__main__":
    print(json.dumps(asdict(globals()[sys.argv[1]](int(sys.argv[2])))))
