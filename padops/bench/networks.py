"""Small models whose Pads the execution provider runs: a chain of tiny ones, and a network of convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from padops.conformance.model import tensor
from padops.spec.dialects import DOMAIN, VERSION
from padops.spec.dtypes import by_name

if TYPE_CHECKING:
    import onnx

TINY_SHAPE = (2, 3)
_OPSET, _IR_VERSION = 19, 9
_CHANNELS, _SIZE, _LAYERS = 16, 128, 3


def tiny_pads(count: int, domain: str = "") -> bytes:
    """A chain of Pads of a few floats, which add an element on all sides and take it away again."""
    from onnx import TensorProto, helper

    op_type = "Pad_19" if domain else "Pad"
    names = ["x", *(f"v{i}" for i in range(1, count)), "y"]
    nodes = [
        helper.make_node(op_type, [names[i], "less" if i % 2 else "more"], [names[i + 1]], domain=domain)
        for i in range(count)
    ]
    constants = [tensor("more", np.ones(4, np.int64)), tensor("less", -np.ones(4, np.int64))]
    shape = [n + 2 * (count % 2) for n in TINY_SHAPE]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, TINY_SHAPE)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    return _serialized(helper.make_graph(nodes, "tiny_pads", inputs, outputs, constants))


def convolutions(dtype: str) -> tuple[bytes, dict[str, np.ndarray]]:
    """Three times a reflecting Pad, a convolution and a Relu, as networks for images have them.

    Args:
        dtype: ``float`` or ``float16``.

    Returns:
        The model, and what to feed it with.
    """
    from onnx import helper

    element = by_name(dtype)
    rng = np.random.default_rng(0)
    shape = (1, _CHANNELS, _SIZE, _SIZE)
    constants = [tensor("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1]))]
    nodes = []
    for i in range(_LAYERS):
        weights = rng.standard_normal((_CHANNELS, _CHANNELS, 3, 3)) / (3 * _CHANNELS**0.5)
        constants.append(tensor(f"w{i}", weights.astype(element.numpy)))
        nodes += [
            helper.make_node("Pad", [f"v{i}", "pads"], [f"padded{i}"], mode="reflect"),
            helper.make_node("Conv", [f"padded{i}", f"w{i}"], [f"sum{i}"]),
            helper.make_node("Relu", [f"sum{i}"], [f"v{i + 1}"]),
        ]
    first, last = (helper.make_tensor_value_info(f"v{i}", element.onnx, shape) for i in (0, _LAYERS))
    graph = helper.make_graph(nodes, "convolutions", [first], [last], constants)
    return _serialized(graph), {"v0": rng.standard_normal(shape).astype(element.numpy)}


def _serialized(graph: onnx.GraphProto) -> bytes:
    from onnx import helper

    imports = [helper.make_opsetid("", _OPSET)]
    if any(node.domain == DOMAIN for node in graph.node):
        imports.append(helper.make_opsetid(DOMAIN, VERSION))
    model = helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION)
    serialized: bytes = model.SerializeToString()
    return serialized
