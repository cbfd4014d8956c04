"""The report for people: each peer's results, the known divergences that occurred, and the unexpected results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import quote

from padops.conformance.render.summary import COLUMNS, Record, Summary, array_text, sides

UNEXPECTED_SHOWN = 200
URL = ":/?#@!$&'*+,;=%-._~"  # characters that a link need not escape


def markdown(summary: Summary) -> str:
    """Return the report as one Markdown document."""
    parts = [_head(summary), peer_table(summary), _absent(summary), _known(summary), _stale(summary)]
    parts += [*(["## Unexpected", *_listed(summary.unexpected)] if summary.unexpected else []), _new(summary)]
    return "\n\n".join(part for part in parts if part) + "\n"


def peer_table(summary: Summary) -> str:
    """Make a table by peer: cases run, agree, known divergences, crashes, unexpected, and unsupported cases."""
    rows = []
    for peer in summary.peers:
        numbers = [f"{number:,}" for number in summary.numbers(peer)]
        rows.append([_cell(summary.title(peer)), _cell(summary.versions(peer)), *numbers])
    return _table(("peer", *COLUMNS), rows, numbers_from=2)


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]], numbers_from: int = 99) -> str:
    titles = list(titles)
    rule = ["--:" if i >= numbers_from else "---" for i in range(len(titles))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (titles, rule, *rows))


# Characters with a meaning in Markdown; an underscore inside a word has none.
MARKS = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # a terminal obeys them


def _line(text: object) -> str:
    return CONTROLS.sub("\ufffd", " ".join(str(text).split()))


def _cell(text: object) -> str:
    """Escape text for running text and tables: one line, no HTML, no mark-up, no bar that ends a cell."""
    return MARKS.sub(r"\\\g<0>", escape(_line(text), quote=False))


def _code(text: object) -> str:
    """Format any text as code in running text, where HTML has no effect."""
    line = _line(text) or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if len(fence) > 1 else f"`{line}`"


def _head(summary: Summary) -> str:
    footer = summary.footer
    verdict = summary.verdict.capitalize() if footer["exit"] == 0 else f"**{summary.verdict.capitalize()}**"
    counts = (
        f"{verdict}: {footer['results']:,} results of {len(summary.peers)} peers, {footer['unexpected']:,} unexpected, "
        f"{summary.no_longer_seen()}"
    )
    parts = ["# Pad conformance", counts, _cell(summary.left()), _cell(summary.run() + ".")]
    return "\n\n".join(part for part in parts if part)


def _absent(summary: Summary) -> str:
    rows = [f"- {_cell(row['name'])}: {_cell(row['reason'])}" for row in summary.header["absent"]]
    return "## Absent peers\n\nNothing is said of these.\n\n" + "\n".join(rows) if rows else ""


def _known(summary: Summary) -> str:
    """List the seen divergences by peer."""
    rows = []
    for (name, peer), count in sorted(summary.seen.items(), key=lambda item: item[0][::-1]):
        entry = summary.divergences.get(name, {})
        reason = _cell(entry.get("reason") or "not in the divergence file of this padops")
        link = f" ([upstream]({quote(entry['link'], safe=URL)}))" if entry.get("link") else ""
        texts = [summary.title(peer), name, entry.get("outcome") or "", f"{count:,}", entry.get("rule") or ""]
        rows.append([*map(_cell, texts), reason + link])
    if not rows:
        return ""
    return "## Known divergences\n\n" + _table(("peer", "divergence", "outcome", "cases", "rule", "reason"), rows)


def _stale(summary: Summary) -> str:
    rows = [
        f"- {_code(name)}: {_cell(summary.divergences.get(name, {}).get('reason') or '')}"
        for name in summary.footer["stale"]
    ]
    if not rows:
        return ""
    return "## Listed, but no longer seen\n\nThe divergence file is out of date.\n\n" + "\n".join(rows)


def _new(summary: Summary) -> str:
    """List the behaviour of peers in versions without recorded divergences."""
    versions, gone = summary.not_recorded(), summary.footer["gone"]
    if not versions:
        return ""
    parts = ["## New behaviour", "Of versions that the known divergences were not recorded with; no failure of padops."]
    parts.append("\n".join(f"- {_cell(summary.title(peer))}: {_cell(text)}" for peer, text in versions.items()))
    parts += [f"No longer seen there: {', '.join(map(_code, gone))}."] if gone else []
    return "\n\n".join([*parts, *_listed(summary.new)])


def _listed(records: Sequence[Record]) -> list[str]:
    """List results in full, by peer; only the first of very many."""
    shown, parts = records[:UNEXPECTED_SHOWN], []
    for peer, count in Counter(record["peer"] for record in records).items():
        parts.append(f"### {_cell(peer)}: {count:,}")
        parts.extend(_record(record) for record in shown if record["peer"] == peer)
    if len(shown) < len(records):
        parts.append(f"{len(records) - len(shown):,} more are in the JSONL file.")
    return parts


def _record(record: Record) -> str:
    """Format one result in full, with the command that shows it."""
    name = record["divergence"]
    listed = f", listed as {_code(name)}" if name else ""
    rules = f" [{_cell(', '.join(record['rules']))}]" if record["rules"] else ""
    about = f"{_cell(record['outcome'])}{listed}{rules}. {_cell(record['detail'] or '')}"
    lines = [f"- {_code(record['case'])}: {about}".rstrip()]
    if record.get("attributes"):
        lines.append("  - attributes: " + _code(str(record["attributes"])))
    lines += [f"  - input: {_code(array_text(value))}" for value in record.get("inputs", [])]
    lines += [f"  - {name}: {_code(text)}" for name, text in sides(record).items()]
    lines += ["  - " + _code(record["repro"])] if record["repro"] else []
    return "\n".join(lines)
