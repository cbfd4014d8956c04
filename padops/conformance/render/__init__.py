"""Writes the reports of a run from its summary: a Markdown file for people, a JUnit XML file for CI, an HTML page."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from padops.conformance import record
from padops.conformance.divergences import KNOWN
from padops.conformance.features import IDLE, OUTCOMES
from padops.conformance.render.summary import SHOWN, Cell, Row, Section, Summary, array_text, result_text, summarise
from padops.exits import USAGE
from padops.files.staging import refusal, write_whole
from padops.spec.dialects import OPS
from padops.terminal import fail, say

URL = ":/?#@!$&'*+,;=%-._~"  # characters that a link need not escape
# Characters with a meaning in Markdown; an underscore inside a word has none.
MARKS = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # a terminal obeys them


def markdown(summary: Summary) -> str:
    parts = ["# Pad conformance", *map(_cell, summary.head())]
    for section in (*summary.problems(), *summary.peers(), *summary.known()):
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    parts = [f"## {section.title}", *([_cell(section.about)] if section.about else [])]
    if section.rows:
        titles, *rows = section.rows
        table = ([_cell(text) for text in row] for row in (titles, ["---"] * len(titles), *rows))
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in table))
    for result in section.results[:SHOWN]:  # as code, in which Markdown has no mark-up
        lines = result_text(result).splitlines()
        parts.append("\n".join("    " + CONTROLS.sub("\ufffd", line) for line in lines))
    if more := len(section.results[SHOWN:]):
        parts.append(f"{more:,} more are in the JSONL file.")
    return parts


def _cell(text: object) -> str:
    """Escape text for running text and tables: one line, no HTML, no mark-up, no bar that ends a cell."""
    line = CONTROLS.sub("\ufffd", " ".join(str(text).split()))
    if line.startswith("https://"):
        return f"<{quote(line, safe=URL)}>"
    return MARKS.sub(r"\\\g<0>", escape(line, quote=False))


# XML 1.0 cannot represent these characters, not even as references.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(summary: Summary) -> str:
    """Return the report as JUnit XML: a suite for each peer, and a test case for each cell with the cell's failures."""
    footer, strict = summary.footer, summary.footer["strict"]
    suites: dict[str, list[ElementTree.Element]] = {row["name"]: [] for row in summary.header["peers"]}
    for (peer, op, mode, dtype), cell in summary.cells.items():
        suites.setdefault(peer, []).append(_of_cell(f"{peer}.{op}.{mode}", dtype, cell, strict))
    for row in summary.header["absent"]:
        suites[row["name"]] = [_test_case(row["name"], "present", "skipped", row["reason"])]
    failed = dict.fromkeys(footer["stale"], "stale") | dict.fromkeys(footer["gone"] if strict else (), "gone")
    said = "listed, but no longer seen"
    suites["divergences"] = [_test_case("divergences", name, "failure", said, kind) for name, kind in failed.items()]
    if left := summary.left():  # a run that lacks cases has not passed
        suites["run"] = [_test_case("run", "whole", "failure", left, "cut short")]
    root = ElementTree.Element("testsuites", name="padops conformance")
    for name, cases in suites.items():
        skipped, failures = (str(sum(case.find(tag) is not None for case in cases)) for tag in ("skipped", "failure"))
        counts = {"tests": str(len(cases)), "failures": failures, "errors": "0", "skipped": skipped}
        ElementTree.SubElement(root, "testsuite", {"name": _writable(name), **counts}).extend(cases)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _test_case(place: str, name: str, outcome: str = "", message: str = "", kind: str = "") -> ElementTree.Element:
    """Make a test case, with its failure or the reason why it was skipped."""
    case = ElementTree.Element("testcase", classname=_writable(place), name=_writable(name))
    if outcome:
        ElementTree.SubElement(case, outcome, {"message": _writable(message)} | ({"type": kind} if kind else {}))
    return case


def _of_cell(place: str, dtype: str, cell: Cell, strict: bool) -> ElementTree.Element:
    if all(outcome in IDLE for outcome in cell.counts):
        return _test_case(place, dtype, "skipped", "; ".join(cell.reasons))
    if not (cell.unexpected or strict and cell.new):
        return _test_case(place, dtype)
    kind, count = ("unexpected", cell.unexpected) if cell.unexpected else ("new", cell.new)
    case = _test_case(place, dtype, "failure", f"{count} {kind} of {cell.counts.total()}", kind)
    failed = [result_text(record) for record in cell.examples if record["unexpected"] or record["new"]]
    more = cell.unexpected + cell.new - len(failed)
    case[0].text = _writable("\n\n".join([*failed, *([f"and {more} more"] if more else [])]))
    return case


def _writable(text: object) -> str:
    return UNWRITABLE.sub("\ufffd", str(text))


OTHERS = "other modes, which must be refused"  # one row for all modes that an operator lacks


def html(summary: Summary) -> str:
    """Return the HTML page; it contains its style, its script and the results, and needs no network."""
    parts = {
        "verdict": summary.verdict,
        "verdict_class": "good" if summary.footer["exit"] == 0 else "bad",
        "head": "".join(f"<p>{escape(text)}</p>" for text in summary.head()),
        "problems": "".join(map(_html_section, summary.problems())),
        "tables": "".join(map(_html_section, (*summary.peers(), *summary.known()))),
        # Only "<" could end the script element with the data.
        "data": json.dumps(page_data(summary), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "style": _part("page.css"),
        "script": _part("page.js") + "\n" + _part("cases.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _part("page.html"))


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").rstrip("\n")


def _html_section(section: Section) -> str:
    rows = [f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in section.rows]
    table = f'<div class="scroll" tabindex="0"><table class="rows">{"".join(rows)}</table></div>' if rows else ""
    results = "".join(
        f"<details><summary>{escape(text.splitlines()[0])}</summary><pre>{escape(text)}</pre></details>"
        for text in map(result_text, section.results[:SHOWN])
    )
    more = len(section.results[SHOWN:])
    left = f"<p>{more:,} more are in the JSONL file.</p>" if more else ""
    return f"<section><h2>{section.title}</h2><p>{escape(section.about)}</p>{table}{results}{left}</section>"


def _html_cell(text: str) -> str:
    link = f'<a href="{escape(text)}" rel="noreferrer">upstream</a>' if text.startswith("https://") else escape(text)
    return f"<td>{link}</td>"


def page_data(summary: Summary) -> Row:
    peers = [row["name"] for row in summary.header["peers"]]
    rows = list(dict.fromkeys(_place(*key[1:3]) for key in summary.cells))
    dtypes = list(dict.fromkeys(key[3] for key in summary.cells))
    records: dict[str, Row] = {}  # a result for each case id, for all peers
    cells = []
    for (peer, op, mode, dtype), cell in summary.cells.items():
        records |= {record["case"]: record for record in cell.examples}
        place = {"peer": peers.index(peer), "row": rows.index(_place(op, mode)), "dtype": dtypes.index(dtype)}
        cells.append(place | _page_cell(cell))
    return {
        "peers": [{"title": peer} for peer in peers],
        "rows": [{"op": op, "mode": mode, "refused": mode == OTHERS} for op, mode in rows],
        "dtypes": dtypes,
        "divergences": {name: summary.divergence(name) for cell in summary.cells.values() for name in cell.known},
        "cells": cells,
        "cases": {id: _case(record) for id, record in records.items()},
    }


def _place(op: str, mode: str) -> tuple[str, str]:
    has_it = op not in OPS or mode in (known.lower() for known in OPS[op].modes)
    return (op, mode if has_it else OTHERS)


def _page_cell(cell: Cell) -> Row:
    """Return a cell's counts and examples; the page stores the examples' cases separately, once for all peers."""
    kept = ("case", "outcome", "unexpected", "new", "divergence", "detail", "repro")
    told = [{name: record[name] for name in kept} | {"got": _text(record.get("got"))} for record in cell.examples]
    counts = {outcome: cell.counts[outcome] for outcome in OUTCOMES if cell.counts[outcome]}
    return {**vars(cell), "counts": counts, "examples": told}


def _text(array: Any) -> str:
    return array_text(array) if array else ""


def _case(record: Row) -> Row:
    names = [row.name for row in OPS[record["op"]].inputs] if record["op"] in OPS else []
    inputs = [
        [names[i] if i < len(names) else f"input {i}", array_text(value)]
        for i, value in enumerate(record.get("inputs") or [])
    ]
    attributes = record.get("attributes") or {}
    return {
        "rules": ", ".join(record["rules"]),
        "attributes": "\n".join(f"{name} = {json.dumps(value)}" for name, value in attributes.items()),
        "inputs": inputs,
        "expected": _text(record.get("expected")),
    }


FORMS = {"markdown": markdown, "junit": junit, "html": html}
FILES = {"markdown": "report.md", "junit": "junit.xml", "html": "report.html"}


def prepare(folder: Path) -> str | None:
    """Make the folder of a report; return why a report cannot be written there, or None."""
    folder.mkdir(parents=True, exist_ok=True)
    return refusal(folder / name for name in (record.FILE, *FILES.values()))


def write_all(report: record.Record, folder: Path, divergences: Iterable[Any] = KNOWN) -> list[Path]:
    """Write every form of a report into an existing folder, and return the files; each file is whole or absent."""
    summary = summarise(report, divergences)
    texts = {folder / FILES[form]: render(summary) for form, render in FORMS.items()}
    for path, text in texts.items():
        write_whole(path, [text])
    return list(texts)


def show(options: argparse.Namespace) -> int:
    """Print one form of a report, or write all forms into a folder."""
    if options.format and options.folder:
        return fail("--format is for standard output, but --out writes every form", USAGE)
    try:
        report = record.read(options.file)
        if options.folder:
            if why := prepare(Path(options.folder)):
                return fail(why)
            say(*write_all(report, Path(options.folder)))
            return 0
        text = FORMS[options.format or "markdown"](summarise(report))
    except (OSError, record.RecordError) as error:
        return fail(error)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:  # a field is wrong
        return fail(f"{options.file}: not a report: {type(error).__name__}: {error}")
    sys.stdout.write(text)
    return 0
