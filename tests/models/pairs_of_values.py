"""Pairs that differ in what becomes of the elements, in a Pad, or where a Pad became the padding of a window."""

from __future__ import annotations

from crafted_pair import Pair, pairs
from onnx import TensorProto

VALUES = """
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
a fill of -0 | x = [1]
  p = [1, 1] f = -0.0 y = Pad (x, p, f)
  p = [1, 1] y = Pad (x, p)
a fill from the data | x = [Infinity]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] i = 0 a = Gather (x, i) b = Sub (a, a) y = Pad (x, p, b)
one bit of a fill | x = [1]
  p = [1, 1] f = 1.0 y = Pad (x, p, f)
  p = [1, 1] f = 1.0000001 y = Pad (x, p, f)
where the data are the fill | x = [-0.0]
  y = Identity (x)
  z = 0.0 a = Equal (x, z) y = Where (a, z, x)
Pad_2 with another fill | x = [2]
  @opset 10
  y = Pad <pads = [1, 1], value = 2.0> (x)
  y = padops.Pad_2 <pads = [1, 1], value = -2.0> (x)
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
AMOUNTS = """
amounts clamped at 1000 | float[N] x, int64[2] p => float[M] y | x = ramp 3; p = [0, 1001]
  y = Pad (x, p)
  m = 1000 q = Min (p, m) y = Pad <mode = "constant"> (x, q)
amounts through float | float[N] x, int64[2] p => float[M] y | x = ramp 3; p = [0, -2]
  y = Pad (x, p)
  h = 0.5 a = Cast <to = 1> (p) b = Mul (a, h) c = Mul (b, b) d = Sqrt (c) e = Add (d, d) q = Cast <to = 7> (e) y = Pad
    <mode = "constant"> (x, q)
amounts by the other remainder | x = ramp 3
  s = Shape (x) t = 2 z = [0] a = Neg (s) q = Mod (a, t) p = Concat <axis = 0> (z, q) y = Pad (x, p)
  s = Shape (x) t = 2 z = [0] a = Neg (s) q = Mod <fmod = 1> (a, t) p = Concat <axis = 0> (z, q) y = Pad (x, p)
to a multiple of 4, and 4 more where it is one | x = all 1.0 4
  s = Shape (x) t = 2 z = [0] f = 4 a = Neg (s) q = Mod (a, f) p = Concat <axis = 0> (z, q) y = Pad (x, p)
  s = Shape (x) t = 2 z = [0] f = 4 a = Mod (s, f) q = Sub (f, a) p = Concat <axis = 0> (z, q) y = Pad (x, p)
amounts that overflow int64 | float[N] x, int64 k => float[M] y | x = ramp 3; k = 2147483648
  z = [0] i = [0] r = Unsqueeze (k, i) m = 1 o = 1 q = Min (r, o) p = Concat <axis = 0> (z, q) y = Pad (x, p)
  z = [0] i = [0] r = Unsqueeze (k, i) m = 4294967296 o = 1 a = Mul (r, m) q = Min (a, o) p = Concat <axis = 0> (z, q) y
    = Pad (x, p)
Size for a dim | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  t = [0, 0, 0] q = Shape <start = 0, end = 1> (x) p = Concat <axis = 0> (t, q) y = Pad (x, p)
  t = [0, 0, 0] u = [0] n = Size (x) q = Unsqueeze (n, u) p = Concat <axis = 0> (t, q) y = Pad (x, p)
amounts by the data | int64[N] x => int64[M] y | x = [2]
  p = [1, 1] y = Pad (x, p)
  i = [0, 0] a = ReduceMax <keepdims = 1> (x) p = Gather (a, i) y = Pad (x, p)
"""
MODES = """
reflect became edge | x = ramp 3
  p = [2, 2] y = Pad <mode = "reflect"> (x, p)
  p = [2, 2] y = Pad <mode = "edge"> (x, p)
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
axes of the run | float[A,B] x, int64[1] a => float[D,E] y | x = [[0, 1, 2], [3, 4, 5]]; a = [0]
  p = [1, 1] y = Pad (x, p, , a)
  p = [1, 1] b = [1] y = Pad (x, p, , b)
axis -2 for axis 0, of a rank that is not declared | float[] x => float[] y | x = [[[0, 1, 2], [3, 4, 5]]]
  p = [1, 1] a = [0] y = Pad (x, p, , a)
  p = [1, 1] a = [-2] y = Pad (x, p, , a)
"""
WINDOWS = """
Conv: a fill of 1 | x = ramp 1 1 3 3
  ONES f = 1.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: begin and end | x = ramp 1 1 3 3
  p = [0, 0, 1, 0, 0, 0, 0, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [0, 1, 1, 0]> (x, w)
Conv: a padded batch | x = ramp 1 1 3 3
  p = [1, 0, 1, 1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: a crop | x = ramp 1 1 3 3
  p = [0, 0, 1, -1, 0, 0, 1, 1] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv (a, w)
  y = Conv <pads = [1, 0, 1, 1]> (x, w)
Conv: what it padded before | x = ramp 1 1 3 3
  ONES a = Pad (x, p) y = Conv <pads = [1, 1, 1, 1]> (a, w)
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
Conv: SAME_LOWER by strides, for some sizes | x = ramp 1 1 4 4
  p = [0, 0, 1, 1, 0, 0, 0, 0] f = 0.0 a = Pad <mode = "constant"> (x, p, f) y = Conv <strides = [2, 2]> (a, w)
  y = Conv <strides = [2, 2], auto_pad = "SAME_LOWER"> (x, w)
Conv: groups | float[N,2,H,W] x => float[A,B,C,D] y | x = [[[[1]], [[2]]]]
  @held float[2,1,1,1] w = {1, 2} || float[2,2,1,1] w = {1, 1, 2, 2}
  ZEROS y = Conv <group = 2> (a, w)
  y = Conv <group = 1, pads = [1, 1, 1, 1]> (x, w)
ConvTranspose pads by a crop | x = ramp 1 1 3 3
  ZEROS y = ConvTranspose (a, w)
  y = ConvTranspose <pads = [1, 1, 1, 1]> (x, w)
ConvInteger: a fill of 0, and a zero point of 3 | uint8[N,1,H,W] x => int32[A,B,C,D] y | x = ramp 1 1 2 2
  @held BYTES
  ONES a = Pad (x, p) y = ConvInteger (a, w, z)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, z)
ConvInteger: a zero point of the run | uint8[N,1,H,W] x, uint8 z => int32[A,B,C,D] y | x = ramp 1 1 2 2; z = 4
  @held uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 f = {3}, uint8 o = {0}
  ONES a = Pad (x, p, f) y = ConvInteger (a, w, z)
  y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, z)
AveragePool: what is padded does not count | x = -ramp 1 1 2 2
  ZEROS y = AveragePool <kernel_shape = [2, 2]> (a)
  y = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
AveragePool: ceil_mode | float[1,1,3,3] x => float[A,B,C,D] y | x = ramp 1 1 3 3
  ZEROS y = AveragePool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, count_include_pad = 1> (a)
  y = AveragePool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, count_include_pad = 1, pads = [1, 1, 1, 1]>
    (x)
AveragePool: it pads, and does not count that | x = -ramp 1 1 2 2
  ONES a = Pad (x, p) y = AveragePool <kernel_shape = [2, 2], pads = [1, 0, 0, 0]> (a)
  y = AveragePool <kernel_shape = [3, 3], count_include_pad = 1, pads = [2, 1, 1, 1]> (x)
AveragePool: no elements | x = ramp 1 1 0 2
  ZEROS y = AveragePool <kernel_shape = [2, 2]> (a)
  y = AveragePool <kernel_shape = [2, 2], count_include_pad = 1, pads = [1, 1, 1, 1]> (x)
MaxPool: a fill of 0 | x = -ramp 1 1 2 2
  ZEROS y = MaxPool <kernel_shape = [2, 2]> (a)
  y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
MaxPool: int8, a fill of -127 | int8[N,1,H,W] x => int8[A,B,C,D] y | x = all -128 1 1 2 2
  @held int8 f = {-127}
  ONES a = Pad (x, p, f) y = MaxPool <kernel_shape = [2, 2]> (a)
  y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
MaxPool: indices into the padded data | float[N,1,H,W] x => float[A,B,C,D] y, int64[A,B,C,D] z | x = ramp 1 1 2 2
  ONES f = -5.0 a = Pad <mode = "constant"> (x, p, f) y, z = MaxPool <kernel_shape = [2, 2]> (a)
  y, z = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x)
"""


def value_pairs() -> list[Pair]:
    casts = "\n".join(CAST.format(*row, TensorProto.DataType.Value(row[0].upper())) for row in CASTS)
    return [*pairs(casts), *pairs(VALUES)]


def pad_pairs() -> list[Pair]:
    return pairs(AMOUNTS + MODES.lstrip())


def window_pairs() -> list[Pair]:
    return pairs(WINDOWS, "float[N,1,H,W] x => float[A,B,C,D] y", "float[1,1,2,2] w = {1, 2, 3, 4}")
