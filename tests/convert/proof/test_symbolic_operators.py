"""Each operator of the symbolic proofs against onnxruntime: dims, elements and failures, for drawn inputs.

The formulas speak of all inputs; here they are asked about some. So are all facts that they bring along: one that is
false would prove anything.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
import pytest
from symbolic_runs import computed, model_of

Draw = Callable[[random.Random], dict[str, np.ndarray]]
DRAWS = 8


@dataclass(frozen=True)
class Row:
    """A graph of an operator, and what it is fed with; ``fails`` says whether some of the draws are to fail."""

    name: str
    graph: str
    draw: Draw
    fails: bool = False
    opset: int = 21


def floats(*dims: int) -> np.ndarray:
    """Floats that are all different."""
    return (np.arange(np.prod(dims, dtype=int), dtype=np.float32) + np.float32(0.5)).reshape(dims)


def ints(*values: int, dtype: type = np.int64) -> np.ndarray:
    return np.array(values, dtype)


def size(numbers: random.Random) -> int:
    return numbers.choice((0, 1, 2, 3, 4))


def any_ints(numbers: random.Random, count: int, low: int = -5, high: int = 5) -> np.ndarray:
    return np.array([numbers.randint(low, high) for _ in range(count)], np.int64)


EXTREMES = (-(2**63), -(2**63) + 1, -(2**31), -7, -1, 0, 1, 2, 7, 2**31 - 1, 2**31, 2**62, 2**63 - 1)


def pair(numbers: random.Random) -> dict[str, np.ndarray]:
    """Two vectors of one length, or one of them of one element."""
    count = numbers.choice((1, 3))
    return {
        "a": np.array([numbers.choice(EXTREMES) for _ in range(count)], np.int64),
        "b": np.array([numbers.choice(EXTREMES) for _ in range(numbers.choice((1, count)))], np.int64),
    }


def small_pair(numbers: random.Random) -> dict[str, np.ndarray]:
    return {"a": any_ints(numbers, 4, -9, 9), "b": any_ints(numbers, numbers.choice((1, 4)), -3, 3)}


def nonzero_pair(numbers: random.Random) -> dict[str, np.ndarray]:
    found = small_pair(numbers)
    found["b"][found["b"] == 0] = 4
    return found


PAIR = "g (int64[A] a, int64[B] b) => (%s[] y) { y = %s(a, b) }"
MATRIX = "g (float[N,M] x%s) => (float[] y) <%s> { %s }"


def matrix(numbers: random.Random) -> dict[str, np.ndarray]:
    return {"x": floats(size(numbers), size(numbers))}


def with_ints(name: str, count: int, low: int = -5, high: int = 5) -> Draw:
    return lambda numbers: {**matrix(numbers), name: any_ints(numbers, count, low, high)}


ROWS = [
    *(Row(op, PAIR % ("int64", op), small_pair) for op in ("Add", "Sub", "Mul", "Min", "Max")),
    *(Row(op, PAIR % ("bool", op), pair) for op in ("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual")),
    Row("Div", PAIR % ("int64", "Div"), nonzero_pair),
    Row("Mod", PAIR % ("int64", "Mod"), nonzero_pair),
    Row("fmod", PAIR % ("int64", "Mod<fmod=1>"), nonzero_pair),
    Row("Neg", "g (int64[A] a) => (int64[] y) { y = Neg(a) }", lambda n: {"a": any_ints(n, 3)}),
    Row("Abs", "g (int64[A] a) => (int64[] y) { y = Abs(a) }", lambda n: {"a": any_ints(n, 3)}),
    Row("Cast bool", "g (int64[A] a) => (int64[] y) { b = Cast<to=9>(a) y = Cast<to=7>(b) }",
        lambda n: {"a": any_ints(n, 3, -1, 1)}),
    Row("Cast narrow", "g (int64[A] a) => (int8[] y) { y = Cast<to=3>(a) }", lambda n: {"a": any_ints(n, 3)}),
    Row("logic", "g (int64[A] a, int64[B] b) => (bool[] y) { p = Less(a, b) q = Cast<to=9>(a) r = And(p, q) n = Not(q) "
                 "s = Or(r, n) y = Equal(s, p) }", small_pair),
    Row("Where", "g (int64[A] a, int64[B] b) => (int64[] y) { p = Less(a, b) y = Where(p, a, b) }", small_pair),
    Row("ReduceMin", "g (int64[4] a) => (int64[] y) { y = ReduceMin<keepdims=0>(a) }", lambda n: {"a": any_ints(n, 4)}),
    Row("ReduceMax", "g (int64[4] a) => (int64[] y) { y = ReduceMax(a) }", lambda n: {"a": any_ints(n, 4)}),
    Row("ReduceSum", "g (int64[4] a) => (int64[] y) { y = ReduceSum(a) }", lambda n: {"a": any_ints(n, 4)}),
    Row("ReduceProd", "g (int64[4] a) => (int64[] y) { y = ReduceProd(a) }", lambda n: {"a": any_ints(n, 4)}),
    Row("Shape", "g (float[N,M] x) => (int64[] y) { y = Shape<start=-1>(x) }", matrix),
    Row("Size", "g (float[N,M] x) => (int64[] y) { y = Size(x) }", matrix),
    Row("Range", "g (int64 a, int64 b) => (int64[] y) <int64 one = {1}> { y = Range(a, b, one) }",
        lambda n: {"a": any_ints(n, 1).reshape(()), "b": any_ints(n, 1).reshape(())}),
    Row("Range by 2", "g (int64 a, int64 b) => (int64[] y) <int64 two = {2}> { y = Range(a, b, two) }",
        lambda n: {"a": any_ints(n, 1).reshape(()), "b": any_ints(n, 1).reshape(())}),
    Row("Range down", "g (int64 a, int64 b) => (int64[] y) <int64 by = {-3}> { y = Range(a, b, by) }",
        lambda n: {"a": any_ints(n, 1).reshape(()), "b": any_ints(n, 1).reshape(())}),
    Row("Transpose", MATRIX % ("", "int64 z = {0}", "y = Transpose(x)"), matrix),
    Row("Concat", MATRIX % (", float[K,L] w", "int64 z = {0}", "y = Concat<axis=0>(x, w, x)"),
        lambda n: {"x": floats(n.choice((1, 2)), 2), "w": floats(n.choice((1, 3)), n.choice((2, 2, 3)))}, fails=True),
    Row("Slice", MATRIX % (", int64[2] s, int64[2] e", "int64[2] axes = {1, 0}", "y = Slice(x, s, e, axes)"),
        lambda n: {**matrix(n), "s": any_ints(n, 2), "e": any_ints(n, 2)}),
    Row("Slice in steps",
        MATRIX % (", int64[2] s, int64[2] e", "int64[2] axes = {1, 0}, int64[2] by = {2, -1}",
                  "y = Slice(x, s, e, axes, by)"), lambda n: {**matrix(n), "s": any_ints(n, 2), "e": any_ints(n, 2)}),
    Row("Slice back in steps",
        MATRIX % (", int64[2] s, int64[2] e", "int64[2] axes = {1, 0}, int64[2] by = {-3, 3}",
                  "y = Slice(x, s, e, axes, by)"), lambda n: {**matrix(n), "s": any_ints(n, 2), "e": any_ints(n, 2)}),
    Row("Split", MATRIX % (", int64[2] s", "int64 z = {0}", "w, y = Split(x, s)"),
        lambda n: {"x": floats(3, 2), "s": any_ints(n, 2, 0, 3)}, fails=True),
    Row("Split evenly", "g (float[N,M] x) => (float[] y) { w, y, v = Split<num_outputs=3>(x) }",
        lambda n: {"x": floats(n.choice((3, 5, 6)), 2)}),
    Row("Gather", MATRIX % (", int64[K] i", "int64 z = {0}", "y = Gather<axis=1>(x, i)"),
        lambda n: {"x": floats(2, 3), "i": any_ints(n, 2, -4, 3)}, fails=True),
    Row("Gather from a table", "g (int64[K] i) => (int64[] y) <int64[5] t = {7, 9, 11, 2, 2}> { y = Gather(t, i) }",
        lambda n: {"i": any_ints(n, 2, -5, 4)}),
    Row("GatherElements", MATRIX % (", int64[K,L] i", "int64 z = {0}", "y = GatherElements<axis=1>(x, i)"),
        lambda n: {"x": floats(2, 3), "i": any_ints(n, 4, -3, 2).reshape(2, 2)}),
    Row("ScatterElements", "g (int64[4] a, int64[2] i, int64[2] u) => (int64[] y) { y = ScatterElements(a, i, u) }",
        lambda n: {"a": any_ints(n, 4), "i": np.array(n.sample(range(-4, 0), 2)), "u": any_ints(n, 2)}),
    Row("Unsqueeze", MATRIX % ("", "int64[2] axes = {-1, 1}", "y = Unsqueeze(x, axes)"), matrix),
    Row("Squeeze", MATRIX % ("", "int64[1] axes = {1}", "y = Squeeze(x, axes)"),
        lambda n: {"x": floats(3, n.choice((1, 2)))}, fails=True),
    Row("Tile", MATRIX % (", int64[2] t", "int64 z = {0}", "y = Tile(x, t)"), with_ints("t", 2, 0, 3)),
    Row("Expand", MATRIX % (", int64[3] t", "int64 z = {0}", "y = Expand(x, t)"),
        lambda n: {"x": floats(n.choice((1, 2)), 1), "t": any_ints(n, 3, 0, 2)}, fails=True),
    Row("ConstantOfShape", "g (int64[2] t) => (int64[] y) { y = ConstantOfShape<value = int64[1] {5}>(t) }",
        lambda n: {"t": any_ints(n, 2, 0, 3)}),
    Row("Reshape", MATRIX % (", int64[3] t", "int64 z = {0}", "y = Reshape<allowzero=1>(x, t)"),
        lambda n: {"x": floats(2, 6),
                   "t": np.array(n.choice(((3, 2, 2), (2, 2, 3), (1, 12, 1), (2, 2, 2), (12, 0, 1))))}, fails=True),
    Row("Reshape -1", MATRIX % ("", "int64[3] t = {0, -1, 1}", "y = Reshape(x, t)"),
        lambda n: {"x": floats(2, size(n))}),
    Row("Reshape by 2", MATRIX % ("", "int64[2] t = {2, -1}", "y = Reshape(x, t)"),
        lambda n: {"x": floats(n.choice((1, 2, 3, 4)), n.choice((1, 3)))}, fails=True),
    Row("Flatten", "g (float[N,M,2] x) => (float[] y) { y = Flatten<axis=2>(x) }",
        lambda n: {"x": floats(2, size(n), 2)}),
    Row("old Slice", "g (float[N,M] x) => (float[] y) { y = Slice<axes=[1], starts=[-2], ends=[5]>(x) }", matrix,
        opset=9),
]  # fmt: skip


def ran(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> np.ndarray | None:
    """What onnxruntime gives, None where it fails."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = {one.name for one in session.get_inputs()}
    try:
        return session.run(None, {name: array for name, array in feeds.items() if name in wanted})[0]
    except Exception:
        return None


def plain(array: np.ndarray) -> np.ndarray:
    """Elements as ``computed`` gives them: integers and bools, and floats as their bytes."""
    found = np.empty(array.size, object)
    for place, element in enumerate(array.reshape(-1)):
        found[place] = element.tobytes() if array.dtype.kind == "f" else element.item()
    return found.reshape(array.shape)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_an_operator_is_what_onnxruntime_makes_of_it(row: Row) -> None:
    model, numbers, failed = model_of(row.graph, row.opset), random.Random(row.name), 0
    for _ in range(DRAWS):
        feeds = row.draw(numbers)
        expected, found = ran(model, feeds), computed(model, feeds)
        assert found.runs == (expected is not None), (feeds, expected)
        if expected is None:
            failed += 1
            continue
        assert found.array is not None and found.array.shape == expected.shape, (feeds, expected)
        assert found.array.tolist() == plain(expected).tolist(), (feeds, expected)
    assert (failed > 0) == row.fails and failed < DRAWS
