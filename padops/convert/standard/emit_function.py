"""One body for all the calls that a model makes of an operator."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.sources.match import Unconvertible
from padops.convert.standard import emit_pad, ort_pad, rules
from padops.convert.standard.amounts import amounts_of
from padops.convert.standard.exact_casts import carried
from padops.convert.standard.graph_builder import GraphBuilder, scalar
from padops.convert.standard.pad_info import Lacking, PadInfo
from padops.spec.dialects import Attribute, Op
from padops.spec.plan import Mode, PadError

NEWEST = 26  # any opset does for what is not written
MANY = 16  # calls that would each get the whole body: ONNX Runtime writes it out once for each

_KINDS = {"ints": ir.AttributeType.INTS, "float": ir.AttributeType.FLOAT, "string": ir.AttributeType.STRING}


def write(builder: GraphBuilder, op: Op, inputs: Sequence[ir.Value], pads_of_calls: Sequence[PadInfo]) -> ir.Value:
    """Writes the body.

    Args:
        builder: Of the function.
        op: The operator.
        inputs: Of the function, one for each of the operator's.
        pads_of_calls: The calls.

    Returns:
        The function's output.

    Raises:
        Unconvertible: No body is right for all of the calls.
    """
    for one in pads_of_calls:
        try:
            rules.check(one)
        except PadError as error:
            raise Unconvertible(str(error)) from error
    types = {one.type for one in pads_of_calls}
    pad = _merge(op, inputs, pads_of_calls)
    guarantees = emit_pad.Guarantees(
        typed=all(ort_pad.has_type(name, builder.opset) for name in types),
        ranked=all(one.dims for one in pads_of_calls),
        right=all(_is_proven(one, builder.opset) for one in pads_of_calls),
        or_fails=is_short(op, pads_of_calls, builder.opset),
        keeps=all(_keeps(one) for one in pads_of_calls if Mode.CONSTANT in one.known_modes),
        furthest=_furthest(pads_of_calls),
    )
    if not guarantees.ranked and len({one.dims == [] for one in pads_of_calls}) > 1:
        # While it loads the model, where the rank is declared, in what stands there for other ranks (1.31).
        raise Unconvertible(
            "its data are of rank 0 in some nodes only, and onnxruntime crashes on what both would need"
        )
    return carried(builder, pad, types, guarantees)


def is_short(op: Op, pads_of_calls: Sequence[PadInfo], opset: int) -> bool:
    """Whether the body for all calls of an operator is short because they are many, and may fail where it need not.

    It then is ONNX Runtime's Pad alone, as far as that never gives wrong elements; see ``ort_pad.on_data_or_fail``.
    """
    if sum(not _is_proven(one, opset) for one in pads_of_calls) <= MANY or opset < ort_pad.FIRST_WITH_INPUTS:
        return False
    modes = {mode for one in pads_of_calls for mode in one.known_modes}
    by_axes = any(one.input("axes") is not None for one in pads_of_calls)
    return (
        modes <= {Mode.CONSTANT, Mode.EDGE} | (set() if by_axes else {Mode.REFLECT})
        and all(ort_pad.takes_inputs(opset, one) and ort_pad.has_type(one.type, opset) for one in pads_of_calls)
        and all(_only_adds(one) for one in pads_of_calls)
    )


def _merge(op: Op, inputs: Sequence[ir.Value], pads_of_calls: Sequence[PadInfo]) -> PadInfo:
    """The call of which nothing is known but what all of them have in common."""
    given = []
    for i, value in enumerate(inputs):
        present = {one.inputs[i] is not None for one in pads_of_calls}
        given.append(value if True in present else None)
    types = {one.type for one in pads_of_calls}
    everywhere = [all(one.inputs[i] is not None for one in pads_of_calls) for i in range(len(inputs))]
    position, axes = op.input_index(op.fill), op.input_index("axes")
    optional_fill = position is not None and not everywhere[position]
    wide = all(one.wide_axes for one in pads_of_calls)
    some_axes = axes is not None and given[axes] is not None and not everywhere[axes]
    if some_axes and not wide:
        raise Lacking("axes", op)
    _check_ignored_fills(pads_of_calls)
    attributes = {row.name: _common(row, pads_of_calls) for row in op.attributes}
    return PadInfo(
        op,
        given,
        {name: attribute for name, attribute in attributes.items() if attribute is not None},
        types.pop() if len(types) == 1 else None,
        [] if all(one.dims == [] for one in pads_of_calls) else None,
        tuple(mode for mode in op.modes if any(mode in one.modes for one in pads_of_calls)),
        given,
        [] if optional_fill or all(one.fill_dims in ([], [1]) for one in pads_of_calls) else None,
        all(one.flat_pads for one in pads_of_calls),
        wide,
        some_axes,
        optional_fill and given[position] is not None,
    )


def _check_ignored_fills(pads_of_calls: Sequence[PadInfo]) -> None:
    """Refuses a fill that its mode ignores, and that the built-in would refuse in the body that constant needs too."""
    if not any(Mode.CONSTANT in one.known_modes for one in pads_of_calls):
        return
    for one in pads_of_calls:
        dims = one.fill_dims
        if Mode.CONSTANT not in one.known_modes and dims is not None and None not in dims and prod(dims) != 1:
            raise Unconvertible(
                f"a node in mode {one.modes[0]} has a fill of {prod(dims)} elements, and nodes in mode constant need theirs"
            )


def _common(row: Attribute, pads_of_calls: Sequence[PadInfo]) -> ir.Attr | None:
    """An attribute as all calls have it, or a reference to what each of them has."""
    given = [one.attributes.get(row.name) for one in pads_of_calls]
    values = {_plain(row.default if attribute is None else attribute.value) for attribute in given}
    if len(values) == 1 and not any(attribute is not None and attribute.is_ref() for attribute in given):
        return given[0]
    return ir.RefAttr(row.name, row.name, _KINDS[row.type])


def _plain(value: Any) -> Any:
    """An attribute's value to compare, bit by bit."""
    if isinstance(value, float):
        return np.float32(value).tobytes()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return tuple(value) if isinstance(value, (list, tuple)) else value


def _is_right(pad: PadInfo, opset: int) -> bool:
    """Whether ONNX Runtime's Pad is right for a call, as far as is known before it runs."""
    if pad.known_modes == (Mode.CONSTANT,):
        return bool(pad.dims) and not pad.may_have_interior and _keeps(pad)
    if not pad.is_known:
        return False
    builder = GraphBuilder(opset, lambda wanted: wanted)  # nothing will be written
    try:
        return bool(ort_pad.is_right(builder, pad, scalar(0), amounts_of(builder, pad)))
    except (ValueError, IndexError):  # the amounts do not fit the rank
        return False


def _keeps(pad: PadInfo) -> bool:
    """Whether a call is known to leave something of each axis; see ``ort_pad.cropped``."""
    if _only_adds(pad):
        return True
    if not pad.is_known:
        return False
    builder = GraphBuilder(NEWEST, lambda wanted: wanted)  # nothing will be written
    try:
        amounts = amounts_of(builder, pad)
        window = pad.shape(builder) + np.minimum(amounts.begin, 0) + np.minimum(amounts.end, 0)
    except (ValueError, IndexError):
        return False
    return bool((window > 0).all())


def _furthest(pads_of_calls: Sequence[PadInfo]) -> np.ndarray | None:
    """The greater amount of each axis in mode reflect, if it is known and the same in every call."""
    reflecting = [one.input("pads") for one in pads_of_calls if Mode.REFLECT in one.known_modes]
    if not reflecting or not all(isinstance(pads, np.ndarray) and pads.size % 2 == 0 for pads in reflecting):
        return None
    found = [pads.reshape(2, -1).max(axis=0) for pads in reflecting]
    return found[0] if all(np.array_equal(one, found[0]) for one in found) else None


def _only_adds(pad: PadInfo) -> bool:
    """Whether a call is known to crop nothing."""
    if pad.has_attribute("kernel_shape"):
        return True  # S1
    lists = [value for row, value in zip(pad.op.inputs, pad.inputs) if row.kind != "T" and row.name != "axes"]
    attributes = [pad.attributes.get(row.name) for row in pad.op.attributes if row.type == "ints"]
    if any(isinstance(x, ir.Value) for x in lists) or any(x is not None and x.is_ref() for x in attributes):
        return False
    lists += [np.array(attribute.value) for attribute in attributes if attribute is not None]
    return all((numbers >= 0).all() for numbers in lists)


def _is_proven(pad: PadInfo, opset: int) -> bool:
    """Whether nothing but ONNX Runtime's Pad is needed for a call; found out once for each."""
    if opset not in pad.proven:
        pad.proven[opset] = _is_right(pad, opset) or _must_do(pad, opset)
    return pad.proven[opset]


def _must_do(pad: PadInfo, opset: int) -> bool:
    """Whether ONNX Runtime's Pad is all that an opset has for a call, and fails where it is not right.

    Before 1.25 it did not fail where a reflection was too long, neither here nor in the model that was converted; where
    it had to crop as well as to reflect, that was wrong for amounts that are right, so there it is not enough.
    """
    name = next((row.name for row in pad.op.attributes if row.type == "ints"), None)
    amounts = pad.attributes.get(name)
    if opset >= ort_pad.FIRST_WITH_INPUTS or amounts is None or amounts.is_ref() or pad.op.fill != "value":
        return False
    return pad.known_modes == (Mode.EDGE,) or min(amounts.value, default=0) >= 0
