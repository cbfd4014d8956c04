"""``scripts/bench_providers.py``: networks on providers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import bench_providers
from bench_providers import BESIDE, LOWERED, PROCESSOR, STOCK, placement_among
from networks import SMALL

ROOT = Path(__file__).resolve().parents[2]
CPU, WEBGPU, OPENVINO = "CPUExecutionProvider", "WebGpuExecutionProvider", "OpenVINOExecutionProvider"
FIRST = "PadopsFirstExecutionProvider"


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_providers, "QUICK_SECONDS", 0.01)
    data, model = tmp_path / "rows.json", str(ROOT / "models" / "int16.onnx")  # which stock onnxruntime does not run
    assert bench_providers.main(["--here", CPU, "--quick", "--model", model, "--json", str(data)]) == 0
    shown = capsys.readouterr()
    rows = {row["by"]: row for row in json.loads(data.read_text())}
    assert [*rows] == [PROCESSOR, bench_providers.AGAIN, STOCK, BESIDE, LOWERED]
    assert rows[STOCK]["failure"].startswith("refused: ") and f"{model}, {STOCK}: refused: " in shown.err
    assert {row["by"] for row in rows.values() if not row["median"]} == {STOCK}
    assert rows[BESIDE]["parts"] == rows[BESIDE]["copies"] == 0 < rows[BESIDE]["elsewhere"], "all is on the processor"
    ratio = rows[BESIDE]["median"] / rows[PROCESSOR]["median"]
    lines = shown.out.splitlines()
    assert lines[0] == f"| network | by | {' | '.join(bench_providers.COLUMNS)} |"
    assert len(lines) == 2 + len(rows) and len({line.count("|") for line in lines}) == 1
    assert next(line for line in lines if f"| {BESIDE} |" in line).endswith(f" | {ratio:.2f} |")


PARTS = [
    ([("Conv", CPU), ("Pad", "PadopsExecutionProvider")], (0, 0, 2)),
    ([("OpenVINO-EP-subgraph_1", OPENVINO), ("OpenVINO-EP-subgraph_2", OPENVINO)], (2, 0, 0)),
    ([(f"{FIRST}_7_0", FIRST), ("OpenVINO-EP-subgraph_1", OPENVINO), ("Relu", CPU)], (1, 0, 2)),
    ([("Conv", WEBGPU), ("Relu", WEBGPU), ("Pad", WEBGPU)], (1, 0, 0)),
    ([("Conv", WEBGPU), ("MemcpyToHost", WEBGPU), ("Pad", FIRST), ("MemcpyFromHost", WEBGPU), ("Conv", WEBGPU)],
     (2, 2, 1)),
    ([("Conv", "A"), ("Conv", "B"), ("A_1", "A"), ("Conv", "A")], (4, 0, 0)),
]  # fmt: skip


def test_parts() -> None:
    for ran, counted in PARTS:
        assert placement_among(ran) == counted


@pytest.mark.parametrize("by", [STOCK, BESIDE, LOWERED])
def test_outputs_are_compared(by: str) -> None:
    """What padops changes is an error; what the provider gets wrong is not timed."""

    def twice(options: Any) -> object:
        held = ways[by](options)
        run = lambda names, feeds: [2 * output for output in held.run(names, feeds)]
        return SimpleNamespace(run=run, end_profiling=held.end_profiling)

    made, _, shape = SMALL["small panorama, wrap"]
    ways = bench_providers.sessions(made(), CPU)
    measure = lambda: bench_providers.measured("net", ways | {by: twice}, {"x": np.ones(shape, np.float32)}, 0.01)
    if by != STOCK:
        with pytest.raises(RuntimeError, match=f"net: {by} does not give what the processor gives: output 0"):
            measure()
        return
    rows = {row["by"]: row for row in measure()}
    assert rows[STOCK]["failure"].startswith("wrong: output 0 is more than") and rows[STOCK]["median"] == 0
    assert rows[LOWERED]["failure"] == "" and rows[LOWERED]["median"] > 0
