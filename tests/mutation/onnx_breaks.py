"""Breaks that chance would seldom make: recursion, cycles, depth, growth, names that are no text, odd files."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
from onnx import helper, numpy_helper
from onnx.onnx_pb import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

from .onnx_changes import NUMBERS, parts

NOT_UTF8 = b"\xc3(\xff\xfe\x80"
PLACE = "NoUTF"  # has as many bytes; takes its place once the model is serialized

Break = Callable[[ModelProto, random.Random], str]


def _of(model: ModelProto, kind: type) -> list:
    return [part for part, _ in parts(model) if isinstance(part, kind)]


def _default_version(model: ModelProto) -> int:
    return next((row.version for row in model.opset_import if row.domain in ("", "ai.onnx")), 1)


def cycle(model: ModelProto, rng: random.Random) -> str:
    nodes = [node for node in _of(model, NodeProto) if node.input and node.output]
    if not nodes:
        return "no node to make a cycle of"
    node = rng.choice(nodes)
    later = rng.choice(nodes)
    node.input[rng.randrange(len(node.input))] = later.output[0]
    return f"{node.op_type} {node.name!r} reads {later.output[0]!r}"


def reversed_nodes(model: ModelProto, rng: random.Random) -> str:
    graph = rng.choice([part for part in (*_of(model, GraphProto), *model.functions)])
    nodes = [NodeProto.FromString(node.SerializeToString()) for node in reversed(graph.node)]
    del graph.node[:]
    graph.node.extend(nodes)
    return f"the nodes of {graph.name!r} the other way round"


def tensor_numbers(model: ModelProto, rng: random.Random) -> str:
    """A tensor whose type, dims and elements do not fit together."""
    tensors = _of(model, TensorProto)
    if not tensors:
        return "no tensor"
    tensor = rng.choice(tensors)
    what = rng.choice(["raw", "ints", "type", "dims", "strings", "both"])
    if what in ("raw", "both"):
        tensor.raw_data = tensor.raw_data[:7] or b"seven b"
    if what in ("ints", "both"):
        tensor.int64_data.extend([1, 2, 3])
    if what == "type":
        tensor.data_type = rng.randrange(-1, 40)
    if what == "dims":
        dims = [rng.choice(NUMBERS) for _ in range(rng.randrange(4))]
        del tensor.dims[:]
        tensor.dims.extend(dims)
    if what == "strings":
        tensor.data_type = TensorProto.STRING
        tensor.string_data.extend([b"\xff", b"a"])
    return f"tensor {tensor.name!r}: another {what}"


def opsets(model: ModelProto, rng: random.Random) -> str:
    rows = [*model.opset_import, *(row for function in model.functions for row in function.opset_import)]
    version = rng.choice([0, -1, 1, 2, 5, 9, 10, 11, 12, 26, 27, 1000, 2**31, 2**62])
    if rows and rng.random() < 0.7:
        row = rng.choice(rows)
        row.version = version
        return f"opset of {row.domain!r} is {version}"
    model.opset_import.add(domain=rng.choice(["", "ai.onnx", "padops", "com.microsoft"]), version=version)
    return f"one more opset, {version}"


def reference(model: ModelProto, rng: random.Random) -> str:
    attributes = [(node, attribute) for node in _of(model, NodeProto) for attribute in node.attribute]
    if not attributes:
        return "no attribute"
    node, attribute = rng.choice(attributes)
    attribute.ref_attr_name = rng.choice(["mode", "pads", "nothing", attribute.name])
    return f"{attribute.name!r} of {node.op_type} {node.name!r} refers to {attribute.ref_attr_name!r}"


def attribute_kind(model: ModelProto, rng: random.Random) -> str:
    """Give a node an attribute that states another type, occurs twice, or does not belong to the operator."""
    nodes = _of(model, NodeProto)
    node = rng.choice(nodes)
    if node.attribute and rng.random() < 0.7:
        attribute = rng.choice(node.attribute)
        if rng.random() < 0.3:
            node.attribute.append(AttributeProto.FromString(attribute.SerializeToString()))
            return f"{attribute.name!r} of {node.op_type} twice"
        attribute.type = rng.choice([*AttributeProto.AttributeType.values()])
        return f"{attribute.name!r} of {node.op_type} is a {attribute.type}"
    name = rng.choice(
        ["mode", "pads", "paddings", "value", "axis", "to", "auto_pad", "strides", "kernel_shape", "body"]
    )
    value = rng.choice([1, 1.5, "edge", [1, 2], [1.5], ["a"], numpy_helper.from_array(np.zeros(3))])
    node.attribute.append(helper.make_attribute(name, value))
    return f"{name} = {value!r}"[:80] + f" for {node.op_type}"


def inputs(model: ModelProto, rng: random.Random) -> str:
    node = rng.choice(_of(model, NodeProto))
    count = rng.choice([0, 1, 2, 5, 40])
    names = list(node.input) or ["x"]
    del node.input[:]
    node.input.extend((names * 40)[:count])
    return f"{node.op_type} {node.name!r} with {count} inputs"


def outputs(model: ModelProto, rng: random.Random) -> str:
    node = rng.choice(_of(model, NodeProto))
    count = rng.choice([0, 2, 5])
    name = node.output[0] if node.output else "y"
    del node.output[:]
    node.output.extend([rng.choice([name, f"{name}_{i}", ""]) for i in range(count)])
    return f"{node.op_type} {node.name!r} with outputs {list(node.output)}"


def recursion(model: ModelProto, rng: random.Random) -> str:
    """Functions that call themselves, directly or in turn; or many calls of calls."""
    version = _default_version(model)
    count = rng.choice([1, 2, 3, 12, 40])
    closed = rng.random() < 0.6
    for i in range(count):
        inner = f"R{(i + 1) % count}" if closed or i + 1 < count else None
        calls = [NodeProto(op_type=inner, domain="loop", input=[x], output=[y]) for x, y in ("xa", "ay")]
        body = calls if inner else [helper.make_node("Identity", ["x"], ["y"])]
        imports = [helper.make_opsetid("", version), helper.make_opsetid("loop", 1)]
        model.functions.append(helper.make_function("loop", f"R{i}", ["x"], ["y"], body, imports))
    model.opset_import.add(domain="loop", version=1)
    source = next((value.name for value in model.graph.input), "x")
    model.graph.node.add(op_type="R0", domain="loop", input=[source], output=["recursive"])
    return f"{count} functions, each calls the next twice" + (", the last the first" if closed else "")


def deep(content: bytes, levels: int) -> bytes:
    """A model whose graph is inside as many Ifs, in bytes: no library of protobuf would copy it."""
    model = ModelProto.FromString(content)
    graph, outputs = model.graph.SerializeToString(), list(model.graph.output)
    model.ClearField("graph")
    ends = b"".join(_field(12, value.SerializeToString()) for value in outputs)
    for _ in range(levels):
        kind = AttributeProto(name="then_branch", type=AttributeProto.GRAPH).SerializeToString()
        node = NodeProto(op_type="If", input=["deep"], output=[value.name for value in outputs]).SerializeToString()
        graph = _field(1, node + _field(5, kind + _field(6, graph))) + _field(2, b"outer") + ends
    tensor = TensorProto(name="deep", data_type=TensorProto.BOOL, int32_data=[1])
    return model.SerializeToString() + _field(7, graph + _field(5, tensor.SerializeToString()))


def _field(number: int, content: bytes) -> bytes:
    """A field of a message, with its length in front."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def texts(model: ModelProto, rng: random.Random) -> str:
    """A name that is no UTF-8."""
    part, path = rng.choice([row for row in parts(model) if any(_is_text(field) for field in row[0].DESCRIPTOR.fields)])
    field = rng.choice([field for field in part.DESCRIPTOR.fields if _is_text(field)])
    if isinstance(getattr(part, field.name), str):
        setattr(part, field.name, PLACE)
    else:
        getattr(part, field.name).append(PLACE)
    return f"{path}.{field.name} is not UTF-8"


def _is_text(field: object) -> bool:
    return field.type == field.TYPE_STRING


def external(model: ModelProto, rng: random.Random) -> str:
    """An entry of external data that is wrong."""
    tensors = _of(model, TensorProto)
    if not tensors:
        return "no tensor"
    tensor = rng.choice(tensors)
    if rng.random() < 0.5:
        tensor.data_location = TensorProto.EXTERNAL
    key = rng.choice(["location", "offset", "length", "checksum", "", "else"])
    value = rng.choice(["9" * 5000, "-1", "0", "1", "", "x", "1e3", "²", "weights.bin", "../w", "/etc/passwd",
                        str(2**63), "a" * 300,
                        "\0", "*/_ORT_MEM_ADDR_/*"])  # fmt: skip
    for pair in tensor.external_data:
        if pair.key == key:
            pair.value = value
            break
    else:
        tensor.external_data.add(key=key, value=value)
    return f"tensor {tensor.name!r}: external {key} {value[:30]!r}"


def sparse(model: ModelProto, rng: random.Random) -> str:
    values = helper.make_tensor("sparse", TensorProto.FLOAT, [2], [1, 2])
    places = helper.make_tensor("places", TensorProto.INT64, [2], [0, 3])
    made = helper.make_sparse_tensor(values, places, [5])
    if rng.random() < 0.5:
        model.graph.sparse_initializer.append(made)
        return "a sparse initializer"
    node = NodeProto(op_type="Constant", output=["sparse_constant"])
    node.attribute.append(helper.make_attribute("sparse_value", made))
    model.graph.node.insert(0, node)
    return "a sparse constant"


def names(model: ModelProto, rng: random.Random) -> str:
    """A name that two things have: outputs, inputs, initializers, functions."""
    given = [text for node in _of(model, NodeProto) for text in (*node.output, *node.input)]
    node = rng.choice(_of(model, NodeProto))
    if not given or not (node.output or node.input):
        return "no name"
    name, items = rng.choice(given), rng.choice([items for items in (node.input, node.output) if items])
    items[rng.randrange(len(items))] = name
    return f"{node.op_type} {node.name!r} has {name!r} as one of its inputs or outputs"


BREAKS: list[Break] = [
    cycle, reversed_nodes, tensor_numbers, opsets, reference, attribute_kind, inputs, outputs, recursion, texts,
    external,
    sparse, names,
]  # fmt: skip


def serialize(model: ModelProto) -> bytes:
    """The model's bytes, with what is no UTF-8 in its place."""
    return model.SerializeToString(deterministic=True).replace(PLACE.encode(), NOT_UTF8)
