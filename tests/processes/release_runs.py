"""Runs models on the onnxruntime of this process, with padops' library and without, each in a child that may die.

``python release_runs.py`` reads a pickled list of (model, feeds, whether the library is there), and writes JSON: the
version, and for each at two levels of optimisation the bits of its first output, what onnxruntime said instead, or null
where the child died. It needs ``PADOPS_LIBRARY`` and ``tests/models``.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Mapping

import numpy as np
import onnxruntime
from children import each_in_child
from native import bits, run_session

LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL")
SECONDS, MEMORY = 60, 8 << 30


def plain(array: np.ndarray) -> list:
    """The bits of an array, as JSON has them."""
    kind, shape, data = bits(array)
    return [kind, [*shape], data.hex() if isinstance(data, bytes) else data]


def outcome(row: tuple[bytes, Mapping[str, np.ndarray], bool, str]) -> list | str:
    model, feeds, library, level = row
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    if library:
        options.register_custom_ops_library(os.environ["PADOPS_LIBRARY"])
    try:
        return plain(run_session(onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"]), feeds))
    except Exception as error:  # onnxruntime's exceptions have no base of their own
        return f"{type(error).__name__}: {error}"


def main() -> None:
    asked = [(*row, level) for row in pickle.load(sys.stdin.buffer) for level in LEVELS]
    found = [answer for answer, _ in each_in_child(outcome, asked, SECONDS, MEMORY)]
    print(json.dumps([onnxruntime.__version__, found]))


if __name__ == "__main__":
    main()
