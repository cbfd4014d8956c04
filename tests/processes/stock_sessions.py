"""Runs models at every optimisation level of a stock onnxruntime, in a process of its own, which may die of them.

A line of JSON asks for a model, its .npz of inputs and how many times; a line has the first output of each run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx

LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL")
LONGEST = 300  # seconds of all runs of a model


@contextmanager
def started() -> Iterator[Callable[..., list[object]]]:
    """Gives what runs a model, in a folder, so many times with ``feeds``: the first output of each time and level."""
    from padops.processes import Pipes

    pipes: list[Pipes] = []

    def run(proto: onnx.ModelProto, folder: Path, times: int, **feeds: np.ndarray) -> list[object]:
        onnx.save(proto, folder / "model.onnx")
        np.savez(folder / "feeds.npz", **feeds)
        if not pipes:
            pipe = subprocess.PIPE
            command = [sys.executable, __file__]
            pipes.append(Pipes(subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)))

        def talk(questions, answers) -> bytes:
            questions.write(json.dumps([str(folder), times]).encode() + b"\n")
            questions.flush()
            return answers.readline()

        line = b""
        try:
            line = pipes[0].within(LONGEST, talk)
        finally:
            if not line:
                pipes.pop().end()
        assert line, "the process died"
        return json.loads(line)

    try:
        yield run
    finally:
        for each in pipes:
            each.end()


def _outputs(folder: Path, times: int) -> Iterator[object]:
    import onnxruntime

    content, feeds = (folder / "model.onnx").read_bytes(), dict(np.load(folder / "feeds.npz"))
    for _ in range(times):
        for level in LEVELS:
            options = onnxruntime.SessionOptions()
            options.log_severity_level, options.intra_op_num_threads = 4, 1
            options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
            session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            yield session.run(None, feeds)[0].tolist()


if __name__ == "__main__":
    for asked in sys.stdin:
        folder, times = json.loads(asked)
        print(json.dumps([*_outputs(Path(folder), times)]), flush=True)
