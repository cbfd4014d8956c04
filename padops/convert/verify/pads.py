"""The Pads of two models, and the values by which each Pad is compared; and hints for random inputs.

The hints tell which inputs choose branches, and which are amounts or axes of a Pad.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnx_ir as ir
from onnx import numpy_helper

from padops.convert.matchers.converted import operator_of
from padops.convert.model.graphs import constant, walk
from padops.convert.pads.window_operators import WINDOW_OPERATORS
from padops.convert.verify.probes import Body, Place, bodies
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN, OPS

FOREIGN_NAMES = {"Pad", "PadV2", "MirrorPad"}  # of any domain
FURTHEST = 8  # how many nodes behind a missing Pad a value of both models is searched

HANDING_ON = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"}  # operators that pass numbers on unchanged
CHOOSING = {"Gather", "Slice"}  # operators that pass some of their numbers on
OF_DIMS = {"Shape", "Size"}  # operators whose output follows from their input's dims, not its elements
MODES_WITHOUT_REACH = {"constant", "edge"}  # modes whose amounts may exceed the data


@dataclass(frozen=True)
class WatchedPad:
    """A Pad, or a node into which a Pad was folded."""

    path: str  # see ``PadRecord.path``
    form: str  # its operator
    place: Place  # its graph
    data: str | None  # its data in the original; None for a node of the converted model
    output: str | None  # its output in the original; None for a node of the converted model
    compared: tuple[str, ...]  # values of both models: its output; if one model lacks it, the first values behind it
    amounts: tuple[int, ...] | None = None  # its amounts; None if unknown

    @property
    def idle(self) -> bool:
        """Whether all its amounts are known to be 0."""
        return self.amounts is not None and not any(self.amounts)


def is_pad(node: onnx.NodeProto) -> bool:
    """Whether a node is a Pad, by its name and domain."""
    return node.domain in (DOMAIN, pyop_node.DOMAIN) or node.op_type in FOREIGN_NAMES


def watched_pads(original: onnx.ModelProto, converted: onnx.ModelProto) -> list[WatchedPad]:
    """The Pads of the original; and of the converted model, the Pads, convolutions and pools that the original lacks.

    Values of one name in graphs at the same place count as the same value. Fallback functions of padops are left out.
    """
    there = {located.place: located.body for located in bodies(converted)}
    before = {located.place: located.body for located in bodies(original)}
    constants = _constants(original)
    found: list[WatchedPad] = []
    for located in bodies(original):
        made = nodes_by_output(there.get(located.place))
        for path, node in located.labelled():
            if is_pad(node) and node.output and not _is_fallback(located.place):
                compared = _shared(located.body, node.output[0], made)
                data = node.input[0] if node.input else None
                form, amounts = _form(node), _amounts(node, constants)
                found.append(WatchedPad(path, form, located.place, data, node.output[0], compared, amounts))
    covered = {(pad.place, name) for pad in found for name in pad.compared}
    for located in bodies(converted):
        if located.place not in before or _is_fallback(located.place):
            continue
        former = nodes_by_output(before[located.place])
        for path, node in located.labelled():
            if node.output and (is_pad(node) or _has_changed(node, former)):
                compared = _shared(located.body, node.output[0], former)
                if not {(located.place, name) for name in compared} <= covered:
                    found.append(WatchedPad(path, _form(node), located.place, None, None, compared))
    return found


def longest_amount(model: onnx.ModelProto) -> int:
    """The largest known amount of the model's Pads."""
    constants = _constants(model)
    amounts = [_amounts(node, constants) for located in bodies(model) for node in located.body.node if is_pad(node)]
    return max((abs(amount) for known in amounts for amount in known or ()), default=0)


def known_amounts(node: onnx.NodeProto, model: onnx.ModelProto) -> tuple[int, ...] | None:
    """The amounts of a Pad of a model; None if unknown."""
    return _amounts(node, _constants(model))


def _is_fallback(place: Place) -> bool:
    return place.function is not None and place.function[0] == DOMAIN and operator_of(place.function[1]) is not None


def _form(node: onnx.NodeProto) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else str(node.op_type)


def nodes_by_output(body: Body | None) -> dict[str, onnx.NodeProto]:
    """The nodes of a graph, by their outputs; none without a graph."""
    return {} if body is None else {name: node for node in body.node for name in node.output if name}


def _has_changed(node: onnx.NodeProto, former: Mapping[str, onnx.NodeProto]) -> bool:
    """Whether a convolution or a pool has other inputs or attributes than in the other model."""
    if (node.domain, node.op_type) not in WINDOW_OPERATORS or node.output[0] not in former:
        return False
    other = former[node.output[0]]
    attributes = [sorted(a.SerializeToString() for a in one.attribute) for one in (node, other)]
    return list(node.input) != list(other.input) or attributes[0] != attributes[1]


def _shared(body: Body, output: str, there: Mapping[str, onnx.NodeProto]) -> tuple[str, ...]:
    """The output; if the other model lacks it, the first values behind it that the other model has."""
    pending, shared, seen = [output], [], {output}
    for _ in range(FURTHEST):
        further = []
        for name in pending:
            if name in there:
                shared.append(name)
                continue
            behind = [made for node in body.node if name in node.input for made in node.output if made]
            further += [made for made in dict.fromkeys(behind) if made not in seen]
            seen.update(further)
        pending = further
    return tuple(shared)


def _constants(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The integers of initializers and Constants, without external data; ambiguous names are left out."""
    tensors: dict[str, list[onnx.TensorProto]] = {}
    for located in bodies(model):
        for tensor in located.body.initializer if isinstance(located.body, onnx.GraphProto) else ():
            tensors.setdefault(tensor.name, []).append(tensor)
        for node in located.body.node:
            value = next((attribute.t for attribute in node.attribute if attribute.name == "value"), None)
            if node.op_type == "Constant" and value is not None:
                tensors.setdefault(node.output[0], []).append(value)
    integers = {onnx.TensorProto.INT64, onnx.TensorProto.INT32}
    inside = onnx.TensorProto.DEFAULT
    return {
        name: numpy_helper.to_array(found[0])
        for name, found in tensors.items()
        if len(found) == 1 and found[0].data_type in integers and found[0].data_location == inside
    }


def _amounts(node: onnx.NodeProto, constants: Mapping[str, np.ndarray]) -> tuple[int, ...] | None:
    for attribute in node.attribute:
        if attribute.name in ("pads", "paddings"):
            return tuple(attribute.ints)
    count = 0 if node.op_type in ("SamePad_1", "NGraphPad_0") else 3 if node.op_type.startswith("OpenVINOPad") else 2
    given = list(node.input)[1:count]
    if not given or any(name not in constants for name in given):
        return None
    return tuple(int(amount) for name in given for amount in constants[name].reshape(-1))


@dataclass(frozen=True)
class AmountsInput:
    """An input with a Pad's amounts: the input that is the Pad's data, if any; whether the data limit the amounts."""

    data: str | None
    limited: bool


@dataclass(frozen=True)
class Hints:
    """Hints for random inputs, by the inputs' names."""

    # Numbers that the model compares an input with: they choose branches
    special: Mapping[str, Sequence[int]] = field(default_factory=dict)
    amounts: Mapping[str, AmountsInput] = field(default_factory=dict)  # inputs with the amounts of a Pad
    # Inputs with the axes of a Pad, each with the input that is the Pad's data, or None
    axes: Mapping[str, str | None] = field(default_factory=dict)
    small: frozenset[str] = frozenset()  # inputs from which amounts are computed
    fills: frozenset[str] = frozenset()  # inputs with the fill of a Pad
    reach: int = 0  # the largest constant amount in the model
    wide: frozenset[str] = frozenset()  # inputs that decide no size: any integer may be tried


def hints_of(message: onnx.ModelProto, special: Mapping[str, Sequence[int]]) -> Hints:
    """The hints of a model; ``special`` is passed on."""
    inputs = {value.name for value in message.graph.input}
    made = {name: node for located in bodies(message) for node in located.body.node for name in node.output}
    amounts: dict[str, AmountsInput] = {}
    axes: dict[str, str | None] = {}
    small: set[str] = set()
    fills: set[str] = set()
    for located in bodies(message):
        for node in located.body.node:
            if not is_pad(node) or len(node.input) < 2:
                continue
            data = node.input[0] if node.input[0] in inputs else None
            mode = next((a.s.decode(errors="replace") for a in node.attribute if a.name == "mode"), "constant")
            if (name := _source(node.input[1], made)) in inputs:
                amounts[name] = AmountsInput(data, mode not in MODES_WITHOUT_REACH)
            if len(node.input) > 3 and (name := _source(node.input[3], made)) in inputs:
                axes[name] = data
            small |= sources(node.input[1:2], made) & inputs
            at = _place_of_fill(node)
            fills |= {_source(name, made) for name in node.input[at : at + 1]} & inputs
    computed = frozenset(small - set(amounts))
    return Hints(special, amounts, axes, computed, frozenset(fills), longest_amount(message))


def _place_of_fill(node: onnx.NodeProto) -> int:
    """The index of a Pad's fill input."""
    op = OPS.get(node.op_type) if node.domain == DOMAIN else None
    return op.input_index(op.fill) or 2 if op else 2


def _source(name: str, made: Mapping[str, onnx.NodeProto]) -> str:
    """The value from which a value's numbers are passed on unchanged."""
    while name in made and made[name].op_type in HANDING_ON:
        name = made[name].input[0]
    return name


def sources(names: Iterable[str], made: Mapping[str, onnx.NodeProto]) -> set[str]:
    """The values whose elements some values are computed from, those values among them."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        this = pending.pop()
        if this not in found:
            found.add(this)
            pending += made[this].input if this in made and made[this].op_type not in OF_DIMS else ()
    return found


def _origin(value: ir.Value | None) -> ir.Value | None:
    """As ``_source``, for a value of a graph; through Gather and Slice as well."""
    while value is not None and (node := value.producer()) is not None and node.op_type in HANDING_ON | CHOOSING:
        value = node.inputs[0]
    return value


def special_values(model: ir.Model) -> dict[str, list[int]]:
    """The integer constants that Equal nodes compare an input with, by the input's name."""
    inputs = {value: value.name for value in model.graph.inputs if value.name is not None}
    special: dict[str, list[int]] = {}
    for site in walk(model):
        if site.node.op_type != "Equal" or site.node.domain != "":
            continue
        for value, other in (site.node.inputs, site.node.inputs[::-1]):
            number = constant(other, site.scope)
            value = _origin(value)
            if value in inputs and number is not None and number.size == 1 and number.dtype.kind in "iu":
                special.setdefault(inputs[value], []).append(int(number.reshape(())))
    return special
