"""One Pad in the fewest standard operators that are right for it, by what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from padops.convert.sources.match import Unconvertible
from padops.convert.standard import emit_pad as body
from padops.convert.standard import ort_pad as builtin
from padops.convert.standard import rules
from padops.convert.standard.amounts import Amounts, amounts_of
from padops.convert.standard.axes import (
    MOST_POSITIONS,
    Work,
    extend,
    extend_by_computing,
    fill,
    fill_around,
    plan_of,
)
from padops.convert.standard.exact_casts import cast_back, cast_inputs, check_moved
from padops.convert.standard.graph_builder import MOST_LISTED, Operand, Tape, ints, scalar
from padops.convert.standard.subject import Subject
from padops.spec import plan
from padops.spec.dialects import make_node_plan
from padops.spec.dtypes import by_name
from padops.spec.plan import AxisPlan, Limit, Mode, PadError


def write(tape: Tape, subject: Subject, plain: bool = False) -> Operand:
    """Writes a Pad.

    Args:
        tape: Where to.
        subject: The Pad.
        plain: Whether it is ONNX Runtime's Pad now, so that what that refuses need not work: data of rank 0.

    Returns:
        The output; the data themselves where nothing changes.

    Raises:
        Unconvertible: It breaks a rule, or the opset has no way to do it.
    """
    if len(subject.modes) > 1:
        raise Unconvertible("its mode is given by the caller of the function")
    if subject.type is not None and subject.type not in subject.op.types:
        raise Unconvertible(f"its data are {subject.type}, which {subject.op.name} does not have")
    carrier = check_moved(subject.type, tape.opset)
    try:
        rules.check(subject)
        known = _known_amounts(subject)
        if carrier is None:
            return _write(tape, subject, known, plain)
        output = _write(tape, cast_inputs(tape, subject), known, plain)
        if isinstance(output, np.ndarray):
            return output.astype(by_name(subject.type).numpy)
        return cast_back(tape, output, subject.type)
    except PadError as error:
        told = PadError(error.rule, error.detail, subject.op.name, subject.name)
        raise Unconvertible(str(told)) from error


def _known_amounts(subject: Subject) -> list[plan.Amounts] | None:
    """The amounts of every axis, or None where they are not known before it runs.

    Raises:
        PadError: They break a rule, whatever the data are.
    """
    node = rules.node_of(subject)
    if node is None or subject.dims is None:
        return None
    if None not in subject.dims:
        make_node_plan(node, subject.dims)
    elif subject.has_attribute("kernel_shape") and any(subject.dims[i] is None for i in _changing(subject)):
        return None  # they follow from dims that are not known
    return subject.op.amounts(node, [1 if dim is None else dim for dim in subject.dims])


def _changing(subject: Subject) -> Sequence[int]:
    """The axes that may be padded at all."""
    rank, axes = len(subject.dims), subject.input("axes")
    if isinstance(axes, np.ndarray):
        return sorted({int(axis) % rank for axis in axes.reshape(-1)}) if rank else []
    if not subject.has_attribute("kernel_shape"):
        return range(rank)
    layout = subject.attributes.get("data_format")
    return range(2, rank) if layout is None or layout.value.startswith("NC") else range(1, rank - 1)


def _write(tape: Tape, subject: Subject, known: list[plan.Amounts] | None, plain: bool) -> Operand:
    (mode,) = subject.known_modes
    unchecked = subject.op.limit is Limit.NGRAPH and mode is not Mode.CONSTANT and subject.dims and None in subject.dims
    zero = known is not None and all(amounts == plan.Amounts(0, 0) for amounts in known)
    if subject.dims == [] or (zero and not unchecked):
        return subject.data
    if known is not None and None not in subject.dims:
        outputs = [plan_of(subject, i, *row, Mode.CONSTANT).output for i, row in enumerate(zip(subject.dims, known))]
        if 0 in outputs:
            return np.zeros(outputs, by_name(subject.type).numpy)
    ranked = bool(subject.dims) or (plain and subject.dims is None)
    trust = body.Trust(builtin.has_type(subject.type, tape.opset), ranked, right=False, or_fails=False, keeps=True)
    if known is not None and _fits(tape, subject, known, trust):
        return builtin.on_data(tape, subject, _amounts(subject, known, tape.opset))
    if mode is Mode.CONSTANT:
        return _fill(tape, subject, known, trust)
    if subject.dims is None:
        return body.write(tape, subject, trust, branches=False)
    return _extend(tape, subject, known)


def _fits(tape: Tape, subject: Subject, known: Sequence[plan.Amounts], trust: body.Trust) -> bool:
    """Whether one Pad of ONNX Runtime is sure to be right."""
    if not trust.typed or any(amounts.interior for amounts in known):
        return False
    if subject.known_modes == (Mode.CONSTANT,):
        shrinks = any(amounts.begin < 0 or amounts.end < 0 for amounts in known)
        if shrinks and None not in subject.dims:
            left = [size + min(one.begin, 0) + min(one.end, 0) for size, one in zip(subject.dims, known)]
            return min(left) > 0 and builtin.takes_fill(tape, subject)
        return not (subject.op.clamp and shrinks) and builtin.takes_fill(tape, subject)
    if None in subject.dims or all(amounts.begin <= 0 and amounts.end <= 0 for amounts in known):
        return False
    vectors = Amounts(*(ints(*numbers) for numbers in zip(*((one.begin, one.end) for one in known))))
    return bool(builtin.is_right(tape, subject, scalar(0), vectors))


def _amounts(subject: Subject, known: Sequence[plan.Amounts], opset: int) -> Amounts | None:
    """The amounts for the built-in; None where it can have the node's own inputs."""
    if builtin.takes_inputs(opset, subject):
        return None
    begins, ends = (list(numbers) for numbers in zip(*((one.begin, one.end) for one in known)))
    if subject.op.clamp:  # P1: a dim that would be negative is 0
        ends = [max(end, -begin - (size or 0)) for begin, end, size in zip(begins, ends, subject.dims)]
    return Amounts(ints(*begins), ints(*ends))


def _fill(tape: Tape, subject: Subject, known: list[plan.Amounts] | None, trust: body.Trust) -> Operand:
    """Mode constant where the built-in cannot do it in one node."""
    if known is not None and 0 in subject.dims and None not in subject.dims:
        outputs = [plan_of(subject, i, *row).output for i, row in enumerate(zip(subject.dims, known))]
        with_what = subject.any_fill(tape)
        if isinstance(with_what, np.ndarray) and prod(outputs) <= MOST_POSITIONS:
            return np.full(outputs, with_what)  # no element of the data is left to look at
    if known is None:
        return body.write(tape, subject, trust)
    axes = [i for i, amounts in enumerate(known) if amounts != plan.Amounts(0, 0)]
    sizes = [subject.dims[i] for i in axes]
    grows = [known[i].begin >= 0 and known[i].end >= 0 and not known[i].interior for i in axes]
    if not all(size is not None or only_grows for size, only_grows in zip(sizes, grows)):
        return body.write(tape, subject, trust)
    with_what = subject.any_fill(tape)
    work = Work.begin(tape, subject)
    if work.has_no_blocks(with_what):
        with_what = tape.reshape(with_what, ints(1))
    for i, size in zip(axes, sizes):
        if size is None:
            fill_around(work, i, known[i].begin, known[i].end, with_what)
        else:
            fill(work, i, plan_of(subject, i, size, known[i]), with_what)
    return work.value


def _extend(tape: Tape, subject: Subject, known: list[plan.Amounts] | None) -> Operand:
    """The other modes, of known rank."""
    work = Work.begin(tape, subject)
    if known is None:
        extend_by_computing(work, _changing(subject), amounts_of(tape, subject))
        return work.value
    padded = [i for i, one in enumerate(known) if one != plan.Amounts(0, 0)]
    crops = [i for i in padded if known[i].begin <= 0 and known[i].end <= 0]
    if any(subject.dims[i] is None for i in crops):
        crops = []
    _crop(work, crops, known)
    to_compute = []
    for i, one in enumerate(known):
        extension = None if subject.dims[i] is None else _plan_of_extension(subject, i, one)
        long = extension is not None and i in padded and i not in crops and work.listed(extension) > MOST_LISTED
        if long or (extension is None and (i in padded or subject.op.limit is Limit.NGRAPH)):
            to_compute.append(i)
        elif i in padded and i not in crops:
            extend(work, i, extension, subject.known_modes[0])
    vectors = Amounts(*(ints(*numbers) for numbers in zip(*((one.begin, one.end) for one in known))))
    extend_by_computing(work, to_compute, vectors)
    return work.value


def _plan_of_extension(subject: Subject, axis: int, amounts: plan.Amounts) -> AxisPlan | None:
    """The plan of an axis of known size; None where it is right only if some other dim turns out to be 0 (P5)."""
    try:
        return plan_of(subject, axis, subject.dims[axis], amounts)
    except PadError as error:
        if error.rule != "P5":
            raise
        return None


def _crop(work: Work, axes: Sequence[int], known: Sequence[plan.Amounts]) -> None:
    """Takes elements away from some axes, in one node."""
    if axes:
        plans = [plan_of(work.subject, i, work.subject.dims[i], known[i]) for i in axes]
        starts = [min(-known[i].begin, one.size) for i, one in zip(axes, plans)]
        stops = [start + one.output for start, one in zip(starts, plans)]
        work.value = work.tape.part(work.value, ints(*starts), ints(*stops), ints(*axes))
        for i, one in zip(axes, plans):
            work.dims[i] = ints(one.output)
