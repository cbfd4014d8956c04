"""docs/beside.md: its table and its terms are what the rules say; ``python tests/test_beside_page.py`` writes both."""

from __future__ import annotations

import textwrap
from pathlib import Path

from padops.runtime.provider_rules import CONDITIONS, KNOWN_PROVIDERS, ProviderRule

PAGE = Path(__file__).parent.parent / "docs" / "beside.md"
BEGIN = "<!-- providers: written by tests/test_beside_page.py -->\n"
END = "<!-- /providers -->\n"
GLUE = "\0"  # stands for a space at which no line ends


def providers_table() -> str:
    """Providers × what the rules are of and what they say, in Markdown."""
    head = "| provider | rules of | what it does not run right, or leaves to the next one |\n|---|---|---|\n"
    return head + "".join(
        f"| {row.name.removesuffix('ExecutionProvider')} | {row.version} | {'; '.join(map(rule_text, row.rules))} |\n"
        for row in KNOWN_PROVIDERS
    )


def written() -> str:
    """What the page has from the rules."""
    about = "On an axis, n is the number of elements, and m the number that a crop leaves. The terms mean:"
    return f"{providers_table()}\n{about}\n\n{terms()}"


def terms() -> str:
    """The conditions by what they are of, with what they mean."""
    parts = []
    for of in dict.fromkeys(row["of"] for row in CONDITIONS.values()):
        rows = [(name.replace(" ", GLUE), row["holds"]) for name, row in CONDITIONS.items() if row["of"] == of]
        meant = " ".join(f"`{name}`: {holds}." for name, holds in rows)
        parts.append(textwrap.fill(f"- **{of.capitalize()}.** {meant}", 120, subsequent_indent="  ").replace(GLUE, " "))
    return "\n".join(parts) + "\n"


def rule_text(rule: ProviderRule) -> str:
    """One rule in a few words."""
    said = CONDITIONS[rule.when].get("said", "")
    what = said.format(limit=rule.limit) if "{limit}" in said else {
        "always": "" if rule.modes else "every Pad",
        "axes beside": "axes among convolutions and the like",
        "other types": f"types but {', '.join(rule.types)}",
    }.get(rule.when, rule.when)  # fmt: skip
    until = f"(until 1.{rule.before - 1})" if rule.before else ""
    plugin = f"(but for plugins from {rule.plugin_before} on)" if rule.plugin_before else ""
    return " ".join(part for part in (f"**{rule.does}**", ", ".join(rule.modes), what, until, plugin) if part)


def parts_of(page: str) -> tuple[str, str, str]:
    """The page before what the rules say, that, and the page after it."""
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:begin], page[begin:end], page[end:]


def test_the_page_says_what_the_rules_say() -> None:
    assert parts_of(PAGE.read_text(encoding="utf-8"))[1] == written()


def test_every_rule_has_a_source() -> None:
    for row in KNOWN_PROVIDERS:
        for rule in row.rules:
            kind, _, where = rule.source.partition(": ")
            assert where and kind == ("read" if row.version == "not run" else "measured"), (row.name, rule)


if __name__ == "__main__":
    before, _, after = parts_of(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(before + written() + after, encoding="utf-8")
