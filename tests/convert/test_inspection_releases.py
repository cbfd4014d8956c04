"""``padops.inspect`` about a release of onnxruntime that is not the installed one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from written_models import model

import padops
from padops import cli
from padops.convert.errors import UsageError
from padops.convert.records import PadFacts

MODEL = Path(__file__).resolve().parents[2] / "models" / "pad_19.onnx"


@pytest.mark.parametrize("release", ["1.19", "1.33", "2.0", "1.22.x", "", " 1.22", 1.22])
def test_another_release_is_an_error(release: object) -> None:
    words = rf"onnxruntime is {release!r}, expected a release from 1\.20 to 1\.32"
    with pytest.raises(UsageError, match=words.replace("'", "['\"]")):
        padops.inspect(MODEL, onnxruntime=release)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", str(MODEL), "--onnxruntime", "1.22", "--check", "--json"]) == 5
    assert json.loads(capsys.readouterr().out)["models"][0]["runtime"] == "onnxruntime 1.22"
    assert cli.main(["inspect", str(MODEL), "--onnxruntime", "1.99"]) == 2
    assert "--onnxruntime is '1.99', expected a release from 1.20 to 1.32" in capsys.readouterr().err


def facts(release: str, size: int, begin: int, end: int, mode: str = "constant", opset: int = 19) -> PadFacts:
    text = f'(float[{size}] x) => (float[m] y) <int64[2] p = {{{begin}, {end}}}> {{ y = Pad <mode = "{mode}"> (x, p) }}'
    return padops.inspect(model(text, opset), onnxruntime=release).pads[0]


@pytest.mark.parametrize(
    ("opset", "release", "later"),
    [(22, "1.20", "; 1.21 does"), (24, "1.23", "; 1.24 does"), (26, "1.24", "; 1.25 does")],
)
def test_an_opset_that_the_release_does_not_load(opset: int, release: str, later: str) -> None:
    """Nothing helps: no road leaves the opset behind."""
    found = facts(release, 4, 1, 1, opset=opset)
    why = rf"onnxruntime {release} loads no model of opset {opset}, but up to \d+{later}"
    assert (found.verdict, found.roads) == ("refuses", ()) and re.fullmatch(why, found.why)
    assert facts(release, 4, 1, 1, opset=opset - 1).verdict == "runs"


@pytest.mark.parametrize(
    ("release", "mode", "sizes", "verdict"),
    [
        ("1.23", "edge", (4, -3, -1), "runs"),
        ("1.24", "edge", (4, -3, -1), "refuses"),
        ("1.23", "constant", (0, -1, 2), "runs"),
        ("1.23", "constant", (1, -1, 2), "may be wrong"),
        ("1.23", "wrap", (0, -1, 1), "refuses"),
        ("1.23", "reflect", (4, 1, -1), "may be wrong"),
    ],
)
def test_what_a_release_does(release: str, mode: str, sizes: tuple[int, int, int], verdict: str) -> None:
    assert facts(release, *sizes, mode).verdict == verdict
