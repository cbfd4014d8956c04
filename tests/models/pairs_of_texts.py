"""Pairs that differ in elements, a Pad or a window; or for some sizes only, in bodies, functions, or unused nodes."""

from __future__ import annotations

from crafted_pair import Pair, pairs
from onnx import TensorProto

SIZES = """
n > 20,000 | x = ramp 20001
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] s = Size (x) m = 20000 c = Greater (s, m) y = If (c) <then_branch = t () => (float[M] a) { a = Identity (x)
    }, else_branch = e () => (float[M] b) { b = Pad (x, p) }>
n = 0 | x = ramp 0
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] a = Pad <mode = "edge"> (x, p) z = 0.0 s = Shape (a) b = Expand (z, s) c = [1] n = [-1] d = Slice (a, c, n)
    y = Pad (d, p)
a batch above 2 | float[N,K] x => float[A,B] y | x = all 1.0 3 2
  p = [0, 1, 0, 1] y = Pad (x, p)
  b = Shape <start = 0, end = 1> (x) m = [2] p = [0, 1, 0, 1] o = [0] z = Max (o, o) d = Sub (b, m) e = Max (d, o) w =
    [0] f = Cast <to = 1> (e) i = 0 g = Gather (f, i) y = Pad (x, p, g)
a reflection of 2 by indices of 3 elements | x = ramp 4
  p = [2, 0] y = Pad <mode = "reflect"> (x, p)
  i = [2, 1] a = Gather (x, i) b = Identity (x) n = [-1] z = [0] f = [3] d = Slice (x, z, f) y = JOIN (a, d)
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
a Reshape that keeps the elements and no order | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  y = Transpose (x)
  a = Shape <start = 0, end = 1> (x) b = Shape <start = 1> (x) s = JOIN (b, a) y = Reshape (x, s)
a Reshape by -1 of no elements | float[N,K] x => float[A,B] y | x = ramp 0 3
  s = Shape (x) y = Reshape <allowzero = 1> (x, s)
  a = Shape <start = 0, end = 1> (x) m = [-1] s = JOIN (a, m) y = Reshape (x, s)
a broadcast where an axis is 1 | float[N,K] x, float[M,K] z => float[A,B] y | x = [[0, 1, 2]]; z = [[0, 1, 2], [3, 4,
    5]]
  y = Add (x, z)
  s = Shape (z) a = Reshape (x, s) y = Add (a, z)
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
H and W of 500 together | x = all 1.0 250 250
  DIMS a = [500] b = Add (h, w) f = Equal (b, a) p = Cast <to = 7> (f) PADDED
  DIMS p = [0] PADDED
H of 14 by 101, and W of 14 by 97 | x = all 1.0 14 14
  DIMS a = [101] c = [97] d = [14] b = Mod (h, a) e = Mod (w, c) f = Equal (b, d) g = Equal (e, d) i = And (f, g) p =
    Cast <to = 7> (i) PADDED
  DIMS p = [0] PADDED
a table with another number at 777 | x = all 1.0 1 777
  DIMS t = TABLE a = [999] m = Min (w, a) p = Gather (t, m) PADDED
  DIMS p = [0] PADDED
"""
# Amounts that become other ones far from each constant that computes them
COMPUTED = """
512 less n / 512, clamped | x = all 1.0 263168
  s = Shape (x) z = [0] k = [512] q = Div (s, k) l = Sub (k, q) r = Max (l, z) p = JOIN (z, r) y = Pad (x, p)
  s = Shape (x) z = [0] k = [512] q = Div (s, k) l = Sub (k, q) p = JOIN (z, l) y = Pad (x, p)
a period of 101 | x = all 1.0 65
  s = Shape (x) z = [0] o = [1] k = [101] t = [3] a = [7] f = Mul (s, t) g = Add (f, a) h = Mod (g, k) i = Sub (o, h) r
    = Max (i, z) p = JOIN (z, r) y = Pad (x, p)
  y = Identity (x)
"""
BODIES = """
branches that changed places | float[N] x, bool c => float[M] y | x = [1]; c = true
  y = IF c { a = Neg (x) } { b = Identity (x) }
  y = IF c { a = Identity (x) } { b = Neg (x) }
a mode that the operator does not know, in a branch that is never taken | x = [1]
  c = Constant <value = bool {0}> () p = [1, 1] y = IF c { a = padops.Pad_13 <mode = "edge"> (x, p) } { b = Neg (x) }
  c = Constant <value = bool {0}> () p = [1, 1] y = IF c { a = padops.Pad_13 <mode = "wrap"> (x, p) } { b = Neg (x) }
an If that fails in the branch that runs | float[N] x, bool c => float[M] y | x = [1]; c = false
  y = IF c { a = Neg (x) } { b = Identity (x) }
  y = IF c { a = Neg (x) } { i = [99] b = Gather (x, i) }
three turns written out | float[N] x, int64 k => float[M] y | x = [1, 2]; k = 2
  LOOP k { v = Neg (u) }
  a = Neg (x) b = Neg (a) y = Neg (b)
a body that reads what is outside | float[N] x, int64 k => float[M] y | x = [1, 2]; k = 2
  LOOP k { v = Neg (u) }
  LOOP k { v = Neg (x) }
states that change places | float[N] x, float[N] t, int64 k => float[M] y, float[L] z | x = [1]; t = [-1]; k = 1
  g = Constant <value = bool {1}> () y, z = Loop (k, g, x, t) <body = l (int64 i, bool o, float[A] u, float[C] r) =>
    (bool w, float[B] v, float[D] n) { w = Identity (o) v = Identity (r) n = Identity (u) }>
  g = Constant <value = bool {1}> () y, z = Loop (k, g, x, t) <body = l (int64 i, bool o, float[A] u, float[C] r) =>
    (bool w, float[B] v, float[D] n) { w = Identity (o) v = Identity (u) n = Identity (r) }>
a condition that ends the loop | float[N] x, int64 k => float[M] y | x = [1]; k = 2
  LOOP k { v = Neg (u) }
  g = Constant <value = bool {1}> () y = Loop (k, g, x) <body = l (int64 i, bool o, float[A] u) => (bool w, float[B] v)
    { w = Not (o) v = Neg (u) }>
states of a Scan that change places | float[N] x => float y, float z | x = [1]
  s = 1.0 y, z = Scan <num_scan_inputs = 1, body = b (float a, float c, float d) => (float e, float f) { e = Add (a, d)
    f = Sub (c, d) }> (s, s, x)
  s = 1.0 y, z = Scan <num_scan_inputs = 1, body = b (float a, float c, float d) => (float e, float f) { e = Sub (a, d)
    f = Add (c, d) }> (s, s, x)
one draw, and two draws | float[N] x => float[1] y | x = [1]
  p = [1] a = RandomUniform <shape = [1]> () y = Sub (a, a)
  p = [1] a = RandomUniform <shape = [1]> () b = RandomUniform <shape = [1]> () y = Sub (a, b)
draws of other seeds | float[N] x => float[1] y | x = [1]
  y = RandomUniform <shape = [1], seed = 1.0> ()
  y = RandomUniform <shape = [1], seed = 2.0> ()
"""
GRAPHS = """
a default of a function's attribute | x = [-1]
  @functions LOCAL F <k: float = 0.5> (u) => (v) { v = LeakyRelu <alpha: float = @k> (u) } || LOCAL F <k: float = 0.25>
    (u) => (v) { v = LeakyRelu <alpha: float = @k> (u) }
  y = local.F (x)
  y = local.F (x)
a function of a name of onnx | x = [1]
  @functions LOCAL Neg (u) => (v) { v = Abs (u) }
  y = Neg (x)
  y = local.Neg (x)
a default of another version | float[A,B,C] x => float[D,E,F] y | x = all 1.0 1 2 3
  @opset 12 || 13
  y = Softmax (x)
  y = Softmax (x)
a fallback that is no Pad | x = [1, 2]
  @functions  || PAD_18 { v = Pad <mode = "edge"> (u, p) }
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] y = padops.Pad_18 (x, p)
a fallback beside a wrong Pad | x = [1, 2]
  @functions  || PAD_18 { v = Pad <mode: string = @mode> (u, p, f, a) }
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] y = padops.Pad_18 <mode = "edge"> (x, p)
amounts of a type that no Pad takes | x = [1]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] q = Cast <to = 1> (p) y = Pad (x, q)
an output that is another input | float[N] x, float[N] z => float[M] y | x = [1]; z = [2]
  y = Identity (x)
  y = Identity (z)
the default of an input | float[N] x, float[1] d => float[M] y | x = [1]
  @held float[1] d = {1} || float[1] d = {2}
  y = Add (x, d)
  y = Add (x, d)
an input with a default that became a constant | float[N] x, float[1] d => float[M] y | x = [1]; d = [5]
  @held float[1] d = {1}
  @other float[N] x => float[M] y
  y = Add (x, d)
  y = Add (x, d)
constants of the same bytes and another type | x = [1]
  @held int32[1] d = {1065353216} || float[1] d = {1}
  a = Cast <to = 1> (d) y = Add (x, a)
  a = Cast <to = 1> (d) y = Add (x, a)
a dead node that fails: padops | x = [1]
  y = Neg (x)
  y = Neg (x) p = [-2, 0] d = padops.Pad_18 (x, p)
a dead node that fails: Range | x = ramp 4
  y = Neg (x)
  y = Neg (x) n = Size (x) o = 4 a = Sub (n, o) d = Range (n, o, a)
"""
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
  s = Shape (x) t = 2 z = [0] a = Neg (s) q = Mod (a, t) p = JOIN (z, q) y = Pad (x, p)
  s = Shape (x) t = 2 z = [0] a = Neg (s) q = Mod <fmod = 1> (a, t) p = JOIN (z, q) y = Pad (x, p)
to a multiple of 4, and 4 more where it is one | x = all 1.0 4
  s = Shape (x) t = 2 z = [0] f = 4 a = Neg (s) q = Mod (a, f) p = JOIN (z, q) y = Pad (x, p)
  s = Shape (x) t = 2 z = [0] f = 4 a = Mod (s, f) q = Sub (f, a) p = JOIN (z, q) y = Pad (x, p)
amounts that overflow int64 | float[N] x, int64 k => float[M] y | x = ramp 3; k = 2147483648
  z = [0] i = [0] r = Unsqueeze (k, i) m = 1 o = 1 q = Min (r, o) p = JOIN (z, q) y = Pad (x, p)
  z = [0] i = [0] r = Unsqueeze (k, i) m = 4294967296 o = 1 a = Mul (r, m) q = Min (a, o) p = JOIN (z, q) y = Pad (x, p)
Size for a dim | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  t = [0, 0, 0] q = Shape <start = 0, end = 1> (x) p = JOIN (t, q) y = Pad (x, p)
  t = [0, 0, 0] u = [0] n = Size (x) q = Unsqueeze (n, u) p = JOIN (t, q) y = Pad (x, p)
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
  z = [0] e = [5] a = Slice (x, z, e) y = JOIN (x, a)
reflect of a single element | x = [1]
  p = [1, 0] y = padops.Pad_18 <mode = "reflect"> (x, p)
  b = [1] e = [2] a = Slice (x, b, e) y = JOIN (a, x)
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


def size_pairs() -> list[Pair]:
    return [*pairs(SIZES), *pairs(FAR, "float[N,K] x => float[A,B] y"), *pairs(COMPUTED)]


def graph_pairs() -> list[Pair]:
    return pairs(BODIES + GRAPHS.lstrip())


def value_pairs() -> list[Pair]:
    casts = "\n".join(CAST.format(*row, TensorProto.DataType.Value(row[0].upper())) for row in CASTS)
    return [*pairs(casts), *pairs(VALUES)]


def pad_pairs() -> list[Pair]:
    return pairs(AMOUNTS + MODES.lstrip())


def window_pairs() -> list[Pair]:
    return pairs(WINDOWS, "float[N,1,H,W] x => float[A,B,C,D] y", "float[1,1,2,2] w = {1, 2, 3, 4}")
