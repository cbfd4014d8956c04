"""``padops.inspect`` about a release of onnxruntime that is not the installed one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import padops
from padops import cli
from padops.convert.errors import UsageError
from padops.runtime.installed import NEWEST_MINOR, OLDEST_MINOR

MODEL = Path(__file__).resolve().parents[2] / "models" / "pad_19.onnx"


@pytest.mark.parametrize(
    ("release", "verdict"), [("1.20", "wrong"), ("1.23.2", "wrong"), ("1.31", "runs"), ("1.32.0", "runs")]
)
def test_the_verdict_is_that_of_the_release(release: str, verdict: str) -> None:
    """Wrap beyond a period was mended in 1.31."""
    found = padops.inspect(MODEL, onnxruntime=release)
    assert found.runtime == f"onnxruntime {release}"
    assert {pad.name: pad.verdict for pad in found.pads} == {"wrapped_pad": verdict, "cropped_pad": "runs"}


def test_the_oldest_and_the_newest() -> None:
    for minor in (OLDEST_MINOR, NEWEST_MINOR):
        assert padops.inspect(MODEL, onnxruntime=f"1.{minor}").pads


@pytest.mark.parametrize("release", ["1.19", "1.33", "2.0", "1", "1.22.x", "", " 1.22", 1.22, b"1.22"])
def test_another_release_is_an_error(release: object) -> None:
    words = rf"onnxruntime is {release!r}, expected a release from 1\.20 to 1\.32, such as '1\.32'"
    with pytest.raises(UsageError, match=words.replace("'", "['\"]")):
        padops.inspect(MODEL, onnxruntime=release)


def test_here_is_about_the_installed_one() -> None:
    with pytest.raises(UsageError, match="here asks the installed onnxruntime, and onnxruntime is about another one"):
        padops.inspect(MODEL, onnxruntime="1.22", here=True)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", str(MODEL), "--onnxruntime", "1.22", "--check", "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["runtime"] == "onnxruntime 1.22"
    assert cli.main(["inspect", str(MODEL), "--onnxruntime", "1.99"]) == 2
    assert "--onnxruntime is '1.99', expected a release from 1.20 to 1.32" in capsys.readouterr().err
    assert cli.main(["inspect", str(MODEL), "--onnxruntime", "1.22", "--here"]) == 2
    assert "--here asks the installed onnxruntime, and --onnxruntime is about another one" in capsys.readouterr().err
