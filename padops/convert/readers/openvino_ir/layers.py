"""Layers of OpenVINO become ONNX operators, by the rules of ``onnxifier``.

No other rules are maintained, but onnxifier 2.0.3 loses and invents parts of models. It drops an attribute that no rule
reads. A layer without a rule becomes the ONNX operator of the same name, whatever that does. A missing ``.bin`` is read
as zeros. A rule that asks for a value which depends on the model's inputs gets a value computed from random numbers.

So padops reads the files itself (``reader.py``, ``builder.py``). Rules get only constants, and their reads are recorded
(``rules.py``). Only layers that were compared with OpenVINO are converted (``tables.py``), except known faults
(``checks.py``). The resulting shapes must be those of the IR. Everything else is refused, in one message. Pads stay
unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx
from onnx import helper

from padops.convert.errors import PadopsError
from padops.convert.readers.limits import listing
from padops.convert.readers.openvino_ir.checks import Seen, wrong_with
from padops.convert.readers.openvino_ir.constants import fold_constants
from padops.convert.readers.openvino_ir.forms import name_all_axes, prepare, replace_nodes
from padops.convert.readers.openvino_ir.rules import apply_rules
from padops.convert.readers.openvino_ir.tables import OWN, REPAIRS, RULES, SAME, changes_nothing, inputs_of
from padops.convert.readers.openvino_ir.values import Unreadable, Values, attributes_of, dims_of
from padops.convert.sources.openvino import DOMAIN


def convert_layers(message: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """Turns every layer but the Pads of what ``build`` gives into ONNX operators; the message is changed.

    Raises:
        PadopsError: Some layers cannot be converted; the message lists them with the reasons. Or they need onnxifier,
            which is not installed.
    """
    fold_constants(message, path)
    values = Values.of(message)
    refusals = _refusals(message, values)
    declared = list(onnx.GraphProto(value_info=message.graph.value_info).value_info)
    if not refusals:
        prepare(message, values)
    layers = {node.name: node for node in onnx.GraphProto(node=message.graph.node).node if node.domain == DOMAIN}
    if not refusals:
        foreign = {name: node for name, node in layers.items() if node.op_type != "Pad"}
        if foreign:
            message, refusals = apply_rules(message, foreign, path)
    if refusals:
        lines = [f"{layers[name].op_type} '{name}': {reason}" for name, reason in refusals.items()]
        raise PadopsError(f"{path}: {len(lines)} of its {len(layers)} layers cannot be converted:{listing(lines)}")
    _repair(message, layers)
    name_all_axes(message, values)
    _tidy(message)
    _compare_shapes(message, declared, path)
    return message


def _refusals(message: onnx.ModelProto, values: Values) -> dict[str, str]:
    """The layers that are known to be inconvertible, with the reasons."""
    refusals = {}
    for node in message.graph.node:
        if node.domain == DOMAIN and (reason := _refusal(node, values)):
            refusals[node.name] = reason
    return refusals


def _refusal(node: onnx.NodeProto, values: Values) -> str | None:
    """Why a layer cannot be converted."""
    least, most = inputs_of(node.op_type)
    if not least <= len(node.input) <= most:
        return f"it has {len(node.input)} inputs, expected {least if least == most else f'{least} to {most}'}"
    if not node.output:
        return "it has no outputs"
    try:
        return _refusal_of(Seen.of(node, values))
    except Unreadable as error:
        return str(error)


def _refusal_of(seen: Seen) -> str | None:
    """Why a layer with the right number of inputs cannot be converted."""
    kind = seen.node.op_type
    if reason := wrong_with(seen):
        return reason
    if kind in SAME:
        lost = [
            f"{name}='{value}'" for name, value in seen.attributes.items() if not changes_nothing(kind, name, value)
        ]
        return f"ONNX's {SAME[kind]} does not have {lost[0]}" if lost else None
    return None if kind in RULES or kind in OWN or kind == "Pad" else "there is no rule for this type of layer"


def _repair(message: onnx.ModelProto, layers: Mapping[str, onnx.NodeProto]) -> None:
    """Gives nodes the attributes that onnxifier has dropped."""
    for node in message.graph.node:
        if node.name not in layers or node.domain == DOMAIN:
            continue
        layer = layers[node.name]
        for kind, name, value, onnx_name, onnx_value in REPAIRS:
            if layer.op_type == kind and attributes_of(layer).get(name) == value:
                kept = [attribute for attribute in node.attribute if attribute.name != onnx_name]
                node.ClearField("attribute")
                node.attribute.extend([*kept, helper.make_attribute(onnx_name, onnx_value)])


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
            nodes.append(node)
    replace_nodes(message, nodes[::-1])


def _compare_shapes(message: onnx.ModelProto, declared: list[onnx.ValueInfoProto], path: Path) -> None:
    """Refuses a model that is not valid, or not of the types and shapes that the IR states, which stay."""
    made = {name for node in message.graph.node for name in node.output}
    made -= {output.name for output in message.graph.output}
    del message.graph.value_info[:]
    message.graph.value_info.extend(value for value in declared if value.name in made)
    for value in (*message.graph.input, *message.graph.output, *message.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")  # they were names for onnxifier
    # The checker wants a shape of inputs and outputs even where no rank is known; it does not look at what it is.
    unranked = [
        value for value in (*message.graph.input, *message.graph.output) if dims_of(value.type.tensor_type) is None
    ]
    try:
        onnx.shape_inference.infer_shapes(message, check_type=True, strict_mode=True)
        for value in unranked:
            value.type.tensor_type.shape.SetInParent()
        onnx.checker.check_model(message)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        said = " ".join(str(error).split())  # a line for each node
        raise PadopsError(f"{path}: what onnxifier makes of it is not a valid model of these shapes: {said}") from error
    for value in unranked:
        value.type.tensor_type.ClearField("shape")
