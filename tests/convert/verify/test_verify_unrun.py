"""Models that ONNX Runtime does not run, or not with the given inputs: the verifier says what it compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import DOUBLE, FLOAT, INT64, STRING, convert, model, pad, tensor

import padops
from padops import cli
from padops.convert import PadsLeftError, UndecidedError

PADS = tensor("pads", [0, 1, 0, 1])
SAME = "tested: ONNX Runtime runs neither model; compared node by node, they do the same"


def oldest(amounts: Sequence[int] = (1, 1), name: str = "a", **more: object) -> onnx.ModelProto:
    """A Pad of opset 1, which no release of ONNX Runtime runs."""
    node = helper.make_node("Pad", ["x"], ["y"], name=name, paddings=list(amounts), mode="constant", **more)
    return model([node], 1, ir_version=4, inputs=[("x", FLOAT, [3])])


def unheard(mode: str = "reflect", attribute: int = 0, **parts: object) -> onnx.ModelProto:
    """A Pad, and an operator that no runtime has."""
    nodes = [pad(name="pad", mode=mode), helper.make_node("Unheard", ["y"], ["z"], domain="custom", level=attribute)]
    parts = {"inputs": [("x", FLOAT, ["n", 3])], "tensors": [PADS]} | parts
    return model(nodes, imports=[("custom", 1)], outputs=[("z", FLOAT, None)], **parts)


def save(path: Path, source: onnx.ModelProto) -> str:
    path.write_bytes(source.SerializeToString())
    return str(path)


def test_a_model_against_itself_is_the_same() -> None:
    for other in (oldest(), oldest(name="renamed")):
        verification = padops.verify(oldest(), other, run=True)
        assert (verification.outcome, verification.passed, verification.refuted) == ("same", True, False)
        assert verification.notes[0] == "node by node, the two models do the same"
        assert "Could not find an implementation for Pad(1)" in verification.notes[1]


def test_models_that_differ_are_different(unproved: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    verification = padops.verify(oldest(), oldest((1, 2)), run=True)
    assert (verification.outcome, verification.passed) == ("different", False)
    assert [(one.path, one.detail, one.right) for one in verification.pads] == [
        ("graph/a", "shape [5] became [6]", False)
    ]
    one, same, other = (save(tmp_path / f"{i}.onnx", source) for i, source in enumerate(
        (oldest(), oldest(name="b"), oldest((1, 2)))))  # fmt: skip
    assert cli.main(["verify", "--run", one, other]) == 4
    assert capsys.readouterr().out.startswith("different: the outputs of Pads differ\n")
    assert cli.main(["verify", "--run", one, same]) == 0
    assert " ".join(capsys.readouterr().out.split()).startswith(SAME)
    assert (
        padops.verify(oldest(), oldest(value=0.5), run=True)
        .pads[0]
        .detail.startswith("2 of 5 elements, first at [0]: 0.0 became 0.5")
    )


def test_pads_that_are_written_otherwise_are_compared_by_the_reference() -> None:
    source = unheard()
    assert padops.verify(source, convert(source).proto(), run=True).outcome == "same"
    verification = padops.verify(source, convert(unheard("edge")).proto(), run=True)
    assert (verification.outcome, verification.pads[0].path) == ("different", "graph/pad")
    for kind in (STRING, DOUBLE, onnx.TensorProto.BOOL, onnx.TensorProto.INT4):
        given = {"inputs": [("x", kind, [2, 3])], "opset": 21, "ir_version": 10}
        assert padops.verify(unheard(**given), convert(unheard(**given)).proto(), run=True).outcome == "same"
        assert (
            padops.verify(unheard(**given), convert(unheard("edge", **given)).proto(), run=True).outcome == "different"
        )


def test_what_the_nodes_do_not_tell(tmp_path: Path) -> None:
    """Another node, other amounts that are inputs, external data of the same name in another folder."""
    verification = padops.verify(unheard(), unheard(attribute=1), run=True)
    assert (verification.outcome, verification.passed) == ("undecided", False)
    assert verification.notes[0] == "the nodes do not tell either: graph/Unheard_1 is not the same in both"
    given = [("x", FLOAT, [2, 3]), ("pads", INT64, [4])]
    verification = padops.verify(unheard(inputs=given, tensors=[]), unheard("edge", inputs=given, tensors=[]), run=True)
    assert verification.notes[0].endswith("graph/pad: its amounts or its fill are not known before it runs")
    weight = onnx.TensorProto(name="w", data_type=FLOAT, dims=[3], data_location=onnx.TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="w.bin")
    paths = []
    for i in (1, 1, 2):
        folder = tmp_path / str(len(paths))
        folder.mkdir()
        (folder / "w.bin").write_bytes(np.full(3, i, np.float32).tobytes())
        source = unheard(tensors=[PADS, weight])
        source.graph.node[1].input.append("w")
        paths.append(save(folder / "m.onnx", source))
    assert padops.verify(paths[0], paths[1], run=True).outcome == "same"
    verification = padops.verify(paths[0], paths[2], run=True)
    assert verification.notes[0] == "the nodes do not tell either: initializer 'w' is not the same in both"


def test_a_model_that_no_runtime_loads_is_not_written(
    unproved: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """No form of the command writes the model, and ``-q`` still prints the reason."""
    source, out = save(tmp_path / "m.onnx", oldest()), tmp_path / "out.onnx"
    why = "1 of 1 Pad stays unconverted, and ONNX Runtime does not run the model as it is: graph/a (Pad-1 attributes)"
    for call in (
        lambda: padops.lower(source),
        lambda: padops.lower(source, out),
        lambda: padops.convert(source, out, target="onnx"),
    ):
        with pytest.raises(PadsLeftError) as caught:
            call()
        assert str(caught.value).startswith(why) and not out.exists()
    assert padops.convert(source, target="onnx").unconverted[0].facts.verdict == "refuses"
    assert cli.main(["convert", source, "-o", str(out), "--target", "onnx", "-q"]) == 3
    assert capsys.readouterr().err.startswith(f"error: {why}") and not out.exists()
    assert cli.main(["convert", save(tmp_path / "u.onnx", unheard()), "-o", str(out), "--verify", "--run", "-q"]) == 0
    assert capsys.readouterr().err == "" and out.exists(), "node by node, they do the same"
    out.unlink()
    with pytest.raises(UndecidedError, match="^it could not be told"):
        padops.lower(unheard(), out, verify=True, run=True, strict=True)
    assert not out.exists()


def test_a_pad_that_breaks_a_rule_wherever_the_model_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A Pad that every run reaches fails the model; in a branch, the model may still be of use."""
    out = tmp_path / "out.onnx"
    broken = pad(name="pad", mode="edge", output="p")
    source = model([broken], inputs=[("x", FLOAT, [0, 3])], tensors=[tensor("pads", [1, 0, 0, 0])],
                   outputs=[("p", FLOAT, None)])  # fmt: skip
    unknown = model([pad(name="pad", mode="bogus")], inputs=[("x", FLOAT, [2, 3])], tensors=[PADS])
    for given, rule in ((source, "[P5]"), (unknown, "[P9]")):
        with pytest.raises(PadsLeftError, match="breaks a rule, so no runtime runs the model: graph/pad") as caught:
            padops.lower(given, out)
        assert str(caught.value).endswith(rule) and not out.exists()
    assert cli.main(["convert", save(tmp_path / "m.onnx", unknown), "-o", str(out), "-q"]) == 3
    assert capsys.readouterr().err.endswith("[P9]\n") and not out.exists()
    declared = [helper.make_tensor_value_info("p", FLOAT, None)]
    branches = [
        helper.make_graph([node], "b", [], declared) for node in (broken, helper.make_node("Relu", ["x"], ["p"]))
    ]
    node = helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    source = model([node], inputs=[("x", FLOAT, [0, 3]), ("c", onnx.TensorProto.BOOL, [])],
                   tensors=[tensor("pads", [1, 0, 0, 0])], outputs=[("y", FLOAT, None)])  # fmt: skip
    (record,) = padops.lower(source, out).unconverted
    assert record.facts.verdict == "breaks a rule" and out.exists()


def test_what_runs_but_has_nothing_to_compare_with(
    unproved: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The model is written and the exit code and stderr say so; with ``--strict`` it is not written."""
    branch = helper.make_graph(
        [pad(output="p")], "b", [], [helper.make_tensor_value_info("p", onnx.TensorProto.INT16, None)]
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    source = model([node], inputs=[("x", onnx.TensorProto.INT16, [2, 3]), ("c", onnx.TensorProto.BOOL, [])],
                   outputs=[("y", onnx.TensorProto.INT16, None)], tensors=[PADS])  # fmt: skip
    out = tmp_path / "out.onnx"
    arguments = ["convert", save(tmp_path / "m.onnx", source), "-o", str(out), "--verify", "--run"]
    assert cli.main([*arguments, "--strict", "-q"]) == 5 and not out.exists()
    capsys.readouterr()
    assert cli.main([*arguments, "-q"]) == 5 and out.exists()
    why = "warning: not verified: the converted model runs; there is nothing to compare its outputs with"
    assert capsys.readouterr() == ("", f"{why}; wrote {out} ({out.stat().st_size:,} bytes)\n")


def test_inputs_that_a_model_does_not_take(unproved: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """ONNX Runtime runs the model: it was the indices that were not in the table."""
    nodes = [helper.make_node("Gather", ["table", "i"], ["g"]), pad(["g", "pads"])]
    source = model(
        nodes, inputs=[("i", INT64, [64])], tensors=[tensor("table", [1.0], np.float32), tensor("pads", [0, 1])]
    )
    path = save(tmp_path / "m.onnx", source)
    assert cli.main(["verify", "--run", path, path]) == 0  # node by node
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(
        "tested: ONNX Runtime runs neither model with these inputs; compared node by node, they do the same"
    )
    said = "ONNX Runtime does not run the original with these inputs: "
    assert said in out and "; --inputs FILE.npz gives others" in out and "with i: int64[64]" in out
    nodes[0].attribute.append(helper.make_attribute("axis", 0))
    other = model(nodes, inputs=[("i", INT64, [64])], tensors=list(source.graph.initializer))
    assert cli.main(["verify", "--run", path, save(tmp_path / "other.onnx", other)]) == 5
    assert capsys.readouterr().out.startswith("unknown: neither model runs with these inputs\n")
    verification = padops.verify(source, source, inputs={"i": np.ones(64, np.int64)}, run=True)
    assert any(note.startswith(said) and "--inputs" not in note for note in verification.notes)
    converted = save(tmp_path / "pads.onnx", source)
    out = str(tmp_path / "out.onnx")
    assert cli.main(["convert", converted, "-o", out, "--verify", "--run"]) == 0, "as verify does"
    assert cli.main(["convert", converted, "-o", out, "--verify", "--run", "--strict"]) == 5
    assert capsys.readouterr().err.startswith("error: it could not be told whether the models agree: ")
