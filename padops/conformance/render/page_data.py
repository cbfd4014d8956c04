"""What the page's script shows: counts for every cell of the matrix, and in full the cases that can be opened."""

from __future__ import annotations

import json
from typing import Any

from padops.conformance.record import OUTCOMES
from padops.conformance.render.summary import Cell, Record, Summary, array_text
from padops.conformance.render.words import RULES, Figures, named_inputs, sentence
from padops.spec.dialects import OPS
from padops.spec.dtypes import DTYPES

TYPES = [dtype.name for dtype in DTYPES]
REFUSED = None  # in place of a mode: all modes that the operator does not have


class _Texts:
    """Every text once, and its position."""

    def __init__(self) -> None:
        self.positions: dict[str, int] = {"": 0}

    def __call__(self, text: str | None) -> int:
        return self.positions.setdefault(text or "", len(self.positions))


class _Cases:
    """Every case once, whichever peers are shown with it."""

    def __init__(self) -> None:
        self.rows: list[Record] = []
        self.found: dict[str, tuple[int, Figures]] = {}

    def __call__(self, record: Record) -> tuple[int, Figures]:
        if record["case"] not in self.found:
            figures = Figures.of(record)
            self.found[record["case"]] = (len(self.rows), figures)
            self.rows.append(_case(record, figures))
        return self.found[record["case"]]


def page_data(summary: Summary) -> Record:
    """The data of the page, fit for JSON."""
    texts, cases, examples = _Texts(), _Cases(), list[Record]()
    peers = summary.peers
    rows = sorted(dict.fromkeys(_row(*key[1:3]) for key in summary.cells), key=_row_order)
    dtypes = sorted(dict.fromkeys(key[3] for key in summary.cells), key=lambda name: _position(TYPES, name))
    names = list(dict.fromkeys(name for cell in summary.cells.values() for name in cell.known))
    cells = []
    for (peer, op, mode, dtype), cell in summary.cells.items():
        place = {"peer": peers.index(peer), "row": rows.index(_row(op, mode)), "dtype": dtypes.index(dtype)}
        shown = [_example(record, names, texts, cases) for record in cell.examples]
        positions = list(range(len(examples), len(examples) + len(shown)))
        examples += shown
        cells.append(place | _counts_of(cell, names, texts) | {"examples": positions})
    return {
        "peers": [{"title": summary.title(peer), "versions": summary.versions(peer)} for peer in peers],
        "rows": [
            {"op": op, "mode": mode, "refused": _others(op, summary) if mode is REFUSED else []} for op, mode in rows
        ],
        "dtypes": dtypes,
        "divergences": [summary.divergence(name) for name in names],
        "cells": cells,
        "cases": cases.rows,
        "examples": examples,
        "rules": RULES,
        "texts": list(texts.positions),
    }


def _row(op: str, mode: str) -> tuple[str, str | None]:
    """The row of a cell: a mode that the operator does not have must be refused, whatever it is called."""
    has_it = op not in OPS or mode in (known.lower() for known in OPS[op].modes)
    return (op, mode if has_it else REFUSED)


def _others(op: str, summary: Summary) -> list[str]:
    """The modes that were tried though the operator does not have them; the empty one last."""
    tried = {mode for _, own, mode, _ in summary.cells if own == op and _row(op, mode)[1] is REFUSED}
    return sorted(tried, key=lambda mode: (not mode, mode))


def _position(names: list[str], name: str) -> tuple[int, str]:
    return (names.index(name) if name in names else len(names), name)


def _row_order(row: tuple[str, str | None]) -> tuple[Any, ...]:
    """Operators and modes in the order of the OPS table, what it does not have behind; then what must be refused."""
    op, mode = row
    modes = [mode.lower() for mode in OPS[op].modes] if op in OPS else []
    return (mode is REFUSED, *_position(list(OPS), op), *_position(modes, mode or ""))


def _counts_of(cell: Cell, names: list[str], texts: _Texts) -> Record:
    return {
        "counts": {outcome: cell.counts[outcome] for outcome in OUTCOMES if cell.counts[outcome]},
        "unexpected": cell.unexpected,
        "new": cell.new,
        "known": {names.index(name): count for name, count in cell.known.items()},
        "reasons": {texts(reason): count for reason, count in cell.reasons.items()},
    }


def _example(record: Record, names: list[str], texts: _Texts, cases: _Cases) -> Record:
    """One result; what belongs to its case is kept once for all peers."""
    name = record["divergence"]
    case, figures = cases(record)
    own = figures.with_own(record.get("got"))
    return {
        "case": case,
        "outcome": record["outcome"],
        "unexpected": record["unexpected"],
        "new": record["new"],
        "divergence": names.index(name) if name in names else None,
        "detail": texts(record["detail"]),
        "got": texts(own.text(record.get("got"))),
        "legend": own.legend(beyond=figures),
        "repro": record["repro"],
    }


def _case(record: Record, figures: Figures) -> Record:
    attributes = record.get("attributes") or {}
    inputs = list(named_inputs(record).items())
    fill = OPS[record["op"]].fill if record["op"] in OPS else ""
    return {
        "id": record["case"],
        "says": sentence(record),
        "rules": record["rules"],
        "attributes": "\n".join(f"{name} = {json.dumps(value)}" for name, value in attributes.items()),
        "inputs": [
            [name, (figures.text(value) if i == 0 or name == fill else array_text(value)) or "absent"]
            for i, (name, value) in enumerate(inputs)
        ],
        "expected": figures.text(record.get("expected")),
        "legend": figures.legend(),
    }
