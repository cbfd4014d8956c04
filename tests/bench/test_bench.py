"""The benchmark measures what it says: outputs are compared first, and the table has what was measured."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from padops import cli
from padops.bench import table, timing
from padops.bench.table import Measurement
from padops.bench.workloads import QUICK, WORKLOADS, Memory, Workload
from padops.spec import reference
from padops.spec.dtypes import to_bytes

ROOT = Path(__file__).resolve().parents[2]


def test_bench_writes_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "bench.json"
    arguments = ["bench", "--quick", "--only", "tiny", "--threads", "1", "--markdown", "--json", str(data)]
    assert cli.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    written = json.loads(data.read_text())
    rows = {row["implementation"]: row for row in written["measurements"]}
    assert {"padops", "unmodified", "built-in", "numpy"} <= rows.keys()
    assert all(row["median"] > 0 and row["samples"] >= 5 and row["output_bytes"] == 80 for row in rows.values())
    assert written["machine"]["processor"] in lines[0] and written["machine"]["onnxruntime"] in lines[0]
    titles, _, tiny, *summary = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:])
    assert titles[:4] == ["1 thread", "output MB", "padops µs", "± µs"] and len(tiny) == len(titles)
    speed = rows["numpy"]["median"] / rows["padops"]["median"]
    assert (tiny[0], tiny[titles.index("numpy")]) == ("tiny", f"{speed:.2f}")
    assert [row[0] for row in summary] == ["geometric mean", "least"]


def test_a_model_is_measured_converted_and_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = f"{'long_' * 40}m.onnx"
    shutil.copy(ROOT / "models" / "pad_19.onnx", tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["bench", "--quick", "--threads", "1", "--model", name]) == 0
    titles, row = [line for line in capsys.readouterr().out.splitlines() if "padops µs" in line or name in line]
    assert titles.split()[-2:] == ["unmodified", "built-in"] and row.split()[0] == name
    (tmp_path / "none.onnx").write_bytes(b"no model")
    assert cli.main(["bench", "--model", "none.onnx"]) == 1
    assert capsys.readouterr().err.startswith("error: none.onnx: not an ONNX model")
    assert cli.main(["bench", "--model", str(ROOT / "models" / "int16.onnx")]) == 1
    assert re.search(r"stock onnxruntime does not run .*int16.onnx: .*Pad\(18\)", capsys.readouterr().err)


@pytest.mark.parametrize("kind", ["padops", "unmodified"])
def test_a_model_that_changes_is_not_timed(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def other(model: str, threads: int, by: str) -> object:
        held = original(model, threads, by)
        more = SimpleNamespace(run=lambda names, feeds: [output + 1 for output in held.run(names, feeds)])
        return more if by == kind else held

    original = timing.session
    monkeypatch.setattr(timing, "session", other)
    with pytest.raises(RuntimeError, match="pad_19.onnx: [a-z-]* differs from padops from place 0 on"):
        timing.time_model(ROOT / "models" / "pad_19.onnx", str(tmp_path), 1, 0.01)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "no such"], "no workload has 'no such' in its name; there are image constant, image reflect"),
        (["--quick", "--only", "int4"], f"no workload of --quick has 'int4' in its name; there are {', '.join(QUICK)}"),
        (["--model", "m.onnx", "--only", "tiny"], "--only chooses from the workloads, but --model measures none"),
        (["--random", "2", "--quick"], "--random excludes --quick"),
        (["--random", "2", "--model", "m.onnx"], "--random excludes --model"),
        (["--seed", "3"], "--seed needs --random"),
    ],
)
def test_mistakes_are_named(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {words}")


def test_a_number_is_one_that_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    for option, most in (("--threads", 1024), ("--random", 10_000)):
        for text in ("0", "-1", "1.5", "²", str(most + 1)):
            with pytest.raises(SystemExit, match="2"):
                cli.main(["bench", f"{option}={text}"])
            assert f"argument {option}: '{text}' is not a whole number from 1 to {most}\n" in capsys.readouterr().err


def test_a_copy_that_there_is_not_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PADOPS_COPY", "AVX2")
    assert cli.main(["bench", "--quick", "--only", "tiny", "--threads", "1"]) == 1
    err = capfd.readouterr().err
    assert "PADOPS_COPY is 'AVX2', expected baseline, avx2 or string" in err and "Traceback" not in err


def test_what_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file, not a temporary one beside it."""
    row = Measurement("one", "padops", 1, 8, 1.0, 0.1, 9)
    monkeypatch.setattr(timing, "measure", lambda steps, threads, seconds, keep, progress: keep([row]))
    target = tmp_path / ("n" * 256)
    assert cli.main(["bench", "--threads", "1", "--json", str(target)]) == 1
    assert capsys.readouterr().err == f"error: cannot write {target}: File name too long\n"
    assert [*tmp_path.iterdir()] == []


def test_a_wrong_output_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = lambda workload, memory, threads: lambda: np.ones(3, np.float32)
    monkeypatch.setitem(timing.IMPLEMENTATIONS, "numpy", wrong)
    with pytest.raises(RuntimeError, match=r"one: numpy differs from padops from place \d+ on, of 12"):
        timing.time_workload(Workload("one", (2,), {0: (1, 0)}), ("padops", "numpy"), 1, 0.01)


@pytest.mark.adapts_to("openvino", "torch")
@pytest.mark.parametrize("workload", [w for w in WORKLOADS if w.output_bytes < 3e6], ids=lambda w: w.name)
def test_implementations_agree(workload: Workload) -> None:
    """Also with the reference, and that the memory is as large as the output that padops gives."""
    memory = Memory.of(workload)
    calls = {name: make(workload, memory, 1) for name, make in timing.IMPLEMENTATIONS.items()}
    timing.compare(workload.name, memory.target, {name: call for name, call in calls.items() if call is not None})
    if workload.mode != "symmetric":
        pads = np.array(workload.pairs).T.reshape(-1)
        expected = reference.run("Pad_25", {"mode": workload.mode}, [workload.data(), pads])
        assert calls["padops"]().tobytes() == to_bytes(expected)


def test_copies_write_all_bytes() -> None:
    workload = Workload("one", (100_003,), {}, dtype="uint8")
    memory = Memory.of(workload)
    for name in ("copy", "copy by all", "copy by padops"):
        memory.target[:] = 0
        timing.IMPLEMENTATIONS[name](workload, memory, 2)()
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
    monkeypatch.setattr(timing, "time", clocks)
    timing._rest(limit=10)
    assert 100.04 <= clocks.now < 100.07
    monkeypatch.setattr(timing, "time", Clocks(spinning=60))
    with pytest.raises(TimeoutError, match="not come to rest in 0.05 s"):
        timing._rest(limit=0.05)


def test_cells() -> None:
    def taken(implementation: str, median: float, threads: int = 1) -> Measurement:
        return Measurement("one", implementation, threads, 8, median, 0, 9)

    results = [taken("padops", 2.0), taken("copy", 9.0), taken("copy by all", 3.0), taken("numpy", 8.0)]
    results += [taken("padops", 1.0, 2), taken("copy by all", 3.0, 2), Measurement("two", "padops", 1, 8, 1, 0, 9)]
    titles, one, two, mean, least = table.cells(results)
    assert titles == ["1 / 2 threads", "output MB", "padops µs", "± µs", "copy", "numpy"]
    assert one == ["one", "0.00", "2000000.0 / 1000000.0", "0.0", "1.50 / 3.00", "4.00 / –"]
    assert two[3:] == ["0.0 / –", "", ""] and mean[4:] == least[4:] == one[4:]


def test_padops_runs_what_is_unmodified() -> None:
    workload = Workload("one", (2,), {0: (1, 0)}, dtype="int16")
    memory = Memory.of(workload)
    assert timing.in_session("built-in", workload, memory, 1) is None
    call = timing.in_session("unmodified", workload, memory, 1)
    assert call().view(np.int16).tolist() == [0, *workload.data()]
