"""The report for CI: JUnit XML, a suite for each peer and a test case for each cell of the matrix.

A test case for each result would take tens of megabytes, even without failures; a cell names each of its failures.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from padops.conformance.features import IDLE
from padops.conformance.render.summary import Cell, Summary, result_text

# XML 1.0 cannot represent these characters, not even as references.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(summary: Summary) -> str:
    """Return the report as JUnit XML, in the form that Jenkins, GitLab and GitHub's actions read."""
    footer, strict = summary.footer, summary.footer["strict"]
    suites: dict[str, list[ElementTree.Element]] = {row["name"]: [] for row in summary.header["peers"]}
    for (peer, op, mode, dtype), cell in summary.cells.items():
        suites.setdefault(peer, []).append(_of_cell(f"{peer}.{op}.{mode}", dtype, cell, strict))
    for row in summary.header["absent"]:
        suites[row["name"]] = [_case(row["name"], "present", "skipped", row["reason"])]
    failed = dict.fromkeys(footer["stale"], "stale") | dict.fromkeys(footer["gone"] if strict else (), "gone")
    said = "listed, but no longer seen"
    suites["divergences"] = [_case("divergences", name, "failure", said, kind) for name, kind in failed.items()]
    if left := summary.left():  # a run that lacks cases has not passed
        suites["run"] = [_case("run", "whole", "failure", left, "cut short")]
    root = ElementTree.Element("testsuites", name="padops conformance")
    for name, cases in suites.items():
        skipped, failures = (str(sum(case.find(tag) is not None for case in cases)) for tag in ("skipped", "failure"))
        counts = {"tests": str(len(cases)), "failures": failures, "errors": "0", "skipped": skipped}
        ElementTree.SubElement(root, "testsuite", {"name": _writable(name), **counts}).extend(cases)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(place: str, name: str, outcome: str = "", message: str = "", kind: str = "") -> ElementTree.Element:
    """Make a test case, with its failure or why it was skipped."""
    case = ElementTree.Element("testcase", classname=_writable(place), name=_writable(name))
    if outcome:
        ElementTree.SubElement(case, outcome, {"message": _writable(message)} | ({"type": kind} if kind else {}))
    return case


def _of_cell(place: str, dtype: str, cell: Cell, strict: bool) -> ElementTree.Element:
    if cell.unexpected or strict and cell.new:
        kind, count = ("unexpected", cell.unexpected) if cell.unexpected else ("new", cell.new)
        case = _case(place, dtype, "failure", f"{count} {kind} of {cell.counts.total()}", kind)
        failed = [result_text(record) for record in cell.examples if record["unexpected"] or record["new"]]
        more = cell.unexpected + cell.new - len(failed)
        case[0].text = _writable("\n\n".join([*failed, *([f"and {more} more"] if more else [])]))
    elif all(outcome in IDLE for outcome in cell.counts):
        case = _case(place, dtype, "skipped", "; ".join(cell.reasons))
    else:
        case = _case(place, dtype)
    return case


def _writable(text: object) -> str:
    return UNWRITABLE.sub("\ufffd", str(text))
