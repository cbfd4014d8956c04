"""Pads of 64 to 256 MB: one for each mode, width and shape of rows, in memory whose surroundings are watched.

They are tests and no cases of the conformance suite: its reference maps position by position in Python, and its peers
get every case through a pipe. Data come from a seed, and outputs are compared where they lie.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import native
import numpy as np
from session_models import Drawn, Step, check

from padops.spec.dtypes import by_name

MEGABYTE = 1 << 20
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


def drawn(mode: str, type_name: str, layout: str, megabytes: int) -> Drawn:
    """A session with one Pad of data of so many megabytes."""
    dtype = by_name(type_name)
    shape, pads = LAYOUTS[layout]
    elements = megabytes * MEGABYTE * 8 // dtype.bits
    known = int(np.prod([n for n in shape if n > 0]))
    shape = [n if n > 0 else elements // known for n in shape]
    rank = len(shape)
    fill = native.random_array(np.random.default_rng(1), dtype, ())
    if mode == "symmetric":
        inputs = [np.array(pads[:rank]), np.array(pads[rank:]), fill]
        step = Step("OpenVINOPad_12", {"pad_mode": mode}, [inputs])
    else:
        step = Step("Pad_25", {"mode": mode}, [[np.array(pads), fill, None]])
    return Drawn(dtype, [step], [shape], seed=megabytes, threads=2, arena=False, bound=True)


def run(mode: str, type_name: str, layout: str, megabytes: int = 64) -> None:
    """Runs it twice and compares; AssertionError where a bit differs, or a byte outside the output has been written."""
    made = drawn(mode, type_name, layout, megabytes)
    made.shapes *= 2
    made.steps[0].inputs *= 2
    seen: Counter[str] = Counter()
    check(made, seen)
    assert seen["runs"] == 2, seen


def harm(mode: str, type_name: str, layout: str, megabytes: int) -> str:
    """What :func:`run` says in a process of its own, which may die of it; nothing where all is well."""
    command = [sys.executable, str(Path(__file__)), mode, type_name, layout, str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return f"{command[2:]}: exit code {done.returncode}: {done.stderr[-3000:]}" if done.returncode else ""


if __name__ == "__main__":
    run(*sys.argv[1:4], int(sys.argv[4]))
