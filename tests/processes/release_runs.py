"""Runs models on whichever onnxruntime the process has, with padops' library and without.

``python release_runs.py`` reads a pickled list of (model, feeds, whether the library is there), and writes for each the
outputs at two levels of optimisation, or what onnxruntime said instead of them. It needs ``PADOPS_LIBRARY``.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Mapping

import numpy as np
import onnxruntime

from padops.runtime.ort_values import run_session

LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL")


def outputs_of(model: bytes, feeds: Mapping[str, np.ndarray], library: bool, level: str) -> list[np.ndarray] | str:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    if library:
        options.register_custom_ops_library(os.environ["PADOPS_LIBRARY"])
    try:
        return run_session(onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]), feeds)
    except Exception as error:  # onnxruntime's exceptions have no base of their own
        return f"{type(error).__name__}: {error}"


def main() -> None:
    asked = pickle.load(sys.stdin.buffer)
    found = [[outputs_of(*row, level) for level in LEVELS] for row in asked]
    sys.stdout.buffer.write(pickle.dumps((onnxruntime.__version__, found)))


if __name__ == "__main__":
    main()
