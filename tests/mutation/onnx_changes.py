"""Makes one part of a model wrong: any field of any message, or a break that chance would seldom make."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import helper
from onnx.onnx_pb import AttributeProto, ModelProto, NodeProto, TensorProto

NUMBERS = [0, 1, -1, 2, 3, 5, 7, 8, 16, 17, 18, 22, 100, 1000, 2**31 - 1, -(2**31), 2**31, 2**62, 2**63 - 1, -(2**63)]
TEXTS = "x y pads value mode Pad If Loop padops Pad_18 ai.onnx Constant ä/.. \0".split(" ") + [""]
FLOATS = [0.0, -1.0, 1e38, float("nan"), float("inf"), 1e-45]
BYTES = [b"", b"\0", b"\xff seven", b"edge", b"reflect"]
NOT_UTF8 = b"\xc3(\xff\xfe\x80"
PLACE = "NoUTF"  # has as many bytes; takes its place once the model is serialized


def parts(message: Message, path: str = "model") -> Iterator[tuple[Message, str]]:
    """A message and all inside it, each with where it is."""
    yield message, path
    for field, value in message.ListFields():
        if field.message_type is not None:
            several = not isinstance(value, Message)
            for i, item in enumerate(value if several else [value]):
                yield from parts(item, f"{path}.{field.name}" + (f"[{i}]" if several else ""))


def field_changed(model: ModelProto, rng: random.Random) -> str:
    """The type stays right, the value is odd, or that of another message; a list is cut, longer or shuffled."""
    found = list(parts(model))
    kind = rng.choice(sorted({part.DESCRIPTOR.name for part, _ in found}))
    part, path = rng.choice([row for row in found if row[0].DESCRIPTOR.name == kind])
    present = [field for field, _ in part.ListFields()]
    field = rng.choice(present if present and rng.random() < 0.75 else list(part.DESCRIPTOR.fields))
    known = [value for other, _ in found if other.DESCRIPTOR is part.DESCRIPTOR for value in _values(other, field)]
    values, act = _values(part, field), rng.choice(["set", "set", "more", "cut", "twice", "shuffle"])
    at = rng.randrange(len(values) or 1)
    if act == "set":
        values[at : at + 1] = [_value(field, rng, known)]
    elif act == "more":
        values += [_value(field, rng, known)] * rng.choice([1, 1, 2, 30])
    elif act == "cut":
        del values[at : rng.choice([at + 1, len(values)])]
    elif act == "twice":
        values += values[at : at + 1]
    else:
        rng.shuffle(values)
    part.ClearField(field.name)
    if isinstance(getattr(part, field.name), (Message, str, bytes, int, float)):
        _set(part, field, values[at : at + 1])
    else:
        getattr(part, field.name).extend(values)
    return f"{path}.{field.name}: {act} {ascii(values)[:40]}"


def _values(part: Message, field: FieldDescriptor) -> list[Any]:
    """A list's items, a present field's value; copies of messages."""
    values = next((value for other, value in part.ListFields() if other.name == field.name), [])
    values = [values] if isinstance(values, (Message, str, bytes, int, float)) else values
    return [type(row).FromString(row.SerializeToString()) if field.message_type else row for row in values]


def _set(part: Message, field: FieldDescriptor, values: list[Any]) -> None:
    for value in values:
        if field.message_type is None:
            setattr(part, field.name, value)
        else:
            getattr(part, field.name).CopyFrom(value)
            getattr(part, field.name).SetInParent()


def _value(field: FieldDescriptor, rng: random.Random, known: list[Any]) -> Any:
    """A value that a field may have: an odd one, or that of another message."""
    if known and rng.random() < 0.5:
        return rng.choice(known)
    if field.message_type is not None:
        return message_factory.GetMessageClass(field.message_type)()
    kind = field.cpp_type
    if kind in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rng.choice(FLOATS)
    if kind == field.CPPTYPE_ENUM:
        return rng.choice([value.number for value in field.enum_type.values])
    if kind == field.CPPTYPE_STRING:
        return rng.choice(BYTES if field.type == field.TYPE_BYTES else TEXTS)
    ends = {field.CPPTYPE_INT32: (-(2**31), 2**31 - 1), field.CPPTYPE_UINT64: (0, 2**64 - 1)}
    low, high = ends.get(kind, (-(2**63), 2**63 - 1))
    return rng.choice([number for number in NUMBERS if low <= number <= high])


def _of(model: ModelProto, kind: type) -> list[Any]:
    return [part for part, _ in parts(model) if isinstance(part, kind)]


def name_taken(model: ModelProto, rng: random.Random) -> str:
    """A node reads or makes the value of another one: cycles, names that two nodes make."""
    lists = [items for node in _of(model, NodeProto) for items in (node.input, node.output) if items]
    if not lists:
        return "no name"
    items, name = rng.choice(lists), rng.choice(rng.choice(lists))
    items[rng.randrange(len(items))] = name
    return f"{name!r} in another place"


def recursion(model: ModelProto, rng: random.Random) -> str:
    """Functions that call themselves, directly or in turn; or many calls of calls."""
    count, closed = rng.choice([1, 2, 3, 12, 40]), rng.random() < 0.6
    imports = [*model.opset_import, helper.make_opsetid("loop", 1)]
    for i in range(count):
        inner = f"R{(i + 1) % count}" if closed or i + 1 < count else None
        calls = [NodeProto(op_type=inner, domain="loop", input=[x], output=[y]) for x, y in ("xa", "ay")]
        body = calls if inner else [helper.make_node("Identity", ["x"], ["y"])]
        model.functions.append(helper.make_function("loop", f"R{i}", ["x"], ["y"], body, imports))
    model.opset_import.add(domain="loop", version=1)
    source = next((value.name for value in model.graph.input), "x")
    model.graph.node.add(op_type="R0", domain="loop", input=[source], output=["recursive"])
    return f"{count} functions, each calls the next twice" + (", the last the first" if closed else "")


def text(model: ModelProto, rng: random.Random) -> str:
    """A name that is no UTF-8."""
    rows = [(part, field) for part, _ in parts(model) for field in part.DESCRIPTOR.fields if field.type == 9]
    part, field = rng.choice(rows)
    if isinstance(getattr(part, field.name), str):
        setattr(part, field.name, PLACE)
    else:
        getattr(part, field.name).append(PLACE)
    return f"{field.full_name} is not UTF-8"


def external(model: ModelProto, rng: random.Random) -> str:
    """An entry of external data that is wrong."""
    if not (tensors := _of(model, TensorProto)):
        return "no tensor"
    tensor = rng.choice(tensors)
    if rng.random() < 0.5:
        tensor.data_location = TensorProto.EXTERNAL
    key = rng.choice(["location", "offset", "length", "checksum", "", "else"])
    value = rng.choice(["9" * 5000, "-1", "0", "1", "", "x", "1e3", "²", "weights.bin", "../w", "/etc/passwd",
                        str(2**63), "a" * 300, "\0", "*/_ORT_MEM_ADDR_/*"])  # fmt: skip
    kept = [(row.key, row.value) for row in tensor.external_data if row.key != key]
    tensor.ClearField("external_data")
    for row in (*kept, (key, value)):
        tensor.external_data.add(key=row[0], value=row[1])
    return f"tensor {tensor.name!r}: external {key} {value[:30]!r}"


def sparse(model: ModelProto, rng: random.Random) -> str:
    values = helper.make_tensor("sparse", TensorProto.FLOAT, [2], [1, 2])
    made = helper.make_sparse_tensor(values, helper.make_tensor("places", TensorProto.INT64, [2], [0, 3]), [5])
    if rng.random() < 0.5:
        model.graph.sparse_initializer.append(made)
        return "a sparse initializer"
    model.graph.node.insert(0, helper.make_node("Constant", [], ["sparse_constant"], sparse_value=made))
    return "a sparse constant"


CHANGES = [*[field_changed] * 8, *[name_taken] * 2, recursion, text, external, sparse]


def serialize(model: ModelProto) -> bytes:
    """The model's bytes, with what is no UTF-8 in its place."""
    return model.SerializeToString(deterministic=True).replace(PLACE.encode(), NOT_UTF8)


def deep(content: bytes, levels: int) -> bytes:
    """A model whose graph is inside as many Ifs, in bytes: no library of protobuf would copy it."""
    model = ModelProto.FromString(content)
    graph, outputs = model.graph.SerializeToString(), list(model.graph.output)
    model.ClearField("graph")
    ends = b"".join(_field(12, value.SerializeToString()) for value in outputs)
    kind = AttributeProto(name="then_branch", type=AttributeProto.GRAPH).SerializeToString()
    node = NodeProto(op_type="If", input=["deep"], output=[value.name for value in outputs]).SerializeToString()
    for _ in range(levels):
        graph = _field(1, node + _field(5, kind + _field(6, graph))) + _field(2, b"outer") + ends
    tensor = TensorProto(name="deep", data_type=TensorProto.BOOL, int32_data=[1])
    return model.SerializeToString() + _field(7, graph + _field(5, tensor.SerializeToString()))


def _field(number: int, content: bytes) -> bytes:
    """A field of a message, with its length in front, seven bits in a byte."""
    made, size = bytearray([number << 3 | 2]), len(content)
    while size > 127:
        made.append(size & 127 | 128)
        size >>= 7
    return bytes([*made, size]) + content
