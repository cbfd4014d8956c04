"""Pairs that differ for some sizes only: batch above 2, few or many elements, axes of 1 or 0, a declared shape."""

from __future__ import annotations

import re

import numpy as np
from crafted_pair import ONE, Pair, pair

FLOATS, MATRIX = "float[N] x => float[M] y", "float[N,K] x => float[A,B] y"
TABLE = np.arange(6, dtype=np.float32).reshape(2, 3)


def ramp(count: int) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.float32)


def branch(condition: str, then: str, orelse: str, signature: str = "float[N] x => float[M] y") -> str:
    """An If over a condition ``c``, whose branches give ``y``."""
    kind = signature.split("=>")[1].split()[0]
    return (
        f"{condition}\ny = If (c) <then_branch = t () => ({kind} a) {{ {then} }}, "
        f"else_branch = e () => ({kind} b) {{ {orelse} }}>"
    )


def sizes() -> list[Pair]:
    size = "s = Size (x)\nm = Constant <value_int = {}> ()\n"
    reflect = 'p = Constant <value_ints = [2, 0]> ()\ny = Pad <mode = "reflect"> (x, p)'
    picture = "p = Constant <value_ints = [0, 1, 0, 1]> ()\n"
    first = "b = Shape <start = 0, end = 1> (x)\nm = Constant <value_ints = [{}]> ()\n"
    return [
        pair(
            "n > 20,000",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + branch(size.format(20000) + "c = Greater (s, m)", "a = Identity (x)", "b = Pad (x, p)"),
            x=ramp(20001),
        ),
        pair(
            "n < 3",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + branch(size.format(3) + "c = Less (s, m)", 'a = Pad <mode = "edge"> (x, p)', "b = Pad (x, p)"),
            x=ramp(2),
        ),
        pair(
            "n = 0",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + 'a = Pad <mode = "edge"> (x, p)\nz = Constant <value_float = 0.0> ()\n'
            "s = Shape (a)\nb = Expand (z, s)\nc = Constant <value_ints = [1]> ()\n"
            "n = Constant <value_ints = [-1]> ()\n"
            "d = Slice (a, c, n)\ny = Pad (d, p)",
            x=ramp(0),
        ),
        pair(
            "n = 1031",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + branch(size.format(1031) + "c = Equal (s, m)", "a = Identity (x)", "b = Pad (x, p)"),
            x=ramp(1031),
        ),
        pair(
            "odd n",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + branch(size.format(2) + "r = Mod (s, m)\nc = Cast <to = 9> (r)", "a = Neg (x)", "b = Pad (x, p)"),
            x=ramp(3),
        ),
        pair(
            "n with a fill that grows at 4096",
            FLOATS,
            ONE + "y = Pad (x, p)",
            size.format(4096) + ONE + "q = Div (s, m)\nf = Cast <to = 1> (q)\ny = Pad (x, p, f)",
            x=ramp(4096),
        ),
        pair(
            "a batch above 2",
            MATRIX,
            picture + "y = Pad (x, p)",
            first.format(2)
            + picture
            + "o = Constant <value_ints = [0]> ()\nz = Max (o, o)\nd = Sub (b, m)\ne = Max (d, o)\n"
            "w = Constant <value_ints = [0]> ()\nf = Cast <to = 1> (e)\ni = Constant <value_int = 0> ()\n"
            "g = Gather (f, i)\ny = Pad (x, p, g)",
            x=np.ones((3, 2), np.float32),
        ),
        pair(
            "the first two rows of the batch",
            MATRIX,
            "y = Neg (x)",
            "b = Constant <value_ints = [0]> ()\ne = Constant <value_ints = [2]> ()\n"
            "m = Constant <value_ints = [9999]> ()\n"
            "u = Slice (x, b, e, b)\nv = Slice (x, e, m, b)\nw = Neg (u)\ny = Concat <axis = 0> (w, v)",
            x=np.ones((3, 2), np.float32),
        ),
        pair(
            "a reflection of 2 by indices of 3 elements",
            FLOATS,
            reflect,
            "i = Constant <value_ints = [2, 1]> ()\na = Gather (x, i)\nb = Identity (x)\n"
            "n = Constant <value_ints = [-1]> ()\nz = Constant <value_ints = [0]> ()\n"
            "f = Constant <value_ints = [3]> ()\n"
            "d = Slice (x, z, f)\ny = Concat <axis = 0> (a, d)",
            x=ramp(4),
        ),
        pair(
            "a Pad and a crop where nothing is left",
            FLOATS,
            "p = Constant <value_ints = [-1, 0]> ()\ny = Pad (x, p)",
            "p = Constant <value_ints = [1]> ()\nn = Constant <value_ints = [-9999]> ()\n"
            "e = Constant <value_ints = [9999]> ()\ny = Slice (x, p, e)",
            x=ramp(10001),
        ),
    ] + [
        pair(
            "a Slice of the end by a number",
            FLOATS,
            "y = Identity (x)",
            "b = Constant <value_ints = [0]> ()\ne = Constant <value_ints = [1000]> ()\ny = Slice (x, b, e)",
            x=ramp(1001),
        ),
        pair(
            "a Slice backwards from a number",
            FLOATS,
            "b = Constant <value_ints = [-1]> ()\ne = Constant <value_ints = [-9223372036854775808]> ()\n"
            "i = Constant <value_ints = [0]> ()\ny = Slice (x, b, e, i, b)",
            "b = Constant <value_ints = [999]> ()\ne = Constant <value_ints = [-9223372036854775808]> ()\n"
            "i = Constant <value_ints = [0]> ()\nn = Constant <value_ints = [-1]> ()\ny = Slice (x, b, e, i, n)",
            x=ramp(1001),
        ),
        pair(
            "a branch on the dims, never taken for small ones",
            MATRIX,
            picture + "y = Pad (x, p)",
            picture
            + branch(
                "s = Shape <start = 1> (x)\nm = Constant <value_ints = [640]> ()\nd = Greater (s, m)\n"
                "i = Constant <value_int = 0> ()\nk = Cast <to = 7> (d)\nj = Gather (k, i)\nc = Cast <to = 9> (j)",
                "a = Neg (x)",
                "b = Pad (x, p)",
                MATRIX,
            ),
            x=np.ones((1, 641), np.float32),
        ),
        pair(
            "ConstantOfShape of two elements",
            "int64[1] s => float[M] y",
            "y = ConstantOfShape <value = float[1] {1.0}> (s)",
            "y = ConstantOfShape <value = float[2] {1.0, 2.0}> (s)",
            s=[2],
        ),
        pair(
            "Flatten of no axis at axis 1",
            "float x => float[A,B] y",
            "y = Flatten <axis = 0> (x)",
            "y = Flatten <axis = 1> (x)",
            x=np.float32(1),
        ),
    ]


# Amounts of the last axis that are not 0 at sizes that no constant has: a name, nodes that compute p, and the dims.
FAR = {
    "both axes above 300": (
        "b = Less (a300, h)\ne = Less (a300, w)\nf = And (b, e)\np = Cast <to = 7> (f)",
        (301, 301),
    ),
    "H above 256, and W above H": (
        "b = Less (a256, h)\ne = Less (h, w)\nf = And (b, e)\np = Cast <to = 7> (f)",
        (257, 300),
    ),
    "H and W of 500 together": ("b = Add (h, w)\nf = Equal (b, a500)\np = Cast <to = 7> (f)", (250, 250)),
    "W / 2 / 2 above 100": ("b = Div (w, a2)\ne = Div (b, a2)\nf = Sub (e, a100)\np = Max (f, z)", (1, 404)),
    "W / 2 / 2 / 2 above 50": (
        "b = Div (w, a2)\nc = Div (b, a2)\ne = Div (c, a2)\nf = Sub (e, a50)\np = Max (f, z)",
        (1, 408),
    ),
    "W / 7 / 11 of 13": ("b = Div (w, a7)\ne = Div (b, a11)\nf = Equal (e, a13)\np = Cast <to = 7> (f)", (1, 1001)),
    "W of 77 by 101 and of 5 by 97": (
        "b = Mod (w, a97)\nc = Mod (w, a101)\ne = Equal (b, a5)\nf = Equal (c, a77)\n"
        "i = And (e, f)\np = Cast <to = 7> (i)",
        (1, 8056),
    ),
    "H of 14 by 101, and W of 14 by 97": (
        "b = Mod (h, a101)\nc = Mod (w, a97)\ne = Equal (b, a14)\nf = Equal (c, a14)\n"
        "i = And (e, f)\np = Cast <to = 7> (i)",
        (14, 14),
    ),
    "a Range of more than 4 steps of 300": (
        "k = Squeeze (w)\ni = Squeeze (z)\nj = Squeeze (a300)\nr = Range (i, k, j)\ns = Shape (r)\n"
        "f = Less (a4, s)\np = Cast <to = 7> (f)",
        (1, 1201),
    ),
    "a table with another number at 777": (
        f"t = Constant <value_ints = [{', '.join('01'[at == 777] for at in range(1000))}]> ()\n"
        "m = Min (w, a999)\np = Gather (t, m)",
        (1, 777),
    ),
}


def far() -> list[Pair]:
    found = []
    for name, (nodes, dims) in FAR.items():
        numbers = sorted(set(re.findall(r"\ba(\d+)\b", nodes)))
        given = "".join(f"a{number} = Constant <value_ints = [{number}]> ()\n" for number in numbers)
        given += "z = Constant <value_ints = [0]> ()\nq = Constant <value_ints = [0, 0, 0]> ()\n"
        given += "h = Shape <start = 0, end = 1> (x)\nw = Shape <start = 1> (x)\n"
        pads = "n = Concat <axis = 0> (q, {})\ny = Pad (x, n)"
        first, second = given + nodes + "\n" + pads.format("p"), given + pads.format("z")
        found.append(pair(name, MATRIX, first, second, x=np.ones(dims, np.float32)))
    return found


def shapes() -> list[Pair]:
    ones = "o = Constant <value_ints = [1, 1]> ()\n"
    return [
        pair(
            "an axis of 1 that is squeezed",
            "float[N,K] x => float[] y",
            "y = Identity (x)",
            branch(
                "s = Shape <start = 0, end = 1> (x)\ni = Constant <value_int = 0> ()\nn = Gather (s, i)\n"
                "m = Constant <value_int = 7> ()\nc = Equal (n, m)",
                "a = Flatten <axis = 0> (x)",
                "b = Identity (x)",
                "float[N,K] x => float[] y",
            ),
            x=np.ones((7, 2), np.float32),
        ),
        pair(
            "a Reshape to the batch of the example",
            MATRIX,
            "y = Neg (x)",
            "s = Constant <value_ints = [2, -1]> ()\na = Neg (x)\ny = Reshape (a, s)",
            x=np.ones((4, 3), np.float32),
        ),
        pair(
            "a Reshape that keeps the elements and no order",
            MATRIX,
            "y = Transpose (x)",
            "a = Shape <start = 0, end = 1> (x)\nb = Shape <start = 1> (x)\n"
            "s = Concat <axis = 0> (b, a)\ny = Reshape (x, s)",
            x=TABLE,
        ),
        pair(
            "a Reshape by -1 of no elements",
            MATRIX,
            "s = Shape (x)\ny = Reshape <allowzero = 1> (x, s)",
            "a = Shape <start = 0, end = 1> (x)\nm = Constant <value_ints = [-1]> ()\ns = Concat <axis = 0> (a, m)\n"
            "y = Reshape (x, s)",
            x=np.ones((0, 3), np.float32),
        ),
        pair(
            "Expand, and Tile",
            MATRIX,
            "e = Constant <value_ints = [1, 3]> ()\ny = Expand (x, e)",
            "e = Constant <value_ints = [1, 3]> ()\ny = Tile (x, e)",
            x=TABLE,
        ),
        pair(
            "a broadcast where an axis is 1",
            "float[N,K] x, float[M,K] z => float[A,B] y",
            "y = Add (x, z)",
            "s = Shape (z)\na = Reshape (x, s)\ny = Add (a, z)",
            x=TABLE[:1],
            z=TABLE,
        ),
        pair(
            "a shape that one input lends to the other",
            "float[N] x, float[M] z => float[K] y",
            "s = Shape (x)\np = Concat <axis = 0> (s, s)\ny = Pad (x, p)",
            "s = Shape (z)\np = Concat <axis = 0> (s, s)\ny = Pad (x, p)",
            x=ramp(2),
            z=ramp(3),
        ),
        pair(
            "the amounts of the declared size",
            "float[N] x => float[M] y",
            "s = Shape (x)\np = Concat <axis = 0> (s, s)\ny = Pad (x, p)",
            "p = Constant <value_ints = [5, 5]> ()\ny = Pad (x, p)",
            x=ramp(4),
        ),
        pair(
            "a declared result that is believed",
            "float[N] x => float[M] y",
            ONE + "y = Pad (x, p)",
            "s = Constant <value_ints = [6]> ()\n" + ONE + "a = Pad (x, p)\ny = Reshape (a, s)",
            other="float[N] x => float[6] y",
            x=ramp(7),
        ),
        pair(
            "an input of another rank",
            "float[] x => float[] y",
            "y = Transpose (x)",
            "y = Transpose <perm = [1, 0]> (x)",
            x=np.ones((1, 2, 3), np.float32),
        ),
        pair(
            "Flatten, and Reshape",
            "float[A,B,C] x => float[] y",
            "y = Flatten <axis = 1> (x)",
            "s = Constant <value_ints = [-1, 6]> ()\ny = Reshape (x, s)",
            x=np.ones((2, 3, 4), np.float32),
        ),
        pair(
            "an empty Slice",
            MATRIX,
            "y = Identity (x)",
            ones + "z = Constant <value_ints = [0, 0]> ()\n"
            "e = Constant <value_ints = [99, 9223372036854775807]> ()\ny = Slice (x, z, e)",
            x=np.ones((100, 1), np.float32),
        ),
        pair(
            "a perm of another order",
            "float[A,B,C] x => float[D,E,F] y",
            "y = Transpose <perm = [1, 2, 0]> (x)",
            "y = Transpose <perm = [2, 0, 1]> (x)",
            x=np.arange(8, dtype=np.float32).reshape(2, 2, 2),
        ),
        pair(
            "a Concat in another order",
            "float[N] x, float[M] z => float[K] y",
            "y = Concat <axis = 0> (x, z)",
            "y = Concat <axis = 0> (z, x)",
            x=ramp(1),
            z=ramp(2),
        ),
        pair(
            "a Split in the middle",
            "float[N] x => float[K] y",
            "y, z = Split <axis = 0, num_outputs = 2> (x)",
            "s = Size (x)\nt = Constant <value_int = 2> ()\nh = Div (s, t)\ni = Constant <value_ints = [0]> ()\n"
            "e = Unsqueeze (h, i)\ny = Slice (x, i, e)",
            x=ramp(5),
        ),
        pair(
            "a Gather from the end",
            "float[N] x => float[K] y",
            "i = Constant <value_ints = [-1]> ()\ny = Gather (x, i)",
            "i = Constant <value_ints = [3]> ()\ny = Gather (x, i)",
            x=ramp(5),
        ),
    ]


def computed_amounts() -> list[Pair]:
    """Amounts that become other ones far from each constant that computes them."""
    number = "{0} = Constant <value_ints = [{1}]> ()\n"
    size = "s = Shape (x)\n" + number.format("zero", 0) + number.format("one", 1)
    amounts = "p = Concat <axis = 0> (zero, r)\ny = Pad (x, p)"

    def below(most: int, step: int) -> Pair:
        left = size + number.format("k", most) + number.format("d", step) + "q = Div (s, d)\nl = Sub (k, q)\n"
        clamped, plain = left + "r = Max (l, zero)\n" + amounts, left + "r = Identity (l)\n" + amounts
        return pair(f"{most} less n / {step}, clamped", FLOATS, clamped, plain, x=ramp(most * step + 2 * step))

    period = size + number.format("k", 101) + number.format("t", 3) + number.format("a", 7)
    period += "f = Mul (s, t)\ng = Add (f, a)\nh = Mod (g, k)\ni = Sub (one, h)\nr = Max (i, zero)\n" + amounts
    both = "n = Shape <start = 0, end = 1> (x)\nm = Shape <start = 1, end = 2> (x)\n"
    both += "".join(number.format(*row) for row in (("h", 30), ("w", 40), ("one", 1), ("zero", 0), ("none", "0, 0, 0")))
    both += "a = Sub (n, h)\nb = Abs (a)\nc = Sub (m, w)\nd = Abs (c)\nt = Add (b, d)\nu = Sub (one, t)\n"
    both += "r = Max (u, zero)\np = Concat <axis = 0> (none, r)\ny = Pad (x, p)"
    return [
        *(below(most, step) for most, step in ((30, 16), (100, 64), (300, 160), (512, 512))),
        pair("a period of 101", FLOATS, period, "y = Identity (x)", x=ramp(65)),
        pair("30 and 40", MATRIX, both, "y = Identity (x)", x=np.ones((30, 40), np.float32)),
    ]


def size_pairs() -> list[Pair]:
    return [*sizes(), *far(), *shapes(), *computed_amounts()]
