"""Each operator that moves data, on the numbers of elements: what onnxruntime gives for the numbers themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from written_models import model

from padops.convert.proof import positions
from padops.convert.proof.build import TOP, Builder
from padops.convert.proof.constants import Constants
from padops.convert.proof.positions.elements import KEPT, Elements, is_exact
from padops.convert.proof.positions.evaluation import Evaluation
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Fails, Limits, Unsupported, Verdict
from padops.convert.proof.terms import Terms

# The op_type, its attributes, the dims of the data, and its other inputs; "data" stands for the data.
CASES: list[tuple[str, dict[str, Any], list[int], list[Any]]] = [
    ("Slice", {}, [5, 4], [[1, 0], [4, 3], [0, 1]]),
    ("Slice", {}, [5, 4], [[-1], [-9], [0], [-2]]),
    ("Slice", {}, [5, 4], [[3, 9], [-2, 99], [-1, 0], [1, 2]]),
    ("Slice", {}, [5, 4], [[2], [2], [1]]),
    ("Slice", {}, [0, 4], [[4], [-9], [0], [-1]]),
    ("Slice", {}, [5, 4], [[0], [1], [2]]),
    ("Reshape", {}, [2, 6], [[0, -1, 3]]),
    ("Reshape", {}, [2, 6], [[5, -1]]),
    ("Reshape", {}, [2, 6], [[4, 0, 0]]),
    ("Reshape", {"allowzero": 1}, [0, 6], [[3, 0]]),
    ("Transpose", {}, [2, 3, 4], []),
    ("Transpose", {"perm": [1, 2, 0]}, [2, 3, 4], []),
    ("Unsqueeze", {}, [2, 3], [[0, -1]]),
    ("Squeeze", {}, [1, 3, 1], []),
    ("Squeeze", {}, [1, 3, 1], [[-1]]),
    ("Squeeze", {}, [1, 3, 1], [[1]]),
    ("Flatten", {"axis": 0}, [2, 3], []),
    ("Flatten", {"axis": -1}, [2, 3, 4], []),
    ("Expand", {}, [3, 1], [[2, 1, 4]]),
    ("Expand", {}, [3, 2], [[3]]),
    ("Tile", {}, [2, 3], [[2, 0]]),
    ("Tile", {}, [2, 3], [[3, 2]]),
    ("Gather", {"axis": 1}, [2, 3], [[[0, -1], [2, 2]]]),
    ("Gather", {"axis": -1}, [2, 3], [1]),
    ("Gather", {}, [2, 3], [[2]]),
    ("GatherElements", {"axis": 1}, [2, 3], [[[0, -1], [2, 2]]]),
    ("GatherND", {}, [2, 3, 4], [[[1, -1], [0, 0]]]),
    ("GatherND", {}, [2, 3], [[[2, 0]]]),
    ("ScatterND", {}, [4], [[[3], [-4]], "data:2"]),
    ("ScatterElements", {"axis": 1}, [1, 4], [[[3, 0]], "data:1,2"]),
    ("Concat", {"axis": -1}, [2, 3], ["data", "data:2,1"]),
    ("Concat", {"axis": 0}, [2, 3], ["data:2,1"]),
    ("DepthToSpace", {"blocksize": 2}, [1, 8, 2, 3], []),
    ("DepthToSpace", {"blocksize": 2, "mode": "CRD"}, [1, 8, 2, 3], []),
    ("SpaceToDepth", {"blocksize": 2}, [1, 2, 4, 6], []),
    ("Pad", {"mode": "edge"}, [2, 3], [[1, -1, 0, 2]]),
    ("Pad", {"mode": "reflect"}, [2, 4], [[2, -1], None, [1]]),
    ("Pad", {"mode": "reflect"}, [2, 4], [[1, 1], None, [2]]),
    ("Pad", {"mode": "reflect"}, [2, 4], [[1, -2], None, [-1]]),
    ("Pad", {"mode": "wrap"}, [2, 3], [[0, 7, 0, 5]]),
    ("Pad", {"mode": "edge"}, [2, 3], [[-2, 1], None, [0]]),
    ("Pad", {"mode": "edge"}, [2, 3], [[-3, 0], None, [0]]),
]


def node_of(case: tuple[str, dict[str, Any], list[int], list[Any]], kind: int) -> onnx.ModelProto:
    """A model of one node, whose data are of an element type."""
    op, attributes, dims, others = case
    inputs, names, initializers = [helper.make_tensor_value_info("x", kind, dims)], ["x"], []
    for index, other in enumerate(others):
        name = f"i{index}" if other is not None else ""
        names.append(name if other != "data" else "x")
        if isinstance(other, str) and other != "data":
            inputs.append(helper.make_tensor_value_info(name, kind, [int(dim) for dim in other[5:].split(",")]))
        elif other is not None and other != "data":
            initializers.append(numpy_helper.from_array(np.array(other, np.int64), name))
    outputs = [helper.make_tensor_value_info("y", kind, None)]
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "g", inputs, outputs, initializers)
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)])


def built(made: onnx.ModelProto) -> tuple[Terms, dict[str, int], dict[str, int]]:
    """The store of a model, its inputs, and its values."""
    terms = Terms()
    found = Builder(terms, Constants(terms), made, None, set(), original=True).build()
    return terms, found.inputs, found.scopes[TOP]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[2]} {case[3]}")
def test_elements_move_as_in_onnxruntime(case: tuple[str, dict[str, Any], list[int], list[Any]]) -> None:
    kind = TensorProto.DOUBLE if "Depth" in case[0] else TensorProto.INT64  # which have no kernel for int64
    made = node_of(case, kind)
    terms, inputs, values = built(made)
    evaluation = Evaluation(terms, values["y"], values["y"], 1 << 20, deep=True)
    numbers = {name: evaluation.value(term).ids for name, term in inputs.items()}
    feeds = {name: ids.astype(helper.tensor_dtype_to_np_dtype(kind)) for name, ids in numbers.items()}
    try:
        (expected,) = onnxruntime.InferenceSession(made.SerializeToString()).run(None, feeds)
    except Exception:  # onnxruntime's own, of several classes
        with pytest.raises(Fails):
            evaluation.value(values["y"])
        return
    found = evaluation.value(values["y"])
    assert found.ids.shape == expected.shape and np.array_equal(found.ids, expected)


def test_fills_and_known_elements_have_their_bits() -> None:
    elements = Elements()
    zeros = elements.constant(np.array([0.0, -0.0, 0.0], np.float32)).ids
    assert zeros[0] == zeros[2] != zeros[1]
    assert elements.constant(np.zeros(1, np.int32)).ids[0] != elements.constant(np.zeros(1, np.uint32)).ids[0]
    nan = np.array([0x7FA12345, 0x7FC00000], np.uint32).view(np.float32)
    assert len(set(elements.constant(nan).ids.tolist())) == 2


@pytest.mark.parametrize(
    "source, target, exact",
    [
        ("INT16", "INT32", True),
        ("INT16", "UINT16", False),
        ("UINT16", "INT16", False),
        ("UINT16", "INT32", True),
        ("INT32", "FLOAT", False),
        ("INT32", "DOUBLE", True),
        ("INT16", "FLOAT", True),
        ("BOOL", "UINT8", True),
        ("INT8", "BOOL", False),
        ("INT4", "INT8", True),
        ("FLOAT16", "FLOAT", False),  # a signalling NaN becomes a quiet one
        ("FLOAT8E4M3FN", "FLOAT", True),
        ("FLOAT8E5M2", "FLOAT", False),  # it has several NaN
    ],
)
def test_casts_that_keep_each_value(source: str, target: str, exact: bool) -> None:
    one, other = TensorProto.DataType.Value(source), TensorProto.DataType.Value(target)
    assert is_exact(one, other) == exact
    elements = Elements()
    data = elements.leaf("x", (3,), one)
    there = elements.cast(data, other, ())
    assert there is not None
    back = elements.cast(there, one, ())
    assert back is not None and np.array_equal(back.ids, data.ids) == exact
    assert elements.conditions == ({KEPT} if "FLOAT8E4" in source or "FLOAT8E5" in source and exact else set())


WIDENED = """(int16[2, 3] x) => (int16[a, b] y) {{ p = Constant<value_ints: ints = [0, 1, 0, 1]>()
  w = Cast<to = {wide}>(x) v = Pad<mode = "edge">(w, p) y = Cast<to = 5>(v) }}"""
NARROW = """(int16[2, 3] x) => (int16[a, b] y)
{ p = Constant<value_ints: ints = [0, 1, 0, 1]>() y = Pad<mode = "edge">(x, p) }"""


@pytest.mark.parametrize("wide, proved", [(6, True), (7, True), (3, False)])
def test_a_pad_between_exact_casts_is_the_pad(wide: int, proved: bool) -> None:
    """Through int8, elements are lost."""
    assert (prove(model(NARROW), model(WIDENED.format(wide=wide))).verdict is Verdict.PROVED) == proved


def test_large_values_are_not_followed_one_by_one() -> None:
    terms, _, values = built(model("(float[100, 100] x) => (float[a, b] y) { y = Transpose(x) }"))
    outcome = positions.decide(terms, values["y"], values["y"], Limits(elements=9999))
    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.why == "the value 'x' has 10000 elements, which is more than 9999"


def test_unknown_dims_and_amounts_of_data_are_told() -> None:
    terms, _, values = built(model("(float[n] x) => (float[a] y) { y = Transpose(x) }"))
    with pytest.raises(Unsupported, match=r"the dims \['n'\] of the value 'x' \(input\) are not all known"):
        Evaluation(terms, values["y"], values["y"], 99, deep=False).value(values["y"])
    terms, _, values = built(model("(float[4] x, int64[2] p) => (float[a] y) { y = Pad(x, p) }"))
    with pytest.raises(Unsupported, match="amounts of a Pad that are computed from data"):
        Evaluation(terms, values["y"], values["y"], 99, deep=False).value(values["y"])


ARITHMETIC = [
    ("Div", [-7, 7, -6], [2, -2, 4]),
    ("Mod", [-7, 7, 6], [3, -3, 4]),
    ("Sub", [1, 2, 3], [5]),
    ("Max", [1, 2, 3], [2]),
    ("Equal", [1, 2, 3], [2]),
    ("GreaterOrEqual", [1, 2, 3], [2]),
]


@pytest.mark.parametrize("op, one, other", ARITHMETIC)
def test_amounts_are_computed_as_by_onnxruntime(op: str, one: list[int], other: list[int]) -> None:
    kind = "bool" if "Equal" in op else "int64"
    made = model(
        f"() => ({kind}[3] y) {{ a = Constant<value_ints: ints = {one}>() b = Constant<value_ints: ints = {other}>()"
        f" y = {op}(a, b) }}"
    )
    terms, _, values = built(made)
    (expected,) = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {})
    found = Evaluation(terms, values["y"], values["y"], 99, deep=True).value(values["y"])
    assert isinstance(found, np.ndarray) and found.dtype == expected.dtype and np.array_equal(found, expected)


def test_integers_beyond_their_type_prove_nothing() -> None:
    made = model(
        "() => (int64[1] y) { a = Constant<value_ints: ints = [9223372036854775807]>()"
        " b = Constant<value_ints: ints = [1]>() y = Add(a, b) }"
    )
    terms, _, values = built(made)
    with pytest.raises(Unsupported, match="an integer beyond its type"):
        Evaluation(terms, values["y"], values["y"], 99, deep=True).value(values["y"])


def test_a_place_that_is_written_twice_has_no_known_element() -> None:
    terms, _, values = built(node_of(("ScatterND", {}, [4], [[[3], [-1]], "data:2"]), TensorProto.INT64))
    with pytest.raises(Unsupported, match="ScatterND that writes one place twice"):
        Evaluation(terms, values["y"], values["y"], 99, deep=True).value(values["y"])


def test_an_operator_that_does_not_take_the_type_is_no_proof() -> None:
    """Concat takes bfloat16 from opset 13 on."""
    first = """(bfloat16[2] x) => (bfloat16[a] y)
    { p = Constant<value_ints: ints = [0, 2]>() y = padops.Pad_13<mode = "wrap">(x, p) }""".replace("_13", "_19")
    second = "(bfloat16[2] x) => (bfloat16[a] y) { y = Concat<axis = 0>(x, x) }"
    assert prove(model(first, 13), model(second, 13)).verdict is Verdict.PROVED
    assert prove(model(first, 12), model(second, 12)).verdict is not Verdict.PROVED
