"""Models that ``padops inspect`` has one thing to say of, each of another kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import ModelProto, helper, numpy_helper
from parsed_models import quiet
from small_models import FLOAT, model, one_pad, pad, tensor

import padops
from padops.runtime.ort_values import run_session

SMALLER = {"kernel_shape": [3, 3], "dilations": [2, 2], "auto_pad": "SAME_UPPER"}
POOLING = helper.make_node("MaxPool", ["x"], ["y"], "pool", **SMALLER)
MADE = {
    "right": one_pad(13),
    "refused": one_pad(1),
    "broken": model([pad()], 13, tensors=[tensor("pads", [0, -9, 0, 0])]),
    "wrong": model([POOLING], 18, inputs=[("x", FLOAT, [1, 1, 6, 6])]),
    "unsure": model([pad(domain="secret")], 13, imports=[("secret", 1)], tensors=[tensor("pads", [0] * 4)]),
}


def write_models(folder: Path) -> None:
    for name, made in MADE.items():
        (folder / f"{name}.onnx").write_bytes(made.SerializeToString())
    (folder / "unreadable.onnx").write_bytes(b"\xff\xff")


def stock(source: ModelProto | Path, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray] | None:
    """Return the outputs of stock onnxruntime; None where it refuses the model."""
    content = source.read_bytes() if isinstance(source, Path) else source.SerializeToString()
    try:
        return run_session(onnxruntime.InferenceSession(content, quiet(), providers=["CPUExecutionProvider"]), feeds)
    except Exception:  # onnxruntime's exceptions have no common class of their own
        return None


def specified(source: ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    graph = padops.convert(source, fold=False, fallback=False).proto().graph
    (node,) = (node for node in graph.node if node.domain == "padops")
    known = {row.name: numpy_helper.to_array(row) for row in graph.initializer} | dict(feeds)
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    plain = {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
    return [padops.run_reference(node.op_type, plain, [known.get(name) for name in node.input])]
