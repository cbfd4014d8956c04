"""The report as one page without network: a matrix of implementations, operators, modes and element types."""

from __future__ import annotations

import json
import re
from html import escape
from importlib import resources
from typing import Any

from padops.conformance.features import OUTCOMES
from padops.conformance.render.summary import SHOWN, Cell, Row, Section, Summary, array_text, result_text
from padops.spec.dialects import OPS

OTHERS = "other modes, which must be refused"  # one row for all modes that an operator lacks


def html(summary: Summary) -> str:
    """Return the page, with its style, its script and the results inside."""
    parts = {
        "verdict": summary.verdict,
        "verdict_class": "good" if summary.footer["exit"] == 0 else "bad",
        "head": "".join(f"<p>{escape(text)}</p>" for text in summary.head()),
        "problems": "".join(map(_section, summary.problems())),
        "tables": "".join(map(_section, (*summary.peers(), *summary.known()))),
        # Inside a script element only "<" could end it.
        "data": json.dumps(page_data(summary), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "style": _part("page.css"),
        "script": _part("page.js") + "\n" + _part("cases.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _part("page.html"))


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").rstrip("\n")


def _section(section: Section) -> str:
    rows = [f"<tr>{''.join(map(_cell, row))}</tr>" for row in section.rows]
    table = f'<div class="scroll" tabindex="0"><table class="rows">{"".join(rows)}</table></div>' if rows else ""
    results = "".join(
        f"<details><summary>{escape(text.splitlines()[0])}</summary><pre>{escape(text)}</pre></details>"
        for text in map(result_text, section.results[:SHOWN])
    )
    more = len(section.results[SHOWN:])
    left = f"<p>{more:,} more are in the JSONL file.</p>" if more else ""
    return f"<section><h2>{section.title}</h2><p>{escape(section.about)}</p>{table}{results}{left}</section>"


def _cell(text: str) -> str:
    link = f'<a href="{escape(text)}" rel="noreferrer">upstream</a>' if text.startswith("https://") else escape(text)
    return f"<td>{link}</td>"


def page_data(summary: Summary) -> Row:
    """Return the data of the page, fit for JSON."""
    peers = [row["name"] for row in summary.header["peers"]]
    rows = list(dict.fromkeys(_place(*key[1:3]) for key in summary.cells))
    dtypes = list(dict.fromkeys(key[3] for key in summary.cells))
    records: dict[str, Row] = {}  # a case of each id, for all peers
    cells = []
    for (peer, op, mode, dtype), cell in summary.cells.items():
        records |= {record["case"]: record for record in cell.examples}
        place = {"peer": peers.index(peer), "row": rows.index(_place(op, mode)), "dtype": dtypes.index(dtype)}
        cells.append(place | _of_cell(cell))
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


def _of_cell(cell: Cell) -> Row:
    """Return a cell's counts, and its examples; the cases are stored once for all peers."""
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
