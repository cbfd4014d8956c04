"""Fallback functions: a converted model runs without the library, and gives the bits that the library gives.

``PADOPS_EXAMPLES`` sets how many random cases are drawn of each kind.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import case_strategies
import native
import numpy as np
import oldest_runtime
import onnx
import onnx_pads
import pytest
import standard_models as standard
from case_strategies import Case
from hypothesis import strategies as st
from small_models import one_pad, parsed

import padops
from padops.convert.standard import fallback
from padops.convert.standard.graph_builder import GraphBuilder
from padops.spec.dtypes import by_name, by_numpy
from padops.spec.plan import PadError

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "60"))


@pytest.mark.parametrize("family", standard.FAMILIES)
def test_all_say_the_same(family: str) -> None:
    """Reference, library, fallback, lowered model and Python kernel; what a model says of itself varies, too."""
    seen: Counter[str] = Counter()

    cases = st.tuples(standard.FAMILIES[family], standard.opsets(), standard.declarations())

    def check(drawn: tuple[Case, int, tuple[str, str]]) -> None:
        case, opset, declared = drawn
        if case.inputs[0].ndim <= 5:
            seen["all"] += 1
            standard.check(case, opset, declared, seen)

    kinds: set[str] = set()
    if EXAMPLES >= 60:  # of fewer, not every kind need come up
        ops = [op for op in padops.OPS.values() if op.name.startswith(standard.PREFIX[family])]
        kinds = {mode.lower() for op in ops for mode in op.modes} | {"lowered refuses", "python", "fallback fails"}
        kinds |= {f"{form} is right" for form in ("fallback", "lowered", "without Pad")}
    least = dict.fromkeys(kinds, 1) | {"all": EXAMPLES // 2, "fallback is right": EXAMPLES // 10}
    case_strategies.explore(cases, check, EXAMPLES, lambda: all(seen[kind] >= count for kind, count in least.items()))


def test_one_body_serves_all_calls() -> None:
    """One body serves all calls of an operator; the calls differ in mode, amounts, fill, type, rank and inputs."""
    reached: Counter[str] = Counter()

    families = st.sampled_from(sorted(standard.FAMILIES))
    calls = families.flatmap(lambda name: st.lists(standard.FAMILIES[name], min_size=3, max_size=4))

    def check(drawn: tuple[list[Case], tuple[str, str]]) -> None:
        reached[_check_one_body(*drawn)] += 1

    least = {"the same bits": EXAMPLES // 5} | ({"no fallback": 1} if EXAMPLES >= 60 else {})
    met = lambda: all(reached[answer] >= count for answer, count in least.items())
    case_strategies.explore(st.tuples(calls, standard.declarations()), check, EXAMPLES, met)


def _check_one_body(cases: list[Case], declared: tuple[str, str]) -> str:
    """Checks one model, and says how far it came."""
    right = [case for case in cases if not isinstance(standard.expected_of(case), PadError)]
    right = [case for case in right if standard.is_moved(by_numpy(case.inputs[0].dtype).name, standard.NEWEST)]
    if any(case.inputs[0].dtype == object for case in right):  # which go into a session along with NumPy's types only
        right = [case for case in right if case.inputs[0].dtype.isbuiltin == 1]
    # A fill of several elements fails where others need theirs, in a mode that ignores it.
    if declared[0] != "full":
        right = [case for case in right if all(x is None or x.size == 1 for x in case.inputs[1:] if _is_fill(case, x))]
    if not right:
        return "no right case"
    source, feeds = standard.make(right, standard.NEWEST, *declared)
    converted = padops.convert(source, fold=False)
    reasons = converted.no_fallback.values()
    if reasons:
        # What one body cannot do: some types are cast and others not, or an input is missing and its default not known.
        said = (
            r": (its fill is a float, and its data are of |its data are of several types|some nodes of .* have no "
            "|a node in mode |its data are of rank 0 )"
        )
        assert len(right) > 1 and all(re.search(said, text) for text in reasons)
        return "no fallback"
    assert standard.run_all(converted.proto(), feeds) == [standard.expected_of(case) for case in right]
    return "the same bits"


def _is_fill(case: Case, array: np.ndarray | None) -> bool:
    position = padops.OPS[case.op].input_index(padops.OPS[case.op].fill)
    return position is not None and len(case.inputs) > position and array is case.inputs[position]


def _chain(nodes: list[tuple[str, list[int]]], dims: str = "?, ?", held: bool = True) -> onnx.ModelProto:
    """Pads of rank 2 one behind another, of mode and amounts, which are constants if they are held."""
    pads = " ".join(f'v{i + 1} = Pad <mode = "{mode}"> (v{i}, p{i})' for i, (mode, _) in enumerate(nodes))
    rows = [f"int64[4] p{i} = {{{str(row)[1:-1]}}}" if held else f"int64[4] p{i}" for i, (_, row) in enumerate(nodes)]
    inputs = ", ".join([f"float[{dims}] v0", *([] if held else rows)])
    return parsed(f"({inputs}) => (float[] v{len(nodes)}) <{', '.join(rows if held else [])}> {{ {pads} }}")


MANY = fallback.MANY + 1
FAR = [0, 2, 0, 1]
CALLS = {
    "edge": [("edge", FAR)] * MANY,
    "constant and edge": [(("constant", "edge")[i % 2], FAR) for i in range(2 * MANY)],
    "reflect, all alike": [("reflect", FAR)] * MANY,
    "reflect": [("reflect", [0, 1 + i % 2, 0, 2 - i % 2]) for i in range(MANY)],
    "reflect, by other amounts": [("reflect", [0, 1, 0, 2 - i % 2]) for i in range(MANY)],
    "all": [(("constant", "edge", "reflect")[i % 3], FAR) for i in range(3 * MANY)],
}


@pytest.mark.parametrize("name", CALLS)
def test_many_calls_get_a_short_body(name: str) -> None:
    """Right where ONNX Runtime's Pad is, it fails elsewhere; also before 1.25, whose Pad read beyond the data."""
    source = _chain(CALLS[name])
    converted = padops.convert(source, fold=False)
    (note,) = converted.notes
    assert note == f"the fallback of Pad_13, with {len(CALLS[name])} calls, {fallback.SHORT}"
    (function,) = converted.proto().functions
    assert "Loop" not in str(function)
    first = CALLS[name][0][0]
    for shape, right in (((2, 5), True), ((1, 3), True), ((2, 2), first != "reflect"), ((2, 0), first == "constant")):
        feeds = {"v0": np.random.default_rng(0).standard_normal(shape).astype(np.float32)}
        got = standard.run(converted.proto(), feeds)
        if right:
            assert got == standard.run(converted.proto(), feeds, "native")
        else:
            assert isinstance(got, Exception), got
    again = padops.convert(converted.proto(), fold=False)
    assert (again.proto(), again.notes) == (converted.proto(), ("nothing had to be changed", note))


WHOLE = {
    "as many as may have it": [("reflect", FAR)] * fallback.MANY,
    "before 1.24 the built-in is wrong or crashes": [("reflect", FAR)] * MANY + [("edge", [0, -1, 0, 3])],
    "amounts at run time": [("edge", FAR)] * MANY,
}


@pytest.mark.parametrize("name", WHOLE)
def test_other_calls_get_the_whole_body(name: str) -> None:
    feeds = {"v0": np.array([[1, 2]], np.float32)}  # a reflection longer than n - 1
    feeds |= {f"p{i}": np.array(FAR) for i in range(MANY)}
    converted = padops.convert(_chain(WHOLE[name], held="run time" not in name), fold=False)
    assert converted.notes == ()
    assert "Loop" in str(converted.proto().functions[0])
    expected = standard.run(converted.proto(), feeds, "native")
    assert standard.run(converted.proto(), feeds) == expected


def test_calls_that_are_proven_right_have_the_built_in_alone() -> None:
    converted = padops.convert(_chain([("reflect", FAR)] * MANY, "2, 5"), fold=False)
    assert converted.notes == ()
    assert [node.op_type for node in converted.proto().functions[0].node] == ["Pad"]


SHAPES = [(3, 5), (1, 4), (0, 2), (2, 0, 3), ()]
PAIRS = [(1, 2), (0, 0), (-1, 2), (3, -2), (-1, -1), (9, 8), (-3, 0)]
FIXED_TYPES = ("float", "int8", "int16", "float16", "bool", "string", "bfloat16", "uint64")


def _fixed(op: str) -> Iterator[Case]:
    """Every mode with amounts that add, crop and do both, and with empty data."""
    rng = np.random.default_rng(0)
    types = [name for name in FIXED_TYPES if name in padops.OPS[op].types]
    for count, (mode, shape, (begin, end)) in enumerate(itertools.product(padops.OPS[op].modes, SHAPES, PAIRS)):
        dtype = by_name(types[count % len(types)])
        data, fill = native.random_array(rng, dtype, shape), native.random_array(rng, dtype, ())
        if op == "SamePad_1":
            whole = native.random_array(rng, dtype, (1, 2, *shape))
            kernel = {"kernel_shape": [2 + abs(begin)] * len(shape), "strides": [1 + abs(end)] * len(shape)}
            yield Case(op, {"mode": mode} | kernel, [whole, fill])
        else:
            rest = [1, 2][: len(shape) - 1]
            pads = [begin, *rest, end, *rest] if shape else []
            interior = [2] * len(shape) if mode == "CONSTANT" else ()
            yield Case(op, *onnx_pads.node(op, mode, data, pads, fill, interior))


FIXED_OPS = ("Pad_13", "Pad_19", "OpenVINOPad_1", "OpenVINOPad_12", "NGraphPad_0", "SamePad_1")


@pytest.mark.parametrize("op", FIXED_OPS)
def test_fixed_cases(op: str) -> None:
    seen: Counter[str] = Counter()
    for count, case in enumerate(itertools.islice(_fixed(op), 0, None, 12)):  # in turn each shape and each amount
        declared = itertools.product(("full", "ranks", "none"), ("nothing", "amounts", "all"))
        standard.check(case, (13, 14, 21)[count % 3], list(declared)[count % 9], seen)
    modes = {mode.lower() for mode in padops.OPS[op].modes}
    forms = ("fallback is right", "lowered is right", "without Pad is right", "fallback fails")
    assert all(seen[what] for what in (*modes, *forms)), seen


def test_on_the_oldest_runtime() -> None:
    """The fixed set, the short bodies, and Pads that a conversion leaves."""
    wanted = ["test_fixed_cases", "test_many_calls_get_a_short_body", "test_other_calls_get_the_whole_body"]
    folder = Path(__file__).parent
    others = (f"{folder}/test_stock_fallbacks.py::test_a_branch_that_is_not_taken_breaks_no_rule",
              f"{folder}/test_lowering.py::test_a_crop_that_leaves_nothing",
              f"{folder.parent}/matchers/test_convert_forms.py::test_kept_rows_are_right")  # fmt: skip
    passed = oldest_runtime.count_passed(*(f"{__file__}::{name}" for name in wanted), *others)
    assert passed == len(FIXED_OPS) + len(CALLS) + len(WHOLE) + 4


def test_types_that_have_none() -> None:
    """Two types have no fallback: casts change the NaNs of float8e5m2, and float4e2m1 has no casts."""
    without = set()
    for dtype in native.TYPES:
        source = one_pad(standard.NEWEST, inputs=[("x", dtype.onnx, [2, 3])], outputs=[("y", dtype.onnx, None)])
        for why in padops.convert(source).no_fallback.values():
            without.add(dtype.name)
            said = f"no standard operator of opset {standard.NEWEST} copies {dtype.name} without changing bits"
            assert said in why
    assert without == set(standard.NEVER_MOVED) & {dtype.name for dtype in native.TYPES}


def test_an_operator_that_nothing_has_a_body_for_has_none() -> None:
    """A call that no data can make right takes the fallback of its operator away, and the record says so."""
    lists = {"padding_below": [0], "padding_above": [0], "padding_interior": [1]}
    case = Case("NGraphPad_0", lists | {"pad_mode": "EDGE"}, [np.zeros(2, np.float32), np.zeros((), np.float32)])
    source, feeds = standard.make([case])
    converted = padops.convert(source)
    assert converted.records[0].reason == str(standard.expected_of(case))
    assert not converted.proto().functions
    assert isinstance(standard.run(converted.proto(), feeds), Exception)


def test_without_fallback() -> None:
    """Functions that know nothing of new nodes go away; a model that is not changed keeps those that it has."""
    converted = padops.convert(one_pad()).proto()
    assert len(converted.functions) == 1
    assert padops.convert(converted, fallback=False).proto() == converted
    assert not padops.convert(one_pad(), fallback=False).proto().functions


@pytest.mark.parametrize("left", ["", "; 1 constant left the inputs"])
def test_a_model_of_ir_version_3_gets_one_that_has_functions(left: str) -> None:
    """Up to IR version 3 each constant is an input; of a newer model, a caller could replace it."""
    source = one_pad(10)
    names = [value.name for value in source.graph.input]
    if left:
        source.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(2, np.float32), "w"))
        source.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [2]))
    converted = padops.convert(source)
    assert (source.ir_version, converted.proto().ir_version) == (3, fallback.IR_VERSION)
    assert converted.notes == (f"IR version raised from 3 to 8 (functions need it){left}",)
    assert [value.name for value in converted.proto().graph.input] == names


def test_equal_constants_are_one_value_and_others_are_not() -> None:
    builder, words = GraphBuilder(18), ["pad", "pa", "d"]
    longer = np.arange(2000)
    arrays = [np.array(["pad"], object), np.array([words[1] + words[2]], object), np.array(["d"], object), longer]
    arrays += [longer.copy(), np.where(longer == 1000, 7, longer)]
    values = [builder.constant(array) for array in arrays]
    assert [values.index(value) for value in values] == [0, 0, 2, 3, 3, 5]


def test_axes_that_one_call_alone_has() -> None:
    """The other call gets its default, all axes, so that one body serves both (P8)."""
    source = parsed("""(float[3, 2] x, int64[1] a) => (float[c, e] y, float[d, f] z)
        <int64[2] p = {5, 1}, int64[4] q = {1, 5, 1, 1}> {
        y = Pad <mode = "reflect"> (x, p, , a) z = Pad <mode = "reflect"> (x, q) }""", 18)  # fmt: skip
    converted = padops.convert(source, fold=False)
    assert converted.no_fallback == {} and len(converted.proto().functions) == 1
    *_, axes = converted.proto().graph.node[1].input
    (array,) = (row for row in converted.proto().graph.initializer if row.name == axes)
    assert onnx.numpy_helper.to_array(array).tolist() == [0, 1]


def test_a_fill_that_one_call_alone_has_of_data_that_are_cast() -> None:
    """The other call gets the default, 0, so that one body casts the fill of both (P7)."""
    source = parsed(
        """(uint8[3] d, uint8 v) => (uint8[a] y, uint8[b] z) <int64[2] p = {1, 2}> {
        x = Cast <to = 21> (d) w = Cast <to = 21> (v) q = Pad (x, p, w) r = Pad (x, p)
        y = Cast <to = 2> (q) z = Cast <to = 2> (r) }""",
        21,
    )
    converted = padops.convert(source)
    assert converted.notes == ("1 Pad_21 got the default of constant_value as an input, for the fallback",)
    feeds = {"d": np.array([1, 2, 3], np.uint8), "v": np.array(9, np.uint8)}
    for options in (native.session_options(), native.onnxruntime.SessionOptions()):
        one, other = native.session(converted.proto(), options).run(None, feeds)
        assert (one.tolist(), other.tolist()) == ([9, 1, 2, 3, 9, 9], [0, 1, 2, 3, 0, 0])


@pytest.mark.parametrize(("declared", "operators"), [("float", ["Pad"]), ("float[]", ["Constant", "Reshape", "Pad"])])
def test_a_fill_that_may_have_several_elements_in_one_call(declared: str, operators: list[str]) -> None:
    """The body of both calls must see that it has one."""
    source = parsed(
        f"""(float[3] x, float v, {declared} w) => (float[a] y, float[b] z) <int64[2] p = {{5, -1}}> {{
        y = Pad (x, p, v) z = Pad (x, p, w) }}""",
        18,
    )
    (body,) = padops.convert(source).proto().functions
    assert [node.op_type for node in body.node] == operators
