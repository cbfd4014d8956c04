"""One body for all the calls that a model makes of an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.standard import body, builtin
from padops.convert.standard.amounts import amounts_of, check_interior
from padops.convert.standard.carriers import carried
from padops.convert.standard.subject import Lacking, Subject
from padops.convert.standard.tape import Tape, scalar
from padops.dialects import Attribute, Op
from padops.plan import Mode

NEWEST = 26  # any opset does for what is not written

_KINDS = {"ints": ir.AttributeType.INTS, "float": ir.AttributeType.FLOAT, "string": ir.AttributeType.STRING}


def write(tape: Tape, op: Op, inputs: Sequence[ir.Value], subjects: Sequence[Subject]) -> ir.Value:
    """Writes the body.

    Args:
        tape: Of the function.
        op: The operator.
        inputs: Of the function, one for each of the operator's.
        subjects: The calls.

    Returns:
        The function's output.

    Raises:
        Unconvertible: No body is right for all of the calls.
    """
    for one in subjects:
        check_interior(one)
    types = {one.type for one in subjects}
    subject = _merge(op, inputs, subjects)
    trust = body.Trust(
        typed=all(builtin.has_type(name, tape.opset) for name in types),
        ranked=all(one.dims for one in subjects),
        right=all(_is_right(one, tape.opset) or _must_do(one, tape.opset) for one in subjects),
        keeps=all(_keeps(one) for one in subjects if Mode.CONSTANT in one.known_modes),
    )
    return carried(tape, subject, types, trust)


def _merge(op: Op, inputs: Sequence[ir.Value], subjects: Sequence[Subject]) -> Subject:
    """The call of which nothing is known but what all of them have in common."""
    given = []
    for i, value in enumerate(inputs):
        present = {one.inputs[i] is not None for one in subjects}
        given.append(value if True in present else None)
    types = {one.type for one in subjects}
    everywhere = [all(one.inputs[i] is not None for one in subjects) for i in range(len(inputs))]
    position, axes = op.input_index(op.fill), op.input_index("axes")
    optional_fill = position is not None and not everywhere[position]
    wide = all(one.wide_axes for one in subjects)
    some_axes = axes is not None and given[axes] is not None and not everywhere[axes]
    if some_axes and not wide:
        raise Lacking("axes", op)
    attributes = {row.name: _common(row, subjects) for row in op.attributes}
    return Subject(
        op,
        given,
        {name: attribute for name, attribute in attributes.items() if attribute is not None},
        types.pop() if len(types) == 1 else None,
        [] if all(one.dims == [] for one in subjects) else None,
        tuple(mode for mode in op.modes if any(mode in one.modes for one in subjects)),
        given,
        [] if optional_fill or all(one.fill_dims in ([], [1]) for one in subjects) else None,
        all(one.flat_pads for one in subjects),
        wide,
        some_axes,
        optional_fill and given[position] is not None,
    )


def _common(row: Attribute, subjects: Sequence[Subject]) -> ir.Attr | None:
    """An attribute as all calls have it, or a reference to what each of them has."""
    given = [one.attributes.get(row.name) for one in subjects]
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


def _is_right(subject: Subject, opset: int) -> bool:
    """Whether ONNX Runtime's Pad is right for a call, as far as is known before it runs."""
    if subject.known_modes == (Mode.CONSTANT,):
        return bool(subject.dims) and not subject.may_have_interior and _keeps(subject)
    if not subject.is_known:
        return False
    tape = Tape(opset, lambda wanted: wanted)  # nothing will be written
    try:
        return bool(builtin.is_right(tape, subject, scalar(0), amounts_of(tape, subject)))
    except (ValueError, IndexError):  # the amounts do not fit the rank
        return False


def _keeps(subject: Subject) -> bool:
    """Whether a call is known to leave something of each axis; see ``builtin.cropped``."""
    if subject.has_attribute("kernel_shape"):
        return True  # S1: nothing is cropped
    lists = [value for row, value in zip(subject.op.inputs, subject.inputs) if row.kind != "T" and row.name != "axes"]
    attributes = [subject.attributes.get(row.name) for row in subject.op.attributes if row.type == "ints"]
    if any(isinstance(x, ir.Value) for x in lists) or any(x is not None and x.is_ref() for x in attributes):
        return False
    lists += [np.array(attribute.value) for attribute in attributes if attribute is not None]
    if all((numbers >= 0).all() for numbers in lists):
        return True
    if not subject.is_known:
        return False
    tape = Tape(NEWEST, lambda wanted: wanted)  # nothing will be written
    try:
        amounts = amounts_of(tape, subject)
        window = subject.shape(tape) + np.minimum(amounts.begin, 0) + np.minimum(amounts.end, 0)
    except (ValueError, IndexError):
        return False
    return bool((window > 0).all())


def _must_do(subject: Subject, opset: int) -> bool:
    """Whether ONNX Runtime's Pad is all that an opset has for a call, and fails where it is not right.

    Before 1.25, where it had to crop as well as to reflect, it did not.
    """
    name = next((row.name for row in subject.op.attributes if row.type == "ints"), None)
    amounts = subject.attributes.get(name)
    if opset >= builtin.FIRST_WITH_INPUTS or amounts is None or amounts.is_ref() or subject.op.fill != "value":
        return False
    return subject.known_modes == (Mode.EDGE,) or min(amounts.value, default=0) >= 0
