"""``padops bench --compare``: what it says of made-up measurements; nothing here is timed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from padops import cli
from padops.bench.comparison import compare, means, read_earlier
from padops.bench.results import SCHEMA, as_json
from padops.bench.runner import Measurement

ROOT = Path(__file__).resolve().parents[2]
RECORDED = sorted((ROOT / "docs" / "bench").glob("*.json"))
MACHINE = {"processor": "One", "padops": "0.1.0"}


def row(workload: str, implementation: str, median: float, spread: float = 0.0, threads: int = 1) -> Measurement:
    return Measurement(workload, implementation, threads, 80, median, spread, 9)


def rows(workload: str, padops: float, builtin: float, copy: float, spread: float = 0.0) -> list[Measurement]:
    """padops and its baselines; of the copies the slower one is not looked at."""
    times = {"padops": padops, "built-in": builtin, "copy by all": copy, "copy": 3 * copy, "numpy": 1.0}
    return [row(workload, name, median, spread * median) for name, median in times.items()]


def write(path: Path, results: list[Measurement], machine: dict[str, str] | None = None) -> str:
    path.write_text(as_json(machine or MACHINE, results), encoding="utf-8")
    return str(path)


def test_the_machine_cancels() -> None:
    """The second machine takes twice as long for everything, but padops in one workload takes four times as long."""
    before = [*rows("same", 1.0, 3.0, 0.5), *rows("slow", 1.0, 3.0, 0.5)]
    now = [*rows("same", 2.0, 6.0, 1.0), *rows("slow", 4.0, 6.0, 1.0)]
    (found,) = compare(now, before, "now", "before")
    ratios = {name: {base: change.ratio for base, change in told.items()} for name, told in found.changes.items()}
    assert ratios == {"same": {"built-in": 1.0, "copy": 1.0}, "slow": {"built-in": 0.5, "copy": 0.5}}
    assert means(found) == {"built-in": pytest.approx(math.sqrt(0.5)), "copy": pytest.approx(math.sqrt(0.5))}
    assert found.slower == ["slow"] and found.missing == ()


@pytest.mark.parametrize(("spread", "slower"), [(0.0, True), (0.04, True), (0.06, False)])
def test_what_the_quartiles_allow_is_no_change(spread: float, slower: bool) -> None:
    """A tenth slower; four times with quartiles 4 % apart allow for 8 %, with 6 % for 12."""
    (found,) = compare(rows("one", 1.1, 1.0, 1.0, spread), rows("one", 1.0, 1.0, 1.0, spread), "now", "before")
    assert found.changes["one"]["copy"].noise == pytest.approx(2 * spread)
    assert bool(found.slower) is slower


def test_a_baseline_that_became_faster_is_not_padops_that_became_slower() -> None:
    (found,) = compare(rows("one", 1.0, 0.5, 1.0), rows("one", 1.0, 1.0, 1.0), "now", "before")
    assert found.changes["one"]["built-in"].ratio == 0.5 and found.slower == []


def test_what_one_of_them_lacks_is_told() -> None:
    before = [*rows("both", 1.0, 1.0, 1.0), *rows("gone", 1.0, 1.0, 1.0), row("bare", "padops", 1.0)]
    now = [*rows("both", 1.0, 1.0, 1.0), *rows("new", 1.0, 1.0, 1.0), row("bare", "padops", 1.0)]
    (found,) = compare([*now, row("both", "padops", 1.0, threads=2)], before, "now", "before")
    assert found.threads == 1 and list(found.changes) == ["both"]
    assert found.missing == ("new", "bare", "gone")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = write(tmp_path / "earlier.json", [*rows("a", 1.0, 3.0, 0.5), row("bare", "padops", 1.0)])
    now = write(tmp_path / "now.json", rows("a", 4.0, 6.0, 1.0), {**MACHINE, "padops": "0.2.0"})
    assert cli.main(["bench", "--show", now, "--compare", earlier]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "since then: padops 0.1.0 → 0.2.0" in lines
    assert "a 0.500 0 0.500 0" in lines and "geometric mean 0.500 0.500" in lines
    assert lines[-2:] == ["slower by more than the noise: a", "not compared: bare"]
    assert cli.main(["bench", "--show", now, "--compare", write(tmp_path / "same.json", rows("a", 4.0, 6.0, 1.0))]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "slower by more than the noise: none"


BAD = [
    ({"schema": SCHEMA + 1, "machine": {}, "measurements": []}, f"its schema is {SCHEMA + 1}, expected {SCHEMA}"),
    ({"machine": {}, "measurements": []}, "it has not the three entries schema, machine and measurements"),
    (
        {"schema": SCHEMA, "machine": {}, "measurements": [{"workload": "a"}]},
        "measurement 0 has not the fields workload, implementation, threads, output_bytes, median, spread, samples",
    ),
    (
        {"schema": SCHEMA, "machine": {}, "measurements": [{**vars(row("a", "padops", 1.0)), "threads": "1"}]},
        "measurement 0: threads is '1', not of type int",
    ),
]


@pytest.mark.parametrize(("content", "words"), BAD)
def test_a_file_of_another_kind_is_refused_before_anything_is_measured(
    content: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("padops.bench.command._measure", lambda *given: pytest.fail("it measures"))
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert cli.main(["bench", "--compare", str(path)]) == 1
    assert capsys.readouterr().err == f"error: {path} is not what --json wrote: {words}\n"


def test_other_measurements_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stock = write(tmp_path / "stock.json", [row("network", "stock", 1.0)])
    plain = write(tmp_path / "plain.json", rows("a", 1.0, 1.0, 1.0))
    other = write(tmp_path / "other.json", rows("b", 1.0, 1.0, 1.0))
    told = "has measurements of --provider or --providers, and --compare compares workloads"
    for now, earlier, words in [
        (plain, stock, f"{stock} {told}"),
        (stock, plain, f"{stock} {told}"),
        (plain, other, f"{other} has no workload that was measured now with as many threads, beside built-in or copy"),
    ]:
        assert cli.main(["bench", "--show", now, "--compare", earlier]) == 1
        assert capsys.readouterr().err == f"error: {words}\n"


@pytest.mark.parametrize("more", [["--provider"], ["--providers", "CPU"], ["--markdown"], ["--model", "m.onnx"]])
def test_what_is_not_compared(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--compare", "earlier.json", *more]) == 2
    assert "--compare compares workloads: it excludes --model, --provider, " in capsys.readouterr().err


def test_the_earlier_file_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = write(tmp_path / "earlier.json", rows("a", 1.0, 1.0, 1.0))
    assert cli.main(["bench", "--compare", earlier, "--json", earlier]) == 2
    assert "--json, --plot, --show and --compare name one file twice: " in capsys.readouterr().err


def test_recorded_releases_can_be_compared_with(tmp_path: Path) -> None:
    """Each recorded file, and a made-up one, names its own release and shows no slowdown against itself."""
    made_up = tmp_path / "0.1.0.json"
    write(made_up, rows("a", 1.0, 3.0, 0.5))
    for path in (made_up, *RECORDED):
        machine, results = read_earlier(path)
        assert machine["padops"] == path.stem
        for found in compare(results, results, "now", path):
            assert set(means(found).values()) == {1.0} and found.slower == []
