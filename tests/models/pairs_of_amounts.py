"""Pairs that differ in a Pad: its amounts, mode or axes, a fill that no mode uses, what comes first of two."""

from __future__ import annotations

from crafted_pair import Pair, pairs

AMOUNTS = """
amounts clamped at 9 | float[N] x, int64[2] p => float[M] y | x = ramp 3; p = [10, 0]
  y = Pad (x, p)
  m = 9 q = Min (p, m) y = Pad <mode = "constant"> (x, q)
amounts clamped at 1000 | float[N] x, int64[2] p => float[M] y | x = ramp 3; p = [0, 1001]
  y = Pad (x, p)
  m = 1000 q = Min (p, m) y = Pad <mode = "constant"> (x, q)
amounts through int8 | float[N] x, int64[2] p => float[M] y | x = ramp 3; p = [0, 130]
  y = Pad (x, p)
  a = Cast <to = 3> (p) q = Cast <to = 7> (a) y = Pad <mode = "constant"> (x, q)
amounts through float | float[N] x, int64[2] p => float[M] y | x = ramp 3; p = [0, -2]
  y = Pad (x, p)
  h = 0.5 a = Cast <to = 1> (p) b = Mul (a, h) c = Mul (b, b) d = Sqrt (c) e = Add (d, d) q = Cast <to = 7> (e) y = Pad
    <mode = "constant"> (x, q)
amounts by a table of 8 | float[N] x, int64[2] p => float[M] y | x = ramp 3; p = [0, 8]
  y = Pad (x, p)
  t = [0, 1, 2, 3, 4, 5, 6, 7, 9] q = Gather (t, p) y = Pad <mode = "constant"> (x, q)
amounts by floor, not by ceil | x = ramp 3
  s = Shape (x) t = 2 z = [0] h = 0.5 a = Cast <to = 1> (s) b = Mul (a, h) c = Ceil (b) q = Cast <to = 7> (c) p = Concat
    <axis = 0> (z, q) y = Pad (x, p)
  s = Shape (x) t = 2 z = [0] h = 0.5 a = Cast <to = 1> (s) b = Mul (a, h) c = Floor (b) q = Cast <to = 7> (c) p =
    Concat <axis = 0> (z, q) y = Pad (x, p)
amounts by the other remainder | x = ramp 3
  s = Shape (x) t = 2 z = [0] a = Neg (s) q = Mod (a, t) p = Concat <axis = 0> (z, q) y = Pad (x, p)
  s = Shape (x) t = 2 z = [0] a = Neg (s) q = Mod <fmod = 1> (a, t) p = Concat <axis = 0> (z, q) y = Pad (x, p)
negative amounts by Div | x = ramp 3
  s = Shape (x) t = 2 z = [0] a = Neg (s) q = Div (a, t) p = Concat <axis = 0> (z, q) y = Pad (x, p)
  s = Shape (x) t = 2 z = [0] a = Neg (s) u = Mod (a, t) b = Sub (a, u) q = Div (b, t) p = Concat <axis = 0> (z, q) y =
    Pad (x, p)
to a multiple of 4, and 4 more where it is one | x = all 1.0 4
  s = Shape (x) t = 2 z = [0] f = 4 a = Neg (s) q = Mod (a, f) p = Concat <axis = 0> (z, q) y = Pad (x, p)
  s = Shape (x) t = 2 z = [0] f = 4 a = Mod (s, f) q = Sub (f, a) p = Concat <axis = 0> (z, q) y = Pad (x, p)
amounts that overflow int64 | float[N] x, int64 k => float[M] y | x = ramp 3; k = 2147483648
  z = [0] i = [0] r = Unsqueeze (k, i) m = 1 o = 1 q = Min (r, o) p = Concat <axis = 0> (z, q) y = Pad (x, p)
  z = [0] i = [0] r = Unsqueeze (k, i) m = 4294967296 o = 1 a = Mul (r, m) q = Min (a, o) p = Concat <axis = 0> (z, q) y
    = Pad (x, p)
amounts that overflow int32 | float[N] x, int64 k => float[M] y | x = ramp 3; k = 32768
  z = [0] i = [0] r = Unsqueeze (k, i) m = 65536 o = 1 a = Mul (r, m) q = Div (a, m) p = Concat <axis = 0> (z, q) y =
    Pad (x, p)
  z = [0] i = [0] r = Unsqueeze (k, i) m = Constant <value = int32 {65536}> () c = Cast <to = 6> (r) a = Mul (c, m) b =
    Div (a, m) q = Cast <to = 7> (b) p = Concat <axis = 0> (z, q) y = Pad (x, p)
Size for a dim | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  t = [0, 0, 0] q = Shape <start = 0, end = 1> (x) p = Concat <axis = 0> (t, q) y = Pad (x, p)
  t = [0, 0, 0] u = [0] n = Size (x) q = Unsqueeze (n, u) p = Concat <axis = 0> (t, q) y = Pad (x, p)
the other dim | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  t = [0, 0, 0] q = Shape <start = 0, end = 1> (x) p = Concat <axis = 0> (t, q) y = Pad (x, p)
  t = [0, 0, 0] q = Shape <start = 1, end = 2> (x) p = Concat <axis = 0> (t, q) y = Pad (x, p)
amounts by the data | int64[N] x => int64[M] y | x = [2]
  p = [1, 1] y = Pad (x, p)
  i = [0, 0] a = ReduceMax <keepdims = 1> (x) p = Gather (a, i) y = Pad (x, p)
amounts by how many are not 0 | x = ramp 3
  p = [1, 1] y = Pad (x, p)
  a = NonZero (x) s = Shape <start = 1> (a) p = Concat <axis = 0> (s, s) y = Pad (x, p)
"""
MODES = """
reflect became edge | x = ramp 3
  p = [2, 2] y = Pad <mode = "reflect"> (x, p)
  p = [2, 2] y = Pad <mode = "edge"> (x, p)
begin and end | x = ramp 3
  p = [2, 1] y = Pad <mode = "reflect"> (x, p)
  p = [1, 2] y = Pad <mode = "reflect"> (x, p)
one amount more | float[3] x => float[M] y | x = ramp 3
  p = [1, 1] y = Pad <mode = "edge"> (x, p)
  p = [1, 2] y = Pad <mode = "edge"> (x, p)
symmetric, not reflect | float[3] x => float[M] y | x = ramp 3
  p = [2, 2] y = Pad <mode = "reflect"> (x, p)
  i = [1, 0, 0, 1, 2, 2, 1] y = Gather (x, i)
wrap beyond n, with one period | x = ramp 3
  @opset 19
  p = [0, 5] y = Pad <mode = "wrap"> (x, p)
  z = [0] e = [5] a = Slice (x, z, e) y = Concat <axis = 0> (x, a)
reflect of a single element | x = [1]
  p = [1, 0] y = padops.Pad_18 <mode = "reflect"> (x, p)
  b = [1] e = [2] a = Slice (x, b, e) y = Concat <axis = 0> (a, x)
extend first, or crop first | float[6] x => float[M] y | x = ramp 6
  b = [-7] e = [3] y = padops.OpenVINOPad_12 <pad_mode = "edge"> (x, b, e)
  p = [-7, 3] y = padops.Pad_18 <mode = "edge"> (x, p)
mixed signs: FULL, not CROP | float[6] x => float[M] y | x = ramp 6
  p = [-2, 3] y = padops.Pad_18 <mode = "reflect"> (x, p)
  b = [-2] e = [3] y = padops.OpenVINOPad_12 <pad_mode = "symmetric"> (x, b, e)
two fills, one around the other | x = ramp 3
  p = [1, 1] f = 1.0 a = Pad (x, p) y = Pad (a, p, f)
  q = [2, 2] y = Pad (x, q)
a crop of what is padded, and a Pad of what is cropped | float[3] x => float[M] y | x = ramp 3
  p = [2, 0] q = [-1, -1] a = Pad <mode = "edge"> (x, p) y = Pad (a, q)
  p = [1, 0] q = [0, -1] a = Pad (x, q) y = Pad <mode = "reflect"> (a, p)
the fill of an edge | x = ramp 3
  p = [1, 1] y = Pad <mode = "edge"> (x, p)
  p = [1, 1] i = 9 f = Gather (x, i) y = Pad <mode = "edge"> (x, p, f)
the fill of an edge, of known dims | float[2] x => float[M] y | x = [1, 2]
  p = [1, 1] y = Pad <mode = "edge"> (x, p)
  p = [1, 1] i = 9 f = Gather (x, i) y = Pad <mode = "edge"> (x, p, f)
the fill of OpenVINO's edge | x = ramp 3
  b = [1] y = padops.OpenVINOPad_12 <pad_mode = "edge"> (x, b, b)
  i = 9 f = Gather (x, i) b = [1] y = padops.OpenVINOPad_12 <pad_mode = "edge"> (x, b, b, f)
another axis | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  p = [1, 1] a = [0] y = Pad (x, p, , a)
  p = [1, 1] a = [1] y = Pad (x, p, , a)
axes in another order | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  a = [0, 1] p = [1, 2, 0, 0] y = Pad (x, p, , a)
  a = [1, 0] p = [1, 2, 0, 0] y = Pad (x, p, , a)
axis 1 for axis -1, of three axes | float[A,B,C] x => float[D,E,F] y | x = [[[0, 1, 2], [3, 4, 5]]]
  p = [1, 1] a = [-1] y = Pad (x, p, , a)
  p = [1, 1] a = [1] y = Pad (x, p, , a)
axes of the run | float[A,B] x, int64[1] a => float[D,E] y | x = [[0, 1, 2], [3, 4, 5]]; a = [0]
  p = [1, 1] y = Pad (x, p, , a)
  p = [1, 1] b = [1] y = Pad (x, p, , b)
axis -2 for axis 0, of a rank that is not declared | float[] x => float[] y | x = [[[0, 1, 2], [3, 4, 5]]]
  p = [1, 1] a = [0] y = Pad (x, p, , a)
  p = [1, 1] a = [-2] y = Pad (x, p, , a)
begins and ends by axes | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  p = [1, 2, 0, 0] y = Pad (x, p)
  p = [1, 0, 2, 0] y = Pad (x, p)
"""


def amount_pairs() -> list[Pair]:
    return pairs(AMOUNTS)


def mode_pairs() -> list[Pair]:
    return pairs(MODES)
