"""``padops bench --providers`` on real providers, each in its environment: what the lowered networks promise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from padops.bench.beside import BESIDE, LOWERED, PROCESSOR, STOCK, TWIN
from padops.bench.networks import SMALL

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import bench_providers
import environment

# WebGPU's processor is emulated: one network of each kind of answer.
ONLY = {"ort-openvino": [*SMALL], "ort-webgpu": ["small panorama, wrap"]}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in ONLY])
def test_parts_of_the_lowered(name: str, tmp_path: Path) -> None:
    """A lowered network runs wholly on the provider, in as many parts as its twin; padops beside it always runs."""
    data = tmp_path / "bench.json"
    only = [word for network in ONLY[name] for word in ("--only", network)]
    command = bench_providers.command(name, ["--quick", "--json", str(data), *only])
    done = subprocess.run(
        command, env=bench_providers.variables(name), cwd=environment.ROOT, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    rows = {(row["workload"], row["implementation"]): row for row in json.loads(data.read_text())["measurements"]}
    assert {network for network, _ in rows} == {*ONLY[name]}
    for network in ONLY[name]:
        lowered, twin = rows[network, LOWERED], rows[network, TWIN]
        assert lowered["failure"] == rows[network, BESIDE]["failure"] == ""
        assert lowered["parts"] == twin["parts"] == 1 and lowered["copies"] == lowered["elsewhere"] == 0, network
        assert rows[network, PROCESSOR]["parts"] == 0 < rows[network, PROCESSOR]["elsewhere"]
    if name == "ort-openvino":
        refused = {network for network in SMALL if rows[network, STOCK]["failure"].startswith("refused: ")}
        assert refused == {network for network in SMALL if "wrap" in network or "axes" in network}
        pads = {network: rows[network, BESIDE]["elsewhere"] for network in refused}
        assert all(count >= 3 for count in pads.values()), "those Pads are padops'"


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A name is put into the options where they say so; WebGPU's networks are the small ones."""
    monkeypatch.setattr(bench_providers.providers, "python_of", lambda name: f"/environments/{name}/bin/python")
    told = bench_providers.command("ort-webgpu", ["--json", "{}.json"])
    assert told == [
        "/environments/ort-webgpu/bin/python", "-m", "padops", "bench", "--providers",
        "WebGpuExecutionProvider,CPUExecutionProvider", "--quick", "--json", "ort-webgpu.json",
    ]  # fmt: skip
    assert "--quick" not in bench_providers.command("ort-openvino", [])
    folder = "/environments/ort-webgpu/debian/usr/lib/chromium"
    assert bench_providers.variables("ort-webgpu")["LD_LIBRARY_PATH"].startswith(folder)
    assert bench_providers.variables("ort-webgpu")["VK_ICD_FILENAMES"].startswith(folder)
    assert bench_providers.main(["ort-qnn"]) == 2
    assert "ort-qnn is none of ort-openvino, ort-webgpu" in capsys.readouterr().err
