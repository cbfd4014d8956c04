"""Pairs that differ in functions, inputs, outputs and versions, and in nodes that nothing reads but that fail."""

from __future__ import annotations

import numpy as np
from crafted_pair import ONE, Pair, pair

FLOATS = "float[N] x => float[M] y"


def ramp(count: int) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.float32)


def functions() -> list[Pair]:
    one = '<domain: "local", opset_import: ["": {}]> F (u) => (v) {{ {} }}\n'
    other = '<domain: "local", opset_import: ["": 18]> G (u) => (v) { v = Abs (u) }\n'
    given = '<domain: "local", opset_import: ["": 18]> F <{}> (u) => (v) {{ v = LeakyRelu <alpha: float = @{}> (u) }}\n'
    nested = '<domain: "local", opset_import: ["": 18, "local": 1]> H (u) => (v) { w = local.F (u)\nv = local.F (w) }\n'
    call = "y = local.F (x)"
    two = '<domain: "local", opset_import: ["": 18]> F (u, t) => (v) { v = Sub (u, t) }\n'
    both = "float[N] x, float[N] z => float[M] y"
    fallback = '<domain: "padops", opset_import: ["": 18]> Pad_18 <mode = "constant"> (u, p, f, a) => (v) {{ {} }}\n'
    right = "v = Pad <mode: string = @mode> (u, p, f, a)"
    return [
        pair(
            "a function of the same name",
            FLOATS,
            call,
            call,
            functions=(one.format(18, "v = Neg (u)"), one.format(18, "v = Abs (u)")),
            x=ramp(1),
        ),
        pair(
            "the function that a function calls",
            FLOATS,
            "y = local.H (x)",
            "y = local.H (x)",
            functions=(one.format(18, "v = Neg (u)") + nested, one.format(18, "v = Exp (u)") + nested),
            x=ramp(1),
        ),
        pair(
            "another function is called",
            FLOATS,
            call,
            "y = local.G (x)",
            functions=one.format(18, "v = Neg (u)") + other,
            x=ramp(1),
        ),
        pair(
            "an attribute of the call",
            FLOATS,
            "y = local.F <k: float = 0.5> (x)",
            "y = local.F <k: float = 0.25> (x)",
            functions=given.format("k", "k"),
            x=-ramp(1),
        ),
        pair(
            "a default of a function's attribute",
            FLOATS,
            call,
            call,
            functions=(given.format("k: float = 0.5", "k"), given.format("k: float = 0.25", "k")),
            x=-ramp(1),
        ),
        pair(
            "another attribute of the caller",
            FLOATS,
            "y = local.F <k: float = 0.5, l: float = 0.25> (x)",
            "y = local.F <k: float = 0.5, l: float = 0.25> (x)",
            functions=(given.format("k, l", "k"), given.format("k, l", "l")),
            x=-ramp(1),
        ),
        pair(
            "a function's inputs",
            both,
            "y = local.F (x, z)",
            "y = local.F (z, x)",
            functions=two,
            x=ramp(1),
            z=2 * ramp(1),
        ),
        pair(
            "a function of a name of onnx",
            FLOATS,
            "y = Neg (x)",
            "y = local.Neg (x)",
            functions=other.replace(" G ", " Neg "),
            x=ramp(1),
        ),
        pair(
            "Softmax of another version",
            "float[A,B,C] x => float[D,E,F] y",
            "y = Softmax <axis = 1> (x)",
            "y = Softmax <axis = 1> (x)",
            opset=(12, 13),
            x=np.ones((1, 2, 2), np.float32),
        ),
        pair(
            "a default of another version",
            "float[A,B,C] x => float[D,E,F] y",
            "y = Softmax (x)",
            "y = Softmax (x)",
            opset=(12, 13),
            x=np.ones((1, 2, 3), np.float32),
        ),
        pair(
            "a default that is written, and another one",
            FLOATS,
            "y = LeakyRelu (x)",
            "y = LeakyRelu <alpha = 0.02> (x)",
            x=-ramp(1),
        ),
        pair(
            "a fallback that is no Pad",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + "y = padops.Pad_18 (x, p)",
            functions=("", fallback.format('v = Pad <mode = "edge"> (u, p)')),
            x=ramp(2),
        ),
        pair(
            "a fallback that has lost the fill",
            FLOATS,
            ONE + "f = Constant <value_float = 2.0> ()\ny = Pad (x, p, f)",
            ONE + "f = Constant <value_float = 2.0> ()\ny = padops.Pad_18 (x, p, f)",
            functions=("", fallback.format("v = Pad <mode: string = @mode> (u, p)")),
            x=ramp(2),
        ),
        pair(
            "a fallback beside a wrong Pad",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + 'y = padops.Pad_18 <mode = "edge"> (x, p)',
            functions=("", fallback.format(right)),
            x=ramp(2),
        ),
    ]


def interfaces() -> list[Pair]:
    two = "float[N] x, float[N] z => float[M] y"
    results = "float[N] x => float[M] y, float[K] z"
    half = "float16[N] x => float16[M] y"
    held = "float[1] d = {1}", "float[1] d = {2}"
    overridable = "float[N] x, float[1] d => float[M] y"
    return [
        pair("two inputs", two, "y = Sub (x, z)", "y = Sub (z, x)", x=ramp(1), z=2 * ramp(1)),
        pair(
            "amounts of a type that no Pad takes",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + "q = Cast <to = 1> (p)\ny = Pad (x, q)",
            x=ramp(1),
        ),
        pair(
            "a fill of another type than the data",
            FLOATS,
            ONE + "y = Pad (x, p)",
            ONE + "f = Constant <value_int = 0> ()\ny = Pad (x, p, f)",
            x=ramp(1),
        ),
        pair("an output that is another input", two, "y = Identity (x)", "y = Identity (z)", x=ramp(1), z=2 * ramp(1)),
        pair("two outputs", results, "y = Neg (x)\nz = Identity (x)", "z = Neg (x)\ny = Identity (x)", x=ramp(1)),
        pair("an output less", results, "y = Neg (x)\nz = Identity (x)", "y = Neg (x)", other=FLOATS, x=ramp(1)),
        pair(
            "an output of another name",
            FLOATS,
            "y = Neg (x)",
            "z = Neg (x)",
            other="float[N] x => float[M] z",
            x=ramp(1),
        ),
        pair(
            "outputs in another order",
            results,
            "y = Neg (x)\nz = Abs (x)",
            "y = Neg (x)\nz = Abs (x)",
            other="float[N] x => float[K] z, float[M] y",
            x=ramp(1),
        ),
        pair(
            "an output of another type",
            FLOATS,
            "y = Neg (x)",
            "a = Neg (x)\ny = Cast <to = 11> (a)",
            other="float[N] x => double[M] y",
            x=ramp(1),
        ),
        pair(
            "an input of another type",
            half,
            "y = Identity (x)",
            "a = Cast <to = 10> (x)\ny = Identity (a)",
            other="float[N] x => float16[M] y",
            x=ramp(1).astype(np.float16),
        ),
        pair(
            "an input more",
            FLOATS,
            "y = Neg (x)",
            "y = Neg (x)",
            other="float[N] x, float[N] z => float[M] y",
            x=ramp(1),
        ),
        pair("the default of an input", overridable, "y = Add (x, d)", "y = Add (x, d)", held=held, x=ramp(1)),
        pair(
            "an input with a default that became a constant",
            overridable,
            "y = Add (x, d)",
            "y = Add (x, d)",
            held="float[1] d = {1}",
            other=FLOATS,
            x=ramp(1),
            d=np.full(1, 5, np.float32),
        ),
        pair(
            "an optional output",
            "float[N] x => float[M] y, int64[K] z",
            "n = Constant <value_ints = [2]> ()\ny, z = TopK (x, n)",
            "n = Constant <value_ints = [2]> ()\ny, z = TopK <largest = 0> (x, n)",
            x=ramp(2),
        ),
        pair(
            "indices that are not sorted",
            "float[N] x => float[M] y, int64[K] z",
            "n = Constant <value_ints = [1]> ()\ny, z = TopK (x, n)",
            "n = Constant <value_ints = [1]> ()\ny = ReduceMax <keepdims = 1> (x)\n"
            "z = ArgMax <axis = 0, select_last_index = 1> (x)",
            x=np.ones(2, np.float32),
        ),
        pair(
            "constants of one name and other content", FLOATS, "y = Add (x, d)", "y = Add (x, d)", held=held, x=ramp(1)
        ),
        pair(
            "constants of the same bytes and another type",
            "float[N] x => float[M] y",
            "a = Cast <to = 1> (d)\ny = Add (x, a)",
            "a = Cast <to = 1> (d)\ny = Add (x, a)",
            held=("int32[1] d = {1065353216}", "float[1] d = {1}"),
            x=ramp(1),
        ),
        pair(
            "constants of the same bytes and another shape",
            "float[A] x => float[] y",
            "y = Add (x, d)",
            "y = Add (x, d)",
            held=("float[2] d = {1, 2}", "float[2,1] d = {1, 2}"),
            x=ramp(2),
        ),
    ]


def failing() -> list[Pair]:
    """Of which the second one has a node more that nothing reads; where that node fails, so does the model."""
    signature = "float[N] x => float[M] y"

    def dead(name: str, nodes: str, x: np.ndarray) -> Pair:
        return pair(f"a dead node that fails: {name}", signature, "y = Neg (x)", "y = Neg (x)\n" + nodes, x=x)

    return [
        dead("Gather", "i = Constant <value_ints = [7]> ()\nd = Gather (x, i)", ramp(7)),
        dead("Reshape", "s = Constant <value_ints = [2, -1]> ()\nd = Reshape (x, s)", ramp(3)),
        dead("Pad", 'p = Constant <value_ints = [1, 0]> ()\nd = Pad <mode = "edge"> (x, p)', ramp(0)),
        dead("padops", "p = Constant <value_ints = [-2, 0]> ()\nd = padops.Pad_18 (x, p)", ramp(1)),
        dead("Expand", "s = Constant <value_ints = [3]> ()\nd = Expand (x, s)", ramp(2)),
        dead(
            "Concat",
            "m = Shape (x)\nz = Constant <value = float[2,1] {1, 2}> ()\nd = Add (x, z)\n"
            "s = Constant <value_ints = [4]> ()\ne = Reshape (d, s)",
            ramp(3),
        ),
        dead("Squeeze", "a = Constant <value_ints = [0]> ()\nd = Squeeze (x, a)", ramp(2)),
        dead("Split", "s = Constant <value_ints = [1, 1]> ()\nd, e = Split <axis = 0> (x, s)", ramp(3)),
        dead("Range", "n = Size (x)\no = Constant <value_int = 4> ()\na = Sub (n, o)\nd = Range (n, o, a)", ramp(4)),
    ]


def graph_pairs() -> list[Pair]:
    return [*functions(), *interfaces(), *failing()]
