"""The benchmark measures what it says: outputs are compared first, and the table has what was measured."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bench_providers
import numpy as np
import pytest
from bench_providers import BESIDE, LOWERED, PROCESSOR, STOCK
from networks import SMALL
from terminals import AtTerminal

from padops import cli
from padops.bench import command, table, timing, workloads
from padops.bench.table import Measurement
from padops.bench.workloads import MAX_BYTES, QUICK, WORKLOADS, Memory, Workload, random_workloads
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


def test_a_model_is_measured_converted_and_as_it_is(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    name = f"{'long_' * 40}m.onnx"
    shutil.copy(ROOT / "models" / "pad_19.onnx", here / name)
    assert cli.main(["bench", "--quick", "--threads", "1", "--model", name]) == 0
    titles, row = [line for line in capsys.readouterr().out.splitlines() if "padops µs" in line or name in line]
    assert titles.split()[-2:] == ["unmodified", "built-in"] and row.split()[0] == name
    (here / "none.onnx").write_bytes(b"no model")
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
    with pytest.raises(RuntimeError, match="pad_19.onnx: [a-z-]* differs from padops, first at position 0 of"):
        timing.time_model(ROOT / "models" / "pad_19.onnx", str(tmp_path), 1, 0.01)


@pytest.mark.parametrize(("arguments", "words"), [
    (["--only", "no such"], "no workload has 'no such' in its name; there are image constant, image reflect"),
    (["--quick", "--only", "int4"], f"no workload of --quick has 'int4' in its name; there are {', '.join(QUICK)}"),
    (["--model", "m.onnx", "--only", "tiny"], "--only chooses from the workloads, but --model measures none"),
    (["--random", "2", "--quick"], "--random excludes --quick"),
    (["--random", "2", "--model", "m.onnx"], "--random excludes --model"),
    (["--seed", "3"], "--seed needs --random"),
])  # fmt: skip
def test_mistakes_are_named(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {words}")


def test_a_number_is_one_that_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    for option, most in (("--threads", 1024), ("--random", 10_000)):
        for text in ("0", "-1", "1.5", "²", str(most + 1)):
            with pytest.raises(SystemExit, match="2"):
                cli.main(["bench", f"{option}={text}"])
            assert f"argument {option}: '{text}' is not a whole number from 1 to {most}\n" in capsys.readouterr().err


def test_what_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
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
    with pytest.raises(RuntimeError, match=r"one: numpy differs from padops, first at position \d+ of 12"):
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


def test_cells() -> None:
    def taken(implementation: str, median: float, threads: int = 1) -> Measurement:
        return Measurement("one", implementation, threads, 8, median, 0, 9)

    results = [taken("padops", 2.0), taken("copy", 9.0), taken("copy by all", 3.0), taken("numpy", 8.0)]
    results += [taken("padops", 1.0, 2), taken("copy by all", 3.0, 2), Measurement("two", "padops", 1, 8, 1, 0, 9)]
    titles, one, two, mean, least = table.cells(results)
    assert titles == ["1 / 2 threads", "output MB", "padops µs", "± µs", "copy", "numpy"]
    assert one == ["one", "0.00", "2000000.0 / 1000000.0", "0.0", "1.50 / 3.00", "4.00 / –"]
    assert two[3:] == ["0.0 / –", "", ""] and mean[4:] == least[4:] == one[4:]


# --- each copy that padops chooses from; ``tests/cpp/time_copies.cpp`` times them ------------------------------------

# Rows that are longer than where the string instruction begins, whose windows are aligned differently each.
PADDED = """
import numpy as np, padops
from onnx import parser
model = parser.parse_model('''<ir_version: 8, opset_import: ["": 18, "padops": 1]>
net (uint8[9, 20011] x) => (uint8[M, N] y) <int64[4] pads = {1, 5, 1, 3}>
{ y = padops.Pad_18 <mode = "reflect"> (x, pads) }''')
x = np.random.default_rng(0).integers(0, 256, (9, 20011)).astype(np.uint8)
y = padops.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
print("equal" if y.tobytes() == np.pad(x, ((1, 1), (5, 3)), "reflect").tobytes() else "different")
"""


@pytest.mark.parametrize("choice", ["baseline", "avx2", "string", ""])
def test_each_copy_is_right(choice: str) -> None:
    """tests/test_cli_verify.py has what is said of another choice."""
    environment = {**os.environ, "PADOPS_COPY": choice}
    ran = subprocess.run([sys.executable, "-c", PADDED], capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout == "equal\n"


# --- random workloads ------------------------------------------------------------------------------------------------


def test_random_workloads() -> None:
    """Many kinds of them from a seed, and the same ones each time."""
    many = random_workloads(400, 3)
    assert random_workloads(5, 7) == random_workloads(9, 7)[:5] != random_workloads(5, 8)
    assert {len(w.shape) for w in many} == {1, 2, 3, 4, 5} and len({w.name for w in many}) == len(many)
    assert {w.mode for w in many} == set(workloads.MODES)
    assert {w.dtype for w in many} == {*workloads.TYPES, *workloads.IMAGE_TYPES}
    assert {(-1, -1), (1, 0), (0, 1), (1, 1)} <= {tuple(np.sign(pair)) for w in many for pair in w.pairs}
    images = [w for w in many if " image " in w.name]
    assert images == list(many[3::4]) and all(w.shape[0] == 1 and {*w.shape[1::2]} & {1, 3, 4} for w in images)
    sizes = sorted(w.output_bytes for w in many)
    assert all(min(w.output_shape) > 0 for w in many)
    assert sizes[20] < 8 * workloads.MIN_BYTES and MAX_BYTES / 8 < sizes[-20] <= sizes[-1] < 4 * MAX_BYTES
    reflected = [w for w in many if w.mode == "reflect"]  # no further than ONNX Runtime does
    assert all(max(pair) < size for w in reflected for pair, size in zip(w.pairs, w.shape))


def test_the_command_with_random_ones(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(workloads, "MAX_BYTES", 1 << 14)
    assert cli.main(["bench", "--random", "3", "--seed", "5", "--only", " 5.1", "--only", "5.2", "--threads", "1"]) == 0
    shown = capsys.readouterr().out
    assert "random 5.1" in shown and "random 5.2" in shown and "random 5.0" not in shown


# --- Ctrl-C and SIGTERM end it with its processes, and what was measured is kept -------------------------------------

FIRST = ["bench", "--quick", "--only", "image", "--threads", "1"]  # several workloads, of half a second each


@pytest.mark.parametrize(
    ("number", "at", "done"), [("SIGINT", "reflect 1/", 1), ("SIGTERM", "reflect 1/", 1), ("SIGINT", "constant 0/", 0)]
)
def test_a_signal_ends_it(number: str, at: str, done: int, tmp_path: Path) -> None:
    data = tmp_path / "bench.json"
    with AtTerminal("-m", "padops", *FIRST, "--json", data, cwd=tmp_path) as run:
        run.wait_for(lambda: f"image {at}" in run.said())
        assert len(run.pids()) >= 2 or not done
        # The second one to the command alone.
        run.press_ctrl_c() if number == "SIGINT" else os.kill(run.process.pid, signal.SIGTERM)
        code, left, said = run.wait(), run.left(), run.said()
    assert (code, left) == (128 + signal.Signals[number], []) and "Traceback" not in said
    if not done:
        assert "interrupted before anything was measured; no file has been written" in said
        assert list(tmp_path.iterdir()) == []
        return
    assert f"interrupted: {data} has the results until then, marked as cut short" in said
    assert "cut short after 1 workload" in " ".join(said.split())
    assert list(tmp_path.iterdir()) == [data]
    written = json.loads(data.read_text())
    assert {row["workload"] for row in written["measurements"]} == {"image constant"}
    assert written["machine"]["cut short"] == "after 1 workload"


# --- ``scripts/bench_providers.py``: networks on providers -----------------------------------------------------------

CPU = "CPUExecutionProvider"


def test_networks_on_providers(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
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


@pytest.mark.parametrize("by", [STOCK, BESIDE, LOWERED])
def test_outputs_of_networks_are_compared(by: str) -> None:
    """What padops changes is an error; what the provider gets wrong is not timed."""

    def twice(options: Any) -> object:
        held = ways[by](options)
        run = lambda names, feeds: [2 * output for output in held.run(names, feeds)]
        return SimpleNamespace(run=run, end_profiling=held.end_profiling)

    made, _, shape = SMALL["small panorama, wrap"]
    ways = bench_providers.sessions(made(), CPU)
    measure = lambda: bench_providers.measured("net", ways | {by: twice}, {"x": np.ones(shape, np.float32)}, 0.01)
    if by != STOCK:
        with pytest.raises(RuntimeError, match=f"net: {by} does not return what the processor returns: output 0"):
            measure()
        return
    rows = {row["by"]: row for row in measure()}
    assert rows[STOCK]["failure"].startswith("wrong: output 0 is more than") and rows[STOCK]["median"] == 0
    assert rows[LOWERED]["failure"] == "" and rows[LOWERED]["median"] > 0
