"""A run in parts: merged, it is the run of one machine; what is no whole is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from padops.cli import main
from padops.conformance import record
from padops.conformance.divergences import Divergence

ALL = ">=0,<9999"  # every version
FILES = ("conformance.jsonl", "report.md", "junit.xml", "report.html")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> tuple[Divergence, ...]:
    """One that every part meets and one part sees, one that no part sees, and one that nothing meets."""
    peer, error = "numpy", "error"
    rows = (
        Divergence("seen-once", error, "P5", "rank 0", peer, ALL, tags={"rank-0"}, expected="output"),
        Divergence("stale", "crash", "P2", "it is not so", peer, ALL, modes=("edge",)),
        Divergence("not-met", "crash", "P2", "it is not so", peer, ALL, modes=("no such mode",)),
    )
    monkeypatch.setattr("padops.conformance.divergences.KNOWN", rows)
    monkeypatch.setattr("padops.conformance.divergences.EXAMPLES", {})
    return rows


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    from padops.conformance import cases

    collect = cases.collect
    monkeypatch.setattr(cases, "collect", lambda *given: collect("quick")[:700:7])


def run(folder: Path, *options: str) -> int:
    return main(["conformance", "--quick", "--peer", "numpy", "--peer", "reference", "--out", str(folder), *options])


def test_the_parts_are_the_whole(known: object, few: None, tmp_path: Path) -> None:
    """Bytes of every file: the results, their order, what is stale, and the exit code."""
    code = run(tmp_path / "whole")
    parts = [tmp_path / f"part{i}" for i in (1, 2, 3)]
    for i, part in enumerate(parts):
        run(part, "--shard", f"{i + 1}/3")
    assert main(["conformance", "merge", *map(str, reversed(parts)), "--out", str(tmp_path / "merged")]) == code == 1
    for name in FILES:
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert record.read(tmp_path / "whole" / FILES[0]).footer["stale"] == ["stale"]
    sizes = [len(record.read(part / FILES[0]).results) for part in parts]
    assert min(sizes) > 0 and max(sizes) - min(sizes) <= 2


def test_a_part_alone_tells_nothing_stale(known: object, few: None, tmp_path: Path) -> None:
    run(tmp_path, "--shard", "2/3")
    footer = record.read(tmp_path / FILES[0]).footer
    assert footer["stale"] == [] and footer["divergences"]["numpy"]["stale"][1] == 0
    assert record.read(tmp_path / FILES[0]).header["shard"] == [2, 3]


def parts_of(total: int) -> list[record.Record]:
    made = []
    for i in range(1, total + 1):
        peers = [{"name": "numpy", "python": "3", "versions": {"numpy": "2"}}]
        header = {"schema": 2, "padops": "0", "level": "quick", "seed": 0, "shard": [i, total], "machine": {"cores": i}}
        results = [{"peer": "numpy", "case": f"{i}", "unexpected": False, "new": False}]
        footer = {"results": 1, "unexpected": 0, "stale": [], "new": 0, "gone": [], "strict": False, "exit": 0}
        footer |= {"missing": [], "divergences": {"numpy": {}}}
        made.append(record.Record({**header, "peers": peers, "absent": []}, results, footer))
    return made


def test_what_is_no_whole_is_refused() -> None:
    first, second, third = parts_of(3)
    assert record.merge([third, first, second]).footer["results"] == 3
    assert record.merge([third, first, second]).header["machine"] == {"cores": "1, 2, 3"}
    for parts in ([first, second], [first, second, second], [*parts_of(2), third], []):
        with pytest.raises(record.RecordError, match="expected each of 1/n to n/n once"):
            record.merge(parts)
    for key, value in (("seed", 1), ("level", "default"), ("padops", "1"), ("peers", [])):
        other = record.Record({**second.header, key: value}, second.results, second.footer)
        with pytest.raises(record.RecordError, match=f"of two runs: {key} is"):
            record.merge([first, other, third])
    with pytest.raises(record.RecordError, match="no part of one"):
        record.merge([record.Record({"seed": 0}, [], {})])


def test_a_required_peer_that_one_part_lacks_fails_the_whole() -> None:
    parts = parts_of(2)
    parts[1].footer["missing"].append("torch")
    assert record.merge(parts).footer["exit"] == 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/2/3", "a/b", "-1/2", "1/0"])
def test_no_part(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--quick", f"--shard={text}"]) == 2
    assert f"not {text!r}" in capsys.readouterr().err


def test_merge_says_what_it_cannot_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "merge", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert "conformance.jsonl" in capsys.readouterr().err
    (tmp_path / "conformance.jsonl").write_text(json.dumps({"kind": "header"}) + "\n")
    assert main(["conformance", "merge", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert not (tmp_path / "out").exists()
