"""What a source says of a node, and the rules that sources share: which version has a type and a mode."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from padops.convert.facts import Verdict
from padops.convert.model.graphs import LARGEST_CONSTANT, NodeSite, caller_strings, constant
from padops.convert.records import PadRecord, Status
from padops.spec.dialects import INTEGER_KINDS, OPS, Op
from padops.spec.dialects.onnx_pad import VERSIONS
from padops.spec.dtypes import by_numpy

if TYPE_CHECKING:
    from padops.convert.model.constants import Constants
    from padops.convert.model.types import Types

MICROSOFT = "com.microsoft"  # the domain of ONNX Runtime's own operators

# The types of attributes, by their names in the table of operators.
KINDS = {"ints": ir.AttributeType.INTS, "float": ir.AttributeType.FLOAT, "string": ir.AttributeType.STRING}


@dataclass(frozen=True)
class Replacement:
    """A node of the domain ``padops`` that is to take the place of another; its name and outputs stay.

    Attributes:
        op_type: The operator.
        inputs: In its order: a value of the graph, an array that is to become a constant, or None where absent.
        attributes: As the node is to have them.
    """

    op_type: str
    inputs: tuple[ir.Value | np.ndarray | None, ...]
    attributes: Mapping[str, ir.Attr]


@dataclass(frozen=True)
class Applied:
    """What a rewrite has done.

    Attributes:
        touched: Those nodes, of the ones that were there before, whose operator, inputs or attributes have changed.
        site: A node that has yet to become a Pad, or None.
        replacement: What the target is to emit there.
    """

    touched: Sequence[ir.Node]
    site: NodeSite | None = None
    replacement: Replacement | None = None


@dataclass(frozen=True)
class Rewrite:
    """What is to be done where putting one node in the place of another is not enough.

    Attributes:
        op_type: What the record is to say that the Pad has become.
        apply: Does it, all but to emit the Pad.
        pad: The Pad that the target is asked for before anything is changed, with stand-ins for values that ``apply`` makes;
            None where there is none to emit.
        needed: Why ONNX Runtime cannot be left with what is there, or None.
        runs: What ONNX Runtime can be left with, where it can.
        corrects: Whether ``needed`` is about wrong results, which the converted model is not to repeat.
        judge: Says of a release 1.x what it does with what is there, where one Pad of ONNX among it decides that.
    """

    op_type: str
    apply: Callable[[NodeSite, Constants], Applied]
    pad: Replacement | None = None
    needed: str | None = None
    runs: str = "ONNX Runtime runs it"
    corrects: bool = False
    judge: Callable[[int], tuple[Verdict, str]] | None = None


@dataclass(frozen=True)
class RunsAs:
    """The operator that ONNX Runtime runs a Pad as, if it is left as it was found."""

    domain: str
    opset: int


@dataclass(frozen=True)
class Match:
    """One Pad: either a replacement of what it is to become, or the reason why it stays.

    Attributes:
        form: See ``PadRecord.form``.
        replacement: What it is to become, else None.
        runs_as: What it is to ONNX Runtime; None where that refuses a node of its form.
        status: Of a Pad that stays.
        reason: Why it stays.
        op_type: Of a Pad that is an operator of padops already.
        already: The target whose form it has, for such a Pad: it stays where that is the one that is asked for; or "renamed".
        notes: See ``PadRecord.notes``.
        verdict: What ONNX Runtime's CPU does with the node, and why, where no change of the Pad helps; else None.
    """

    form: str
    replacement: Replacement | Rewrite | None = None
    runs_as: RunsAs | None = None
    status: Status = "unconverted"
    reason: str | None = None
    op_type: str | None = None
    already: str | None = None
    notes: tuple[str, ...] = ()
    verdict: tuple[Verdict, str] | None = None

    def record(self, site: NodeSite, status: Status, reason: str | None = None) -> PadRecord:
        """The record of this Pad, once it is decided what becomes of it.

        Args:
            site: The node.
            status: What becomes of the Pad.
            reason: Why, where it is not converted.
        """
        op_type = self.replacement.op_type if self.replacement and status == "converted" else self.op_type
        done = self.replacement if isinstance(self.replacement, Rewrite) and status == "converted" else None
        corrects = done.needed if done and done.corrects else None
        return PadRecord(site.path, site.node.name or "", self.form, status, op_type, reason, self.notes, corrects)


class Unconvertible(Exception):
    """A Pad that no operator of padops is the same as; the message is the reason, for the record."""


class Unneeded(Exception):
    """A Pad that is already what it would become; the message says why that will do, for the record."""


def misfit(replacement: Replacement) -> str | None:
    """What of a node is not as its operator has it, or None: inputs and attributes that are missing or too many."""
    op, count = OPS[replacement.op_type], len(replacement.inputs)
    if count > len(op.inputs):
        return f"it has {count} inputs; {op.name} has {len(op.inputs)}"
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


def is_open(axes: ir.Value | np.ndarray | None, site: NodeSite, types: Types) -> bool:
    """Whether nothing says that axes are a list; of the inputs of a function, its calls say it.

    Args:
        axes: What a node has for axes.
        site: The node.
        types: Of the model.
    """
    if not isinstance(axes, ir.Value) or constant(axes, site.scope) is not None:
        return False
    root = site.scope.root
    of_caller = isinstance(root, ir.Function) and axes.is_graph_input() and axes.graph is root.graph
    return not of_caller and types.shape(axes) is None


def too_long(match: Match) -> str | None:
    """Which attribute of a Pad lists more numbers than are read, as of inputs; None for none."""
    made = match.replacement.pad if isinstance(match.replacement, Rewrite) else match.replacement
    for name, attribute in (made.attributes if made else {}).items():
        if attribute.type == ir.AttributeType.INTS and not attribute.is_ref():
            if (count := len(attribute.value)) > LARGEST_CONSTANT:
                return f"its attribute {name} has {count} elements, and padops reads up to {LARGEST_CONSTANT}"
    return None


def wrong_type(op: Op, inputs: Sequence[ir.Value | np.ndarray | None]) -> str | None:
    """Which input is of numbers other than integers where those are expected."""
    for row, array in zip(op.inputs, inputs):
        if row.kind in INTEGER_KINDS and isinstance(array, np.ndarray) and array.dtype.kind not in "iu":
            return f"its input {row.name} is of type {type_of(array)}, expected integers"
    return None


def check_integers(site: NodeSite, **positions: int) -> None:
    """Refuses inputs, by their positions, that are constants of no integers.

    Raises:
        Unconvertible: With the name and the type.
    """
    for name, i in positions.items():
        array = constant(site.node.inputs[i], site.scope) if i < len(site.node.inputs) else None
        if array is not None and array.dtype.kind not in "iu":
            raise Unconvertible(f"its input {name} is of type {type_of(array)}, expected integers")


def type_of(array: np.ndarray) -> str:
    """The element type of a constant, for a reason; of complex numbers, which no operator takes, NumPy's name."""
    row = by_numpy(np.dtype(object) if array.dtype.kind in "SU" else array.dtype)
    return row.name if row is not None else array.dtype.name


def string_attribute(node: ir.Node, name: str, default: str) -> str | None:
    """A string attribute, its default where absent, None where a function's caller gives it.

    Args:
        node: The node.
        name: Of the attribute.
        default: What it is where the node does not have it.
    """
    attribute = node.attributes.get(name)
    if attribute is None:
        return default
    if attribute.is_ref():
        return None
    value = attribute.value
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def string_values(site: NodeSite, name: str, default: str) -> set[str]:
    """All that a string attribute may be: several only where a function's callers give it.

    Args:
        site: The node.
        name: Of the attribute.
        default: What it is where the node does not have it.

    Raises:
        Unconvertible: It is of another type.
    """
    attribute = site.node.attributes.get(name)
    if attribute is not None and attribute.type != ir.AttributeType.STRING:
        raise Unconvertible(f"its attribute {name} is of type {attribute.type.name}, expected STRING")
    value = string_attribute(site.node, name, default)
    if attribute is None or value is not None:
        return {default if value is None else value}
    return {default if text is None else text for text in caller_strings(site.scope, attribute)}


def settle_version(version: int, type_name: str | None, modes: Collection[str], notes: list[str]) -> str:
    """The operator, of ``version`` or of the first later one that has the type and all of the modes; moves are noted.

    Args:
        version: Of the operator that the node is in the standard.
        type_name: Of its data; None where it is not known.
        modes: All that its mode may be.
        notes: Gets a sentence for each move.

    Raises:
        Unconvertible: None has them.
    """
    if type_name and type_name.startswith("complex"):
        raise Unconvertible(f"its data are {type_name}, and ONNX Runtime has no complex tensors")
    later = [f"Pad_{v}" for v in VERSIONS if v >= version]
    with_type = [name for name in later if type_name is None or type_name in OPS[name].types]
    if not with_type:
        raise Unconvertible(f"its data are {type_name}, which no Pad of padops has")
    if with_type[0] != later[0]:
        notes.append(f"{with_type[0]}, not {later[0]}, which does not have {type_name}")
    if unknown := sorted(set(modes).difference(OPS[with_type[-1]].modes)):
        raise Unconvertible(f"mode '{unknown[0]}' is not one of {', '.join(OPS[with_type[-1]].modes)} [P9]")
    with_modes = next(name for name in with_type if set(modes) <= set(OPS[name].modes))
    if lacking := sorted(set(modes).difference(OPS[with_type[0]].modes)):
        notes.append(f"{with_modes}, not {with_type[0]}, which does not have mode {lacking[0]} [P9]")
    return with_modes
