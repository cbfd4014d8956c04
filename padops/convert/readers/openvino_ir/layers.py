"""Layers of OpenVINO become ONNX operators, by the rules of ``onnxifier``.

No other rules are maintained, but onnxifier 2.0.3 loses and invents parts of models. It drops an attribute that no rule
reads. A layer without a rule becomes the ONNX operator of the same name, whatever that does. A missing ``.bin`` is read
as zeros. A rule that asks for a value which depends on the model's inputs gets a value computed from random numbers.

So padops reads the files itself (``reader.py``, ``builder.py``). Rules get only constants; padops records what they
read. Only layers that were compared with OpenVINO are converted (``tables.py``), except known faults (``checks.py``).
The resulting shapes must be those of the IR. Everything else is refused, in one message. Pads stay unchanged.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from padops.convert.errors import PadopsError, library_errors
from padops.convert.matchers.openvino import DOMAIN
from padops.convert.readers.limits import listing
from padops.convert.readers.openvino_ir.builder import LARGEST
from padops.convert.readers.openvino_ir.checks import Seen, wrong_with
from padops.convert.readers.openvino_ir.constants import fold_constants
from padops.convert.readers.openvino_ir.forms import name_all_axes, prepare, replace_nodes
from padops.convert.readers.openvino_ir.tables import OWN, REPAIRS, RULES, SAME, changes_nothing, inputs_of
from padops.convert.readers.openvino_ir.values import Unreadable, Values, attributes_of, dims_of

# What onnxifier, and onnx below it, raise beside what every library does.
RAISED = (RuntimeError, AssertionError, OSError, onnx.checker.ValidationError)


def convert_layers(message: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """Turns every layer but the Pads of what ``build`` gives into ONNX operators; the message is changed.

    Raises:
        PadopsError: Some layers cannot be converted; the message lists them with the reasons. Or they need onnxifier,
            which is not installed, or for which the model is too large.
    """
    fold_constants(message, path)
    values = Values.of(message)
    asked = {node.name: _refusal(node, values) for node in message.graph.node if node.domain == DOMAIN}
    refusals = {name: reason for name, reason in asked.items() if reason}
    declared = list(onnx.GraphProto(value_info=message.graph.value_info).value_info)
    if not refusals:
        prepare(message, values)
    layers = {node.name: node for node in onnx.GraphProto(node=message.graph.node).node if node.domain == DOMAIN}
    if not refusals:
        foreign = {name: node for name, node in layers.items() if node.op_type != "Pad"}
        if foreign:
            message, refusals = _apply_rules(message, foreign, path)
    if refusals:
        lines = [f"{layers[name].op_type} '{name}': {reason}" for name, reason in refusals.items()]
        raise PadopsError(f"{path}: {len(lines)} of its {len(layers)} layers cannot be converted:{listing(lines)}")
    _repair(message, layers)
    name_all_axes(message, values)
    _tidy(message)
    _compare_shapes(message, declared, path)
    return message


def _refusal(node: onnx.NodeProto, values: Values) -> str | None:
    """Why a layer cannot be converted."""
    least, most = inputs_of(node.op_type)
    if not least <= len(node.input) <= most:
        return f"it has {len(node.input)} inputs, expected {least if least == most else f'{least} to {most}'}"
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


@dataclass
class _Log:
    """What the rules did: the layers that they refused, with the reasons, and the attributes that they read."""

    refusals: dict[str, str] = field(default_factory=dict)
    read: set[tuple[str, str]] = field(default_factory=set)


def _apply_rules(
    message: onnx.ModelProto, layers: Mapping[str, onnx.NodeProto], path: Path
) -> tuple[onnx.ModelProto, dict[str, str]]:
    """Lets onnxifier convert layers: the model, and the layers that it did not convert wholly, with the reasons."""
    kinds = {node.op_type for node in layers.values()}
    if message.ByteSize() > LARGEST:
        raise PadopsError(f"{path} has {message.ByteSize()} bytes of layers and weights; onnxifier takes {LARGEST}")
    try:
        with _quiet():  # it uses what onnx deprecates
            from networkx import NetworkXException  # which onnxifier is made of
            from onnxifier import OnnxGraph, PassManager
            from onnxifier.domain.intel.openvino.passes.op import OP_CONVERT
    except ImportError as error:
        raise PadopsError(
            f"{path} has layers that are no Pads ({', '.join(sorted(kinds))}). They need onnxifier, which "
            f"cannot be imported ({error}): pip install 'padops[openvino]', with Python 3.11 or newer"
        ) from error
    log = _Log()
    rules = [OP_CONVERT.get_type(name) for name in sorted(OP_CONVERT)]
    with _quiet():
        watched = [_watch(rule, log) for rule in rules if rule.__name__ in kinds]
        with library_errors(f"{path}, as onnxifier takes it,", NetworkXException, *RAISED):
            message = PassManager(watched).optimize(OnnxGraph(message), strict=True).model
    return message, log.refusals or _unread(layers, log.read)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps onnxifier from writing to the terminal; whatever matters of it comes as an exception."""
    logger = logging.getLogger("O2O")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _watch(rule: type, log: _Log) -> Any:
    """A rule that gets only values which do not depend on the model's inputs, and records what it refuses and reads."""

    class Watched(rule):  # type: ignore[misc]  # onnxifier has no types
        lacking = ""  # a value that it has asked for and that is no constant

        def rewrite(self, graph: Any, nodes: list[onnx.NodeProto], *args: Any, **kwargs: Any) -> None:
            self.lacking = ""
            try:
                super().rewrite(graph, nodes, *args, **kwargs)
            except Exception as error:
                text = " ".join(str(error).split()) or type(error).__name__
                if self.lacking:
                    text += f": its input '{self.lacking}' is no constant, but computed when the model runs"
                log.refusals[nodes[0].name] = f"onnxifier: {text}"

        def get_attribute(self, node: onnx.NodeProto, name: str, default: Any = None) -> Any:
            log.read.add((node.name, name))
            return super().get_attribute(node, name, default)

        def get_value(self, node: onnx.NodeProto | str, output_name: str | None = None) -> Any:
            # onnxifier would run whatever is before the node, of any size, on random inputs where it needs inputs; and
            # where that fails, it leaves a model in the folder for temporary files.
            maker = self.graph._out_to_node.get(node) if isinstance(node, str) else node.name
            array = None if maker is None else _constant(self.graph, maker)
            if array is None:
                self.lacking = node if isinstance(node, str) else node.name
            return array

    Watched.__name__ = rule.__name__  # onnxifier finds the layers of a rule by the name of its class
    for name in ("__NAME__", "__DEPS__", "__PATCHES__"):
        setattr(Watched, name, getattr(rule, name))
    return Watched()


def _constant(graph: Any, name: str) -> np.ndarray | None:
    """What a node always gives: a Constant, or a Cast of one, as weights of half precision have it; else None."""
    node, casts = graph.nodes[name]["pb"], []
    while (node.domain, node.op_type) == ("", "Cast"):
        casts.append(helper.tensor_dtype_to_np_dtype(node.attribute[0].i))
        maker = graph._out_to_node.get(node.input[0])
        if maker is None:
            return None
        node = graph.nodes[maker]["pb"]
    if (node.domain, node.op_type) != ("", "Constant"):
        return None
    array = numpy_helper.to_array(node.attribute[0].t)
    with np.errstate(all="ignore"):
        for dtype in reversed(casts):
            array = array.astype(dtype)
    return array


def _unread(layers: Mapping[str, onnx.NodeProto], read: set[tuple[str, str]]) -> dict[str, str]:
    """Layers with an attribute that matters and that no rule has read."""
    repaired = {(kind, name, value) for kind, name, value, *_ in REPAIRS}
    return {
        layer: f"onnxifier does not read {name}='{value}'"
        for layer, node in layers.items()
        for name, value in attributes_of(node).items()
        if (layer, name) not in read
        and (node.op_type, name, value) not in repaired
        and not changes_nothing(node.op_type, name, value)
    }
