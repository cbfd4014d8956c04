"""What of onnx's own inference is believed: not the dims that a runtime gives otherwise, and no elements of shapes.

onnx also follows the elements of shapes through a model (``data_prop``), and takes every Cast for one of integers and every
sum for one that does not overflow. This is never asked for: the rules of the proofs compute with shapes themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx

# With ceil_mode, whether there is a last window that begins in the padding depends on the version and on the runtime.
_POOLS = {"AveragePool", "LpPool", "MaxPool"}
_NOWHERE = "a value that is nowhere"  # so that inference cannot know its elements


def infer(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the types and dims that follow from its inputs and constants, as far as they are believed.

    Where the dims of a node are not believed, another operator stands in its place that says the type alone, or the rank too.

    Args:
        model: The model. It is not changed.

    Raises:
        onnx.shape_inference.InferenceError: onnx does not understand the model.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    lists = [copy.graph.node, *(function.node for function in copy.functions)]
    empty = {name for nodes in lists for name in _empty(nodes)} | _empty_tensors(copy.graph)
    for nodes in lists:
        _veil(nodes, empty)
    return onnx.shape_inference.infer_shapes(copy, check_type=False, strict_mode=False)


def _empty_tensors(graph: onnx.GraphProto) -> set[str]:
    return {tensor.name for tensor in graph.initializer if 0 in tensor.dims}


def _empty(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    """The names of constants without elements, those of bodies among them."""
    for node in nodes:
        for row in node.attribute:
            if node.op_type == "Constant" and (0 in row.t.dims or (row.name == "value_ints" and not row.ints)):
                yield node.output[0]
            if row.HasField("g"):
                yield from _empty_tensors(row.g)
                yield from _empty(row.g.node)


def _veil(nodes: Iterable[onnx.NodeProto], empty: set[str]) -> None:
    """Puts what infers as much as is believed in the place of the nodes whose inferred dims are not."""
    for node in nodes:
        if node.domain in ("", "ai.onnx") and node.input:
            if node.op_type in _POOLS and _has_ceil_mode(node):
                _forget(node, "Slice" if len(node.output) == 1 else "TopK")
            elif node.op_type == "STFT":
                _forget(node, "Reshape")
            elif node.op_type == "Squeeze" and _lists_no_axes(node, empty):
                _forget(node, "Reshape")
        for row in node.attribute:
            _veil(row.g.node, empty)


def _has_ceil_mode(node: onnx.NodeProto) -> bool:
    return any(row.name == "ceil_mode" and (row.i or row.ref_attr_name) for row in node.attribute)


def _lists_no_axes(node: onnx.NodeProto, empty: set[str]) -> bool:
    """Whether a Squeeze has axes, and none among them: of all axes of one element, or of none."""
    if any(name in empty for name in node.input[1:]):
        return True
    return any(row.name == "axes" and not row.ints for row in node.attribute)


def _forget(node: onnx.NodeProto, op_type: str) -> None:
    """Makes a node one of which no dim is known: of a Slice and a TopK, which has two outputs, the rank is that of the data."""
    data = node.input[0]
    node.op_type = op_type
    del node.input[:], node.attribute[:]
    node.input.extend([data, _NOWHERE, _NOWHERE] if op_type == "Slice" else [data, _NOWHERE])
