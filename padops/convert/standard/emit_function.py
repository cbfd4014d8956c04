"""One body for all the calls that a model makes of an operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.pads.match import KINDS, Unconvertible
from padops.convert.pads.operands import Operand, all_known
from padops.convert.pads.pad_info import PadInfo
from padops.convert.pads.surroundings import Surroundings
from padops.convert.runtimes.builtin_support import FIRST_WITH_INPUTS, has_type, taking_pooling
from padops.convert.standard import emit_pad, lowering, ort_pad, rules
from padops.convert.standard.exact_casts import write_exact
from padops.convert.standard.extension import amounts_of
from padops.convert.standard.graph_builder import GraphBuilder, here
from padops.convert.standard.numbers import Number, emit, scalar, too_old
from padops.convert.standard.pad_values import Lacking
from padops.spec.dialects import Attribute, Op
from padops.spec.plan import Mode, PadError

NEWEST = 26  # any opset does for what is not written
MANY = 16  # calls that would each get the whole body: ONNX Runtime writes it out once for each
# The element types of onnxruntime's Concat, in every opset.
COPIED = {
    "bool", "double", "float", "float16", "int16", "int32", "int64", "int8", "string", "uint16", "uint32", "uint64",
    "uint8",
}  # fmt: skip


class Calls:
    """All calls of an operator, as far as they are known; ``opset`` is of the body."""

    def __init__(self, op: Op, pads: Sequence[PadInfo], opset: int) -> None:
        self.op, self.pads, self.opset = op, pads, opset
        right = [_is_right(pad, opset) for pad in pads]
        # For each call, whether ONNX Runtime's Pad alone does.
        self.proven = [is_right or _is_plain(pad, opset) for is_right, pad in zip(right, pads)]
        # Whether the body is that Pad, which fails over empty axes where padops does not.
        unsure = [pad for pad, is_right in zip(pads, right) if not is_right]
        self.may_fail = all(self.proven) and any(pad.mode is Mode.EDGE and not pad.is_known for pad in unsure)
        # Whether the body is that Pad because the calls are many. It never gives wrong elements, but may fail where
        # padops does not; see ``ort_pad.on_data_or_fail``.
        self.is_short = self.proven.count(False) > MANY and self._may_be_short()

    def _may_be_short(self) -> bool:
        modes = {mode for pad in self.pads for mode in pad.known_modes}
        by_axes = any(pad.input("axes") is not None for pad in self.pads)
        return (
            self.opset >= FIRST_WITH_INPUTS
            and modes <= {Mode.CONSTANT, Mode.EDGE} | (set() if by_axes else {Mode.REFLECT})
            and all(ort_pad.takes_inputs(self.opset, pad) and has_type(pad.type, self.opset) for pad in self.pads)
            and all(pad.only_adds for pad in self.pads)
        )

    def write(self, inputs: Sequence[ir.Value]) -> Number:
        """Writes the body; the function has an input for each of the operator's.

        Returns:
            The function's output.

        Raises:
            Unconvertible: No body is right for all of the calls.
        """
        for pad in self.pads:
            try:
                rules.check(pad)
            except PadError as error:
                raise Unconvertible(str(error)) from error
        types = {pad.type for pad in self.pads}
        merged = _merge(self.op, inputs, self.pads)
        guarantees = emit_pad.Guarantees(
            typed=all(has_type(name, self.opset) for name in types),
            ranked=all(pad.dims for pad in self.pads),
            right=all(self.proven),
            or_fails=self.is_short,
            leaves_some=all(_leaves_some(pad) for pad in self.pads if Mode.CONSTANT in pad.known_modes),
            reach=_reach(self.pads),
            pads_indices=False,
            flat=merged.around.folding > 0,
        )
        if not guarantees.ranked and len({pad.dims == [] for pad in self.pads}) > 1:
            # While it loads the model, where the rank is declared, in what stands there for other ranks (1.31).
            raise Unconvertible(
                "its data are of rank 0 in some nodes only, and onnxruntime crashes on what both would need"
            )

        def write(given: PadInfo) -> Number:
            typed = has_type(given.type, self.opset) if given is not merged else guarantees.typed
            return emit_pad.write(given, replace(guarantees, typed=typed))

        output: Operand
        if guarantees.typed and guarantees.right:
            output = write(merged)
        elif self.opset < FIRST_WITH_INPUTS:  # where a body can ask for nothing when it runs
            here().has_pad = False
            output = _lowered(self._as_one(merged))
        else:
            output = write_exact(merged, types, write)
        assert isinstance(output, Number), "nothing is known of the data"
        last = output.producer()
        if last is not None and last.op_type == "If":
            # In a branch, ONNX Runtime folds an If and loses its output for what is inside of the If of a next call
            # (1.32).
            output = emit("Identity", [output])
        rules.check_nesting(here().nodes, merged.around)
        if rules.depth_of(here().nodes) is not None and any(
            rules.follows_dequantizing(pad.inputs[0]) for pad in self.pads
        ):
            self._keep_apart(inputs[0])
        return output

    def _as_one(self, merged: PadInfo) -> PadInfo:
        """What all calls are, with the inputs and dims that they have in common.

        Raises:
            Unconvertible: They differ in an attribute, which no body of such an opset can ask for.
        """
        if differing := [name for name, attribute in merged.attributes.items() if attribute.is_ref()]:
            raise too_old(f"one body for nodes that differ in {' and '.join(differing)}", FIRST_WITH_INPUTS)
        # The fill stays an input: onnxruntime takes no 8-bit floats for one that no node reads.
        inputs = [
            value if row.kind == "T" else _common_input(value, [pad.inputs[i] for pad in self.pads])
            for i, (row, value) in enumerate(zip(self.op.inputs, merged.inputs, strict=True))
        ]
        dims = merged.dims
        if len({None if pad.dims is None else len(pad.dims) for pad in self.pads}) == 1:
            sizes = zip(*(pad.dims or () for pad in self.pads), strict=True)
            dims = self.pads[0].dims and [row[0] if len(set(row)) == 1 else None for row in sizes]
        name = self.pads[0].name if len(self.pads) == 1 else ""
        return replace(merged, inputs=inputs, dims=dims, rank=None if dims is None else len(dims), name=name)

    def _keep_apart(self, data: ir.Value) -> None:
        """Has the body read a copy of the data, made by a node over which onnxruntime moves no DequantizeLinear.

        Raises:
            Unconvertible: Concat, which makes the copy, does not take the types of all calls.
        """
        if not {pad.type for pad in self.pads} <= COPIED:
            raise Unconvertible("its data follow DequantizeLinear, and have types of which onnxruntime makes no copy")
        uses = list(data.uses())
        copy = emit("Concat", [data], {"axis": 0})
        node = here().nodes.pop()
        here().nodes.insert(0, node)
        for user, index in uses:
            user.replace_input_with(index, copy)


def _lowered(pad: PadInfo) -> Number:
    """Writes the fewest nodes for one Pad, or for several that are alike."""
    output, _ = lowering.write(pad)
    made = output if isinstance(output, ir.Value) else here().constant(output)
    return made if isinstance(made, Number) and made is not pad.data else emit("Identity", [made])


def _merge(op: Op, inputs: Sequence[ir.Value], calls: Sequence[PadInfo]) -> PadInfo:
    """A call that stands for all: only what they have in common is known of it."""
    given = []
    for i, value in enumerate(inputs):
        present = {call.inputs[i] is not None for call in calls}
        given.append(value if True in present else None)
    types = {call.type for call in calls}
    everywhere = [all(call.inputs[i] is not None for call in calls) for i in range(len(inputs))]
    position, axes = op.input_index(op.fill), op.input_index("axes")
    optional_fill = position is not None and not everywhere[position]
    wide = all(call.wide_axes for call in calls)
    some_axes = axes is not None and given[axes] is not None and not everywhere[axes]
    if some_axes and not wide:
        raise Lacking("axes", op)
    _check_ignored_fills(calls)
    attributes = {row.name: _common(row, calls) for row in op.attributes}
    scalars = all(call.dims == [] for call in calls)
    return PadInfo(
        op=op,
        inputs=given,
        given=given,
        attributes={name: attribute for name, attribute in attributes.items() if attribute is not None},
        type=types.pop() if len(types) == 1 else None,
        dims=[] if scalars else None,
        modes=tuple(mode for mode in op.modes if any(mode in call.modes for call in calls)),
        fill_dims=[] if optional_fill or all(call.fill_dims in ([], [1]) for call in calls) else None,
        rank=0 if scalars else None,
        flat_pads=all(call.flat_pads for call in calls),
        wide_axes=wide,
        some_axes=some_axes,
        around=Surroundings(
            pooling=next((name for call in calls if (name := taking_pooling(call))), ""),
            folding=max(call.around.folding for call in calls),
        ),
        some_fill=optional_fill and position is not None and given[position] is not None,
    )


def _common_input(value: Operand | None, given: Sequence[Operand | None]) -> Operand | None:
    """An input of all calls: its elements if they are known and the same, else the body's own ``value``."""
    arrays = [x for x in given if isinstance(x, np.ndarray)]
    alike = {(x.dtype.str, x.shape, x.tobytes()) for x in arrays}
    return arrays[0] if len(arrays) == len(given) and len(alike) == 1 else value


def _check_ignored_fills(calls: Sequence[PadInfo]) -> None:
    """Refuses a fill that its mode ignores, and that the built-in would refuse in the body that constant needs too."""
    if not any(Mode.CONSTANT in call.known_modes for call in calls):
        return
    for call in calls:
        dims = call.fill_dims
        if Mode.CONSTANT not in call.known_modes and all_known(dims) and prod(dims) != 1:
            raise Unconvertible(
                f"a node in mode {call.modes[0]} has a fill of {prod(dims)} elements, "
                "and nodes in mode constant need theirs"
            )


def _common(row: Attribute, calls: Sequence[PadInfo]) -> ir.Attr | None:
    """An attribute as all calls have it, or a reference to what each of them has."""
    given = [call.attributes.get(row.name) for call in calls]
    values = {_plain(row.default if attribute is None else attribute.value) for attribute in given}
    if len(values) == 1 and not any(attribute is not None and attribute.is_ref() for attribute in given):
        return given[0]
    return ir.RefAttr(row.name, row.name, KINDS[row.type])


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
        return bool(pad.dims) and not pad.may_have_interior and _leaves_some(pad)
    if not pad.is_known:
        return False
    try:
        with GraphBuilder(opset, lambda wanted: wanted):  # nothing will be written
            return bool(ort_pad.is_right(pad, scalar(0), amounts_of(pad)))
    except (ValueError, IndexError):  # the amounts do not fit the rank
        return False


def _leaves_some(pad: PadInfo) -> bool:
    """Whether a call is known to leave something of each axis; see ``ort_pad.cropped``."""
    return pad.only_adds or _keeps_elements(pad)


def _keeps_elements(pad: PadInfo) -> bool:
    """Whether a call is known to show elements of each axis."""
    if not pad.is_known:
        return False
    try:
        amounts = pad.amounts
    except PadError:
        return False
    if amounts is None or not all_known(pad.dims):
        return False  # never, since it is known
    return all(size + min(one.begin, 0) + min(one.end, 0) > 0 for size, one in zip(pad.dims, amounts, strict=True))


def _reach(calls: Sequence[PadInfo]) -> np.ndarray | None:
    """The greater amount of each axis in mode reflect, if it is known and the same in every call."""
    reflecting = [call.input("pads") for call in calls if Mode.REFLECT in call.known_modes]
    known = [pads for pads in reflecting if isinstance(pads, np.ndarray) and pads.size % 2 == 0]
    if not known or len(known) < len(reflecting):
        return None
    found = [pads.reshape(2, -1).max(axis=0) for pads in known]
    return found[0] if all(np.array_equal(one, found[0]) for one in found) else None


def _is_plain(pad: PadInfo, opset: int) -> bool:
    """Whether a call needs no more than the Pad of an old opset; mode edge fails there where an axis is empty."""
    if opset >= FIRST_WITH_INPUTS or pad.op.fill != "value":
        return False
    if pad.mode is Mode.EDGE:
        return _keeps_elements(pad) if pad.is_known else pad.only_adds
    return pad.mode is Mode.CONSTANT and _leaves_some(pad)
