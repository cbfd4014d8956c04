"""Pairs that differ in what becomes of the elements: casts that lose bits, clips, fills, values that decide."""

from __future__ import annotations

from crafted_pair import Pair, pairs
from onnx import TensorProto

VALUES = """
a clip at 1e6 | x = [2000000]
  p = [1, 1] y = Pad (x, p)
  lo = -1000000.0 hi = 1000000.0 p = [1, 1] a = Clip (x, lo, hi) y = Pad (a, p)
a Relu of the data | x = [-1]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] a = Relu (x) y = Pad (a, p)
minus 0 that an Add loses | x = [-0.0]
  y = Identity (x)
  z = 0.0 y = Add (x, z)
an Add that rounds | x = [1e-09]
  y = Identity (x)
  o = 4.0 a = Add (x, o) y = Sub (a, o)
a Mul of integers that overflows | int64[N] x => int64[M] y | x = [4611686018427387904]
  y = Identity (x)
  o = 4 a = Mul (x, o) y = Div (a, o)
x / x is not 1 at 0 | x = [0]
  a = 1.0 s = Shape (x) y = Expand (a, s)
  y = Div (x, x)
x - x is not 0 at infinity | x = [Infinity]
  z = 0.0 s = Shape (x) y = Expand (z, s)
  y = Sub (x, x)
Max of x and x in another order of NaN | x = [NaN]
  y = Identity (x)
  z = 1.0 a = Greater (x, z) b = Less (x, z) c = Or (a, b) y = Where (c, x, z)
division of negative integers rounds to 0 | int64[N] x => int64[M] y | x = [-3]
  o = 2 y = Div (x, o)
  o = 2 m = Mod (x, o) r = Sub (x, m) y = Div (r, o)
Mod by the sign of the other | int64[N] x => int64[M] y | x = [-1]
  o = 3 y = Mod (x, o)
  o = 3 y = Mod <fmod = 1> (x, o)
Abs of Neg of an int8 | int8[N] x => int8[M] y | x = [-128]
  y = Neg (x)
  a = Abs (x) b = Sign (x) c = Mul (a, b) d = Cast <to = 6> (c) e = Neg (d) hi = Constant <value = int32 {127}> () f =
    Min (e, hi) y = Cast <to = 3> (f)
floats are not associative | float[N] x, float[N] z => float[M] y | x = [3.5e-08]; z = [1]
  a = Add (x, z) y = Add (a, x)
  a = Add (x, x) y = Add (a, z)
a fill above 5000 | float[N] x, float f => float[M] y | x = [1]; f = 6000
  p = [1, 1] y = Pad (x, p, f)
  p = [1, 1] m = 5000.0 g = Min (f, m) y = Pad (x, p, g)
a fill of float16 | float[N] x, float f => float[M] y | x = [1]; f = 0.1
  p = [1, 1] y = Pad (x, p, f)
  p = [1, 1] h = Cast <to = 10> (f) g = Cast <to = 1> (h) y = Pad (x, p, g)
a fill that is left out | float[N] x, float f => float[M] y | x = [1]; f = 2
  p = [1, 1] y = Pad (x, p, f)
  p = [1, 1] y = Pad (x, p)
a fill of another mode | float[N] x, float f => float[M] y | x = [1]; f = 2
  p = [1, 1] y = Pad (x, p, f)
  p = [1, 1] y = Pad <mode = "edge"> (x, p, f)
a fill of -0 | x = [1]
  p = [1, 1] f = -0.0 y = Pad (x, p, f)
  p = [1, 1] y = Pad (x, p)
a fill from the data | x = [Infinity]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] i = 0 a = Gather (x, i) b = Sub (a, a) y = Pad (x, p, b)
one bit of a fill | x = [1]
  p = [1, 1] f = 1.0 y = Pad (x, p, f)
  p = [1, 1] f = 1.0000001 y = Pad (x, p, f)
an integer fill beyond 2^53 | int64[N] x => int64[M] y | x = [1]
  p = [1, 1] f = 9007199254740993 y = Pad (x, p, f)
  p = [1, 1] f = 9007199254740992 y = Pad (x, p, f)
text of the fill | string[N] x => string[M] y | x = ["b"]
  p = [1, 1] f = "a" y = padops.Pad_18 (x, p, f)
  p = [1, 1] f = "a " y = padops.Pad_18 (x, p, f)
where the data are the fill | x = [-0.0]
  y = Identity (x)
  z = 0.0 a = Equal (x, z) y = Where (a, z, x)
a mask by the data | x = [9]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] f = 9.0 a = Pad (x, p, f) b = Equal (a, f) z = 0.0 y = Where (b, z, a)
padops::Pad_18 with another fill | x = [2]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] f = 1.0 y = padops.Pad_18 (x, p, f)
Pad_2 with another fill | x = [2]
  @opset 10
  y = Pad <pads = [1, 1], value = 2.0> (x)
  y = padops.Pad_2 <pads = [1, 1], value = -2.0> (x)
a fill of NaN | x = [2]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] z = 0.0 f = Div (z, z) y = Pad (x, p, f)
a branch on k % 97 | int64[N] x => int64[M] y | x = [13]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] i = 0 k = Gather (x, i) m = 97 w = 13 r = Mod (k, m) c = Equal (r, w) d = If (c) <then_branch = t () =>
    (int64[A] a) { a = Neg (x) }, else_branch = e () => (int64[B] b) { b = Identity (x) }> y = Pad (d, p)
a fill by k % 97 | int64[N] x => int64[M] y | x = [110]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] i = 0 k = Gather (x, i) m = 97 w = 13 r = Mod (k, m) c = Equal (r, w) f = Cast <to = 7> (c) y = Pad (x, p,
    f)
an order by k % 97 | int64[N] x => int64[M] y | x = [13, 1]
  y = Identity (x)
  i = 0 k = Gather (x, i) m = 97 w = 13 r = Mod (k, m) c = Equal (r, w) z = Neg (x) y = Where (c, z, x)
data with a NaN | x = [NaN]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] a = IsNaN (x) z = 0.0 b = Where (a, z, x) y = Pad (b, p)
data with an infinity | x = [-Infinity]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] a = IsInf (x) z = 0.0 b = Where (a, z, x) y = Pad (b, p)
the greatest element alone | int64[N] x => int64[M] y | x = [9223372036854775807]
  y = Identity (x)
  m = 9223372036854775807 c = Equal (x, m) z = Neg (x) y = Where (c, z, x)
"""


# A type, the other one and its number, an element that does not come back
CASTS = (
    ("int64", "int8", 3, 300), ("int64", "int32", 6, 1 << 40), ("int64", "float", 1, (1 << 24) + 1),
    ("int64", "double", 11, (1 << 53) + 1), ("int64", "float16", 10, 2049), ("int32", "float", 1, (1 << 24) + 1),
    ("int32", "int8", 3, -129), ("int32", "bool", 9, 2), ("uint8", "bool", 9, 200), ("int8", "bool", 9, 3),
    ("float", "float16", 10, 0.1), ("float", "int64", 7, 0.5), ("float", "int32", 6, -0.0),
    ("float", "bfloat16", 16, 1.001), ("double", "float", 1, 0.1), ("uint32", "int32 and float", 1, (1 << 32) - 1),
    ("uint64", "double", 11, (1 << 53) + 1),
)  # fmt: skip
# Of padops, as onnxruntime has no Pad of float16, and its optimizer removes the Casts.
CAST = """{0} data through {1} | {0}[N] x => {0}[M] y | x = [{3}]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] a = Cast <to = {2}> (x) b = padops.Pad_18 (a, p) y = Cast <to = {4}> (b)"""


def value_pairs() -> list[Pair]:
    casts = "\n".join(CAST.format(*row, TensorProto.DataType.Value(row[0].upper())) for row in CASTS)
    return [*pairs(casts), *pairs(VALUES)]
