"""Pairs that differ in what becomes of the elements: casts that lose bits, clips, fills, values that decide."""

from __future__ import annotations

import numpy as np
from crafted_pair import BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, ONE, Pair, pair

FLOATS, INTS = "float[N] x => float[M] y", "int64[N] x => int64[M] y"
PLAIN = ONE + "y = Pad (x, p)"
NAN, INF = float("nan"), float("inf")


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def through(kind: int, back: int) -> str:
    """The Pad of another type, between two Casts; of padops, as onnxruntime's of float16 is none, and the Casts go."""
    return ONE + f"a = Cast <to = {kind}> (x)\nb = padops.Pad_18 (a, p)\ny = Cast <to = {back}> (b)"


def casts() -> list[Pair]:
    rows = [
        ("int64", "int8", INT8, INT64, np.array([300])),
        ("int64", "int32", INT32, INT64, np.array([1 << 40])),
        ("int64", "float", FLOAT, INT64, np.array([(1 << 24) + 1])),
        ("int64", "double", DOUBLE, INT64, np.array([(1 << 53) + 1])),
        ("int64", "float16", FLOAT16, INT64, np.array([2049])),
        ("int32", "float", FLOAT, INT32, np.array([(1 << 24) + 1], np.int32)),
        ("int32", "int8", INT8, INT32, np.array([-129], np.int32)),
        ("int32", "bool", BOOL, INT32, np.array([2], np.int32)),
        ("uint8", "bool", BOOL, 2, np.array([200], np.uint8)),
        ("int8", "bool", BOOL, INT8, np.array([3], np.int8)),
        ("float", "float16", FLOAT16, FLOAT, f32(0.1)),
        ("float", "int64", INT64, FLOAT, f32(0.5)),
        ("float", "int32", INT32, FLOAT, f32(-0.0)),
        ("float", "bfloat16", 16, FLOAT, f32(1.001)),
        ("double", "float", FLOAT, DOUBLE, np.array([0.1])),
        ("uint32", "int32 and float", FLOAT, 12, np.array([(1 << 32) - 1], np.uint32)),
        ("uint64", "double", DOUBLE, 13, np.array([(1 << 53) + 1], np.uint64)),
    ]
    names = {INT64: "int64", INT32: "int32", 2: "uint8", INT8: "int8", FLOAT: "float", DOUBLE: "double"}
    names |= {12: "uint32", 13: "uint64"}
    return [
        pair(f"{kind} data through {way}", f"{names[back]}[N] x => {names[back]}[M] y", PLAIN, through(to, back), x=x)
        for kind, way, to, back, x in rows
    ]


def clips() -> list[Pair]:
    bounds = "lo = Constant <value_float = -1000000.0> ()\nhi = Constant <value_float = 1000000.0> ()\n"
    bias = "o = Constant <value_float = 4.0> ()\n"
    return [
        pair("a clip at 1e6", FLOATS, PLAIN, bounds + ONE + "a = Clip (x, lo, hi)\ny = Pad (a, p)", x=f32(2e6)),
        pair("a clip of the result", FLOATS, PLAIN, bounds + ONE + "a = Pad (x, p)\ny = Clip (a, lo, hi)", x=f32(-INF)),
        pair("a Relu of the data", FLOATS, PLAIN, ONE + "a = Relu (x)\ny = Pad (a, p)", x=f32(-1)),
        pair("a Relu that the data pass", FLOATS, "y = Relu (x)", "y = Abs (x)", x=f32(-1)),
        pair(
            "minus 0 that an Add loses",
            FLOATS,
            "y = Identity (x)",
            "z = Constant <value_float = 0.0> ()\ny = Add (x, z)",
            x=f32(-0.0),
        ),
        pair("an Add that rounds", FLOATS, "y = Identity (x)", bias + "a = Add (x, o)\ny = Sub (a, o)", x=f32(1e-9)),
        pair("a Mul that overflows", FLOATS, "y = Identity (x)", bias + "a = Mul (x, o)\ny = Div (a, o)", x=f32(3e38)),
        pair(
            "a Mul of integers that overflows",
            INTS,
            "y = Identity (x)",
            "o = Constant <value_int = 4> ()\na = Mul (x, o)\ny = Div (a, o)",
            x=np.array([1 << 62]),
        ),
        pair(
            "x / x is not 1 at 0",
            FLOATS,
            "a = Constant <value_float = 1.0> ()\ns = Shape (x)\ny = Expand (a, s)",
            "y = Div (x, x)",
            x=f32(0),
        ),
        pair(
            "x - x is not 0 at infinity",
            FLOATS,
            "z = Constant <value_float = 0.0> ()\ns = Shape (x)\ny = Expand (z, s)",
            "y = Sub (x, x)",
            x=f32(INF),
        ),
        pair(
            "Max of x and x in another order of NaN",
            FLOATS,
            "y = Identity (x)",
            "z = Constant <value_float = 1.0> ()\na = Greater (x, z)\nb = Less (x, z)\nc = Or (a, b)\n"
            "y = Where (c, x, z)",
            x=f32(NAN),
        ),
        pair(
            "division of negative integers rounds to 0",
            INTS,
            "o = Constant <value_int = 2> ()\ny = Div (x, o)",
            "o = Constant <value_int = 2> ()\nm = Mod (x, o)\nr = Sub (x, m)\ny = Div (r, o)",
            x=np.array([-3]),
        ),
        pair(
            "Mod by the sign of the other",
            INTS,
            "o = Constant <value_int = 3> ()\ny = Mod (x, o)",
            "o = Constant <value_int = 3> ()\ny = Mod <fmod = 1> (x, o)",
            x=np.array([-1]),
        ),
        pair(
            "Abs of Neg of an int8",
            "int8[N] x => int8[M] y",
            "y = Neg (x)\n",
            "a = Abs (x)\nb = Sign (x)\nc = Mul (a, b)\nd = Cast <to = 6> (c)\ne = Neg (d)\n"
            "hi = Constant <value = int32 {127}> ()\nf = Min (e, hi)\ny = Cast <to = 3> (f)",
            x=np.array([-128], np.int8),
        ),
        pair(
            "floats are not associative",
            "float[N] x, float[N] z => float[M] y",
            "a = Add (x, z)\ny = Add (a, x)",
            "a = Add (x, x)\ny = Add (a, z)",
            x=f32(3.5e-8),
            z=f32(1),
        ),
    ]


def fills() -> list[Pair]:
    given = "float[N] x, float f => float[M] y"
    right = ONE + "y = Pad (x, p, f)"

    def fill(nodes: str) -> str:
        return ONE + nodes + "\ny = Pad (x, p, g)"

    return [
        pair(
            "a fill above 5000",
            given,
            right,
            fill("m = Constant <value_float = 5000.0> ()\ng = Min (f, m)"),
            x=f32(1),
            f=np.float32(6000),
        ),
        pair(
            "a fill of float16",
            given,
            right,
            fill("h = Cast <to = 10> (f)\ng = Cast <to = 1> (h)"),
            x=f32(1),
            f=np.float32(0.1),
        ),
        pair("a fill that is left out", given, right, ONE + "y = Pad (x, p)", x=f32(1), f=np.float32(2)),
        pair(
            "a fill of another mode", given, right, ONE + 'y = Pad <mode = "edge"> (x, p, f)', x=f32(1), f=np.float32(2)
        ),
        pair("a fill of -0", FLOATS, ONE + "f = Constant <value_float = -0.0> ()\ny = Pad (x, p, f)", PLAIN, x=f32(1)),
        pair(
            "a fill from the data",
            FLOATS,
            PLAIN,
            ONE + "i = Constant <value_int = 0> ()\na = Gather (x, i)\nb = Sub (a, a)\ny = Pad (x, p, b)",
            x=f32(INF),
        ),
        pair(
            "one bit of a fill",
            FLOATS,
            ONE + "f = Constant <value_float = 1.0> ()\ny = Pad (x, p, f)",
            ONE + "f = Constant <value_float = 1.0000001> ()\ny = Pad (x, p, f)",
            x=f32(1),
        ),
        pair(
            "an integer fill beyond 2^53",
            INTS,
            ONE + "f = Constant <value_int = 9007199254740993> ()\ny = Pad (x, p, f)",
            ONE + "f = Constant <value_int = 9007199254740992> ()\ny = Pad (x, p, f)",
            x=np.array([1]),
        ),
        pair(
            "text of the fill",
            "string[N] x => string[M] y",
            ONE + 'f = Constant <value_string = "a"> ()\ny = padops.Pad_18 (x, p, f)',
            ONE + 'f = Constant <value_string = "a "> ()\ny = padops.Pad_18 (x, p, f)',
            x=np.array(["b"], object),
        ),
        pair(
            "where the data are the fill",
            FLOATS,
            "y = Identity (x)",
            "z = Constant <value_float = 0.0> ()\na = Equal (x, z)\ny = Where (a, z, x)",
            x=f32(-0.0),
        ),
        pair(
            "a mask by the data",
            FLOATS,
            PLAIN,
            ONE + "f = Constant <value_float = 9.0> ()\na = Pad (x, p, f)\nb = Equal (a, f)\n"
            "z = Constant <value_float = 0.0> ()\ny = Where (b, z, a)",
            x=f32(9),
        ),
        pair(
            "padops::Pad_18 with another fill",
            FLOATS,
            PLAIN,
            ONE + "f = Constant <value_float = 1.0> ()\ny = padops.Pad_18 (x, p, f)",
            x=f32(2),
        ),
        pair(
            "Pad_2 with another fill",
            FLOATS,
            "y = Pad <pads = [1, 1], value = 2.0> (x)",
            "y = padops.Pad_2 <pads = [1, 1], value = -2.0> (x)",
            x=f32(2),
            opset=10,
        ),
        pair(
            "a fill of NaN",
            FLOATS,
            PLAIN,
            ONE + "z = Constant <value_float = 0.0> ()\nf = Div (z, z)\ny = Pad (x, p, f)",
            x=f32(2),
        ),
    ]


def deciding() -> list[Pair]:
    """A branch that is taken for some values of the data alone."""
    first = "i = Constant <value_int = 0> ()\nk = Gather (x, i)\n"
    seven, mod = (
        "m = Constant <value_int = 97> ()\nw = Constant <value_int = 13> ()\n",
        "r = Mod (k, m)\nc = Equal (r, w)\n",
    )
    branch = "then_branch = t () => (int64[A] a) {{ a = {} (x) }}, else_branch = e () => (int64[B] b) {{ b = {} (x) }}"
    whole = "float[N] x => float[M] y"
    return [
        pair(
            "a branch on k % 97",
            INTS,
            ONE + "y = Pad (x, p)",
            ONE + first + seven + mod + f"d = If (c) <{branch.format('Neg', 'Identity')}>\ny = Pad (d, p)",
            x=np.array([13]),
        ),
        pair(
            "a fill by k % 97",
            INTS,
            ONE + "y = Pad (x, p)",
            ONE + first + seven + mod + "f = Cast <to = 7> (c)\ny = Pad (x, p, f)",
            x=np.array([13 + 97]),
        ),
        pair(
            "an order by k % 97",
            INTS,
            "y = Identity (x)",
            first + seven + mod + "z = Neg (x)\ny = Where (c, z, x)",
            x=np.array([13, 1]),
        ),
        pair(
            "data with a NaN",
            whole,
            ONE + "y = Pad (x, p)",
            ONE + "a = IsNaN (x)\nz = Constant <value_float = 0.0> ()\nb = Where (a, z, x)\ny = Pad (b, p)",
            x=f32(NAN),
        ),
        pair(
            "data with an infinity",
            whole,
            ONE + "y = Pad (x, p)",
            ONE + "a = IsInf (x)\nz = Constant <value_float = 0.0> ()\nb = Where (a, z, x)\ny = Pad (b, p)",
            x=f32(-INF),
        ),
        pair(
            "the greatest element alone",
            INTS,
            "y = Identity (x)",
            "m = Constant <value_int = 9223372036854775807> ()\nc = Equal (x, m)\nz = Neg (x)\ny = Where (c, z, x)",
            x=np.array([np.iinfo(np.int64).max]),
        ),
    ]


def value_pairs() -> list[Pair]:
    return [*casts(), *clips(), *fills(), *deciding()]
