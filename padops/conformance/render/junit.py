"""The report for CI: JUnit XML, a suite for each peer and a test case for each cell of the matrix.

A test case for each result would take tens of megabytes, even without failures; a cell names each of its failures.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from padops.conformance.record import WRONG
from padops.conformance.render.summary import Cell, Record, Summary, sides

# XML 1.0 cannot represent these characters, not even as references.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(summary: Summary) -> str:
    """Return the report as JUnit XML, in the form that Jenkins, GitLab and GitHub's actions read."""
    suites = [_suite(summary, peer) for peer in summary.peers]
    suites += [_of_one(row["name"], "present", "skipped", row["reason"]) for row in summary.header["absent"]]
    suites.append(_divergences(summary))
    if left := summary.left():  # a run that lacks cases has not passed
        suites.append(_of_one("run", "whole", "failure", left, type="cut short"))
    root = ElementTree.Element("testsuites", name="padops conformance")
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    root.extend(suites)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(summary: Summary, peer: str) -> ElementTree.Element:
    cases = [
        _case(peer, f"{op}.{mode}", dtype, cell, summary.footer["strict"])
        for (name, op, mode, dtype), cell in summary.cells.items()
        if name == peer
    ]
    properties = [row["versions"] for row in summary.header["peers"] if row["name"] == peer]
    return _named(peer, cases, properties[0] if properties else {})


def _named(name: str, cases: list[ElementTree.Element], properties: dict[str, str]) -> ElementTree.Element:
    """Make a suite with its counts."""
    suite = ElementTree.Element("testsuite", name=_writable(name), tests=str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", "0")
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    if properties:
        group = ElementTree.SubElement(suite, "properties")
        for key, value in properties.items():
            ElementTree.SubElement(group, "property", name=_writable(key), value=_writable(value))
    suite.extend(cases)
    return suite


def _case(peer: str, place: str, dtype: str, cell: Cell, strict: bool) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_writable(f"{peer}.{place}"), name=_writable(dtype))
    ran = sum(cell.counts[outcome] for outcome in ("agree", *WRONG))
    if cell.unexpected or strict and cell.new:
        kind, count = ("unexpected", cell.unexpected) if cell.unexpected else ("new", cell.new)
        message = f"{count} {kind} of {sum(cell.counts.values())}"
        failure = ElementTree.SubElement(case, "failure", type=kind, message=message)
        failed = [record for record in cell.examples if record["unexpected"] or record["new"]]
        more = cell.unexpected + cell.new - len(failed)
        failure.text = _writable("\n\n".join([*map(_record, failed), *([f"and {more} more"] if more else [])]))
    elif not ran:
        ElementTree.SubElement(case, "skipped", message=_writable("; ".join(cell.reasons)))
    out = ElementTree.SubElement(case, "system-out")
    known = [f"{name} ({count})" for name, count in cell.known.items()]
    known += [f"new behaviour of a version that was not recorded ({cell.new})"] if cell.new else []
    counts = ", ".join(f"{count} {outcome}" for outcome, count in cell.counts.items())
    out.text = _writable(counts + (f"; known divergences: {', '.join(known)}" if known else ""))
    return case


def _record(record: Record) -> str:
    lines = [f"{record['case']}: {record['outcome']}: {record['detail'] or ''}"]
    lines += [f"{name}: {text}" for name, text in sides(record).items()]
    return "\n".join(filter(None, [*lines, record["repro"]]))


def _of_one(suite: str, name: str, outcome: str, message: str, **more: str) -> ElementTree.Element:
    """Make a suite of one test case."""
    case = ElementTree.Element("testcase", classname=_writable(suite), name=name)
    ElementTree.SubElement(case, outcome, {**more, "message": _writable(message)})
    return _named(suite, [case], {})


def _divergences(summary: Summary) -> ElementTree.Element:
    """Make a test case for each listed divergence that occurred, or should have occurred."""
    cases = []
    failed = dict.fromkeys(summary.footer["stale"], "stale")
    if summary.footer["strict"]:
        failed |= dict.fromkeys(summary.footer["gone"], "gone")
    for name in dict.fromkeys([*failed, *(name for name, _ in summary.seen)]):
        case = ElementTree.Element("testcase", classname="divergences", name=_writable(name))
        if name in failed:
            reason = summary.divergences.get(name, {}).get("reason") or ""
            failure = ElementTree.SubElement(case, "failure", type=failed[name], message="listed, but no longer seen")
            failure.text = _writable(reason)
        cases.append(case)
    return _named("divergences", cases, {})


def _writable(text: object) -> str:
    return UNWRITABLE.sub("\ufffd", str(text))
