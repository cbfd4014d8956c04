"""Pads by ONNX Runtime's own Pad, where that is right: on the data, or on the indices of the data for other types.

Where that is, ``runtimes/builtin_support.py`` says: in mode constant once the data are ``cropped``, and in the others as far
as ``is_right`` asks. All of that holds from onnxruntime 1.20 on; the newest release can do more.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.pads.match import Unconvertible
from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes.builtin_support import FIRST_WITH_AXES, FIRST_WITH_INPUTS, has_modes, taking_pooling
from padops.convert.standard.amounts import Amounts, amounts_of, pads_of
from padops.convert.standard.arithmetic import FIRST_SLICE_OF_INPUTS, ints, scalar
from padops.convert.standard.extension import FAR, select
from padops.convert.standard.graph_builder import GraphBuilder
from padops.convert.standard.pad_values import given_fill, mode_attribute, mode_of, rank_of, reference, shape_of
from padops.spec.dialects import onnx_pad
from padops.spec.plan import Limit, Mode

#                 added to the amounts and dims before they are compared with 0, and to the dims before the amounts
_BOUNDS = {
    Mode.CONSTANT: (FAR, FAR),
    Mode.EDGE: (0, FAR),
    Mode.REFLECT: (0, -1),
    Mode.SYMMETRIC: (0, -FAR),
    Mode.WRAP: (0, 0),
}


def is_right(builder: GraphBuilder, pad: PadInfo, choice: Operand, amounts: Amounts) -> Operand:
    """Whether the built-in does what the operator says, a bool of rank 0.

    Extending needs a source without empty axes, no negative amounts, and amounts that reach no further than the source
    does: n - 1 for reflect, n for wrap.

    Args:
        builder: Writes the nodes.
        pad: What to write.
        choice: Which of the Pad's modes, rank 0.
        amounts: Of every axis, each a vector.
    """
    modes, size = pad.known_modes, shape_of(builder, pad)
    free, reach = _bounds(builder, pad, choice)
    terms = [builder.add(amount, free) for amount in (amounts.begin, amounts.end)]
    terms += [builder.sub(reach, amount) for amount in (amounts.begin, amounts.end)]
    terms += [builder.add(builder.sub(size, scalar(1)), free), builder.sub(rank_of(builder, pad), scalar(1))]
    if pad.op.limit is Limit.NGRAPH:  # P4: reflect needs two elements, also where it adds none
        terms.append(
            builder.sub(size, select(builder, [2 if mode is Mode.REFLECT else -FAR for mode in modes], choice))
        )
    return builder.less(scalar(-1), builder.lowest(*terms))


def _bounds(builder: GraphBuilder, pad: PadInfo, choice: Operand) -> tuple[Operand, Operand]:
    """How much may be cropped, and how much may be added to each axis, for the built-in to be right."""
    modes = pad.known_modes
    usable = modes if has_modes(pad, builder.opset) else (Mode.CONSTANT,)
    bounds = [_BOUNDS[mode] if mode in usable else (0, -FAR) for mode in modes]
    free, reach = (select(builder, column, choice) for column in zip(*bounds))
    return free, builder.add(shape_of(builder, pad), reach)


def bounded_amounts(builder: GraphBuilder, pad: PadInfo, choice: Operand, amounts: Amounts, may_crop: bool) -> Amounts:
    """The amounts, within the bounds where the built-in is right: where ``is_right`` says so they are as they were.

    Of a branch that is never taken, too, ONNX Runtime may run the built-in while it loads the model; see
    ``runtimes/builtin_support.py``.

    Args:
        builder: Where to write.
        pad: The Pad.
        choice: The position of its mode.
        amounts: Of each axis.
        may_crop: Whether mode constant is meant, too.
    """
    free, reach = _bounds(builder, pad, choice)
    lowest = builder.negative(free) if may_crop else scalar(0)
    sides = (builder.maximum(builder.minimum(amount, reach), lowest) for amount in (amounts.begin, amounts.end))
    return Amounts(*sides)


def _mode(builder: GraphBuilder, pad: PadInfo) -> dict[str, ir.Attr]:
    """The mode that the built-in gets: that of the operator, or constant where it does not have all that may be."""
    if not has_modes(pad, builder.opset) or (pad.op.mode not in pad.attributes and len(pad.modes) == 1):
        return {}
    return {"mode": mode_attribute(pad)}


def cropped(builder: GraphBuilder, pad: PadInfo, source: Operand) -> tuple[ir.Value, Amounts]:
    """What negative amounts leave of a tensor, and the amounts that are left to add in mode constant (P3 FULL).

    Args:
        builder: Writes the nodes.
        pad: What to write.
        source: The tensor.
    """
    amounts, size = amounts_of(builder, pad), shape_of(builder, pad)
    zero = scalar(0)
    output = builder.add(builder.add(amounts.begin, size), amounts.end)
    if pad.op.clamp:
        output = builder.maximum(output, zero)
    start = builder.minimum(builder.maximum(builder.negative(amounts.begin), zero), size)
    stop = builder.maximum(builder.minimum(builder.add(size, amounts.end), size), start)
    front = builder.minimum(builder.maximum(amounts.begin, zero), output)
    back = builder.sub(builder.sub(output, front), builder.sub(stop, start))
    return _window(builder, source, amounts, start, stop), Amounts(front, back)


def _window(builder: GraphBuilder, source: Operand, amounts: Amounts, start: Operand, stop: Operand) -> ir.Value:
    """What is left of a tensor, from ``start`` to ``stop`` on every axis."""
    if builder.opset >= FIRST_SLICE_OF_INPUTS:
        return builder.emit("Slice", [source, start, stop])
    begin, end, axes = amounts.begin, amounts.end, ints()
    if isinstance(begin, np.ndarray) and isinstance(end, np.ndarray):  # Slice counts from the end, too
        start, stop = np.maximum(-begin, 0), np.where(end < 0, end, np.iinfo(np.int64).max)
        axes = np.arange(begin.size)
    return builder.part(source, start, stop, axes)


def own_amounts(builder: GraphBuilder, pad: PadInfo) -> Amounts | None:
    """The amounts for the built-in, None where it can have them as the node has them."""
    if takes_inputs(builder.opset, pad):
        return None
    amounts = amounts_of(builder, pad)
    if not pad.op.clamp:
        return amounts
    total = builder.add(builder.add(amounts.begin, shape_of(builder, pad)), amounts.end)  # P1: if negative, 0
    return Amounts(amounts.begin, builder.sub(amounts.end, builder.minimum(total, scalar(0))))


def on_data(
    builder: GraphBuilder,
    pad: PadInfo,
    amounts: Amounts | None,
    source: Operand | None = None,
    numbered: bool = False,
) -> ir.Value:
    """The built-in on the data, or on their ``iota``.

    It gets the amounts of all axes, never a list of axes: see ``MOVED_THROUGH``. Where a pooling behind it might take it for its
    own padding, the data have one more axis while they are padded, which no optimizer sees through.

    Args:
        builder: Where to write.
        pad: The Pad.
        amounts: Of each axis; None for the inputs that the node itself has.
        source: What to pad; the data by default.
        numbered: Whether those are numbers, which are filled with -1.
    """
    apart = not numbered and bool(taking_pooling(pad))
    source = pad.data if source is None else source
    if builder.opset < FIRST_WITH_INPUTS:
        return _with_attributes(builder, pad, amounts, apart)
    pads = _pads(builder, pad, amounts, apart)
    fill = scalar(-1) if numbered else _fill(builder, pad)
    if not apart:
        return builder.emit("Pad", [source, pads, fill], _mode(builder, pad))
    padded = builder.emit("Pad", [builder.unsqueeze(source, 0), pads, fill], _mode(builder, pad))
    return builder.with_axis("Squeeze", padded, 0)


def on_data_or_fail(builder: GraphBuilder, pad: PadInfo, reach: Operand | None) -> ir.Value:
    """The built-in on the data, for amounts that are not negative; it fails where it is not right.

    That is where an empty axis is extended, or where a reflection is longer than n - 1. Older releases do not fail there; so
    the element that the reflection reaches is asked for as well, which such an axis does not have. In mode reflect there is
    room for it in the place of the fill.

    Args:
        builder: Where to write.
        pad: The Pad.
        reach: The greater amount of each axis, where that is known.
    """
    if Mode.REFLECT not in pad.known_modes:
        return on_data(builder, pad, None)

    def reflect(inner: GraphBuilder) -> ir.Value:
        pads = _pads(inner, pad, None)
        index = reach
        if index is None:
            halves = inner.emit_several("Split", [pads], {"num_outputs": 2} if inner.opset >= 18 else {}, outputs=2)
            index = inner.maximum(*halves)
        reached = inner.emit("GatherND", [pad.data, index], role="P2")
        return inner.emit("Pad", [pad.data, pads, reached], {"mode": "reflect"})

    if pad.known_modes == (Mode.REFLECT,):
        return reflect(builder)
    reflects = builder.equal(mode_of(builder, pad), scalar(pad.known_modes.index(Mode.REFLECT)))
    return builder.choose(reflects, reflect, lambda inner: on_data(inner, pad.without(Mode.REFLECT), None))


def _fill(builder: GraphBuilder, pad: PadInfo) -> Operand | None:
    """The fill in a form that the built-in takes."""
    if Mode.CONSTANT not in pad.known_modes:
        return None
    fits = pad.fill_dims in ([], [1])
    fill = pad.own(pad.op.fill, fits) or given_fill(builder, pad)
    if isinstance(fill, np.ndarray):
        return fill.reshape(())
    return fill if fill is None or fits else builder.emit("Reshape", [fill, ints(1)])


def _with_attributes(builder: GraphBuilder, pad: PadInfo, amounts: Amounts | None, apart: bool) -> ir.Value:
    """The built-in before opset 11: what Pad_1 and Pad_2 have, or what is known."""
    attributes = list(_mode(builder, pad).values())
    name = next((row.name for row in pad.op.attributes if row.type == "ints"), "")
    given, value = pad.attributes.get(name), pad.attributes.get("value")
    if pad.op.input_index(pad.op.fill) is None and given is not None and given.is_ref():
        attributes.append(reference("pads", given, ir.AttributeType.INTS))
    else:
        pads = _pads(builder, pad, amounts, apart)
        if not isinstance(pads, np.ndarray):
            raise Unconvertible(
                f"Pad has amounts as an input from opset {FIRST_WITH_INPUTS} on, and this is {builder.opset}"
            )
        attributes.append(ir.AttrInt64s("pads", pads.tolist()))
    if pad.op.input_index(pad.op.fill) is None:
        if value is not None and Mode.CONSTANT in pad.known_modes:  # OpenVINO refuses one that is infinite in any mode
            attributes.append(reference("value", value, ir.AttributeType.FLOAT) if value.is_ref() else value)
    elif (fill := given_fill(builder, pad)) is not None:
        if not isinstance(fill, np.ndarray) or fill.dtype.name != "float32":
            raise Unconvertible(
                f"Pad has a fill as an input from opset {FIRST_WITH_INPUTS} on, and this is {builder.opset}"
            )
        attributes.append(ir.AttrFloat32("value", float(fill.reshape(()))))
    made = {attribute.name: attribute for attribute in attributes}
    if not apart:
        return builder.emit("Pad", [pad.data], made)
    if given is not None and given.is_ref():  # amounts that cannot be changed: only what is padded gets another axis
        return builder.with_axis("Squeeze", builder.with_axis("Unsqueeze", builder.emit("Pad", [pad.data], made), 0), 0)
    padded = builder.emit("Pad", [builder.unsqueeze(pad.data, 0)], made)
    return builder.with_axis("Squeeze", padded, 0)


def iota(builder: GraphBuilder, pad: PadInfo) -> Operand:
    """0, 1, 2 ... in the shape of the data, which have at least one dim."""
    shape = shape_of(builder, pad)
    # Before opset 14 Reshape cannot make a dim of 0, but Slice can.
    roomy = builder.maximum(shape, scalar(1)) if builder.opset < 14 else shape
    if isinstance(roomy, np.ndarray):
        count: Operand = scalar(int(np.prod(roomy)))
    else:
        count = builder.emit("ReduceProd", [roomy], {"keepdims": 0})
    counted = builder.reshape(builder.emit("Range", [scalar(0), count, scalar(1)]), roomy)
    return counted if builder.opset >= 14 else builder.emit("Slice", [counted, builder.sub(shape, shape), shape])


def _pads(builder: GraphBuilder, pad: PadInfo, amounts: Amounts | None, apart: bool = False) -> Operand:
    """The amounts of all axes, begins and then ends; with those of an axis in front of them where it is ``apart``."""
    if amounts is None and (apart or pad.input("axes") is not None):
        amounts = _halves(pad) or amounts_of(builder, pad)
    if amounts is not None:
        front = ints(0) if apart else ints()
        return builder.concat(front, amounts.begin, front, amounts.end)
    return pad.own("pads", pad.flat_pads) or builder.flatten(pads_of(builder, pad))


def _halves(pad: PadInfo) -> Amounts | None:
    """The amounts of an ONNX Pad of any rank, where they are known and stand for all axes."""
    listed = pad.input("pads")
    for name in ("pads", "paddings"):
        attribute = pad.attributes.get(name)
        if attribute is not None and not attribute.is_ref():
            listed = ints(*attribute.value)
    if not isinstance(listed, np.ndarray) or listed.size % 2 or pad.input("axes") is not None:
        return None
    begins, ends = np.split(listed.reshape(-1), 2)
    return Amounts(begins, ends)


def takes_inputs(opset: int, pad: PadInfo) -> bool:
    """Whether the built-in can have the amounts in the form in which the node has them."""
    if pad.op.amounts.__module__ != onnx_pad.__name__:
        return False
    return pad.input("axes") is None or opset >= FIRST_WITH_AXES


def takes_fill(builder: GraphBuilder, pad: PadInfo) -> bool:
    """Whether the built-in can have the fill: before opset 11 it is a float that has to be known."""
    if builder.opset >= FIRST_WITH_INPUTS or pad.op.input_index(pad.op.fill) is None:
        return True
    fill = given_fill(builder, pad)
    return fill is None or (isinstance(fill, np.ndarray) and fill.dtype == np.float32)
