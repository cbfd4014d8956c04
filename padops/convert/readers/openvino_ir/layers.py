"""Layers of OpenVINO become ONNX operators, by the rules of ``rules.py``.

Only layers that were compared with OpenVINO are converted, and the resulting shapes must be those of the IR. Everything
else is refused, in one message. Pads stay unchanged.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

import onnx
from onnx import helper

from padops.convert.errors import PadopsError
from padops.convert.matchers.openvino import DOMAIN
from padops.convert.readers.limits import listing
from padops.convert.readers.openvino_ir.constants import fold_constants
from padops.convert.readers.openvino_ir.layer import Unreadable
from padops.convert.readers.openvino_ir.rules import onnx_nodes
from padops.convert.readers.openvino_ir.values import SMALL, Values
from padops.plural import plural


def convert_layers(message: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """Turns every layer but the Pads of what ``build`` gives into ONNX operators; the message is changed.

    Raises:
        PadopsError: Some layers cannot be converted; they are listed with the reasons. Or the result is not valid.
            Constants have been folded, and no more.
    """
    values = Values.of(message)
    lacking = fold_constants(message, values, path)
    nodes: list[onnx.NodeProto] = []
    refusals: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in message.graph.node:
        try:
            nodes += onnx_nodes(node, values) if node.domain == DOMAIN else [node]
        except Unreadable as error:
            whys = [lacking[name] for name in (*node.input, *node.output) if name in lacking]
            refusals[node.op_type, "; ".join(dict.fromkeys((str(error), *whys)))].append(node.name)
    if refusals:
        lines = [
            f"{kind} '{names[0]}'{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {reason}"
            for (kind, reason), names in refusals.items()
        ]
        count, all = sum(map(len, refusals.values())), sum(node.domain == DOMAIN for node in message.graph.node)
        raise PadopsError(f"{path}: {count} of its {plural(all, 'layer')} cannot be converted:{listing(lines)}")
    _replace(message, nodes, values, path)
    return message


def _needed(nodes: list[onnx.NodeProto], outputs: Collection[str]) -> tuple[list[onnx.NodeProto], set[str]]:
    """The nodes that something reads, and the names of all that is read."""
    kept: list[onnx.NodeProto] = []
    read = set(outputs)
    for node in reversed(nodes):
        if read.isdisjoint(node.output):
            continue
        read.update(node.input)
        if node.op_type == "MaxPool" and len(node.output) > 1 and node.output[1] not in read:
            node.output.pop()  # the indices; ONNX Runtime is slower with them
        kept.append(node)
    return kept[::-1], read


def _replace(message: onnx.ModelProto, nodes: list[onnx.NodeProto], values: Values, path: Path) -> None:
    """Gives a model its nodes; refuses one that is not valid, or not of the shapes that the IR states, which stay."""
    graph = message.graph
    outputs = {output.name for output in graph.output}
    nodes, read = _needed(nodes, outputs)
    tensors = [tensor for name, tensor in values.tensors.items() if name in read]
    made = {name for node in nodes for name in node.output} - outputs
    declared = [value for value in graph.value_info if value.name in made]
    light = onnx.ModelProto(ir_version=message.ir_version, opset_import=message.opset_import)
    light.graph.MergeFrom(onnx.GraphProto(name=graph.name, input=graph.input, output=graph.output))
    light.graph.node.extend(nodes)
    light.graph.value_info.extend(declared)
    for tensor in tensors:  # without large weights, which would be copied
        if math.prod(tensor.dims) <= SMALL:
            light.graph.initializer.append(tensor)
        else:
            light.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    _check(light, path)
    graph.ClearField("node")
    graph.node.extend(nodes)
    for i in reversed([i for i, value in enumerate(graph.value_info) if value.name not in made]):
        del graph.value_info[i]
    known = {tensor.name for tensor in graph.initializer}
    graph.initializer.extend(tensor for tensor in tensors if tensor.name not in known)
    for i in reversed([i for i, tensor in enumerate(graph.initializer) if tensor.name not in read]):
        del graph.initializer[i]


def _check(message: onnx.ModelProto, path: Path) -> None:
    # The checker wants a shape of inputs and outputs even where no rank is known; it does not look at what it is.
    unranked = [
        value for value in (*message.graph.input, *message.graph.output) if not value.type.tensor_type.HasField("shape")
    ]
    try:
        onnx.shape_inference.infer_shapes(message, check_type=True, strict_mode=True)
        for value in unranked:
            value.type.tensor_type.shape.SetInParent()
        onnx.checker.check_model(message)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        said = " ".join(str(error).split())  # a line for each node
        raise PadopsError(f"{path}: what its layers become is not a valid model of these shapes: {said}") from error
