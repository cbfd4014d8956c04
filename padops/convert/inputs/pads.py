"""Finds a model's Pads, and hints for random inputs: which inputs choose a branch, or hold a Pad's amounts or axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import checker, inliner, numpy_helper

from padops.convert.model.inference import declarations, infer_graph
from padops.convert.model.nesting import Body, graphs_beside, graphs_in, graphs_of
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN

FOREIGN_NAMES = {"Pad", "PadV2", "MirrorPad"}  # op_types of Pads in any domain

HANDING_ON = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"}  # operators that pass numbers on unchanged
CHOOSING = {"Gather", "Slice"}  # operators that pass some of their numbers on
OF_DIMS = {"Shape", "Size"}  # operators whose output follows from their input's dims, not its elements
# The inputs that decide the size of the output.
SIZED_BY = {"Pad": (1, 3), "ConstantOfShape": (0,), "Range": (0, 1, 2), "Expand": (1,), "Tile": (1,), "Reshape": (1,),
            "OneHot": (1,), "Resize": (1, 2, 3), "Upsample": (1,), "Slice": (1, 2, 3, 4), "HannWindow": (0,),
            "HammingWindow": (0,), "BlackmanWindow": (0,), "MelWeightMatrix": (0, 1, 2, 3, 4), "DFT": (1, 2),
            "STFT": (1, 3), "CenterCropPad": (1,), "Col2Im": (1, 2), "AffineGrid": (1,), "MaxUnpool": (1, 2),
            "RoiAlign": (2,), "TopK": (1,), "SplitToSequence": (1,)}  # fmt: skip
# Operators that return floats unchanged.
EXACT = frozenset("""
    Abs And Cast CenterCropPad Compress Concat Constant ConstantOfShape DepthToSpace Equal Expand Flatten Gather
    GatherElements GatherND Greater GreaterOrEqual Identity If Less LessOrEqual Loop Max Min Neg Not OneHot Or
    ReduceMax ReduceMin Reshape Scan ScatterElements ScatterND Shape Sign Size Slice SpaceToDepth Split Squeeze
    Tile Transpose Unsqueeze Where
    """.split())  # fmt: skip
MODES_WITHOUT_REACH = {"constant", "edge"}  # modes whose amounts may exceed the data


def is_pad(node: onnx.NodeProto) -> bool:
    return node.domain in (DOMAIN, pyop_node.DOMAIN) or node.op_type in FOREIGN_NAMES


def labelled(path: str, body: Body) -> list[tuple[str, onnx.NodeProto]]:
    """Return each node of a graph with the readable path that ``model/graphs.py`` defines."""
    names = Counter(node.name for node in body.node if node.name)
    labels = [node.name or f"{node.op_type}_{i}" for i, node in enumerate(body.node)]
    labels = [f"{label}[{i}]" if names[body.node[i].name] > 1 else label for i, label in enumerate(labels)]
    return [(f"{path}/{label}", node) for label, node in zip(labels, body.node)]


def labelled_nodes(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.NodeProto]]:
    """Yield the nodes of the main graph and of the functions except fallbacks, including nodes of inner graphs."""
    yield from _inside("graph", model.graph)
    for function in (row for row in model.functions if row.domain != DOMAIN):
        overload = f":{function.overload}" if function.overload else ""
        yield from _inside(f"function {function.domain or 'ai.onnx'}::{function.name}{overload}", function)


def _inside(path: str, body: Body) -> Iterator[tuple[str, onnx.NodeProto]]:
    yield from (rows := labelled(path, body))
    for label, node in rows:
        for name, graph in graphs_in(node.attribute):
            yield from _inside(f"{label}.{name}", graph)


def all_nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [node for _, node in labelled_nodes(model)]


def idle_pads(model: onnx.ModelProto) -> dict[str, bool]:
    """Return, by the output of each Pad with known amounts, whether all these amounts are 0."""
    constants = _constants(model)
    known = {node.output[0]: _amounts(node, constants) for node in all_nodes(model) if is_pad(node) and node.output}
    return {name: not any(amounts) for name, amounts in known.items() if amounts is not None}


def form_of(node: onnx.NodeProto) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else str(node.op_type)


def _constants(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Return the integer initializers and Constants by name; skip external data, and names that tensors share."""
    nodes = all_nodes(model)
    tensors = [(tensor.name, tensor) for graph in graphs_beside(model, nodes) for tensor in graph.initializer]
    for node in nodes:
        if node.op_type == "Constant":
            tensors += [(node.output[0], row.t) for row in node.attribute if row.name == "value"]
    counts = Counter(name for name, _ in tensors)
    integers, inside = {onnx.TensorProto.INT64, onnx.TensorProto.INT32}, onnx.TensorProto.DEFAULT
    return {
        name: numpy_helper.to_array(tensor)
        for name, tensor in tensors
        if counts[name] == 1 and tensor.data_type in integers and tensor.data_location == inside
    }


def _amounts(node: onnx.NodeProto, constants: Mapping[str, np.ndarray]) -> tuple[int, ...] | None:
    for attribute in node.attribute:
        if attribute.name in ("pads", "paddings"):
            return tuple(attribute.ints)
    given = list(node.input)[1 : _fill_at(node)]
    if not given or any(name not in constants for name in given):
        return None
    return tuple(int(amount) for name in given for amount in constants[name].reshape(-1))


def _fill_at(node: onnx.NodeProto) -> int:
    """Return the index of a Pad's fill; the amounts are the inputs between the data and the fill."""
    if node.domain != DOMAIN or node.op_type.startswith("Pad_"):
        return 2
    return 3 if node.op_type.startswith("OpenVINOPad") else 1


@dataclass(frozen=True)
class AmountsInput:
    """An input with a Pad's amounts."""

    data: str | None  # the input that is the Pad's data
    limited: bool  # whether the data limit the amounts
    axes: str = ""  # the input with the Pad's axes, if there is one
    axis_count: int | None = None  # number of the Pad's axes, if the axes are constant or the data's rank is inferred
    ends: int = 2  # how many ends of each axis the amounts pad: both, or one


@dataclass
class Hints:
    """Hints for random inputs, by the inputs' names."""

    # Numbers that the model compares an input with: they choose branches
    special: dict[str, list[int]] = field(default_factory=dict)
    amounts: dict[str, AmountsInput] = field(default_factory=dict)  # inputs with the amounts of a Pad
    # Inputs with the axes of a Pad, each with the input that is the Pad's data, or None
    axes: dict[str, str | None] = field(default_factory=dict)
    small: set[str] = field(default_factory=set)  # inputs from which amounts are computed
    fills: set[str] = field(default_factory=set)  # inputs with the fill of a Pad
    conditions: set[str] = field(default_factory=set)  # inputs that are the condition of an If
    reach: int = 0  # the largest constant amount in the model
    moves: bool = False  # whether the model only moves data: then infinities and NaN are drawn, too
    steps: set[str] = field(default_factory=set)  # inputs from which the number of a Loop's steps is computed


def hints_of(message: onnx.ModelProto) -> Hints:
    message = _without_calls(message)
    hints, inputs, constants = Hints(), {value.name for value in message.graph.input}, _constants(message)
    made = {name: node for node in all_nodes(message) for name in node.output}
    ranks: dict[str, int] | None = None  # inferred where an input has amounts
    for node in all_nodes(message):
        if node.op_type == "If":
            hints.conditions |= {_source(name, made) for name in node.input[:1]} & inputs
        if node.op_type == "Loop":
            hints.steps |= sources(node.input[:1], made) & inputs
        for value, other in (node.input, node.input[::-1]) if node.op_type == "Equal" else ():
            number, value = constants.get(other), _source(value, made, HANDING_ON | CHOOSING)
            if value in inputs and number is not None and number.size == 1:
                hints.special.setdefault(value, []).append(number.item())
        if not is_pad(node):
            continue
        hints.reach = max([hints.reach, *map(abs, _amounts(node, constants) or ())])
        if len(node.input) < 2:
            continue
        data = node.input[0] if node.input[0] in inputs else None
        mode = next(
            (a.s.decode(errors="replace") for a in node.attribute if a.name in ("mode", "pad_mode")), "constant"
        )
        at = _fill_at(node)
        given_axes = node.input[3] if len(node.input) > 3 and at == 2 else ""
        axes = source if (source := _source(given_axes, made)) in inputs else ""
        if axes:
            hints.axes[axes] = data
        for name in (source for given in node.input[1:at] if (source := _source(given, made)) in inputs):
            ranks = _ranks(message) if ranks is None else ranks
            listed = constants.get(given_axes)
            axis_count = listed.size if listed is not None else None if given_axes else ranks.get(node.input[0])
            limited = mode not in MODES_WITHOUT_REACH
            hints.amounts[name] = AmountsInput(data, limited, axes, axis_count, ends=2 if at == 2 else 1)
        hints.small |= sources(node.input[1:at], made) & inputs
        hints.fills |= {_source(name, made) for name in node.input[at : at + 1]} & inputs
    hints.small -= set(hints.amounts)
    hints.moves = not computes_floats(message)
    return hints


def _without_calls(message: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model without large data, and with all functions except fallbacks inlined.

    Return ``message`` itself if it has no functions besides fallbacks, or if onnx cannot inline them.
    """
    if all(row.domain == DOMAIN for row in message.functions):
        return message
    light = declarations(message)
    for i in reversed([i for i, row in enumerate(light.functions) if row.domain == DOMAIN]):
        del light.functions[i]
    try:
        return inliner.inline_local_functions(light)
    except (RuntimeError, ValueError, checker.ValidationError):  # for a model that onnx does not understand
        return message


def _ranks(message: onnx.ModelProto) -> dict[str, int]:
    try:
        inferred = infer_graph(declarations(message))
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):  # for a model that onnx does not understand
        return {}
    values = [row for graph in graphs_of(inferred) for row in (*graph.input, *graph.value_info, *graph.output)]
    return {row.name: len(row.type.tensor_type.shape.dim) for row in values if row.type.tensor_type.HasField("shape")}


def sizing_inputs(model: onnx.ModelProto) -> set[str]:
    """Return the values that decide sizes, such as amounts and shapes, and the values from which they are computed."""
    nodes = all_nodes(model)
    made = {name: node for node in nodes for name in node.output if name}
    names: list[str] = []
    for node in nodes:
        if node.domain not in ("", "ai.onnx") or any(row.HasField("g") for row in node.attribute):
            names += node.input[is_pad(node) :]
        else:
            names += [node.input[at] for at in SIZED_BY.get(node.op_type, ()) if at < len(node.input)]
    return sources(names, made)


def computes_floats(model: onnx.ModelProto) -> bool:
    """Return whether a model may compute floats, for example by a Scatter that adds, instead of only moving data."""
    return any(
        (node.op_type not in EXACT and not is_pad(node))
        or any(row.name == "reduction" and row.s in (b"add", b"mul") for row in node.attribute)
        for node in all_nodes(model)
    )


def _source(name: str, made: Mapping[str, onnx.NodeProto], through: Collection[str] = HANDING_ON) -> str:
    """Follow a value back through the operators in ``through``; return the first value of this chain."""
    while name in made and made[name].op_type in through:
        name = made[name].input[0]
    return name


def sources(names: Iterable[str], made: Mapping[str, onnx.NodeProto]) -> set[str]:
    """Return the values ``names``, and all values from which their elements are computed."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        this = pending.pop()
        if this not in found:
            found.add(this)
            pending += made[this].input if this in made and made[this].op_type not in OF_DIMS else ()
    return found
