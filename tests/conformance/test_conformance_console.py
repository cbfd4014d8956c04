"""What a run of the suite prints."""

from __future__ import annotations

from typing import Any

import pytest

from padops.conformance import command, record
from padops.conformance.peers import PEERS
from padops.conformance.render.summary import summarise
from padops.conformance.runner import Peer, PeerRun


def run_of(name: str, **outcomes: int) -> PeerRun:
    results: list[dict[str, Any]] = [
        {
            "peer": name,
            "case": "c",
            "op": "Pad_18",
            "mode": "edge",
            "dtype": "float",
            "outcome": outcome,
            "divergence": None,
            "unexpected": False,
            "new": False,
            "detail": "",
        }
        for outcome, count in outcomes.items()
        for _ in range(count)
    ]
    handshake = {"versions": {"onnxruntime": "1.31.1", name: "1.0"}}
    return PeerRun(Peer(name, next(iter(PEERS.values()))), handshake, None, results)


def absent(name: str, why: str) -> PeerRun:
    return PeerRun(Peer(name, next(iter(PEERS.values()))), absent=why)


def shown(ran: list[PeerRun], capsys: pytest.CaptureFixture[str], **footer: Any) -> list[str]:
    results = [result for one in ran for result in one.results]
    command.show(summarise(record.header("quick", 0, ran), results, record.footer(ran) | footer, ()))
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_the_peers(capsys: pytest.CaptureFixture[str]) -> None:
    ran = [run_of(name, agree=1500) for name in PEERS]
    ran.append(absent("tract", "no module named\n  tract"))
    lines = shown(ran, capsys)
    assert lines[:2] == ["Peers", "peer versions run agree known crashes unexpected new not run"]
    versions = "onnxruntime 1.31.1, {} 1.0"
    rows = [f"{name} {versions.format(name)} 1,500 1,500 0 0 0 0 0" for name in PEERS if name != "onnxruntime"]
    assert lines[2 : 2 + len(rows)] == rows and "tract no module named tract" in lines


def test_outcomes_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    one = run_of("numpy", agree=5, differ=2, error=1, crash=1, unsupported=3, skipped=1)
    one.results[5] |= {"unexpected": True, "detail": "one of two elements"}
    one.results[6]["divergence"] = "known"
    lines = shown([one], capsys)
    assert lines[2] == "numpy onnxruntime 1.31.1, numpy 1.0 9 5 1 1 1 0 4"
    assert lines[3:] == ["Unexpected", "numpy: c: differ: one of two elements", "13 results, 1 unexpected, 0 stale"]


def test_new_behaviour_is_one_line_for_each_result(capsys: pytest.CaptureFixture[str]) -> None:
    one = run_of("numpy", differ=1)
    one.recorded = ">=2.1,<=2.4"
    one.results[0] |= {"new": True, "detail": "one\x1b[2J\nof \u202etwo"}
    lines = shown([one], capsys)
    assert "numpy onnxruntime 1.31.1, numpy 1.0 >=2.1,<=2.4" in lines
    assert r"numpy: c: differ: one\x1b[2J\nof \u202etwo" in lines


def test_a_line_for_each_peer_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with command.showing_progress() as progress:
        for done in (1, 999, 1000):
            progress("numpy", done, 1000)
        progress("torch", 1, 2)
    assert capsys.readouterr().err == "numpy: 1,000 cases\n"
