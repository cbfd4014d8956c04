"""docs/beside.md has the place where the site shows the rules of ``padops/rules/``; each rule has a source."""

from __future__ import annotations

import sys
from pathlib import Path

from padops.runtime.provider_rules import CONDITIONS, KNOWN_PROVIDERS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import site_pages

ROOT = Path(__file__).resolve().parent.parent


def test_the_site_shows_every_rule_and_condition() -> None:
    page = (ROOT / "docs" / "beside.md").read_text(encoding="utf-8")
    shown = site_pages.on_page_markdown(page)
    assert page.count(site_pages.PROVIDERS) == 1 and site_pages.PROVIDERS not in shown
    for row in KNOWN_PROVIDERS:
        rules = "; ".join(map(site_pages.rule_text, row.rules))
        assert f"| {row.name.removesuffix('ExecutionProvider')} | {row.version} | {rules} |" in shown
    assert [name for name in CONDITIONS if f"`{name}`:" not in " ".join(shown.split())] == []


def test_every_rule_has_a_source() -> None:
    for row in KNOWN_PROVIDERS:
        for rule in row.rules:
            kind, _, where = rule.source.partition(": ")
            assert where and kind == ("read" if row.version == "not run" else "measured"), (row.name, rule)
