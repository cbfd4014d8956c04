"""The words of the page: what a case is, in a sentence; the rules in a line each; the modes on a row of numbers.

The elements of most cases are random bits, such as -3.0097295391825942e+35. So the first element of the data is written
as 1, the next other one as 2, and so on; the fill is f, an element of zero bits that is none of them 0, and what a
peer made up itself a, b, c. A legend says what they stand for. Values that are short already stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from padops.conformance.render.summary import Record, array_text
from padops.plural import plural
from padops.spec.dialects import OPS
from padops.spec.plan import Amounts, Crop, Mode, make_plan, source_index

# What each rule is about; ``docs/semantics.md`` has them in full.
RULES = {
    "P1": "How large the output is. Negative amounts crop; an output dim below 0 is an error, but for OpenVINO Pad 12.",
    "P2": "What each mode shows beyond the data, over any number of periods.",
    "P3": "Amounts of both signs: ONNX crops first and extends what is left, OpenVINO and nGraph extend first.",
    "P4": "How far a mode may reach: OpenVINO and nGraph have limits, ONNX has none, but leaves some cases open.",
    "P5": "Data with nothing to extend are an error, unless the output is empty; data of rank 0 pass through.",
    "P6": "Interior padding, fill between any two elements, is nGraph's, and only in mode constant.",
    "P7": "The fill is one element of the data's type. Bits are copied, never converted.",
    "P8": "Pads have two amounts for each axis; axes lie in range and none comes twice.",
    "P9": "The mode is one that the version of the operator has.",
    "P10": "An axis or an output beyond 2^59 - 1 elements is an error, raised before any memory is taken.",
    "S1": "What SAME adds to each side, from size, kernel, stride and dilation.",
}

SIZE = 4  # elements of the row that the modes are shown on
SHOWN = tuple((mode.value, mode, Amounts(3, 3), Crop.CROP) for mode in Mode) + (
    ("reflect, begin -2, crop first", Mode.REFLECT, Amounts(-2, 5), Crop.CROP),
    ("reflect, begin -2, crop last", Mode.REFLECT, Amounts(-2, 5), Crop.FULL),
    ("constant, interior 1", Mode.CONSTANT, Amounts(1, 1, 1), Crop.FULL),
)


def shown_modes() -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """For each mode its name, and what becomes of 1 2 3 4: elements, and whether each lies where the data are."""
    for name, mode, amounts, crop in SHOWN:
        (axis,) = make_plan([SIZE], [amounts], mode, crop).axes
        row = [source_index(axis, mode, position) for position in range(axis.output)]
        last = amounts.begin + (SIZE - 1) * (amounts.interior + 1)
        yield (
            name,
            [
                ("0" if source is None else str(source + 1), source is not None and amounts.begin <= position <= last)
                for position, source in enumerate(row)
            ],
        )


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
    rest, fill = [_amounts(record, named, len(data["shape"]))], named.get(OPS[op].fill)
    if isinstance(fill, dict) and fill["shape"]:  # most cases have a scalar
        rest.append(f"with a fill of shape {fill['shape']}")
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
        by = both if both is not None else f"{begins} and {ends}"
        return f"by {by}{where}, which does not fit {plural(rank, 'axis')}"
    places = range(rank) if axes is None else axes
    rows = [
        f"begin {begin}, end {end}{f', interior {interior}' if interior else ''} on axis {place}"
        for place, begin, end, interior in zip(places, begins, ends, between)
        if begin or end or interior
    ]
    return "by " + " and ".join(rows) if rows else "by nothing"


def _flat(value: Any) -> list[Any] | None:
    """The elements of a list, or of an array of the report; None of anything else."""
    if isinstance(value, dict):
        value = value.get("values")
    if not isinstance(value, list):
        return None
    return [one for part in value for one in (part if isinstance(part, list) else [part])]


SHORT = 5  # letters of a value that stays as it is
ZEROS = ("0", "0.0", "''", "False")  # the fill where none is given, float8e8m0's aside
MADE_UP = [letter for letter in ascii_lowercase if letter != "f"]  # f is the fill


@dataclass
class Figures:
    """The names of the values of one case."""

    names: dict[str, str] = field(default_factory=dict)  # by the value as text
    short: bool = False  # whether the values stay as they are; there are no names then

    @classmethod
    def of(cls, record: Record) -> Figures:
        """Names for the values of a case, by a result of it that has its inputs."""
        named = named_inputs(record)
        data = list(_values(next(iter(named.values()), None)))
        fill = list(_values(named.get(OPS[record["op"]].fill))) if record["op"] in OPS else []
        expected = list(_values(record.get("expected")))
        if record["dtype"] != "string" and all(len(value) <= SHORT for value in (*data, *fill, *expected)):
            return cls(short=True)
        names: dict[str, str] = {}
        for value in data:
            names.setdefault(value, str(len(names) + 1))
        fills = [value for value in dict.fromkeys((*fill, *expected)) if value not in names]
        for value in fills:
            number = sum(name.startswith("f") for name in names.values())
            names[value] = "0" if value in ZEROS and value not in fill else f"f{number + 1 if number else ''}"
        return cls(names)

    def with_own(self, got: Any) -> Figures:
        """The names of the case, and of what else is in an output."""
        if self.short:
            return self
        new = [value for value in dict.fromkeys(_values(got)) if value not in self.names]
        return Figures({**self.names, **{value: _letter(i) for i, value in enumerate(new)}})

    def legend(self, beyond: Figures | None = None) -> list[list[str]]:
        """Names and what they stand for; only those that another has not."""
        known = beyond.names if beyond else {}
        return [[name, _plain(value)] for value, name in self.names.items() if value not in known]

    def text(self, array: Any) -> str:
        """An array of the report: type and shape, and below them a line for each of its innermost rows.

        The expected error, where there is one; empty where there is nothing.
        """
        if not isinstance(array, dict) or "error" in array or "values" not in array:
            return "" if array is None else array_text(array)
        head = f"{array['dtype']} {array['shape']}"
        if 0 in array["shape"]:
            return f"{head}, no elements"
        cells = [self.names.get(value, _plain(value)) for value in _values(array)]
        width = max(map(len, cells))
        lines = _lines([cell.rjust(width) for cell in cells], array["shape"])
        return "\n".join([head, *lines])


def _values(array: Any) -> Iterator[str]:
    """The elements of an array of the report as text, in order; of what has none, nothing."""
    if isinstance(array, dict) and "values" in array:
        yield from _leaves(array["values"])


def _leaves(data: Any) -> Iterator[str]:
    if not isinstance(data, list):
        yield repr(data)
        return
    for part in data:
        yield from _leaves(part)


def _plain(value: str) -> str:
    """A text of the report, such as 'nan (0x7fc1)', without its quotes; a string with white space keeps them."""
    inner = value[1:-1]
    return inner if value[:1] in "'\"" and inner and not inner.isspace() else value


def _letter(number: int) -> str:
    """a, b, … z without f, then a1, b1, …"""
    turn, place = divmod(number, len(MADE_UP))
    return MADE_UP[place] + (str(turn) if turn else "")


def _lines(cells: list[str], shape: list[int]) -> Iterator[str]:
    """Rows of the last axis; an empty line wherever an axis before the last two goes on."""
    row = shape[-1] if shape else 1
    block = row * (shape[-2] if len(shape) > 1 else 1)
    for start in range(0, len(cells), row):
        if start and start % block == 0:
            yield ""
        yield " ".join(cells[start : start + row])
