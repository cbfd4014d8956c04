"""Slices and Concats that are no Pad, or that one option leaves alone."""

from __future__ import annotations

from collections.abc import Callable

import native
import numpy as np
import pytest
from emulation_checks import SYMMETRIC, data_of, left, run
from emulations import MOST, Nodes, circular_1d, circular_2d, emulated
from onnx import helper
from small_models import BOOL, FLOAT, INT64, convert, graph, model, tensor

import padops


def test_slices_outside_the_branch_stay() -> None:
    inner = Nodes("inner_")
    inner.named(inner.join("slice_0_out", "x", axis=2), "z")
    outer = Nodes()
    outer.cut("x", 2, -2)
    then = graph(inner.nodes, [], [("z", FLOAT, None)], name="then")
    other = graph([helper.make_node("Identity", ["x"], ["w"])], [], [("w", FLOAT, None)], name="else")
    message = model(
        [*outer.nodes, helper.make_node("If", ["flag"], ["y"], "if", then_branch=then, else_branch=other)],
        17,
        inputs=[("x", FLOAT, [1, 3, 8]), ("flag", BOOL, [])],
        outputs=[("y", FLOAT, [None] * 3)],
        tensors=outer.initializers(),
    )
    assert left(message) == []


def test_options() -> None:
    original = emulated(circular_2d, [1, 3, 8, 9])
    assert left(original, emulated="keep") == []
    assert left(original, select="needed") == ["ONNX Runtime runs it"]
    assert left(original, target="onnx") == []
    assert left(original, target="pyop") == []
    with pytest.raises(padops.convert.UsageError, match="emulated is 'maybe', expected 'convert' or 'keep'"):
        convert(original, emulated="maybe")


def test_before_opset_11_it_stays() -> None:
    assert left(emulated(circular_1d, [1, 3, 8], opset=10)) == []


def shape_computed(n: Nodes) -> str:
    """Amounts, as TorchScript's exporter computes them: a vector that zeros are joined to."""
    zeros = n.node("ConstantOfShape", [n.constant([4])], value=tensor("value", [0]))
    doubled = n.node("Add", [n.node("Shape", ["x"]), n.constant([1, 1])])
    return n.join(doubled, zeros, axis=0)


def test_vectors_of_integers_stay() -> None:
    assert left(emulated(shape_computed, [3, "n"], outputs=[("y", INT64, [6])])) == []


def test_constants_stay() -> None:
    def weights(n: Nodes) -> str:
        kernel = n.circular(n.node("Neg", [n.constant(np.ones((1, 1, 4)), np.float32)]), 2, 1, 1)
        return n.node("Conv", ["x", kernel])

    assert left(emulated(weights, [1, 1, 9])) == []


NOT_A_PAD: dict[str, Callable[[Nodes], str]] = {
    "other data": lambda n: n.join(n.cut(n.node("Neg", ["x"]), 2, -2), "x", axis=2),
    "wrong order": lambda n: n.join(n.cut("x", 2, 0, 2), "x", n.cut("x", 2, -1), axis=2),
    "overlapping slices": lambda n: n.join(n.cut("x", 2, 0, 5), n.cut("x", 2, 4), axis=2),
    "rolled": lambda n: n.join(n.cut("x", 2, -2), n.cut("x", 2, 0, -2), axis=2),
    "not from the end": lambda n: n.join(n.cut("x", 2, -3, -1), "x", axis=2),
    "another axis": lambda n: n.join(n.cut("x", 3, 0, 2), n.cut("x", 3, 2, 4), axis=2),
    "an end that goes backward": lambda n: n.join("x", n.cut("x", 2, 0, MOST, -1), axis=2),
    "a step of two": lambda n: n.join(n.cut("x", 2, 0, 4, 2), "x", axis=2),
    "half a reflection": lambda n: n.join(n.cut("x", 2, 1, 3), "x", axis=2),
    "Neg in between": lambda n: n.join(n.node("Neg", [n.cut("x", 2, -2)]), "x", axis=2),
    "fills that differ": lambda n: n.join(
        n.constant(np.zeros((1, 2, 1, 4)), np.float32), "x", n.constant(np.ones((1, 2, 1, 4)), np.float32), axis=2
    ),
    "a block that is not of one value": lambda n: n.join(
        n.constant(np.arange(8).reshape(1, 2, 1, 4), np.float32), "x", axis=2
    ),
    "plus and minus zero": lambda n: n.join(
        n.constant(np.array([0.0, -0.0] * 4).reshape(1, 2, 1, 4), np.float32), "x", axis=2
    ),
    "a fill in the middle": lambda n: n.join(
        n.cut("x", 2, 0, 3), n.constant(np.zeros((1, 2, 1, 4)), np.float32), n.cut("x", 2, 3), axis=2
    ),
    "zeros and an edge": lambda n: n.join(
        n.constant(np.zeros((1, 2, 1, 4)), np.float32), "x", n.cut("x", 2, -1), axis=2
    ),
    "only a part": lambda n: n.join(n.cut("x", 2, 1), n.cut("x", 2, 0, 1), axis=2),
    "nothing added": lambda n: n.join(n.cut("x", 2, 0, 3), n.cut("x", 2, 3), axis=2),
    "all of it expanded, to a batch of 3": lambda n: n.join(
        n.expand("x", [3, 1, 1, 1]), n.expand(n.cut("x", 2, -1), [3, 1, 1, 1]), axis=2
    ),
    "indices out of order": lambda n: n.take("x", [0, 0, 2, 1, 3, 4, 5, 5], 2),
    "indices of rank 2": lambda n: n.node(
        "Reshape", [n.take("x", [[0, 0, 1, 2], [3, 4, 5, 5]], 2), n.constant([1, 2, 8, 4])]
    ),
}


@pytest.mark.parametrize("name", NOT_A_PAD)
def test_near_miss(name: str) -> None:
    original = emulated(NOT_A_PAD[name], [1, 2, 6, 4])
    run(original, data_of([1, 2, 6, 4]))  # it is a model
    assert left(original) == []


def test_step_back_from_the_edge_is_symmetric() -> None:
    """A flip that includes the edge is no reflection; of the last elements, a step of -1 from the end."""
    original = emulated(lambda n: n.join("x", n.cut("x", 2, -1, -3, -1), axis=2), [1, 2, 6, 4])
    conversion = convert(original)
    assert [record.op_type for record in conversion.converted] == [SYMMETRIC]
    data = data_of([1, 2, 6, 4])
    assert native.bits(run(conversion.proto(), data)) == native.bits(run(original, data))


def test_bounds_that_the_caller_gives_stay() -> None:
    original = emulated(
        lambda n: n.join(n.node("Slice", ["x", "start", n.constant([MOST]), n.constant([2])]), "x", axis=2),
        [1, 3, 8],
        inputs=[("x", FLOAT, [1, 3, 8]), ("start", INT64, [1])],
    )
    assert left(original) == []
