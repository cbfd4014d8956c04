"""Pads by ONNX Runtime's own Pad, where that is right: on the data, or on the indices of the data for other types.

It is right in mode constant for data of any rank but 0, and in the others as far as ``is_right`` says; all of them
hold from 1.20 on, which is why they are narrower than what the newest release can do.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.select import KERNELS
from padops.convert.sources.finding import Unconvertible
from padops.convert.standard.amounts import Amounts, pads_of
from padops.convert.standard.extension import FAR, select
from padops.convert.standard.subject import Subject
from padops.convert.standard.tape import Operand, Tape, ints, scalar
from padops.dialects import onnx_pad
from padops.plan import Mode

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
    modes = subject.known_modes
    usable = modes if subject.is_built_in(tape.opset) else (Mode.CONSTANT,)
    bounds = [_BOUNDS[mode] if mode in usable else (0, -FAR) for mode in modes]
    free, reach = (select(tape, column, choice) for column in zip(*bounds))
    size = subject.shape(tape)
    furthest = tape.add(size, reach)
    terms = [tape.add(amount, free) for amount in (amounts.begin, amounts.end)]
    terms += [tape.sub(furthest, amount) for amount in (amounts.begin, amounts.end)]
    terms += [tape.add(tape.sub(size, scalar(1)), free), tape.sub(subject.rank(tape), scalar(1))]
    return tape.less(scalar(-1), tape.lowest(tape.concat(*terms)))


def _mode(tape: Tape, subject: Subject) -> dict[str, ir.Attr]:
    """The mode that the built-in gets: that of the operator, or constant where it does not have all that may be."""
    if not subject.is_built_in(tape.opset) or (subject.op.mode not in subject.attributes and len(subject.modes) == 1):
        return {}
    return {"mode": subject.mode_attribute}


def on_data(tape: Tape, subject: Subject, amounts: Amounts | None) -> ir.Value:
    """The built-in on the data; without amounts of each axis, with the inputs that the node itself has."""
    if tape.opset < FIRST_WITH_INPUTS:
        return _with_attributes(tape, subject, amounts)
    inputs = _inputs(tape, subject, amounts)
    fill = None
    if Mode.CONSTANT in subject.known_modes:
        fill = subject.own(subject.op.fill, subject.fill_dims in ([], [1])) or subject.fill(tape)
    if isinstance(fill, np.ndarray):
        fill = fill.reshape(())
    elif fill is not None and subject.fill_dims not in ([], [1]):
        fill = tape.emit("Reshape", [fill, ints(1)])
    return tape.emit("Pad", [subject.data, inputs[0], fill, *inputs[1:]], _mode(tape, subject))


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


def on_indices(tape: Tape, subject: Subject, amounts: Amounts | None) -> ir.Value:
    """The built-in on the flat indices of the data, with -1 for the fill."""
    inputs = _inputs(tape, subject, amounts)
    shape = subject.shape(tape)
    numbers = _numbers(tape, shape)
    return tape.emit("Pad", [numbers, inputs[0], scalar(-1), *inputs[1:]], _mode(tape, subject))


def _numbers(tape: Tape, shape: Operand) -> Operand:
    """0, 1, 2 ... in the shape of the data, which have at least one dim."""
    # Before opset 14 Reshape cannot make a dim of 0, but Slice can.
    roomy = tape.maximum(shape, scalar(1)) if tape.opset < 14 else shape
    known = isinstance(roomy, np.ndarray)
    count = scalar(int(np.prod(roomy))) if known else tape.emit("ReduceProd", [roomy], {"keepdims": 0})
    numbers = tape.reshape(tape.emit("Range", [scalar(0), count, scalar(1)]), roomy)
    return numbers if tape.opset >= 14 else tape.emit("Slice", [numbers, tape.sub(shape, shape), shape])


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
