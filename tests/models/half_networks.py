"""Networks of float16 that onnxruntime's tool makes from float; ONNX Runtime computes them in float between casts."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper
from small_models import FLOAT, model, pad, tensor

CHANNELS = 8


def half_network(blocks: int = 2, mode: str = "reflect") -> onnx.ModelProto:
    """Blocks of Pad, Conv and Relu, whose inputs and outputs stay float."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    rng = np.random.default_rng(0)
    nodes, tensors = [], [tensor("pads", [0, 0, 1, 1, 0, 0, 1, 1])]
    for i in range(blocks):
        channels = CHANNELS if i else 3
        weights = rng.standard_normal((CHANNELS, channels, 3, 3)) / np.sqrt(9 * channels)
        tensors.append(tensor(f"w{i}", weights, np.float32))
        output = "y" if i == blocks - 1 else f"r{i}"
        nodes += [pad([f"r{i - 1}" if i else "x", "pads"], f"p{i}", name=f"pad{i}", mode=mode),
                  helper.make_node("Conv", [f"p{i}", f"w{i}"], [f"c{i}"]),
                  helper.make_node("Relu", [f"c{i}"], [output])]  # fmt: skip
    source = model(nodes, inputs=[("x", FLOAT, [1, 3, 16, 16])], outputs=[("y", FLOAT, None)], tensors=tensors)
    return convert_float_to_float16(source, keep_io_types=True)
