"""Models that ONNX Runtime does not run, or not with the given inputs: the verifier says what it compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
import written_models
from onnx import helper
from small_models import FLOAT, INT64, convert, model, pad, tensor

import padops
from padops import cli
from padops.convert import PadsLeftError, UndecidedError

PADS = tensor("pads", [0, 1, 0, 1])


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


def test_a_model_that_no_runtime_loads_is_not_proved(tmp_path: Path) -> None:
    """Its structure is the same; no runtime says that it loads."""
    verification = padops.verify(unheard(), convert(unheard()).proto())
    assert (verification.verdict, verification.outcome) == ("tested", "same") and verification.proof.verdict == "proved"
    assert all("Unheard" in note for note in verification.notes)
    with pytest.raises(UndecidedError):
        padops.convert(unheard(), tmp_path / "out.onnx", verify=True, strict=True)
    for other in (unheard(attribute=1), unheard("edge")):
        assert padops.verify(unheard(), other).verdict == "unknown"


def test_a_model_that_no_runtime_loads_is_not_written(
    unproved: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """``-q`` still prints the reason."""
    source, out = save(tmp_path / "m.onnx", oldest()), tmp_path / "out.onnx"
    why = "1 of 1 Pad stays unconverted, and ONNX Runtime does not run the model as it is: graph/a (Pad-1 attributes)"
    for given in ((source,), (source, out)):
        with pytest.raises(PadsLeftError) as caught:
            padops.lower(*given)
        assert str(caught.value).startswith(why)
    assert cli.main(["convert", source, "-o", str(out), "--target", "onnx", "-q"]) == 3
    assert capsys.readouterr().err.startswith(f"error: {why}")
    assert cli.main(["convert", save(tmp_path / "u.onnx", unheard()), "-o", str(out), "--verify", "--run", "-q"]) == 5
    assert "nor the converted model" in capsys.readouterr().err and not out.exists()


def test_a_pad_that_breaks_a_rule_wherever_the_model_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A Pad that every run reaches fails the model; in a branch, the model may still be of use."""
    out, head = tmp_path / "out.onnx", "(float[0, 3] x, bool c) => (float[a, b] y) <int64[4] p = {1, 0, 0, 0}>"
    source = written_models.model(f'{head} {{ [pad] y = Pad <mode = "edge"> (x, p) }}')
    unknown = model([pad(name="pad", mode="bogus")], inputs=[("x", FLOAT, [2, 3])], tensors=[PADS])
    for given, rule in ((source, "[P5]"), (unknown, "[P9]")):
        with pytest.raises(PadsLeftError, match="breaks a rule, so no runtime runs the model: graph/pad") as caught:
            padops.lower(given, out)
        assert str(caught.value).endswith(rule) and not out.exists()
    assert cli.main(["convert", save(tmp_path / "m.onnx", unknown), "-o", str(out), "-q"]) == 3
    assert capsys.readouterr().err.endswith("[P9]\n") and not out.exists()
    branches = 'then_branch = t () => (float[d, e] z) { z = Pad <mode = "edge"> (x, p) }'
    branches += ", else_branch = e () => (float[d, e] w) { w = Relu (x) }"
    source = written_models.model(f"{head} {{ y = If (c) <{branches}> }}")
    (record,) = padops.lower(source, out).unconverted
    assert record.facts.verdict == "breaks a rule" and out.exists()


def test_inputs_that_a_model_does_not_take(unproved: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """ONNX Runtime runs the model: it was the indices that were not in the table."""
    nodes = [helper.make_node("Gather", ["table", "i"], ["g"]), pad(["g", "pads"])]
    source = model(
        nodes, inputs=[("i", INT64, [64])], tensors=[tensor("table", [1.0], np.float32), tensor("pads", [0, 1])]
    )
    path = save(tmp_path / "m.onnx", source)
    assert cli.main(["verify", "--run", path, path]) == 5
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("unknown: neither model runs")
    said = "ONNX Runtime does not run the original with these inputs: "
    assert said in out and "; --inputs FILE.npz gives others" in out and "with i: int64[64]" in out
    verification = padops.verify(source, source, inputs={"i": np.ones(64, np.int64)}, run=True)
    assert any(note.startswith(said) and "--inputs" not in note for note in verification.notes)


@pytest.mark.parametrize("inputs", [[("x", FLOAT, [2, 3])], [("x", FLOAT, ["n", "m"])]])
def test_a_fallback_function_that_does_not_run_is_a_difference(inputs: list) -> None:
    """With the library both give the same; in a session without it the converted model does not load."""
    source = model([pad(mode="reflect")], inputs=inputs, tensors=[PADS])
    broken = padops.convert(source).proto()
    (function,) = broken.functions
    function.node.append(helper.make_node("Not", [function.input[0]], ["unread"]))  # there is none of floats
    verification = padops.verify(source, broken)
    assert (verification.verdict, verification.outcome) == ("different", "fails")
    assert "it does not run in a session without padops" in verification.notes[-1]
    itself = padops.verify(broken, broken, run=True)
    assert (itself.verdict, itself.outcome) == ("proved", "equal"), "without padops, the original does not run either"
