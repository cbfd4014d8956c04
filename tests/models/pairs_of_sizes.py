"""Pairs that differ for some sizes only: batch above 2, few or many elements, axes of 1 or 0, a declared shape."""

from __future__ import annotations

import re

import numpy as np
from crafted_pair import FLOATS, Pair, pair, pairs

MATRIX = "float[N,K] x => float[A,B] y"

SIZES = """
n > 20,000 | x = ramp 20001
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] s = Size (x) m = 20000 c = Greater (s, m) y = If (c) <then_branch = t () => (float[M] a) { a = Identity (x)
    }, else_branch = e () => (float[M] b) { b = Pad (x, p) }>
n = 0 | x = ramp 0
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] a = Pad <mode = "edge"> (x, p) z = 0.0 s = Shape (a) b = Expand (z, s) c = [1] n = [-1] d = Slice (a, c, n)
    y = Pad (d, p)
odd n | x = ramp 3
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] s = Size (x) m = 2 r = Mod (s, m) c = Cast <to = 9> (r) y = If (c) <then_branch = t () => (float[M] a) { a
    = Neg (x) }, else_branch = e () => (float[M] b) { b = Pad (x, p) }>
a batch above 2 | float[N,K] x => float[A,B] y | x = all 1.0 3 2
  p = [0, 1, 0, 1] y = Pad (x, p)
  b = Shape <start = 0, end = 1> (x) m = [2] p = [0, 1, 0, 1] o = [0] z = Max (o, o) d = Sub (b, m) e = Max (d, o) w =
    [0] f = Cast <to = 1> (e) i = 0 g = Gather (f, i) y = Pad (x, p, g)
a reflection of 2 by indices of 3 elements | x = ramp 4
  p = [2, 0] y = Pad <mode = "reflect"> (x, p)
  i = [2, 1] a = Gather (x, i) b = Identity (x) n = [-1] z = [0] f = [3] d = Slice (x, z, f) y = Concat <axis = 0> (a,
    d)
a Pad and a crop where nothing is left | x = ramp 10001
  p = [-1, 0] y = Pad (x, p)
  p = [1] n = [-9999] e = [9999] y = Slice (x, p, e)
a Slice of the end by a number | x = ramp 1001
  y = Identity (x)
  b = [0] e = [1000] y = Slice (x, b, e)
a Slice backwards from a number | x = ramp 1001
  b = [-1] e = [-9223372036854775808] i = [0] y = Slice (x, b, e, i, b)
  b = [999] e = [-9223372036854775808] i = [0] n = [-1] y = Slice (x, b, e, i, n)
ConstantOfShape of two elements | int64[1] s => float[M] y | s = [2]
  y = ConstantOfShape <value = float[1] {1.0}> (s)
  y = ConstantOfShape <value = float[2] {1.0, 2.0}> (s)
Flatten of no axis at axis 1 | float x => float[A,B] y | x = 1
  y = Flatten <axis = 0> (x)
  y = Flatten <axis = 1> (x)
a Reshape to the batch of the example | float[N,K] x => float[A,B] y | x = all 1.0 4 3
  y = Neg (x)
  s = [2, -1] a = Neg (x) y = Reshape (a, s)
a Reshape that keeps the elements and no order | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  y = Transpose (x)
  a = Shape <start = 0, end = 1> (x) b = Shape <start = 1> (x) s = Concat <axis = 0> (b, a) y = Reshape (x, s)
a Reshape by -1 of no elements | float[N,K] x => float[A,B] y | x = ramp 0 3
  s = Shape (x) y = Reshape <allowzero = 1> (x, s)
  a = Shape <start = 0, end = 1> (x) m = [-1] s = Concat <axis = 0> (a, m) y = Reshape (x, s)
Expand, and Tile | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  e = [1, 3] y = Expand (x, e)
  e = [1, 3] y = Tile (x, e)
a broadcast where an axis is 1 | float[N,K] x, float[M,K] z => float[A,B] y | x = [[0, 1, 2]]; z = [[0, 1, 2], [3, 4,
    5]]
  y = Add (x, z)
  s = Shape (z) a = Reshape (x, s) y = Add (a, z)
a shape that one input lends to the other | float[N] x, float[M] z => float[K] y | x = [1, 2]; z = ramp 3
  s = Shape (x) p = Concat <axis = 0> (s, s) y = Pad (x, p)
  s = Shape (z) p = Concat <axis = 0> (s, s) y = Pad (x, p)
the amounts of the declared size | x = ramp 4
  s = Shape (x) p = Concat <axis = 0> (s, s) y = Pad (x, p)
  p = [5, 5] y = Pad (x, p)
a declared result that is believed | x = ramp 7
  @other float[N] x => float[6] y
  p = [1, 1] y = Pad (x, p)
  s = [6] p = [1, 1] a = Pad (x, p) y = Reshape (a, s)
an empty Slice | float[N,K] x => float[A,B] y | x = all 1.0 100 1
  y = Identity (x)
  o = [1, 1] z = [0, 0] e = [99, 9223372036854775807] y = Slice (x, z, e)
a Split in the middle | float[N] x => float[K] y | x = ramp 5
  y, z = Split <axis = 0, num_outputs = 2> (x)
  s = Size (x) t = 2 h = Div (s, t) i = [0] e = Unsqueeze (h, i) y = Slice (x, i, e)
"""
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
    "W / 7 / 11 of 13": ("b = Div (w, a7)\ne = Div (b, a11)\nf = Equal (e, a13)\np = Cast <to = 7> (f)", (1, 1001)),
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


def computed_amounts() -> list[Pair]:
    """Amounts that become other ones far from each constant that computes them."""
    number = "{0} = Constant <value_ints = [{1}]> ()\n"
    size = "s = Shape (x)\n" + number.format("zero", 0) + number.format("one", 1)
    amounts = "p = Concat <axis = 0> (zero, r)\ny = Pad (x, p)"

    def below(most: int, step: int) -> Pair:
        left = size + number.format("k", most) + number.format("d", step) + "q = Div (s, d)\nl = Sub (k, q)\n"
        clamped, plain = left + "r = Max (l, zero)\n" + amounts, left + "r = Identity (l)\n" + amounts
        return pair(
            f"{most} less n / {step}, clamped", FLOATS, clamped, plain, x=np.ones(most * step + 2 * step, np.float32)
        )

    period = size + number.format("k", 101) + number.format("t", 3) + number.format("a", 7)
    period += "f = Mul (s, t)\ng = Add (f, a)\nh = Mod (g, k)\ni = Sub (one, h)\nr = Max (i, zero)\n" + amounts
    both = "n = Shape <start = 0, end = 1> (x)\nm = Shape <start = 1, end = 2> (x)\n"
    both += "".join(number.format(*row) for row in (("h", 30), ("w", 40), ("one", 1), ("zero", 0), ("none", "0, 0, 0")))
    both += "a = Sub (n, h)\nb = Abs (a)\nc = Sub (m, w)\nd = Abs (c)\nt = Add (b, d)\nu = Sub (one, t)\n"
    both += "r = Max (u, zero)\np = Concat <axis = 0> (none, r)\ny = Pad (x, p)"
    return [
        *(below(most, step) for most, step in ((30, 16), (512, 512))),
        pair("a period of 101", FLOATS, period, "y = Identity (x)", x=np.ones(65, np.float32)),
        pair("30 and 40", MATRIX, both, "y = Identity (x)", x=np.ones((30, 40), np.float32)),
    ]


def size_pairs() -> list[Pair]:
    return [*pairs(SIZES), *far(), *computed_amounts()]
