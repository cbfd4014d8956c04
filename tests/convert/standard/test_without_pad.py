"""Standard ONNX without any Pad, and of opset 4 to 10: the operators of that opset, with the same bits, or none."""

from __future__ import annotations

import itertools
import re

import native
import numpy as np
import onnx
import onnx.version_converter
import pytest
import roads
import standard_models as standard
from small_models import parsed

import padops
from padops.convert import Conversion
from padops.runtime.ort_values import run_session
from padops.spec import reference
from padops.spec.plan import PadError

# Data of which less and less is known; amounts, or none where they are an input.
KNOWN = ("float[3, 5]", "float[3, n]", "float[m, n]", "float[]")


@pytest.mark.parametrize("data", KNOWN)
def test_a_negative_dim_is_refused(data: str) -> None:
    source = parsed(f"({data} x, int64[4] p) => (float[] y) {{ y = Pad (x, p) }}", 19)
    feeds = {"x": np.ones((3, 5), np.float32), "p": np.array([0, -4, 0, -2])}
    with pytest.raises(PadError, match="P1"):
        reference.run("Pad_19", {}, [feeds["x"], feeds["p"]])
    made = padops.lower(source, without_pad=True).proto()
    assert isinstance(standard.run(made, feeds), Exception)


@pytest.mark.parametrize("data", KNOWN)
@pytest.mark.parametrize("pads", [([0, -9], [1, 0]), ([-3, 1], [0, 2])])
def test_a_dim_that_openvino_makes_0(data: str, pads: tuple[list[int], list[int]]) -> None:
    """P1: Pad-12 of OpenVINO has no negative dims."""
    source = parsed(f"""({data} x, int64[2] begins, int64[2] ends, float f) => (float[] y)
        {{ y = padops.OpenVINOPad_12 <pad_mode = "constant"> (x, begins, ends, f) }}""", 19)  # fmt: skip
    given = [np.ones((3, 5), np.float32), *map(np.array, pads), np.array(7, np.float32)]
    expected = reference.run("OpenVINOPad_12", {"pad_mode": "constant"}, given)
    assert 0 in expected.shape or pads[0] == [-3, 1]
    made = padops.lower(source, without_pad=True).proto()
    assert "Pad" not in str(made)
    feeds = dict(zip(("x", "begins", "ends", "f"), given))
    assert standard.run(made, feeds) == native.bits(expected)


def test_what_cannot_be_done_is_named() -> None:
    source = parsed("(float8e5m2[2] x) => (float8e5m2[n] y) <int64[2] p = {1, 2}> { y = Pad (x, p) }", 21)
    why = "no standard operator of opset 21 copies float8e5m2 without changing bits"
    said = rf"and ONNX Runtime does not run the model as it is: graph/Pad_0 \(.*\): {why}"
    with pytest.raises(padops.PadsLeftError, match=said):
        padops.lower(source, without_pad=True)
    source = parsed('(float[] x) => (float[] y) { y = Pad <mode = "edge", pads = [1, 2]> (x) }', 10)
    (record,) = padops.lower(source, without_pad=True).records
    assert record.reason == "without Pad, opset 10 has no operators that do the same"


# --- old opsets -------------------------------------------------------------------------------------------------------

DATA = np.arange(1, 21, dtype=np.float32).reshape(4, 5)
DIMS = ("a, b", "4, b", "4, 5")
PADS = ([-1, 0, 0, 1], [-1, 0, 0, -1], [1, 0, 0, 1], [0, 2, 0, 0], [-5, 0, 2, 0])
WHY = re.compile(
    r"it needs (\w+|Slice with bounds as inputs) \(opset \d+\); the model has opset \d+; --target onnx --opset \d+ .*"
    r"|without Pad, opset \d+ has no operators that do the same"
    r"|padops::Pad_2 .*\[P[15]\]"
)


def _lowered(opset: int, dims: str, pads: list[int], mode: str) -> Conversion:
    node = f'Pad <pads = {pads}, mode = "{mode}", value = 7.0> (x)'
    source = parsed(f"(float[{dims}] x) => (float[] y) {{ y = {node} }}", opset, 3)
    return padops.convert(source, target="onnx", without_pad=True)


@pytest.mark.parametrize("opset", range(4, 11))
def test_what_is_lowered_runs(opset: int) -> None:
    converted = 0
    every = itertools.product(DIMS, PADS, ("constant", "edge", "reflect"))
    for dims, pads, mode in itertools.islice(every, opset % 2, None, 2):
        lowered = _lowered(opset, dims, pads, mode)
        (record,) = lowered.records
        if record.status != "converted":
            assert WHY.match(record.reason), record.reason
            continue
        session = native.session(lowered.proto(), roads.options("all"))
        try:
            expected = reference.run("Pad_2", {"pads": pads, "mode": mode, "value": 7.0}, [DATA])
        except padops.PadError:
            with pytest.raises(Exception, match="."):
                run_session(session, {"x": DATA})
            continue
        assert np.array_equal(run_session(session, {"x": DATA})[0], expected), (dims, pads, mode)
        converted += 1
    assert converted >= 6


def test_a_crop_of_open_dims_before_slice_had_inputs() -> None:
    """It became a Slice of three inputs, which opset 9 does not have."""
    lowered = _lowered(9, "a, b", [-1, 0, 0, 1], "constant")
    assert [record.status for record in lowered.records] == ["converted"]
    (cut,) = (node for node in lowered.proto().graph.node if node.op_type == "Slice")
    given = {attribute.name: list(attribute.ints) for attribute in cut.attribute}
    assert len(cut.input) == 1 and given == {"starts": [1, 0], "ends": [2**63 - 1] * 2, "axes": [0, 1]}


def test_integers_are_added_from_opset_7_on() -> None:
    """The amounts of an open dim are computed; before, ONNX Runtime adds floats alone."""
    (record,) = _lowered(6, "4, b", [0, 2, 0, 0], "constant").records
    assert record.status == "unconverted"
    assert record.reason == (
        "it needs Add (opset 7); the model has opset 6; --target onnx --opset 13 (padops.lower) may help"
    )


WITHOUT = "without Pad, opset {0} has no operators that do the same"
CASES = {  # opset, mode, dims, amounts of each Pad; why there is no fallback
    "too far": (10, "reflect", "2, 1", [[0, 1, 0, 1]], ""),
    "too far, before Constant had integers": (6, "reflect", "2, 3", [[0, 4, 0, 1]], ""),
    "perhaps too far": (10, "reflect", "?, ?", [[0, 4, 0, 1]], ""),
    "perhaps too far, before Mod": (9, "reflect", "?, ?", [[0, 4, 0, 1]], ""),
    "perhaps too far, before NonZero": (8, "reflect", "2, ?", [[0, 1, 0, 1]], "its fallback needs ConstantOfShape"),
    "of any rank": (10, "reflect", "", [[0, 1, 0, 1]], WITHOUT.format(10)),
    "near": (10, "reflect", "2, 3", [[0, 1, 0, 1]], ""),
    "all of them near": (7, "reflect", "2, 3", [[0, 1, 0, 1], [1, 0, 1, 0]], ""),
    "one of them far": (10, "reflect", "2, 3", [[0, 1, 0, 1], [0, 9, 0, 0]], "its fallback needs one body for nodes"),
    "constant": (10, "constant", "2, ?", [[0, 1, 0, 1]], ""),
    "a crop of all": (9, "constant", "a, b", [[-2, 0, 1, 1]], ""),
    "edge": (10, "edge", "2, ?", [[0, 1, 0, 1], [1, 0, 0, 0]], ""),
    "an edge of what a crop leaves": (5, "edge", "2, 3", [[0, -1, 0, 3], [0, 1, 0, 0]], ""),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fallback_is_right_or_not_written(name: str) -> None:
    """It was ONNX Runtime's Pad, whether or not that is right, which before 1.25 read beyond the data."""
    opset, mode, dims, listed, told = CASES[name]
    nodes = " ".join(f'v{i + 1} = Pad <pads = {row}, mode = "{mode}"> (v{i})' for i, row in enumerate(listed))
    source = parsed(f"(float[{dims}] v0) => (float[] v{len(listed)}) {{ {nodes} }}", opset, 3)
    converted = padops.convert(source, fold=False)
    if missing := converted.no_fallback.get("Pad_2", ""):
        assert told and f": {told}" in missing and not converted.proto().functions
        return
    assert not told
    rows = 2 if dims[:1] == "2" else 3
    data = DATA[:rows, : 1 if dims.endswith("1") else 3] if dims != "a, b" else DATA
    expected = data
    for amounts in listed:
        expected = reference.run("Pad_2", {"pads": amounts, "mode": mode}, [expected])
    for level in roads.LEVELS:
        session = native.session(converted.proto(), roads.options(level))
        assert np.array_equal(run_session(session, {"v0": data})[0], expected)


@pytest.mark.parametrize("opset", [1, 2, 3])
def test_what_to_do_before_concat(opset: int) -> None:
    """The advice is one that can be followed: onnx has an adapter for the Pad of opset 2, and none for that of 1."""
    amounts = "paddings" if opset == 1 else "pads"
    source = parsed(f"(float[2, 3] x) => (float[] y) {{ y = Pad <{amounts} = [1, 0, 0, 0]> (x) }}", opset, 3)
    (record,) = padops.convert(source, target="onnx", without_pad=True).records
    assert record.reason.startswith(f"it needs Concat (opset 4); the model has opset {opset}")
    assert record.reason.endswith("; --target onnx --opset 13 (padops.lower) may help")
    assert not padops.lower(source, opset=13).unconverted
    if opset > 1:
        assert onnx.version_converter.convert_version(source, 9).opset_import[0].version == 9
        return
    with pytest.raises(RuntimeError, match="No Adapter"):
        onnx.version_converter.convert_version(source, 9)
    assert [record.status for record in padops.convert(source).records] == ["converted"]
