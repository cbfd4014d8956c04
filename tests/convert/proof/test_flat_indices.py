"""Indices into data as one long axis: which are rewritten, which are left, and that both give the same."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from crafted_pair import answers, parsed

from padops.convert.proof.flat_indices import by_axis

SIGNATURE = "float[N,K] x, int64[A] p, int64[B] q => float[C,D] y"
LONG = "m = Constant <value_ints = [-1]> ()\nflat = Reshape (x, m)\n"
DIM = "s = Shape (x)\ni = Constant <value = int64 {1}> ()\nn = Gather (s, i)\n"
START = "z = Constant <value = int64 {0}> ()\n"
SO_FAR = (
    "a = Unsqueeze (z, m)\nj = Constant <value = int64 {0}> ()\nr = Gather (s, j)\nb = Mul (a, r)\nc = Add (b, p)\n"
)
REST = "d = Unsqueeze (c, m)\ne = Mul (d, n)\nf = Add (e, q)\n"
GATHER = "y = Gather (flat, f)"
WHOLE = LONG + DIM + START + SO_FAR + REST + GATHER
MOVED = (
    LONG + "s = Shape (x)\nz = Constant <value = int64 {0}> ()\no = Constant <value = int64 {1}> ()\n"
    "t = ReduceProd <keepdims = 0> (s)\n"
    "a = Range (z, t, o)\nb = Reshape <allowzero = 1> (a, s)\nw = Constant <value_ints = [0, 1, 0, 2]> ()\n"
    "l = Constant <value = int64 {-1}> ()\nv = Constant <value_floats = [7.0]> ()\nk = Concat <axis = 0> (flat, v)\n"
    "c = Pad (b, w, l)\ny = Gather (k, c)"
)


def rewritten(nodes: str, has_elements: bool = True) -> tuple[onnx.ModelProto, onnx.ModelProto, bool]:
    model = parsed(SIGNATURE, nodes)
    made = onnx.ModelProto.FromString(model.SerializeToString())
    return model, made, by_axis(made, "x", has_elements)


def operators(model: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in model.graph.node}


def feeds(p: list[int], q: list[int], shape: tuple[int, int] = (3, 4)) -> dict[str, np.ndarray]:
    return {"x": np.arange(12, dtype=np.float32).reshape(shape), "p": np.array(p, np.int64), "q": np.array(q, np.int64)}


def test_positions_along_each_axis() -> None:
    model, made, is_split = rewritten(WHOLE)
    assert is_split and "Reshape" not in operators(made) and "Mul" not in operators(made)
    for p, q in (([0, 2, 1], [3, 0]), ([], [1]), ([1], [])):
        assert answers(made, feeds(p, q)) == answers(model, feeds(p, q))
    empty = rewritten(WHOLE, has_elements=False)[1]
    assert answers(empty, feeds([], [1])) == answers(model, feeds([], [1]))


def test_positions_that_are_known_so_far() -> None:
    """What is computed from constants has been: the first 0 with its new axis, or all of the first positions."""
    first = WHOLE.replace("a = Unsqueeze (z, m)", "a = Constant <value_ints = [0]> ()")
    rows = WHOLE.replace(START + SO_FAR, "").replace(
        "d = Unsqueeze (c, m)", "d = Constant <value = int64[2,1] {2, 1}> ()"
    )
    for nodes, signature in ((first, SIGNATURE), (rows, SIGNATURE.replace("float[N,K]", "float[3,4]"))):
        model = parsed(signature, nodes)
        made = onnx.ModelProto.FromString(model.SerializeToString())
        assert by_axis(made, "x")
        assert answers(made, feeds([2, 0], [3, 1])) == answers(model, feeds([2, 0], [3, 1]))
        assert "Mul" not in operators(made)
    unknown = parsed(SIGNATURE, rows)  # nobody can tell that 2 and 1 are positions of an axis of any length
    assert not by_axis(unknown, "x")


def test_a_position_below_0_fails() -> None:
    """As the whole index it means another element, or one from the end."""
    model, made, _ = rewritten(WHOLE)
    for p, q in (([1], [-1]), ([-1], [2]), ([3], [0]), ([0], [4])):
        assert isinstance(answers(made, feeds(p, q)), str)
    assert not isinstance(answers(model, feeds([1], [-1])), str)


def test_positions_of_every_element_that_are_moved() -> None:
    model, made, is_split = rewritten(MOVED)
    assert not is_split and operators(made) & {"Range", "ReduceProd", "Concat", "Gather"} == set()
    assert answers(made, feeds([0], [0])) == answers(model, feeds([0], [0]))


LEFT = {
    "the dim of the other axis": WHOLE.replace("i = Constant <value = int64 {1}>", "i = Constant <value = int64 {0}>"),
    "a start that is not 0": WHOLE.replace("z = Constant <value = int64 {0}>", "z = Constant <value = int64 {1}>"),
    "added at another axis": WHOLE.replace("d = Unsqueeze (c, m)", "d = Unsqueeze (c, j1)").replace(
        START, START + "j1 = Constant <value_ints = [0]> ()\n"
    ),
    "a difference": WHOLE.replace("f = Add (e, q)", "f = Sub (e, q)"),
    "another axis of Gather": WHOLE.replace(
        "y = Gather (flat, f)", "u = Unsqueeze (flat, m)\ny = Gather <axis = 1> (u, f)"
    ),
    "not of the data": WHOLE.replace("flat = Reshape (x, m)", "h = Neg (x)\nflat = Reshape (h, m)"),
    "the shape of something else": WHOLE.replace("s = Shape (x)", "h = Transpose (x)\ns = Shape (h)"),
    "a fill that is not the last": MOVED.replace(
        "l = Constant <value = int64 {-1}>", "l = Constant <value = int64 {-2}>"
    ),
    "no fill": MOVED.replace("Gather (k, c)", "Gather (flat, c)"),
    "every other position": MOVED.replace("o = Constant <value = int64 {1}>", "o = Constant <value = int64 {2}>"),
    "positions from 1 on": MOVED.replace("z = Constant <value = int64 {0}>", "z = Constant <value = int64 {1}>"),
    "zeros that stand for another dim": MOVED.replace("<allowzero = 1>", "<allowzero = 0>"),
}


@pytest.mark.parametrize("what", LEFT)
def test_what_is_left(what: str) -> None:
    model, made, is_split = rewritten(LEFT[what])
    assert not is_split and made == model
