"""docs/beside.md: its table is what the rules are. ``python tests/test_beside_page.py`` writes it anew."""

from __future__ import annotations

from pathlib import Path

from padops.runtime.provider_rules import KNOWN_PROVIDERS, ProviderRule

PAGE = Path(__file__).parent.parent / "docs" / "beside.md"
BEGIN = "<!-- providers: written by tests/test_beside_page.py -->\n"
END = "<!-- /providers -->\n"


def providers_table() -> str:
    """Providers × what the rules are of and what they say, in Markdown."""
    head = "| provider | rules of | what it does not run right, or leaves to the next one |\n|---|---|---|\n"
    return head + "".join(
        f"| {row.name.removesuffix('ExecutionProvider')} | {row.version} | {'; '.join(map(rule_text, row.rules))} |\n"
        for row in KNOWN_PROVIDERS
    )


def rule_text(rule: ProviderRule) -> str:
    """One rule in a few words."""
    what = {
        "always": "" if rule.modes else "every Pad",
        "rank above": f"rank above {rule.limit}",
        "sizes above": f"some sizes of rank above {rule.limit}",
        "rank below": f"rank below {rule.limit}",
        "above": f"Pad above {rule.limit}",
        "below": f"Pad below {rule.limit}",
        "axes beside": "axes among convolutions and the like",
        "other types": f"types but {', '.join(rule.types)}",
    }.get(rule.when, rule.when)
    until = f"(until 1.{rule.before - 1})" if rule.before else ""
    return " ".join(part for part in (f"**{rule.does}**", ", ".join(rule.modes), what, until) if part)


def test_providers_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)] == providers_table()


def test_every_condition_is_on_the_page() -> None:
    """In the table or explained below it."""
    text = PAGE.read_text(encoding="utf-8")
    below = text[text.index(END) :]
    explained = {rule.when for row in KNOWN_PROVIDERS for rule in row.rules} - {
        "always",
        "axes",
        "crop",
        "above",
        "below",
    }
    explained -= {"other types", "rank above", "sizes above", "rank below"}
    assert [when for when in sorted(explained) if f"`{when}`" not in below] == []


def test_every_rule_has_a_source() -> None:
    for row in KNOWN_PROVIDERS:
        for rule in row.rules:
            kind, _, where = rule.source.partition(": ")
            assert where and kind == ("read" if row.version == "not run" else "measured"), (row.name, rule)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page[: page.index(BEGIN)] + BEGIN + providers_table() + page[page.index(END) :], encoding="utf-8")
