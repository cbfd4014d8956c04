"""Layers of OpenVINO become ONNX operators, by the rules of ``onnxifier``.

No other rules are maintained, but onnxifier 2.0.3 loses and invents parts of models. It drops an attribute that no rule
reads. A layer without a rule becomes the ONNX operator of the same name, whatever that does. A missing ``.bin`` is read
as zeros. A rule that asks for a value which depends on the model's inputs gets a value computed from random numbers.
After each layer, it looks for the readers of all values again.

So padops reads the files itself (``reader.py``, ``builder.py``), and gives each rule its layer alone. Rules get only
constants; padops records what they read. Only layers that were compared with OpenVINO are converted (``tables.py``),
except known faults (``checks.py``). The resulting shapes must be those of the IR. Everything else is refused, in one
message. Pads stay unchanged.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
from onnx import helper

from padops.convert.errors import PadopsError
from padops.convert.matchers.openvino import DOMAIN
from padops.convert.readers.limits import listing
from padops.convert.readers.openvino_ir.checks import Seen, wrong_with
from padops.convert.readers.openvino_ir.constants import fold_constants
from padops.convert.readers.openvino_ir.forms import name_all_axes, prepare
from padops.convert.readers.openvino_ir.own import OWN, onnx_nodes
from padops.convert.readers.openvino_ir.tables import REPAIRS, RULES, SAME, changes_nothing, inputs_of
from padops.convert.readers.openvino_ir.values import SMALL, Unreadable, Values, attributes_of, dims_of
from padops.deferred import import_openvino
from padops.plural import plural


def convert_layers(message: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """Turns every layer but the Pads of what ``build`` gives into ONNX operators; the message is changed.

    Raises:
        PadopsError: Some layers cannot be converted; they are listed with the reasons. Or they need onnxifier, which is
            not installed, or the result is not valid. Constants have been folded, and no more.
    """
    values = Values.of(message)
    lacking = fold_constants(message, values, path, lambda node: _refusal(node, values) is not None)
    layers = [node for node in message.graph.node if node.domain == DOMAIN]
    rules = _rules({node.op_type for node in layers} & RULES, values, path)
    read = {name for node in message.graph.node for name in node.input} | {out.name for out in message.graph.output}
    nodes: list[onnx.NodeProto] = []
    refusals: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in message.graph.node:
        try:
            nodes += _converted(node, values, rules, read)
        except Unreadable as error:
            whys = [lacking[name] for name in (*node.input, *node.output) if name in lacking]
            refusals[node.op_type, "; ".join(dict.fromkeys((str(error), *whys)))].append(node.name)
    if refusals:
        lines = [_listed(kind, reason, names) for (kind, reason), names in refusals.items()]
        count = sum(map(len, refusals.values()))
        raise PadopsError(f"{path}: {count} of its {plural(len(layers), 'layer')} cannot be converted:{listing(lines)}")
    _replace(message, nodes, path)
    return message


def _listed(kind: str, reason: str, names: list[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{kind} '{names[0]}'{more}: {reason}"


def _converted(
    node: onnx.NodeProto, values: Values, rules: Mapping[str, Any], read: Collection[str]
) -> list[onnx.NodeProto]:
    """The nodes that a layer becomes.

    Raises:
        Unreadable: It cannot be converted.
    """
    if node.domain != DOMAIN:
        return [node]
    if reason := _refusal(node, values):
        raise Unreadable(reason)
    if node.op_type == "Pad":
        return [node]
    layer = onnx.NodeProto()
    layer.CopyFrom(node)
    made = prepare(layer, values, read)
    if layer.op_type in SAME:
        return [*made, helper.make_node(SAME[layer.op_type], layer.input, layer.output, layer.name)]
    if layer.op_type in OWN:
        return [*made, *onnx_nodes(layer, values)]
    return [*made, *name_all_axes(rules[layer.op_type].nodes_of(layer), values)]


def _refusal(node: onnx.NodeProto, values: Values) -> str | None:
    """Why a layer cannot be converted."""
    least, most = inputs_of(node.op_type)
    if not least <= len(node.input) <= most:
        return f"it has {plural(len(node.input), 'input')}, expected {least if least == most else f'{least} to {most}'}"
    if not node.output:
        return "it has no outputs"
    kind = node.op_type
    try:
        seen = Seen.of(node, values)
        if reason := wrong_with(seen):
            return reason
    except Unreadable as error:
        return str(error)
    if kind in SAME:
        lost = [
            f"{name}='{value}'" for name, value in seen.attributes.items() if not changes_nothing(kind, name, value)
        ]
        return f"ONNX's {SAME[kind]} does not have {lost[0]}" if lost else None
    return None if kind in RULES or kind in OWN or kind == "Pad" else "there is no rule for this type of layer"


def _needed(
    nodes: list[onnx.NodeProto], outputs: Collection[str]
) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto], set[str]]:
    """The nodes that something reads, the constants among them as tensors, and the names of all that is read."""
    kept: list[onnx.NodeProto] = []
    tensors: list[onnx.TensorProto] = []
    read = set(outputs)
    for node in reversed(nodes):
        if read.isdisjoint(node.output):
            continue
        read.update(node.input)
        if node.op_type == "Constant" and node.domain == "":  # an initializer may move to a file
            tensors.append(node.attribute[0].t)
            tensors[-1].name = node.output[0]
        else:
            kept.append(node)
    return kept[::-1], tensors, read


def _replace(message: onnx.ModelProto, nodes: list[onnx.NodeProto], path: Path) -> None:
    """Gives a model its nodes; refuses one that is not valid, or not of the shapes that the IR states, which stay."""
    graph = message.graph
    outputs = {output.name for output in graph.output}
    nodes, tensors, read = _needed(nodes, outputs)
    tensors += [tensor for tensor in graph.initializer if tensor.name in read]
    made = {name for node in nodes for name in node.output} - outputs
    # The model without large weights, which would be copied.
    light = onnx.GraphProto(name=graph.name, node=nodes, input=graph.input, output=graph.output)
    light.value_info.extend(value for value in graph.value_info if value.name in made)
    for value in (*light.input, *light.output, *light.value_info):
        for dim in value.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")  # they were names for rules
    declared = onnx.GraphProto(input=light.input, output=light.output, value_info=light.value_info)
    for tensor in tensors:
        if math.prod(tensor.dims) <= SMALL:
            light.initializer.append(tensor)
        else:
            light.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    _check(onnx.ModelProto(ir_version=message.ir_version, opset_import=message.opset_import, graph=light), path)
    for field in ("node", "input", "output", "value_info"):
        graph.ClearField(field)
    graph.MergeFrom(declared)
    graph.node.extend(nodes)
    known = {tensor.name for tensor in graph.initializer}
    graph.initializer.extend(tensor for tensor in tensors if tensor.name not in known)
    for i in reversed([i for i, tensor in enumerate(graph.initializer) if tensor.name not in read]):
        del graph.initializer[i]


def _check(message: onnx.ModelProto, path: Path) -> None:
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
        raise PadopsError(f"{path}: what its layers become is not a valid model of these shapes: {said}") from error


def _rules(kinds: Collection[str], values: Values, path: Path) -> dict[str, Any]:
    """The rule of onnxifier for each of these types of layers."""
    if not kinds:
        return {}
    if find_spec("openvino") is not None:
        import_openvino()  # onnxifier imports it, with its telemetry
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it uses what onnx deprecates
            from onnxifier.domain.intel.openvino.passes.op import OP_CONVERT
    except ImportError as error:
        raise PadopsError(
            f"{path} has layers that are no Pads ({', '.join(sorted(kinds))}). They need onnxifier, which "
            f"cannot be imported ({error}): pip install 'padops[openvino]', with Python 3.11 or newer"
        ) from error
    rules = [OP_CONVERT.get_type(name) for name in sorted(OP_CONVERT)]
    return {rule.__name__: _watched(rule, values) for rule in rules if rule.__name__ in kinds}


def _watched(rule: type, values: Values) -> Any:
    """A rule that sees one layer at a time and the constants, and records what it reads."""

    class Watched(rule):  # type: ignore[misc]  # onnxifier has no types
        def nodes_of(self, layer: onnx.NodeProto) -> list[onnx.NodeProto]:
            """The nodes of a layer, in order; names of values in between begin with the layer's.

            Raises:
                Unreadable: The rule does not take the layer, or has not read all that matters.
            """
            self.lacking, self.made = "", []
            self.seen: set[str] = set()
            node = onnx.NodeProto()
            node.CopyFrom(layer)
            try:
                self.made.append(self.replace(_Graph(values), node))
            except Exception as error:  # rules raise any
                text = " ".join(str(error).split()) or type(error).__name__
                if self.lacking:
                    text += f": its input '{self.lacking}' is no constant"
                raise Unreadable(f"onnxifier: {text}") from error
            for name, value in attributes_of(layer).items():
                known = _is_repaired(layer, name, value, self.made[-1]) or name in self.seen
                if not known and not changes_nothing(layer.op_type, name, value):
                    raise Unreadable(f"onnxifier does not read {name}='{value}'")
            return _in_order(layer, self.made, values)

        def add(self, nodes: Any) -> None:
            self.made += [nodes] if isinstance(nodes, onnx.NodeProto) else nodes

        def get_attribute(self, node: onnx.NodeProto, name: str, default: Any = None) -> Any:
            self.seen.add(name)
            return super().get_attribute(node, name, default)

        def get_value(self, node: onnx.NodeProto | str, output_name: str | None = None) -> Any:
            # onnxifier would run whatever is before the node, of any size, on random inputs where it needs inputs.
            name = node if isinstance(node, str) else output_name or node.output[0]
            array = values.array(name)
            if array is None:
                self.lacking = name
            return None if array is None else np.array(array)

        def get_input_nodes(self, node: onnx.NodeProto) -> Any:
            return [SimpleNamespace(output=[name]) for name in node.input]

    Watched.__name__ = rule.__name__  # by which rules name operators
    return Watched()


class _Graph:
    """What rules ask a graph."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def tensor_type(self, name: str) -> int:
        return self._values.types[name]

    def tensor_shape(self, name: str) -> list[int | str]:
        if (dims := self._values.dims[name]) is None:
            raise ValueError(f"the rank of '{name}' is not known")
        return list(dims)

    def static_tensor_shape(self, name: str) -> list[int]:
        if (dims := self._values.static(name)) is None:
            raise ValueError(f"the dims of '{name}' are not known")
        return list(dims)


def _is_repaired(layer: onnx.NodeProto, name: str, value: str, node: onnx.NodeProto) -> bool:
    """Whether the node gets an attribute here that onnxifier drops."""
    for kind, known, of_value, onnx_name, onnx_value in REPAIRS:
        if (kind, known, of_value) == (layer.op_type, name, value):
            kept = [attribute for attribute in node.attribute if attribute.name != onnx_name]
            node.ClearField("attribute")
            node.attribute.extend([*kept, helper.make_attribute(onnx_name, onnx_value)])
            return True
    return False


def _in_order(layer: onnx.NodeProto, made: list[onnx.NodeProto], values: Values) -> list[onnx.NodeProto]:
    """The nodes of a layer, each behind those that it reads; values between them get names that are free."""
    named = [(node.op_type, name) for node in made for name in node.output if name not in layer.output]
    names = {name: values.fresh(f"{layer.name}/{op_type}_{i}") for i, (op_type, name) in enumerate(named)}
    ordered: list[onnx.NodeProto] = []
    while made:
        waiting = {name for node in made for name in node.output}
        ready = [node for node in made if waiting.isdisjoint(node.input)]
        if not ready:
            raise Unreadable("onnxifier: its nodes read each other in a circle")
        ordered += ready
        made = [node for node in made if not waiting.isdisjoint(node.input)]
    for node in ordered:
        for some in (node.input, node.output):
            some[:] = [names.get(name, name) for name in some]
    return ordered
