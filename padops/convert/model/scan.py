"""The parts of a model that the converter must know of before it builds the graph.

onnx_ir drops some parts of a model without a word, and raises on others from deep inside. A model that has such parts
is refused here, with the reason and the place. Training graphs are no such part: they stay in the message as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from padops.convert.errors import PadopsError

SPARSE_VALUE = "sparse_value"  # the attribute of Constant that ``sparse.py`` reads

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

Where = tuple[Any, str, int | None] | None  # place of the message around, field, index; None of the whole model


def _messages(message: Message, passed: Collection[str] = ()) -> Iterator[tuple[Message, Fields, Where]]:
    """``message`` and every message inside it, depth first, but for types that are equal and what is ``passed``."""
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
                if kind == "TypeProto":  # one of a model's many values of the same type and shape is enough
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
    """A field's name, whether it is of text, and the kind of its messages, or None."""
    kind = field.message_type
    return field.name, field.type == FieldDescriptor.TYPE_STRING, None if kind is None else kind.name


def _path(where: Where, *fields: str) -> str:
    """A place, such as ``graph.node[3]``; a field of it, where one is given."""
    parts = list(fields)
    while where is not None:
        where, name, i = where
        parts.append(name if i is None else f"{name}[{i}]")
    return ".".join(reversed(parts))


def _fields(message: Message, where: Where) -> Fields:
    """The fields that a message has.

    Raises:
        PadopsError: A text among them is not UTF-8. protobuf reads it all the same, and gives bytes for it or raises
            when somebody asks, as the release has it.
    """
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
    """Raises where a model holds what onnx_ir does not carry; gives its ``external_tensors``.

    Raises:
        PadopsError: Names the place and the reason.
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
    """Every tensor whose data lie in a file of their own, with its path; nothing is read."""
    for message, _, where in _messages(proto, WITHOUT_TENSORS):
        if isinstance(message, onnx.TensorProto) and message.data_location == onnx.TensorProto.EXTERNAL:
            yield message, _path(where)
