"""What a case is, in a sentence: the operator, the mode, the data and the amounts of each axis."""

from __future__ import annotations

from typing import Any

from padops.conformance.render.summary import Record
from padops.spec.dialects import OPS

FAMILIES = {"Pad": "ONNX Pad", "OpenVINOPad": "OpenVINO Pad", "NGraphPad": "nGraph Pad", "SamePad": "SAME padding"}
# Under which names the operators have the amounts before and behind; ONNX has both in one list.
BOTH = ("pads", "paddings")
SIDES = (("pads_begin", "pads_end"), ("padding_below", "padding_above"))


def sentence(record: Record) -> str:
    """What the case of a result is.

    Of a result that has no inputs, as one that agrees, or of an operator of another padops it says less.
    """
    op = record["op"]
    mode = f"mode {record['mode']}" if record["mode"] else "an empty mode"
    named = named_inputs(record)
    data = named.get("data") or named.get("arg")
    if op not in OPS or not isinstance(data, dict):
        return f"{_operator(op)} in {mode} pads {record['dtype']} data of rank {record['rank']}."
    rest = [_amounts(record, named, len(data["shape"])), *_fill(named, OPS[op].fill)]
    return f"{_operator(op)} in {mode} pads {data['dtype']} {data['shape']} {', '.join(rest)}."


def named_inputs(record: Record) -> dict[str, Any]:
    """The inputs of a result's case by the operator's names for them, None where one is absent."""
    given = record.get("inputs") or []
    names = [row.name for row in OPS[record["op"]].inputs] if record["op"] in OPS else []
    names += [f"input {i}" for i in range(len(names), len(given))]
    return dict(zip(names, given))


def _operator(op: str) -> str:
    family, _, version = op.partition("_")
    return FAMILIES.get(family, family) + (f" {version}" if family in ("Pad", "OpenVINOPad") else "")


def _amounts(record: Record, named: dict[str, Any], rank: int) -> str:
    """The amounts of each axis that has some; the lists themselves where they do not fit the axes."""
    attributes = record.get("attributes") or {}
    if "kernel_shape" in attributes:
        names = ("auto_pad", "kernel_shape", "strides", "dilations", "data_format")
        return "for " + ", ".join(f"{name} {attributes[name]}" for name in names if name in attributes)
    lists = {name: _flat(value) for name, value in {**named, **attributes}.items()}
    axes, both = lists.get("axes"), next((lists[name] for name in BOTH if lists.get(name) is not None), None)
    begins, ends = next(((lists.get(b), lists.get(e)) for b, e in SIDES if b in lists), (None, None))
    if both is not None:
        begins, ends = both[: len(both) // 2], both[len(both) // 2 :]
    if begins is None or ends is None:
        return "by amounts that are not in the report"
    count = rank if axes is None else len(axes)
    between = lists.get("padding_interior") or [0] * count
    if not len(begins) == len(ends) == len(between) == count:
        where = "" if axes is None else f" of axes {axes}"
        return f"by {both if both is not None else f'{begins} and {ends}'}{where}, which does not fit {rank} axes"
    places = range(rank) if axes is None else axes
    rows = [
        f"{_one(begin, end, interior)} on axis {place}"
        for place, begin, end, interior in zip(places, begins, ends, between)
        if begin or end or interior
    ]
    return "by " + " and ".join(rows) if rows else "by nothing"


def _one(begin: int, end: int, interior: int) -> str:
    return f"begin {begin}, end {end}" + (f", interior {interior}" if interior else "")


def _fill(named: dict[str, Any], name: str) -> list[str]:
    """That the fill is not a scalar, which most cases are not about."""
    fill = named.get(name)
    return [f"with a fill of shape {fill['shape']}"] if isinstance(fill, dict) and fill["shape"] else []


def _flat(value: Any) -> list[Any] | None:
    """The elements of a list, or of an array of the report; None of anything else."""
    if isinstance(value, dict):
        value = value.get("values")
    if not isinstance(value, list):
        return None
    return [one for part in value for one in (part if isinstance(part, list) else [part])]
