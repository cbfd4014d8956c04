"""``padops verify`` finds one Pad made wrong in a converted model: in the example models, and in real ones.

One break of them no run can show, as the broken model gives the same for every input: "unknown" is the answer then, not
"tested".
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from planted_breaks import broken_models

import padops
from padops.convert.verify import compare

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.usefixtures("fewer_small_inputs")
# tests/long/long_proof_cases.py has the others: basic-pitch has 48 breaks of seconds each.
EXAMPLES = sorted((ROOT / "models").glob("*.onnx"))[::4]


@pytest.fixture
def fewer_small_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MANY", 8)


def overlooked(original: Path) -> list[str]:
    """The breaks of a model that verification does not find; each Pad has two of them."""
    converted = padops.convert(original, fold=False, fallback=False).proto()
    breaks = list(broken_models(converted))
    assert len(breaks) == 2 * len({what.split(": ")[0] for what, _ in breaks}) > 0
    return [what for what, broken in breaks if padops.verify(original, broken, run=True).passed]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_break_of_an_example_is_found(path: Path) -> None:
    whole = padops.verify(path, padops.convert(path).proto(), run=True)
    assert (whole.outcome, whole.doubts) == ("equal", ())
    assert overlooked(path) == []


def test_every_break_of_a_real_model_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    path = importlib.import_module("fetch_models").fetch(["onnx-asr"])["onnx-asr/kaldi.onnx"]
    whole = padops.verify(path, padops.convert(path).proto(), run=True)
    assert (whole.outcome, whole.doubts, len(whole.pads)) == ("equal", (), 3)
    assert overlooked(path) == []
