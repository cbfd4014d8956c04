"""Read an OpenVINO IR of version 11 (``model.xml``, ``model.bin``) as an ONNX model; Pads stay OpenVINO layers.

The module converts only layers whose rules were compared with OpenVINO, and refuses all other layers in one error.
The converted model must have the shapes that the IR states.

If layers compute a value from constants alone, OpenVINO computes this value in three cases: a rule needs the numbers,
such as axes; the value is the weights of a grouped convolution; or no rule converts the layers. In other cases, the
layers become ONNX nodes: as constants, weights stored in half precision would grow. Layers that compute in half
precision never become constants, because OpenVINO's CPU device computes such layers in float.

``reader.py`` turns every layer into a node of the domain ``ai.intel.openvino``. ``convert_layers`` turns all nodes
except Pads into ONNX operators, by the rules of ``rules.py`` and ``windows.py``. The converter then finds the Pads as
in any other model (``matchers/frameworks.py``). A Pad's amounts and fill stay inputs, and may have any type.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path

import onnx
from google.protobuf.message import EncodeError
from onnx import TensorProto, numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.ir.layer import SMALL, Unreadable, Values
from padops.convert.ir.reader import ELEMENT_TYPES, LARGEST_MODEL, Reader
from padops.convert.ir.rules import BINARY, UNARY, onnx_nodes
from padops.convert.matchers.frameworks import DOMAIN
from padops.convert.model.inference import declarations
from padops.convert.model.nesting import set_rows
from padops.convert.records import FileRecord
from padops.openvino_constants import Answer
from padops.plural import plural
from padops.processes import Pickled

MOST_KINDS = 20  # the most pairs of a layer type and a reason in a message
LONGEST = 200  # the most characters of a reason
PROGRAM = "padops.openvino_constants"
SECONDS = 600.0  # the time limit for OpenVINO to read the IR and compute constants
NEEDED = {"GroupConvolution": 1, "GroupConvolutionBackpropData": 1}  # the input that the rule reshapes, of any size
# Layers whose inputs all hold data. In any other layer, each input but the first may be a parameter, such as axes.
ARITHMETIC = {*UNARY, *BINARY, "Concat", "Convolution", "Divide", "MatMul", "PReLU", "Select"}
HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
MOVES = {"Broadcast", "Concat", "Gather", "Reshape", "Slice", "Split", "Squeeze", "StridedSlice", "Tile", "Transpose"}
MOVES |= {"Unsqueeze", "VariadicSplit"}


def convert_layers(message: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """Turn all layers of a model except Pads into ONNX operators.

    Raises:
        PadopsError: Some layers cannot be converted (the error lists them), or the result is not a valid model. In both
            cases, ``message`` keeps its layers, except layers that became constants.
    """
    values = Values.of(message)
    lacking = _fold_constants(message, values, path)
    nodes: list[onnx.NodeProto] = []
    refusals: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in message.graph.node:
        try:
            nodes += onnx_nodes(node, values) if node.domain == DOMAIN else [node]
        except Unreadable as error:
            whys = [lacking[name] for name in (*node.input, *node.output) if name in lacking]
            refusals[node.op_type, "; ".join(dict.fromkeys((str(error)[:LONGEST], *whys)))].append(node.name)
    if refusals:
        lines = [
            f"{kind} '{names[0]}'{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {reason}"
            for (kind, reason), names in refusals.items()
        ]
        count, all = sum(map(len, refusals.values())), sum(node.domain == DOMAIN for node in message.graph.node)
        shown = "; ".join(lines[:MOST_KINDS] + ["…"] * (len(lines) > MOST_KINDS))
        raise PadopsError(f"{path}: {count} of its {plural(all, 'layer')} cannot be converted: {shown}")
    _replace(message, nodes, values, path)
    return message


def _needed(
    nodes: Sequence[onnx.NodeProto], outputs: Iterable[str], known: Collection[str] = ()
) -> tuple[list[onnx.NodeProto], set[str]]:
    """Return the nodes that ``outputs`` need, except the nodes of ``known`` values; and the names of needed values."""
    kept: list[onnx.NodeProto] = []
    read = set(outputs)
    for node in reversed(nodes):
        if read.isdisjoint(node.output) or node.output[0] in known:
            continue
        read.update(node.input)
        if not node.domain and node.op_type == "MaxPool" and len(node.output) > 1 and node.output[1] not in read:
            node.output.pop()  # the indices; ONNX Runtime is slower with them
        kept.append(node)
    return kept[::-1], read


def _replace(message: onnx.ModelProto, nodes: list[onnx.NodeProto], values: Values, path: Path) -> None:
    """Put the nodes into the model; refuse a model that is invalid or contradicts the shapes that the IR states."""
    graph = message.graph
    former = onnx.GraphProto(node=graph.node, value_info=graph.value_info)
    outputs = {output.name for output in graph.output}
    nodes, read = _needed(nodes, outputs)
    made = {name for node in nodes for name in node.output} - outputs
    set_rows(graph, node=nodes, value_info=[value for value in graph.value_info if value.name in made])
    known, count = {tensor.name for tensor in graph.initializer}, len(graph.initializer)
    graph.initializer.extend(tensor for name, tensor in values.tensors.items() if name in read - known)
    light = declarations(message)
    light.graph.name = graph.name
    # The checker requires a shape for each input and output, even if no rank is known, but ignores its content.
    ends = [value.type.tensor_type for value in (*light.graph.input, *light.graph.output)]
    unranked = [end for end in ends if not end.HasField("shape")]
    try:
        onnx.shape_inference.infer_shapes(light, check_type=True, strict_mode=True)
        for end in unranked:
            end.shape.SetInParent()
        onnx.checker.check_model(light)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError) as error:
        set_rows(graph, node=former.node, value_info=former.value_info)
        del graph.initializer[count:]
        said = " ".join(str(error).split())  # the error has a line for each node
        raise PadopsError(f"{path}: its converted graph is invalid or contradicts the IR's shapes: {said}") from error
    for i in reversed([i for i, tensor in enumerate(graph.initializer) if tensor.name not in read]):
        del graph.initializer[i]


def _fold_constants(message: onnx.ModelProto, values: Values, path: Path) -> dict[str, str]:
    """Replace the layers of ``_wanted`` by constants; return, by value name, the reason why a value is missing."""
    wanted = _wanted(message, values, _computed(message, values))
    if not wanted:
        return {}
    total = sum(values.size(name) for node in wanted for name in node.output)
    if total > LARGEST_MODEL:
        raise PadopsError(f"{path} computes at least {total} bytes of weights; padops reads at most {LARGEST_MODEL}")
    tensors: dict[str, onnx.TensorProto] = {}
    asked: list[tuple[str, int, str]] = []
    for node in wanted:
        for i, name in enumerate(node.output):
            if name in values.casts and (array := values.array(name, math.inf)) is not None:
                tensors[name] = numpy_helper.from_array(array, name)
            else:
                asked.append((node.name, i, name))
    answers, reason = _ask_openvino(path, [row[:2] for row in asked]) if asked else ([], "")
    for (_, _, name), answer in zip(asked, answers):
        type, dims, content = answer or ("", [], b"")
        if ELEMENT_TYPES.get(type) == values.types[name] and dims == values.static(name):
            tensors[name] = onnx.TensorProto(name=name, data_type=ELEMENT_TYPES[type], dims=dims, raw_data=content)
    folded = [name for node in wanted if tensors.keys() >= set(node.output) for name in node.output]
    for name in folded:
        message.graph.initializer.add().CopyFrom(tensors[name])
        values.add(message.graph.initializer[-1])
    nodes, _ = _needed(message.graph.node, (output.name for output in message.graph.output), folded)
    message.graph.ClearField("node")
    message.graph.node.extend(nodes)
    return {name: reason for _, _, name in asked if name not in values.tensors}


def _computed(message: onnx.ModelProto, values: Values) -> dict[str, onnx.NodeProto]:
    """Return the layers whose results follow from constants and known dims, by output name, in the model's order."""
    layers: dict[str, onnx.NodeProto] = {}
    for node in message.graph.node:
        known = node.op_type == "ShapeOf" or all(name in values.tensors or name in layers for name in node.input)
        if node.domain != DOMAIN or node.op_type == "Pad" or not node.input or not known:
            continue
        sizes = [values.size(name) for name in (*node.input, *node.output)]
        halves = node.op_type not in MOVES and any(values.types[name] in HALVES for name in node.output)
        if max(sizes) <= LARGEST_MODEL and not halves:
            layers.update(dict.fromkeys(node.output, node))
    return layers


def _wanted(message: onnx.ModelProto, values: Values, computed: Mapping[str, onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Return the layers of ``computed`` that a remaining layer or a model output needs as constants."""
    unread: set[str] = set()  # outputs of unreadable layers, and values that follow from them
    for node in computed.values():
        with suppress(Unreadable):
            if unread.isdisjoint((*node.input, *node.output)):
                onnx_nodes(node, values.trial())
                continue
        unread.update(node.output)
    wanted = {name: computed[name] for name in (output.name for output in message.graph.output) if name in unread}
    for node in reversed(message.graph.node):
        if not wanted.keys().isdisjoint(node.output):
            continue
        for at, name in enumerate(node.input):
            says = at and node.op_type not in ARITHMETIC and values.size(name) <= SMALL
            if name in computed and (says or NEEDED.get(node.op_type) == at or name in unread):
                wanted |= dict.fromkeys(computed[name].output, computed[name])
    return list({node.output[0]: node for node in wanted.values()}.values())


def _ask_openvino(path: Path, wanted: list[tuple[str, int]]) -> tuple[list[Answer | None], str]:
    """Return the values that OpenVINO computed, and the reason for missing values."""
    if find_spec("openvino") is None:
        return [], "OpenVINO computes this value from constants, and is not installed: pip install 'padops[openvino]'"
    with closing(Pickled("OpenVINO", SECONDS, ["-m", PROGRAM])) as process:
        try:
            return process.ask((str(path), wanted)), "OpenVINO does not compute this value from constants"
        except RuntimeError as error:
            return [], f"OpenVINO computes this value from constants, but says: {error}"


def read(path: Path) -> tuple[onnx.ModelProto, list[FileRecord], str]:
    """Read an IR; return the model, the IR's files, and the reason why layers cannot be converted ("" if they can).

    If the reason is empty, only the Pads stay OpenVINO layers. Otherwise, no layer is converted, and the inputs of the
    Pads have the types and shapes that the IR states. A PadopsError means that the IR is damaged or incomplete.
    """
    try:
        message, files = Reader(path).read()
        try:
            convert_layers(message, path)
        except PadopsError as error:
            return message, files, str(error)
    except (MemoryError, EncodeError) as error:  # protobuf raises EncodeError if memory runs out
        raise PadopsError(f"{path}: there is not enough memory for its layers and weights") from error
    return message, files, ""
