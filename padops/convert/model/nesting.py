"""Finds parts of a ModelProto at any depth: graphs in nodes, external tensors, sparse tensors, unsupported parts.

onnx_ir silently drops some parts of a model, and raises obscure errors on others. This module refuses such models with
the reason and the place. It accepts training graphs, which stay unchanged in the ModelProto.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from math import prod
from pathlib import Path
from typing import TypeGuard

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from onnx import numpy_helper

from padops.convert.errors import PadopsError, library_errors

Body = onnx.GraphProto | onnx.FunctionProto


def graphs_in(attributes: Iterable[onnx.AttributeProto]) -> list[tuple[str, onnx.GraphProto]]:
    """Return the graphs in a node's attributes with the attribute's name; in a list, with an index: ``bodies[1]``."""
    found: list[tuple[str, onnx.GraphProto]] = []  # for most nodes, a generator would take longer
    for attribute in attributes:
        if attribute.HasField("g"):
            found.append((attribute.name, attribute.g))
        elif attribute.graphs:
            found += [(f"{attribute.name}[{i}]", graph) for i, graph in enumerate(attribute.graphs)]
    return found


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and all graphs inside it; an outer graph comes before its inner graphs."""
    yield graph
    for node in graph.node:
        for _, inner in graphs_in(node.attribute):
            yield from graphs_of(inner)


def set_rows(graph: onnx.GraphProto, **lists: Iterable[Message]) -> None:
    for name, rows in lists.items():
        graph.ClearField(name)
        getattr(graph, name).extend(rows)


def nodes_of(nodes: Iterable[onnx.NodeProto], path: str = "") -> Iterator[tuple[str, onnx.NodeProto]]:
    """Yield each node with its path, such as ``graph.node[3].body.node[0]``, before the nodes inside it."""
    for i, node in enumerate(nodes):
        place = f"{path}.node[{i}]"
        yield place, node
        for name, inner in graphs_in(node.attribute):
            yield from nodes_of(inner.node, f"{place}.{name}")


def nodes_in(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """Return the nodes of a model, of its functions and of all graphs inside."""
    bodies: Sequence[Body] = (model.graph, *model.functions)
    return [node for body in bodies for _, node in nodes_of(body.node)]


def graphs_beside(model: onnx.ModelProto, nodes: Iterable[onnx.NodeProto]) -> list[onnx.GraphProto]:
    """Return the main graph and the graphs inside ``nodes``, the result of ``nodes_in`` for the model."""
    return [model.graph, *(inner for node in nodes for _, inner in graphs_in(node.attribute))]


def shaped_type(kind: onnx.TypeProto) -> onnx.TypeProto.Tensor | None:
    """Return the type that may have a shape: a tensor's type, or a tensor's type within a sequence or an optional."""
    while (which := kind.WhichOneof("value")) in ("sequence_type", "optional_type"):
        kind = getattr(kind, which).elem_type
    return kind.tensor_type if which == "tensor_type" else None


SPARSE_VALUE = "sparse_value"  # an attribute of Constant

# Fields that onnx_ir 1.1.0 does not carry, or cannot read, by the message that has them.
NOT_CARRIED = {
    "AttributeProto": {"sparse_tensor": "sparse tensors", "sparse_tensors": "sparse tensors"},
    "TensorProto": {"segment": "tensors in segments"},
    "TypeProto": {"map_type": "map types", "opaque_type": "opaque types"},
}


def _messages(message: Message, path: str = "") -> Iterator[tuple[Message, str]]:
    """Yield ``message`` and every message inside it, each with its path; refuse texts that are no UTF-8."""
    yield message, path
    for field, value in message.ListFields():
        name = f"{path}.{field.name}" if path else field.name
        if field.type == FieldDescriptor.TYPE_STRING:
            for text in [value] if isinstance(value, (str, bytes)) else value:
                if isinstance(text, bytes):
                    raise PadopsError(f"{_place(message, path)} has a text that is not UTF-8: {text!r:.80}")
        elif field.message_type is not None:
            for i, item in enumerate([value] if isinstance(value, Message) else value):
                yield from _messages(item, name if item is value else f"{name}[{i}]")


def _place(message: Message, path: str) -> str:
    return f"{path or 'the model'} ({message.DESCRIPTOR.name})"


def refuse_what_would_be_lost(proto: onnx.ModelProto) -> list[tuple[onnx.TensorProto, str]]:
    """Refuse a model with parts that onnx_ir does not carry; return the model's ``external_tensors``."""
    found = []
    for message, path in _messages(proto):
        if len(unknown := UnknownFieldSet(message)):
            raise PadopsError(
                f"{_place(message, path)} has the field number {unknown[0].field_number}, which onnx "
                f"{onnx.__version__} does not know; converting would lose it"
            )
        for name, what in NOT_CARRIED.get(message.DESCRIPTOR.name, {}).items():
            field = getattr(message, name)
            present = message.HasField(name) if isinstance(field, Message) else len(field)
            if present and not (name == "sparse_tensor" and getattr(message, "name", "") == SPARSE_VALUE):
                place = f"{path}.{name}"
                raise PadopsError(f"{place}: onnx_ir drops {what}; converting would lose them")
        if _is_external(message):
            found.append((message, path))
    return found


def external_tensors(proto: onnx.ModelProto) -> Iterator[tuple[onnx.TensorProto, str]]:
    """Yield every tensor whose data are in a separate file, and the tensor's path in the model; read no data."""
    return ((message, path) for message, path in _messages(proto) if _is_external(message))


def _is_external(message: Message) -> TypeGuard[onnx.TensorProto]:
    return isinstance(message, onnx.TensorProto) and message.data_location == onnx.TensorProto.EXTERNAL


LARGEST = 1 << 31  # bytes of a dense tensor


def dense_tensor(row: onnx.SparseTensorProto, folder: Path | None) -> onnx.TensorProto:
    """Return a sparse tensor as a dense tensor of the same name; ``folder`` has the sparse tensor's external data."""
    place, dims, count = f"sparse initializer '{row.values.name}'", tuple(row.dims), prod(row.dims)
    values, indices = (numpy_helper.to_array(part, str(folder or "")) for part in (row.values, row.indices))
    if count * values.itemsize > LARGEST:
        raise PadopsError(f"{place}: dims {list(dims)} are too large for a dense tensor")
    with library_errors(place):
        listed = (indices.T, dims) if indices.ndim == 2 else ([indices], (count,))
        flat = np.zeros(count, values.dtype)
        flat[np.ravel_multi_index(tuple(listed[0]), listed[1])] = values
        return numpy_helper.from_array(flat.reshape(dims), row.values.name)


def with_dense(message: onnx.ModelProto, folder: Path | None) -> onnx.ModelProto:
    """Return the model; if it has sparse initializers or sparse Constants, return a copy with dense tensors."""
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
    """Yield the graphs with sparse initializers, and the attributes of Constants with a sparse tensor."""
    nodes = nodes_in(message)
    yield from (graph for graph in graphs_beside(message, nodes) if graph.sparse_initializer)
    for node in (node for node in nodes if node.op_type == "Constant"):
        yield from (row for row in node.attribute if row.name == SPARSE_VALUE and row.HasField("sparse_tensor"))
