"""Layers of OpenVINO become ONNX operators, by the rules of ``onnxifier``.

They are the only ones that somebody maintains, but in 2.0.3 they drop what they do not look at and make up what they do
not know: an attribute that no rule reads is gone, a layer without a rule becomes the ONNX operator of that name whatever
it does, a missing ``.bin`` is zeros, and a rule that wants a value which depends on the model's inputs is given one that
was computed from random numbers. So the files are read by ``reader.py``; rules are told only what is constant, and what
they read is recorded (``rules.py``); only layers that were compared with OpenVINO are converted (``tables.py``), without
what is known to go wrong (``checks.py``); and the shapes that come out have to be those of the IR. What does not stand
that is refused, all of it in one message. Pads stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.openvino_ir.checks import CHECKS, Seen
from padops.convert.openvino_ir.reader import ELEMENT_TYPES
from padops.convert.openvino_ir.rules import apply_rules
from padops.convert.openvino_ir.tables import INT64_INPUTS, RANK_1_INPUTS, REPAIRS, RULES, SAME, harmless
from padops.convert.sources.openvino import DOMAIN

SHOWN = 20  # layers in a message
SMALL = 1024  # bytes of a constant that a check may look into


def convert_layers(message: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """Turns every layer but the Pads into ONNX operators.

    Args:
        message: What ``read_layers`` gives; it is changed.
        path: Of the IR, for messages.

    Raises:
        PadopsError: Some layers cannot be converted; the message lists them with the reasons. Or they need onnxifier,
            which is not installed.
    """
    layers = {node.name: _copy(node) for node in message.graph.node if node.domain == DOMAIN}
    declared = [_copy(value) for value in message.graph.value_info]
    refusals = _refusals(message)
    foreign = {name: _attributes(node) for name, node in layers.items() if node.op_type in RULES}
    if not refusals:
        _take_over(message)
        if foreign:
            kinds = {name: layers[name].op_type for name in foreign}
            message, refusals = apply_rules(message, foreign, kinds, path)
    if refusals:
        lines = [f"{layers[name].op_type} '{name}': {reason}" for name, reason in refusals.items()]
        more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        listing = "\n  ".join([*lines[:SHOWN], *more])
        raise PadopsError(f"{path}: {len(lines)} of its {len(layers)} layers cannot be converted:\n  {listing}")
    _repair(message, layers)
    _tidy(message)
    _compare_shapes(message, declared, path)
    return message


def _copy(message):
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def _attributes(node: onnx.NodeProto) -> dict[str, str]:
    return {attribute.name: attribute.s.decode() for attribute in node.attribute}


def _refusals(message: onnx.ModelProto) -> dict[str, str]:
    """The layers of which it can be told beforehand that they cannot be converted, with the reasons."""
    graph = message.graph
    constants = {node.output[0]: node.attribute[0].t for node in graph.node if node.op_type == "Constant"}
    small = {name: t for name, t in constants.items() if len(t.raw_data) <= SMALL}
    values = {value.name: value.type.tensor_type for value in (*graph.input, *graph.value_info)}
    refusals = {}
    for node in graph.node:
        if node.domain == DOMAIN:
            seen = Seen(
                node,
                _attributes(node),
                values[node.input[0]].elem_type if node.input else None,
                [_dims(values[name]) for name in node.input],
                [numpy_helper.to_array(small[name]).tolist() if name in small else None for name in node.input],
            )
            if reason := _refusal(seen):
                refusals[node.name] = reason
    return refusals


def _dims(type: onnx.TypeProto.Tensor) -> list[int | str] | None:
    return [dim.dim_param or dim.dim_value for dim in type.shape.dim] if type.HasField("shape") else None


def _refusal(seen: Seen) -> str | None:
    """Why a layer cannot be converted."""
    kind = seen.node.op_type
    if kind in CHECKS and (reason := CHECKS[kind](seen)):
        return reason
    if kind in SAME:
        lost = [f"{name}='{value}'" for name, value in seen.attributes.items() if not harmless(kind, name, value)]
        return f"ONNX's {SAME[kind]} does not have {lost[0]}" if lost else None
    if kind == "Convert" and seen.attributes.get("destination_type") not in ELEMENT_TYPES:
        return f"ONNX does not have the type {seen.attributes.get('destination_type')}"
    return None if kind in RULES or kind in ("Convert", "Pad") else "there is no rule for this type of layer"


def _take_over(message: onnx.ModelProto) -> None:
    """Makes ONNX nodes of the layers that need no rule, and gives inputs of others the form that ONNX wants."""
    constants = {node.output[0]: node.attribute[0].t for node in message.graph.node if node.op_type == "Constant"}
    types = {value.name: value.type.tensor_type.elem_type for value in (*message.graph.input, *message.graph.value_info)}
    nodes = []
    for node in message.graph.node:
        kind = node.op_type if node.domain == DOMAIN else ""
        at = INT64_INPUTS.get(kind)
        if at is not None and types[node.input[at]] != TensorProto.INT64:
            nodes.append(_to_int64(node, at, constants))
        at = RANK_1_INPUTS.get(kind)
        if at is not None and at < len(node.input) and node.input[at] in constants:
            array = numpy_helper.to_array(constants[node.input[at]])
            if array.ndim == 0:
                nodes.append(_constant(f"{node.name}/{at}", array.reshape(1)))
                node.input[at] = nodes[-1].output[0]
                message.graph.value_info.append(_declaration(nodes[-1]))
        if kind in SAME or kind == "Convert":
            target = {"to": ELEMENT_TYPES[_attributes(node)["destination_type"]]} if kind == "Convert" else {}
            nodes.append(helper.make_node(SAME.get(kind, "Cast"), node.input, node.output, node.name, **target))
        else:
            nodes.append(_copy(node))
    _replace_nodes(message, nodes)


def _constant(name: str, array: np.ndarray) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], name=name, value=numpy_helper.from_array(array))


def _declaration(node: onnx.NodeProto) -> onnx.ValueInfoProto:
    """Of the value of a Constant node; onnxifier wants one for each value."""
    tensor = node.attribute[0].t
    return helper.make_tensor_value_info(node.output[0], tensor.data_type, tensor.dims)


def _to_int64(node: onnx.NodeProto, at: int, constants: Mapping[str, onnx.TensorProto]) -> onnx.NodeProto:
    """A node before ``node`` that gives its input at a position as int64."""
    source, name = node.input[at], f"{node.name}/{at}"
    node.input[at] = name
    if source in constants:
        return _constant(name, numpy_helper.to_array(constants[source]).astype(np.int64))
    return helper.make_node("Cast", [source], [name], name=name, to=TensorProto.INT64)


def _replace_nodes(message: onnx.ModelProto, nodes: list[onnx.NodeProto]) -> None:
    del message.graph.node[:]
    message.graph.node.extend(nodes)


def _repair(message: onnx.ModelProto, layers: Mapping[str, onnx.NodeProto]) -> None:
    """Gives nodes the attributes that onnxifier has dropped, and takes outputs that only cost time from them."""
    read = {name for node in message.graph.node for name in node.input} | {out.name for out in message.graph.output}
    for node in message.graph.node:
        if node.name not in layers or node.domain == DOMAIN:
            continue
        layer = layers[node.name]
        for kind, name, value, onnx_name, onnx_value in REPAIRS:
            if layer.op_type == kind and _attributes(layer).get(name) == value:
                kept = [attribute for attribute in node.attribute if attribute.name != onnx_name]
                node.ClearField("attribute")
                node.attribute.extend([*kept, helper.make_attribute(onnx_name, onnx_value)])
        if node.op_type == "MaxPool" and len(node.output) > 1 and node.output[1] not in read:
            node.output.pop()  # the indices; ONNX Runtime is much slower with them


def _tidy(message: onnx.ModelProto) -> None:
    """Drops nodes that nothing reads, and makes initializers of Constant nodes: those may move to a data file."""
    graph, nodes = message.graph, []
    read = {output.name for output in graph.output}
    for node in reversed(graph.node):
        if read.isdisjoint(node.output):
            continue
        read.update(node.input)
        if node.op_type == "Constant" and node.domain == "" and node.attribute[0].name == "value":
            tensor = graph.initializer.add()
            tensor.CopyFrom(node.attribute[0].t)
            tensor.name = node.output[0]
        else:
            nodes.append(_copy(node))
    _replace_nodes(message, nodes[::-1])


def _compare_shapes(message: onnx.ModelProto, declared: list[onnx.ValueInfoProto], path: Path) -> None:
    """Holds the types and shapes that onnx infers against those that the IR states, and keeps the latter.

    Raises:
        PadopsError: They differ, or the model is not a valid one.
    """
    made = {name for node in message.graph.node for name in node.output}
    del message.graph.value_info[:]
    message.graph.value_info.extend(value for value in declared if value.name in made)
    for value in (*message.graph.input, *message.graph.output, *message.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")  # they were names for onnxifier
    # The checker wants a shape of inputs and outputs even where no rank is known; it does not look at what it is.
    open_rank = [value for value in (*message.graph.input, *message.graph.output) if _dims(value.type.tensor_type) is None]
    try:
        onnx.shape_inference.infer_shapes(message, check_type=True, strict_mode=True)
        for value in open_rank:
            value.type.tensor_type.shape.SetInParent()
        onnx.checker.check_model(message)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        raise PadopsError(f"{path}: what onnxifier makes of it is not a valid model of these shapes: {error}") from error
    for value in open_rank:
        value.type.tensor_type.ClearField("shape")
