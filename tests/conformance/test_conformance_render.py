"""The report: the same numbers in every form."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conformance_records import HEADER, NAMES, report, written

from padops.cli import main
from padops.conformance import record
from padops.conformance.render import FILES

# ---- Markdown and JUnit


def test_markdown_counts_and_names_everything(tmp_path: Path) -> None:
    text = written(tmp_path, good=False)["markdown"]
    assert "| padops-native | onnxruntime 1.31.1 | 4 | 3 | 0 | 0 | 1 | 0 | 0 |" in text
    assert "| ort-builtin | onnxruntime 1.31.1 | 2 | 1 | 1 | 0 | 0 | 0 | 1 |" in text
    assert "| ort-builtin@/old/python | onnxruntime 1.20.1 | 1 | 0 | 1 | 1 | 0 | 0 | 1 |" in text
    assert "| torch | No module named 'torch' |" in text
    assert "| ort-gone | Was repaired. |" in text
    assert "Not as expected: 9 results, 1 unexpected, 1 stale." in text
    assert f"    padops conformance repro {NAMES[0]} --peer padops-native" in text
    assert re.search(
        r"\| ort-builtin \| ort-&lt;far&gt; \| differ, crash \| 1 \| P2 \| Only one period &amp; no more\.", text
    )
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")]
    assert set(widths) == {10, 8, 3}


def test_markdown_of_a_good_run_has_no_complaints(tmp_path: Path) -> None:
    text = written(tmp_path, good=True)["markdown"]
    assert "As expected: 9 results" in text
    assert "## Unexpected" not in text and "no longer seen\n" not in text


# The shape that Jenkins' junit-10.xsd gives: what may stand in what, and the attributes that must and may be there.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"skipped", "failure", "system-out"},
}
MUST = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name"},
    "property": {"name", "value"},
}
MAY = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"skipped"},
    "testcase": {"classname"},
    "failure": {"type", "message"},
    "skipped": {"type", "message"},
}


def check_shape(element: ElementTree.Element) -> None:
    must = MUST.get(element.tag, set())
    assert must <= set(element.keys()) <= must | MAY.get(element.tag, set()), element.tag
    assert {child.tag for child in element} <= CHILDREN.get(element.tag, set()), element.tag
    for child in element:
        check_shape(child)


@pytest.mark.parametrize("good", [True, False])
def test_junit(tmp_path: Path, good: bool) -> None:
    root = ElementTree.fromstring(written(tmp_path, good)["junit"])
    check_shape(root)
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


# ---- the commands


def command(*words: str) -> int:
    return main(["conformance", *words])


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "conformance.jsonl"
    made = report(good=False)
    record.write(file, made.header, made.results, made.footer)
    assert command("show", str(file)) == 0
    assert capsys.readouterr().out.startswith("# Pad conformance\n")
    assert command("show", str(file), "--format", "junit") == 0
    check_shape(ElementTree.fromstring(capsys.readouterr().out))
    assert command("show", str(file), "-o", str(tmp_path / "out")) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES.values())
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-1]), encoding="utf-8")
    assert command("show", str(file)) == 1
    assert "there is no footer" in capsys.readouterr().err


def test_hostile_texts_of_a_report_do_not_reach_the_console(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, hostile, file = report(good=False), "a\x1b[31m\u202eb\nc", tmp_path / "conformance.jsonl"
    header = {**made.header, "level": hostile, "machine": {"system": hostile}}
    results = [{**result, "detail": hostile} for result in made.results]
    record.write(file, header, results, made.footer)
    assert command("show", str(file)) == 0
    text = capsys.readouterr().out
    assert "level a" in text and not {"\x1b", "\u202e"} & set(text)
