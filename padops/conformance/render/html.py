"""The report as one page without network: a matrix of implementations, operators, modes and element types.

A case is said in a sentence, a rule in a line, a mode on a row of numbers. The elements of most cases are random bits,
such as -3.0097295391825942e+35. So the first element of the data is written as 1, the next other one as 2, and so on;
the fill is f, an element of zero bits that is none of them 0, and what a peer made up itself a, b, c. A legend says
what they stand for. Values that are short already stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from string import ascii_lowercase
from typing import Any

from padops.conformance.record import OUTCOMES
from padops.conformance.render.summary import COLUMNS, Cell, Record, Summary, array_text
from padops.plural import plural
from padops.spec.dialects import OPS
from padops.spec.dtypes import DTYPES
from padops.spec.plan import Amounts, Crop, Mode, make_plan, source_index

# What each rule is about; ``docs/semantics.md`` has them in full.
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

SIZE = 4  # elements of the row that the modes are shown on
SHOWN = tuple((mode.value, mode, Amounts(3, 3), Crop.CROP) for mode in Mode) + (
    ("reflect, begin -2, crop first", Mode.REFLECT, Amounts(-2, 5), Crop.CROP),
    ("reflect, begin -2, crop last", Mode.REFLECT, Amounts(-2, 5), Crop.FULL),
    ("constant, interior 1", Mode.CONSTANT, Amounts(1, 1, 1), Crop.FULL),
)


def shown_modes() -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """For each mode its name, and what becomes of 1 2 3 4: elements, and whether each lies where the data are."""
    for name, mode, amounts, crop in SHOWN:
        (axis,) = make_plan([SIZE], [amounts], mode, crop).axes
        within = range(amounts.begin, amounts.begin + (SIZE - 1) * (amounts.interior + 1) + 1)
        row = [(place, source_index(axis, mode, place)) for place in range(axis.output)]
        yield name, [("0" if own is None else str(own + 1), own is not None and place in within) for place, own in row]


FAMILIES = {"Pad": "ONNX Pad", "OpenVINOPad": "OpenVINO Pad", "NGraphPad": "nGraph Pad", "SamePad": "SAME padding"}
# Under which names the operators have the amounts before and behind; ONNX has both in one list.
BOTH = ("pads", "paddings")
SIDES = (("pads_begin", "pads_end"), ("padding_below", "padding_above"))


def sentence(record: Record) -> str:
    """What the case of a result is.

    Of a result that has no inputs, as one that agrees, or of an operator of another padops it says less.
    """
    op = record["op"]
    mode = f"mode {record['mode']}" if record["mode"] else "an empty mode"
    named = named_inputs(record)
    data = named.get("data") or named.get("arg")
    if op not in OPS or not isinstance(data, dict):
        return f"{_operator(op)} in {mode} pads {record['dtype']} data of rank {record['rank']}."
    rest, fill = [_amounts(record, named, len(data["shape"]))], named.get(OPS[op].fill)
    if isinstance(fill, dict) and fill["shape"]:  # most cases have a scalar
        rest.append(f"with a fill of shape {fill['shape']}")
    return f"{_operator(op)} in {mode} pads {data['dtype']} {data['shape']} {', '.join(rest)}."


def named_inputs(record: Record) -> dict[str, Any]:
    """The inputs of a result's case by the operator's names for them, None where one is absent."""
    given = record.get("inputs") or []
    names = [row.name for row in OPS[record["op"]].inputs] if record["op"] in OPS else []
    names += [f"input {i}" for i in range(len(names), len(given))]
    return dict(zip(names, given))


def _operator(op: str) -> str:
    family, _, version = op.partition("_")
    return FAMILIES.get(family, family) + (f" {version}" if family in ("Pad", "OpenVINOPad") else "")


def _amounts(record: Record, named: dict[str, Any], rank: int) -> str:
    """The amounts of each axis that has some; the lists themselves where they do not fit the axes."""
    attributes = record.get("attributes") or {}
    if "kernel_shape" in attributes:
        names = ("auto_pad", "kernel_shape", "strides", "dilations", "data_format")
        return "for " + ", ".join(f"{name} {attributes[name]}" for name in names if name in attributes)
    lists = {name: _flat(value) for name, value in {**named, **attributes}.items()}
    axes, both = lists.get("axes"), next((lists[name] for name in BOTH if lists.get(name) is not None), None)
    begins, ends = next(((lists.get(b), lists.get(e)) for b, e in SIDES if b in lists), (None, None))
    if both is not None:
        begins, ends = both[: len(both) // 2], both[len(both) // 2 :]
    if begins is None or ends is None:
        return "by amounts that are not in the report"
    count = rank if axes is None else len(axes)
    between = lists.get("padding_interior") or [0] * count
    if not len(begins) == len(ends) == len(between) == count:
        where = "" if axes is None else f" of axes {axes}"
        by = both if both is not None else f"{begins} and {ends}"
        return f"by {by}{where}, which does not fit {plural(rank, 'axis')}"
    places = range(rank) if axes is None else axes
    rows = [
        f"begin {begin}, end {end}{f', interior {interior}' if interior else ''} on axis {place}"
        for place, begin, end, interior in zip(places, begins, ends, between)
        if begin or end or interior
    ]
    return "by " + " and ".join(rows) if rows else "by nothing"


def _flat(value: Any) -> list[Any] | None:
    """The elements of a list, or of an array of the report; None of anything else."""
    if isinstance(value, dict):
        value = value.get("values")
    if not isinstance(value, list):
        return None
    return [one for part in value for one in (part if isinstance(part, list) else [part])]


SHORT = 5  # letters of a value that stays as it is
ZEROS = ("0", "0.0", "''", "False")  # the fill where none is given, float8e8m0's aside
MADE_UP = [letter for letter in ascii_lowercase if letter != "f"]  # f is the fill


@dataclass
class Figures:
    """The names of the values of one case."""

    names: dict[str, str] = field(default_factory=dict)  # by the value as text
    short: bool = False  # whether the values stay as they are; there are no names then

    @classmethod
    def of(cls, record: Record) -> Figures:
        """Names for the values of a case, by a result of it that has its inputs."""
        named = named_inputs(record)
        data = list(_values(next(iter(named.values()), None)))
        fill = list(_values(named.get(OPS[record["op"]].fill))) if record["op"] in OPS else []
        expected = list(_values(record.get("expected")))
        if record["dtype"] != "string" and all(len(value) <= SHORT for value in (*data, *fill, *expected)):
            return cls(short=True)
        names: dict[str, str] = {}
        for value in data:
            names.setdefault(value, str(len(names) + 1))
        fills = [value for value in dict.fromkeys((*fill, *expected)) if value not in names]
        for value in fills:
            number = sum(name.startswith("f") for name in names.values())
            names[value] = "0" if value in ZEROS and value not in fill else f"f{number + 1 if number else ''}"
        return cls(names)

    def with_own(self, got: Any) -> Figures:
        """The names of the case, and of what else is in an output."""
        if self.short:
            return self
        new = [value for value in dict.fromkeys(_values(got)) if value not in self.names]
        return Figures({**self.names, **{value: _letter(i) for i, value in enumerate(new)}})

    def legend(self, beyond: Figures | None = None) -> list[list[str]]:
        """Names and what they stand for; only those that another has not."""
        known = beyond.names if beyond else {}
        return [[name, _plain(value)] for value, name in self.names.items() if value not in known]

    def text(self, array: Any) -> str:
        """An array of the report: type and shape, and below them a line for each of its innermost rows.

        The expected error, where there is one; empty where there is nothing.
        """
        if not isinstance(array, dict) or "error" in array or "values" not in array:
            return "" if array is None else array_text(array)
        head = f"{array['dtype']} {array['shape']}"
        if 0 in array["shape"]:
            return f"{head}, no elements"
        cells = [self.names.get(value, _plain(value)) for value in _values(array)]
        width = max(map(len, cells))
        lines = _lines([cell.rjust(width) for cell in cells], array["shape"])
        return "\n".join([head, *lines])


def _values(array: Any) -> Iterator[str]:
    """The elements of an array of the report as text, in order; of what has none, nothing."""
    if isinstance(array, dict) and "values" in array:
        yield from _leaves(array["values"])


def _leaves(data: Any) -> Iterator[str]:
    if not isinstance(data, list):
        yield repr(data)
        return
    for part in data:
        yield from _leaves(part)


def _plain(value: str) -> str:
    """A text of the report, such as 'nan (0x7fc1)', without its quotes; a string with white space keeps them."""
    inner = value[1:-1]
    return inner if value[:1] in "'\"" and inner and not inner.isspace() else value


def _letter(number: int) -> str:
    """a, b, … z without f, then a1, b1, …"""
    turn, place = divmod(number, len(MADE_UP))
    return MADE_UP[place] + (str(turn) if turn else "")


def _lines(cells: list[str], shape: list[int]) -> Iterator[str]:
    """Rows of the last axis; an empty line wherever an axis before the last two goes on."""
    row = shape[-1] if shape else 1
    block = row * (shape[-2] if len(shape) > 1 else 1)
    for start in range(0, len(cells), row):
        if start and start % block == 0:
            yield ""
        yield " ".join(cells[start : start + row])


TYPES = [dtype.name for dtype in DTYPES]
REFUSED = None  # in place of a mode: all modes that the operator does not have


@dataclass
class _Once:
    """What the data of a page name by its position, so that each of it comes once: texts, and cases."""

    texts: dict[str, int] = field(default_factory=lambda: {"": 0})
    cases: dict[str, tuple[int, Figures]] = field(default_factory=dict)
    rows: list[Record] = field(default_factory=list)  # the cases, whichever peers are shown with them

    def text(self, text: str | None) -> int:
        return self.texts.setdefault(text or "", len(self.texts))

    def case(self, record: Record) -> tuple[int, Figures]:
        if record["case"] not in self.cases:
            figures = Figures.of(record)
            self.cases[record["case"]] = (len(self.rows), figures)
            self.rows.append(_case(record, figures))
        return self.cases[record["case"]]


def page_data(summary: Summary) -> Record:
    """The data of the page, fit for JSON."""
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


def _counts_of(cell: Cell, names: list[str], once: _Once) -> Record:
    return {
        "counts": {outcome: cell.counts[outcome] for outcome in OUTCOMES if cell.counts[outcome]},
        "unexpected": cell.unexpected,
        "new": cell.new,
        "known": {names.index(name): count for name, count in cell.known.items()},
        "reasons": {once.text(reason): count for reason, count in cell.reasons.items()},
    }


def _example(record: Record, names: list[str], once: _Once) -> Record:
    """One result; what belongs to its case is kept once for all peers."""
    name = record["divergence"]
    case, figures = once.case(record)
    own = figures.with_own(record.get("got"))
    return {
        "case": case,
        "outcome": record["outcome"],
        "unexpected": record["unexpected"],
        "new": record["new"],
        "divergence": names.index(name) if name in names else None,
        "detail": once.text(record["detail"]),
        "got": once.text(own.text(record.get("got"))),
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


UNEXPECTED_SHOWN = 50
UNEXPECTED_OPEN = 3
SHARE = "share"  # the column behind "agree"


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
        "problems": _stale(summary)
        + _surprises(summary, summary.unexpected, "unexpected", "Unexpected")
        + _new(summary),
        "known": _known(summary),
        "rules": _rules(),
        "modes": _modes(),
        # Inside a script element only "<" could end it.
        "data": json.dumps(page_data(summary), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "style": _part("page.css"),
        "script": _part("page.js") + "\n" + _part("cases.js"),
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
    texts.insert(2, _percent(agree, run))
    cells = "".join(f'<td class="number" data-title="{title}">{text}</td>' for title, text in zip(titles, texts))
    versions = escape(summary.versions(peer))
    return f'<tr><th scope="row">{escape(summary.title(peer))}</th><td class="versions">{versions}</td>{cells}</tr>'


def _percent(part: int, whole: int) -> str:
    """A share with one digit, rounded down: only all is 100 %."""
    return "–" if not whole else "100 %" if part == whole else f"{1000 * part // whole / 10:.1f} %"


def _absent(summary: Summary) -> str:
    rows = [f"<li><b>{escape(row['name'])}</b>: {escape(row['reason'])}</li>" for row in summary.header["absent"]]
    return f"<h3>Absent: nothing is said of these</h3><ul>{''.join(rows)}</ul>" if rows else ""


def _stale(summary: Summary) -> str:
    names = summary.footer["stale"]
    if not names:
        return ""
    entries = "".join(_entry(summary, name, summary.divergence(name).get("peer") or "") for name in names)
    return f'<section aria-labelledby="stale"><h2 id="stale">Listed, but no longer seen</h2>{entries}</section>'


def _known(summary: Summary) -> str:
    """The divergences that were seen, closed, by the implementation that has them."""
    if not summary.seen:
        return "<p>None were seen.</p>"
    groups = []
    for number, peer in enumerate(summary.peers):
        own = [(name, count) for (name, other), count in summary.seen.most_common() if other == peer]
        if not own:
            continue
        entries = "".join(_entry(summary, name, _results(count)) for name, count in own)
        about = f"{len(own)} {'divergence' if len(own) == 1 else 'divergences'}, {_results(sum(n for _, n in own))}"
        # The script hides those of other implementations than the chosen one.
        groups.append(
            f'<details class="known" data-peer="{number}"><summary><b>{escape(summary.title(peer))}</b> '
            f"{about}</summary>"
            f"{entries}</details>"
        )
    return "".join(groups)


def _results(count: int) -> str:
    return f"{count:,} {'result' if count == 1 else 'results'}"


def _entry(summary: Summary, name: str, where: str) -> str:
    """One divergence: what it is, and then where it was seen and what it is called."""
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
    """What implementations do in versions that the divergences were not recorded with."""
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
    """A section of results in plain text, a few of them open; the matrix has them by cell."""
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


def _rules() -> str:
    rows = [f'<dt id="rule-{label}">{label}</dt><dd>{escape(text)}</dd>' for label, text in RULES.items()]
    return f'<dl class="rules">{"".join(rows)}</dl>'


def _modes() -> str:
    """A row of numbers for each mode."""
    rows = []
    for name, elements in shown_modes():
        row = " ".join(f"<b>{text}</b>" if own else text for text, own in elements)
        rows.append(f'<tr><th scope="row">{name}</th><td><code>{row}</code></td></tr>')
    return f'<table class="modes"><tbody>{"".join(rows)}</tbody></table>'
