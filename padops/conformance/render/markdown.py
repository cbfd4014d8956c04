"""The report for people: what somebody should look at, each peer's results, and the known divergences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from padops.conformance.render.summary import SHOWN, Section, Summary, result_text

URL = ":/?#@!$&'*+,;=%-._~"  # characters that a link need not escape
# Characters with a meaning in Markdown; an underscore inside a word has none.
MARKS = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # a terminal obeys them


def markdown(summary: Summary) -> str:
    """Return the report as one Markdown document."""
    parts = ["# Pad conformance", *map(_cell, summary.head())]
    for section in (*summary.problems(), *summary.peers(), *summary.known()):
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    parts = [f"## {section.title}", *([_cell(section.about)] if section.about else [])]
    if section.rows:
        titles, *rows = section.rows
        parts.append("\n".join(map(_row, [titles, ["---"] * len(titles), *rows])))
    for record in section.results[:SHOWN]:  # as code, where no text is mark-up
        lines = result_text(record).splitlines()
        parts.append("\n".join("    " + CONTROLS.sub("\ufffd", line) for line in lines))
    if more := len(section.results[SHOWN:]):
        parts.append(f"{more:,} more are in the JSONL file.")
    return parts


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: object) -> str:
    """Escape text for running text and tables: one line, no HTML, no mark-up, no bar that ends a cell."""
    line = CONTROLS.sub("\ufffd", " ".join(str(text).split()))
    if line.startswith("https://"):
        return f"<{quote(line, safe=URL)}>"
    return MARKS.sub(r"\\\g<0>", escape(line, quote=False))
