"""``padops.inspect`` about a release of onnxruntime that is not the installed one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import parser

import padops
from padops import cli
from padops.convert.errors import UsageError
from padops.runtime.installed import NEWEST_MINOR, OLDEST_MINOR

MODEL = Path(__file__).resolve().parents[2] / "models" / "pad_19.onnx"


@pytest.mark.parametrize("release", ["1.19", "1.33", "2.0", "1", "1.22.x", "", " 1.22", 1.22, b"1.22"])
def test_another_release_is_an_error(release: object) -> None:
    words = rf"onnxruntime is {release!r}, expected a release from 1\.20 to 1\.32, such as '1\.32'"
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


@pytest.mark.parametrize(
    "given",
    [
        "int64[2] p = {1, 1}, int32[1] axes = {0}> { y = Pad (x, p, , axes) }",
        "int64[1, 2] p = {1, 1}> { y = Pad (x, p) }",
    ],
)
def test_what_only_shape_inference_refuses(given: str) -> None:
    """It looks at constant axes and amounts where it knows the rank of the data."""
    text = f"g (float[n] x) => (float[m] y) <{given}"
    assert verdict_of(text, "1.32")[0] == "refuses"
    verdict, why = verdict_of(text, "1.32", ranked=False)
    assert (
        verdict == "runs if"
        and "as long as it does not find out how many dims the data have; ONNX Runtime refuses constant " in why
    )


@pytest.mark.parametrize(("axes", "verdict"), [("int64[0]", "runs"), ("int32[0]", "refuses")])
def test_amounts_of_two_dims_for_no_axes(axes: str, verdict: str) -> None:
    """Shape inference looks at their shape only where there are axes: here, and in each older release."""
    text = f"g (float[3] x) => (float[n] y) <int64[1, 0] p = {{}}, {axes} axes = {{}}> {{ y = Pad (x, p, , axes) }}"
    assert {verdict_of(text, f"1.{minor}")[0] for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1)} == {verdict}
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}').SerializeToString()
    try:
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail as error:
        assert verdict == "refuses" and "ParseData type mismatch for tensor: axes" in str(error)
    else:
        assert verdict == "runs" and session.run(None, {"x": np.arange(3, dtype=np.float32)})[0].tolist() == [0, 1, 2]


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
