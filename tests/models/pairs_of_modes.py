"""Pairs that differ in the mode of a Pad, in its axes, in a fill that no mode uses, and in what comes first of two."""

from __future__ import annotations

import numpy as np
from crafted_pair import ONE, Pair, pair

FLOATS, MATRIX = "float[N] x => float[M] y", "float[N,K] x => float[A,B] y"
X, LONG = np.arange(1, 4, dtype=np.float32), np.arange(1, 12, dtype=np.float32)
TABLE = np.arange(6, dtype=np.float32).reshape(2, 3)


def modes() -> list[Pair]:
    def by(mode: str, pads: str = "[2, 2]", op: str = "Pad") -> str:
        return f'p = Constant <value_ints = {pads}> ()\ny = {op} <mode = "{mode}"> (x, p)'

    once = "i = Constant <value_ints = {}> ()\ny = Gather (x, i)"
    three = "float[3] x => float[M] y"
    openvino = "b = Constant <value_ints = [{}]> ()\ne = Constant <value_ints = [{}]> ()\n"
    openvino += 'y = padops.OpenVINOPad_12 <pad_mode = "{}"> (x, b, e)'
    six = "float[6] x => float[M] y"
    return [
        pair("reflect became edge", FLOATS, by("reflect"), by("edge"), x=X),
        pair("edge became constant", FLOATS, by("edge"), by("constant"), x=X),
        pair("wrap became reflect", FLOATS, by("wrap"), by("reflect"), x=X, opset=19),
        pair("begin and end", FLOATS, by("reflect", "[2, 1]"), by("reflect", "[1, 2]"), x=X),
        pair("one amount more", three, by("edge", "[1, 1]"), by("edge", "[1, 2]"), x=X),
        pair("symmetric, not reflect", three, by("reflect"), once.format("[1, 0, 0, 1, 2, 2, 1]"), x=X),
        pair(
            "wrap beyond n, with one period",
            FLOATS,
            by("wrap", "[0, 5]"),
            "z = Constant <value_ints = [0]> ()\ne = Constant <value_ints = [5]> ()\na = Slice (x, z, e)\n"
            "y = Concat <axis = 0> (x, a)",
            x=X,
            opset=19,
        ),
        pair(
            "reflect of a single element",
            FLOATS,
            by("reflect", "[1, 0]", "padops.Pad_18"),
            "b = Constant <value_ints = [1]> ()\ne = Constant <value_ints = [2]> ()\na = Slice (x, b, e)\n"
            "y = Concat <axis = 0> (a, x)",
            x=X[:1],
        ),
        pair(
            "wrap by one index too far",
            three,
            by("wrap", "[0, 2]", "padops.Pad_19"),
            once.format("[0, 1, 2, 0, 2]"),
            x=X,
        ),
        pair(
            "extend first, or crop first",
            six,
            openvino.format(-7, 3, "edge"),
            by("edge", "[-7, 3]", "padops.Pad_18"),
            x=LONG[:6],
        ),
        pair(
            "mixed signs: FULL, not CROP",
            six,
            by("reflect", "[-2, 3]", "padops.Pad_18"),
            openvino.format(-2, 3, "symmetric"),
            x=LONG[:6],
        ),
        pair(
            "two fills, one around the other",
            FLOATS,
            ONE + "f = Constant <value_float = 1.0> ()\na = Pad (x, p)\ny = Pad (a, p, f)",
            "q = Constant <value_ints = [2, 2]> ()\ny = Pad (x, q)",
            x=X,
        ),
        pair(
            "edge of an edge, and reflect of an edge",
            FLOATS,
            ONE + 'a = Pad <mode = "edge"> (x, p)\ny = Pad <mode = "reflect"> (a, p)',
            ONE + 'a = Pad <mode = "reflect"> (x, p)\ny = Pad <mode = "edge"> (a, p)',
            x=X,
        ),
        pair(
            "a crop of what is padded, and a Pad of what is cropped",
            three,
            "p = Constant <value_ints = [2, 0]> ()\nq = Constant <value_ints = [-1, -1]> ()\n"
            'a = Pad <mode = "edge"> (x, p)\ny = Pad (a, q)',
            "p = Constant <value_ints = [1, 0]> ()\nq = Constant <value_ints = [0, -1]> ()\n"
            'a = Pad (x, q)\ny = Pad <mode = "reflect"> (a, p)',
            x=X,
        ),
    ]


def unused_fills() -> list[Pair]:
    """Fills that a mode does not use, and that fail: the runtime computes them before it runs the Pad."""
    right = ONE + 'y = Pad <mode = "edge"> (x, p)'
    beyond = "i = Constant <value_int = 9> ()\nf = Gather (x, i)\n"
    openvino = 'b = Constant <value_ints = [1]> ()\ny = padops.OpenVINOPad_12 <pad_mode = "edge"> (x, b, b{})'
    ngraph = "y = padops.NGraphPad_0 <padding_below = [1], padding_above = [1], "
    ngraph += 'padding_interior = [0], pad_mode = "EDGE"> (x, {})'
    same = 'y = padops.SamePad_1 <kernel_shape = [3], mode = "edge"> (x{})'
    image, one = "float[1,1,N] x => float[A,B,C] y", "i = Constant <value_int = 9> ()\n"
    one += "e = Constant <value_ints = [-1]> ()\nv = Reshape (x, e)\nf = Gather (v, i)\n"
    zero = "f = Constant <value_float = 0.0> ()\n"
    return [
        pair("the fill of an edge", FLOATS, right, ONE + beyond + 'y = Pad <mode = "edge"> (x, p, f)', x=X),
        pair(
            "the fill of an edge, of known dims",
            "float[2] x => float[M] y",
            right,
            ONE + beyond + 'y = Pad <mode = "edge"> (x, p, f)',
            x=X[:2],
        ),
        pair(
            "the fill of OpenVINO's edge",
            FLOATS,
            openvino.format(""),
            beyond + openvino.format(", f"),
            x=X,
        ),
        pair("the fill of nGraph's edge", FLOATS, zero + ngraph.format("f"), beyond + ngraph.format("f"), x=X),
        pair("the fill of SAME's edge", image, same.format(""), one + same.format(", f"), x=X[None, None]),
    ]


def axes() -> list[Pair]:
    def of(axes: str, op: str = "Pad") -> str:
        return ONE + f"a = Constant <value_ints = {axes}> ()\ny = {op} (x, p, , a)"

    swapped = "a = Constant <value_ints = {}> ()\np = Constant <value_ints = [1, 2, 0, 0]> ()\ny = Pad (x, p, , a)"
    return [
        pair("another axis", MATRIX, of("[0]"), of("[1]"), x=TABLE),
        pair("axes in another order", MATRIX, swapped.format("[0, 1]"), swapped.format("[1, 0]"), x=TABLE),
        pair(
            "axis 1 for axis -1, of three axes",
            "float[A,B,C] x => float[D,E,F] y",
            of("[-1]"),
            of("[1]"),
            x=TABLE[None],
        ),
        pair(
            "axis -2 for axis 0, of three axes",
            "float[A,B,C] x => float[D,E,F] y",
            of("[0]"),
            of("[-2]", "padops.Pad_18"),
            x=TABLE[None],
        ),
        pair(
            "axes of the run",
            "float[A,B] x, int64[1] a => float[D,E] y",
            ONE + "y = Pad (x, p, , a)",
            of("[1]").replace("a =", "b =").replace(", , a)", ", , b)"),
            x=TABLE,
            a=[0],
        ),
        pair(
            "axis -2 for axis 0, of a rank that is not declared",
            "float[] x => float[] y",
            of("[0]"),
            of("[-2]"),
            x=TABLE[None],
        ),
        pair(
            "begins and ends by axes",
            MATRIX,
            "p = Constant <value_ints = [1, 2, 0, 0]> ()\ny = Pad (x, p)",
            "p = Constant <value_ints = [1, 0, 2, 0]> ()\ny = Pad (x, p)",
            x=TABLE,
        ),
    ]


def mode_pairs() -> list[Pair]:
    return [*modes(), *unused_fills(), *axes()]
