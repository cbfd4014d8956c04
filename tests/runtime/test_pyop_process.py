"""Python kernels where something goes wrong: an exception in one aborts the process, so each runs in one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

HEAD = """
import logging, sys
import numpy as np, onnxruntime
import padops
from padops.runtime import pyop
from padops.spec import pyop_node
from pyop_sessions import session
options = onnxruntime.SessionOptions()
padops.register(options, backend="pyop")
def run(attributes, array, op="Pad_2", node="decoder/pad"):
    fields = pyop_node.encode(op, attributes, [True], node)
    return session(tuple(fields.items()), (1,)).run(None, {"i0": array})[0]
"""


def in_process(code: str, ends: int = 0) -> tuple[list[str], str]:
    """Runs code after HEAD, in a process of its own; the lines that it prints, and its errors."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "models")}
    command = [sys.executable, "-c", HEAD + code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == ends, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_a_failing_pad_does_not_abort_the_process() -> None:
    """It logs, it is remembered, its output is empty, and the session goes on."""
    printed, errors = in_process("""
output = run({"pads": [0, -4], "mode": "edge"}, np.zeros(3, np.float32))
print(output.shape, output.dtype)
print(run({"pads": [1, 1], "mode": "edge"}, np.arange(3, dtype=np.float32)).tolist())
(error,) = padops.pyop_errors()
print(error.op_type, error.node, error.rule, error.message, sep="|")
print(padops.pyop_errors(clear=True) == [error], padops.pyop_errors())
""")
    text = "padops::Pad_2 'decoder/pad': axis 0 would have -1 elements (begin 0, size 3, interior 0, end -4) [P1]"
    assert errors == text + "; the output is an empty tensor\n"
    assert printed == ["(0,) float32", "[0.0, 0.0, 1.0, 2.0, 2.0]", f"Pad_2|decoder/pad|P1|{text}", "True []"]


BROKEN = {  # the body of what pads, and the message of the call
    "raise ZeroDivisionError('by hand')": "ZeroDivisionError: by hand",
    "raise SystemExit(3)": "SystemExit: 3",
    "return 1 // 0": "ZeroDivisionError: integer division or modulo by zero",
    "return np.zeros(3)": "the patched reference returns float64 for data of float32",
    "return broken(*arguments)": "RecursionError: maximum recursion depth exceeded",
}


def test_nothing_that_a_body_raises_gets_out() -> None:
    """The call fails, the session goes on, and the log has the traceback."""
    printed, errors = in_process(f"""
from padops.spec import reference
kept = reference.execute
for body in {list(BROKEN)}:
    exec("def broken(*arguments): " + body)
    reference.execute = broken
    failed = run({{"pads": [1, 1]}}, np.zeros(3, np.float32)).shape
    reference.execute = kept
    print(failed, run({{"pads": [1, 1]}}, np.zeros(3, np.float32)).shape)
    (error,) = padops.pyop_errors(clear=True)
    print(error.message)
""")
    assert printed[::2] == ["(0,) (5,)"] * len(BROKEN)
    for message, said in zip(BROKEN.values(), printed[1::2], strict=True):
        assert said.startswith("padops::Pad_2 'decoder/pad': ") and message in said
    assert errors.count("padops::Pad_2 'decoder/pad': ") == errors.count("Traceback") == len(BROKEN)


def test_a_log_that_raises_does_not_abort_the_process() -> None:
    printed, errors = in_process("""
class Broken(logging.Handler):
    def handle(self, record): raise OSError("the disk is full")
logging.getLogger("padops.pyop").addHandler(Broken())
print(run({"pads": [0, -4]}, np.zeros(3, np.float32)).shape)
print([error.message for error in padops.pyop_errors()][1])
""")
    assert (printed, errors) == (["(0,)", "logging failed: OSError: the disk is full"], "")


def test_an_interrupt_comes_after_the_run() -> None:
    """Ctrl-C in a kernel neither aborts the process nor is lost."""
    printed, errors = in_process("""
import signal, time
from padops.spec import reference
kept = reference.execute
def interrupted(*arguments):
    reference.execute = kept
    signal.raise_signal(signal.SIGINT)
    time.sleep(1)
reference.execute = interrupted
try:
    print(run({"pads": [1, 1]}, np.zeros(3, np.float32)).shape)
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted", padops.pyop_errors()[0].message)
""")
    assert printed == ["(0,)", "interrupted padops::Pad_2 'decoder/pad': KeyboardInterrupt: "]


def test_extensions_that_would_lose_bits() -> None:
    """The first registration sends bits through a session, so that a list in between is found out."""
    printed, errors = in_process("""
pyop._AsItIs.tolist = np.ndarray.tolist
pyop._check.cache_clear()
for _ in range(2):
    try:
        padops.register(onnxruntime.SessionOptions(), backend="pyop")
    except RuntimeError as error:
        print(error)
""")
    assert [" changes the bits of float32 on their way" in line for line in printed] == [True, True]


def test_an_output_of_another_shape_that_the_caller_has_bound() -> None:
    """The one failure that a body cannot keep in: the runtime refuses the shape, and the extensions abort."""
    printed, errors = in_process(
        """
built = session(tuple(pyop_node.encode("Pad_2", {"pads": [-4, 0]}, [True]).items()), (1,))
binding = built.io_binding()
binding.bind_cpu_input("i0", np.zeros(3, np.float32))
binding.bind_ortvalue_output("output", onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(5, np.float32)))
built.run_with_iobinding(binding)
""",
        -signal.SIGABRT,
    )
    assert errors.startswith("padops::Pad_2 '': axis 0 would have -1 elements"), "said before the end"
