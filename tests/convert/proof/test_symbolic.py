"""Proofs for all sizes: what is equal is proved, and what differs for any input is not.

Each row of ``DIFFER`` is a way in which such a proof could lie: where a rule of the proof is broken, some row is
proved.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from symbolic_runs import decided, model_of

from padops.convert.proof.result import Limits, Verdict
from padops.convert.proof.symbolic import NOT_INSTALLED

SAME = "y = Identity(x)"
VECTOR = "g (float[N] x) => (float[] y) "
MATRIX = "g (float[N,M] x) => (float[] y) "
INTS = "g (int64[N] x) => (int64[] y) "

EQUAL = {
    "a Cast to a wider type and back": ("g (int8[N] x) => (int8[] y) { " + SAME + " }",
        "g (int8[N] x) => (int8[] y) { w = Cast<to=7>(x) y = Cast<to=3>(w) }"),
    "two Transposes": (MATRIX + "{ " + SAME + " }", MATRIX + "{ t = Transpose(x) y = Transpose(t) }"),
    "two Transposes of any rank": ("g (float[] x) => (float[] y) { " + SAME + " }",
        "g (float[] x) => (float[] y) { t = Transpose(x) y = Transpose(t) }"),
    "an index from the end": (MATRIX + "<int64 i = {-1}> { y = Gather(x, i) }",
        MATRIX + "<int64 z = {0}, int64 one = {1}> { s = Shape(x) n = Gather(s, z) i = Sub(n, one) y = Gather(x, i) }"),
    "an error that is lost": (
        VECTOR + "<int64[1] i = {3}> { z = Gather(x, i) w = Concat<axis=0>(x, z) s = Shape(x) "
          "o = Constant<value_ints=[0]>() y = Slice(w, o, s) }",
        VECTOR + "{ " + SAME + " }"),
    "a condition turned round": ("g (float[N] x, bool[N] c) => (float[] y) <float f = {1}> { y = Where(c, x, f) }",
        "g (float[N] x, bool[N] c) => (float[] y) <float f = {1}> { d = Not(c) y = Where(d, f, x) }"),
    "flat and back": (MATRIX + "{ " + SAME + " }",
        MATRIX + "<int64[1] all = {-1}> { f = Reshape(x, all) s = Shape(x) y = Reshape<allowzero=1>(f, s) }"),
    "axes at run time": ("g (float[N,M] x, int64[2] p, int64[1] a) => (float[] y) { y = Pad(x, p, , a) }",
        "g (float[N,M] x, int64[2] p, int64[1] a) => (float[] y) <int64[4] z = {0,0,0,0}, int64[2] o = {0,2}, "
          "int64 two = {2}> { m = Mod(a, two) i = Add(m, o) q = ScatterElements(z, i, p) y = Pad(x, q) }"),
    "no axes": (VECTOR + "<int64[0] p = {}, int64[0] a = {}> { y = Pad(x, p, , a) }", VECTOR + "{ " + SAME + " }"),
    "an If of both ways": (
        VECTOR + "{ s = Size(x) o = Constant<value_int=0>() c = Greater(s, o) y = If(c)<then_branch = t () => "
          "(float[] p) { p = Identity(x) }, else_branch = e () => (float[] q) { q = Identity(x) }> }",
        VECTOR + "{ " + SAME + " }"),
    "a Loop of two turns": (MATRIX + "{ " + SAME + " }",
        MATRIX + "{ n = Constant<value_int=2>() y = Loop(n, , x)<body = b (int64 i, bool c, float[N,M] v) => "
          "(bool d, float[] w) { d = Identity(c) w = Transpose(v) }> }"),
}  # fmt: skip

DIFFER = {
    "floats are no integers: Abs of a negative": (VECTOR + "{ y = Abs(x) }", VECTOR + "{ n = Neg(x) y = Abs(n) }"),
    "floats are no integers: 0 is added to -0": (VECTOR + "{ " + SAME + " }",
        VECTOR + "<float z = {0}> { y = Add(x, z) }"),
    "floats are no integers: Max with itself": (VECTOR + "{ " + SAME + " }", VECTOR + "{ y = Max(x, x) }"),
    "0 and -0 are other bits": (VECTOR + "<int64[2] p = {1,0}, float f = {0}> { y = Pad(x, p, f) }",
        VECTOR + "<int64[2] p = {1,0}, float f = {-0.0}> { y = Pad(x, p, f) }"),
    "a Cast to a narrower type and back": (INTS + "{ " + SAME + " }", INTS + "{ w = Cast<to=3>(x) y = Cast<to=7>(w) }"),
    "a Cast through bool": (INTS + "{ " + SAME + " }", INTS + "{ w = Cast<to=9>(x) y = Cast<to=7>(w) }"),
    "an integer type overflows": ("g (int8[N] x) => (int64[] y) { y = Cast<to=7>(x) }",
        "g (int8[N] x) => (int64[] y) <int8 k = {100}> { a = Add(x, k) b = Cast<to=7>(a) "
          "c = Cast<to=7>(k) y = Sub(b, c) }"),
    "a Where with the wrong condition": (
        "g (float[N] x, bool[N] c) => (float[] y) <float f = {1}> { y = Where(c, x, f) }",
        "g (float[N] x, bool[N] c) => (float[] y) <float f = {1}> { y = Where(c, f, x) }"),
    "a Where with a computed condition": (INTS + "<int64 k = {97}> { " + SAME + " }",
        INTS + "<int64 k = {97}> { c = Equal(x, k) n = Neg(x) y = Where(c, n, x) }"),
    "an index from the end is none from the front": (MATRIX + "<int64 i = {-1}> { y = Gather(x, i) }",
        MATRIX + "<int64 i = {0}> { y = Gather(x, i) }"),
    "an error that is new: Gather": (VECTOR + "{ " + SAME + " }",
        VECTOR + "<int64[1] i = {3}> { z = Gather(x, i) w = Concat<axis=0>(x, z) s = Shape(x) "
          "o = Constant<value_ints=[0]>() y = Slice(w, o, s) }"),
    "an error that is new: division by 0": ("g (int64[N] x, int64 k) => (int64[] y) { " + SAME + " }",
        "g (int64[N] x, int64 k) => (int64[] y) <int64 z = {0}> { d = Div(z, k) y = Sub(x, d) }"),
    "an error that is new: Mod of 0": ("g (int64[N] x, int64 k) => (int64[] y) { " + SAME + " }",
        "g (int64[N] x, int64 k) => (int64[] y) <int64 z = {0}> { d = Mod(z, k) y = Sub(x, d) }"),
    "an error that is new: dims to broadcast": ("g (float[N] x, float[M] w) => (float[] y) { " + SAME + " }",
        "g (float[N] x, float[M] w) => (float[] y) { c = Constant<value = bool[1] {1}>() y = Where(c, x, w) }"),
    "an error that is new: Concat of dims that do not fit": (
        "g (float[N,K] x, float[N,L] w) => (float[] y) { " + SAME + " }",
        "g (float[N,K] x, float[N,L] w) => (float[] y) { z = Concat<axis=0>(x, w) s = Shape(x) "
          "o = Constant<value_ints=[0,0]>() y = Slice(z, o, s) }"),
    "an error that is new: one of less than nothing": (VECTOR + "{ " + SAME + " }",
        VECTOR + "<int64[1] k = {3}> { s = Shape(x) d = Sub(s, k) z = ConstantOfShape<value = float[1] {0}>(d) "
          "w = Concat<axis=0>(x, z) o = Constant<value_ints=[0]>() y = Slice(w, o, s) }"),
    "an error that is new: P5": (VECTOR + "{ " + SAME + " }",
        VECTOR + "<int64[2] p = {1,0}, int64[1] one = {1}, int64[1] far = {1000000000000000000}> "
          "{ w = Pad<mode=\"edge\">(x, p) y = Slice(w, one, far) }"),
    "an error that is new: in a branch": (VECTOR + "{ " + SAME + " }",
        VECTOR + "{ s = Size(x) o = Constant<value_int=0>() c = Greater(s, o) y = If(c)<then_branch = t () => "
          "(float[] p) { p = Identity(x) }, else_branch = e () => (float[] q) "
          "{ i = Constant<value_ints=[2]>() q = Gather(x, i) }> }"),
    "an error that is new: for nothing, in a branch": (VECTOR + "{ " + SAME + " }",
        VECTOR + "{ s = Size(x) o = Constant<value_int=0>() c = Greater(s, o) y = If(c)<then_branch = t () => "
          "(float[] p) { p = Identity(x) }, else_branch = e () => (float[] q) { i = Constant<value_ints=[2]>() "
          "d = Gather(x, i) q = Identity(x) }> }"),
    "an error that is new: division by 0, for nothing": ("g (int64[N] x, int64 k) => (int64[] y) { " + SAME + " }",
        "g (int64[N] x, int64 k) => (int64[] y) <int64 z = {0}> { d = Div(z, k) c = Constant<value = bool[1] "
          "{1}>() y = Where(c, x, d) }"),
    "an error that is new: dims to broadcast, for nothing": (
        "g (float[4] x, float[M] w) => (float[] y) { " + SAME + " }",
        "g (float[4] x, float[M] w) => (float[] y) { c = Constant<value = bool[1] {1}>() y = Where(c, x, w) }"),
    "an error that is new: of what is not followed": ("g (float[N] x, float[K] w) => (float[] y) { " + SAME + " }",
        "g (float[N] x, float[K] w) => (float[] y) { m = MatMul(x, w) c = Constant<value = bool[1] "
          "{1}>() y = Where(c, x, m) }"),
    "an error that is new: Reshape": (VECTOR + "{ " + SAME + " }",
        VECTOR + "<int64[1] one = {1}, int64[1] o = {0}> { s = Shape(x) t = Add(s, one) "
          "w = Reshape(x, t) y = Slice(w, o, s) }"),
    "wrap further than n": (VECTOR + "<int64[2] p = {3,0}> { y = Pad<mode=\"wrap\">(x, p) }",
        VECTOR + "<int64[1] s = {-3}, int64[1] e = {1000000000000}> { b = Slice(x, s, e) y = Concat<axis=0>(b, x) }"),
    "rounding down for rounding up": (
        VECTOR + "<int64 two = {2}, int64[1] o = {0}> { s = Shape(x) k = Div(s, two) "
          "p = Concat<axis=0>(k, o) y = Pad(x, p) }",
        VECTOR + "<int64 two = {2}, int64 one = {1}, int64[1] o = {0}> { s = Shape(x) t = Add(s, one) k = Div(t, two) "
          "p = Concat<axis=0>(k, o) y = Pad(x, p) }"),
    "rounding down for cutting off": (INTS + "<int64 two = {2}> { y = Div(x, two) }",
        INTS + "<int64 two = {2}> { m = Mod(x, two) d = Sub(x, m) y = Div(d, two) }"),
    "a Reshape to other dims": (MATRIX + "{ y = Transpose(x) }",
        MATRIX + "{ t = Transpose(x) s = Shape(t) y = Reshape<allowzero=1>(x, s) }"),
    "a dim of 1 that is repeated": ("g (float[N,1] x) => (float[] y) { " + SAME + " }",
        "g (float[N,1] x) => (float[] y) { s = Constant<value_ints=[2]>() y = Expand(x, s) }"),
    "one of two dims": ("g (float[N,M] x) => (int64[] y) { y = Shape(x) }",
        "g (float[N,M] x) => (int64[] y) { t = Transpose(x) y = Shape(t) }"),
    "edges in the place of reflections": (VECTOR + "<int64[2] p = {1,0}> { y = Pad<mode=\"edge\">(x, p) }",
        VECTOR + "<int64[2] p = {1,0}> { y = Pad<mode=\"reflect\">(x, p) }"),
    "begin and end the other way round": (VECTOR + "<int64[2] p = {1,0}> { y = Pad(x, p) }",
        VECTOR + "<int64[2] p = {0,1}> { y = Pad(x, p) }"),
    "turns of a Loop are not all alike": (MATRIX + "{ " + SAME + " }",
        MATRIX + "{ n = Constant<value_int=3>() y = Loop(n, , x)<body = b (int64 i, bool c, float[N,M] v) => "
          "(bool d, float[] w) { d = Identity(c) w = Transpose(v) }> }"),
}  # fmt: skip

# Where the example of the solver is none for onnxruntime: a run has to confirm each.
UNCONFIRMED = {
    "an error that is new: Concat of dims that do not fit",  # onnxruntime compares no dims of empty tensors
    "a Reshape to other dims",  # where elements go that are not in the order of any index is not known
}


def models(pair: tuple[str, str]) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    return model_of(pair[0]), model_of(pair[1])


@pytest.mark.parametrize("name", EQUAL)
def test_what_is_equal_is_proved(name: str) -> None:
    found = decided(*models(EQUAL[name]))
    assert (found.verdict, found.why) == (Verdict.PROVED, "")
    assert found.holds_for.startswith("all data, all dims") and found.conditions


@pytest.mark.parametrize("name", DIFFER)
def test_what_differs_is_not_proved(name: str) -> None:
    original, converted = models(DIFFER[name])
    found = decided(original, converted)
    assert found.verdict is not Verdict.PROVED and found.why
    assert (found.verdict is Verdict.DIFFERENT) == (found.counterexample is not None)
    if found.counterexample is not None and name not in UNCONFIRMED:
        feeds = fed(original, found.counterexample)
        expected = answer(original, feeds)
        assert expected is not None, "the original runs for the example"
        other = answer(converted, feeds)
        assert other is None or (expected.shape, expected.tobytes()) != (other.shape, other.tobytes()), feeds


def fed(model: onnx.ModelProto, example: dict[str, dict[str, list[int]]]) -> dict[str, np.ndarray]:
    """The inputs of an example; elements that do not matter are all different."""
    feeds = {}
    for value in model.graph.input:
        dims = example.get(value.name, {"dims": [2]})["dims"]
        dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        elements = example.get(value.name, {}).get("values", np.arange(10, 10 + np.prod(dims, dtype=int)))
        feeds[value.name] = np.array(elements).astype(dtype).reshape(dims)
    return feeds


def answer(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> np.ndarray | None:
    """What onnxruntime gives, None where it fails; a division by 0 would end the process."""
    if any(node.op_type in ("Div", "Mod") for node in model.graph.node) and feeds.get("k") == 0:
        return None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)[0]
    except Exception:
        return None


def pad(mode: str, rank: int, opset: int = 21) -> onnx.ModelProto:
    """A Pad of open dims by amounts at run time."""
    value = helper.make_tensor_value_info
    inputs = [
        value("x", TensorProto.FLOAT, [f"d{axis}" for axis in range(rank)]),
        value("p", TensorProto.INT64, [2 * rank]),
    ]
    node = helper.make_node("Pad", ["x", "p"], ["y"], mode=mode)
    graph = helper.make_graph([node], "g", inputs, [value("y", TensorProto.FLOAT, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_a_pad_is_no_other_one(mode: str) -> None:
    """Of amounts at run time: each mode against each other, and against itself with amounts that are clamped."""
    original = pad(mode, 1)
    for other in ("constant", "edge", "reflect", "wrap"):
        found = decided(original, pad(other, 1))
        assert (found.verdict is Verdict.PROVED or not found.why) == (other == mode)
    clamped = pad(mode, 1)
    clamped.graph.initializer.append(numpy_helper.from_array(np.array(5, np.int64), "most"))
    clamped.graph.node.insert(0, helper.make_node("Min", ["p", "most"], ["q"]))
    clamped.graph.node[1].input[1] = "q"
    assert decided(original, clamped).verdict is Verdict.DIFFERENT


def test_a_size_of_int32_holds_for_sizes_that_it_can_hold() -> None:
    graph = "g (float[N] x) => (int64[] y) { s = Shape(x) %s }"
    found = decided(model_of(graph % "y = Identity(s)"), model_of(graph % "i = Cast<to=6>(s) y = Cast<to=7>(i)"))
    assert found.verdict is Verdict.PROVED
    assert found.conditions == ("dims and amounts are at most 2^30",)


def test_dims_of_one_name_are_a_condition() -> None:
    graph = "g (float[N] x, float[N] w) => (int64[] y) { y = Shape(%s) }"
    found = decided(model_of(graph % "x"), model_of(graph % "w"))
    assert found.verdict is Verdict.PROVED
    assert "dims of the name 'N' are equal" in found.conditions


def test_a_rank_that_nothing_declares_is_said() -> None:
    found = decided(*models(EQUAL["two Transposes of any rank"]))
    assert found.rule == "rank by rank" and found.holds_for == "all data, all dims, ranks 0 to 8"
    found = decided(*models(EQUAL["two Transposes of any rank"]), Limits(rank=3))
    assert found.holds_for == "all data, all dims, ranks 0 to 3"


def test_an_original_that_never_runs_proves_nothing() -> None:
    never = MATRIX + "<int64[2] p = {1,0}> { y = Pad(x, p) }"
    found = decided(model_of(never), model_of(MATRIX + "{ " + SAME + " }"))
    assert found.verdict is Verdict.UNKNOWN and "the original never runs: P8" in found.why


def test_an_original_that_no_size_suits_proves_nothing() -> None:
    """It takes an element that only three or more have, and leaves an axis out that only one element has."""
    steps = "g = Gather(x, i) q = Squeeze(x, a) u = Unsqueeze(q, a) y = Concat<axis=0>(g, u)"
    never = VECTOR + "<int64[1] i = {2}, int64[1] a = {0}> { " + steps + " }"
    found = decided(model_of(never), model_of(VECTOR + "{ " + SAME + " }"))
    assert found.verdict is Verdict.UNKNOWN and "the original never runs" in found.why


def test_there_is_a_limit_of_time() -> None:
    found = decided(pad("wrap", 3), pad("reflect", 3), Limits(region_seconds=0.0))
    assert found.verdict is Verdict.UNKNOWN and found.why == "more than 0 s"


def test_without_z3_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("padops.convert.proof.symbolic.find_spec", lambda name: None)
    assert importlib.util.find_spec("z3") is not None
    found = decided(*models(EQUAL["two Transposes"]))
    assert (found.verdict, found.why) == (Verdict.UNKNOWN, NOT_INSTALLED)
