"""Pads of opset 4 to 10 in standard operators: those of that opset, as ONNX Runtime has them, or none."""

from __future__ import annotations

import itertools
import os
import re

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
import pytest
import road_findings
import road_models
import roads
from small_models import FLOAT, model, pad

import padops
from padops.convert import Conversion
from padops.runtime.ort_values import run_session
from padops.spec import reference

DATA = np.arange(1, 21, dtype=np.float32).reshape(4, 5)
DIMS = (["a", "b"], [4, "b"], [4, 5])
PADS = ([-1, 0, 0, 1], [-1, 0, 0, -1], [1, 0, 0, 1], [0, 2, 0, 0], [-5, 0, 2, 0])
WHY = re.compile(
    r"it needs (\w+|Slice with bounds as inputs) \(opset \d+\); the model has opset \d+; --target onnx --opset \d+ .*"
    r"|without Pad, opset \d+ has no operators that do the same"
    r"|padops::Pad_2 .*\[P[15]\]"
)


def _lowered(opset: int, dims: list[int | str], pads: list[int], mode: str) -> Conversion:
    node = pad(["x"], pads=pads, mode=mode, value=7.0)
    source = model([node], opset, ir_version=3, inputs=[("x", FLOAT, dims)])
    return padops.convert(source, target="onnx", without_pad=True)


@pytest.mark.parametrize("opset", range(4, 11))
def test_what_is_lowered_runs(opset: int) -> None:
    options, converted = onnxruntime.SessionOptions(), 0
    options.log_severity_level = 4
    every = itertools.product(DIMS, PADS, ("constant", "edge", "reflect"))
    for dims, pads, mode in itertools.islice(every, opset % 2, None, 2):
        lowered = _lowered(opset, dims, pads, mode)
        (record,) = lowered.records
        if record.status != "converted":
            assert WHY.match(record.reason), record.reason
            continue
        session = onnxruntime.InferenceSession(lowered.proto().SerializeToString(), options)
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
    lowered = _lowered(9, ["a", "b"], [-1, 0, 0, 1], "constant")
    assert [record.status for record in lowered.records] == ["converted"]
    (cut,) = (node for node in lowered.proto().graph.node if node.op_type == "Slice")
    given = {attribute.name: list(attribute.ints) for attribute in cut.attribute}
    assert len(cut.input) == 1 and given == {"starts": [1, 0], "ends": [2**63 - 1] * 2, "axes": [0, 1]}


def test_integers_are_added_from_opset_7_on() -> None:
    """The amounts of an open dim are computed; before, ONNX Runtime adds floats alone."""
    (record,) = _lowered(6, [4, "b"], [0, 2, 0, 0], "constant").records
    assert record.status == "unconverted"
    assert record.reason == (
        "it needs Add (opset 7); the model has opset 6; --target onnx --opset 13 (padops.lower) may help"
    )


WITHOUT = "without Pad, opset {0} has no operators that do the same"
CASES = {  # opset, mode, dims, amounts of each Pad; why there is no fallback
    "too far": (10, "reflect", [2, 1], [[0, 1, 0, 1]], ""),
    "too far, before Constant had integers": (6, "reflect", [2, 3], [[0, 4, 0, 1]], ""),
    "perhaps too far": (10, "reflect", [None, None], [[0, 4, 0, 1]], ""),
    "perhaps too far, before Mod": (9, "reflect", [None, None], [[0, 4, 0, 1]], ""),
    "perhaps too far, before NonZero": (8, "reflect", [2, None], [[0, 1, 0, 1]], "its fallback needs ConstantOfShape"),
    "of any rank": (10, "reflect", None, [[0, 1, 0, 1]], WITHOUT.format(10)),
    "near": (10, "reflect", [2, 3], [[0, 1, 0, 1]], ""),
    "all of them near": (7, "reflect", [2, 3], [[0, 1, 0, 1], [1, 0, 1, 0]], ""),
    "one of them far": (10, "reflect", [2, 3], [[0, 1, 0, 1], [0, 9, 0, 0]], "its fallback needs one body for nodes"),
    "constant": (10, "constant", [2, None], [[0, 1, 0, 1]], ""),
    "a crop of all": (9, "constant", ["a", "b"], [[-2, 0, 1, 1]], ""),
    "edge": (10, "edge", [2, None], [[0, 1, 0, 1], [1, 0, 0, 0]], ""),
    "an edge of what a crop leaves": (5, "edge", [2, 3], [[0, -1, 0, 3], [0, 1, 0, 0]], ""),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fallback_is_right_or_not_written(name: str) -> None:
    """It was ONNX Runtime's Pad, whether or not that is right, which before 1.25 read beyond the data."""
    opset, mode, dims, listed, told = CASES[name]
    nodes = [pad([f"v{i}"], f"v{i + 1}", pads=amounts, mode=mode) for i, amounts in enumerate(listed)]
    last = f"v{len(nodes)}"
    source = model(nodes, opset, ir_version=3, inputs=[("v0", FLOAT, dims)], outputs=[(last, FLOAT, None)])
    converted = padops.convert(source, fold=False)
    if missing := converted.no_fallback.get("Pad_2", ""):
        assert told and f": {told}" in missing and not converted.proto().functions
        return
    assert not told
    rows = 2 if dims[0] == 2 else 3
    data = DATA[:rows, : 1 if dims[1] == 1 else 3] if dims[1] != "b" else DATA
    expected = data
    for amounts in listed:
        expected = reference.run("Pad_2", {"pads": amounts, "mode": mode}, [expected])
    for level in roads.LEVELS:
        session = onnxruntime.InferenceSession(converted.proto().SerializeToString(), roads.options(level))
        assert np.array_equal(run_session(session, {"v0": data})[0], expected)


SEED, COUNT = int(os.environ.get("PADOPS_SEED", "0")), int(os.environ.get("PADOPS_OLD_MODELS", "60"))


def test_random_models_of_old_opsets_run_with_the_fallback_that_they_carry() -> None:
    """Or what onnxruntime refuses of the original, too: functions below opset 9."""
    carried = 0
    for drawn in (road_models.draw(SEED, number) for number in range(COUNT)):
        if drawn.proto.opset_import[0].version > 10 or isinstance(drawn.expected, str):
            continue
        converted = padops.convert(drawn.proto)
        if converted.no_fallback or converted.unconverted:
            continue
        carried += 1
        for level in ("disable", "all"):
            answer = roads.attempt(roads.fallback, drawn, level)
            limits = [limit for limit, _ in road_findings.OWN]
            own = answer["said"] == "refused" and any(re.search(limit, answer["text"]) for limit in limits)
            assert answer["said"] == "same" or own, answer
    assert carried > COUNT // 20


@pytest.mark.parametrize("opset", [1, 2, 3])
def test_what_to_do_before_concat(opset: int) -> None:
    """The advice is one that can be followed: onnx has an adapter for the Pad of opset 2, and none for that of 1."""
    source = model([pad(["x"], **{"paddings" if opset == 1 else "pads": [1, 0, 0, 0]})], opset, ir_version=3)
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
