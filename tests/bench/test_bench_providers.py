"""``scripts/bench_providers.py``: networks on providers; ``scripts/bench_results.py``: what a JSON has."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest

import padops
from padops.bench.table import Measurement, as_json

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import bench_providers
import bench_results
from bench_providers import BESIDE, LOWERED, PROCESSOR, STOCK, placement_among
from networks import NETWORKS, SMALL

ROOT = Path(__file__).resolve().parents[2]
CPU, WEBGPU, OPENVINO = "CPUExecutionProvider", "WebGpuExecutionProvider", "OpenVINOExecutionProvider"
FIRST = "PadopsFirstExecutionProvider"
ALL = NETWORKS | SMALL


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


@pytest.mark.parametrize("name", ALL)
def test_networks(name: str) -> None:
    made, twin, _ = ALL[name]
    models = [onnx.load_from_string(model()) for model in (made, twin)]
    for model in models:
        onnx.checker.check_model(model, full_check=True)
    pads, constant = ([node for node in model.graph.node if node.op_type == "Pad"] for model in models)
    mode = name.rpartition("small ")[2].split(", ")[1].split()[0]
    assert {node.attribute[0].s.decode() for node in pads} == {mode} and len(pads) >= 3
    assert {node.attribute[0].s.decode() for node in constant} == {"constant"} and len(constant) == len(pads)
    assert {len(node.input) for node in pads} == ({4} if "axes" in name else {2})
    told = [[[tuple(row[:2]) for row in pad.amounts] for pad in padops.inspect(model).pads] for model in models]
    assert told[0] == told[1]


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


def test_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table, the picture, and the changes: a workload is slower where both ratios fell by more than the noise."""

    def write(name: str, padops_took: float) -> str:
        times = [(row, by) for row in ("a", "b") for by in (("padops", 1.0), ("built-in", 3.0), ("copy by all", 0.5))]
        rows = [
            Measurement(row, by, 1, 80, took * (padops_took if (row, by) == ("b", "padops") else 1), 0.01 * took, 9)
            for row, (by, took) in times
        ]
        (tmp_path / name).write_text(as_json({"processor": "One <1>"}, rows), encoding="utf-8")
        return str(tmp_path / name)

    now, then = write("now.json", 1.25), write("then.json", 1.0)
    assert bench_results.main([now, "--plot", str(tmp_path / "b.svg"), "--since", then]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[2].startswith("| 1 thread | output MB |")
    assert "1 thread, a: built-in 1.000 ± 2 %, copy 1.000 ± 2 %" in shown
    assert "1 thread, b: built-in 0.800" in shown and "geometric mean against built-in: 0.894" in shown
    assert shown.endswith("slower by more than the noise: b (1)\n")
    drawn = "".join(ET.parse(tmp_path / "b.svg").getroot().itertext())
    assert "3.00" in drawn and "2.40" in drawn and "One <1>" in drawn
    (tmp_path / "now.json").write_text('{"schema": 1}', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"now.json has the schema 1, expected 2"):
        bench_results.main([now])
