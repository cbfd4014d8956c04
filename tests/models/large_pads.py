"""Pads of 64 to 256 MB: one for each mode, width and shape of rows, in memory whose surroundings are watched.

They are tests and no cases of the conformance suite: its reference maps position by position in Python, and its peers
get every case through a pipe. Data come from a seed, and outputs are compared where they lie.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import native
import numpy as np

from padops.spec import reference
from padops.spec.dtypes import by_name

MODES = ("constant", "reflect", "edge", "symmetric", "wrap")
TYPES = ("uint8", "float16", "float", "double", "bfloat16", "int4", "uint2")
# Shapes with -1 for what fills them up, and amounts: begins, then ends.
LAYOUTS = {
    "rows": ([3, -1, 1021], [1, 2, 3, 0, 1, 2]),
    "parts": ([2, 2, -1], [1, 0, 1, 1, 1, 1]),  # few and long rows, and two axes before them that grow
    "one row": ([-1], [5, 7]),
    "crops": ([4, -1, 515], [-1, 3, -2, 2, -1, 1]),
    "16 bytes": ([-1, 129, 4], [1, 2, 0, 0, 1, 0]),  # of float: untouched axes that make an element of 16 bytes
    "3 elements": ([-1, 257, 3], [1, 2, 0, 2, 1, 0]),
}


def run(mode: str, type_name: str, layout: str, megabytes: int = 64) -> None:
    """Runs it twice and compares; AssertionError where a bit differs, or a byte outside the output has been written."""
    dtype, (shape, pads) = by_name(type_name), LAYOUTS[layout]
    known = int(np.prod([n for n in shape if n > 0]))
    shape = [n if n > 0 else (megabytes << 23) // dtype.bits // known for n in shape]
    data = native.random_array(np.random.default_rng(megabytes), dtype, shape)
    fill = native.random_array(np.random.default_rng(1), dtype, ())
    if mode == "symmetric":
        halves = np.array(pads[: len(shape)]), np.array(pads[len(shape) :])
        op, attributes, inputs = "OpenVINOPad_12", {"pad_mode": mode}, [*halves, fill]
    else:
        op, attributes, inputs = "Pad_25", {"mode": mode}, [np.array(pads), fill]
    wanted = reference.run(op, attributes, [data, *inputs])
    held = {f"i{i}": array for i, array in enumerate(inputs)}
    built = native.of_x([native.node(op, ["x", *held], "y", attributes)], dtype.onnx, held)
    for _ in range(2):
        if dtype.name in native.BINDABLE:
            native.check_bound(built, data, wanted)
        else:
            assert native.bits(native.run_session(built, {"x": data})) == native.bits(wanted)


def harm(mode: str, type_name: str, layout: str, megabytes: int) -> str:
    """What :func:`run` says in a process of its own, which may die of it; nothing where all is well."""
    command = [sys.executable, str(Path(__file__)), mode, type_name, layout, str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return f"{command[2:]}: exit code {done.returncode}: {done.stderr[-3000:]}" if done.returncode else ""


if __name__ == "__main__":
    run(*sys.argv[1:4], int(sys.argv[4]))
