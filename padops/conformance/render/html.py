"""The report as one page without network: a matrix of implementations, operators, modes and element types."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from padops.conformance.record import OUTCOMES
from padops.conformance.render.summary import COLUMNS, Cell, Record, Summary, array_text
from padops.plural import plural
from padops.spec.dialects import OPS
from padops.spec.dtypes import DTYPES

# The subject of each rule; ``docs/semantics.md`` has the full rules.
RULES = {
    "P1": "How large the output is. Negative amounts crop; an output dim below 0 is an error, but for OpenVINO Pad 12.",
    "P2": "What each mode shows beyond the data, over any number of periods.",
    "P3": "Amounts of both signs: ONNX crops first and extends what is left, OpenVINO and nGraph extend first.",
    "P4": "How far a mode may reach: OpenVINO and nGraph have limits, ONNX has none, but leaves some cases open.",
    "P5": "Data with nothing to extend are an error, unless the output is empty; data of rank 0 pass through.",
    "P6": "Interior padding, fill between any two elements, is nGraph's, and only in mode constant.",
    "P7": "The fill is one element of the data's type. Bits are copied, never converted.",
    "P8": "Pads have two amounts for each axis; axes lie in range and none comes twice.",
    "P9": "The mode is one that the version of the operator has.",
    "P10": "An axis or an output beyond 2^59 - 1 elements is an error, raised before any memory is taken.",
    "S1": "What SAME adds to each side, from size, kernel, stride and dilation.",
}

FAMILIES = {"Pad": "ONNX Pad", "OpenVINOPad": "OpenVINO Pad", "NGraphPad": "nGraph Pad", "SamePad": "SAME padding"}


def sentence(record: Record) -> str:
    """Describe the case of a result, in less detail for a result without inputs, such as one that agrees."""
    mode = f"mode {record['mode']}" if record["mode"] else "an empty mode"
    data = (record.get("inputs") or [None])[0]
    what = f"{data['dtype']} {data['shape']}" if data else f"{record['dtype']} data of rank {record['rank']}"
    family, _, version = record["op"].partition("_")
    op = FAMILIES.get(family, family) + (f" {version}" if family in ("Pad", "OpenVINOPad") else "")
    return f"{op} in {mode} pads {what}."


def _text(array: Any) -> str:
    """Format an array of the report: type and shape, then a line for each innermost row; or the error."""
    if not isinstance(array, dict) or "values" not in array:
        return "" if array is None else array_text(array)
    rows = np.array(array["values"], object).reshape(-1, (array["shape"] or [1])[-1] or 1)
    cells = [
        [repr(value)[1:-1] if isinstance(value, str) and value.strip() else repr(value) for value in row]
        for row in rows
    ]
    width = max((len(cell) for row in cells for cell in row), default=0)
    lines = (" ".join(cell.rjust(width) for cell in row) for row in cells)
    return "\n".join([f"{array['dtype']} {array['shape']}", *lines])


TYPES = [dtype.name for dtype in DTYPES]
REFUSED = None  # in place of a mode: all modes that the operator lacks


@dataclass
class _Once:
    """The texts and cases of a page, each stored once; the data of the page refer to them by position."""

    texts: dict[str, int] = field(default_factory=lambda: {"": 0})
    cases: dict[str, int] = field(default_factory=dict)
    rows: list[Record] = field(default_factory=list)  # the cases, for all peers

    def text(self, text: str | None) -> int:
        return self.texts.setdefault(text or "", len(self.texts))

    def case(self, record: Record) -> int:
        if record["case"] not in self.cases:
            self.cases[record["case"]] = len(self.rows)
            self.rows.append(_case(record))
        return self.cases[record["case"]]


def page_data(summary: Summary) -> Record:
    """Return the data of the page, fit for JSON."""
    once, examples = _Once(), list[Record]()
    peers = summary.peers
    rows = sorted(dict.fromkeys(_row(*key[1:3]) for key in summary.cells), key=_row_order)
    dtypes = sorted(dict.fromkeys(key[3] for key in summary.cells), key=lambda name: _position(TYPES, name))
    names = list(dict.fromkeys(name for cell in summary.cells.values() for name in cell.known))
    cells = []
    for (peer, op, mode, dtype), cell in summary.cells.items():
        place = {"peer": peers.index(peer), "row": rows.index(_row(op, mode)), "dtype": dtypes.index(dtype)}
        shown = [_example(record, names, once) for record in cell.examples]
        positions = list(range(len(examples), len(examples) + len(shown)))
        examples += shown
        cells.append(place | _counts_of(cell, names, once) | {"examples": positions})
    return {
        "peers": [{"title": summary.title(peer), "versions": summary.versions(peer)} for peer in peers],
        "rows": [
            {"op": op, "mode": mode, "refused": _others(op, summary) if mode is REFUSED else []} for op, mode in rows
        ],
        "dtypes": dtypes,
        "divergences": [summary.divergence(name) for name in names],
        "cells": cells,
        "cases": once.rows,
        "examples": examples,
        "rules": RULES,
        "texts": list(once.texts),
    }


def _row(op: str, mode: str) -> tuple[str, str | None]:
    """Return the row of a cell: all modes that the operator lacks share one row, which must be refused."""
    has_it = op not in OPS or mode in (known.lower() for known in OPS[op].modes)
    return (op, mode if has_it else REFUSED)


def _others(op: str, summary: Summary) -> list[str]:
    """Return the tried modes that the operator lacks; the empty mode last."""
    tried = {mode for _, own, mode, _ in summary.cells if own == op and _row(op, mode)[1] is REFUSED}
    return sorted(tried, key=lambda mode: (not mode, mode))


def _position(names: list[str], name: str) -> tuple[int, str]:
    return (names.index(name) if name in names else len(names), name)


def _row_order(row: tuple[str, str | None]) -> tuple[Any, ...]:
    """Return the sort key of a row: the order of the OPS table, then entries that it lacks, then refused rows."""
    op, mode = row
    modes = [mode.lower() for mode in OPS[op].modes] if op in OPS else []
    return (mode is REFUSED, *_position(list(OPS), op), *_position(modes, mode or ""))


def _counts_of(cell: Cell, names: list[str], once: _Once) -> Record:
    return {
        "counts": {outcome: cell.counts[outcome] for outcome in OUTCOMES if cell.counts[outcome]},
        "unexpected": cell.unexpected,
        "new": cell.new,
        "known": {names.index(name): count for name, count in cell.known.items()},
        "reasons": {once.text(reason): count for reason, count in cell.reasons.items()},
    }


def _example(record: Record, names: list[str], once: _Once) -> Record:
    """Format one result; store its case once for all peers."""
    name = record["divergence"]
    return {
        "case": once.case(record),
        "outcome": record["outcome"],
        "unexpected": record["unexpected"],
        "new": record["new"],
        "divergence": names.index(name) if name in names else None,
        "detail": once.text(record["detail"]),
        "got": once.text(_text(record.get("got"))),
        "repro": record["repro"],
    }


def _case(record: Record) -> Record:
    attributes, inputs = record.get("attributes") or {}, record.get("inputs") or []
    names = [row.name for row in OPS[record["op"]].inputs] if record["op"] in OPS else []
    names += [f"input {i}" for i in range(len(names), len(inputs))]
    return {
        "id": record["case"],
        "says": sentence(record),
        "rules": record["rules"],
        "attributes": "\n".join(f"{name} = {json.dumps(value)}" for name, value in attributes.items()),
        "inputs": [[name, _text(value) or "absent"] for name, value in zip(names, inputs)],
        "expected": _text(record.get("expected")),
    }


UNEXPECTED_SHOWN = 50
UNEXPECTED_OPEN = 3
SHARE = "share"  # the column behind "agree"


def html(summary: Summary) -> str:
    """Return the page, with its style, its script and the results inside."""
    good, footer = summary.footer["exit"] == 0, summary.footer
    counts = (
        f"{footer['results']:,} results of {len(summary.peers)} implementations; {footer['unexpected']:,} unexpected; "
        f"{summary.no_longer_seen()} {summary.left()}"
    )
    absent = "".join(
        f"<li><b>{escape(row['name'])}</b>: {escape(row['reason'])}</li>" for row in summary.header["absent"]
    )
    rules = [f'<dt id="rule-{label}">{label}</dt><dd>{escape(text)}</dd>' for label, text in RULES.items()]
    parts = {
        "verdict": summary.verdict,
        "verdict_class": "good" if good else "bad",
        "counts": escape(counts.rstrip()),
        "run": escape(summary.run()),
        "peers": _peers(summary),
        "absent": f"<h3>Absent: nothing is said of these</h3><ul>{absent}</ul>" if absent else "",
        "problems": _stale(summary)
        + _surprises(summary, summary.unexpected, "unexpected", "Unexpected")
        + _new(summary),
        "known": _known(summary),
        "rules": f'<dl class="rules">{"".join(rules)}</dl>',
        # Inside a script element only "<" could end it.
        "data": json.dumps(page_data(summary), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "style": _part("page.css"),
        "script": _part("page.js") + "\n" + _part("cases.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _part("page.html"))


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").rstrip("\n")


def _peers(summary: Summary) -> str:
    behind = COLUMNS.index("agree") + 1
    titles = ["implementation", *COLUMNS[:behind], SHARE, *COLUMNS[behind:]]
    number = ' class="number"'
    head = "".join(f'<th scope="col"{number * (i > 1)}>{title}</th>' for i, title in enumerate(titles))
    rows = [_peer(summary, peer, titles[2:]) for peer in summary.peers]
    return f'<table class="peers"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _peer(summary: Summary, peer: str, titles: list[str]) -> str:
    numbers = list(summary.numbers(peer))
    run, agree = numbers[:2]
    texts = [f"{number:,}" for number in numbers]
    share = f"{1000 * agree // run / 10:.1f} %" if run else "–"  # rounded down: 100 % means all
    texts.insert(2, "100 %" if 0 < agree == run else share)
    cells = "".join(f'<td class="number" data-title="{title}">{text}</td>' for title, text in zip(titles, texts))
    versions = escape(summary.versions(peer))
    return f'<tr><th scope="row">{escape(summary.title(peer))}</th><td class="versions">{versions}</td>{cells}</tr>'


def _stale(summary: Summary) -> str:
    names = summary.footer["stale"]
    if not names:
        return ""
    entries = "".join(_entry(summary, name, summary.divergence(name).get("peer") or "") for name in names)
    return f'<section aria-labelledby="stale"><h2 id="stale">Listed, but no longer seen</h2>{entries}</section>'


def _known(summary: Summary) -> str:
    """List the divergences that occurred, by implementation, folded up."""
    if not summary.seen:
        return "<p>None were seen.</p>"
    groups = []
    for number, peer in enumerate(summary.peers):
        own = [(name, count) for (name, other), count in summary.seen.most_common() if other == peer]
        if not own:
            continue
        entries = "".join(_entry(summary, name, plural(count, "result", ",")) for name, count in own)
        about = f"{plural(len(own), 'divergence')}, {plural(sum(count for _, count in own), 'result', ',')}"
        # The script hides the groups of other implementations than the chosen one.
        groups.append(
            f'<details class="known" data-peer="{number}"><summary><b>{escape(summary.title(peer))}</b> '
            f"{about}</summary>"
            f"{entries}</details>"
        )
    return "".join(groups)


def _entry(summary: Summary, name: str, where: str) -> str:
    """Format one divergence: its reason, then its places and its id."""
    entry = summary.divergence(name)
    reason = str(entry["reason"] or "")
    about = [escape(text) for text in (where, entry["outcome"], entry["versions"]) if text]
    about += [_rule(entry["rule"])] if entry["rule"] else []
    if entry["link"]:
        about.append(f'<a href="{escape(entry["link"])}" rel="noreferrer">upstream</a>')
    return (
        f'<div class="entry"><p>{escape(reason[:1].upper() + reason[1:])}</p>'
        f'<p class="quiet">{"; ".join([*about, f"<code>{escape(name)}</code>"])}</p></div>'
    )


def _rule(label: str) -> str:
    return f'<a href="#rule-{label}">{label}</a>' if label in RULES else escape(label)


def _new(summary: Summary) -> str:
    """List the behaviour of implementations in versions without recorded divergences."""
    versions, gone = summary.not_recorded(), summary.footer["gone"]
    if not versions:
        return ""
    rows = [f"<li><b>{escape(summary.title(peer))}</b>: {escape(text)}</li>" for peer, text in versions.items()]
    about = "Of versions that the known divergences were not recorded with; no failure of padops."
    missing = (
        f"<p>No longer seen there: {', '.join(f'<code>{escape(name)}</code>' for name in gone)}.</p>" if gone else ""
    )
    return _surprises(summary, summary.new, "new", "New behaviour", f"<p>{about}</p><ul>{''.join(rows)}</ul>{missing}")


def _surprises(summary: Summary, records: list[Record], name: str, says: str, about: str = "") -> str:
    """Make a section of results in plain text, a few of them open; the matrix has the results by cell."""
    if not records and not about:
        return ""
    entries = [_surprise(summary, record) for record in records[:UNEXPECTED_SHOWN]]
    first, rest = "".join(entries[:UNEXPECTED_OPEN]), "".join(entries[UNEXPECTED_OPEN:])
    more = (
        f'<details class="more"><summary>{len(entries) - UNEXPECTED_OPEN} more</summary>{rest}</details>'
        if rest
        else ""
    )
    shown = f": {len(entries)} of {len(records):,}" if len(entries) < len(records) else ""
    title = f'<h2 id="{name}">{says}{shown}</h2>'
    return f'<section aria-labelledby="{name}">{title}{about}{first}{more}</section>'


def _surprise(summary: Summary, record: Record) -> str:
    repro = f"<br><code>{escape(record['repro'])}</code>" if record["repro"] else ""
    return (
        f'<div class="entry"><h3>{escape(summary.title(record["peer"]))}: {escape(record["outcome"])}</h3>'
        f"<p>{escape(sentence(record))}</p><p>{escape(record['detail'] or '')}</p>"
        f'<p class="quiet"><code>{escape(record["case"])}</code>{repro}</p></div>'
    )
