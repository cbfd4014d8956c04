"""The report: the same numbers in every form and on the console, and texts that would be mark-up."""

from __future__ import annotations

import os
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from command import padops
from conformance_records import DIVERGENCE, HEADER, NAMES, report, result, whole, written
from killed import contents

from padops.cli import main
from padops.conformance import command, record
from padops.conformance.arrays import describe
from padops.conformance.features import OUTCOMES
from padops.conformance.render import FILES, _cell, page_data, write_all
from padops.conformance.render.summary import summarise

NUMPY = [{"name": "numpy", "versions": {"numpy": "1.0"}}]


def test_markdown(tmp_path: Path) -> None:
    text = written(tmp_path, good=False)["markdown"]
    assert "| padops-native | onnxruntime 1.31.1 | 4 | 3 | 0 | 0 | 1 | 0 | 0 |" in text
    assert "| ort-builtin | onnxruntime 1.31.1 | 2 | 1 | 1 | 0 | 0 | 0 | 1 |" in text
    assert "| ort-builtin@/old/python | onnxruntime 1.20.1 | 1 | 0 | 1 | 1 | 0 | 0 | 1 |" in text
    assert "| torch | No module named 'torch' |" in text
    assert "| ort-gone | Was repaired. |" in text
    assert "Not as expected: 9 results, 1 unexpected, 1 stale." in text
    assert f"    padops conformance repro {NAMES[0]} --peer padops-native" in text
    assert "| ort-builtin | ort-&lt;far&gt; | differ, crash | 1 | P2 | Only one period &amp; no more." in text
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")]
    assert set(widths) == {10, 8, 3}
    text = written(tmp_path, good=True)["markdown"]
    assert "As expected: 9 results" in text
    assert "## Unexpected" not in text and "no longer seen\n" not in text


# The shape that Jenkins' junit-10.xsd gives: the attributes that must and may be there, and what may stand in what.
SHAPE = {"testsuites": (set(), {"name", "tests", "failures", "errors"}, {"testsuite"}),
         "testsuite": ({"name", "tests", "failures", "errors"}, {"skipped"}, {"testcase"}),
         "testcase": ({"name"}, {"classname"}, {"skipped", "failure"}),
         "failure": (set(), {"type", "message"}, set()),
         "skipped": (set(), {"type", "message"}, set())}  # fmt: skip


@pytest.mark.parametrize("good", [True, False])
def test_junit(tmp_path: Path, good: bool) -> None:
    root = ElementTree.fromstring(written(tmp_path, good)["junit"])
    for element in root.iter():
        must, may, children = SHAPE[element.tag]
        assert must <= set(element.keys()) <= must | may and {child.tag for child in element} <= children, element.tag
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == [*(peer["name"] for peer in HEADER["peers"]), "torch", "divergences"]
    for suite in suites.values():
        found = Counter(child.tag for case in suite.iter("testcase") for child in case)
        counts = [int(suite.get(name)) for name in ("tests", "failures", "skipped", "errors")]
        assert counts == [len(suite.findall("testcase")), found["failure"], found["skipped"], 0]
    failures = [failure.get("type") for failure in root.iter("failure")]
    assert failures == ([] if good else ["unexpected", "stale"])
    assert int(root.get("failures")) == len(failures)
    skipped = [row.get("message") for row in root.iter("skipped")]
    assert skipped == ["no kernel for int8", "ONNX has no such operator", "No module named 'torch'"]
    if not good:
        text = next(root.iter("failure")).text
        assert NAMES[0] in text and "padops conformance repro" in text and "1234.5" in text


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "conformance.jsonl", tmp_path / "out"
    record.write(file, report(good=False))
    for options, start in (((), "# Pad conformance\n"), (("--format", "junit"), "<?xml"), (("-o", out), str(out))):
        assert main(["conformance", "show", str(file), *map(str, options)]) == 0
        assert capsys.readouterr().out.startswith(start)
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES.values())


# ---- the page's data


def test_an_array_is_a_line_for_each_row() -> None:
    for values, dtype, text in (([[1, 2], [-3, 127]], np.int8, "int8 [2, 2]\n[[1 2]\n [-3 127]]"),
                                ([[[0.5]], [[2]]], np.float32, "float [2, 1, 1]\n[[[0.5]]\n\n [[2.0]]]"),
                                (7, np.int64, "int64 []\n7"),
                                (np.empty((2, 0)), np.float32, "float [2, 0]"),
                                (["a b", "", "\n"], object, "string [3]\n['a b' '' '\\n']")):  # fmt: skip
        found = result(NAMES[0], "numpy", "differ", got=describe(np.asarray(values, dtype)))
        made = page_data(summarise(whole([found], NUMPY)))
        assert made["cells"][0]["examples"][0]["got"] == text


def test_the_page_has_every_outcome_and_stays_light(tmp_path: Path) -> None:
    page = (Path(record.__file__).parent / "render" / "page.js").read_text(encoding="utf-8")
    listed = re.search(r'fill\("outcome", "all", \[(.*?)\]', page)[1]
    assert set(re.findall(r'"(\w+)"', listed)) == {"unexpected", "new", *OUTCOMES}

    made = report(good=True)
    write_all(whole([*made.results, *[made.results[6]] * 20_000], made.header["peers"]), tmp_path, [DIVERGENCE])
    assert (tmp_path / "report.html").stat().st_size < 60_000
    assert "20,001" in (tmp_path / "report.html").read_text(encoding="utf-8")


# ---- the console


def shown(found: list[dict[str, Any]], capsys: pytest.CaptureFixture[str], **peer: str) -> list[str]:
    peers = [{**NUMPY[0], **peer}]
    command.show(summarise(whole(found, peers, [{"name": "tract", "reason": "no module named\n  tract"}])))
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_the_console_counts_outcomes(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = ["agree"] * 1500 + ["differ", "error", "crash", "unsupported", "skipped"]
    found = [result(NAMES[0], "numpy", outcome, "known", detail="d") for outcome in outcomes[:3] + outcomes[1500:]]
    found += [result(NAMES[0], "numpy")] * 1497
    found[4] |= {"unexpected": True, "divergence": None, "detail": "one of two elements"}
    found[:3] = [result(NAMES[0], "numpy")] * 3
    assert shown(found, capsys) == [
        "Peers", "peer versions run agree known crashes unexpected new not run",
        "numpy numpy 1.0 1,503 1,500 4 1 1 0 2",
        "Absent peers: Not compared, for these reasons.", "peer reason", "tract no module named tract",
        "Unexpected", f"numpy: {NAMES[0]}: error: one of two elements", "1,505 results, 1 unexpected, 0 stale",
    ]  # fmt: skip
    new = result(NAMES[0], "numpy", "differ", new=True, unexpected=False, detail="one\x1b[2J\nof \u202etwo")
    lines = shown([new, new], capsys, recorded=">=2.1,<=2.4")
    assert "numpy numpy 1.0 >=2.1,<=2.4" in lines
    assert lines.count(rf"numpy: {NAMES[0]}: differ: one\x1b[2J\nof \u202etwo") == 1, "equal results once"
    with command.showing_progress() as progress:  # in a pipe
        for done in (1, 999, 1000):
            progress("numpy", done, 1000)
        progress("torch", 1, 2)
    assert capsys.readouterr().err == "numpy: 1,000 cases\n"


# ---- hostile texts

PEER = os.fsdecode(b"/p\xff/<i>peer</i>|.py:pad")
BAD = "\x00\x1b[31m</script><script>alert(1)</script> | `x` [a](javascript:b) *c* _d_ e_f & \u202e \ud800 \ufffe"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    row = {"case": BAD, "origin": "table", "op": BAD, "mode": BAD, "dtype": BAD, "rank": 1, "rules": [BAD],
           "peer": PEER, "outcome": "differ", "divergence": None, "unexpected": True, "new": False, "detail": BAD,
           "repro": BAD, "attributes": {BAD: BAD}, "inputs": [], "expected": {"error": BAD}, "got": None}  # fmt: skip
    skipped = {**row, "outcome": "skipped", "unexpected": False, "dtype": "float"}
    listed = {**row, "unexpected": False, "divergence": BAD}
    peers = [{"name": PEER, "python": BAD, "versions": {BAD: BAD}}]
    made = whole([row, skipped, listed], peers, [{"name": BAD, "reason": BAD}], stale=[BAD], exit=1)
    made.header.update(padops=BAD, level=BAD, machine={BAD: BAD})
    texts = dict.fromkeys(("id", "peer", "versions", "outcome", "rule", "reason"), BAD)
    folder = tmp_path_factory.mktemp("hostile")
    write_all(made, folder, [SimpleNamespace(**texts, link="https://a/(b)|c")])
    record.write(folder / "c.jsonl", made)
    return folder


def test_a_report_with_names_that_are_not_utf8(hostile: Path) -> None:
    read = record.read(hostile / "c.jsonl")
    assert read.results[0]["peer"] == PEER and read.header["machine"] == {BAD: BAD}
    ended = padops("conformance", "show", hostile / "c.jsonl", "--format", "junit")
    assert (ended.returncode, ended.stderr) == (0, "") and "\0" not in ended.stdout


def test_no_form_has_mark_up_of_others(hostile: Path) -> None:
    text = (hostile / "report.md").read_text(encoding="utf-8")
    plain = "\n".join(line for line in text.split("\n") if not line.startswith("    "))  # without code
    assert "<script>" not in plain and "<i>" not in plain and "\\[a\\](javascript:b)" in plain
    assert not {"\x1b", "\0", "\u202e"} & set(text) and "<https://a/%28b%29%7Cc>" in text
    bars = [line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")]
    assert set(bars) == {10, 8, 3}
    assert _cell("two\nlines <b>&amp; tensor_name _x_") == "two lines &lt;b&gt;&amp;amp; tensor_name \\_x\\_"
    assert _cell("\x1b[0m back\\slash") == "\ufffd\\[0m back\\\\slash"
    elements: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: elements.append(tag)
    parser.feed((hostile / "report.html").read_text(encoding="utf-8"))
    assert elements.count("script") == 2 and "i" not in elements
    cases = ElementTree.fromstring((hostile / "junit.xml").read_bytes()).findall("testsuite/testcase")
    assert "alert(1)" in cases[0].find("failure").text and "\ufffd\ufffd[31m</script>" in cases[0].get("name")


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    record.write(tmp_path / "c.jsonl", report(good=True))
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.md.part").write_text("somebody's")
    assert padops("conformance", "show", "c.jsonl", "-o", "out", cwd=tmp_path).returncode == 0
    assert (out / "report.md.part").read_text() == "somebody's"
    for name in FILES.values():
        (out / name).unlink()
    os.mkfifo(out / "junit.xml")
    text = "error: cannot write out/junit.xml: it is a FIFO, a socket or a device; only regular files are replaced\n"
    for arguments in (("show", "c.jsonl", "-o", "out"), ("--quick", "--out", "out")):
        ended = padops("conformance", *arguments, cwd=tmp_path)
        assert (ended.returncode, ended.stderr) == (1, text)
        assert contents(out).keys() == {"junit.xml", "report.md.part"}
