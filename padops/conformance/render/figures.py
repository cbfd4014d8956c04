"""The data of a case as small numbers: where an element of the output comes from shows at a glance.

The elements of most cases are random bits, such as -3.0097295391825942e+35. So the first element of the data is written
as 1, the next other one as 2, and so on; the fill is f, an element of zero bits that is none of them 0, and what a
peer made up itself a, b, c. A legend says what they stand for. Values that are short already stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from padops.conformance.render.sentences import named_inputs
from padops.conformance.render.summary import Record, array_text
from padops.spec.dialects import OPS

SHORT = 5  # letters of a value that stays as it is
ZEROS = ("0", "0.0", "''", "False")  # the fill where none is given, float8e8m0's aside
MADE_UP = [letter for letter in ascii_lowercase if letter != "f"]  # f is the fill


@dataclass
class Figures:
    """The names of the values of one case.

    Attributes:
        names: What stands for a value, by the value as text; empty where values stay as they are.
        short: Whether they do.
    """

    names: dict[str, str] = field(default_factory=dict)
    short: bool = False

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
