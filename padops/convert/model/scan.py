"""Finds the parts of a model that the converter must know before it builds the graph.

onnx_ir silently drops some parts of a model, and raises obscure errors on others. This module refuses such models with
the reason and the place. It accepts training graphs, which stay unchanged in the message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from onnx import numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.model.nesting import graphs_in, nodes_of

SPARSE_VALUE = "sparse_value"  # an attribute of Constant

# Fields that onnx_ir 1.1.0 does not carry, or cannot read, by the message that has them.
NOT_CARRIED = {
    ("AttributeProto", "sparse_tensor"): "sparse tensors",
    ("AttributeProto", "sparse_tensors"): "sparse tensors",
    ("TensorProto", "segment"): "tensors in segments",
    ("TypeProto", "map_type"): "map types",
    ("TypeProto", "opaque_type"): "opaque types",
}
LOST = {name for _, name in NOT_CARRIED}
Fields = Sequence[tuple[FieldDescriptor, Any]]


# Messages inside which no tensor is.
WITHOUT_TENSORS = {"OperatorSetIdProto", "StringStringEntryProto", "TypeProto", "ValueInfoProto"}

Where = tuple[Any, str, int | None] | None  # the enclosing message's place, field, index; None for the whole model


def _messages(message: Message, passed: Collection[str] = ()) -> Iterator[tuple[Message, Fields, Where]]:
    """Yield ``message`` and every message inside it, depth first, except equal types and the kinds in ``passed``."""
    types: set[bytes] = set()
    waiting: list[tuple[Message, Where]] = [(message, None)]
    while waiting:
        message, where = waiting.pop()
        fields = _fields(message, where)
        yield message, fields, where
        inner: list[tuple[Message, Where]] = []
        for field, value in fields:
            name, _, kind = _facts(field)
            if kind is None or kind in passed:
                continue
            if isinstance(value, Message):
                if kind == "TypeProto":  # a model's many values share few types
                    if (content := value.SerializePartialToString()) in types:
                        continue
                    types.add(content)
                inner.append((value, (where, name, None)))
            else:
                inner += [(item, (where, name, i)) for i, item in enumerate(value)]
        if inner:
            waiting += reversed(inner)


@cache
def _facts(field: FieldDescriptor) -> tuple[str, bool, str | None]:
    """Return a field's name, whether it holds text, and the kind of its messages or None."""
    kind = field.message_type
    return field.name, field.type == FieldDescriptor.TYPE_STRING, None if kind is None else kind.name


def _path(where: Where, *fields: str) -> str:
    """Return the path of a place, such as ``graph.node[3]``, with the fields if any are given."""
    parts = list(fields)
    while where is not None:
        where, name, i = where
        parts.append(name if i is None else f"{name}[{i}]")
    return ".".join(reversed(parts))


def _fields(message: Message, where: Where) -> Fields:
    try:
        fields: Fields = message.ListFields()
        for field, value in fields:
            if _facts(field)[1]:
                for text in [value] if isinstance(value, (str, bytes)) else value:
                    if isinstance(text, bytes):
                        text.decode()
    except UnicodeDecodeError as error:
        raise PadopsError(
            f"{_path(where) or 'the model'} ({message.DESCRIPTOR.name}) has a text that is not UTF-8: "
            f"{error.object!r:.80}"
        ) from error
    return fields


def refuse_what_would_be_lost(proto: onnx.ModelProto) -> list[tuple[onnx.TensorProto, str]]:
    """Refuse a model with parts that onnx_ir does not carry; return the model's ``external_tensors``.

    Raises:
        PadopsError: The message names the place and the reason.
    """
    found = []
    for message, fields, where in _messages(proto):
        if len(unknown := UnknownFieldSet(message)):
            raise PadopsError(
                f"{_path(where) or 'the model'} ({message.DESCRIPTOR.name}) has the field number "
                f"{unknown[0].field_number}, which onnx {onnx.__version__} does not know; converting would lose it"
            )
        for field, _ in fields:
            name = _facts(field)[0]
            if name in LOST and (what := NOT_CARRIED.get((message.DESCRIPTOR.name, name))):
                if not (name == "sparse_tensor" and getattr(message, "name", "") == SPARSE_VALUE):
                    place = _path(where, name)
                    raise PadopsError(f"{place}: {what} are not carried by onnx_ir; converting would lose them")
        if isinstance(message, onnx.TensorProto) and message.data_location == onnx.TensorProto.EXTERNAL:
            found.append((message, _path(where)))
    return found


def external_tensors(proto: onnx.ModelProto) -> Iterator[tuple[onnx.TensorProto, str]]:
    """Yield every tensor with data in a separate file, with its path; read no data."""
    for message, _, where in _messages(proto, WITHOUT_TENSORS):
        if isinstance(message, onnx.TensorProto) and message.data_location == onnx.TensorProto.EXTERNAL:
            yield message, _path(where)


LARGEST = 1 << 31  # bytes of a dense tensor


def dense_tensor(row: onnx.SparseTensorProto, folder: Path | None = None) -> onnx.TensorProto:
    """Return a sparse tensor as a dense tensor of the same name; ``folder`` has its external data.

    Raises:
        PadopsError: The indices do not fit the values and dims, or the tensor is too large.
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
    """Return the message; if it has sparse initializers or Constants, return a copy with dense ones."""
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
    bodies: tuple[onnx.GraphProto | onnx.FunctionProto, ...] = (message.graph, *message.functions)
    nodes = [node for body in bodies for _, node in nodes_of(body.node)]
    for graph in (message.graph, *(inner for node in nodes for _, inner in graphs_in(node.attribute))):
        if graph.sparse_initializer:
            yield graph
    for node in (node for node in nodes if node.op_type == "Constant"):
        yield from (row for row in node.attribute if row.name == SPARSE_VALUE and row.HasField("sparse_tensor"))
