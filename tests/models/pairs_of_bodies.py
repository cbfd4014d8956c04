"""Pairs that differ in the bodies of If, Loop and Scan, and in draws."""

from __future__ import annotations

import numpy as np
from crafted_pair import Pair, pair

FLOATS = "float[N] x => float[M] y"
CHOSEN = "float[N] x, bool c => float[M] y"
TURNS = "float[N] x, int64 k => float[M] y"


def ramp(count: int) -> np.ndarray:
    return np.arange(1, count + 1, dtype=np.float32)


def chosen(then: str, orelse: str) -> str:
    return (
        f"y = If (c) <then_branch = t () => (float[A] a) {{ {then} }}, else_branch = e () => "
        f"(float[B] b) {{ {orelse} }}>"
    )


def loop(
    body: str, states: str = "(x)", results: str = "y", formals: str = "float[A] u", outs: str = "float[B] v"
) -> str:
    return (
        f"g = Constant <value = bool {{1}}> ()\n{results} = Loop (k, g, {states[1:-1]}) "
        f"<body = l (int64 i, bool o, {formals}) "
        f"=> (bool w, {outs}) {{ w = Identity (o)\n{body} }}>"
    )


def scan(body: str) -> str:
    return (
        "y, z = Scan <num_scan_inputs = 1, body = b (float a, float c, float d) => (float e, float f) "
        f"{{ {body} }}> (s, s, x)"
    )


def branches() -> list[Pair]:
    pads = "p = Constant <value_ints = [1, 1]> ()\n"
    right = chosen("a = Neg (x)", "b = Identity (x)")
    yes, no = np.array(True), np.array(False)
    never = "c = Constant <value = bool {0}> ()\n"
    return [
        pair(
            "branches that changed places", CHOSEN, right, chosen("a = Identity (x)", "b = Neg (x)"), x=ramp(1), c=yes
        ),
        pair(
            "a branch that is never taken here", CHOSEN, right, chosen("a = Neg (x)", "b = Abs (x)"), x=-ramp(1), c=no
        ),
        pair("no If at all", CHOSEN, right, "y = Neg (x)", x=ramp(1), c=no),
        pair(
            "a Pad in one branch alone",
            CHOSEN,
            pads + chosen("a = Pad (x, p)", "b = Pad (x, p)"),
            pads + chosen("a = Pad (x, p)", 'b = Pad <mode = "edge"> (x, p)'),
            x=ramp(1),
            c=no,
        ),
        pair(
            "a mode that the operator does not know, in a branch that is never taken",
            FLOATS,
            never + pads + chosen('a = padops.Pad_13 <mode = "edge"> (x, p)', "b = Neg (x)"),
            never + pads + chosen('a = padops.Pad_13 <mode = "wrap"> (x, p)', "b = Neg (x)"),
            x=ramp(1),
        ),
        pair(
            "the negation of a condition", CHOSEN, right, "d = Not (c)\n" + right.replace("(c)", "(d)"), x=ramp(1), c=no
        ),
        pair(
            "an If that fails in the branch that runs",
            CHOSEN,
            right,
            chosen("a = Neg (x)", "i = Constant <value_ints = [99]> ()\nb = Gather (x, i)"),
            x=ramp(1),
            c=no,
        ),
        pair(
            "an If of If in another order",
            "float[N] x, bool c, bool d => float[M] y",
            chosen(
                "a = Neg (x)",
                "b = If (d) <then_branch = t () => (float[C] q) { q = Abs (x) }, "
                "else_branch = e () => (float[D] r) { r = Identity (x) }>",
            ),
            chosen(
                "a = Neg (x)",
                "b = If (d) <then_branch = t () => (float[C] q) { q = Identity (x) }, "
                "else_branch = e () => (float[D] r) { r = Abs (x) }>",
            ),
            x=-ramp(1),
            c=no,
            d=no,
        ),
    ]


def loops() -> list[Pair]:
    grown, two = "q = Constant <value_ints = [1, 0]> ()\nv = Pad (u, q)", "float[A] u, float[C] r"
    swap = dict(states="(x, t)", results="y, z", formals=two, outs="float[B] v, float[D] n")
    second = "float[N] x, float[N] t, int64 k => float[M] y, float[L] z"
    s0 = "s = Constant <value_float = 1.0> ()\n"
    rows = "float[N] x => float y, float z"
    draw = "p = Constant <value_ints = [1]> ()\n"
    return [
        pair(
            "a turn more",
            TURNS,
            loop(grown),
            "o = Constant <value_int = 1> ()\nj = Add (k, o)\n" + loop(grown).replace("Loop (k,", "Loop (j,"),
            x=ramp(2),
            k=1,
        ),
        pair(
            "three turns written out",
            TURNS,
            loop("v = Neg (u)"),
            "a = Neg (x)\nb = Neg (a)\ny = Neg (b)",
            x=ramp(2),
            k=2,
        ),
        pair(
            "a Pad at the other end in each turn",
            TURNS,
            loop(grown),
            loop(grown.replace("[1, 0]", "[0, 1]")),
            x=ramp(2),
            k=2,
        ),
        pair("a body that reads what is outside", TURNS, loop("v = Neg (u)"), loop("v = Neg (x)"), x=ramp(2), k=2),
        pair(
            "a body that reads the number of the turn",
            TURNS,
            loop("f = Cast <to = 1> (i)\nv = Add (u, f)"),
            loop("h = Cast <to = 1> (k)\nf = Sub (h, h)\nv = Add (u, f)"),
            x=ramp(2),
            k=2,
        ),
        pair(
            "states that change places",
            second,
            loop("v = Identity (r)\nn = Identity (u)", **swap),
            loop("v = Identity (u)\nn = Identity (r)", **swap),
            x=ramp(1),
            t=-ramp(1),
            k=1,
        ),
        pair(
            "states that are given in another order",
            second,
            loop("v = Neg (u)\nn = Identity (r)", **swap),
            loop("v = Neg (u)\nn = Identity (r)", **(swap | {"states": "(t, x)"})),
            x=ramp(1),
            t=2 * ramp(1),
            k=1,
        ),
        pair(
            "a condition that ends the loop",
            TURNS,
            loop("v = Neg (u)"),
            loop("v = Neg (u)").replace("w = Identity (o)", "w = Not (o)"),
            x=ramp(1),
            k=2,
        ),
        pair(
            "states of a Scan that change places",
            rows,
            s0 + scan("e = Add (a, d)\nf = Sub (c, d)"),
            s0 + scan("e = Sub (a, d)\nf = Add (c, d)"),
            x=ramp(1),
        ),
        pair(
            "a Scan in the other direction",
            rows,
            s0 + scan("e = Sub (d, a)\nf = Identity (c)"),
            (s0 + scan("e = Sub (d, a)\nf = Identity (c)")).replace(
                "num_scan_inputs = 1", "num_scan_inputs = 1, scan_input_directions = [1]"
            ),
            x=ramp(2),
        ),
        pair(
            "one draw, and two draws",
            "=> float[1] y".replace("=>", "float[N] x =>"),
            draw + "a = RandomUniform <shape = [1]> ()\ny = Sub (a, a)",
            draw + "a = RandomUniform <shape = [1]> ()\nb = RandomUniform <shape = [1]> ()\ny = Sub (a, b)",
            x=ramp(1),
        ),
        pair(
            "draws of other seeds",
            "float[N] x => float[1] y",
            "y = RandomUniform <shape = [1], seed = 1.0> ()",
            "y = RandomUniform <shape = [1], seed = 2.0> ()",
            x=ramp(1),
        ),
    ]


def body_pairs() -> list[Pair]:
    return [*branches(), *loops()]
