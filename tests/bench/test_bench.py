"""The benchmark measures what it says: outputs are compared first, and what it writes can be read."""

from __future__ import annotations

import importlib.util
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from padops import cli
from padops.bench import implementations, models, runner, tables
from padops.bench.runner import Measurement
from padops.bench.workloads import QUICK, WORKLOADS, Memory, Workload
from padops.spec import reference
from padops.spec.bits import to_bytes

ROOT = Path(__file__).resolve().parents[2]


def test_bench_writes_table_json_and_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, plot = tmp_path / "bench.json", tmp_path / "bench.svg"
    arguments = ["bench", "--quick", "--only", "tiny", "--threads", "1", "--json", str(data)]
    assert cli.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "geometric mean" in shown
    rows = json.loads(data.read_text())["measurements"]
    assert {"padops", "built-in", "numpy"} <= {row["implementation"] for row in rows}
    assert all(row["median"] > 0 and row["samples"] >= 5 and row["output_bytes"] == 80 for row in rows)

    assert cli.main(["bench", "--show", str(data), "--plot", str(plot)]) == 0
    assert capsys.readouterr().out == shown, "what was written is all that is shown"
    assert "tiny" in "".join(ET.parse(plot).getroot().itertext())
    assert cli.main(["bench", "--show", str(data), "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len({line.count("|") for line in lines if "|" in line}) == 1
    speed = next(r["median"] for r in rows if r["implementation"] == "numpy") / next(
        r["median"] for r in rows if r["implementation"] == "padops"
    )
    assert f" {speed:.2f} |" in next(line for line in lines if line.startswith("| tiny"))


def test_bench_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--quick", "--threads", "1", "--model", str(ROOT / "models" / "pad_19.onnx")]) == 0
    assert "models/pad_19.onnx" in capsys.readouterr().out


def test_a_model_that_changes_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    original = models.session
    monkeypatch.setattr(
        models, "session", lambda model, threads, registered: _Other(original(model, threads, registered))
    )
    with pytest.raises(runner.OutputsDiffer, match="pad_19.onnx: the converted model"):
        models.measure_model(ROOT / "models" / "pad_19.onnx", 1, 0.01)


class _Other:
    """A session whose outputs change from run to run."""

    runs = 0

    def __init__(self, held: object) -> None:
        self.held = held

    def run(self, names: None, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
        _Other.runs += 1
        return [output + _Other.runs for output in self.held.run(names, feeds)]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["--only", "no such"],
            2,
            "error: no workload has 'no such' in its name; there are image constant, image reflect",
        ),
        (
            ["--quick", "--only", "int4"],
            2,
            f"error: no workload of --quick has 'int4' in its name; there are {', '.join(QUICK)}\n",
        ),
        (
            ["--model", "m.onnx", "--only", "tiny"],
            2,
            "error: --only chooses from the workloads, but --model measures none",
        ),
        (["--threads", "1", "--show", "absent.json"], 2, "error: --show excludes --only"),
        (["--show", "absent.json", "--only", "tiny"], 2, "error: --show excludes --only"),
        (["--show", "absent.json", "--provider"], 2, "error: --show excludes --only"),
        (["--random", "2", "--quick"], 2, "error: --random excludes --quick"),
        (["--seed", "3"], 2, "error: --seed needs --random"),
        (["--provider", "--plot", "a.svg"], 2, "error: --plot draws workloads, not what --provider and --providers"),
        (["--providers", "cpu,Cupid"], 2, "knows no provider Cupid; expected one of "),
        (["--json", "one", "--plot", "./one"], 2, "error: --json, --plot, --show and --compare name one file twice"),
        (["--show", "one", "--plot", "one"], 2, "error: --json, --plot, --show and --compare name one file twice"),
        (["--show", "absent.json"], 1, "absent.json"),
    ],
)
def test_mistakes_are_named(arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", *arguments]) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("option", "most"), [("--threads", 1024), ("--random", 10_000)])
@pytest.mark.parametrize("text", ["0", "-1", "1.5", "all", "²", "99999999999999999999"])
def test_a_number_is_one_that_can_be_measured(
    text: str, option: str, most: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", f"{option}={text}"])
    assert ended.value.code == 2
    assert f"argument {option}: '{text}' is not a whole number from 1 to {most}\n" in capsys.readouterr().err


def test_a_copy_that_there_is_not_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PADOPS_COPY", "AVX2")
    assert cli.main(["bench", "--quick", "--only", "tiny", "--threads", "1"]) == 1
    err = capfd.readouterr().err
    assert "PADOPS_COPY is 'AVX2', expected baseline, avx2 or string" in err and "Traceback" not in err


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def full(path: Path, parts: list[str]) -> None:
        raise OSError(28, "No space left on device", "/a/temporary/file")

    data, again = tmp_path / "bench.json", tmp_path / "again.json"
    data.write_text(json.dumps({"schema": 1, "machine": {}, "measurements": [ROW]}))
    monkeypatch.setattr("padops.files.staging.write_whole", full)
    assert cli.main(["bench", "--show", str(data), "--json", str(again)]) == 1
    assert capsys.readouterr().err == f"error: cannot write {again}: No space left on device\n"


ROW = vars(Measurement("one", "padops", 1, 8, 1.0, 0.1, 9))
OTHER = {**ROW, "implementation": "built-in"}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "measurements is not a list with measurements"),
        ({"one": ROW}, "measurements is not a list with measurements"),
        ([ROW, [1]], "measurement 1 has not the fields workload, implementation, threads, output_bytes"),
        ([{**ROW, "more": 1}], "measurement 0 has not the fields"),
        ([{"workload": "one"}], "measurement 0 has not the fields"),
        ([{**ROW, "threads": "1"}], "measurement 0: threads is '1', not of type int"),
        ([{**ROW, "median": None}], "measurement 0: median is None, not of type float"),
        ([{**ROW, "median": 0.0}], "measurement 0 has threads, a median or a spread that nobody measures"),
        ([{**ROW, "median": float("nan")}], "measurement 0 has threads, a median or a spread that nobody measures"),
        ([{**ROW, "median": 10**400}], "measurement 0 has threads, a median or a spread that nobody measures"),
        ([{**ROW, "median": 5e-324}], "measurement 0 has threads, a median or a spread that nobody measures"),
        ([{**ROW, "workload": "a\nb"}], "measurement 0 has a name that no table can show"),
        ([{**ROW, "workload": "a|b"}], "measurement 0 has a name that no table can show"),
        ([ROW, ROW], "an implementation has been measured twice with one workload and one number of threads"),
        ([{**ROW, "threads": 0}], "measurement 0 has threads, a median or a spread that nobody measures"),
        ([OTHER], "'one' with 1 thread has no measurement of padops"),
        (
            [OTHER, {**ROW, "implementation": "stock", "workload": "two"}],
            "'one' with 1 thread has no measurement of stock",
        ),
        ([ROW, {**ROW, "threads": 2, "workload": "two"}], "'one' has not been measured with 1 and with 2 threads"),
    ],
)
def test_what_json_has_not_written_is_not_shown(
    rows: object, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, plot = tmp_path / "bench.json", tmp_path / "bench.svg"
    data.write_text(json.dumps({"schema": 1, "machine": {}, "measurements": rows}))
    assert cli.main(["bench", "--show", str(data), "--plot", str(plot)]) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith(f"error: {data} is not what --json wrote: {words}")
    assert not plot.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[" * 100_000,
        '{"schema": 1, "machine": 1, "measurements": []}',
        '{"schema": 1, "machine": {"a": 1}, "measurements": []}',
        '{"machine": {}, "measurements": []}',
    ],
)
def test_what_is_no_such_json_is_not_shown(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "bench.json"
    data.write_text(text)
    assert cli.main(["bench", "--show", str(data)]) == 1
    assert capsys.readouterr().err.startswith(f"error: {data} is not what --json wrote: ")


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_what_cannot_be_written_is_named(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, target = tmp_path / "bench.json", tmp_path / ("n" * 256)
    data.write_text(json.dumps({"schema": 1, "machine": {}, "measurements": [ROW, OTHER]}))
    assert cli.main(["bench", "--show", str(data), option, str(target)]) == 1
    assert capsys.readouterr().err == f"error: cannot write {target}: File name too long\n"
    assert [path.name for path in tmp_path.iterdir()] == ["bench.json"]


def test_a_wrong_output_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = Workload("one", (2,), (1,), (0,))
    monkeypatch.setitem(
        implementations.IMPLEMENTATIONS, "numpy", lambda w, memory, threads: lambda: np.ones(3, np.float32)
    )
    with pytest.raises(
        runner.OutputsDiffer, match=r"one: numpy differs from padops in \d+ of \d+ places, the first at \d+"
    ):
        runner.time_workload(workload, ("padops", "numpy"), 1, 0.01)


def test_an_output_that_another_left_is_not_taken_for_ones_own() -> None:
    workload = Workload("one", (2,), (1,), (0,))
    memory = Memory.of(workload)
    calls = {"padops": implementations.IMPLEMENTATIONS["padops"](workload, memory, 1), "idle": lambda: memory.target}
    with pytest.raises(runner.OutputsDiffer, match="idle"):
        runner.compare(workload, memory, calls)


@pytest.fixture
def any_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets TensorFlow keep its number of threads, which it takes once in a process: another test may have begun."""
    if importlib.util.find_spec("tensorflow"):
        set_threads = "tensorflow.config.threading.set_intra_op_parallelism_threads"
        monkeypatch.setattr(set_threads, lambda threads: None)


@pytest.mark.adapts_to("openvino", "tensorflow", "torch")
@pytest.mark.parametrize("workload", [w for w in WORKLOADS if w.output_bytes < 3e6], ids=lambda w: w.name)
def test_implementations_agree(workload: Workload, any_threads: None) -> None:
    """Also with the reference, and that the memory is as large as the output that padops gives."""
    memory = Memory.of(workload)
    calls = {name: make(workload, memory, 1) for name, make in implementations.IMPLEMENTATIONS.items()}
    runner.compare(workload, memory, {name: call for name, call in calls.items() if call is not None})
    if workload.mode != "symmetric":
        pads = np.array(workload.begin + workload.end)
        expected = reference.run("Pad_25", {"mode": workload.mode}, [workload.data(), pads])
        assert calls["padops"]().tobytes() == to_bytes(expected)


@pytest.mark.parametrize("name", ["copy", "copy by all", "copy by padops"])
def test_copies_write_all_bytes(name: str) -> None:
    workload = Workload("one", (100_003,), (0,), (0,), dtype="uint8")
    memory = Memory.of(workload)
    memory.target[:] = 0
    implementations.IMPLEMENTATIONS[name](workload, memory, 2)()
    assert memory.target.min() == memory.target.max() == 1


class Clocks:
    """Time as a process sees it whose other threads spin for a while; no machine is too busy for it."""

    def __init__(self, spinning: float) -> None:
        self.now, self._spinning = 100.0, 100.0 + spinning

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def perf_counter(self) -> float:
        return self.now

    def process_time(self) -> float:
        return min(self.now, self._spinning)


def test_the_next_implementation_waits_for_threads_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(spinning=0.04)
    monkeypatch.setattr(runner, "time", clocks)
    runner._rest(limit=10)
    assert 100.04 <= clocks.now < 100.07
    monkeypatch.setattr(runner, "time", Clocks(spinning=60))
    with pytest.raises(TimeoutError, match="not come to rest in 0.05 s"):
        runner._rest(limit=0.05)


def test_the_best_copy_counts() -> None:
    def taken(implementation: str, median: float) -> Measurement:
        return Measurement("one", implementation, 1, 8, median, 0, 9)

    results = [taken("padops", 2.0), taken("copy", 9.0), taken("copy by all", 3.0), taken("numpy", 8.0)]
    assert tables.columns_of(results) == ["copy", "numpy"]
    assert tables.cells(results)[1]["one"][3:] == ["1.50", "4.00"]


@pytest.mark.parametrize("workload", [w for w in WORKLOADS if w.as_float], ids=lambda w: w.name)
def test_as_many_bytes_in_float(workload: Workload) -> None:
    assert workload.as_float.output_bytes == pytest.approx(workload.output_bytes, rel=0.06)


def test_names_are_unique_and_quick_ones_exist() -> None:
    names = [workload.name for workload in WORKLOADS]
    assert len(set(names)) == len(names)
    assert set(QUICK) <= set(names)
