"""Writes a Pad of any rank, by ONNX Runtime's own Pad (the built-in) where that is right, else by computed indices.

The built-in pads either the data, if necessary between exact casts, or the elements' indices. The built-in is right in
two cases: in mode ``constant`` if ``cropped`` has cropped the data before; in another mode if ``is_right`` is true.
These conditions suffice from onnxruntime 1.20 on; newer releases are right in more cases (``padops/rules/cpu.json``).

In all other cases, nodes compute indices at run time. One Gather takes the output from the flat data; a fill, if there
is one, is appended to the data. A Loop over the axes computes one index for each output element by Horner's scheme: for
an axis of n elements, the index i from the earlier axes becomes ``i * n + j``, where j is the position on this axis.
Index -1 selects the fill.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert import runtimes
from padops.convert.pads.match import Unconvertible
from padops.convert.pads.pad_info import Operand, PadInfo, all_known
from padops.convert.runtimes import EXACT_CASTS, FIRST_WITH_INPUTS, MOVED, has_modes, known_amounts, taking_pooling
from padops.convert.standard import graph_builder, pad_values
from padops.convert.standard.graph_builder import Number, Numbers, emit, flatten, here, ints, part, reshape, take
from padops.convert.standard.pad_values import FAR, AxisAmounts, amounts_of, any_fill, mode_of, rank_of, shape_of
from padops.spec.dtypes import by_name
from padops.spec.plan import Limit, Mode

#                 added to amounts and dims that are compared with 0; added to dims that are compared with amounts
_BOUNDS = {
    Mode.CONSTANT: (FAR, FAR),
    Mode.EDGE: (0, FAR),
    Mode.REFLECT: (0, -1),
    Mode.SYMMETRIC: (0, -FAR),
    Mode.WRAP: (0, 0),
}


def is_right(pad: PadInfo, choice: Numbers, amounts: AxisAmounts) -> Numbers:
    """Return whether the built-in is right in the mode ``pad.modes[choice]``, as a bool of rank 0.

    A mode other than constant requires data without empty axes, and no negative amounts. Mode reflect requires amounts
    of at most n - 1, and mode wrap requires amounts of at most n.
    """
    size, usable = shape_of(pad), pad.known_modes if has_modes(pad, here().opset) else (Mode.CONSTANT,)
    bounds = [_BOUNDS[mode] if mode in usable else (0, -FAR) for mode in pad.known_modes]
    free, reach = (pad_values.select(column, choice) for column in zip(*bounds))
    reach = size + reach
    terms = [amounts.begin + free, amounts.end + free, reach - amounts.begin, reach - amounts.end]
    terms += [size - 1 + free, rank_of(pad) - 1]
    if pad.op.limit is Limit.NGRAPH:  # P4: reflect needs two elements, even if it adds none
        fewest = [2 if mode is Mode.REFLECT else -FAR for mode in pad.known_modes]
        terms.append(size - pad_values.select(fewest, choice))
    return graph_builder.lowest(*terms) > -1


def _mode(pad: PadInfo) -> dict[str, ir.Attr]:
    """Return the built-in's mode: the operator's mode, or constant if the built-in lacks one of the possible modes."""
    if not has_modes(pad, here().opset) or (pad.op.mode not in pad.attributes and len(pad.modes) == 1):
        return {}
    return {"mode": pad_values.mode_attribute(pad)}


def cropped(pad: PadInfo, source: Operand) -> tuple[Number, AxisAmounts]:
    """Return ``source`` cropped by negative amounts, and the amounts that mode constant still adds (P1, P3 FULL)."""
    amounts, size = amounts_of(pad), shape_of(pad)
    output = amounts.begin + size + amounts.end
    if pad.op.clamp:
        output = np.maximum(output, 0)
    start = np.minimum(np.maximum(-amounts.begin, 0), size)
    stop = np.maximum(np.minimum(size + amounts.end, size), start)
    front = np.minimum(np.maximum(amounts.begin, 0), output)
    back = output - front - (stop - start)
    left = AxisAmounts(front, back)
    if here().opset >= graph_builder.FIRST_SLICE_OF_INPUTS:
        return emit("Slice", [source, start, stop]), left
    begin, end, axes = amounts.begin, amounts.end, ints()
    if not isinstance(begin, Number) and not isinstance(end, Number):  # Slice counts from the end, too
        start, stop = np.maximum(-begin, 0), np.where(end < 0, end, np.iinfo(np.int64).max)
        axes = np.arange(begin.size)
    return part(source, start, stop, axes), left


def own_amounts(pad: PadInfo) -> AxisAmounts | None:
    """Return the amounts for the built-in; None if the built-in can read the node's own amounts."""
    if takes_inputs(here().opset, pad):
        return None
    amounts = amounts_of(pad)
    if not pad.op.clamp:
        return amounts
    known = pad.amounts if pad.dims else None
    rows = zip(pad.dims or (), known or ())
    adds = known is not None and not any(size is None and one.crops for size, one in rows)
    sizes = ints(*(size or 0 for size in pad.dims or ())) if adds else shape_of(pad)  # for axes that grow, any size
    output = amounts.begin + sizes + amounts.end
    return AxisAmounts(amounts.begin, amounts.end - np.minimum(output, 0))  # P1: a negative dim becomes 0


def on_data(pad: PadInfo, amounts: AxisAmounts | None, source: Operand | None = None, numbered: bool = False) -> Number:
    """Return the output of the built-in on the data, or on the indices of the data (see ``iota``).

    The built-in gets the amounts of all axes and no input ``axes``, because a Transpose that moves through the Pad
    would permute this input. If ``amounts`` is None, the built-in gets the node's own amounts. If a later pooling might
    absorb the Pad, the data get one more axis during padding; this axis stops the optimizers. ``source`` replaces the
    data, for example by cropped data. With ``numbered``, ``source`` is the ``iota``, and the fill is -1.
    """
    lifted = not numbered and bool(taking_pooling(pad))
    source = pad.data if source is None else source
    if here().opset < FIRST_WITH_INPUTS:
        return _with_attributes(pad, amounts, lifted)
    pads = _pads(pad, amounts, lifted)
    fill = -1 if numbered else _fill(pad)
    source = graph_builder.with_axis("Unsqueeze", source, 0) if lifted else source
    padded = emit("Pad", [source, pads, fill], _mode(pad))
    return graph_builder.with_axis("Squeeze", padded, 0) if lifted else padded


def on_data_or_fail(pad: PadInfo, reach: np.ndarray | None) -> Number:
    """Return the built-in's output for non-negative amounts; a check fails where the built-in would be wrong.

    Before 1.25, the built-in reads beyond the data if a reflection is longer than n - 1. So GatherND reads the last
    element that the reflection needs, and fails if the axis lacks this element. The element becomes the fill of the
    Pad; mode reflect ignores the fill. ``reach`` has the larger of each axis's two amounts, if known.
    """
    if Mode.REFLECT not in pad.known_modes:
        return on_data(pad, None)

    def reflect() -> Number:
        pads, index = _pads(pad, None), reach
        if index is None:
            count = {"num_outputs": 2} if here().opset >= 18 else {}
            split: Any = here().emit("Split", [pads], count, outputs=2).producer()
            index = np.maximum(*split.outputs)
        reached = emit("GatherND", [pad.data, index], role="P2")
        return emit("Pad", [pad.data, pads, reached], {"mode": "reflect"})

    if pad.known_modes == (Mode.REFLECT,):
        return reflect()
    reflects = np.equal(mode_of(pad), pad.known_modes.index(Mode.REFLECT))
    return here().choose(reflects, reflect, lambda: on_data(pad.without(Mode.REFLECT), None))


def _fill(pad: PadInfo) -> Operand | None:
    """Return the fill in a form that the built-in accepts."""
    if Mode.CONSTANT not in pad.known_modes:
        return None
    fits = pad.fill_dims in ([], [1])
    fill = pad.own(pad.op.fill, fits) or pad_values.given_fill(pad)
    if isinstance(fill, np.ndarray):
        return fill.reshape(())
    return fill if fill is None or fits else emit("Reshape", [fill, ints(1)])


def _with_attributes(pad: PadInfo, amounts: AxisAmounts | None, lifted: bool) -> Number:
    """Write the built-in of an opset before 11: its attributes come from Pad_1 or Pad_2, or from known inputs."""
    made = _mode(pad)
    name = next((row.name for row in pad.op.attributes if row.type == "ints"), "")
    given, value = pad.attributes.get(name), pad.attributes.get("value")
    if pad.op.input_index(pad.op.fill) is None and given is not None and given.is_ref():
        made["pads"] = pad_values.reference("pads", given, ir.AttributeType.INTS)
    else:
        pads = _pads(pad, amounts, lifted)
        if not isinstance(pads, np.ndarray):
            raise graph_builder.too_old("Pad with amounts as an input", FIRST_WITH_INPUTS)
        made["pads"] = ir.AttrInt64s("pads", pads.tolist())
    if pad.op.input_index(pad.op.fill) is None:
        if value is not None and Mode.CONSTANT in pad.known_modes:  # OpenVINO refuses an infinite value in any mode
            made["value"] = pad_values.reference("value", value, ir.AttributeType.FLOAT) if value.is_ref() else value
    elif (fill := pad_values.given_fill(pad)) is not None:
        if not isinstance(fill, np.ndarray) or fill.dtype.name != "float32":
            raise graph_builder.too_old("Pad with a fill as an input", FIRST_WITH_INPUTS)
        made["value"] = ir.AttrFloat32("value", float(fill.reshape(())))
    if not lifted:
        return emit("Pad", [pad.data], made)
    if given is not None and given.is_ref():  # unchangeable amounts: only the padded data get another axis
        padded = graph_builder.with_axis("Unsqueeze", emit("Pad", [pad.data], made), 0)
    else:
        padded = emit("Pad", [graph_builder.with_axis("Unsqueeze", pad.data, 0)], made)
    return graph_builder.with_axis("Squeeze", padded, 0)


def iota(pad: PadInfo) -> Numbers:
    """Return 0, 1, 2 ... in the shape of the data, which have at least one dim."""
    shape = shape_of(pad)
    # Before opset 14 Reshape cannot make a dim of 0, but Slice can.
    roomy = np.maximum(shape, 1) if here().opset < 14 else shape
    count = emit("ReduceProd", [roomy], {"keepdims": 0}) if isinstance(roomy, Number) else int(np.prod(roomy))
    counted = reshape(emit("Range", [0, count, 1]), roomy)
    return counted if here().opset >= 14 else emit("Slice", [counted, shape - shape, shape])


def _pads(pad: PadInfo, amounts: AxisAmounts | None, lifted: bool = False) -> Operand:
    """Return the amounts of all axes, begins and then ends; with ``lifted``, also 0 for one more axis in front."""
    if amounts is None and (lifted or pad.input("axes") is not None):
        listed = None if pad.node is None or pad.input("axes") is not None else pad_values.pads_of(pad)
        if isinstance(listed, np.ndarray) and listed.size % 2 == 0:
            amounts = AxisAmounts(*np.split(listed.reshape(-1), 2))  # of any rank
        else:
            amounts = amounts_of(pad)
    if amounts is not None:
        front = ints(0) if lifted else ints()
        return np.concatenate([front, amounts.begin, front, amounts.end])
    return pad.own("pads", pad.flat_pads) or flatten(pad_values.pads_of(pad))


def takes_inputs(opset: int, pad: PadInfo) -> bool:
    """Return whether ONNX's Pad of this opset accepts the node's own inputs for amounts and axes."""
    return pad.op.is_onnx and (pad.input("axes") is None or opset >= runtimes.FIRST_WITH_AXES)


def keeps_elements(pad: PadInfo) -> bool:
    """Return whether a Pad certainly keeps at least one element of the data on each axis."""
    amounts = known_amounts(pad)
    if not pad.is_known or not all_known(pad.dims) or len(amounts) != len(pad.dims):
        return False
    return all(size + min(one.begin, 0) + min(one.end, 0) > 0 for size, one in zip(pad.dims, amounts))


def write_exact(pad: PadInfo, types: Collection[str | None], write: Callable[[PadInfo], Operand]) -> Operand:
    """Write a Pad with ``write``, between two casts if the type of the data needs casts."""
    opset, proxies = here().opset, set()
    for name in types:
        if name is None:
            raise Unconvertible("the type of its data is not known")
        proxy, since = EXACT_CASTS.get(name, (None, 0))
        if MOVED.get(name, opset + 1) > opset and not (proxy and since <= opset):
            raise Unconvertible(f"no standard operator of opset {opset} copies {name} without changing bits")
        proxies.add(proxy)
    if proxies == {None}:
        return write(pad)
    if pad.type is None:
        raise Unconvertible(
            f"its data are of several types, {', '.join(sorted(map(str, types)))}, some of which need casts"
        )
    proxy, _ = EXACT_CASTS[pad.type]
    to, own = by_name(proxy), by_name(pad.type)
    position = pad.op.input_index(pad.op.fill)
    inputs: list[Operand | None] = [emit("Cast", [pad.data], {"to": to.onnx}), *pad.inputs[1:]]
    if position is not None:
        if pad.some_fill:
            raise pad_values.Lacking(pad.op.fill, pad.op)
        fill = inputs[position]
        if fill is None:  # float8e8m0 has no 0, and its default is another number (P7)
            fill = np.zeros((), own.numpy)
        is_known = isinstance(fill, np.ndarray)
        inputs[position] = np.asarray(fill).astype(to.numpy) if is_known else emit("Cast", [fill], {"to": to.onnx})
    output = write(replace(pad, inputs=inputs, given=inputs, type=proxy))
    if not isinstance(output, ir.Value):
        return output.astype(own.numpy)
    exact = {"saturate": 0} if pad.type in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2fnuz") else {}
    return emit("Cast", [output], {"to": own.onnx} | exact)


@dataclass(frozen=True)
class Guarantees:
    """Facts that hold for every call of a body, and allow fewer nodes."""

    typed: bool  # ONNX Runtime's Pad has the type of the data
    ranked: bool  # the data have at least one dim
    leaves_some: bool  # in mode constant, no crop removes all elements of an axis; see ``cropped``
    # Whether ONNX Runtime's Pad may pad indices. In a branch, releases 1.24 to 1.27 fold constant indices, and lose
    # constants of more than 127 bytes.
    pads_indices: bool = True
    flat: bool = False  # no If or Loop may stand within an If; see ``pad_values.check_nesting``


def write(pad: PadInfo, guarantees: Guarantees, branches: bool = True) -> Number:
    """Write a Pad; with ``branches``, an If selects the built-in where the built-in is right, else computed indices."""
    opset, typed = here().opset, guarantees.typed
    if opset < FIRST_WITH_INPUTS:  # such an opset cannot compute indices
        if not here().has_pad:
            raise Unconvertible(f"without Pad, opset {opset} has no operators that do the same")
        if not typed:
            raise Unconvertible(f"ONNX Runtime's Pad of opset {opset} does not accept {pad.type or 'the types'}")
        if pad.known_modes != (Mode.CONSTANT,):
            raise Unconvertible(
                f"ONNX Runtime's Pad may be wrong, and opset {opset} has no other operators that do the same"
            )
        return on_data(pad, own_amounts(pad))
    fills, only_fills = Mode.CONSTANT in pad.known_modes, pad.known_modes == (Mode.CONSTANT,)
    computed = not here().has_pad or not (typed or guarantees.pads_indices)
    by_indices = computed or (guarantees.flat and len(pad.known_modes) > 1)
    if pad.may_have_interior or (by_indices and fills):
        return _interior_or_not(pad, guarantees.flat)
    if not only_fills:
        choice, amounts = mode_of(pad), amounts_of(pad)
        rank_of(pad)  # all branches use the rank
    fill = any_fill(pad) if fills and not typed else None
    if only_fills:
        output = _constant(pad, guarantees)
    elif not fills or guarantees.leaves_some:
        output = _extend(pad, guarantees, choice, amounts, branches and not guarantees.flat)
    else:
        constant = np.equal(choice, pad.known_modes.index(Mode.CONSTANT))
        filled = pad.only(Mode.CONSTANT)
        # ONNX Runtime (1.31) crashes when it folds an If that is inside another If and contains a Loop. So the second
        # branch contains no If.
        output = here().choose(
            constant,
            lambda: _constant(filled, guarantees),
            lambda: _extend(pad, guarantees, choice, _unless(constant, amounts), branches=False),
        )
    return output if typed else _taken(pad.data, fill, output)  # else ``output`` has flat indices


def _constant(pad: PadInfo, guarantees: Guarantees) -> Number:
    """Write a Pad in mode constant; return the output, or flat indices if the built-in lacks the type."""
    if not guarantees.ranked:
        has_dims = reshape(rank_of(pad), ints()) > 0
        ranked = replace(guarantees, ranked=True)
        return here().choose(
            has_dims,
            lambda: _constant(pad, ranked),
            lambda: emit("Identity", [pad.data if guarantees.typed else 0]),
        )
    source: Operand = pad.data if guarantees.typed else iota(pad)
    if guarantees.leaves_some:
        amounts = own_amounts(pad)
    else:
        source, amounts = cropped(pad, source)
    return on_data(pad, amounts, source, numbered=not guarantees.typed)


def _extend(pad: PadInfo, guarantees: Guarantees, choice: Numbers, amounts: AxisAmounts, branches: bool) -> Number:
    """Write a Pad in any mode (in mode constant, crops must leave elements); return the output, or flat indices."""

    def compute() -> Number:
        indices = _indices(pad, choice, amounts)
        return _taken(pad.data, None, indices) if guarantees.typed else indices

    if not branches or not guarantees.typed or (len(pad.modes) == 1 and not has_modes(pad, here().opset)):
        return compute()
    own = None if takes_inputs(here().opset, pad) else amounts
    return here().choose(is_right(pad, choice, amounts), lambda: on_data(pad, own), compute)


def _interior_or_not(pad: PadInfo, flat: bool) -> Number:
    """Write a Pad by computed indices, without the built-in; mode constant may have an interior (P6)."""
    amounts = amounts_of(pad)
    if pad.known_modes == (Mode.CONSTANT,):
        indices: Operand = _filled_indices(pad, amounts)
        return _taken(pad.data, any_fill(pad), indices)
    choice = mode_of(pad)
    rank_of(pad)
    constant = np.equal(choice, pad.known_modes.index(Mode.CONSTANT))

    def fill() -> Number:
        return _filled_indices(pad, amounts.map(lambda x: np.where(constant, x, 0)) if flat else amounts)

    def extend() -> Number:
        return _indices(pad, choice, _unless(constant, amounts))

    if flat:  # write both branches; the unused branch has amounts of 0, which break no rule
        filled, extended = fill(), extend()
        indices = here().choose(constant, lambda: filled, lambda: extended)
    else:
        indices = here().choose(constant, fill, extend)
    return _taken(pad.data, any_fill(pad), indices)


def _unless(constant: Numbers, amounts: AxisAmounts) -> AxisAmounts:
    """Return the amounts, but zeros in mode constant, so that folding the branch of the other modes cannot fail."""
    return amounts.map(lambda x: np.where(constant, 0, x))


def _indices(pad: PadInfo, choice: Numbers, amounts: AxisAmounts) -> Number:
    """Return for each output element the index of its source in the flat data, in the mode ``pad.modes[choice]``."""
    size = shape_of(pad)
    extents = pad_values.Extents.of(pad.op, size, amounts)
    step = extents.checked_step(pad.op, pad.known_modes, choice, amounts)
    extension = pad_values.look_up(pad.known_modes, choice)

    def row(axis: Number, so_far: Numbers) -> Numbers:
        shown = extents.shown(extension, axis, take(extents.output, axis), step)
        return so_far * take(size, axis) + shown

    return _over_axes(pad, row)


def _filled_indices(pad: PadInfo, amounts: AxisAmounts) -> Number:
    """Return the indices for mode constant, with fill also between the elements of an axis (P6)."""
    size, interior = shape_of(pad), amounts.interior
    dilated, checked = size, list[Numbers]()
    if interior is not None:
        steps = interior + 1
        spread = (size - 1) * steps + 1
        dilated = np.where(size < 1, 0, spread)
        checked.append(interior)
    output = amounts.begin + dilated + amounts.end
    if pad.op.clamp:
        output = np.maximum(output, 0)
    step = emit("Gather", [ints(1), -graph_builder.lowest(output, *checked, ints(0))], role="P1_P6")

    def row(axis: Number, so_far: Numbers) -> Numbers:
        positions = graph_builder.arange(take(output, axis), step) - take(amounts.begin, axis)
        every = 1 if interior is None else take(steps, axis)
        count = take(size, axis)
        inside, shown = pad_values.apart(positions, every, count)
        return np.where(inside & (so_far > -1), so_far * count + shown, -1)

    return _over_axes(pad, row)


def _taken(data: ir.Value, fill: Operand | None, indices: Operand) -> Number:
    """Return the elements at flat indices; the fill, if there is one, has the last index."""
    flat = flatten(data)
    if fill is not None:
        flat = emit("Concat", [flat, reshape(fill, ints(1))], {"axis": 0})
    return emit("Gather", [flat, indices])


def _over_axes(pad: PadInfo, row: Callable[[Number, Numbers], Numbers]) -> Number:
    """Return the indices that a Loop over the axes computes; ``row`` extends the indices by one axis."""
    with here().inner() as inner:
        axis = Number(name=inner.name("axis"), type=ir.TensorType(ir.DataType.INT64), shape=ir.Shape([]))
        going = ir.Value(name=inner.name("going"), type=ir.TensorType(ir.DataType.BOOL), shape=ir.Shape([]))
        so_far = Number(name=inner.name("so_far"))  # without a type, which would also require a shape
        made = row(axis, np.expand_dims(so_far, -1))
        graph = inner.graph([axis, going, so_far], [going, made], "axes")
    count = reshape(rank_of(pad), ints())
    begins = np.array(True)  # without it, onnx's reference does not begin the Loop
    return emit("Loop", [count, begins, 0], {"body": graph}, role="indices")
