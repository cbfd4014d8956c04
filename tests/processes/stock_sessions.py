"""Runs a model at every optimisation level of a stock onnxruntime, several times: its process may die of it.

``python stock_sessions.py MODEL FEEDS.npz TIMES`` prints the first output of each run in a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime

LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL")


def main() -> None:
    content, feeds = Path(sys.argv[1]).read_bytes(), dict(np.load(sys.argv[2]))
    for _ in range(int(sys.argv[3])):
        for level in LEVELS:
            options = onnxruntime.SessionOptions()
            options.log_severity_level, options.intra_op_num_threads = 4, 1
            options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
            session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            print(json.dumps(session.run(None, feeds)[0].tolist()), flush=True)


if __name__ == "__main__":
    main()
