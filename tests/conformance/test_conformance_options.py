"""What the options of ``padops conformance`` do, without a run of hours: what would run is only written down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conformance_records import quick

from padops.cli import main
from padops.conformance import cases, record, runner
from padops.conformance.divergences import EXAMPLES
from padops.conformance.peers import PEERS


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cases are chosen by, and what the runner is given; it runs the peer ``reference`` on three cases."""
    given: dict[str, Any] = {}
    run_cases = runner.run_cases

    def chosen(level: str, seed: int = 0, always: Any = ()) -> list:
        given.update(collected=level, seed=seed, always=list(always))
        return [*quick()[:3]]

    def run(found: list, peers: list, known: Any, level: str, *rest: Any, **more: Any) -> list:
        given.update(peers=[peer.name for peer in peers], level=level)
        return run_cases(found, runner.parse_peers("reference"), known, level, *rest, **more)

    monkeypatch.setattr(cases, "collect", chosen)
    monkeypatch.setattr(runner, "run_cases", run)
    return given


@pytest.mark.parametrize(
    ("options", "level", "seed"),
    [([], "default", 0), (["--quick"], "quick", 0), (["--exhaustive", "--seed", "7"], "exhaustive", 7)],
)
def test_the_level_and_the_seed(
    options: list[str], level: str, seed: int, asked: dict[str, Any], tmp_path: Path
) -> None:
    assert main(["conformance", *options, "--out", str(tmp_path)]) == 0
    wanted = {"collected": level, "level": level, "seed": seed, "always": list(EXAMPLES.values()), "peers": list(PEERS)}
    assert asked == wanted
    header = record.read(tmp_path / record.FILE).header
    assert (header["level"], header["seed"]) == (level, seed)


def test_a_seed_is_another_suite() -> None:
    ids = [{case.id for case in cases.table.cases(["Pad_18"], 1, 1, seed)} for seed in (0, 7, 7)]
    assert ids[0] != ids[1] == ids[2]


def test_without_leaves_peers_out(asked: dict[str, Any]) -> None:
    assert main(["conformance", "--quick", "--without", "torch", "--without", "padops-pyop"]) == 0
    assert asked["peers"] == [name for name in PEERS if name not in ("torch", "padops-pyop")]


NAMED = "is for a run of all peers, not of those that are named"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--quick --without nobody", f"there is no peer 'nobody' to leave out; there are {', '.join(PEERS)}"),
        ("--without torch --peer torch", f"--without {NAMED}"),
        ("--require-peers --peer-command mine", f"--require-peers {NAMED}"),
        ("show r.jsonl --format html --out d", "--format is for standard output, but --out writes every form"),
    ],
)
def test_wrong_options(words: str, said: str, asked: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", *words.split()]) == 2
    assert capsys.readouterr().err == f"error: {said}\n" and asked == {}


def test_a_file_without_the_function(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path := tmp_path / "mine.py").write_text("def pad(op, attributes, inputs):\n    raise KeyError(op)\n\nother = 3\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "collect", lambda *given: list(map(cases.find_case, EXAMPLES.values()))[:30])
        for function in ("nof", "other", "pad"):
            assert main(["conformance", "--quick", "--peer", f"{path}:{function}"]) == 1
            said, told = f"AttributeError: {path} has no function {function}; it has pad", capsys.readouterr().out
            assert (function == "pad") != (f"mine:{function} {said}" in " ".join(told.split()))
    lines = [line for line in told.splitlines() if "KeyError" in line]
    assert len(lines) == len({line.split("KeyError")[1] for line in lines}) > 0, "each once"
