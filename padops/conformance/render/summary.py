"""A summary of a run: the content that every format of its report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from padops.conformance.divergences import KNOWN
from padops.conformance.features import IDLE
from padops.conformance.record import Record, counts_of

COLUMNS = ("peer", "versions", "run", "agree", "known", "crashes", "unexpected", "new", "not run")
CASES_PER_CELL = 3  # examples of each known divergence
UNEXPECTED_PER_CELL = 20
SHOWN = 100  # the most results that a section shows

Row = dict[str, Any]
Key = tuple[str, str, str, str]  # peer, operator, mode, element type


@dataclass
class Cell:
    """The results of one peer for one mode of one operator on one element type."""

    counts: Counter[str] = field(default_factory=Counter)  # of results, by outcome
    unexpected: int = 0  # results that no divergence explains
    new: int = 0  # unexplained results of a version without recorded divergences
    known: Counter[str] = field(default_factory=Counter)  # results, by the divergence that explains them
    reasons: Counter[str] = field(default_factory=Counter)  # why cases were unsupported or skipped
    examples: list[Row] = field(default_factory=list)  # a few wrong results of each kind

    def add(self, record: Row) -> None:
        name = record["divergence"]
        self.counts[record["outcome"]] += 1
        self.unexpected += record["unexpected"]
        self.new += record["new"]
        if name:
            self.known[name] += 1
        if record["outcome"] in IDLE:
            self.reasons[record["detail"] or "no reason was given"] += 1
        surprises = self.unexpected + self.new if record["unexpected"] or record["new"] else 0
        if 0 < surprises <= UNEXPECTED_PER_CELL or 0 < self.known[name] <= CASES_PER_CELL:
            self.examples.append(record)


@dataclass(frozen=True)
class Section:
    """A part of a report: a paragraph, a table whose first row has the titles of its columns, and results in full."""

    title: str
    about: str
    rows: Sequence[Sequence[str]]
    results: Sequence[Row] = ()


@dataclass
class Summary:
    """A run, complete or cut short, with its results in the order of the file."""

    header: Row
    footer: Row
    divergences: dict[str, Any]  # the known divergences by id
    cells: dict[Key, Cell]
    results: list[Row]

    @property
    def verdict(self) -> str:
        if "cut_short" in self.footer:
            return "cut short"
        return "as expected" if self.footer["exit"] == 0 else "not as expected"

    def head(self) -> list[str]:
        """Return the paragraphs above all sections: the verdict with its numbers, and the run with its machine."""
        header = self.header
        machine = ", ".join(f"{name} {value}" for name, value in header["machine"].items())
        run = f"padops {header['padops']}, level {header['level']}, seed {header['seed']}; {machine}."
        return [*filter(None, (f"{self.verdict.capitalize()}: {counts_of(self.footer)}.", run, self.left()))]

    def left(self) -> str:
        """Describe the missing cases of an interrupted run; return "" for a complete run."""
        if "cut_short" not in self.footer:
            return ""
        rows = [f"{peer} ({count:,})" for peer, count in self.footer["cut_short"].items()]
        begun = f"Cases not run: {', '.join(rows)}. " if rows else ""
        return f"A signal ended the run early. {begun}Missing results have not been measured."

    def problems(self) -> list[Section]:
        """Return the results that need attention: unexpected results, new behaviour, and stale divergences."""
        peers = [row for row in self.header["peers"] if "recorded" in row]
        recorded = [[row["name"], versions_of(row), row["recorded"]] for row in peers]
        about = "Results of versions that the known divergences were not recorded with; no failure of padops."
        if gone := self.footer["gone"]:
            about += f" No longer seen there: {', '.join(gone)}."
        stale = [[name, self.divergence(name)["reason"]] for name in self.footer["stale"]]
        told = "The list of divergences is out of date."
        unexpected, new = ([row for row in self.results if row[key]] for key in ("unexpected", "new"))
        sections = [
            Section("Unexpected", "", [], unexpected),
            Section("New behaviour", about, [("peer", "versions", "recorded"), *recorded], new),
            Section("Listed, but no longer seen", told, [("divergence", "reason"), *stale]),
        ]
        return [section for section in sections if section.rows[1:] or section.results]

    def peers(self) -> list[Section]:
        absent = [("peer", "reason")]
        absent += [(row["name"], " ".join(row["reason"].split())) for row in self.header["absent"]]
        sections = [Section("Peers", "", [COLUMNS, *map(self._numbers, self.header["peers"])])]
        return sections + ([Section("Absent peers", "Not compared, for these reasons.", absent)] if absent[1:] else [])

    def known(self) -> list[Section]:
        """Return the section about the known divergences that occurred."""
        known = [("peer", "divergence", "outcome", "cases", "rule", "reason", "link")]
        seen = Counter[tuple[str, str]]()  # results, by peer and divergence
        for (peer, *_), cell in self.cells.items():
            seen.update({(peer, name): count for name, count in cell.known.items()})
        for (peer, name), count in sorted(seen.items()):
            row = self.divergence(name)
            known.append((peer, name, row["outcome"], f"{count:,}", row["rule"], row["reason"], row["link"]))
        return [Section("Known divergences", "", known)] if seen else []

    def _numbers(self, row: Row) -> list[str]:
        """Return the values of ``COLUMNS`` for a peer in the header."""
        counts, own = Counter[str](), [cell for key, cell in self.cells.items() if key[0] == row["name"]]
        for cell in own:
            counts += cell.counts
        idle = sum(counts[outcome] for outcome in IDLE)
        known = sum(sum(cell.known.values()) for cell in own)
        unexpected, new = (sum(getattr(cell, name) for cell in own) for name in ("unexpected", "new"))
        numbers = [counts.total() - idle, counts["agree"], known, counts["crash"], unexpected, new, idle]
        return [row["name"], versions_of(row), *(f"{number:,}" for number in numbers)]

    def divergence(self, name: str) -> dict[str, str]:
        """Return the texts of a known divergence; for an unknown id, the reason says that the id is unknown."""
        found = self.divergences.get(name, SimpleNamespace(reason="This padops has no known divergence with this id."))
        texts = {key: getattr(found, key, "") for key in ("outcome", "versions", "rule", "reason", "link")}
        return {key: value if isinstance(value, str) else ", ".join(value) for key, value in texts.items()}


def versions_of(row: Row) -> str:
    """Return the packages of a peer in the header, as in ``"onnxruntime 1.31.1"``; and the peer's tolerance, if any."""
    parts = [f"{name} {version}" for name, version in row["versions"].items()]
    return ", ".join([*parts, f"within {row['within']:.0e}".replace("e-0", "e-")] if "within" in row else parts)


def summarise(report: Record, divergences: Iterable[Any] = KNOWN) -> Summary:
    cells: dict[Key, Cell] = {}
    for record in report.results:
        cells.setdefault((record["peer"], record["op"], record["mode"], record["dtype"]), Cell()).add(record)
    return Summary(report.header, report.footer, {row.id: row for row in divergences}, cells, report.results)


def array_text(value: Any) -> str:
    """Format an array of a report (type and shape, then rows), or the expected error."""
    if not isinstance(value, Mapping):
        return "absent" if value is None else str(value)
    if "error" in value:
        return f"an error: {value['error']}"
    kind = f"{value['dtype']} {value['shape']}"
    if value.get("values", []) == []:  # empty, or too large to show
        return kind
    array = np.empty(value["shape"], object)
    array[...] = np.array(value["values"], object).reshape(array.shape)
    return f"{kind}\n{np.array2string(array, max_line_width=1 << 20, formatter={'all': repr})}"


def result_text(record: Row) -> str:
    """Format one result in full, with the command that prints its script."""
    lines = [f"{record['peer']}: {record['case']}: {record['outcome']}: {record['detail'] or ''}"]
    if record.get("attributes"):
        lines.append(f"attributes: {record['attributes']}")
    lines += [f"input: {array_text(array)}" for array in record.get("inputs", [])]
    lines += [f"{name}: {array_text(record[name])}" for name in ("expected", "got") if record.get(name) is not None]
    return "\n".join(filter(None, [*lines, record["repro"]]))
