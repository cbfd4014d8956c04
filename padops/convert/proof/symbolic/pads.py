"""Pads of every dialect, by the plan of each axis, in the solver's integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from padops.convert.proof import plan
from padops.convert.proof.pads import zero
from padops.convert.proof.result import Fails, Unsupported
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import Int, is_open
from padops.convert.proof.symbolic.tensors import RANGES, Element, Index, Tensor
from padops.plural import plural


def _onnx_pad(evaluation: Evaluation, term: int) -> Tensor:
    """ONNX's Pad."""
    data, pads, axes = evaluation.input(term, 0), evaluation.input(term, 1), evaluation.optional(term, 3)
    if pads.rank not in (1, 2):
        raise Fails(f"P8: pads has rank {pads.rank}")
    if axes is not None and axes.rank != 1:
        raise Fails(f"P8: axes has rank {axes.rank}")
    listed = list(range(data.rank)) if axes is None else evaluation.ints(axes)
    if pads.rank == 2:
        evaluation.require(evaluation.integers.equal(pads.shape[0], 1), "P8")
    amounts = _listed(evaluation, pads, 2 * len(listed))
    halves = amounts[: len(listed)], amounts[len(listed) :]
    begins, ends = (_spread(evaluation, listed, half, data.rank) for half in halves)
    rows = [plan.Axis(*row) for row in zip(data.shape, begins, ends)]
    head = evaluation.terms.head(term)
    fill = _fill(evaluation, term, data, evaluation.optional(term, 2), head.fill, head.mode)
    return _padded(evaluation, data, rows, head.mode, plan.ONNX, fill)


def _listed(evaluation: Evaluation, given: Tensor, count: int) -> list[Int]:
    """The elements of a list, whose length must be ``count`` (P8)."""
    if given.dtype not in RANGES:
        raise Unsupported("amounts of unknown type")
    evaluation.require(evaluation.integers.equal(given.shape[-1], count), f"P8: other than {plural(count, 'amount')}")
    return [given.at([*[0] * (given.rank - 1), place]) for place in range(count)]


def _spread(evaluation: Evaluation, axes: Sequence[Int], amounts: Sequence[Int], rank: int) -> list[Int]:
    """The amounts of all axes from those of the listed axes, which may be unknown."""
    integers = evaluation.integers
    places: list[Int] = []
    for axis in axes:
        evaluation.require(integers.all(axis >= -rank, axis < rank), "P8: an axis that is out of range")
        place = integers.where(axis < 0, axis + rank, axis)
        for other in places:
            evaluation.require(integers.negated(integers.equal(place, other)), "P8: an axis that is named twice")
        places.append(place)
    spread: list[Int] = []
    for axis in range(rank):
        amount: Int = 0
        for place, given in zip(places, amounts):
            amount = integers.where(integers.equal(place, axis), given, amount)
        spread.append(amount)
    return spread


def _fill(
    evaluation: Evaluation, term: int, data: Tensor, given: Tensor | None, attribute: bytes, mode: str
) -> Element | None:
    """The fill (P7). Other modes than constant do not use a given fill, but the runtime computes it: it may fail."""
    if mode != "constant":
        return None
    if given is not None:
        for dim in given.shape:
            evaluation.require(evaluation.integers.equal(dim, 1), "P7: a fill of more or less than one element")
        return given.at([0] * given.rank)
    if data.dtype == 0:  # an unknown element that is equal for equal data
        key = f"fill {attribute.hex()} of {evaluation.terms.find(evaluation.terms.inputs(term)[0])}"
        return evaluation.leaves.leaf(key, (), 0).at(())
    if attribute:
        raise Unsupported("a fill that is a float attribute")
    return evaluation.leaves.array(zero(data.dtype), data.dtype).at(())


def _padded(
    evaluation: Evaluation, data: Tensor, rows: Sequence[plan.Axis], mode: str, rules: plan.Rules, fill: Element | None
) -> Tensor:
    """Padded data."""
    integers = evaluation.integers
    if mode not in plan.MODES:
        raise Fails(f"P9: mode {mode}")
    for rule, condition in plan.conditions(rows, mode, rules, integers):
        if rule == "P10":
            evaluation.within(condition)
        else:
            evaluation.require(condition, rule)
    for row in rows:
        evaluation.within(True, row.begin, row.end)
    changed = [
        axis for axis, row in enumerate(rows) if is_open(row.begin) or is_open(row.end) or any(map(bool, row[1:]))
    ]
    shape = list(data.shape)
    for axis in changed:
        shape[axis] = plan.output(rows[axis], rules, integers)

    def at(index: Index) -> Element:
        place, inside = list(index), []
        for axis in changed:
            shown, place[axis] = plan.source(rows[axis], mode, rules, index[axis], integers)
            inside.append(shown)
        return integers.where(integers.all(*inside), data.at(place), fill)

    return Tensor(tuple(shape), data.dtype, at)


def _openvino_pad(evaluation: Evaluation, term: int) -> Tensor:
    """OpenVINO's Pad, version 1 or 12."""
    head = evaluation.terms.head(term)
    data = evaluation.input(term, 0)
    sides = []
    for position in (1, 2):
        given = evaluation.input(term, position)
        if given.rank != 1:
            raise Fails(f"P8: amounts of rank {given.rank}")
        sides.append(_listed(evaluation, given, data.rank))
    mode = evaluation.terms.attribute(term, "pad_mode", b"").decode()
    fill = _fill(evaluation, term, data, evaluation.optional(term, 3), b"", mode)
    rules = plan.OPENVINO_12 if head.name.endswith("12") else plan.OPENVINO_1
    rows = [plan.Axis(*row) for row in zip(data.shape, *sides)]
    return _padded(evaluation, data, rows, mode, rules, fill)


def _ngraph_pad(evaluation: Evaluation, term: int) -> Tensor:
    """nGraph's Pad, with interior padding (P6)."""
    data, fill = evaluation.input(term, 0), evaluation.input(term, 1)
    names = ("padding_below", "padding_above", "padding_interior")
    lists = [evaluation.terms.attribute(term, name, ()) for name in names]
    lists[2] = lists[2] or (0,) * data.rank
    if any(len(values) != data.rank for values in lists):
        raise Fails(f"P8: other than {plural(data.rank, 'amount')}")
    rows = [plan.Axis(*row) for row in zip(data.shape, *lists)]
    mode = evaluation.terms.attribute(term, "pad_mode", b"CONSTANT").decode().lower()
    return _padded(evaluation, data, rows, mode, plan.NGRAPH, _fill(evaluation, term, data, fill, b"", mode))


def _same_pad(evaluation: Evaluation, term: int) -> Tensor:
    """SAME padding (S1)."""

    def attribute(name: str, default: Any) -> Any:
        return evaluation.terms.attribute(term, name) or default

    data, kernel = evaluation.input(term, 0), evaluation.terms.attribute(term, "kernel_shape", ())
    ones = (1,) * len(kernel)
    lists = [kernel, attribute("strides", ones), attribute("dilations", ones)]
    if data.rank != len(kernel) + 2 or any(len(values) != len(kernel) or min(values) < 1 for values in lists if values):
        raise Fails("S1: lists that do not fit")
    said, form = (attribute(*pair).decode() for pair in (("auto_pad", b"SAME_UPPER"), ("data_format", b"NCHW")))
    mode = attribute("mode", b"constant").decode()
    first = 2 if form.startswith("NC") else 1
    rows = [plan.Axis(dim, 0, 0) for dim in data.shape]
    for axis, (size, stride, dilation) in enumerate(zip(*lists), first):
        rows[axis] = plan.same_axis(data.shape[axis], size, stride, dilation, said, evaluation.integers)
    fill = _fill(evaluation, term, data, evaluation.optional(term, 1), b"", mode)
    return _padded(evaluation, data, rows, mode, plan.SAME, fill)


OPERATORS = {
    "Pad": _onnx_pad,
    "padops::OpenVINOPad_1": _openvino_pad,
    "padops::OpenVINOPad_12": _openvino_pad,
    "padops::NGraphPad_0": _ngraph_pad,
    "padops::SamePad_1": _same_pad,
}
