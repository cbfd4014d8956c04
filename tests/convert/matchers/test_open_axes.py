"""Pads whose axes are an input of unknown dims: onnx infers shapes as if the amounts were for all axes in order."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from small_models import FLOAT, INT64, model, pad, tensor

import padops
from padops.convert.analysis import Analysis
from padops.convert.model.document import read_document
from padops.runtime.ort_values import run_session
from padops.spec import reference

P, Q = [3, 2, 1, 3, 2, 0], [2, 1, 0, 0, 0, 3]
AXES = np.array([2, 0, 1])
DATA = np.arange(45).reshape(5, 3, 3)


def _expected(data: np.ndarray, pads: list[int], axes: np.ndarray | None) -> np.ndarray:
    return reference.run("Pad_18", {}, [data, np.array(pads), None, axes])


FUNCTION = '<domain: "f", opset_import: ["": 18, "f": 1]>'
EITHER = "If (c) <then_branch = t () => ({0}[] t) {{ t = {1} }}, else_branch = e () => ({0}[] e) {{ e = {1} }}>"
# What makes the data of a second Pad by a Pad with such axes, and the functions.
MAKERS = {
    "graph": ('z = Pad (x, p, "", a)', ""),
    "branch": ("z = " + EITHER.format("uint16", 'Pad (x, p, "", a)'), ""),
    "functions": ("z = f.Outer (a, p, x)", f"""{FUNCTION} Inner (x, p, a) => (y) {{ y = Pad (x, p, "", a) }}
        {FUNCTION} Outer (a, p, x) => (y) {{ y = f.Inner (x, p, a) }}"""),
    # Axes that come out of an If, of a shape that nothing says.
    "computed": ("z = f.F (x, p, a, c)", f"""{FUNCTION} F (x, p, a, c) => (y) {{
        b = {EITHER.format("int64", "Identity (a)")} y = Pad (x, p, "", b) }}"""),
}  # fmt: skip


@pytest.mark.parametrize(("name", "without_pad"), [(name, bool(i % 2)) for i, name in enumerate(MAKERS)])
def test_the_dims_behind_them_are_not_those_of_all_axes(name: str, without_pad: bool) -> None:
    """uint16, which ONNX Runtime's Pad lacks: (13, 8, 7) and (11, 5, 7) were silently wrong."""
    data = DATA.astype(np.uint16)
    nodes, functions = MAKERS[name]
    source = onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["": 18, "f": 1]> g (uint16[5, 3, 3] x, int64[] a, bool c) => (uint16[] y)
        <int64[6] p = {{3, 2, 1, 3, 2, 0}}, int64[6] q = {{2, 1, 0, 0, 0, 3}}> {{ {nodes} y = Pad (z, q) }} {functions}
    """)
    lowered = padops.lower(source, without_pad=without_pad)
    (behind,) = (record for record in lowered.records if record.path == "graph/Pad_1")
    assert set(behind.facts.input_shape or ()) <= {None}
    expected = _expected(_expected(data, P, AXES), Q, None)
    session = onnxruntime.InferenceSession(lowered.proto().SerializeToString())
    (output,) = run_session(session, {"x": data, "a": AXES, "c": np.array(True)})
    assert expected.shape == (11, 5, 12)
    assert output.dtype == expected.dtype and np.array_equal(output, expected)


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
