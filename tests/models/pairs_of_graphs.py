"""Pairs that differ in bodies, draws, functions, inputs, outputs, versions, and in unused nodes that fail."""

from __future__ import annotations

from crafted_pair import Pair, pairs

BODIES = """
branches that changed places | float[N] x, bool c => float[M] y | x = [1]; c = true
  y = IF c { a = Neg (x) } { b = Identity (x) }
  y = IF c { a = Identity (x) } { b = Neg (x) }
no If at all | float[N] x, bool c => float[M] y | x = [1]; c = false
  y = IF c { a = Neg (x) } { b = Identity (x) }
  y = Neg (x)
a Pad in one branch alone | float[N] x, bool c => float[M] y | x = [1]; c = false
  p = [1, 1] y = IF c { a = Pad (x, p) } { b = Pad (x, p) }
  p = [1, 1] y = IF c { a = Pad (x, p) } { b = Pad <mode = "edge"> (x, p) }
a mode that the operator does not know, in a branch that is never taken | x = [1]
  c = Constant <value = bool {0}> () p = [1, 1] y = IF c { a = padops.Pad_13 <mode = "edge"> (x, p) } { b = Neg (x) }
  c = Constant <value = bool {0}> () p = [1, 1] y = IF c { a = padops.Pad_13 <mode = "wrap"> (x, p) } { b = Neg (x) }
an If that fails in the branch that runs | float[N] x, bool c => float[M] y | x = [1]; c = false
  y = IF c { a = Neg (x) } { b = Identity (x) }
  y = IF c { a = Neg (x) } { i = [99] b = Gather (x, i) }
an If of If in another order | float[N] x, bool c, bool d => float[M] y | x = [-1]; c = false; d = false
  y = If (c) <then_branch = t () => (float[A] q) { q = Neg (x) }, else_branch = e () => (float[B] r) {
    h = IF d { a = Abs (x) } { b = Identity (x) } r = Identity (h) }>
  y = If (c) <then_branch = t () => (float[A] q) { q = Neg (x) }, else_branch = e () => (float[B] r) {
    h = IF d { a = Identity (x) } { b = Abs (x) } r = Identity (h) }>
a turn more | float[N] x, int64 k => float[M] y | x = [1, 2]; k = 1
  LOOP k { q = [1, 0] v = Pad (u, q) }
  o = 1 j = Add (k, o) LOOP j { q = [1, 0] v = Pad (u, q) }
three turns written out | float[N] x, int64 k => float[M] y | x = [1, 2]; k = 2
  LOOP k { v = Neg (u) }
  a = Neg (x) b = Neg (a) y = Neg (b)
a body that reads what is outside | float[N] x, int64 k => float[M] y | x = [1, 2]; k = 2
  LOOP k { v = Neg (u) }
  LOOP k { v = Neg (x) }
a body that reads the number of the turn | float[N] x, int64 k => float[M] y | x = [1, 2]; k = 2
  LOOP k { f = Cast <to = 1> (i) v = Add (u, f) }
  LOOP k { h = Cast <to = 1> (k) f = Sub (h, h) v = Add (u, f) }
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
a function of the same name | x = [1]
  @functions LOCAL F (u) => (v) { v = Neg (u) } || LOCAL F (u) => (v) { v = Abs (u) }
  y = local.F (x)
  y = local.F (x)
the function that a function calls | x = [1]
  @functions LOCAL F (u) => (v) { v = Neg (u) } <domain: "local", opset_import: ["": 18, "local": 1]> H (u) => (v) { w =
    local.F (u) v = local.F (w) } || LOCAL F (u) => (v) { v = Exp (u) } <domain: "local", opset_import: ["": 18,
    "local": 1]> H (u) => (v) { w = local.F (u) v = local.F (w) }
  y = local.H (x)
  y = local.H (x)
an attribute of the call | x = [-1]
  @functions LOCAL F <k> (u) => (v) { v = LeakyRelu <alpha: float = @k> (u) }
  y = local.F <k: float = 0.5> (x)
  y = local.F <k: float = 0.25> (x)
a default of a function's attribute | x = [-1]
  @functions LOCAL F <k: float = 0.5> (u) => (v) { v = LeakyRelu <alpha: float = @k> (u) } || LOCAL F <k: float = 0.25>
    (u) => (v) { v = LeakyRelu <alpha: float = @k> (u) }
  y = local.F (x)
  y = local.F (x)
a function of a name of onnx | x = [1]
  @functions LOCAL Neg (u) => (v) { v = Abs (u) }
  y = Neg (x)
  y = local.Neg (x)
Softmax of another version | float[A,B,C] x => float[D,E,F] y | x = all 1.0 1 2 2
  @opset 12 || 13
  y = Softmax <axis = 1> (x)
  y = Softmax <axis = 1> (x)
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
a fill of another type than the data | x = [1]
  p = [1, 1] y = Pad (x, p)
  p = [1, 1] f = 0 y = Pad (x, p, f)
an output that is another input | float[N] x, float[N] z => float[M] y | x = [1]; z = [2]
  y = Identity (x)
  y = Identity (z)
an output less | float[N] x => float[M] y, float[K] z | x = [1]
  @other float[N] x => float[M] y
  y = Neg (x) z = Identity (x)
  y = Neg (x)
outputs in another order | float[N] x => float[M] y, float[K] z | x = [1]
  @other float[N] x => float[K] z, float[M] y
  y = Neg (x) z = Abs (x)
  y = Neg (x) z = Abs (x)
an input of another type | float16[N] x => float16[M] y | x = [1]
  @other float[N] x => float16[M] y
  y = Identity (x)
  a = Cast <to = 10> (x) y = Identity (a)
an input more | x = [1]
  @other float[N] x, float[N] z => float[M] y
  y = Neg (x)
  y = Neg (x)
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
a dead node that fails: Gather | x = ramp 7
  y = Neg (x)
  y = Neg (x) i = [7] d = Gather (x, i)
a dead node that fails: Pad | x = ramp 0
  y = Neg (x)
  y = Neg (x) p = [1, 0] d = Pad <mode = "edge"> (x, p)
a dead node that fails: padops | x = [1]
  y = Neg (x)
  y = Neg (x) p = [-2, 0] d = padops.Pad_18 (x, p)
a dead node that fails: Range | x = ramp 4
  y = Neg (x)
  y = Neg (x) n = Size (x) o = 4 a = Sub (n, o) d = Range (n, o, a)
"""


def body_pairs() -> list[Pair]:
    return pairs(BODIES)


def graph_pairs() -> list[Pair]:
    return pairs(GRAPHS)
