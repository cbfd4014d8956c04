"""Runs models at every optimisation level of a stock onnxruntime, in a process of its own, which may die of them.

A line of JSON asks for a model, its .npz of inputs and how many times; a line has the first output of each run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx

LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL")
LONGEST = 300  # seconds of all runs of a model


class Stock:
    def __init__(self) -> None:
        self._pipes = None

    def run(self, proto: onnx.ModelProto, folder: Path, times: int, **feeds: np.ndarray) -> list[object]:
        """Return the first output of each time and level.

        Raises:
            EOFError: The process died.
        """
        from padops.processes import Pipes

        onnx.save(proto, folder / "model.onnx")
        np.savez(folder / "feeds.npz", **feeds)
        if self._pipes is None:
            command = [sys.executable, __file__]
            pipe = subprocess.PIPE
            self._pipes = Pipes(subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True))

        def talk(questions, answers) -> bytes:
            questions.write(json.dumps([str(folder), times]).encode() + b"\n")
            questions.flush()
            return answers.readline()

        line = b""
        try:
            line = self._pipes.within(LONGEST, talk)
        finally:
            if not line:
                self.end()
        if not line:
            raise EOFError("the process died")
        return json.loads(line)

    def end(self) -> None:
        if self._pipes is not None:
            self._pipes.end()
            self._pipes = None


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
