"""A matcher's result (``Match``), and functions that matchers share, such as the choice of a Pad by type and mode."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite, caller_strings
from padops.convert.records import Status, Verdict
from padops.plural import plural
from padops.spec.dialects import DOMAIN, OPS, VERSIONS, Op
from padops.spec.dtypes import by_numpy

MICROSOFT = "com.microsoft"  # the domain of ONNX Runtime's own operators
EXPLICIT = "explicit pads"  # in a record, in place of an operator: the node has received explicit amounts

# The types of attributes, by their names in the table of operators.
KINDS = {"ints": ir.AttributeType.INTS, "float": ir.AttributeType.FLOAT, "string": ir.AttributeType.STRING}
Judge = Callable[[int], tuple[Verdict, str]]  # from x to the verdict of ONNX Runtime 1.x on a node, and the reason


@dataclass(frozen=True)
class Replacement:
    """A node of the domain ``padops`` that replaces another node and keeps that node's name and outputs."""

    op_type: str
    # In the operator's order: a value of the graph, an array for a new constant, or None if absent.
    inputs: tuple[ir.Value | np.ndarray | None, ...]
    attributes: Mapping[str, ir.Attr]  # the new node's attributes


def in_mode(op_type: str, mode: str, *inputs: ir.Value | np.ndarray | None) -> Replacement:
    """Return a node of type ``op_type`` in a mode; drop trailing ``inputs`` that this operator does not have."""
    op = OPS[op_type]
    return Replacement(op_type, inputs[: len(op.inputs)], {op.mode: ir.AttrString(op.mode, mode)})


@dataclass(frozen=True)
class Applied:
    """The result of ``Match.apply``."""

    touched: Sequence[ir.Node]  # existing nodes whose operator, inputs or attributes have changed
    site: NodeSite | None = None  # a node that the target must still turn into a Pad, or None
    pad: Replacement | None = None  # the Pad for ``site``


@dataclass(frozen=True)
class RunsAs:
    """The operator that ONNX Runtime runs for an unchanged Pad."""

    domain: str
    opset: int
    external: tuple[str, ...] = ()  # the constant inputs of ONNX's Pad whose elements are in an external file


@dataclass(frozen=True)
class Match:
    """The result for one Pad: its replacement, or the reason why it stays."""

    form: str  # see ``PadRecord.form``
    # The equivalent operator; None if the Pad stays, or if ``apply`` leaves no Pad to emit.
    pad: Replacement | None = None
    # Changes more than one node, but does not emit the Pad. ``pad`` has placeholders for values that ``apply`` creates;
    # the target checks ``pad`` before ``apply`` changes the model.
    apply: Callable[[NodeSite, Constants], Applied] | None = None
    # The operator that ONNX Runtime runs; None if ONNX Runtime refuses a node of this form.
    runs_as: RunsAs | None = None
    # The Pad that ONNX Runtime runs as ``runs_as``, and the node of this Pad, if this Pad differs from ``pad``.
    seen: tuple[Replacement, NodeSite] | None = None
    status: Status = "unconverted"  # the status of a Pad that stays
    reason: str | None = None  # why it stays
    # For an operator of padops: the target of its form, or "renamed". For the same target, the Pad stays as it is.
    already: str | None = None
    notes: tuple[str, ...] = ()  # see ``PadRecord.notes``
    # The verdict of ONNX Runtime's CPU provider on the node, and the reason, if the matcher itself judges the node.
    verdict: tuple[Verdict, str] | None = None
    # Without ``runs_as``: ``needed`` is why ONNX Runtime cannot run the nodes as specified. If ``needed`` is None,
    # ``runs`` is the reason why ONNX Runtime runs the nodes; "" if it refuses a node of this form.
    needed: str | None = None
    runs: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)  # fields of ``PadFacts``, if there is no ``pad``
    # For SAME, if ``needed`` describes wrong results: returns the verdict of ONNX Runtime 1.x on the unchanged node.
    judge: Judge | None = None

    @property
    def stays(self) -> bool:
        """Whether the Pad has no replacement."""
        return self.pad is None and self.apply is None

    @property
    def op_type(self) -> str:
        """The ``PadRecord.op_type`` of a Pad that is replaced."""
        return self.pad.op_type if self.pad is not None else EXPLICIT


class Unconvertible(Exception):
    """No operator of padops does the same as the Pad; the exception's text is the record's reason."""


class Unneeded(Exception):
    """The Pad needs no conversion; the exception's text is the record's reason."""


def put_in_front(site: NodeSite, constants: Constants, position: int, role: str, made: Replacement) -> Applied:
    """Put a node in front of the node of ``site``; the new node's output replaces the input at ``position``."""
    node = site.node
    padded = ir.Value(name=constants.fresh(f"{node.outputs[0].name or node.name}_{role}"))
    before = ir.Node(DOMAIN, made.op_type, [node.inputs[position]], outputs=[padded], name=padded.name)
    node.prepend(before)
    node.replace_input_with(position, padded)
    return Applied([node], NodeSite(before, site.path, site.scope), made)


def matched(form: str, read: Callable[[], Match | Replacement]) -> Match:
    """Call ``read`` and return its result as a match; ``Unconvertible`` becomes a match with a reason."""
    try:
        found = read()
    except Unconvertible as why:
        return Match(form, reason=str(why))
    return replace(found, form=form) if isinstance(found, Match) else Match(form, found)


def check_node(node: ir.Node, inputs: tuple[int, int], attributes: Collection[str], **kinds: ir.AttributeType) -> None:
    """Refuse a node with too few or too many inputs, an unknown attribute, or an attribute of a wrong type."""
    least, most = inputs
    if not least <= len(node.inputs) <= most:
        expected = least if least == most else f"{least} to {most}"
        raise Unconvertible(f"it has {plural(len(node.inputs), 'input')}, expected {expected}")
    if None in node.inputs[:least]:
        raise Unconvertible(f"its input {node.inputs.index(None)} is absent")
    for name, attribute in sorted(node.attributes.items()):
        if name not in attributes:
            raise Unconvertible(f"its attribute {name} is unknown")
        if attribute.type != (kind := kinds.get(name, attribute.type)):
            raise Unconvertible(f"its attribute {name} is of type {attribute.type.name}, expected {kind.name}")


def check_type(type_name: str | None, op: Op) -> None:
    """Refuse a data type that the operator does not accept; None means that the type is unknown."""
    if type_name is not None and type_name not in op.types:
        raise Unconvertible(f"its data are {type_name}, which no Pad of padops accepts")


def misfit(replacement: Replacement) -> str | None:
    """Return the reason why a node does not fit its operator, such as a missing input; None if the node fits."""
    op, count = OPS[replacement.op_type], len(replacement.inputs)
    if count > len(op.inputs):
        return f"it has {plural(count, 'input')}; {op.name} has {len(op.inputs)}"
    for i, row in enumerate(op.inputs):
        if not row.optional and (i >= count or replacement.inputs[i] is None):
            return f"it has no {row.name}"
    kinds = {row.name: KINDS[row.type] for row in op.attributes}
    for name, attribute in replacement.attributes.items():
        if name not in kinds:
            return f"{op.name} has no attribute {name}"
        if attribute.type != kinds[name]:
            return f"its attribute {name} is of type {attribute.type.name}, expected {kinds[name].name}"
    return None


def type_of(array: np.ndarray) -> str:
    """Return the name of a constant's element type; if no operator accepts the type, return NumPy's name."""
    row = by_numpy(np.dtype(object) if array.dtype.kind in "SU" else array.dtype)
    return row.name if row is not None else array.dtype.name


def string_values(site: NodeSite, name: str, default: str) -> set[str]:
    """Return all possible values of a string attribute: more than one only if a function's callers set the value."""
    if (attribute := site.node.attributes.get(name)) is None:
        return {default}
    if attribute.type != ir.AttributeType.STRING:
        raise Unconvertible(f"its attribute {name} is of type {attribute.type.name}, expected STRING")
    if not attribute.is_ref():
        return {attribute.value}
    return {default if text is None else text for text in caller_strings(site.scope, attribute)}


def settle_version(version: int, type_name: str | None, modes: Collection[str]) -> str:
    """Return the oldest Pad, ``version`` or newer, that accepts the data's type and all possible ``modes``."""
    if type_name and type_name.startswith("complex"):
        raise Unconvertible(f"its data are {type_name}, and ONNX Runtime has no complex tensors")
    later = [OPS[f"Pad_{v}"] for v in VERSIONS if v >= version]
    check_type(type_name, later[-1])
    if unknown := sorted(set(modes).difference(later[-1].modes)):
        raise Unconvertible(f"mode '{unknown[0]}' is not one of {', '.join(later[-1].modes)} [P9]")
    fits = (op for op in later if (type_name is None or type_name in op.types) and set(modes) <= set(op.modes))
    return next(fits).name
