"""An operator that pads by itself against the same operator behind a Pad: what is proved, and each condition for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from term_book import FLOAT, FLOAT16, INT8, WindowBook, spatial

from padops.convert.proof import windows
from padops.convert.proof.result import Outcome, Verdict
from padops.convert.proof.terms import ABSENT, Kind

AROUND = (1, 2, 3, 4)


def convolutions(**changed: Any) -> tuple[WindowBook, int, int]:
    """A Pad in front of a Conv, and a Conv that pads; ``changed`` is what is different."""
    book = WindowBook()
    x = changed.get("x", book.input("x"))
    w = book.constant(changed.get("weights", [[[[1.0, 2], [3, 4]]]]))
    fill = changed.get("fill")
    padded = book.pad(
        x,
        changed.get("amounts", spatial()),
        ABSENT if fill is None else book.constant(fill),
        changed.get("mode", "constant"),
    )
    first = book.op("Conv", padded, w, group=1, **changed.get("first", {}))
    other = book.constant(changed["others"]) if "others" in changed else w
    second = book.op(
        "Conv",
        x,
        other,
        group=changed.get("group", 1),
        version=changed.get("version", 11),
        **{"pads": AROUND} | changed.get("second", {}),
    )
    return book, first, second


def test_a_pad_is_the_pads_of_a_convolution() -> None:
    book, first, second = convolutions()
    found = book.same(first, second)
    assert found == Outcome(Verdict.PROVED, "window", "all data", (windows.SUMS,))


@pytest.mark.parametrize(
    "changed",
    [
        {"first": {"auto_pad": b"VALID"}},
        {"first": {"auto_pad": b"NOTSET", "strides": (1, 1)}, "second": {"dilations": (1, 1)}},
        {"first": {"strides": (2, 1)}, "second": {"strides": (2, 1)}},
        {"amounts": [0] * 8, "second": {"pads": (0, 0, 0, 0)}, "weights": [[[[np.inf, 2], [3, 4]]]]},
    ],
)
def test_attributes_that_say_the_same(changed: dict[str, Any]) -> None:
    book, first, second = convolutions(**changed)
    if "weights" in changed:  # nothing is padded: the data are what they are
        first = book.op("Conv", book.terms.inputs(second)[0], book.terms.inputs(second)[1], group=1)
    found = book.same(first, second)
    assert found is not None and found.verdict is Verdict.PROVED, found


DATA = "what two Conv read is not proved equal, padded"
ATTRIBUTES = "the attributes or versions of two Conv differ"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"fill": 1.0}, DATA),
        ({"fill": -0.0}, DATA),
        ({"mode": "edge"}, DATA),
        ({"mode": "reflect"}, DATA),
        ({"amounts": spatial((1, 2, 3, 5))}, DATA),
        ({"amounts": spatial((2, 1, 4, 3))}, DATA),
        ({"amounts": [1, 0, 1, 2, 0, 0, 3, 4]}, DATA),
        ({"amounts": [0, 1, 1, 2, 0, 0, 3, 4]}, DATA),
        ({"amounts": [0, 0, 1, 2, 0, 2, 3, 4]}, DATA),
        ({"second": {"pads": (-1, 2, 3, 4)}}, "Conv has pads [-1, 2, 3, 4]"),
        ({"second": {"pads": (1, 2, 3)}}, "Conv has pads [1, 2, 3]"),
        ({"second": {"auto_pad": b"VALID"}}, "Conv has auto_pad VALID, and pads"),
        ({"second": {"auto_pad": b"SAME_UPPER"}}, "Conv has auto_pad SAME_UPPER"),
        ({"first": {"auto_pad": b"SAME_LOWER"}}, "Conv has auto_pad SAME_LOWER"),
        ({"second": {"strides": (2, 1)}}, ATTRIBUTES),
        ({"second": {"dilations": (1, 2)}}, ATTRIBUTES),
        ({"group": 2}, ATTRIBUTES),
        ({"version": 22}, ATTRIBUTES),
        ({"others": [[[[1.0, 2], [3, 5]]]]}, "another input than the data of two Conv is not proved equal"),
        ({"weights": [[[[1.0, np.inf], [3, 4]]]]}, "the weights of Conv are not known to be finite"),
        ({"weights": [[[[1.0, np.nan], [3, 4]]]]}, "the weights of Conv are not known to be finite"),
    ],
)
def test_what_a_convolution_needs(changed: dict[str, Any], why: str) -> None:
    book, first, second = convolutions(**changed)
    assert book.why(first, second) == why


def test_a_bias_in_one_of_them() -> None:
    book, first, second = convolutions()
    x, w = book.terms.inputs(second)
    biased = book.op("Conv", x, w, book.constant([1.0]), group=1, pads=AROUND)
    assert book.why(first, biased) == ATTRIBUTES
    with_bias = book.op("Conv", book.terms.inputs(first)[0], w, book.constant([2.0]), group=1)
    assert book.why(with_bias, biased) == "another input than the data of two Conv is not proved equal"


def test_other_operators_and_equal_heads_are_no_matter_of_this_rule() -> None:
    book, first, second = convolutions()
    x, w = book.terms.inputs(second)
    assert book.same(first, book.op("ConvTranspose", x, w, pads=AROUND)) is None
    assert book.same(second, book.op("Conv", book.input("z"), w, group=1, pads=AROUND)) is None
    for name in ("MaxPool", "LpPool", "ConvTranspose", "Relu"):
        lowest = book.constant(np.finfo(np.float32).min)
        padded = book.op(name, book.pad(x, spatial(), lowest), kernel_shape=(5, 5))
        assert book.same(padded, book.op(name, x, kernel_shape=(5, 5), pads=AROUND)) is None, name


def test_the_integers_have_no_rule_for_a_maximum_either() -> None:
    book = WindowBook()
    x = book.input("x", INT8)
    padded = book.op("MaxPool", book.pad(x, spatial(), book.constant(-128, INT8)), kernel_shape=(5, 5))
    assert book.same(padded, book.op("MaxPool", x, kernel_shape=(5, 5), pads=AROUND)) is None


def weights_of(book: WindowBook, way: str) -> int:
    whole, half = book.constant([[[[1, 2], [3, 4]]]], INT8), book.constant([[[[1, 2], [3, 4]]]], FLOAT16)
    if way == "run":
        return book.input("w", FLOAT, (1, 1, 2, 2))
    if way == "infinite half":
        return book.op("Cast", book.constant([[[[1, 2], [3, np.inf]]]], FLOAT16), to=FLOAT)
    if way == "narrowed":
        return book.op("Cast", book.constant([[[[1, 2], [3, 1e38]]]], FLOAT), to=FLOAT16)
    if way == "half":
        return book.op("Cast", half, to=FLOAT)
    if way == "turned":
        return book.op("Transpose", book.op("Cast", half, to=FLOAT), perm=(1, 0, 2, 3))
    if way == "computed":
        return book.op("Div", book.constant([1.0]), book.constant([0.0]))
    scale = {"dequantized": 0.5, "large scale": 1e38, "infinite scale": np.inf, "half scale": 0.5}[way]
    kind = FLOAT16 if way == "half scale" else FLOAT
    return book.op("DequantizeLinear", whole, book.constant(scale, kind), axis=1)


@pytest.mark.parametrize(
    ("way", "finite"),
    [
        ("run", False), ("half", True), ("infinite half", False), ("narrowed", False), ("turned", True),
        ("computed", False),
        ("dequantized", True), ("large scale", False), ("infinite scale", False), ("half scale", False),
    ],
)  # fmt: skip
def test_weights_that_are_no_constants(way: str, finite: bool) -> None:
    book = WindowBook()
    x, w = book.input("x"), weights_of(book, way)
    found = book.same(book.op("Conv", book.pad(x, spatial()), w), book.op("Conv", x, w, pads=AROUND))
    assert found is not None and (found.verdict is Verdict.PROVED) == finite, found
    assert finite or found.why == "the weights of Conv are not known to be finite"


def test_pads_that_grow() -> None:
    book, _, second = convolutions()
    x, w = book.terms.inputs(second)
    less = book.op("Conv", book.pad(x, spatial((0, 0, 1, 1))), w, group=1, pads=(1, 2, 2, 3))
    asked = []
    windows.same(book.terms, less, second, lambda a, b: bool(asked.append((a, b))))
    heads = [[book.terms.head(term).kind for term in pair] for pair in asked[-1:]]
    assert heads == [[Kind.PAD, Kind.PAD]], "two Pads are one, which the positions decide"
    outer, inner = asked[-1][0], book.terms.inputs(asked[-1][0])[0]
    assert book.terms.constant(book.terms.inputs(outer)[1]).tolist() == spatial((1, 2, 2, 3))
    assert book.terms.constant(book.terms.inputs(inner)[1]).tolist() == spatial((0, 0, 1, 1))


def test_the_facts_of_the_padded_data() -> None:
    """What follows decides by the type and the dims that a Pad of the normal form has."""
    book, first, second = convolutions()
    asked: list[tuple[int, int]] = []
    windows.same(book.terms, first, second, lambda a, b: bool(asked.append((a, b))))
    made = asked[-1][1]
    assert (book.terms.dtype(made), book.terms.shape(made)) == (FLOAT, ("N", 1, 9, 12))
    open_ = WindowBook()
    x, w = open_.input("x", FLOAT, ("N", 1, "H", None)), open_.constant([[[[1.0]]]])
    windows.same(
        open_.terms,
        open_.op("Conv", x, w),
        open_.op("Conv", x, w, pads=(1, 0, 0, 0)),
        lambda a, b: bool(asked.append((a, b))),
    )
    assert open_.terms.shape(asked[-1][1]) == ("N", 1, None, None)
