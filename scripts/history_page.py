"""Writes a history as Markdown, with each release's changes, and as a picture."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from history_measure import AGREES, NOT_RUN

from padops.conformance.divergences import KNOWN
from padops.conformance.features import WRONG

HEAD = "| release | cases run | agree | wrong output | error | dies | not run |\n|---|--:|--:|--:|--:|--:|--:|\n"
WORDS = {
    "agree": "right", "differ": "wrong output", "error": "error", "crash": "dies", "not run": "not run", "runs": "runs",
}  # fmt: skip
_WIDTH, _LEFT, _PANEL, _PLOT, _TOP = 480, 14, 70, 456, 50  # as narrow as a phone, for readable letters
_LINE, _FAINT = "#2f5f9e", "#ddd"


def meaning(one: dict[str, Any], letter: str) -> tuple[str, str]:
    """Returns the outcome and the class of a letter; the class is "" if nothing is wrong."""
    if letter in (AGREES, NOT_RUN):
        return ("agree" if letter == AGREES else "not run"), ""
    outcome, _, name = one["classes"][letter].partition(" ")
    return outcome, name


def counts(one: dict[str, Any]) -> Counter[str]:
    """Counts the answers of a release by outcome."""
    found: Counter[str] = Counter()
    for letter, many in Counter("".join(one["cells"].values())).items():
        found[meaning(one, letter)[0]] += many
    return found


def by_package(told: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Returns the releases of each package, in their order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in told:
        found.setdefault(one["package"], []).append(one)
    return found


@dataclass(frozen=True)
class Change:
    """Cases whose answers changed from one release to the next, all in the same way."""

    version: str  # the release
    before: str  # the outcome in the release before: "agree", "differ", "error", "crash", "not run" or "runs"
    after: str  # the outcome in this release
    what: str  # the id of the known divergence before or after, or the mode; for cases that were not run, their modes
    operators: tuple[str, ...]  # the operators of the cases
    count: int  # the number of cases


def changes(told: Sequence[dict[str, Any]]) -> list[Change]:
    """Returns the changes from release to release of one package, whose releases come in order.

    Two releases that ran different cases are not compared.
    """
    found = []
    for before, after in zip(told, told[1:]):
        if before["cases"] == after["cases"]:
            found += _between(before, after)
    return found


def _between(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    cases: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    modes: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for cell, letters in after["cells"].items():
        operator, _, mode = cell.partition(" ")
        for old, new in zip(before["cells"].get(cell, ""), letters):
            was, named = meaning(before, old)
            now, name = meaning(after, new)
            if was == now:
                continue
            key = was, now, name or named
            if "not run" in (was, now):  # a case that did not run is not a change
                key = ("not run", "runs", "") if was == "not run" else ("runs", "not run", "")
            cases[key].append(operator)
            modes[key].add(mode)
    found = []
    for (was, now, what), of in sorted(cases.items()):
        named = what or ", ".join(sorted(modes[was, now, what]))
        found.append(Change(after["version"], was, now, named, tuple(dict.fromkeys(of)), len(of)))
    return found


def run_of(one: dict[str, Any]) -> int:
    """Returns the number of cases that a release ran."""
    return sum(counts(one)[outcome] for outcome in ("agree", *WRONG))


def agreement(one: dict[str, Any]) -> float:
    """Returns the share of agreement among the cases that a release ran."""
    return counts(one)["agree"] / max(run_of(one), 1)


def markdown(told: Sequence[dict[str, Any]]) -> str:
    """Returns Markdown with the counts and changes of each package's releases."""
    parts = []
    for package, releases in by_package(told).items():
        ran = [one for one in releases if "absent" not in one]
        parts.append(f"### {package}\n\n{HEAD}{''.join(_row(one) for one in releases)}")
        if lines := list(_changes(changes(ran))):
            parts.append("".join(lines))
    return "\n".join(parts)


def summary(told: Sequence[dict[str, Any]]) -> str:
    """Returns the first and the last release of each package, with their shares of agreement."""
    rows = []
    for package, releases in by_package(told).items():
        ran = [one for one in releases if "absent" not in one]
        ends = " | ".join(f"{one['version']}: {agreement(one):.1%}" for one in (ran[0], ran[-1]))
        rows.append(f"| {package} | {len(ran)} | {ends} |\n")
    return "| package | releases | the oldest agrees in | the newest agrees in |\n|---|--:|--:|--:|\n" + "".join(rows)


def _row(one: dict[str, Any]) -> str:
    if "absent" in one:
        return f"| {one['version']} | does not run here | | | | | |\n"
    found = counts(one)
    share = f"{found['agree']:,} ({agreement(one):.1%})"
    others = " | ".join(f"{found[outcome]:,}" for outcome in (*WRONG, "not run"))
    return f"| {one['version']} | {run_of(one):,} | {share} | {others} |\n"


def _changes(found: Iterable[Change]) -> Iterator[str]:
    reasons, version = {row.id: row.reason for row in KNOWN}, ""
    for change in found:
        if change.version != version:
            version = change.version
            yield f"- **{version}**\n"
        cases = f"{change.count} case{'s' * (change.count > 1)} of {', '.join(change.operators)}"
        what = escape(reasons.get(change.what, f"mode {change.what}"), quote=False)
        yield f"    - {WORDS[change.before]} → **{WORDS[change.after]}**: {what} ({cases})\n"


def svg(told: Sequence[dict[str, Any]]) -> str:
    """Returns an SVG with a line for each package: the share of agreement, release by release, from 0 (bottom) to 1."""
    packages = [
        (name, ran)
        for name, releases in by_package(told).items()
        if len(ran := [one for one in releases if "absent" not in one]) > 1
    ]
    height = _TOP + _PANEL * len(packages) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="18" font-size="13" fill="#111">Agreement with the rules, of the cases that a release '
        "runs</text>",
        f'<text x="{_LEFT}" y="34" fill="#333">each line from 0 to 100 %; one point a minor release, the oldest at '
        "the left</text>",
    ]
    for i, (name, ran) in enumerate(packages):
        parts += _panel(name, ran, _TOP + _PANEL * i)
    return "\n".join([*parts, "</svg>", ""])


def _panel(name: str, ran: Sequence[dict[str, Any]], top: int) -> list[str]:
    bottom, step = top + _PANEL - 20, (_PLOT - 60) / (len(ran) - 1)
    points = [(_LEFT + step * i, bottom - agreement(one) * (_PANEL - 44)) for i, one in enumerate(ran)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts = [
        f'<text x="{_LEFT}" y="{top + 12}" font-weight="bold" fill="#111">{escape(name)}</text>',
        f'<line x1="{_LEFT}" y1="{bottom}" x2="{points[-1][0]:.1f}" y2="{bottom}" stroke="{_FAINT}"/>',
        f'<polyline points="{path}" fill="none" stroke="{_LINE}" stroke-width="1.5"/>',
    ]
    for (x, y), one in zip(points, ran):
        tip = f"{one['package']} {one['version']}: {agreement(one):.1%} of {run_of(one):,}"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{_LINE}"><title>{escape(tip)}</title></circle>')
    (first, _), (last, y) = points[0], points[-1]
    parts.append(f'<text x="{first:.1f}" y="{bottom + 13}" font-size="11" fill="#333">{ran[0]["version"]}</text>')
    parts.append(
        f'<text x="{last:.1f}" y="{bottom + 13}" text-anchor="end" font-size="11" '
        f'fill="#333">{ran[-1]["version"]}</text>'
    )
    parts.append(f'<text x="{last + 8:.1f}" y="{y + 4:.1f}" fill="#111">{agreement(ran[-1]):.1%}</text>')
    return parts
