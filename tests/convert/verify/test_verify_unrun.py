"""Models that ONNX Runtime does not run, or not with the given inputs: the verifier says what it compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from command_lines import Cli, save
from written_models import model

import padops
from padops.convert import PadsLeftError, UndecidedError


def unheard(mode: str = "reflect", level: int = 0) -> onnx.ModelProto:
    """A Pad, and an operator that no runtime has."""
    return model(f"""(float[n, 3] x) => (float[a, b] z) <int64[4] p = {{0, 1, 0, 1}}> {{
        [pad] y = Pad <mode = "{mode}"> (x, p) z = other.Unheard <level = {level}> (y) }}""")


def test_a_model_that_no_runtime_loads_is_not_proved(tmp_path: Path) -> None:
    """Its structure is the same; no runtime says that it loads."""
    verification = padops.verify(unheard(), padops.convert(unheard(), fallback=False).proto())
    assert (verification.verdict, verification.outcome) == ("tested", "same") and verification.proof.verdict == "proved"
    assert all("Unheard" in note for note in verification.notes)
    with pytest.raises(UndecidedError):
        padops.convert(unheard(), tmp_path / "out.onnx", verify=True, strict=True)
    for other in (unheard(level=1), unheard("edge")):
        assert padops.verify(unheard(), other).verdict == "unknown"


def test_a_model_that_no_runtime_loads_is_not_written(unproved: None, cli: Cli, tmp_path: Path) -> None:
    """``-q`` still prints the reason. No release of ONNX Runtime runs a Pad of opset 1."""
    oldest = '(float[3] x) => (float[m] y) { [a] y = Pad <mode = "constant", paddings = [1, 1]> (x) }'
    source, out = save(tmp_path / "m.onnx", model(oldest, 1, 4)), tmp_path / "out.onnx"
    why = "1 of 1 Pad stays unconverted, and ONNX Runtime does not run the model as it is: graph/a (Pad-1 attributes)"
    for given in ((source,), (source, out)):
        with pytest.raises(PadsLeftError) as caught:
            padops.lower(*given)
        assert str(caught.value).startswith(why)
    code, _, err = cli("convert", source, "-o", out, "--target", "onnx", "-q")
    assert code == 3 and err.startswith(f"error: {why}")
    code, _, err = cli("convert", save(tmp_path / "u.onnx", unheard()), "-o", out, "--verify", "--run", "-q")
    assert code == 5 and "nor the converted model" in err and not out.exists()


def test_inputs_that_a_model_does_not_take(unproved: None, cli: Cli, tmp_path: Path) -> None:
    """ONNX Runtime runs the model: it was the indices that were not in the table."""
    source = model("""(int64[64] i) => (float[m] y) <float[1] table = {1}, int64[2] p = {0, 1}> {
        g = Gather (table, i) y = Pad (g, p) }""")
    path, said = save(tmp_path / "m.onnx", source), "ONNX Runtime does not run the original with these inputs: "
    code, out, _ = cli("verify", "--run", path, path)
    out = " ".join(out.split())
    assert code == 5 and out.startswith("unknown: neither model runs")
    assert said in out and "; --inputs FILE.npz gives others" in out and "with i: int64[64]" in out
    verification = padops.verify(source, source, inputs={"i": np.ones(64, np.int64)}, run=True)
    assert any(note.startswith(said) and "--inputs" not in note for note in verification.notes)


@pytest.mark.parametrize("dims", ["2, 3", "n, m"])
def test_a_fallback_function_that_does_not_run_is_a_difference(dims: str) -> None:
    """With the library both give the same; in a session without it the converted model does not load."""
    pad = f'(float[{dims}] x) => (float[a, b] y) <int64[4] p = {{0, 1, 0, 1}}> {{ y = Pad <mode = "reflect"> (x, p) }}'
    source, broken = model(pad), padops.convert(model(pad)).proto()
    (function,) = broken.functions
    function.node.append(onnx.helper.make_node("Not", [function.input[0]], ["unread"]))  # there is none of floats
    verification = padops.verify(source, broken)
    assert (verification.verdict, verification.outcome) == ("different", "fails")
    assert "it does not run in a session without padops" in verification.notes[-1]
    itself = padops.verify(broken, broken, run=True)
    assert (itself.verdict, itself.outcome) == ("proved", "equal"), "without padops, the original does not run either"
