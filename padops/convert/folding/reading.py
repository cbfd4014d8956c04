"""A Pad in any of its forms, read: its mode, its amounts and its fill, as far as they are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite, constant
from padops.convert.model.types import Types
from padops.convert.sources.match import Match, Replacement
from padops.spec.dialects import OPS, Node, Op
from padops.spec.dtypes import by_name
from padops.spec.plan import Amounts, Limit, Mode, PadError

ZERO = b""  # the bits of a fill that has none
NOTHING = Amounts(0, 0)


@dataclass(frozen=True)
class Reading:
    """A Pad.

    Attributes:
        site: The node.
        match: What its source says of it.
        type: Element type of the data.
        mode: The mode, or None where a function's caller gives it.
        amounts: Of each axis, None where they are not known; empty where they are 0 and the rank is not known.
        fill: The bits of its one element, ``ZERO`` where all are 0; the value that it is, where that is all that is
            known; or None.
        element: The fill as an array of one element; None where it is the default, or not known.
    """

    site: NodeSite
    match: Match
    type: str | None
    mode: Mode | None
    amounts: tuple[Amounts, ...] | None
    fill: bytes | ir.Value | None
    element: np.ndarray | None

    @property
    def replacement(self) -> Replacement:
        return self.match.replacement

    @property
    def data(self) -> ir.Value:
        return self.replacement.inputs[0]

    @property
    def output(self) -> ir.Value:
        return self.site.node.outputs[0]

    @property
    def op(self) -> Op:
        return OPS[self.replacement.op_type]

    @property
    def changes_nothing(self) -> bool:
        """Whether all amounts are known and 0, and the Pad never refuses them."""
        # nGraph wants an element to extend from even where it is not needed (P4).
        refuses = self.op.limit is Limit.NGRAPH and self.mode not in (Mode.CONSTANT, Mode.SYMMETRIC)
        return not refuses and self.amounts is not None and all(amounts == NOTHING for amounts in self.amounts)

    @property
    def only_adds(self) -> bool:
        """Whether the amounts are known and none is negative, nor any of an interior."""
        return self.amounts is not None and all(
            amounts.begin >= 0 <= amounts.end and not amounts.interior for amounts in self.amounts
        )


def read(site: NodeSite, match: Match, types: Types) -> Reading | None:
    """The Pad of a match with a Replacement; None where it breaks a rule, which is to be said where it runs."""
    replacement = match.replacement
    op = OPS[replacement.op_type]
    plain = {name: attribute.value for name, attribute in replacement.attributes.items() if not attribute.is_ref()}
    of_caller = set(replacement.attributes) - set(plain)
    type_name = types.name(
        *(value for value in replacement.inputs[:1] if isinstance(value, ir.Value)), *site.node.outputs
    )
    try:
        mode = None if op.mode in of_caller else Node(op, attributes=plain).mode()
        amounts = _amounts(replacement, site, types, plain, of_caller - {op.mode, op.fill})
        fill, element = _fill(replacement, site, plain, of_caller, type_name, mode)
    except PadError:
        return None
    return Reading(site, match, type_name, mode, amounts, fill, element)


def _amounts(
    replacement: Replacement, site: NodeSite, types: Types, plain: Mapping[str, Any], of_caller: set[str]
) -> tuple[Amounts, ...] | None:
    """The amounts of each axis.

    Raises:
        PadError: They break a rule.
    """
    op = OPS[replacement.op_type]
    given = [*replacement.inputs, *[None] * (len(op.inputs) - len(replacement.inputs))]
    arrays: list[np.ndarray | None] = []
    for row, value in zip(op.inputs, given, strict=True):
        known = value if isinstance(value, np.ndarray) else constant(value, site.scope)
        if row.kind != "T" and value is not None and known is None:
            return None
        arrays.append(None if row.kind == "T" else known)
    if of_caller:
        return None
    node = Node(op, attributes=plain, inputs=arrays)
    dims = types.shape(given[0]) or types.shape(site.node.outputs[0])
    if dims is None:
        return _amounts_of_any_rank(node)
    if op.name == "SamePad_1" and None in dims and node.attribute("auto_pad") != "VALID":
        return None
    return tuple(op.amounts(node, [1 if dim is None else dim for dim in dims]))


def _amounts_of_any_rank(node: Node) -> tuple[Amounts, ...] | None:
    """The amounts where the rank has to be told from them."""
    op = node.op
    if op.name == "SamePad_1":
        rank = len(node.attribute("kernel_shape")) + 2
        return tuple(op.amounts(node, [1] * rank)) if node.attribute("auto_pad") == "VALID" else None
    if op.input_index("axes") is not None and node.integers("axes") is not None:
        return None if node.integers("pads").any() else ()
    if op.input_index("pads") is not None:
        rank = node.integers("pads").size // 2
    elif op.input_index("pads_begin") is not None:
        rank = node.integers("pads_begin").size
    else:
        per_axis = {"paddings": 2, "pads": 2, "padding_below": 1}
        rank = next(
            len(node.attribute(row.name)) // per_axis[row.name] for row in op.attributes if row.name in per_axis
        )
    return tuple(op.amounts(node, [1] * rank))


def _fill(
    replacement: Replacement,
    site: NodeSite,
    plain: Mapping[str, Any],
    of_caller: set[str],
    type_name: str | None,
    mode: Mode | None,
) -> tuple[bytes | ir.Value | None, np.ndarray | None]:
    """The fill's bits or value, and its element.

    Raises:
        PadError: It has not one element, in mode constant.
    """
    op = OPS[replacement.op_type]
    if op.fill in of_caller:
        return None, None
    position = op.input_index(op.fill)
    if position is None:
        value = np.float32(plain.get(op.fill, 0))
        return _bits(value, type_name)
    given = replacement.inputs[position] if position < len(replacement.inputs) else None
    if given is None:
        return ZERO, None
    array = given if isinstance(given, np.ndarray) else constant(given, site.scope)
    if array is None:
        return given, None
    if array.size != 1 and mode is Mode.CONSTANT:
        raise PadError("P7", f"{op.fill} has {array.size} elements, expected one")
    return (None, None) if array.size != 1 else (bits_of(array), array.reshape(()))


def _bits(value: np.float32, type_name: str | None) -> tuple[bytes | None, np.ndarray | None]:
    """A fill that an attribute gives, rounded to the type (P7)."""
    if value == 0 and not np.signbit(value):
        return ZERO, None
    if type_name is None:
        return None, None
    with np.errstate(over="ignore", invalid="ignore"):
        array = np.asarray(value).astype(by_name(type_name).numpy)
    return bits_of(array), array


def bits_of(array: np.ndarray) -> bytes:
    """The bits of one element, ``ZERO`` where all of them are 0."""
    if array.dtype.kind in "OSU":
        item = array.reshape(-1)[0]
        return item if isinstance(item, bytes) else str(item).encode()
    content = array.tobytes()
    return content if any(content) else ZERO


def sum_of(first: Sequence[Amounts], second: Sequence[Amounts]) -> list[Amounts]:
    """The amounts of one axis after the other, added."""
    return [Amounts(a.begin + b.begin, a.end + b.end) for a, b in zip(first, second, strict=True)]
