"""What a run of the suite prints, on 80 columns."""

from __future__ import annotations

from typing import Any

import pytest

from padops.conformance import command
from padops.conformance.peers import PEERS
from padops.conformance.runner import Peer, PeerRun


def run_of(name: str, **outcomes: int) -> PeerRun:
    results: list[dict[str, Any]] = [
        {
            "peer": name,
            "case": "c",
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


def test_the_table_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Every peer that there is, with as many results as the exhaustive level gives."""
    ran = [run_of(name, agree=7) for name in PEERS]
    for one in ran:
        one.results = one.results * 1500
        one.seconds = 12345
    ran.append(
        absent(
            "tract", "no module named\n  tract, which is a line that is longer than the eighty columns that there are"
        )
    )
    command.show(ran, {"results": 10_500, "unexpected": 0, "stale": [], "new": 0, "gone": [], "strict": False})
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[: 1 + len(PEERS)]}
    assert rows["peer"] == ["cases", "agree", "wrong", "crash", "known", "unexpected", "not", "run", "s"]
    for name in PEERS:
        assert rows[name] == ["10500", "10500", "0", "0", "0", "0", "0", "12345"]
    assert [line for line in lines if line.startswith("absent: ")] == [
        "absent: tract: no module named tract, which is a line that is longer than the eighty columns that there are"
    ]
    assert [line for line in lines if len(line) > 80 and not line.startswith(("absent", "with "))] == []


def test_outcomes_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    one = run_of("numpy", agree=5, differ=2, error=1, crash=1, unsupported=3, skipped=1)
    one.results[5] |= {"unexpected": True, "detail": "one of two elements"}
    one.results[6]["divergence"] = "known"
    command.show([one], {"results": 13, "unexpected": 1, "stale": [], "new": 0, "gone": [], "strict": False})
    out = capsys.readouterr().out.splitlines()
    assert out[1].split() == ["numpy", "13", "5", "3", "1", "1", "1", "4", "0"]
    assert "numpy: c: differ: one of two elements" in out
    assert out[-1] == "13 results, 1 unexpected, 0 stale"


def test_new_behaviour_is_one_line_for_each_result(capsys: pytest.CaptureFixture[str]) -> None:
    one = run_of("numpy", differ=1)
    one.recorded = ">=2.1,<=2.4"
    one.results[0] |= {"new": True, "detail": "one\x1b[2J\nof \u202etwo"}
    command.show([one], {"results": 1, "unexpected": 0, "stale": [], "new": 1, "gone": [], "strict": False})
    out = capsys.readouterr().out.splitlines()
    head = "new behaviour: numpy: onnxruntime 1.31.1 is not among the versions recorded (>=2.1,<=2.4); "
    assert f"{head}no failure of padops" in out
    assert r"numpy: c: differ: one\x1b[2J\nof \u202etwo" in out


def test_a_line_for_each_peer_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with command.showing_progress() as progress:
        for done in (1, 999, 1000):
            progress("numpy", done, 1000)
        progress("torch", 1, 2)
    assert capsys.readouterr().err == "numpy: 1,000 cases\n"
