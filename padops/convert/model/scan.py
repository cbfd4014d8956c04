"""The parts of a model that the converter must know of before it builds the graph.

onnx_ir drops some parts of a model without a word, and raises on others from deep inside. A model that has such parts
is refused here, with the reason and the place. Training graphs are no such part: they stay in the message as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def messages(message: Message, path: str = "") -> Iterator[tuple[Message, str]]:
    """``message`` and every message inside it, depth first, each with its path, such as ``graph.node[3]``."""
    waiting = [(message, path)]
    while waiting:
        message, path = waiting.pop()
        yield message, path
        inner: list[tuple[Message, str]] = []
        for field, value in _fields(message, path):
            if field.message_type is None:
                continue
            place = f"{path}.{field.name}" if path else field.name
            if isinstance(value, Message):
                inner.append((value, place))
            else:
                inner += [(item, f"{place}[{i}]") for i, item in enumerate(value)]
        waiting += reversed(inner)


def _fields(message: Message, path: str) -> Sequence[tuple[FieldDescriptor, Any]]:
    """The fields that a message has.

    Raises:
        PadopsError: A text among them is not UTF-8. protobuf reads it all the same, and gives bytes for it or raises
            when somebody asks, as the release has it.
    """
    kind = message.DESCRIPTOR.name
    try:
        fields: Sequence[tuple[FieldDescriptor, Any]] = message.ListFields()
        for field, value in fields:
            if field.type == FieldDescriptor.TYPE_STRING:
                for text in [value] if isinstance(value, (str, bytes)) else value:
                    if isinstance(text, bytes):
                        text.decode()
    except UnicodeDecodeError as error:
        raise PadopsError(
            f"{path or 'the model'} ({kind}) has a text that is not UTF-8: {error.object!r:.80}"
        ) from error
    return fields


def refuse_what_would_be_lost(proto: onnx.ModelProto) -> None:
    """Raises where a model holds what onnx_ir does not carry.

    Raises:
        PadopsError: Names the place and the reason.
    """
    for message, path in messages(proto):
        kind = message.DESCRIPTOR.name
        if len(unknown := UnknownFieldSet(message)):
            raise PadopsError(
                f"{path or 'the model'} ({kind}) has the field number {unknown[0].field_number}, which onnx "
                f"{onnx.__version__} does not know; converting would lose it"
            )
        for field, _ in message.ListFields():
            what = NOT_CARRIED.get((kind, field.name))
            if what and not (field.name == "sparse_tensor" and getattr(message, "name", "") == SPARSE_VALUE):
                place = f"{path}.{field.name}" if path else field.name
                raise PadopsError(f"{place}: {what} are not carried by onnx_ir; converting would lose them")


def external_tensors(proto: onnx.ModelProto) -> Iterator[tuple[onnx.TensorProto, str]]:
    """Every tensor whose data lie in a file of their own, with its path; nothing is read."""
    for message, path in messages(proto):
        if isinstance(message, onnx.TensorProto) and message.data_location == onnx.TensorProto.EXTERNAL:
            yield message, path
