"""Random workloads from a seed: many kinds of them, and the same ones each time."""

from __future__ import annotations

import numpy as np
import pytest

from padops import cli
from padops.bench import command, workloads
from padops.bench.workloads import IMAGE_TYPES, MAX_BYTES, MIN_BYTES, MODES, TYPES, random_workloads

MANY = random_workloads(400, 3)


def test_a_seed_gives_the_same_workloads() -> None:
    assert random_workloads(5, 7) == random_workloads(9, 7)[:5]
    assert random_workloads(5, 7) != random_workloads(5, 8)


def test_every_kind_comes_up() -> None:
    assert {len(w.shape) for w in MANY} == {1, 2, 3, 4, 5}
    assert {w.mode for w in MANY} == set(MODES)
    assert {w.dtype for w in MANY} == {*TYPES, *IMAGE_TYPES}
    amounts = [pair for w in MANY for pair in w.pairs if pair != (0, 0)]
    kinds = {np.sign(pair).tolist().__repr__() for pair in amounts}
    assert {"[1, 1]", "[1, 0]", "[0, 1]", "[-1, -1]"} <= kinds
    assert len({w.name for w in MANY}) == len(MANY)
    images = [w for w in MANY if " image " in w.name]
    assert images == list(MANY[3::4]) and all(w.shape[0] == 1 and {*w.shape[1::2]} & {1, 3, 4} for w in images)


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
    assert cli.main(["bench", "--random", "3", "--seed", "5", "--only", " 5.1", "--only", "5.2", "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert "random 5.1" in shown and "random 5.2" in shown and "random 5.0" not in shown
