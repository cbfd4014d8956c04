"""The report as one page: a matrix of implementations, operators, modes and element types. It asks nothing of a network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import Any

from padops.conformance.record import OUTCOMES
from padops.conformance.render.summary import COLUMNS, Cell, Record, Summary, array_text
from padops.spec.dialects import OPS
from padops.spec.dtypes import DTYPES

UNEXPECTED_SHOWN = 50
UNEXPECTED_OPEN = 3
TYPES = [dtype.name for dtype in DTYPES]


def html(summary: Summary) -> str:
    """The page, with its style, its script and the results inside it."""
    good = summary.footer["exit"] == 0
    parts = {
        "verdict": summary.verdict,
        "verdict_class": "good" if good else "bad",
        "counts": escape(_counts(summary)),
        "run": escape(summary.run()),
        "peers": _peers(summary),
        "absent": _absent(summary),
        "problems": _stale(summary) + _unexpected(summary),
        "known": _known(summary),
        # Inside a script element only "<" could end it.
        "data": json.dumps(_data(summary), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "style": _part("page.css"),
        "script": _part("page.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _part("page.html"))


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").rstrip("\n")


def _counts(summary: Summary) -> str:
    footer = summary.footer
    return (
        f"{footer['results']:,} results of {len(summary.peers)} implementations; {footer['unexpected']:,} unexpected; "
        f"{summary.no_longer_seen()} {summary.left()}".rstrip()
    )


def _peers(summary: Summary) -> str:
    head = "".join(f'<th scope="col"{_number(i)}>{title}</th>' for i, title in enumerate(("implementation", *COLUMNS)))
    rows = [_peer(summary, peer) for peer in summary.peers]
    return f'<table class="peers"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _number(column: int) -> str:
    return ' class="number"' if column > 1 else ""


def _peer(summary: Summary, peer: str) -> str:
    named = zip(COLUMNS[1:], summary.numbers(peer), strict=True)
    cells = "".join(f'<td class="number" data-title="{title}">{number:,}</td>' for title, number in named)
    return f'<tr><th scope="row">{escape(summary.title(peer))}</th><td class="versions">{escape(summary.versions(peer))}</td>{cells}</tr>'


def _absent(summary: Summary) -> str:
    rows = [f"<li><b>{escape(row['name'])}</b>: {escape(row['reason'])}</li>" for row in summary.header["absent"]]
    return f"<h3>Absent: nothing is said of these</h3><ul>{''.join(rows)}</ul>" if rows else ""


def _stale(summary: Summary) -> str:
    names = summary.footer["stale"]
    if not names:
        return ""
    entries = "".join(_entry(summary, name, {}) for name in names)
    return f'<section aria-labelledby="stale"><h2 id="stale">Listed, but no longer seen</h2>{entries}</section>'


def _known(summary: Summary) -> str:
    if not summary.seen:
        return "<p>None were seen.</p>"
    return "".join(
        _entry(summary, name, _seen_in(summary, name)) for name in dict.fromkeys(key[0] for key in summary.seen)
    )


def _seen_in(summary: Summary, name: str) -> dict[str, int]:
    return {peer: count for (own, peer), count in summary.seen.items() if own == name}


def _entry(summary: Summary, name: str, seen: dict[str, int]) -> str:
    """One divergence: why it is, and where it was seen."""
    entry = _divergence(summary, name)
    places = ", ".join(f"{summary.title(peer)} ({count:,})" for peer, count in seen.items()) or entry.get("peer") or ""
    facts = [text for text in (places, entry["outcome"], entry["versions"], entry["rule"]) if text]
    about = escape("; ".join(facts))
    if entry["link"]:
        about += f'; <a href="{escape(entry["link"])}" rel="noreferrer">upstream</a>'
    # The script hides those that the chosen implementation does not have.
    peers = f' data-peers="{" ".join(str(summary.peers.index(peer)) for peer in seen)}"' if seen else ""
    return (
        f'<div class="entry"{peers}><h3>{escape(name)}</h3><p>{escape(entry["reason"] or "")}</p>'
        f'<p class="quiet">{about}</p></div>'
    )


def _divergence(summary: Summary, name: str) -> Record:
    unknown = {"id": name, "outcome": "", "versions": "", "rule": "", "link": ""}
    return summary.divergences.get(name, unknown | {"reason": "This is not in the divergence file of this padops."})


def _unexpected(summary: Summary) -> str:
    """Unexpected results in plain text, a few of them open; the matrix has them by cell."""
    if not summary.unexpected:
        return ""
    entries = [
        f'<div class="entry"><h3>{escape(summary.title(record["peer"]))}: {escape(record["outcome"])}</h3>'
        f"<p><code>{escape(record['case'])}</code></p><p>{escape(record['detail'] or '')}</p>"
        + (f"<p><code>{escape(record['repro'])}</code></p>" if record["repro"] else "")
        + "</div>"
        for record in summary.unexpected[:UNEXPECTED_SHOWN]
    ]
    first, rest = "".join(entries[:UNEXPECTED_OPEN]), "".join(entries[UNEXPECTED_OPEN:])
    more = (
        f'<details class="more"><summary>{len(entries) - UNEXPECTED_OPEN} more</summary>{rest}</details>'
        if rest
        else ""
    )
    shown = f": {len(entries)} of {len(summary.unexpected):,}" if len(entries) < len(summary.unexpected) else ""
    title = f'<h2 id="unexpected">Unexpected{shown}</h2>'
    return f'<section aria-labelledby="unexpected">{title}{first}{more}</section>'


class _Texts:
    """Every text once, and its position."""

    def __init__(self) -> None:
        self.positions: dict[str, int] = {"": 0}

    def __call__(self, text: str | None) -> int:
        return self.positions.setdefault(text or "", len(self.positions))


def _data(summary: Summary) -> Record:
    """What the matrix needs: counts for every cell, cases in full only for those that are shown."""
    texts, cases, examples = _Texts(), dict[str, tuple[int, Record]](), list[Record]()
    peers = summary.peers
    rows = sorted(dict.fromkeys(key[1:3] for key in summary.cells), key=_row_order)
    dtypes = sorted(dict.fromkeys(key[3] for key in summary.cells), key=lambda name: _position(TYPES, name))
    names = list(dict.fromkeys(name for cell in summary.cells.values() for name in cell.known))
    cells = []
    for (peer, op, mode, dtype), cell in summary.cells.items():
        place = {"peer": peers.index(peer), "row": rows.index((op, mode)), "dtype": dtypes.index(dtype)}
        shown = [_example(record, names, texts, cases) for record in cell.examples]
        positions = list(range(len(examples), len(examples) + len(shown)))
        examples += shown
        cells.append(place | _counts_of(cell, names, texts) | {"examples": positions})
    return {
        "peers": [{"title": summary.title(peer), "versions": summary.versions(peer)} for peer in peers],
        "rows": rows,
        "dtypes": dtypes,
        "divergences": [_divergence(summary, name) for name in names],
        "cells": cells,
        "cases": [case for _, case in cases.values()],
        "examples": examples,
        "texts": list(texts.positions),
    }


def _position(names: list[str], name: str) -> tuple[int, str]:
    return (names.index(name) if name in names else len(names), name)


def _row_order(row: tuple[str, str]) -> tuple[Any, ...]:
    """Operators and modes in the order of the OPS table; what it does not have comes last."""
    op, mode = row
    modes = [mode.lower() for mode in OPS[op].modes] if op in OPS else []
    return (*_position(list(OPS), op), *_position(modes, mode))


def _counts_of(cell: Cell, names: list[str], texts: _Texts) -> Record:
    return {
        "counts": {outcome: cell.counts[outcome] for outcome in OUTCOMES if cell.counts[outcome]},
        "unexpected": cell.unexpected,
        "known": {names.index(name): count for name, count in cell.known.items()},
        "reasons": {texts(reason): count for reason, count in cell.reasons.items()},
    }


def _example(record: Record, names: list[str], texts: _Texts, cases: dict[str, tuple[int, Record]]) -> Record:
    """One result; what belongs to its case is kept once for all peers."""
    name = record["divergence"]
    if record["case"] not in cases:
        cases[record["case"]] = (len(cases), _case(record))
    return {
        "case": cases[record["case"]][0],
        "outcome": record["outcome"],
        "unexpected": record["unexpected"],
        "divergence": names.index(name) if name in names else None,
        "detail": texts(record["detail"]),
        "got": texts(_array(record.get("got"))),
        "repro": record["repro"],
    }


def _case(record: Record) -> Record:
    attributes = record.get("attributes") or {}
    return {
        "id": record["case"],
        "rules": ", ".join(record["rules"]),
        "attributes": "\n".join(f"{name} = {json.dumps(value)}" for name, value in attributes.items()),
        "inputs": [_array(value) or "absent" for value in record.get("inputs", ())],
        "expected": _array(record.get("expected")),
    }


def _array(value: Any) -> str:
    """An array as text, a line for each of its innermost rows, aligned as NumPy does."""
    if value is None:
        return ""
    text = array_text(value)
    rank = len(value["shape"]) if isinstance(value, Mapping) and "shape" in value else 0
    if rank < 2:
        return text
    head, _, data = text.partition("] [")
    lines = re.sub(r"\], (\[+)", lambda match: "],\n" + " " * (rank - len(match[1])) + match[1], data)
    return f"{head}]\n[{lines}" if data else text
