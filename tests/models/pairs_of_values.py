"""Pairs that differ in what becomes of the elements: casts that lose bits, clips, fills, values that decide."""

from __future__ import annotations

from crafted_pair import Pair, pairs
from onnx import TensorProto

VALUES = """
a clip at 1e6 | x = [2000000]
  p = [1, 1] y = Pad (x, p)
  lo = -1000000.0 hi = 1000000.0 p = [1, 1] a = Clip (x, lo, hi) y = Pad (a, p)
minus 0 that an Add loses | x = [-0.0]
  y = Identity (x)
  z = 0.0 y = Add (x, z)
a Mul of integers that overflows | int64[N] x => int64[M] y | x = [4611686018427387904]
  y = Identity (x)
  o = 4 a = Mul (x, o) y = Div (a, o)
division of negative integers rounds to 0 | int64[N] x => int64[M] y | x = [-3]
  o = 2 y = Div (x, o)
  o = 2 m = Mod (x, o) r = Sub (x, m) y = Div (r, o)
floats are not associative | float[N] x, float[N] z => float[M] y | x = [3.5e-08]; z = [1]
  a = Add (x, z) y = Add (a, x)
  a = Add (x, x) y = Add (a, z)
a fill above 5000 | float[N] x, float f => float[M] y | x = [1]; f = 6000
  p = [1, 1] y = Pad (x, p, f)
  p = [1, 1] m = 5000.0 g = Min (f, m) y = Pad (x, p, g)
a fill that is left out | float[N] x, float f => float[M] y | x = [1]; f = 2
  p = [1, 1] y = Pad (x, p, f)
  p = [1, 1] y = Pad (x, p)
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
Pad_2 with another fill | x = [2]
  @opset 10
  y = Pad <pads = [1, 1], value = 2.0> (x)
  y = padops.Pad_2 <pads = [1, 1], value = -2.0> (x)
a fill by k % 97 | int64[N] x => int64[M] y | x = [110]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] i = 0 k = Gather (x, i) m = 97 w = 13 r = Mod (k, m) c = Equal (r, w) f = Cast <to = 7> (c) y = Pad (x, p,
    f)
data with a NaN | x = [NaN]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] a = IsNaN (x) z = 0.0 b = Where (a, z, x) y = Pad (b, p)
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
