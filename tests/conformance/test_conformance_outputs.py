"""The files of a conformance run: what may be replaced, and names and messages that would be mark-up."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command import padops
from killed import contents

from padops.conformance import record
from padops.conformance.render import FILES, write_all
from padops.conformance.render.markdown import _cell

PATH = os.fsdecode(b"/p\xff/<i>peer</i>|.py")
PEER = f"{PATH}:pad"
BAD = "\x00\x1b[31m</script><script>alert(1)</script> | `x` [a](javascript:b) *c* _d_ e_f & \ud800 \ufffe"


def made() -> record.Record:
    """A report whose every text is hostile."""
    row = {
        "case": BAD, "origin": "table", "op": BAD, "mode": BAD, "dtype": BAD, "rank": 1, "rules": [BAD], "peer": PEER,
        "outcome": "differ", "divergence": None, "unexpected": True, "new": False, "detail": BAD, "repro": BAD,
        "attributes": {BAD: BAD},
        "inputs": [], "expected": {"error": BAD}, "got": None,
    }  # fmt: skip
    skipped = {**row, "outcome": "skipped", "unexpected": False, "dtype": "float"}
    listed = {**row, "unexpected": False, "divergence": BAD}
    header = {
        "schema": 2, "padops": BAD, "level": BAD, "seed": 0, "machine": {BAD: BAD},
        "peers": [{"name": PEER, "python": BAD, "versions": {BAD: BAD}}], "absent": [{"name": BAD, "reason": BAD}],
    }  # fmt: skip
    footer = {"results": 3, "unexpected": 1, "stale": [BAD], "new": 0, "gone": [], "strict": False, "exit": 1}
    return record.Record(header, [row, skipped, listed], footer)


DIVERGENCE = {
    "id": BAD,
    "peer": BAD,
    "versions": BAD,
    "outcome": BAD,
    "rule": BAD,
    "reason": BAD,
    "link": "https://a/(b)|c",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    report = made()
    write_all(report.header, report.results, report.footer, [DIVERGENCE], tmp_path)
    return tmp_path


def test_a_report_with_names_that_are_not_utf8(tmp_path: Path) -> None:
    report = made()
    record.write(tmp_path / "c.jsonl", report.header, report.results, report.footer)
    read = record.read(tmp_path / "c.jsonl")
    assert read.results[0]["peer"] == PEER and read.header["machine"] == {BAD: BAD}
    for form in ("markdown", "html", "junit"):
        ended = padops("conformance", "show", tmp_path / "c.jsonl", "--format", form)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_markdown_is_text(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    plain = "\n".join(line for line in text.split("\n") if not line.startswith("    "))  # without code
    assert "<script>" not in plain and "<i>" not in plain and "\\[a\\](javascript:b)" in plain
    assert "\x1b" not in text and "\0" not in text
    bars = [line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")]
    assert set(bars) == {10, 8, 3}
    assert "<https://a/%28b%29%7Cc>" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"),
        ("<b>&amp;</b>", "&lt;b&gt;&amp;amp;&lt;/b&gt;"),
        ("two\nlines", "two lines"),
        ("tensor_name _x_ *y*", "tensor_name \\_x\\_ \\*y\\*"),
        ("\x1b[0m", "\ufffd\\[0m"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_a_cell(text: str, shown: str) -> None:
    assert _cell(text) == shown


def test_the_page_has_no_elements_of_others(folder: Path) -> None:
    elements: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: elements.append(tag)
    parser.feed((folder / "report.html").read_text(encoding="utf-8"))
    assert elements.count("script") == 2 and "i" not in elements


def test_junit_is_xml(folder: Path) -> None:
    root = ElementTree.fromstring((folder / "junit.xml").read_bytes())
    cases = root.findall("testsuite/testcase")
    assert "alert(1)" in cases[0].find("failure").text
    assert "\ufffd\ufffd[31m</script>" in cases[0].get("name")


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    """Other kinds of files stay, and so does every neighbour, whatever its name."""
    report = made()
    record.write(tmp_path / "c.jsonl", report.header, report.results, report.footer)
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
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="it is a FIFO, a socket or a device; only regular files are replaced"):
        record.write(tmp_path / "fifo", {}, [], {})
