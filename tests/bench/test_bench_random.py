"""Random workloads from a seed: many kinds of them, and the same ones each time."""

from __future__ import annotations

import numpy as np
import pytest

from padops import cli
from padops.bench import command, workloads
from padops.bench.workloads import IMAGE_TYPES, MAX_BYTES, MIN_BYTES, MODES, TYPES, random_workloads

MANY = random_workloads(400, 3)


def test_every_kind_comes_up() -> None:
    assert random_workloads(5, 7) == random_workloads(9, 7)[:5] != random_workloads(5, 8)
    assert {len(w.shape) for w in MANY} == {1, 2, 3, 4, 5} and len({w.name for w in MANY}) == len(MANY)
    assert ({w.mode for w in MANY}, {w.dtype for w in MANY}) == (set(MODES), {*TYPES, *IMAGE_TYPES})
    kinds = {np.sign(pair).tolist().__repr__() for w in MANY for pair in w.pairs if pair != (0, 0)}
    assert {"[1, 1]", "[1, 0]", "[0, 1]", "[-1, -1]"} <= kinds
    images = [w for w in MANY if " image " in w.name]
    assert images == list(MANY[3::4]) and all(w.shape[0] == 1 and {*w.shape[1::2]} & {1, 3, 4} for w in images)
    sizes = sorted(w.output_bytes for w in MANY)
    assert all(min(w.output_shape) > 0 for w in MANY)
    assert sizes[20] < 8 * MIN_BYTES and MAX_BYTES / 8 < sizes[-20] <= sizes[-1] < 4 * MAX_BYTES
    reflected = [w for w in MANY if w.mode == "reflect"]  # no further than ONNX Runtime does
    assert all(max(pair) < size for w in reflected for pair, size in zip(w.pairs, w.shape))


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(workloads, "MAX_BYTES", 1 << 14)
    assert cli.main(["bench", "--random", "3", "--seed", "5", "--only", " 5.1", "--only", "5.2", "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert "random 5.1" in shown and "random 5.2" in shown and "random 5.0" not in shown
