"""What verification says of the conversions of many models, by outcome: each in a process that may end."""

from __future__ import annotations

import multiprocessing
import resource
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import padops
from padops.conformance.cases import collect, find_case
from padops.conformance.model import make_model
from padops.conformance.peers.request import Request

TARGETS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "onnx": {"target": "onnx"},
    "onnx, without Pad": {"target": "onnx", "without_pad": True},
}
DIALECTS = {"Pad": "ONNX", "OpenVINOPad": "OpenVINO", "NGraphPad": "nGraph", "SamePad": "SAME"}
OUTCOMES = ("proved", "tested", "different", "unknown", "not converted")
HARM = ("different", "ended", "raised")
MEMORY, SECONDS = 16 << 30, 900  # bytes of a process, and seconds of one conversion
HEAD = f"| conversions of | target | {' | '.join(OUTCOMES)} |\n|---|---|{'--:|' * len(OUTCOMES)}\n"


@dataclass(frozen=True)
class Tried:
    """One conversion, and what verification says of it.

    Attributes:
        group: Where the model comes from.
        name: Its name: the file's, or the id of a case.
        target: A key of ``TARGETS``.
        outcome: One of ``OUTCOMES``; or ``"raised"`` or ``"ended"``, of the process.
        why: Why it is not proved.
    """

    group: str
    name: str
    target: str
    outcome: str
    why: str = ""


def drawn_cases(each: int, seed: int) -> list[tuple[str, str]]:
    """Draw up to ``each`` cases of each dialect at the suite's default level; return dialects and case ids."""
    by_dialect: dict[str, list[str]] = defaultdict(list)
    for case in collect("default", seed):
        by_dialect[DIALECTS[case.op.split("_")[0]]].append(case.id)
    chosen = []
    for dialect, ids in by_dialect.items():
        places = np.random.default_rng(seed).choice(len(ids), min(each, len(ids)), replace=False)
        chosen += [(f"cases of {dialect}", ids[place]) for place in sorted(places)]
    return chosen


def model_of(case: Request) -> onnx.ModelProto:
    """The case as a model to be converted: ONNX's own Pad where the case has an opset, else the operator of padops."""
    return make_model(case, standard=bool(case.opset))


def tried(group: str, name: str, target: str, path: Path | None = None) -> Tried:
    """Converts a model, a file or the case of a name, and verifies the conversion."""
    source = path or model_of(find_case(name))
    try:
        conversion, said = padops.convert(source, verify=True, **TARGETS[target]), ""
    except (padops.VerificationError, padops.UndecidedError) as error:
        conversion, said = error.conversion, str(error)
    except Exception as error:  # of any kind: what a conversion raises over a right model is a finding
        return Tried(group, name, target, "raised", f"{type(error).__name__}: {error}")
    if any(record.status == "unconverted" for record in conversion.records):
        return Tried(group, name, target, "not converted", conversion.records[0].reason or "")
    verification = conversion.verification
    assert verification is not None and verification.proof is not None
    return Tried(group, name, target, verification.verdict, "; ".join(verification.unproved) or said)


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def all_tried(jobs: Iterable[tuple[str, str, str, Path | None]]) -> list[Tried]:
    """Run each job (the arguments of ``tried``) in turn, print what is not proved, and return the results.

    Raises:
        TimeoutError: One took longer than SECONDS.
    """
    found, pool = [], _pool()
    for job in jobs:
        try:
            found.append(pool.submit(tried, *job).result(timeout=SECONDS))
        except BrokenProcessPool:
            found.append(Tried(*job[:3], "ended", "the process has ended"))
            pool = _pool()
        if found[-1].outcome not in ("proved", "not converted"):
            print(f"{found[-1].outcome}: {found[-1].name} ({found[-1].target}): {found[-1].why}", flush=True)
    pool.shutdown()
    return found


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), limit_memory)


def table(found: Sequence[Tried]) -> str:
    """The counts by outcome, a row for each group and target, and for each target all groups."""
    counts = Counter((one.group, one.target, one.outcome) for one in found)
    groups = list(dict.fromkeys(one.group for one in found))
    rows = [
        f"| {group} | {target} | {' | '.join(f'{counts[group, target, outcome]:,}' for outcome in OUTCOMES)} |\n"
        for target in TARGETS
        for group in groups
    ]
    return HEAD + "".join(rows)
