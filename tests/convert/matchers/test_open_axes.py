"""Pads whose axes are an input of unknown dims: onnx infers shapes as if the amounts were for all axes in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from small_models import BOOL, FLOAT, INT64, graph, model, pad, tensor

import padops
from padops.convert.analysis import Analysis
from padops.convert.model.document import read_document
from padops.runtime.ort_values import run_session
from padops.spec import reference

UINT16 = 4
P, Q = [3, 2, 1, 3, 2, 0], [2, 1, 0, 0, 0, 3]
AXES = np.array([2, 0, 1])
DATA = np.arange(45).reshape(5, 3, 3)


def _expected(data: np.ndarray, pads: list[int], axes: np.ndarray | None) -> np.ndarray:
    return reference.run("Pad_18", {}, [data, np.array(pads), None, axes])


def _two(kind: int, nodes: Any = None, **parts: Any) -> onnx.ModelProto:
    """A Pad behind one with such axes, or behind ``nodes``."""
    nodes = nodes or [pad(["x", "p", "", "a"], "z")]
    inputs = [("x", kind, [5, 3, 3]), ("a", INT64, parts.pop("axes", None)), ("c", BOOL, [])]
    return model(
        [*nodes, pad(["z", "q"])], 18, ir_version=9, inputs=inputs, outputs=[("y", kind, None)],
        tensors=[tensor("p", P), tensor("q", Q)], **parts,
    )  # fmt: skip


def _in_a_branch(kind: int) -> onnx.ModelProto:
    then, other = (graph([pad(["x", "p", "", "a"], name)], [], [(name, kind, None)]) for name in ("t", "e"))
    return _two(kind, [helper.make_node("If", ["c"], ["z"], then_branch=then, else_branch=other)])


def _in_functions(kind: int) -> onnx.ModelProto:
    """A function that calls one that has the Pad."""
    opset = [helper.make_opsetid("", 18)]
    inner = helper.make_function("f", "Inner", ["x", "p", "a"], ["y"], [pad(["x", "p", "", "a"])], opset)
    call = helper.make_node("Inner", ["x", "p", "a"], ["y"], domain="f")
    opsets = [*opset, helper.make_opsetid("f", 1)]
    outer = helper.make_function("f", "Outer", ["a", "p", "x"], ["y"], [call], opsets)
    node = helper.make_node("Outer", ["a", "p", "x"], ["z"], domain="f")
    return _two(kind, [node], functions=[inner, outer], imports=[("f", 1)])


def _computed_in_a_function(kind: int) -> onnx.ModelProto:
    """Axes that come out of an If, of a shape that nothing says."""
    branches = [graph([helper.make_node("Identity", ["a"], [name])], [], [(name, INT64, None)]) for name in ("t", "e")]
    chosen = helper.make_node("If", ["c"], ["b"], then_branch=branches[0], else_branch=branches[1])
    opset = [helper.make_opsetid("", 18)]
    function = helper.make_function("f", "F", ["x", "p", "a", "c"], ["y"], [chosen, pad(["x", "p", "", "b"])], opset)
    node = helper.make_node("F", ["x", "p", "a", "c"], ["z"], domain="f")
    return _two(kind, [node], functions=[function], imports=[("f", 1)])


MAKERS = {"graph": _two, "branch": _in_a_branch, "functions": _in_functions, "computed": _computed_in_a_function}


@pytest.mark.parametrize("without_pad", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_the_dims_behind_them_are_not_those_of_all_axes(name: str, without_pad: bool) -> None:
    """uint16, which ONNX Runtime's Pad lacks: (13, 8, 7) and (11, 5, 7) were silently wrong."""
    data = DATA.astype(np.uint16)
    lowered = padops.lower(MAKERS[name](UINT16), without_pad=without_pad)
    (behind,) = (record for record in lowered.records if record.path == "graph/Pad_1")
    assert set(behind.facts.input_shape or ()) <= {None}
    expected = _expected(_expected(data, P, AXES), Q, None)
    session = onnxruntime.InferenceSession(lowered.proto().SerializeToString())
    (output,) = run_session(session, {"x": data, "a": AXES, "c": np.array(True)})
    assert expected.shape == (11, 5, 12)
    assert output.dtype == expected.dtype and np.array_equal(output, expected)


def test_constant_axes_are_known_in_every_graph() -> None:
    """Initializers and Constants, around the graph and in it, but not what hides them."""
    where = graph([pad(["x", "q", "", "k"], "t")], [], [("t", FLOAT, None)])
    hidden = graph(
        [helper.make_node("Identity", ["a"], ["k"]), pad(["x", "q", "", "k"], "e")], [], [("e", FLOAT, None)]
    )
    made = model(
        [
            helper.make_node("Constant", [], ["k"], value=tensor("", AXES)),
            helper.make_node("If", ["c"], ["y"], then_branch=where, else_branch=hidden),
        ],
        18, ir_version=9, inputs=[("x", FLOAT, [5, 3, 3]), ("a", INT64, None), ("c", BOOL, [])],
        outputs=[("y", FLOAT, None)], tensors=[tensor("q", Q)],
    )  # fmt: skip
    shapes = {record.path: record.output_shape for record in padops.inspect(made).pads}
    assert shapes["graph/If_1.then_branch/Pad_0"] == _expected(DATA, Q, AXES).shape
    assert shapes["graph/If_1.else_branch/Pad_1"] == (None, None, None)


# --- what ONNX Runtime does with them
# -----------------------------------------------------------------------------------


CASES = {
    "fewer axes": ([5, 3, 3], [1, 0], [1]),
    "fewer axes, some dims named": (["n", 3, 3], [1, 0, 2, 0], [2, 0]),
    "of an unknown rank": (None, [1, 0], [1]),
    "permuted": ([5, 3, 3], P, [2, 0, 1]),
    "crops": ([2, 5, 6], [-3, -3, 0, 0, 0, 0], [2, 1, 0]),
    "the same amounts everywhere": ([5, 3, 3], [1, 0, 2, 1, 2, 0], [2, 0, 1]),
    "one axis": ([5], [1, 2], [0]),
}


def _shaped(name: str) -> onnx.ModelProto:
    """A Pad, and the Shape of what it gives."""
    dims, pads, _ = CASES[name]
    nodes = [pad(["x", "p", "", "a"]), helper.make_node("Shape", ["y"], ["s"])]
    inputs, outputs = [("x", FLOAT, dims), ("a", INT64, None)], [("y", FLOAT, None), ("s", INT64, None)]
    return model(nodes, 18, ir_version=9, inputs=inputs, outputs=outputs, tensors=[tensor("p", pads)])


def _feeds(name: str) -> dict[str, np.ndarray]:
    dims, _, axes = CASES[name]
    shape = [5, 3, 3] if dims is None or "n" in dims else dims
    return {"x": np.arange(np.prod(shape), dtype=np.float32).reshape(shape), "a": np.array(axes)}


def _outputs(proto: onnx.ModelProto, name: str) -> list[np.ndarray] | None:
    """Return the outputs of stock ONNX Runtime; None where it refuses the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(proto.SerializeToString(), options).run(None, _feeds(name))
    except Exception as error:
        assert "Pads has incorrect number of values" in str(error)
        return None


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_what_onnxruntime_does(name: str) -> None:
    """The verdict agrees with onnxruntime, which reads the amounts as those of all axes in order.

    It refuses other counts of amounts, and infers wrong dims where the axes stand in another order.
    """
    source = _shaped(name)
    dims, pads, _ = CASES[name]
    ran = _outputs(source, name)
    right = ran is not None and list(ran[0].shape) == ran[1].tolist()
    (facts,) = padops.inspect(source).pads
    assert facts.runs == right
    assert (facts.verdict == "refuses") == (ran is None)
    converted = padops.convert(source, select="needed")
    assert [record.status for record in converted.records] == ["not needed" if right else "converted"]
    if right:
        return
    assert facts.roads == ("convert", "lower")
    assert "axes declared without a shape" in facts.why
    if ran is None:
        assert facts.why.endswith(f"as all {len(dims)}, and refuses {len(pads)} amounts")
    for made in (converted, padops.lower(source), padops.lower(source, without_pad=True)):
        outputs = _outputs(made.proto(), name)
        assert list(outputs[0].shape) == outputs[1].tolist()
        assert np.array_equal(outputs[0], _expected(_feeds(name)["x"], pads, _feeds(name)["a"]))


def test_what_only_optimizers_get_wrong_is_right_without_them() -> None:
    """The values in doubt, and those in doubt without graph optimisation; open axes are in doubt in both."""
    turns = [helper.make_node("Transpose", [a], [b], perm=[1, 0]) for a, b in (("x", "v"), ("w", "y"))]
    moved = model([turns[0], pad(["v", "p", "", "axes"], "w"), turns[1]], 18,
                  inputs=[("x", FLOAT, [5, 5]), ("p", INT64, [2])], tensors=[tensor("axes", [0])])  # fmt: skip
    found, unoptimised = Analysis(read_document(moved)).doubted()
    assert set(found) == {"w", "y"} and unoptimised == {}
    found, unoptimised = Analysis(read_document(_shaped("permuted"))).doubted()
    assert set(found) >= {"y"} and unoptimised == found
