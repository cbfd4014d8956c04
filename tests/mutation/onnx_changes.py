"""Changes any field of any message of a model, by its descriptor: the type stays right, the value is odd."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

NUMBERS = [0, 1, -1, 2, 3, 5, 7, 8, 16, 17, 18, 22, 100, 1000, 2**31 - 1, -(2**31), 2**31, 2**62, 2**63 - 1, -(2**63)]
TEXTS = [
    "",
    "x",
    "y",
    "pads",
    "value",
    "mode",
    "Pad",
    "If",
    "Loop",
    "padops",
    "Pad_18",
    "ai.onnx",
    "Constant",
    "\0",
    "ä/..",
]
FLOATS = [0.0, -1.0, 1e38, float("nan"), float("inf"), 1e-45]
LONGEST = 40  # characters of a value in a label

Part = tuple[Message, str]


def parts(message: Message, path: str = "model") -> Iterator[Part]:
    """A message and all inside it, each with where it is."""
    yield message, path
    for field, value in message.ListFields():
        if field.message_type is not None:
            several = not isinstance(value, Message)
            for i, item in enumerate(value if several else [value]):
                yield from parts(item, f"{path}.{field.name}" + (f"[{i}]" if several else ""))


def change(model: onnx.ModelProto, rng: random.Random) -> str:
    """Changes one field somewhere in a model; says which."""
    found = list(parts(model))
    kinds = sorted({part.DESCRIPTOR.name for part, _ in found})
    kind = rng.choice(kinds)
    part, path = rng.choice([row for row in found if row[0].DESCRIPTOR.name == kind])
    present = [field for field, _ in part.ListFields()]
    fields = present if present and rng.random() < 0.75 else list(part.DESCRIPTOR.fields)
    field = rng.choice(fields)
    alike = [other for other, _ in found if other.DESCRIPTOR is part.DESCRIPTOR]
    act = _change_list if _repeated(field) else _change_one
    return f"{path}.{field.name}: {act(part, field, alike, rng)}"


def _repeated(field: FieldDescriptor) -> bool:
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == FieldDescriptor.LABEL_REPEATED


def _change_one(part: Message, field: FieldDescriptor, alike: list[Message], rng: random.Random) -> str:
    """Clears a field, or gives it another value."""
    if part.HasField(field.name) and rng.random() < 0.2:
        part.ClearField(field.name)
        return "gone"
    if field.message_type is None:
        value = _value(field, rng, [getattr(other, field.name) for other in alike])
        setattr(part, field.name, value)
        return _short(value)
    donors = [getattr(other, field.name) for other in alike if other.HasField(field.name)]
    if not donors or rng.random() < 0.3:
        part.ClearField(field.name)
        getattr(part, field.name).SetInParent()
        return "empty"
    copy = type(donors[0])()
    copy.CopyFrom(rng.choice(donors))
    getattr(part, field.name).CopyFrom(copy)
    return f"that of another {part.DESCRIPTOR.name}"


def _change_list(part: Message, field: FieldDescriptor, alike: list[Message], rng: random.Random) -> str:
    """Cuts a list, doubles it, gives it another order, another item or the items of another message."""
    items = getattr(part, field.name)
    acts: list[Callable[[], str]] = [lambda: _append(items, field, alike, rng)]
    if len(items):
        acts += [lambda: _cut(items, rng), lambda: _double(items, field, rng)]
        acts += [lambda: _replace(items, field, alike, rng)] if field.message_type is None else []
    if len(items) > 1:
        acts.append(lambda: _shuffle(part, field, rng))
    return rng.choice(acts)()


def _append(items: Any, field: FieldDescriptor, alike: list[Message], rng: random.Random) -> str:
    others = [item for other in alike for item in getattr(other, field.name)]
    if field.message_type is None:
        value = _value(field, rng, others)
        count = rng.choice([1, 1, 1, 2, 30])
        items.extend([value] * count)
        return f"{count} more: {_short(value)}"
    if not others or rng.random() < 0.3:
        items.add()
        return "an empty one more"
    copy = type(others[0])()
    copy.CopyFrom(rng.choice(others))
    items.append(copy)
    return f"one more of another {field.containing_type.name}"


def _cut(items: Any, rng: random.Random) -> str:
    first = rng.randrange(len(items))
    last = rng.choice([first + 1, len(items)])
    del items[first:last]
    return f"without {first} to {last - 1}"


def _double(items: Any, field: FieldDescriptor, rng: random.Random) -> str:
    item = rng.choice(items)
    if field.message_type is None:
        items.append(item)
    else:
        copy = type(item)()
        copy.CopyFrom(item)
        items.append(copy)
    return "an item twice"


def _replace(items: Any, field: FieldDescriptor, alike: list[Message], rng: random.Random) -> str:
    i = rng.randrange(len(items))
    value = _value(field, rng, [item for other in alike for item in getattr(other, field.name)])
    items[i] = value
    return f"[{i}] -> {_short(value)}"


def _shuffle(part: Message, field: FieldDescriptor, rng: random.Random) -> str:
    items = list(getattr(part, field.name))
    if field.message_type is not None:
        items = [type(item).FromString(item.SerializeToString()) for item in items]
    rng.shuffle(items)
    part.ClearField(field.name)
    getattr(part, field.name).extend(items)
    return "in another order"


def _value(field: FieldDescriptor, rng: random.Random, known: list[Any]) -> Any:
    """A value that a field may have: an odd one, or that of another message."""
    kind = field.cpp_type
    if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return rng.choice(FLOATS)
    if known and rng.random() < 0.4:
        return rng.choice(known)
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return rng.choice([value.number for value in field.enum_type.values])
    if kind == FieldDescriptor.CPPTYPE_STRING and field.type == FieldDescriptor.TYPE_BYTES:
        before = rng.choice(known) if known else b""
        return rng.choice([b"", before[:-1], before + b"\0", before * 2, b"\xff" + before[1:], b"edge", b"reflect"])
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return rng.choice(TEXTS)
    low, high = {
        FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
        FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
    }.get(kind, (-(2**63), 2**63 - 1))
    return rng.choice([number for number in NUMBERS if low <= number <= high])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
