"""``padops bench --providers`` measures what it says, and its table says what it measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import padops
from padops import cli
from padops.bench import beside, command, session_tables
from padops.bench.beside import AGAIN, BESIDE, LOWERED, STOCK, TWIN, NodePlacement, placement_among
from padops.bench.networks import ALL, NETWORKS, SMALL
from padops.bench.results import read_results
from padops.bench.runner import Measurement, OutputsDiffer, Placed
from padops.bench.session_tables import PROCESSOR

CPU, WEBGPU, OPENVINO = "CPUExecutionProvider", "WebGpuExecutionProvider", "OpenVINOExecutionProvider"
FIRST = "PadopsFirstExecutionProvider"
MODELS = Path(__file__).resolve().parents[2] / "models"
BENCH = ["bench", "--providers", CPU, "--quick"]
WAYS = [PROCESSOR, AGAIN, STOCK, BESIDE, LOWERED]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "QUICK_SECONDS", 0.01)


def test_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "bench.json"
    model = str(MODELS / "int16.onnx")  # which stock onnxruntime does not run
    assert cli.main([*BENCH, "--only", "wrap", "--model", model, "--json", str(data)]) == 0
    shown = capsys.readouterr().out
    written = json.loads(data.read_text())
    assert written["machine"]["providers"] == CPU and all(column in shown for column in session_tables.BESIDE.columns)
    rows = {(row["workload"], row["implementation"]): row for row in written["measurements"]}
    network, own = "small panorama, wrap", "models/int16.onnx"
    assert [*rows] == [*((network, by) for by in (*WAYS, TWIN)), *((own, by) for by in WAYS)]
    assert rows[own, STOCK]["failure"].startswith("refused: ") and f"{own}, {STOCK}: refused: " in shown
    for key, row in rows.items():
        assert (row["median"] == 0) == (row["samples"] == 0) == bool(row["failure"]) == (key == (own, STOCK))
        assert row["parts"] == row["copies"] == 0, "all is on the processor"
    assert rows[network, PROCESSOR]["elsewhere"] >= 6

    assert cli.main(["bench", "--show", str(data)]) == 0
    assert capsys.readouterr().out == shown, "what was written is all that is shown"
    assert cli.main(["bench", "--show", str(data), "--markdown"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "|" in line]
    assert lines[0] == f"| network | by | {' | '.join(session_tables.BESIDE.columns)} |"
    assert len(lines) == 2 + len(rows) and len({line.count("|") for line in lines}) == 1
    ratio = rows[network, BESIDE]["median"] / rows[network, PROCESSOR]["median"]
    assert next(line for line in lines if f"| {network} | {BESIDE} |" in line).endswith(f" | {ratio:.2f} |")
    assert f"| {own} | {STOCK} |  |  |  | refused |  |  |" in lines


def placed(by: str, median: float, failure: str = "", **counts: int) -> Placed:
    numbers = {"parts": 0, "copies": 0, "elsewhere": 0} | counts
    return Placed("net", by, 2, 8, median, median / 10, int(not failure), **numbers, failure=failure)


def test_cells() -> None:
    results = [
        placed(PROCESSOR, 4e-3, elsewhere=9),
        placed(STOCK, 0.0, "wrong: output 0 is far away"),
        placed(BESIDE, 2e-3, parts=3, copies=4, elsewhere=2),
    ]
    assert session_tables.BESIDE.cells(results) == {
        ("net", PROCESSOR): ["0", "0", "9", "4.00 ms", "0.40 ms", "1.00"],
        ("net", STOCK): ["", "", "", "wrong", "", ""],
        ("net", BESIDE): ["3", "4", "2", "2.00 ms", "0.20 ms", "0.50"],
    }


@pytest.mark.parametrize(
    ("ran", "counted"),
    [
        ([("Conv", CPU), ("Pad", "PadopsExecutionProvider")], (0, 0, 2)),
        ([("OpenVINO-EP-subgraph_1", OPENVINO)], (1, 0, 0)),
        ([("OpenVINO-EP-subgraph_1", OPENVINO), ("OpenVINO-EP-subgraph_2", OPENVINO)], (2, 0, 0)),
        ([(f"{FIRST}_7_0", FIRST), ("OpenVINO-EP-subgraph_1", OPENVINO), ("Relu", CPU)], (1, 0, 2)),
        ([("Conv", WEBGPU), ("Relu", WEBGPU), ("Pad", WEBGPU)], (1, 0, 0)),
        (
            [("Conv", WEBGPU), ("MemcpyToHost", WEBGPU), ("Pad", FIRST), ("MemcpyFromHost", WEBGPU), ("Conv", WEBGPU)],
            (2, 2, 1),
        ),
        ([("MemcpyFromHost", WEBGPU), ("Conv", WEBGPU), ("MemcpyToHost", CPU), ("Relu", WEBGPU)], (1, 2, 0)),
        ([("Conv", "A"), ("Conv", "B"), ("A_1", "A"), ("Conv", "A")], (4, 0, 0)),
    ],
)
def test_parts(ran: list[tuple[str, str]], counted: tuple[int, int, int]) -> None:
    assert placement_among(ran) == NodePlacement(*counted)


@pytest.mark.parametrize("name", ALL)
def test_networks(name: str) -> None:
    """The networks are valid and have the named Pads; their twins' Pads are constant, of equal amounts, no axes."""
    network = ALL[name]
    made, twin = (onnx.load_from_string(model()) for model in (network.made, network.twin))
    for model in (made, twin):
        onnx.checker.check_model(model, full_check=True)
    pads, constant = ([node for node in model.graph.node if node.op_type == "Pad"] for model in (made, twin))
    mode = name.rpartition("small ")[2].split(", ")[1].split()[0]
    assert {node.attribute[0].s.decode() for node in pads} == {mode} and len(pads) >= 3
    assert {node.attribute[0].s.decode() for node in constant} == {"constant"} and len(constant) == len(pads)
    assert {len(node.input) for node in pads} == ({4} if "axes" in name else {2})
    assert {len(node.input) for node in constant} == {2}
    told = [[pad.amounts for pad in padops.inspect(model).pads] for model in (made, twin)]
    assert [[tuple(row[:2]) for row in pad] for pad in told[0]] == [[tuple(row[:2]) for row in pad] for pad in told[1]]


def test_names() -> None:
    assert [*SMALL] == [f"small {name}" for name in NETWORKS]


class Twice:
    """A session that gives twice as much as it should."""

    def __init__(self, held: onnxruntime.InferenceSession) -> None:
        self.held = held
        self.end_profiling = held.end_profiling

    def run(self, names: None, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [2 * output for output in self.held.run(names, feeds)]


def wrong_by(way: str, monkeypatch: pytest.MonkeyPatch) -> list[Placed]:
    """Return the measurements of a small network where one of the sessions gives a wrong output."""
    make = getattr(beside, way)
    changed = [CPU]  # and not (CPU,), as the processor's own session has it, which stays as it is
    monkeypatch.setattr(
        beside,
        way,
        lambda model, providers, options: (
            Twice(make(model, providers, options)) if providers == changed else make(model, providers, options)
        ),
    )
    return beside.measure_network(changed, "small panorama, wrap", 1, 0.01)


@pytest.mark.parametrize(("way", "by"), [("_beside", BESIDE), ("_lowered", LOWERED)])
def test_what_padops_changes_is_an_error(way: str, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        OutputsDiffer, match=f"small panorama, wrap: {by} does not give what the processor gives: output 0"
    ):
        wrong_by(way, monkeypatch)


def test_what_the_provider_gets_wrong_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "_lowered", beside._stock)
    rows = {row.implementation: row for row in wrong_by("_stock", monkeypatch)}
    assert rows[STOCK].failure.startswith("wrong: output 0 is up to ") and rows[STOCK].median == 0
    assert rows[LOWERED].failure == "" and rows[LOWERED].median > 0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (np.float32([1, 100.9]), ""),
        (np.float32([1, 101.1]), "output 0 is up to 1.1 away, of 100"),
        (np.float32([1, np.nan]), "output 0 is up to 0 away, of 100"),
        (np.float64([1, 100]), r"output 0 is float64[2], expected float32[2]"),
        (np.float32([[1, 100]]), r"output 0 is float32[1, 2], expected float32[2]"),
    ],
)
def test_how_far_is_too_far(given: np.ndarray, why: str) -> None:
    assert beside._difference([given], [np.float32([1, 100])]) == why
    assert beside._difference([np.array([1, 2])], [np.array([1, 3])]) == "output 0 has other values"


def test_mistakes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code, text in (
        (["--providers", "NoSuch"], 2, "knows no provider NoSuch; expected one of"),
        (["--providers", CPU, "--provider"], 2, "--provider excludes --providers"),
        (["--providers", CPU, "--threads", "1"], 2, "--providers excludes --threads"),
        (["--providers", CPU, "--random", "2"], 2, "--random excludes --model"),
        (["--providers", CPU, "--show", "x.json"], 2, "--show excludes --only"),
        (["--providers", CPU, "--only", "no such"], 2, ", ".join(NETWORKS)),
        (["--providers", CPU, "--plot", str(tmp_path / "x.svg")], 2, "--plot draws workloads"),
    ):
        assert cli.main(["bench", *arguments]) == code, arguments
        assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"failure": "late"}, "measurement 1 has threads, a median or a spread that nobody measures"),
        ({"failure": "late", "median": 0.0}, "measurement 1 has a failure that no table can show"),
        ({"failure": "refused: a\nb", "median": 0.0}, "measurement 1 has a failure that no table can show"),
        ({"parts": "1"}, "measurement 1: parts is '1', not of type int"),
        ({"implementation": "other"}, f"'net' with 2 threads has no measurement of {PROCESSOR}"),
    ],
)
def test_files_that_nobody_wrote(change: dict, why: str, tmp_path: Path) -> None:
    rows = [vars(placed(STOCK, 1.0)), vars(placed(PROCESSOR, 1.0)) | change]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"schema": 1, "machine": {}, "measurements": rows}))
    with pytest.raises(ValueError, match=why):
        read_results(path)


def test_a_file_of_two_kinds(tmp_path: Path) -> None:
    rows = [vars(placed(PROCESSOR, 1.0)), vars(Measurement("w", "stock", 2, 8, 1.0, 0.0, 9))]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"schema": 1, "machine": {}, "measurements": rows}))
    with pytest.raises(ValueError, match="some measurements are of --providers, and some are not"):
        read_results(path)
