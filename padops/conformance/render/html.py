"""The report as one page without network: a matrix of implementations, operators, modes and element types."""

from __future__ import annotations

import json
import re
from html import escape
from importlib import resources

from padops.conformance.render.page_data import page_data
from padops.conformance.render.summary import COLUMNS, Record, Summary
from padops.conformance.render.words import RULES, sentence, shown_modes

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
