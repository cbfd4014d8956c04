"""What the hook of the documentation's build changes in a page."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def rendered(html: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        return importlib.import_module("site_pages").on_page_content(html, page=None)


def table(columns: int) -> str:
    heads = "".join(f"<th>h{place} <code>&lt;</code></th>" for place in range(columns))
    cells = "".join(f'<td style="text-align: right;">{place}</td>' for place in range(columns))
    return f"<table>\n<thead>\n<tr>\n{heads}</tr>\n</thead>\n<tbody>\n<tr>\n{cells}</tr>\n</tbody>\n</table>"


def test_cells_of_wide_tables_have_their_headings() -> None:
    made = rendered(table(4) + table(4))
    assert made.count("<table data-stacked>") == 2 and made.count("data-label=") == 8
    assert '<td data-label="h3 &lt;" style="text-align: right;"><div>3</div></td>' in made


def test_options_stay_whole_and_names_break_behind_dots() -> None:
    assert rendered("<code>--without-pad</code>") == '<code><span class="option">--without-pad</span></code>'
    assert rendered("<code>--out DIR</code>") == '<code><span class="option">--out</span> DIR</code>'
    assert rendered("<code>padops.InferenceSession</code>") == "<code>padops.<wbr>InferenceSession</code>"
    assert rendered("<code>a.b(x.y)</code>") == "<code>a.<wbr>b(x.y)</code>"
    block = '<pre><span></span><code><a id="x"></a>padops.convert --run</code></pre>'
    assert rendered(block) == block


def test_names_of_rules_are_links() -> None:
    link = '<a href="semantics.html#p7-the-fill">P7</a>'
    assert rendered("<p>by P7, not XP7</p>") == f"<p>by {link}, not XP7</p>"
    for kept in ("<h3>P7 The fill</h3>", "<code>P7</code>", '<a href="x">P7</a>', '<p id="P7">x</p>'):
        assert rendered(kept) == kept
