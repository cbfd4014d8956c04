"""``padops.inspect`` about a release of onnxruntime that is not the installed one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from onnx import parser

import padops
from padops import cli
from padops.convert.errors import UsageError

MODEL = Path(__file__).resolve().parents[2] / "models" / "pad_19.onnx"


@pytest.mark.parametrize("release", ["1.19", "1.33", "2.0", "1", "1.22.x", "", " 1.22", 1.22, b"1.22"])
def test_another_release_is_an_error(release: object) -> None:
    words = rf"onnxruntime is {release!r}, expected a release from 1\.20 to 1\.32"
    with pytest.raises(UsageError, match=words.replace("'", "['\"]")):
        padops.inspect(MODEL, onnxruntime=release)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", str(MODEL), "--onnxruntime", "1.22", "--check", "--json"]) == 5
    assert json.loads(capsys.readouterr().out)["models"][0]["runtime"] == "onnxruntime 1.22"
    assert cli.main(["inspect", str(MODEL), "--onnxruntime", "1.99"]) == 2
    assert "--onnxruntime is '1.99', expected a release from 1.20 to 1.32" in capsys.readouterr().err


def verdict_of(text: str, release: str, opset: int = 18, ranked: bool = True) -> tuple[str, str]:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}')
    for value in () if ranked else (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.ClearField("shape")
    (pad,) = padops.inspect(model, onnxruntime=release).pads
    return pad.verdict, pad.why


@pytest.mark.parametrize(
    ("opset", "release", "later"),
    [(22, "1.20", "; 1.21 does"), (24, "1.23", "; 1.24 does"), (26, "1.24", "; 1.25 does")],
)
def test_an_opset_that_the_release_does_not_load(opset: int, release: str, later: str) -> None:
    """Nothing helps: no road leaves the opset behind."""
    text = "g (float[4] x) => (float[m] y) <int64[2] p = {1, 1}> { y = Pad (x, p) }"
    found = padops.inspect(
        parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}'), onnxruntime=release
    )
    why = rf"onnxruntime {release} loads no model of opset {opset}, but up to \d+{later}"
    assert [(pad.verdict, pad.roads) for pad in found.pads] == [("refuses", ())]
    assert re.fullmatch(why, found.pads[0].why)
    assert verdict_of(text, release, opset - 1 if opset != 26 else 25)[0] == "runs"


@pytest.mark.parametrize(("release", "verdict"), [("1.23", "runs"), ("1.24", "refuses")])
@pytest.mark.parametrize("mode", ["edge", "reflect"])
def test_an_axis_that_is_cropped_to_nothing(mode: str, release: str, verdict: str) -> None:
    text = f'g (float[4] x) => (float[m] y) <int64[2] p = {{-3, -1}}> {{ y = Pad <mode = "{mode}"> (x, p) }}'
    assert verdict_of(text, release)[0] == verdict


@pytest.mark.parametrize(
    ("mode", "sizes", "verdict"),
    [
        ("constant", (0, -1, 2), "runs"),
        ("constant", (1, -1, 2), "may be wrong"),
        ("wrap", (0, -1, 1), "refuses"),
        ("reflect", (4, 1, -1), "may be wrong"),
    ],
)
def test_what_old_releases_may_get_wrong(mode: str, sizes: tuple[int, int, int], verdict: str) -> None:
    size, begin, end = sizes
    text = (
        f'g (float[{size}] x) => (float[m] y) <int64[2] p = {{{begin}, {end}}}> {{ y = Pad <mode = "{mode}"> (x, p) }}'
    )
    assert verdict_of(text, "1.23", 19)[0] == verdict
