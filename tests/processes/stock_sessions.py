"""Runs a model at every optimisation level of a stock onnxruntime, for a process of its own, which may die of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnxruntime
from parsed_models import quiet

LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL")
LONGEST = 120  # seconds of all runs of a model; a process that dies gives nothing, and another one takes the next model


def outputs(content: bytes, times: int, feeds: Mapping[str, np.ndarray]) -> list[object]:
    """The first output of each time and level."""
    found = []
    for level in LEVELS * times:
        options = quiet(1)
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        found.append(session.run(None, feeds)[0].tolist())
    return found
