"""Pads that are spelled as Slices and Concats, of data whose size the model leaves open."""

from __future__ import annotations

from collections.abc import Callable

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from emulation_checks import data_of, left, operators, run, run_or_fail
from emulations import FORMS, OF_ANY_SIZE, Nodes, circular_1d, circular_2d, emulated
from small_models import convert

from padops.convert.matchers.maps import LONGEST


@pytest.mark.parametrize("name", FORMS)
def test_form_of_any_size(name: str) -> None:
    """Where a dim is open, only what is a Pad for every size of it is converted."""
    write, dims, *_ = FORMS[name]
    original = emulated(write, [1, 3, *["?"] * (len(dims) - 2)])
    conversion = convert(original)
    assert (conversion.converted != ()) is (name in OF_ANY_SIZE or len(dims) > 3)
    if not conversion.converted:
        assert conversion.proto() == original
    for size in (0, 1, 2, 3, 4, 9):
        data = data_of([1, 3, *[size] * (len(dims) - 2)])
        wanted = run_or_fail(original, data)
        assert wanted is None or run_or_fail(conversion.proto(), data) == wanted, size


SHORT = (0, 1, 2, 3, 4, 9)


def reflect_2d(n: Nodes) -> str:
    value = "x"
    for axis in (2, 3):
        before, after = n.flip(n.cut(value, axis, 1, 3), axis), n.flip(n.cut(value, axis, -4, -1), axis)
        value = n.join(before, value, after, axis=axis)
    return value


def edges_of_open_and_known_size(n: Nodes) -> str:
    """Of the first axis there may be no edge, of the second there are two in any case: only one has a bound."""
    once = n.join(n.cut("x", 2, 0, 1), "x", n.cut("x", 2, -1), axis=2)
    first, last = n.cut(once, 3, 0, 1), n.cut(once, 3, -1)
    return n.join(n.expand(first, [1, 1, 1, 3]), once, n.expand(last, [1, 1, 1, 2]), axis=3)


COMPUTED: dict[str, tuple[Callable[[Nodes], str], list[str]]] = {
    "circular": (circular_2d, ["Shape", "Concat", "Min", "Pad_19"]),
    "reflect": (reflect_2d, ["Shape", "Concat", "Add", "Max", "Min", "Pad_19"]),
    "edge": (edges_of_open_and_known_size, ["Shape", "Concat", "Add", "Min", "Pad_19"]),
}


@pytest.mark.parametrize("with_fallback", [False, True])
@pytest.mark.parametrize("name", COMPUTED)
def test_amounts_that_are_computed(name: str, with_fallback: bool) -> None:
    """Of data that are shorter than the amounts, the nodes show what there is; so does the Pad."""
    write, operators_now = COMPUTED[name]
    original = emulated(write, [1, 2, "height", "width"])
    conversion = convert(original, fallback=with_fallback, verify=True, run=True)
    (record,) = conversion.converted
    assert record.notes[1] == "its amounts are computed, since the nodes reach no further than the data"
    message = conversion.proto()
    assert operators(message) == operators_now and len(operators_now) < len(original.graph.node)
    onnx.checker.check_model(message)
    content = message.SerializeToString()
    for height in SHORT:
        for width in SHORT:
            data = data_of([1, 2, height, width])
            wanted = run_or_fail(original, data)
            if wanted is None:
                continue
            assert run_or_fail(message, data) == wanted, (height, width)
            if with_fallback:
                session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
                assert native.bits(session.run(None, {"x": data})[0]) == wanted, (height, width)


def test_amounts_are_computed_of_open_dims_alone() -> None:
    """The other axis is one element that is wrapped twice; its amounts stay what they are."""

    def wrapped_twice(n: Nodes) -> str:
        first = n.circular("x", 2, 2, 3)
        return n.join(first, first, first, n.cut(first, 3, 0, 1), axis=3)

    original = emulated(lambda n: n.circular(wrapped_twice(n), 4, 1, 1), [1, 2, "n", 1, "m"])
    conversion = convert(original)
    assert len(conversion.converted) == 1
    for size in SHORT:
        data = data_of([1, 2, size, 1, 3])
        assert run_or_fail(conversion.proto(), data) == run_or_fail(original, data) is not None


def test_record_of_an_open_dim_says_which_size_differs() -> None:
    why = "ONNX Runtime runs it as it is; a Pad of 2, 1 does something else where axis 2 has fewer than 2 elements"
    (reason,) = left(emulated(circular_1d, [1, 3, "n"]))
    assert reason == f"{why}, and to compute its amounts takes as many nodes"


def test_longer_than_the_data() -> None:
    """Of 2 elements, ``x[-3:]`` are 2: a Pad of 2, not of 3."""
    original = emulated(lambda n: n.circular("x", 2, 3, 3), [1, 1, 2])
    conversion = convert(original)
    assert len(conversion.converted) == 1
    data = data_of([1, 1, 2])
    assert native.bits(run(conversion.proto(), data)) == native.bits(run(original, data))


def test_zeros_of_another_shape_fit_one_batch_only() -> None:
    zeros = np.zeros((1, 3, 2))
    assert left(emulated(lambda n: n.join(n.constant(zeros, np.float32), "x", axis=2), ["n", 3, 8])) == []


@pytest.mark.parametrize("size", [-1, LONGEST + 1, 2**62])
def test_sizes_that_no_memory_holds(size: int) -> None:
    """What a model says of sizes is looked at before anything is made of that size."""
    writers: list[Callable[[Nodes], str]] = [
        lambda n: n.join(n.node("ConstantOfShape", [n.constant([1, 1, size])]), "x", axis=2),
        lambda n: n.join(n.expand(n.cut("x", 2, 0, 1), [1, 1, size]), "x", axis=2),
        lambda n: n.join(n.tile("x", [1, 1, size]), "x", axis=2),
    ]
    for write in writers:
        assert left(emulated(write, [1, 1, 2])) == []
