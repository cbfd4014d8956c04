"""Pairs that differ for some sizes only, in bodies, draws, functions or versions, or in unused nodes that fail."""

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
a Reshape that keeps the elements and no order | float[N,K] x => float[A,B] y | x = [[0, 1, 2], [3, 4, 5]]
  y = Transpose (x)
  a = Shape <start = 0, end = 1> (x) b = Shape <start = 1> (x) s = Concat <axis = 0> (b, a) y = Reshape (x, s)
a Reshape by -1 of no elements | float[N,K] x => float[A,B] y | x = ramp 0 3
  s = Shape (x) y = Reshape <allowzero = 1> (x, s)
  a = Shape <start = 0, end = 1> (x) m = [-1] s = Concat <axis = 0> (a, m) y = Reshape (x, s)
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
WORDS = {
    "DIMS": "h = Shape <start = 0, end = 1> (x) w = Shape <start = 1> (x) z = [0] q = [0, 0, 0]",
    "PADDED": "n = Concat <axis = 0> (q, p) y = Pad (x, n)",
    "TABLE": f"[{', '.join('01'[at == 777] for at in range(1000))}]",
}
# Amounts that become other ones far from each constant that computes them
COMPUTED = """
512 less n / 512, clamped | x = all 1.0 263168
  s = Shape (x) z = [0] k = [512] q = Div (s, k) l = Sub (k, q) r = Max (l, z) p = Concat <axis = 0> (z, r) y = Pad (x,
    p)
  s = Shape (x) z = [0] k = [512] q = Div (s, k) l = Sub (k, q) p = Concat <axis = 0> (z, l) y = Pad (x, p)
a period of 101 | x = all 1.0 65
  s = Shape (x) z = [0] o = [1] k = [101] t = [3] a = [7] f = Mul (s, t) g = Add (f, a) h = Mod (g, k) i = Sub (o, h) r
    = Max (i, z) p = Concat <axis = 0> (z, r) y = Pad (x, p)
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


def size_pairs() -> list[Pair]:
    far = re.sub("|".join(WORDS), lambda found: WORDS[found[0]], FAR)
    return [*pairs(SIZES), *pairs(far, "float[N,K] x => float[A,B] y"), *pairs(COMPUTED)]


def graph_pairs() -> list[Pair]:
    return pairs(BODIES + GRAPHS.lstrip())
