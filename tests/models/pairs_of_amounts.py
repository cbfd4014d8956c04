"""Pairs that differ in the amounts of a Pad: clamped, rounded, overflowing, computed from something else."""

from __future__ import annotations

import numpy as np
from crafted_pair import ONE, Pair, pair

RUN_TIME = "float[N] x, int64[2] p => float[M] y"
FLOATS, GIVEN = "float[N] x => float[M] y", "float[N] x, int64 k => float[M] y"
MATRIX = "float[N,K] x => float[A,B] y"
X, LONG = np.arange(1, 4, dtype=np.float32), np.arange(1, 12, dtype=np.float32)
TABLE = np.arange(6, dtype=np.float32).reshape(2, 3)


def clamped() -> list[Pair]:
    def to(nodes: str, mode: str = "constant") -> str:
        return nodes + f'\ny = Pad <mode = "{mode}"> (x, q)'

    def bound(op: str, value: int) -> str:
        return f"m = Constant <value_int = {value}> ()\nq = {op} (p, m)"

    right = "y = Pad (x, p)"
    reflect = 'y = Pad <mode = "reflect"> (x, p)'
    half = "h = Constant <value_float = 0.5> ()\na = Cast <to = 1> (p)\n"
    return [
        pair("amounts clamped at 0", RUN_TIME, right, to(bound("Max", 0)), x=X, p=[1, -1]),
        pair("amounts clamped at 5", RUN_TIME, right, to(bound("Min", 5)), x=X, p=[0, 6]),
        pair("amounts clamped at 9", RUN_TIME, right, to(bound("Min", 9)), x=X, p=[10, 0]),
        pair("amounts clamped at 5, reflect", RUN_TIME, reflect, to(bound("Min", 5), "reflect"), x=LONG, p=[6, 0]),
        pair("amounts clamped at -1", RUN_TIME, right, to(bound("Max", -1)), x=X, p=[-2, 0]),
        pair("amounts clamped at 1000", RUN_TIME, right, to(bound("Min", 1000)), x=X, p=[0, 1001]),
        pair("the sign of amounts is lost", RUN_TIME, right, to("q = Abs (p)"), x=X, p=[0, -1]),
        pair(
            "amounts through int8", RUN_TIME, right, to("a = Cast <to = 3> (p)\nq = Cast <to = 7> (a)"), x=X, p=[0, 130]
        ),
        pair(
            "amounts through float",
            RUN_TIME,
            "y = Pad (x, p)",
            to(half + "b = Mul (a, h)\nc = Mul (b, b)\nd = Sqrt (c)\ne = Add (d, d)\nq = Cast <to = 7> (e)"),
            x=X,
            p=[0, -2],
        ),
        pair(
            "even amounts alone",
            RUN_TIME,
            right,
            to("t = Constant <value_int = 2> ()\na = Div (p, t)\nq = Mul (a, t)"),
            x=X,
            p=[1, 0],
        ),
        pair(
            "amounts by a table of 8",
            RUN_TIME,
            right,
            to("t = Constant <value_ints = [0, 1, 2, 3, 4, 5, 6, 7, 9]> ()\nq = Gather (t, p)"),
            x=X,
            p=[0, 8],
        ),
        pair(
            "amounts in another order",
            RUN_TIME,
            right,
            to("i = Constant <value_ints = [1, 0]> ()\nq = Gather (p, i)"),
            x=X,
            p=[1, 0],
        ),
        pair(
            "the first amount for both",
            RUN_TIME,
            right,
            to("i = Constant <value_ints = [0, 0]> ()\nq = Gather (p, i)"),
            x=X,
            p=[1, 0],
        ),
    ]


def computed() -> list[Pair]:
    size = "s = Shape (x)\nt = Constant <value_int = 2> ()\nz = Constant <value_ints = [0]> ()\n"
    end = "\np = Concat <axis = 0> (z, q)\ny = Pad (x, p)"
    scalar = "z = Constant <value_ints = [0]> ()\ni = Constant <value_ints = [0]> ()\nr = Unsqueeze (k, i)\n"
    most = "m = Constant <value_int = {}> ()\no = Constant <value_int = 1> ()\n"
    whole = "h = Constant <value_float = 0.5> ()\na = Cast <to = 1> (s)\nb = Mul (a, h)\n"
    return [
        pair(
            "amounts by floor, not by ceil",
            FLOATS,
            size + whole + "c = Ceil (b)\nq = Cast <to = 7> (c)" + end,
            size + whole + "c = Floor (b)\nq = Cast <to = 7> (c)" + end,
            x=X,
        ),
        pair(
            "amounts by Div, not by ceil",
            FLOATS,
            size + "u = Constant <value_int = 1> ()\na = Add (s, u)\nq = Div (a, t)" + end,
            size + "q = Div (s, t)" + end,
            x=X,
        ),
        pair(
            "amounts by the other remainder",
            FLOATS,
            size + "a = Neg (s)\nq = Mod (a, t)" + end,
            size + "a = Neg (s)\nq = Mod <fmod = 1> (a, t)" + end,
            x=X,
        ),
        pair(
            "negative amounts by Div",
            FLOATS,
            size + "a = Neg (s)\nq = Div (a, t)" + end,
            size + "a = Neg (s)\nu = Mod (a, t)\nb = Sub (a, u)\nq = Div (b, t)" + end,
            x=X,
        ),
        pair(
            "to a multiple of 4, and 4 more where it is one",
            FLOATS,
            size + "f = Constant <value_int = 4> ()\na = Neg (s)\nq = Mod (a, f)" + end,
            size + "f = Constant <value_int = 4> ()\na = Mod (s, f)\nq = Sub (f, a)" + end,
            x=np.ones(4, np.float32),
        ),
        pair(
            "amounts that overflow int64",
            GIVEN,
            scalar + most.format(1) + "q = Min (r, o)" + end,
            scalar + most.format(1 << 32) + "a = Mul (r, m)\nq = Min (a, o)" + end,
            x=X,
            k=1 << 31,
        ),
        pair(
            "amounts that overflow int32",
            GIVEN,
            scalar + most.format(1 << 16) + "a = Mul (r, m)\nq = Div (a, m)" + end,
            scalar + "m = Constant <value = int32 {65536}> ()\nc = Cast <to = 6> (r)\na = Mul (c, m)\nb = Div (a, m)\n"
            "q = Cast <to = 7> (b)" + end,
            x=X,
            k=1 << 15,
        ),
        pair(
            "Size for a dim",
            MATRIX,
            "t = Constant <value_ints = [0, 0, 0]> ()\nq = Shape <start = 0, end = 1> (x)\n"
            "p = Concat <axis = 0> (t, q)\ny = Pad (x, p)",
            "t = Constant <value_ints = [0, 0, 0]> ()\nu = Constant <value_ints = [0]> ()\nn = Size (x)\n"
            "q = Unsqueeze (n, u)\np = Concat <axis = 0> (t, q)\ny = Pad (x, p)",
            x=TABLE,
        ),
        pair(
            "the other dim",
            MATRIX,
            "t = Constant <value_ints = [0, 0, 0]> ()\nq = Shape <start = 0, end = 1> (x)\n"
            "p = Concat <axis = 0> (t, q)\ny = Pad (x, p)",
            "t = Constant <value_ints = [0, 0, 0]> ()\n"
            "q = Shape <start = 1, end = 2> (x)\np = Concat <axis = 0> (t, q)\ny = Pad (x, p)",
            x=TABLE,
        ),
        pair(
            "amounts by the data",
            "int64[N] x => int64[M] y",
            ONE + "y = Pad (x, p)",
            "i = Constant <value_ints = [0, 0]> ()\na = ReduceMax <keepdims = 1> (x)\n"
            "p = Gather (a, i)\ny = Pad (x, p)",
            x=np.array([2]),
        ),
        pair(
            "amounts by how many are not 0",
            FLOATS,
            ONE + "y = Pad (x, p)",
            "a = NonZero (x)\ns = Shape <start = 1> (a)\np = Concat <axis = 0> (s, s)\ny = Pad (x, p)",
            x=X,
        ),
        pair(
            "the least of two amounts",
            "float[N] x, int64[2] p, int64[2] r => float[M] y",
            "q = Max (p, r)\ny = Pad (x, q)",
            "q = Min (p, r)\ny = Pad (x, q)",
            x=X,
            p=[1, 1],
            r=[2, 1],
        ),
    ]


def amount_pairs() -> list[Pair]:
    return [*clamped(), *computed()]
