"""Pads of one axis on the onnxruntime of this interpreter, which need not have padops.

Reads a list of ``[mode, size, begin, end]`` a line, and answers each list with a line: for each Pad ``["out",
elements]`` or ``["refused", text]``; ``["dead", ""]`` from the one on that ended the process.
"""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import onnxruntime
from onnx import parser

OPTIONS = onnxruntime.SessionOptions()
OPTIONS.log_severity_level, OPTIONS.intra_op_num_threads = 4, 1


def model(mode: str, size: int, begin: int, end: int) -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {19 if mode == "wrap" else 18}]> g (float[{size}] x) => (float[m] y) '
        f'<int64[2] p = {{{begin}, {end}}}> {{ y = Pad <mode = "{mode}"> (x, p) }}'
    )


def answer(mode: str, size: int, begin: int, end: int) -> tuple[str, object]:
    content = parser.parse_model(model(mode, size, begin, end)).SerializeToString()
    try:
        session = onnxruntime.InferenceSession(content, OPTIONS, ["CPUExecutionProvider"])
        return "out", session.run(None, {"x": np.arange(1, size + 1, dtype=np.float32)})[0].tolist()
    except Exception as error:
        return "refused", str(error)


def answers(asked: list) -> list:
    """In a copy of this process, which may die of one."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        with os.fdopen(write, "w") as said:
            for one in asked:
                said.write(json.dumps(answer(*one)) + "\n")
                said.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as heard:
        found = [json.loads(line) for line in heard]
    os.waitpid(child, 0)
    return found + [["dead", ""]] * (len(asked) - len(found))


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answers(json.loads(line))), flush=True)
