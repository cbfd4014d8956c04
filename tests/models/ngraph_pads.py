"""The Pad of nGraph's document, its data, and what the reference makes of it."""

from __future__ import annotations

import numpy as np
import onnx
from native import run_session, session

import padops

EXAMPLE = {"padding_below": [1, 2], "padding_above": [1, 0], "padding_interior": [1, 2]}  # the document's, 3x3 to 7x9


def run(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> np.ndarray:
    return run_session(session(model), feeds)


def expected(attributes: dict, data: np.ndarray, fill: np.ndarray) -> np.ndarray:
    return padops.run_reference("NGraphPad_0", attributes, [data, fill])


X = np.arange(1, 10, dtype=np.float32).reshape(3, 3)
FILL = np.array(42, np.float32)
