"""Real networks on real execution providers: a lowered network is right, and what lowering wrote runs there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import bench_providers
import provider_networks
import providers
from bench_providers import BESIDE, LOWERED, PROCESSOR, STOCK, TWIN
from networks import SMALL

# QNN's emulated HTP finalizes next to none of them.
NAMES = [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in ("ort-openvino", "ort-webgpu")]


@pytest.mark.parametrize("name", NAMES)
def test_networks(name: str, tally) -> None:
    provider = providers.provider_of(name)
    told = provider_networks.ask(name)
    found = provider_networks.faults(provider, told)
    print(*found, sep="\n")
    print(provider_networks.table(told))
    lowered = [ways["lowered"] for ways in told.values()]
    ran = [one for one in lowered if one["outcome"] == "right"]
    assert len(ran) >= 5, [one["why"][:200] for one in lowered]
    left_out = sum(one["outcome"] == "late" or provider_networks.is_refused_anyway(one) for one in lowered)
    what = (
        f"real networks that {name} takes, lowered for it: as right as stock, and what lowering wrote runs there; "
        "with padops beside it, too"
    )
    tally(what, len(lowered) - left_out, len(found))


# WebGPU's processor is emulated: one network of each kind of answer.
ONLY = {"ort-openvino": [*SMALL], "ort-webgpu": ["small panorama, wrap"]}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in ONLY])
def test_parts_of_the_lowered(name: str, tmp_path: Path) -> None:
    """A lowered network runs wholly on the provider, in as many parts as its twin; padops beside it always runs."""
    data = tmp_path / "rows.json"
    only = [word for network in ONLY[name] for word in ("--only", network)]
    command = bench_providers.command(name, ["--quick", "--json", str(data), *only])
    done = subprocess.run(command, env=providers.variables(), text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    rows = {(row["network"], row["by"]): row for row in json.loads(data.read_text())}
    assert {network for network, _ in rows} == {*ONLY[name]}
    for network in ONLY[name]:
        lowered, twin = rows[network, LOWERED], rows[network, TWIN]
        assert lowered["failure"] == rows[network, BESIDE]["failure"] == ""
        assert lowered["parts"] == twin["parts"] == 1 and lowered["copies"] == lowered["elsewhere"] == 0, network
        assert rows[network, PROCESSOR]["parts"] == 0 < rows[network, PROCESSOR]["elsewhere"]
    if name == "ort-openvino":
        refused = {network for network in SMALL if rows[network, STOCK]["failure"].startswith("refused: ")}
        assert refused == {network for network in SMALL if "wrap" in network or "axes" in network}
        assert all(rows[network, BESIDE]["elsewhere"] >= 3 for network in refused), "those Pads are padops'"
