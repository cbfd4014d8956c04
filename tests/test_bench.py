"""The benchmark measures what it says: outputs are compared first, and what it writes can be read."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from padops import cli
from padops.bench import contestants, runner
from padops.bench.workloads import QUICK, WORKLOADS, Workload


def test_bench_writes_table_json_and_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, plot = tmp_path / "bench.json", tmp_path / "bench.svg"
    arguments = ["bench", "--quick", "--only", "tiny", "--threads", "1", "--json", str(data), "--plot", str(plot)]
    assert cli.main(arguments) == 0
    assert "geometric mean" in capsys.readouterr().out
    rows = json.loads(data.read_text())["measurements"]
    assert {"padops", "built-in", "copy", "numpy"} <= {row["contestant"] for row in rows}
    assert all(row["median"] > 0 and row["rounds"] >= 9 and row["output_bytes"] == 80 for row in rows)
    assert "tiny" in "".join(ET.parse(plot).getroot().itertext())


def test_unknown_workload_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--only", "no such"]) == 2
    assert "image constant" in capsys.readouterr().out


def test_a_wrong_output_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = Workload("one", (2,), (1,), (0,))
    monkeypatch.setitem(contestants.CONTESTANTS, "numpy", lambda w, threads: lambda: np.ones(3, np.float32))
    with pytest.raises(runner.OutputsDiffer, match="one: numpy does not give what padops gives"):
        runner.run([workload], 1, ("padops", "numpy"), seconds=0.01)


@pytest.mark.parametrize("workload", [w for w in WORKLOADS if w.output_bytes < 2e6], ids=lambda w: w.name)
def test_contestants_agree(workload: Workload) -> None:
    """Also that the output shape, from which the bytes are counted, is the one that padops gives."""
    calls = {name: make(workload, 1) for name, make in contestants.CONTESTANTS.items()}
    runner._compare(workload, {name: call for name, call in calls.items() if call is not None})
    assert tuple(calls["padops"]().shape()) == workload.output_shape


def test_names_are_unique_and_quick_ones_exist() -> None:
    names = [workload.name for workload in WORKLOADS]
    assert len(set(names)) == len(names)
    assert set(QUICK) <= set(names)
