"""A hook of mkdocs: tables of the rules of providers, links of rules, and tables that fit on a phone.

The style sheet stacks the rows of a table that has ``data-stacked``: each cell shows its column's heading, from
``data-label``. ``docs/style.css`` has the widths.
"""

import html as markup
import re
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from padops.runtime.provider_rules import CONDITIONS, KNOWN_PROVIDERS, ProviderRule

ROOT = Path(__file__).resolve().parent.parent
STACKED = 4  # a table with this number of columns does not fit on a phone
TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
HEADING = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<td\b([^>]*)>(.*?)</td>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
OPTION = re.compile(r"<code>(--?[^\s<]+)")
NAME = re.compile(r"(?<=<code>)[\w.]+(?=[<(])")
PROVIDERS = "<!-- providers: scripts/site_pages.py writes the tables of the site -->\n"
GLUE = "\0"  # stands for a space at which no line ends
# A rule's name outside tags, links, code and headings; the first four alternatives are skipped.
RULE = re.compile(r"<(a|code|pre|h\d)\b.*?</\1>|<[^>]*>|\b([PS]\d+)\b", re.DOTALL)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Returns the page with the tables of the rules of providers."""
    return markdown.replace(PROVIDERS, provider_tables())


def on_page_content(html: str, **_: object) -> str:
    """Returns the page with labels in wide tables, unbroken options, and dotted names that break after their dots."""
    html = TABLE.sub(lambda found: _labelled(found[1]), html)
    html = OPTION.sub(r'<code><span class="option">\1</span>', html)
    anchors = rule_anchors()
    html = RULE.sub(lambda found: _linked(found, anchors), html)
    return NAME.sub(lambda found: found[0].replace(".", ".<wbr>"), html)


def _labelled(rows: str) -> str:
    """Returns a table; if it is wide, each cell has its column's heading."""
    headings = [markup.unescape(TAG.sub("", heading)).strip() for heading in HEADING.findall(rows)]
    if len(headings) < STACKED:
        return f"<table>{rows}</table>"

    def label(row: re.Match) -> str:
        left = iter(headings)

        def made(cell: re.Match) -> str:
            return f'<td data-label="{markup.escape(next(left, ""))}"{cell[1]}><div>{cell[2]}</div></td>'

        return CELL.sub(made, row[0])

    return f"<table data-stacked>{ROW.sub(label, rows)}</table>"


def rule_anchors() -> dict[str, str]:
    """Returns the anchor of each rule of docs/semantics.md, by the rule's name."""
    titles = re.findall(r"^### (([PS]\d+) .*)$", (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8"), re.M)
    return {name: re.sub(r"[^a-z0-9]+", "-", title.lower()) for title, name in titles}


def _linked(found: re.Match, anchors: dict[str, str]) -> str:
    name = found[2]
    return f'<a href="semantics.html#{anchors[name]}">{name}</a>' if name in anchors else found[0]


def providers_table() -> str:
    """Returns a Markdown table with the rules of each provider."""
    head = "| provider | rules of | Pads that it does not run correctly, or leaves to the next |\n|---|---|---|\n"
    return head + "".join(
        f"| {row.name.removesuffix('ExecutionProvider')} | {row.version} | {'; '.join(map(rule_text, row.rules))} |\n"
        for row in KNOWN_PROVIDERS
    )


def provider_tables() -> str:
    """Returns the rules of each provider, and the meaning of their words."""
    about = "On an axis, n is the number of elements, and m the number that a crop leaves. The terms mean:"
    return f"{providers_table()}\n{about}\n\n{terms()}"


def terms() -> str:
    """Returns the conditions by subject, with their meaning."""
    parts = []
    for of in dict.fromkeys(row["of"] for row in CONDITIONS.values()):
        rows = [(name.replace(" ", GLUE), row["holds"]) for name, row in CONDITIONS.items() if row["of"] == of]
        meant = " ".join(f"`{name}`: {holds}." for name, holds in rows)
        parts.append(textwrap.fill(f"- **{of.capitalize()}.** {meant}", 120, subsequent_indent="  ").replace(GLUE, " "))
    return "\n".join(parts) + "\n"


def rule_text(rule: ProviderRule) -> str:
    """Returns one rule in a few words."""
    said = CONDITIONS[rule.when].get("said", "")
    what = said.format(limit=rule.limit) if "{limit}" in said else {
        "always": "" if rule.modes else "every Pad",
        "axes beside": "axes among convolutions and the like",
        "other types": f"types but {', '.join(rule.types)}",
    }.get(rule.when, rule.when)  # fmt: skip
    until = f"(until 1.{rule.before - 1})" if rule.before else ""
    plugin = f"(but for plugins from {rule.plugin_before} on)" if rule.plugin_before else ""
    return " ".join(part for part in (f"**{rule.does}**", ", ".join(rule.modes), what, until, plugin) if part)
