"""What is proved of the conversions of models/, of the fetched models and of the suite's cases, on each target.

``PADOPS_PROOF_CASES`` sets how many cases of each dialect are drawn from the suite's usual level, ``PADOPS_SEED`` which
ones.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import proof_counts
import pytest
from conftest import Tally

ROOT = Path(__file__).resolve().parents[2]
SEED, EACH = int(os.environ.get("PADOPS_SEED", "1")), int(os.environ.get("PADOPS_PROOF_CASES", "40"))


def test_conversions_on_each_target(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    fetched = importlib.import_module("fetch_models").fetch()
    files = [("models/", path.name, path) for path in sorted((ROOT / "models").glob("*.onnx"))]
    files += [("fetched models", name, path) for name, path in fetched.items()]
    cases = [(group, name, None) for group, name in proof_counts.drawn_cases(EACH, SEED)]
    assert len(files) > 20 and len(cases) >= 4 * min(EACH, 400)
    jobs = [(group, name, target, path) for target in proof_counts.TARGETS for group, name, path in (*files, *cases)]
    found = proof_counts.all_tried(jobs)
    text = proof_counts.table(found)
    text += f"\nOf each dialect {EACH} cases were drawn (seed {SEED}).\n"
    print(text)
    tally(
        "conversions of models, fetched models and the suite's cases on three targets: "
        "shown to differ, or ended by an error",
        len(found),
        sum(one.outcome in proof_counts.HARM for one in found),
    )
