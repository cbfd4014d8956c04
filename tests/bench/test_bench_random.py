"""Random workloads from a seed: many kinds of them, and the same ones each time."""

from __future__ import annotations

import numpy as np
import pytest

from padops import cli
from padops.bench import command, workloads
from padops.bench.runner import Measurement
from padops.bench.tables import print_least
from padops.bench.workloads import MAX_BYTES, MIN_BYTES, MODES, TYPES, random_workloads

MANY = random_workloads(400, 3)


def test_a_seed_gives_the_same_workloads() -> None:
    assert random_workloads(5, 7) == random_workloads(9, 7)[:5]
    assert random_workloads(5, 7) != random_workloads(5, 8)


def test_every_kind_comes_up() -> None:
    assert {len(w.shape) for w in MANY} == {1, 2, 3, 4, 5}
    assert {w.mode for w in MANY} == set(MODES)
    assert {w.dtype for w in MANY} == set(TYPES)
    amounts = [pair for w in MANY for pair in w.pairs if pair != (0, 0)]
    kinds = {np.sign(pair).tolist().__repr__() for pair in amounts}
    assert {"[1, 1]", "[1, 0]", "[0, 1]", "[-1, -1]"} <= kinds
    assert len({w.name for w in MANY}) == len(MANY)


def test_sizes_go_from_kilobytes_to_megabytes() -> None:
    sizes = sorted(w.output_bytes for w in MANY)
    assert all(min(w.output_shape) > 0 for w in MANY)
    assert sizes[20] < 8 * MIN_BYTES and sizes[-20] > MAX_BYTES / 8
    assert sizes[-1] < 4 * MAX_BYTES


def test_no_reflection_is_longer_than_the_built_in_takes() -> None:
    for workload in MANY:
        if workload.mode == "reflect":
            assert all(max(pair) < size for pair, size in zip(workload.pairs, workload.shape))


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(workloads, "MAX_BYTES", 1 << 14)
    assert cli.main(["bench", "--random", "2", "--seed", "5", "--threads", "1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "random 5.0" in shown and "random 5.1" in shown
    assert "1 thread: the least of" in shown


def test_only_chooses_among_random_workloads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(workloads, "MAX_BYTES", 1 << 14)
    chosen = ["bench", "--random", "2", "--seed", "5", "--only", "random 5.1"]
    assert cli.main([*chosen, "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert "random 5.1" in shown and "random 5.0" not in shown


def test_the_least_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    rows = [
        Measurement(name, who, 2, 1, seconds, 0.0, 5)
        for name, own in (("a", 1.0), ("b", 4.0), ("c", 2.0))
        for who, seconds in (("padops", own), ("built-in", 2.0))
    ]
    rows.append(Measurement("d", "padops", 2, 1, 9.0, 0.0, 5))
    print_least(Console(width=80), rows, 2, 2)
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert told == [
        ["2", "threads:", "the", "least", "of", "3,", "against", "the", "built-in"],
        ["0.50", "b"],
        ["1.00", "c"],
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["--random", "2", "--provider"],
            "--random excludes --model, --provider, --providers and --show",
        ),
        (["--random", "2", "--model", "m.onnx"], "--random excludes --model"),
    ],
)
def test_options_that_contradict(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", *arguments]) == 2
    assert text in capsys.readouterr().err
