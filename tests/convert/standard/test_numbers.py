"""Formulas in NumPy: what is known is computed, and what is not becomes nodes of the graph builder that is open."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import numpy as np
import pytest

from padops.convert.standard.graph_builder import GraphBuilder, Number, Numbers, here, ints, scalar, take

FORMULAS: list[tuple[Callable[[Numbers], Numbers], list[str]]] = [
    (lambda x: x + 1, ["Add"]),
    (lambda x: x + 0, []),
    (lambda x: 0 + x, []),
    (lambda x: x + ints(0), ["Add"]),  # a vector may be longer than what it is added to
    (lambda x: 5 - x, ["Sub"]),
    (lambda x: ints(7, 8) - x, ["Sub"]),
    (lambda x: x * scalar(1), []),
    (lambda x: -(x // 2) % 3, ["Div", "Neg", "Mod"]),
    (lambda x: np.where((x > 1) & (x < 3), x, -1), ["Less", "Less", "And", "Where"]),
    (lambda x: np.minimum(np.maximum(x, 0), 2), ["Max", "Min"]),
    (lambda x: np.concatenate([ints(), x]), []),
    (lambda x: np.concatenate([ints(4), x]), ["Concat"]),
    (lambda x: np.expand_dims(x, 0), ["Unsqueeze"]),
    (lambda x: take(ints(1, 2, 3, 4), x), ["Gather"]),
]


def builder(opset: int = 18) -> GraphBuilder:
    numbers = itertools.count()
    return GraphBuilder(opset, lambda wanted: f"{wanted}_{next(numbers)}")


@pytest.mark.parametrize(("formula", "operators"), FORMULAS)
def test_a_formula_writes_its_nodes(formula: Callable[[Numbers], Numbers], operators: list[str]) -> None:
    with builder() as made:
        assert isinstance(formula(Number(name="x")), Number)
    assert [node.op_type for node in made.nodes if node.op_type != "Constant"] == operators


@pytest.mark.parametrize(("formula", "_"), FORMULAS)
def test_what_is_known_needs_no_graph(formula: Callable[[Numbers], Numbers], _: list[str]) -> None:
    """No graph builder is open, so a node would be an error."""
    assert not isinstance(formula(ints(2, 3)), Number)


def test_min_and_max_before_they_take_integers() -> None:
    with builder(11) as made:
        np.minimum(Number(name="x"), ints(3))
    assert [node.op_type for node in made.nodes if node.op_type != "Constant"] == ["Less", "Where"]


def test_what_numpy_cannot_ask_is_an_error() -> None:
    with builder() as made:
        number = Number(name="x")
        with pytest.raises(TypeError, match="x is not known before the model runs"):
            np.take(ints(1, 2), number)
        with pytest.raises(TypeError, match="power"):
            np.power(number, 2)
        with pytest.raises(TypeError, match="cumsum"):
            np.cumsum(number)
    assert not made.nodes


def test_nodes_go_where_the_innermost_is_open() -> None:
    with builder() as outer:
        number = Number(name="x")
        with outer.inner() as inner:
            number + 1
        number * 2
    assert [node.op_type for node in inner.nodes] == ["Add"]
    assert [node.op_type for node in outer.nodes if node.op_type != "Constant"] == ["Mul"]


def test_a_thread_does_not_see_what_another_has_open() -> None:
    seen: list[str] = []

    def look() -> None:
        try:
            here()
        except LookupError:
            seen.append("nothing")

    with builder():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == ["nothing"]
