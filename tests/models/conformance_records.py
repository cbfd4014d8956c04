"""A record of a conformance run, made without one."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from padops.conformance import cases, record
from padops.conformance.arrays import describe
from padops.conformance.case import expect
from padops.conformance.render import FILES, write_all

NAMES = [
    "table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0",
    "table/Pad_18/reflect/int8/2/both/plain/none/absent.flat/dynamic/0",
    "table/Pad_19/wrap/float/1/far/plain/none/absent.flat/dynamic/0",
    "table/OpenVINOPad_12/symmetric/float/1/both/plain/none/int64.int64/dynamic/0",
]
DIVERGENCE = {
    "id": "ort-<far>", "peer": "ort-builtin", "versions": "", "outcome": ("differ", "crash"), "rule": "P2",
    "reason": "Only one period & no more.", "link": "https://example.org/issue?a=1&b=2",
}  # fmt: skip
STALE = {**DIVERGENCE, "id": "ort-gone", "reason": "Was repaired."}
HEADER = {
    "schema": 2, "padops": "0.1.0", "level": "quick", "seed": 0, "machine": {"system": "Linux", "cores": 2},
    "peers": [
        {"name": "padops-native", "python": "3.11", "versions": {"onnxruntime": "1.31.1"}},
        {"name": "ort-builtin", "python": "3.11", "versions": {"onnxruntime": "1.31.1"}},
        {"name": "ort-builtin@/old/python", "python": "3.11", "versions": {"onnxruntime": "1.20.1"}},
    ],
    "absent": [{"name": "torch", "reason": "No module named 'torch'"}],
}  # fmt: skip


def result(name: str, peer: str, outcome: str = "agree", divergence: str | None = None, **more: Any) -> dict[str, Any]:
    case = cases.find_case(name)
    found = {
        "kind": "result", "case": name, "origin": case.origin, "op": case.op, "mode": case.mode, "dtype": case.dtype,
        "rank": case.rank, "rules": ["P2"], "peer": peer, "outcome": outcome, "divergence": divergence,
        "unexpected": outcome in ("differ", "error", "crash") and divergence is None, "new": False, "detail": "",
        "repro": f"padops conformance repro {name} --peer {peer}",
    }  # fmt: skip
    if outcome != "agree":
        found["inputs"] = [describe(array) for array in case.arrays()]
        found["attributes"] = dict(case.attributes)
        found["expected"] = describe(expect(case).output)
        found["got"] = None
    if outcome == "differ":
        found["got"] = copy.deepcopy(found["expected"])
        row = found["got"]["values"]
        while isinstance(row[0], list):
            row = row[0]
        row[0] = 1234.5
    return {**found, **more}


def report(good: bool) -> record.Record:
    old = "ort-builtin@/old/python"
    results = [result(name, "padops-native") for name in NAMES]
    results += [
        result(NAMES[0], "ort-builtin"),
        result(NAMES[1], "ort-builtin", "unsupported", detail="no kernel for int8"),
        result(NAMES[2], "ort-builtin", "differ", "ort-<far>", detail="1 of 12 elements differ"),
        result(NAMES[0], old, "crash", "ort-<far>", detail="signal 11"),
        result(NAMES[3], old, "skipped", detail="ONNX has no such operator"),
    ]
    if not good:
        results[0] = result(NAMES[0], "padops-native", "differ", detail="\x1b[31m</script><b>x</b> | `y`")
    unexpected = sum(row["unexpected"] for row in results)
    stale = [] if good else ["ort-gone"]
    footer = {"results": len(results), "unexpected": unexpected, "stale": stale}
    footer |= {"new": 0, "gone": [], "strict": False, "exit": int(not good)}
    return record.Record(HEADER, results, footer)


def written(folder: Path, good: bool) -> dict[str, str]:
    made = report(good)
    write_all(made.header, made.results, made.footer, [DIVERGENCE, STALE], folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES.values())
    return {form: (folder / name).read_text(encoding="utf-8") for form, name in FILES.items()}
