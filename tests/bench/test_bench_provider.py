"""``padops bench --provider`` measures what it says, and its table says what it measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from provider_sessions import EP_NAME, options, providers_of_pads, recording_options, session

from padops import cli
from padops.bench import command, networks, provider, session_tables, sessions
from padops.bench.provider import AGAIN, CREATION, DISPATCH, MEASURED
from padops.bench.runner import Measurement, OutputsDiffer
from padops.convert import PadopsError

CPU = "CPUExecutionProvider"
MODELS = Path(__file__).resolve().parents[2] / "models"
BENCH = ["bench", "--provider", "--quick", "--threads", "1"]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """As few rounds as there may be, of small convolutions."""
    monkeypatch.setattr(command, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(networks, "_SIZE", 8)


def measured(name: str) -> dict[str, Measurement]:
    taken = provider.measure_chosen(name, 1, 0.01)
    assert {(one.workload, one.threads) for one in taken} == {(name, 1)}
    return {one.implementation: one for one in taken}


def test_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "bench.json"
    assert cli.main([*BENCH, "--only", "dispatch", "--model", str(MODELS / "pad_19.onnx"), "--json", str(data)]) == 0
    shown = capsys.readouterr().out
    written = json.loads(data.read_text())
    assert written["machine"]["processor"] in shown and written["machine"]["onnxruntime"] in shown
    rows = {(row["workload"], row["implementation"]): row["median"] for row in written["measurements"]}
    name = "models/pad_19.onnx"
    assert [*rows] == [
        *((DISPATCH, by) for by in ("stock", "provider", "operators")),
        *((name, by) for by in ("stock", AGAIN, "padops.InferenceSession")),
    ]
    assert min(rows.values()) > 0

    assert cli.main(["bench", "--show", str(data)]) == 0
    assert capsys.readouterr().out == shown, "what was written is all that is shown"
    assert cli.main(["bench", "--show", str(data), "--markdown"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "|" in line]
    assert len(lines) == 2 + len(rows) and len({line.count("|") for line in lines}) == 1
    ratio = rows[name, "padops.InferenceSession"] / rows[name, "stock"]
    assert f"| {ratio:.2f} |" in next(line for line in lines if f"| {name} | padops.InferenceSession |" in line)


def test_units_ratios_and_threads() -> None:
    def taken(workload: str, implementation: str, threads: int, median: float) -> Measurement:
        return Measurement(workload, implementation, threads, 8, median, median / 10, 9)

    results = [
        *(taken("tiny", by, 1, median) for by, median in (("stock", 400e-9), ("provider", 300e-9))),
        *(taken("large", by, 1, median) for by, median in (("stock", 2e-3), ("provider", 2.5e-3))),
        *(taken("large", by, 2, median) for by, median in (("stock", 1e-3), ("provider", 2.5e-3))),
    ]
    assert session_tables.form_of(results) is session_tables.OF_PROVIDER
    assert session_tables.OF_PROVIDER.cells(results[:4]) == {
        ("tiny", "stock"): ["400 ns", "40 ns", "", ""],
        ("tiny", "provider"): ["300 ns", "30 ns", "0.75", "-100 ns"],
        ("large", "stock"): ["2.000 ms", "0.200 ms", "", ""],
        ("large", "provider"): ["2.500 ms", "0.250 ms", "1.25", "+0.500 ms"],
    }
    shown = session_tables.OF_PROVIDER.markdown(results, {"processor": "P"})
    assert "| large | provider | 2.500 ms | 0.250 ms | 1.25 / 2.50 | +0.500 ms / +1.500 ms |" in shown
    assert "| tiny | provider | 300 ns / – |" in shown


def test_dispatch_is_of_one_pad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "PADS", 50)
    monkeypatch.setattr(
        provider, "measure", lambda name, size, *rest: [Measurement(name, "stock", 1, size, 1.0, 0.5, 9)]
    )
    assert MEASURED[DISPATCH](DISPATCH, 1, 0.01) == [Measurement(DISPATCH, "stock", 1, 24, 1 / 50, 0.5 / 50, 9)]


def test_creation() -> None:
    assert [*measured(CREATION)] == ["stock", "operators", "provider", "padops.InferenceSession"]


@pytest.mark.parametrize(
    ("dtype", "claims"),
    [
        ("float", ["padops.InferenceSession", "claim=needed"]),
        (
            "float16",
            ["padops.InferenceSession", "claim=needed", "float16=native", "claim=needed, float16=native"],
        ),
    ],
)
def test_convolutions(dtype: str, claims: list[str]) -> None:
    assert [*measured(f"convolutions {dtype}")] == ["stock", AGAIN, *claims]


def test_the_provider_runs_what_is_timed() -> None:
    """And no optimizer has taken the Pads away."""
    assert providers_of_pads(session(networks.tiny_pads(6))) == [EP_NAME] * 6
    float_model, _ = networks.convolutions("float")
    float16_model, _ = networks.convolutions("float16")
    assert providers_of_pads(session(float_model)) == [EP_NAME] * 3
    assert providers_of_pads(session(float_model, {"claim": "needed"})) == [CPU] * 3
    assert providers_of_pads(session(float16_model)) == [CPU] * 3
    assert providers_of_pads(session(float16_model, {"float16": "native"})) == [EP_NAME] * 3


@pytest.mark.parametrize("dtype", ["float", "float16"])
def test_no_other_kernels_run(dtype: str, tmp_path: Path) -> None:
    """The provider brings no copies and no casts, which would cost more than its Pads save."""
    built, feeds = networks.convolutions(dtype)
    stock, ours = recording_options(), options()
    run = []
    for chosen, providers in ((stock, [CPU]), (ours, None)):
        chosen.enable_profiling, chosen.profile_file_prefix = True, str(tmp_path / "profile")
        held = onnxruntime.InferenceSession(built, chosen, providers)
        held.run(None, feeds)
        events = json.loads(Path(held.end_profiling()).read_text())
        run.append(sorted(event["args"]["op_name"] for event in events if event["name"].endswith("_kernel_time")))
    assert run[0] == run[1] and run[0].count("Pad") == 3


def test_a_model_that_changes_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        def run(self, names: None, feeds: dict) -> list:
            return [feeds["v0"]]

    monkeypatch.setitem(provider.CLAIMS, "claim=needed", lambda model, threads: Other())
    with pytest.raises(
        OutputsDiffer, match="convolutions float: claim=needed does not give what stock onnxruntime gives"
    ):
        measured("convolutions float")


class Changed:
    """A stock session whose outputs are changed."""

    def __init__(self, change: Callable[[np.ndarray], np.ndarray], model: bytes, threads: int) -> None:
        self.change = change
        self.held = sessions.session(model, threads, registered=False)

    def run(self, names: None, feeds: dict) -> list:
        return [self.change(output) for output in self.held.run(names, feeds)]


@pytest.mark.parametrize(
    ("change", "agrees"),
    [
        (lambda output: output, True),
        (lambda output: output * np.float16(1.002), True),
        (lambda output: output + np.float16(0.05), False),
        (lambda output: output.astype(np.float32), False),
        (lambda output: output[None], False),
        (lambda output: np.where(output > 1, np.float16(np.nan), output), False),
    ],
    ids=["the same", "rounded", "far away", "another type", "another shape", "no number"],
)
def test_float16_native_is_compared_too(
    change: Callable[[np.ndarray], np.ndarray], agrees: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "measure", lambda *arguments: [])
    monkeypatch.setitem(provider.FLOAT16, "float16=native", partial(Changed, change))
    measure = partial(MEASURED["convolutions float16"], "convolutions float16", 1, 0.01)
    if agrees:
        measure()
        return
    with pytest.raises(OutputsDiffer, match="convolutions float16: float16=native does not give what stock"):
        measure()


@pytest.mark.parametrize("change", [lambda output: output[None], lambda output: output.view(np.int32)])
def test_shape_and_type_are_compared_as_well(
    change: Callable[[np.ndarray], np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(provider.CLAIMS, "claim=needed", partial(Changed, change))
    with pytest.raises(OutputsDiffer, match="convolutions float: claim=needed does not give"):
        measured("convolutions float")


def test_a_model_that_stock_refuses() -> None:
    with pytest.raises(PadopsError, match=r"stock onnxruntime does not run .*int16.onnx: .*Pad\(18\)"):
        provider.measure_model(MODELS / "int16.onnx", 1, 0.01)


def test_a_runtime_that_takes_no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RuntimeError("needs onnxruntime 1.24")

    monkeypatch.setattr("padops.runtime.provider.register_provider_library", refuse)
    with pytest.raises(PadopsError, match="needs onnxruntime 1.24"):
        measured(CREATION)


def test_mistakes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*BENCH, "--only", "no such"]) == 2
    assert ", ".join(MEASURED) in capsys.readouterr().err
    plot, data = tmp_path / "bench.svg", tmp_path / "bench.json"
    data.write_text(
        json.dumps({"schema": 1, "machine": {}, "measurements": [vars(Measurement("w", "stock", 1, 8, 1.0, 0.0, 9))]})
    )
    for arguments in (BENCH, ["bench", "--show", str(data)]):
        assert cli.main([*arguments, "--plot", str(plot)]) == (2 if arguments is BENCH else 1)
        assert "--plot draws workloads" in capsys.readouterr().err
    assert not plot.exists()
