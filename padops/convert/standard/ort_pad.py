"""Pads by ONNX Runtime's own Pad, where that is right: on the data, or on the indices of the data for other types.

It is right in mode constant for data of any rank but 0, once they are ``cropped``, and in the others as far as
``is_right`` says. All of that holds from onnxruntime 1.20 on; the newest release can do more.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.sources.builtin_support import KERNELS
from padops.convert.sources.match import Unconvertible
from padops.convert.standard.amounts import Amounts, amounts_of, pads_of
from padops.convert.standard.extension import FAR, select
from padops.convert.standard.graph_builder import Operand, Tape, ints, scalar
from padops.convert.standard.subject import Subject
from padops.spec.dialects import onnx_pad
from padops.spec.plan import Limit, Mode

FIRST_WITH_INPUTS = 11
FIRST_WITH_AXES = 18


def has_type(name: str | None, opset: int) -> bool:
    """Whether ONNX Runtime's Pad of an opset moves an element type without converting it."""
    versions = [since for since in KERNELS[""] if since <= opset]
    return bool(versions) and name in KERNELS[""][max(versions)]


#                 added to the amounts and dims before they are compared with 0, and to the dims before the amounts
_BOUNDS = {
    Mode.CONSTANT: (FAR, FAR),
    Mode.EDGE: (0, FAR),
    Mode.REFLECT: (0, -1),
    Mode.SYMMETRIC: (0, -FAR),
    Mode.WRAP: (0, 0),
}


def is_right(tape: Tape, subject: Subject, choice: Operand, amounts: Amounts) -> Operand:
    """Whether the built-in does what the operator says, a bool of rank 0.

    Extending needs a source without empty axes, no negative amounts, and amounts that reach no further than the source
    does: n - 1 for reflect, n for wrap.
    """
    modes, size = subject.known_modes, subject.shape(tape)
    free, furthest = _bounds(tape, subject, choice)
    terms = [tape.add(amount, free) for amount in (amounts.begin, amounts.end)]
    terms += [tape.sub(furthest, amount) for amount in (amounts.begin, amounts.end)]
    terms += [tape.add(tape.sub(size, scalar(1)), free), tape.sub(subject.rank(tape), scalar(1))]
    if subject.op.limit is Limit.NGRAPH:  # P4: reflect needs two elements, also where it adds none
        terms.append(tape.sub(size, select(tape, [2 if mode is Mode.REFLECT else -FAR for mode in modes], choice)))
    return tape.less(scalar(-1), tape.lowest(tape.concat(*terms)))


def _bounds(tape: Tape, subject: Subject, choice: Operand) -> tuple[Operand, Operand]:
    """How much may be cropped, and how much may be added to each axis, for the built-in to be right."""
    modes = subject.known_modes
    usable = modes if subject.is_built_in(tape.opset) else (Mode.CONSTANT,)
    bounds = [_BOUNDS[mode] if mode in usable else (0, -FAR) for mode in modes]
    free, reach = (select(tape, column, choice) for column in zip(*bounds))
    return free, tape.add(subject.shape(tape), reach)


def harmless(tape: Tape, subject: Subject, choice: Operand, amounts: Amounts, may_crop: bool) -> Amounts:
    """The amounts where ``is_right`` says so, and else others; ``may_crop`` says whether mode constant is meant, too.

    Where shapes are known, ONNX Runtime computes the numbers of the data while it loads a model, and what the built-in makes
    of them, also in a branch that is not going to be taken; before 1.25 wrong amounts make it fail, or read beyond them.
    """
    free, furthest = _bounds(tape, subject, choice)
    least = tape.negative(free) if may_crop else scalar(0)
    sides = (tape.maximum(tape.minimum(amount, furthest), least) for amount in (amounts.begin, amounts.end))
    return Amounts(*sides)


def _mode(tape: Tape, subject: Subject) -> dict[str, ir.Attr]:
    """The mode that the built-in gets: that of the operator, or constant where it does not have all that may be."""
    if not subject.is_built_in(tape.opset) or (subject.op.mode not in subject.attributes and len(subject.modes) == 1):
        return {}
    return {"mode": subject.mode_attribute}


def cropped(tape: Tape, subject: Subject, source: ir.Value) -> tuple[ir.Value, Amounts]:
    """What negative amounts leave of a tensor, and the amounts that are left to add in mode constant (P3 FULL).

    Before 1.24, ONNX Runtime's Pad is wrong where a crop leaves none of an axis, and crashes where it takes more.
    """
    amounts, size = amounts_of(tape, subject), subject.shape(tape)
    zero = scalar(0)
    output = tape.add(tape.add(amounts.begin, size), amounts.end)
    if subject.op.clamp:
        output = tape.maximum(output, zero)
    start = tape.minimum(tape.maximum(tape.negative(amounts.begin), zero), size)
    stop = tape.maximum(tape.minimum(tape.add(size, amounts.end), size), start)
    front = tape.minimum(tape.maximum(amounts.begin, zero), output)
    back = tape.sub(tape.sub(output, front), tape.sub(stop, start))
    return tape.emit("Slice", [source, start, stop]), Amounts(front, back)


def own_amounts(tape: Tape, subject: Subject) -> Amounts | None:
    """The amounts for the built-in, None where it can have them as the node has them."""
    if takes_inputs(tape.opset, subject):
        return None
    amounts = amounts_of(tape, subject)
    if not subject.op.clamp:
        return amounts
    total = tape.add(tape.add(amounts.begin, subject.shape(tape)), amounts.end)  # P1: if negative, 0
    return Amounts(amounts.begin, tape.sub(amounts.end, tape.minimum(total, scalar(0))))


def on_data(
    tape: Tape, subject: Subject, amounts: Amounts | None, source: ir.Value | None = None, numbered: bool = False
) -> ir.Value:
    """The built-in on the data, or on their ``numbers``.

    Args:
        tape: Where to write.
        subject: The Pad.
        amounts: Of each axis; None for the inputs that the node itself has.
        source: What to pad; the data by default.
        numbered: Whether those are numbers, which are filled with -1.
    """
    if tape.opset < FIRST_WITH_INPUTS:
        return _with_attributes(tape, subject, amounts)
    inputs = _inputs(tape, subject, amounts)
    source = subject.data if source is None else source
    fill = scalar(-1) if numbered else _fill(tape, subject)
    return tape.emit("Pad", [source, inputs[0], fill, *inputs[1:]], _mode(tape, subject))


def on_data_or_fail(tape: Tape, subject: Subject, furthest: Operand | None) -> ir.Value:
    """The built-in on the data, for amounts that are not negative; it fails where it is not right.

    That is where an empty axis is extended, or where a reflection is longer than n - 1. Before 1.25 it then read beyond the
    data, without a word; so the element that lies furthest in is asked for as well, which an empty axis does not have. In
    mode reflect there is room for it in the place of the fill.

    Args:
        tape: Where to write.
        subject: The Pad.
        furthest: The greater amount of each axis, where that is known.
    """
    if Mode.REFLECT not in subject.known_modes:
        return on_data(tape, subject, None)

    def reflect(inner: Tape) -> ir.Value:
        (pads,) = _inputs(inner, subject, None)
        index = furthest
        if index is None:
            halves = inner.emit("Split", [pads], {"num_outputs": 2} if inner.opset >= 18 else {}, outputs=2)
            index = inner.maximum(*halves)
        reached = inner.emit("GatherND", [subject.data, index], role="P2")
        return inner.emit("Pad", [subject.data, pads, reached], {"mode": "reflect"})

    if subject.known_modes == (Mode.REFLECT,):
        return reflect(tape)
    reflects = tape.equal(subject.mode(tape), scalar(subject.known_modes.index(Mode.REFLECT)))
    return tape.choose(reflects, reflect, lambda inner: on_data(inner, subject.without(Mode.REFLECT), None))


def _fill(tape: Tape, subject: Subject) -> Operand | None:
    """The fill in a form that the built-in takes."""
    if Mode.CONSTANT not in subject.known_modes:
        return None
    fits = subject.fill_dims in ([], [1])
    fill = subject.own(subject.op.fill, fits) or subject.fill(tape)
    if isinstance(fill, np.ndarray):
        return fill.reshape(())
    return fill if fill is None or fits else tape.emit("Reshape", [fill, ints(1)])


def _with_attributes(tape: Tape, subject: Subject, amounts: Amounts | None) -> ir.Value:
    """The built-in before opset 11: what Pad_1 and Pad_2 have, or what is known."""
    attributes = list(_mode(tape, subject).values())
    name = next((row.name for row in subject.op.attributes if row.type == "ints"), "")
    given, value = subject.attributes.get(name), subject.attributes.get("value")
    if subject.op.input_index(subject.op.fill) is None and given.is_ref():
        attributes.append(ir.RefAttr("pads", given.ref_attr_name, ir.AttributeType.INTS))
    else:
        pads = _inputs(tape, subject, amounts)[0]
        if not isinstance(pads, np.ndarray):
            raise Unconvertible(
                f"Pad has amounts as an input from opset {FIRST_WITH_INPUTS} on, and this is {tape.opset}"
            )
        attributes.append(ir.AttrInt64s("pads", pads.tolist()))
    if subject.op.input_index(subject.op.fill) is None:
        if value is not None:
            attributes.append(
                ir.RefAttr("value", value.ref_attr_name, ir.AttributeType.FLOAT) if value.is_ref() else value
            )
    elif (fill := subject.fill(tape)) is not None:
        if not isinstance(fill, np.ndarray) or fill.dtype.name != "float32":
            raise Unconvertible(
                f"Pad has a fill as an input from opset {FIRST_WITH_INPUTS} on, and this is {tape.opset}"
            )
        attributes.append(ir.AttrFloat32("value", float(fill.reshape(()))))
    return tape.emit("Pad", [subject.data], {attribute.name: attribute for attribute in attributes})


def numbers(tape: Tape, subject: Subject) -> ir.Value:
    """0, 1, 2 ... in the shape of the data, which have at least one dim."""
    shape = subject.shape(tape)
    # Before opset 14 Reshape cannot make a dim of 0, but Slice can.
    roomy = tape.maximum(shape, scalar(1)) if tape.opset < 14 else shape
    known = isinstance(roomy, np.ndarray)
    count = scalar(int(np.prod(roomy))) if known else tape.emit("ReduceProd", [roomy], {"keepdims": 0})
    counted = tape.reshape(tape.emit("Range", [scalar(0), count, scalar(1)]), roomy)
    return counted if tape.opset >= 14 else tape.emit("Slice", [counted, tape.sub(shape, shape), shape])


def _inputs(tape: Tape, subject: Subject, amounts: Amounts | None) -> list[Operand]:
    """The amounts, and the axes where the node has them."""
    if amounts is not None:
        return [tape.concat(amounts.begin, amounts.end)]
    pads = subject.own("pads", subject.flat_pads)
    if pads is None:
        pads = tape.flatten(pads_of(tape, subject))
    axes = subject.own("axes", subject.wide_axes)
    if axes is None and subject.input("axes") is not None:
        axes = tape.to_int64(subject.input("axes"))
    return [pads] if axes is None else [pads, axes]


def takes_inputs(opset: int, subject: Subject) -> bool:
    """Whether the built-in can have the amounts in the form in which the node has them."""
    if subject.op.amounts.__module__ != onnx_pad.__name__:
        return False
    return subject.input("axes") is None or opset >= FIRST_WITH_AXES


def takes_fill(tape: Tape, subject: Subject) -> bool:
    """Whether the built-in can have the fill: before opset 11 it is a float that has to be known."""
    if tape.opset >= FIRST_WITH_INPUTS or subject.op.input_index(subject.op.fill) is None:
        return True
    fill = subject.fill(tape)
    return fill is None or (isinstance(fill, np.ndarray) and fill.dtype == np.float32)
