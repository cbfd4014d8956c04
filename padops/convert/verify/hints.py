"""Hints for random inputs from a model: which inputs choose branches, and which are amounts or axes of a Pad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import onnx
import onnx_ir as ir

from padops.convert.model.graphs import constant, walk
from padops.convert.verify.pads import is_pad, longest_amount
from padops.convert.verify.probes import bodies
from padops.spec.dialects import DOMAIN, OPS

# Operators that pass numbers on unchanged.
HANDING_ON = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"}
CHOOSING = {"Gather", "Slice"}  # operators that pass some of their numbers on
# Operators whose output follows from their input's dims, not its elements.
OF_DIMS = {"Shape", "Size"}
MODES_WITHOUT_REACH = {"constant", "edge"}  # modes whose amounts may exceed the data


@dataclass(frozen=True)
class Amounts:
    """An input with a Pad's amounts: the input that is the Pad's data, if any; whether the data limit the amounts."""

    data: str | None
    limited: bool


@dataclass(frozen=True)
class Hints:
    """Hints for random inputs, by the inputs' names.

    Attributes:
        special: Numbers that the model compares an input with: they choose branches.
        amounts: Inputs with the amounts of a Pad.
        axes: Inputs with the axes of a Pad, each with the input that is the Pad's data, or None.
        small: Inputs from which amounts are computed.
        fills: Inputs with the fill of a Pad.
        reach: The largest constant amount in the model.
        wide: Inputs that decide no size: any integer may be tried.
    """

    special: Mapping[str, Sequence[int]] = field(default_factory=dict)
    amounts: Mapping[str, Amounts] = field(default_factory=dict)
    axes: Mapping[str, str | None] = field(default_factory=dict)
    small: frozenset[str] = frozenset()
    fills: frozenset[str] = frozenset()
    reach: int = 0
    wide: frozenset[str] = frozenset()


def hints_of(message: onnx.ModelProto, special: Mapping[str, Sequence[int]]) -> Hints:
    """The hints of a model; ``special`` is passed on."""
    inputs = {value.name for value in message.graph.input}
    made = {name: node for located in bodies(message) for node in located.body.node for name in node.output}
    amounts: dict[str, Amounts] = {}
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
                amounts[name] = Amounts(data, mode not in MODES_WITHOUT_REACH)
            if len(node.input) > 3 and (name := _source(node.input[3], made)) in inputs:
                axes[name] = data
            small |= _sources(node.input[1], made) & inputs
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


def _sources(name: str, made: Mapping[str, onnx.NodeProto]) -> set[str]:
    """The values whose elements a value is computed from."""
    found: set[str] = set()
    pending = [name]
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
