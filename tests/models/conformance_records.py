"""Cases, peers of a test's own, and results and reports of a conformance run that are made without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from padops.conformance import cases, record, runner
from padops.conformance.arrays import describe
from padops.conformance.divergences import Divergence
from padops.conformance.features import Prepared, expect
from padops.conformance.peers import Peer
from padops.conformance.peers.request import Request
from padops.conformance.render import FILES, write_all

NAMES = ["table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0",
         "table/Pad_18/reflect/int8/2/both/plain/none/absent.flat/dynamic/0",
         "table/Pad_19/wrap/float/1/far/plain/none/absent.flat/dynamic/0",
         "table/OpenVINOPad_12/symmetric/float/1/both/plain/none/int64.int64/dynamic/0"]  # fmt: skip
OLD = "ort-builtin@/old/python"
DIVERGENCE = Divergence("ort-<far>", ("differ", "crash"), "P2", "Only one period & no more.", "ort-builtin", ">=1,<2",
                        "https://example.org/issue?a=1&b=2")  # fmt: skip
STALE = replace(DIVERGENCE, id="ort-gone", reason="Was repaired.")
HEADER = {
    "schema": 2, "padops": "0.1.0", "level": "quick", "seed": 0, "machine": {"system": "Linux", "cores": 2},
    "peers": [
        {"name": "padops-native", "python": "3.11", "versions": {"onnxruntime": "1.31.1"}},
        {"name": "ort-builtin", "python": "3.11", "versions": {"onnxruntime": "1.31.1"}},
        {"name": OLD, "python": "3.11", "versions": {"onnxruntime": "1.20.1"}},
    ],
    "absent": [{"name": "torch", "reason": "No module named 'torch'"}],
}  # fmt: skip


@cache
def quick() -> Sequence[Request]:
    """The cases of the quick level, which take seconds to make, once for all tests of a process."""
    return cases.collect("quick")


@cache
def prepared() -> Sequence[Prepared]:
    return [Prepared.of(case) for case in quick()]


def own_peer(folder: Path, text: str, function: str = "pad") -> Peer:
    """A peer of the user's own."""
    (folder / "own.py").write_text(text)
    return runner.parse_peers(f"{folder}/own.py:{function}")[0]


def answers(peer: Peer | str, chosen: Sequence[Request], known: Sequence[Divergence] = ()) -> runner.PeerRun:
    """A run of one peer, which is there."""
    (ran,) = runner.run_cases(list(chosen), [runner.parse_peers(peer)[0] if isinstance(peer, str) else peer], known)
    assert ran.absent is None, ran.absent
    return ran


def result(name: str, peer: str, outcome: str = "agree", divergence: str = "", **more: Any) -> dict[str, Any]:
    """A result; of one that differs, the first element of the output is its last one, and the last is 1234.5."""
    case, expected = cases.find_case(name), expect(cases.find_case(name))
    found: dict[str, Any] = {"kind": "result", "case": name, "origin": case.origin, "op": case.op, "mode": case.mode,
                             "dtype": case.dtype.name, "rank": case.data.ndim, "rules": ["P1", "P2"], "peer": peer,
                             "outcome": outcome, "divergence": divergence or None, "new": False, "detail": "",
                             "unexpected": outcome in ("differ", "error", "crash") and not divergence,
                             "repro": f"padops conformance repro {name} --peer {peer}"}  # fmt: skip
    if outcome != "agree":
        found["inputs"] = [describe(array) for array in case.inputs]
        found["attributes"] = dict(case.attributes)
        found["expected"] = {"error": expected.message} if expected.output is None else describe(expected.output)
        found["got"] = None
        if outcome == "differ" and expected.output is not None:
            wrong: np.ndarray = expected.output.copy()
            wrong.flat[0], wrong.flat[-1] = wrong.flat[-1], 1234.5
            found["got"] = describe(wrong)
    return {**found, **more}


def whole(results: list[dict[str, Any]], peers: list[dict[str, Any]], absent: list | None = None, **footer: Any) -> Any:
    counts = {key: sum(row[key] for row in results) for key in ("unexpected", "new")}
    said = {"results": len(results), **counts, "stale": [], "gone": [], "strict": False, "exit": 0, **footer}
    return record.Record({**HEADER, "peers": peers, "absent": absent or []}, results, said)


def report(good: bool) -> record.Record:
    results = [result(name, "padops-native") for name in NAMES]
    results += [
        result(NAMES[0], "ort-builtin"),
        result(NAMES[1], "ort-builtin", "unsupported", detail="no kernel for int8"),
        result(NAMES[2], "ort-builtin", "differ", "ort-<far>", detail="1 of 12 elements differ"),
        result(NAMES[0], OLD, "crash", "ort-<far>", detail="signal 11"),
        result(NAMES[3], OLD, "skipped", detail="ONNX has no such operator"),
    ]
    if not good:
        results[0] = result(NAMES[0], "padops-native", "differ", detail="\x1b[31m</script><b>x</b> | `y`")
    return whole(results, HEADER["peers"], HEADER["absent"], stale=[] if good else ["ort-gone"], exit=int(not good))


def written(folder: Path, good: bool) -> dict[str, str]:
    write_all(report(good), folder, [DIVERGENCE, STALE])
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES.values())
    return {form: (folder / name).read_text(encoding="utf-8") for form, name in FILES.items()}
