"""Sparse tensors, which onnx_ir does not carry: they stay in the message, and the graph has them as dense ones."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from math import prod
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.model.nesting import graphs_in, nodes_of
from padops.convert.model.scan import SPARSE_VALUE

LARGEST = 1 << 31  # bytes of one that is written out


def dense_tensor(row: onnx.SparseTensorProto, folder: Path | None = None) -> onnx.TensorProto:
    """A sparse tensor as a dense one of the same name; ``folder`` is that of external data.

    Raises:
        PadopsError: Its indices do not fit its values and dims, or it is too large.
    """
    place = f"sparse initializer '{row.values.name}'"
    values, indices = (numpy_helper.to_array(part, str(folder or "")) for part in (row.values, row.indices))
    dims, count = tuple(row.dims), prod(row.dims)
    if min(dims, default=1) < 0 or count * values.itemsize > LARGEST:
        raise PadopsError(f"{place}: dims {list(dims)} are not written out as a dense tensor")
    listed = indices.ndim == 2 and indices.shape == (values.size, len(dims))
    if values.ndim != 1 or not (listed or indices.shape == values.shape):
        raise PadopsError(f"{place}: indices of shape {list(indices.shape)} for values of shape {list(values.shape)}")
    if (indices < 0).any() or (indices >= (np.array(dims) if listed else count)).any():
        raise PadopsError(f"{place}: an index is outside of the dims {list(dims)}")
    flat = np.zeros(count, values.dtype)
    flat[np.ravel_multi_index(tuple(indices.T), dims) if listed else indices] = values
    return numpy_helper.from_array(flat.reshape(dims), row.values.name)


def with_dense(message: onnx.ModelProto, folder: Path | None) -> onnx.ModelProto:
    """The message; if it has sparse initializers or Constants, a copy that has dense ones instead.

    Raises:
        PadopsError: As ``dense_tensor``.
    """
    if not any(_sparse_in(message)):
        return message
    copy = deepcopy(message)
    for part in _sparse_in(copy):
        if isinstance(part, onnx.GraphProto):
            part.initializer.extend(dense_tensor(row, folder) for row in part.sparse_initializer)
            part.ClearField("sparse_initializer")
        else:
            part.CopyFrom(onnx.helper.make_attribute("value", dense_tensor(part.sparse_tensor, folder)))
    return copy


def _sparse_in(message: onnx.ModelProto) -> Iterator[onnx.GraphProto | onnx.AttributeProto]:
    """The graphs with sparse initializers, and the attributes of Constants with a sparse tensor."""
    bodies: tuple[onnx.GraphProto | onnx.FunctionProto, ...] = (message.graph, *message.functions)
    nodes = [node for body in bodies for _, node in nodes_of(body.node)]
    for graph in (message.graph, *(inner for node in nodes for _, inner in graphs_in(node.attribute))):
        if graph.sparse_initializer:
            yield graph
    for node in (node for node in nodes if node.op_type == "Constant"):
        yield from (row for row in node.attribute if row.name == SPARSE_VALUE and row.HasField("sparse_tensor"))
