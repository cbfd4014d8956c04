"""Slices that go backward to the largest integer.

By ONNX's words such an end is behind the data, so that nothing is left; its inference and its reference say so. ONNX Runtime
takes the largest integers of 32 and 64 bits for "to the end" in both directions, and gives everything before the start.
Nobody can tell which of the two a model means, so that nothing that follows from such a Slice is taken for known.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.model.nesting import graphs_in, nodes_of

ENDLESS = (2**31 - 1, 2**63 - 1)
ENDS, STEPS = 2, 4  # which inputs of a Slice they are
NOWHERE = "padops ends that nobody knows"


def is_unsure(ends: np.ndarray, steps: np.ndarray) -> bool:
    """Whether ONNX and ONNX Runtime give a Slice with such ends and steps different results."""
    return ends.shape == steps.shape and bool((np.isin(ends, ENDLESS) & (steps < 0)).any())


def open_backward_slices(model: onnx.ModelProto) -> None:
    """Makes such Slices of a model that is about to be inferred end nowhere, so that no dims are inferred of them.

    Args:
        model: Is changed.
    """
    whole = [model.graph.node, *(function.node for function in model.functions)]
    nodes = [node for body in whole for _, node in nodes_of(body)]
    slices = [node for node in nodes if node.op_type == "Slice" and len(node.input) > STEPS and node.input[STEPS]]
    if not slices:
        return
    graphs = [model.graph, *(inner for node in nodes for _, inner in graphs_in(node.attribute))]
    lists = [(tensor.name, _integers(tensor)) for graph in graphs for tensor in graph.initializer]
    lists += [(node.output[0], _constant(node)) for node in nodes if node.op_type == "Constant" and node.output]
    # Several graphs may use one name: one endless list is enough, and so is one that does not go forward.
    endless = {name for name, values in lists if np.isin(values, ENDLESS).any()}
    forward = {name for name, _ in lists} - {name for name, values in lists if not (values > 0).all()}
    for node in slices:
        if node.input[ENDS] in endless and node.input[STEPS] not in forward:
            node.input[ENDS] = NOWHERE


def _constant(node: onnx.NodeProto) -> np.ndarray:
    """The elements of a Constant, as ``_integers``."""
    for row in node.attribute:
        if row.name == "value_ints":
            return np.array(row.ints)
        if row.HasField("t"):
            return _integers(row.t)
    return np.array([0])


def _integers(tensor: onnx.TensorProto) -> np.ndarray:
    """The elements of a small list of integers; one that is neither endless nor positive for anything else."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL or len(tensor.dims) != 1 or tensor.dims[0] > 64:
        return np.array([0])
    array = numpy_helper.to_array(tensor)
    return array if array.dtype.kind in "iu" else np.array([0])
