"""Pairs that differ for some sizes only: batch above 2, few or many elements, axes of 1 or 0, a declared shape."""

from __future__ import annotations

import re

from crafted_pair import Pair, pairs

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
# Amounts of the last axis, p, that are not 0 at sizes that no constant has
FAR = """
both axes above 300 | x = all 1.0 301 301
  DIMS a = [300] b = Less (a, h) e = Less (a, w) f = And (b, e) p = Cast <to = 7> (f) PADDED
  DIMS p = [0] PADDED
H above 256, and W above H | x = all 1.0 257 300
  DIMS a = [256] b = Less (a, h) e = Less (h, w) f = And (b, e) p = Cast <to = 7> (f) PADDED
  DIMS p = [0] PADDED
H and W of 500 together | x = all 1.0 250 250
  DIMS a = [500] b = Add (h, w) f = Equal (b, a) p = Cast <to = 7> (f) PADDED
  DIMS p = [0] PADDED
W / 2 / 2 above 100 | x = all 1.0 1 404
  DIMS a = [100] c = [2] b = Div (w, c) e = Div (b, c) f = Sub (e, a) p = Max (f, z) PADDED
  DIMS p = [0] PADDED
W / 7 / 11 of 13 | x = all 1.0 1 1001
  DIMS a = [7] c = [11] d = [13] b = Div (w, a) e = Div (b, c) f = Equal (e, d) p = Cast <to = 7> (f) PADDED
  DIMS p = [0] PADDED
H of 14 by 101, and W of 14 by 97 | x = all 1.0 14 14
  DIMS a = [101] c = [97] d = [14] b = Mod (h, a) e = Mod (w, c) f = Equal (b, d) g = Equal (e, d) i = And (f, g) p =
    Cast <to = 7> (i) PADDED
  DIMS p = [0] PADDED
a Range of more than 4 steps of 300 | x = all 1.0 1 1201
  DIMS a = [300] c = [4] k = Squeeze (w) i = Squeeze (z) j = Squeeze (a) r = Range (i, k, j) s = Shape (r) f = Less (c,
    s) p = Cast <to = 7> (f) PADDED
  DIMS p = [0] PADDED
a table with another number at 777 | x = all 1.0 1 777
  DIMS t = TABLE a = [999] m = Min (w, a) p = Gather (t, m) PADDED
  DIMS p = [0] PADDED
30 and 40 | x = all 1.0 30 40
  DIMS k = [30] l = [40] o = [1] a = Sub (h, k) b = Abs (a) c = Sub (w, l) d = Abs (c) t = Add (b, d) u = Sub (o, t) p =
    Max (u, z) PADDED
  y = Identity (x)
"""
WORDS = {
    "DIMS": "h = Shape <start = 0, end = 1> (x) w = Shape <start = 1> (x) z = [0] q = [0, 0, 0]",
    "PADDED": "n = Concat <axis = 0> (q, p) y = Pad (x, n)",
    "TABLE": f"[{', '.join('01'[at == 777] for at in range(1000))}]",
}
# Amounts that become other ones far from each constant that computes them
COMPUTED = """
30 less n / 16, clamped | x = all 1.0 512
  s = Shape (x) z = [0] k = [30] d = [16] q = Div (s, d) l = Sub (k, q) r = Max (l, z) p = Concat <axis = 0> (z, r) y =
    Pad (x, p)
  s = Shape (x) z = [0] k = [30] d = [16] q = Div (s, d) l = Sub (k, q) p = Concat <axis = 0> (z, l) y = Pad (x, p)
512 less n / 512, clamped | x = all 1.0 263168
  s = Shape (x) z = [0] k = [512] q = Div (s, k) l = Sub (k, q) r = Max (l, z) p = Concat <axis = 0> (z, r) y = Pad (x,
    p)
  s = Shape (x) z = [0] k = [512] q = Div (s, k) l = Sub (k, q) p = Concat <axis = 0> (z, l) y = Pad (x, p)
a period of 101 | x = all 1.0 65
  s = Shape (x) z = [0] o = [1] k = [101] t = [3] a = [7] f = Mul (s, t) g = Add (f, a) h = Mod (g, k) i = Sub (o, h) r
    = Max (i, z) p = Concat <axis = 0> (z, r) y = Pad (x, p)
  y = Identity (x)
"""


def size_pairs() -> list[Pair]:
    far = re.sub("|".join(WORDS), lambda found: WORDS[found[0]], FAR)
    return [*pairs(SIZES), *pairs(far, "float[N,K] x => float[A,B] y"), *pairs(COMPUTED)]
