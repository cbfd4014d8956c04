"""Integer convolutions, and poolings by averages, that pad by themselves: what is proved, and each condition for it."""

from __future__ import annotations

from typing import Any

import pytest
from term_book import FLOAT, UINT8, WindowBook, spatial

from padops.convert.proof import windows
from padops.convert.proof.result import Outcome, Verdict
from padops.convert.proof.terms import ABSENT

AROUND = (1, 2, 3, 4)


def integers(name: str, fill: Any, point: Any, x: int | None = None) -> tuple[WindowBook, int, int]:
    """ConvInteger or QLinearConv; ``fill`` and ``point`` are numbers, or None, or ``"run"`` for an input."""
    book = WindowBook()
    x = book.input("x", UINT8)
    w = book.constant([[[[1, 2], [3, 4]]]], UINT8)

    def number(value: Any) -> int:
        if value is None:
            return ABSENT
        return book.input("z", UINT8, value) if isinstance(value, tuple) else book.constant(value, UINT8)

    zero, scale = number(point), book.constant(0.5)
    padded = book.pad(x, spatial(), number(fill))

    def made(data: int, **pads: Any) -> int:
        if name == "ConvInteger":
            return book.op(name, *([data, w] if zero == ABSENT else [data, w, zero]), **pads)
        return book.op(name, data, scale, zero, w, scale, zero, scale, zero, **pads)

    return book, made(padded), made(x, pads=AROUND)


INTEGER = [("ConvInteger", None, None), ("ConvInteger", 3, 3), ("QLinearConv", 3, 3)]
INTEGER += [("ConvInteger", 3, [3]), ("QLinearConv", (), ()), ("ConvInteger", (1,), (1,))]


@pytest.mark.parametrize(("name", "fill", "point"), INTEGER)
def test_integers_are_padded_with_their_zero_point(name: str, fill: Any, point: Any) -> None:
    book, first, second = integers(name, fill, point)
    assert book.same(first, second) == Outcome(Verdict.PROVED, "window", "all data")


@pytest.mark.parametrize(
    ("name", "fill", "point", "why"),
    [
        ("ConvInteger", None, 3, "what two ConvInteger read is not proved equal, padded"),
        ("ConvInteger", 3, None, "what two ConvInteger read is not proved equal, padded"),
        ("ConvInteger", 3, 4, "what two ConvInteger read is not proved equal, padded"),
        ("QLinearConv", None, 3, "what two QLinearConv read is not proved equal, padded"),
        ("QLinearConv", 3, 0, "what two QLinearConv read is not proved equal, padded"),
        ("ConvInteger", 3, (), "what two ConvInteger read is not proved equal, padded"),
        ("ConvInteger", 3, [3, 3], "the zero point of ConvInteger is not known to be a single number"),
        ("QLinearConv", 3, (2,), "the zero point of QLinearConv is not known to be a single number"),
        ("QLinearConv", 3, (None,), "the zero point of QLinearConv is not known to be a single number"),
    ],
)
def test_another_fill_than_the_zero_point(name: str, fill: Any, point: Any, why: str) -> None:
    book, first, second = integers(name, fill, point)
    assert book.why(first, second) == why


def averages(shape: Any = (1, 1, 5, 6), fill: float | None = None, **second: Any) -> tuple[WindowBook, int, int]:
    book = WindowBook()
    x = book.input("x", FLOAT, shape)
    padded = book.pad(x, spatial((1, 1, 0, 1)), ABSENT if fill is None else book.constant(fill))
    given: dict[str, Any] = {"kernel_shape": (2, 2), "ceil_mode": 0}
    first = book.op("AveragePool", padded, **given, count_include_pad=0)
    return book, first, book.op("AveragePool", x, **given | {"count_include_pad": 1, "pads": (1, 1, 0, 1)} | second)


def test_an_average_that_counts_what_it_pads() -> None:
    book, first, second = averages()
    assert book.same(first, second) == Outcome(Verdict.PROVED, "window", "all data", (windows.SUMS,))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"count_include_pad": 0}, "AveragePool does not count what it pads"),
        ({"ceil_mode": 1}, "AveragePool has ceil_mode: its last window may begin in the padding"),
        ({"kernel_shape": (2, 1)}, "AveragePool has pads [1, 1, 0, 1] for a kernel of [2, 1]"),
        ({"kernel_shape": (2,)}, "AveragePool has pads [1, 1, 0, 1] for a kernel of [2]"),
        ({"kernel_shape": (2, 3)}, "the attributes or versions of two AveragePool differ"),
        ({"fill": 1.0}, "what two AveragePool read is not proved equal, padded"),
        (
            {"shape": (1, 1, 0, 6)},
            "AveragePool refuses an axis of 0 elements, and the dims of its data are not all known",
        ),
        (
            {"shape": (1, 1, "H", 6)},
            "AveragePool refuses an axis of 0 elements, and the dims of its data are not all known",
        ),
        ({"shape": None}, "AveragePool refuses an axis of 0 elements, and the dims of its data are not all known"),
    ],
)
def test_what_an_average_needs(changed: dict[str, Any], why: str) -> None:
    book, first, second = averages(**changed)
    assert book.why(first, second) == why


def test_an_open_batch_is_no_matter() -> None:
    book, first, second = averages(("N", None, 5, 6))
    found = book.same(first, second)
    assert found is not None and found.verdict is Verdict.PROVED
