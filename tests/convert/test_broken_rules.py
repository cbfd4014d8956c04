"""A Pad that breaks a rule for any data: one answer, whatever it becomes and whoever asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import BOOL, FLOAT, INT16, graph, model, pad, tensor

import padops
from padops import cli

OWN = {"imports": [("padops", 1)]}
AXES = [tensor("pads", [1, 1, 1, 1]), tensor("axes", [1, -1])]
NGRAPH = {"padding_below": [1, 0], "padding_above": [0, 0]}


def constant(pads: Any, opset: int = 18, **parts: Any) -> onnx.ModelProto:
    mode = parts.pop("mode", "constant")
    return model([pad(name="p", mode=mode)], opset, tensors=[tensor("pads", pads)], **parts)


def own(op_type: str, *inputs: str, **attributes: Any) -> onnx.ModelProto:
    """A model that has been converted."""
    tensors = [tensor("one", [0, 3]), tensor("f", 0, np.float32)]
    return model([helper.make_node(op_type, ["x", *inputs], ["y"], "p", domain="padops", **attributes)], 18,
                 tensors=tensors, **OWN)  # fmt: skip


BROKEN = {
    "P1": constant([0, -5, 0, 0]),
    "P1, another size open": constant([0, -5, 0, 0], inputs=[("x", FLOAT, ["n", 3])]),
    "P1, int16": constant([-3, 0, 0, 0], inputs=[("x", INT16, [2, 3])], outputs=[("y", INT16, None)]),
    "P4": own("OpenVINOPad_12", "one", "one", pad_mode="reflect"),
    "P5": constant([0, 1, 0, 0], mode="edge", inputs=[("x", FLOAT, [2, 0])]),
    "P6": own("NGraphPad_0", "f", padding_interior=[0, 2], pad_mode="EDGE", **NGRAPH),
    "P7": model([pad(["x", "pads", "f"], name="p")], 18,
                tensors=[tensor("pads", [0] * 4), tensor("f", [1, 2], np.float32)]),
    "P8": constant([0, 1, 0], opset=13),
    "P8, rank unknown": constant([0, 1, 0], inputs=[("x", FLOAT, None)]),
    "P8, rank unknown, opset 13": constant([0, 1, 0], opset=13, mode="edge", inputs=[("x", FLOAT, None)]),
    "P8, axes": model([pad(["x", "pads", "", "axes"], name="p")], 18, tensors=AXES),
    "P9": constant([0] * 4, mode="symmetric"),
    "P10": constant([0, 2**60, 0, 0]),
}  # fmt: skip
OPTIONS = ([], ["--target", "onnx"], ["--target", "onnx", "--without-pad"], ["--target", "pyop"], ["--verify"],
           ["--target", "onnx", "--opset", "21"], ["--strict"], ["--no-fallback", "--no-fold"],
           ["--select", "needed"], ["--dry-run"])  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_it_ends_with_3_and_names_operator_node_and_rule(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, rule = BROKEN[name], f"[{name.split(',')[0]}]"
    path, out, folder = tmp_path / "in" / "m.onnx", tmp_path / "o.onnx", tmp_path / "out"
    path.parent.mkdir()
    folder.mkdir()
    path.write_bytes(source.SerializeToString())
    at = [*BROKEN].index(name)
    for options in (OPTIONS * 3)[at : at + 3]:
        for given in ((path, out), (path.parent, folder)):
            assert cli.main(["convert", *map(str, given), *options, "-q"]) == 3, options
            said = capsys.readouterr().err.strip()
            assert said.endswith(rule) and "graph/p" in said and "1 of 1 Pad breaks a rule" in said, options
    assert not out.exists() and not list(folder.iterdir())
    for call in (padops.lower, lambda given: padops.InferenceSession(given.SerializeToString(), convert={})):
        with pytest.raises(padops.PadsLeftError, match=r"breaks a rule.*\[") as error:
            call(source)
        assert str(error.value).endswith(rule)
    assert [record.status for record in padops.convert(source).records] == ["unconverted"]
    inspection = padops.inspect(source)
    assert inspection.summary() == "1 Pad: 1 breaking a rule" and "at run time" not in inspection.pads[0].what()
    assert inspection.pads[0].verdict == "breaks a rule" and inspection.pads[0].why.endswith(rule)
    for allowed, code in ([], 3), (["--allow", "refused"], 3), (["--allow", "breaks-a-rule"], 0):
        assert cli.main(["inspect", str(path), "--check", *allowed]) == code


def test_a_session_names_the_rule() -> None:
    for name in ("P1", "P7", "P8"):
        with pytest.raises(Exception, match=rf"\[{name}\]"):  # of padops, or of its kernel in onnxruntime
            padops.InferenceSession(BROKEN[name].SerializeToString()).run(None, {"x": np.ones((2, 3), np.float32)})


def test_a_branch_may_not_be_taken(tmp_path: Path) -> None:
    """The model is of use as long as nothing reaches the Pad; a function that is called always runs."""
    node = pad(name="p", output="b")
    branches = [graph([one], [], [("b", FLOAT, None)]) for one in (node, helper.make_node("Relu", ["x"], ["b"]))]
    choice = helper.make_node("If", ["c"], ["y"], "if", then_branch=branches[0], else_branch=branches[1])
    source = model([choice], 18, inputs=[("x", FLOAT, [2, 3]), ("c", BOOL, [])], tensors=[tensor("pads", [0, 1, 0])])
    data, out = np.ones((2, 3), np.float32), tmp_path / "o.onnx"
    for options in ({}, {"target": "onnx"}, {"target": "pyop"}):
        (record,) = padops.convert(source, out, **options).records
        assert record.facts.verdict == "breaks a rule"
        assert record.status == ("unconverted" if options == {"target": "onnx"} else "converted")
        with pytest.raises(padops.PadsLeftError, match=r"1 of 1 Pad breaks a rule: graph/if.then_branch/p.*\[P8\]"):
            padops.convert(source, out, strict=True, **options)
    session = padops.InferenceSession(padops.convert(source).proto().SerializeToString())
    assert session.run(None, {"x": data, "c": np.array(False)})[0].tobytes() == data.tobytes()
    with pytest.raises(Exception, match=r"\[P8\]"):
        session.run(None, {"x": data, "c": np.array(True)})
    body = [helper.make_node("Constant", [], ["pads"], value_ints=[0, 1, 0]), pad(name="p")]
    function = helper.make_function("f", "Padded", ["x"], ["y"], body, [helper.make_opsetid("", 18)])
    called = model([helper.make_node("Padded", ["x"], ["y"], domain="f")], 18, functions=[function], imports=[("f", 1)])
    with pytest.raises(padops.PadsLeftError, match=r"breaks a rule.*function f::Padded/p"):
        padops.convert(called, out)
