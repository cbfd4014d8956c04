"""A summary of a run from one pass over its results, with the content of every rendering; it fits in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from padops.conformance.record import IDLE, WRONG
from padops.terminal import shown

COLUMNS = ("versions", "cases run", "agree", "known divergences", "crashes", "unexpected", "new behaviour", "not run")

CASES_PER_CELL = 3  # examples of each known divergence
UNEXPECTED_PER_CELL = 20

Record = dict[str, Any]
Key = tuple[str, str, str, str]  # peer, operator, mode, element type


@dataclass
class Cell:
    """The results of one peer for one mode of one operator on one element type."""

    counts: Counter[str] = field(default_factory=Counter)  # of results, by outcome
    unexpected: int = 0  # results that no divergence explains
    new: int = 0  # unexplained results of a version without recorded divergences
    known: Counter[str] = field(default_factory=Counter)  # results, by the divergence that explains them
    reasons: Counter[str] = field(default_factory=Counter)  # why cases were unsupported or skipped
    examples: list[Record] = field(default_factory=list)  # a few wrong results of each kind

    def add(self, record: Record) -> None:
        self.counts[record["outcome"]] += 1
        if record["unexpected"] or record["new"]:
            self.unexpected += record["unexpected"]
            self.new += record["new"]
            if self.unexpected + self.new <= UNEXPECTED_PER_CELL:
                self.examples.append(record)
            return
        if record["divergence"]:
            self.known[record["divergence"]] += 1
            if record["outcome"] in WRONG and self.known[record["divergence"]] <= CASES_PER_CELL:
                self.examples.append(record)
        if record["outcome"] in IDLE:
            self.reasons[record["detail"] or "no reason was given"] += 1


@dataclass
class Summary:
    """A complete run, with its results in the order of the file."""

    header: Record
    footer: Record
    divergences: dict[str, Record]  # the known divergences, as mappings, by id
    cells: dict[Key, Cell] = field(default_factory=dict)
    unexpected: list[Record] = field(default_factory=list)
    new: list[Record] = field(default_factory=list)  # results that are new behaviour of a peer
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)  # results, by divergence and peer

    @property
    def peers(self) -> list[str]:
        """The names of the peers that ran, in the header's order, then other peers with results."""
        names = [peer["name"] for peer in self.header["peers"]]
        return list(dict.fromkeys([*names, *(key[0] for key in self.cells)]))

    def total(self, peer: str) -> Cell:
        """Add up the cells of a peer, without examples."""
        whole = Cell()
        for key, cell in self.cells.items():
            if key[0] == peer:
                whole.counts += cell.counts
                whole.unexpected += cell.unexpected
                whole.new += cell.new
                whole.known += cell.known
        return whole

    def numbers(self, peer: str) -> tuple[int, ...]:
        """Return the values of ``COLUMNS`` for a peer, after its versions."""
        cell = self.total(peer)
        idle = sum(cell.counts[outcome] for outcome in IDLE)
        run = sum(cell.counts.values()) - idle
        known, crashes = sum(cell.known.values()), cell.counts["crash"]
        return run, cell.counts["agree"], known, crashes, cell.unexpected, cell.new, idle

    def run(self) -> str:
        """Return the run and its machine, in words."""
        machine = ", ".join(f"{name} {value}" for name, value in self.header["machine"].items())
        return shown(
            f"padops {self.header['padops']}, level {self.header['level']}, seed {self.header['seed']}; {machine}"
        )

    @property
    def verdict(self) -> str:
        """The verdict on the whole run, in words."""
        if "cut_short" in self.footer:
            return "cut short"
        return "as expected" if self.footer["exit"] == 0 else "not as expected"

    def left(self) -> str:
        """Return the missing cases of an interrupted run, in words; empty for a complete run."""
        if "cut_short" not in self.footer:
            return ""
        rows = [f"{self.title(peer)} ({count:,})" for peer, count in self.footer["cut_short"].items()]
        begun = f"Cases were left for {', '.join(rows)}. " if rows else ""
        return f"A signal has ended the run before its end. {begun}What is missing here has not been measured."

    def not_recorded(self) -> dict[str, str]:
        """Return a sentence for each peer whose version has no recorded divergences, by peer."""
        rows = [row for row in self.header["peers"] if "recorded" in row]
        return {
            row["name"]: f"{self.versions(row['name']).partition(', ')[0]}; recorded: {row['recorded']}" for row in rows
        }

    def no_longer_seen(self) -> str:
        """Return the number of stale divergences, in words."""
        stale = len(self.footer["stale"])
        return f"{stale:,} listed {'divergence' if stale == 1 else 'divergences'} no longer seen."

    def divergence(self, name: str) -> Record:
        """Return an entry of the divergence file; for a missing id, an entry that reports this."""
        unknown = {"id": name, "outcome": "", "versions": "", "rule": "", "link": ""}
        return self.divergences.get(name, unknown | {"reason": "This is not in the divergence file of this padops."})

    def title(self, peer: str) -> str:
        """Return a peer's short name; for another interpreter, with its version instead of its path."""
        name, _, python = peer.partition("@")
        versions = [row["versions"] for row in self.header["peers"] if row["name"] == peer]
        if not python or not versions or not versions[0]:
            return peer
        return f"{name}@{next(iter(versions[0].values()))}"

    def versions(self, peer: str) -> str:
        """Return a peer's packages, as in ``"onnxruntime 1.31.1"``; and its tolerance, if any."""
        rows = [row for row in self.header["peers"] if row["name"] == peer]
        parts = [f"{name} {version}" for row in rows for name, version in row["versions"].items()]
        return ", ".join(
            [*parts, *(f"within {row['within']:.0e}".replace("e-0", "e-") for row in rows if "within" in row)]
        )


def summarise(header: Record, results: Iterable[Record], footer: Record, divergences: Iterable[Any]) -> Summary:
    """Count the results of a run in one pass; the divergences may be mappings."""
    entries = {entry["id"]: entry for entry in map(_mapping, divergences)}
    summary = Summary(header, footer, entries)
    for record in results:
        key = (record["peer"], record["op"], record["mode"], record["dtype"])
        summary.cells.setdefault(key, Cell()).add(record)
        if record["unexpected"]:
            summary.unexpected.append(record)
        if record["new"]:
            summary.new.append(record)
        if record["divergence"]:
            summary.seen[record["divergence"], record["peer"]] += 1
    return summary


def _mapping(entry: Any) -> Record:
    names = ("id", "peer", "versions", "outcome", "reason", "rule", "link")
    read: Callable[[str], Any] = entry.get if isinstance(entry, Mapping) else lambda name: getattr(entry, name, None)
    return {name: _text(read(name)) for name in names}


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return ", ".join(map(str, value)) if isinstance(value, Iterable) else str(value)


def array_text(value: Any) -> str:
    """Format an array of the record in one line, ``float[2, 3] [[1, 2, 3], [4, 5, 6]]``; or the expected error."""
    if not isinstance(value, Mapping):
        return "absent" if value is None else str(value)
    if "error" in value:
        return f"an error: {value['error']}"
    shape = ", ".join(map(str, value["shape"]))
    return f"{value['dtype']}[{shape}] " + (repr(value["values"]) if "values" in value else "(too large to show)")


def sides(record: Record) -> dict[str, str]:
    """Return the expected and the peer's output as text; empty if the record has neither."""
    return {name: array_text(record[name]) for name in ("expected", "got") if record.get(name) is not None}
