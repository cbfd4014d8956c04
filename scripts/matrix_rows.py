"""The tables of docs/matrix.md: rows that replace those of the same name, in order."""

import re
import sys

import environment

DOCUMENT = environment.ROOT / "docs" / "matrix.md"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
RUNTIMES = ("1.20.1", "1.22.1", "1.24.4", "1.27.0", "newest")
ROWS = ("<!-- matrix -->\n", "<!-- /matrix -->\n")
VERSIONS = ("<!-- versions -->\n", "<!-- /versions -->\n")
HEADS = {
    ROWS: "| cell | models verified | tests passed | result | seconds |\n|---|--:|--:|---|--:|\n",
    VERSIONS: "| environment | versions |\n|---|---|\n",
}


def record_row(name: str, row: str) -> None:
    """Write the row of a cell; "no such Python" never replaces the measured rows of a Python."""
    _record(ROWS, _key(name), row)


def record_versions(place: str, versions: str) -> None:
    """Write what an environment has beside padops."""
    _record(VERSIONS, place, f"| {place} | {versions} |\n")


def _record(markers: tuple, name: str, row: str) -> None:
    before, begin, rest = DOCUMENT.read_text(encoding="utf-8").partition(markers[0])
    table, end, after = rest.partition(markers[1])
    if not (begin and end):
        sys.exit(
            f"error: {DOCUMENT} has not the lines {markers[0].strip()} and {markers[1].strip()}, one after the other"
        )
    rows = {_key(old.split(" | ")[0][2:]): old for old in table.splitlines(keepends=True)[2:]}
    if any(key.startswith(f"{name}, ") for key in rows):
        return
    rows.pop(name.partition(",")[0], None)
    rows[name] = row
    ordered = "".join(rows[key] for key in sorted(rows, key=_in_order))
    DOCUMENT.write_text(before + markers[0] + HEADS[markers] + ordered + markers[1] + after, encoding="utf-8")


def _key(name: str) -> str:
    """The name of a cell, without the version that the newest runtime has."""
    return re.sub(r" \(.*", "", name)


def _in_order(name: str) -> tuple:
    """Python by Python, the lowest first, in the order of the runtimes."""
    python, dependencies, runtime, *_ = [*name.split(", "), "", ""]
    number = RUNTIMES.index(runtime.split()[1]) if runtime else 0
    return PYTHONS.index(python.split()[1]), dependencies, number
