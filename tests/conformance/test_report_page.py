"""The page of the conformance run as a reader meets it: shares, what must be refused, and cases that can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import Chromium

from padops.conformance import cases
from padops.conformance.arrays import describe
from padops.conformance.case import expect
from padops.conformance.render import write_all

PEERS = ["numpy", "ort-builtin", "tract"]
ID = "table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0"
REFUSED = "table/Pad_18/{}/float/2/both/plain/none/absent.flat/dynamic/0"
KNOWN = [
    {"id": "numpy-far", "peer": "numpy", "outcome": "differ", "reason": "only one period", "rule": "P2"},
    {
        "id": "tract-dies",
        "peer": "tract",
        "outcome": "crash",
        "reason": "it ends",
        "rule": "P1",
        "link": "https://a.org",
    },
]


def result(peer: str, outcome: str = "agree", divergence: str = "", id: str = ID, **more: Any) -> dict[str, Any]:
    case = cases.find_case(id)
    made = {
        "case": id, "origin": case.origin, "op": case.op, "mode": case.mode, "dtype": case.dtype, "rank": case.rank,
        "rules": ["P1", "P2"], "peer": peer, "outcome": outcome, "divergence": divergence or None, "detail": "",
        "unexpected": outcome in ("differ", "error", "crash") and not divergence, "new": False,
        "repro": f"padops conformance repro {id} --peer {peer}",
    }  # fmt: skip
    if outcome != "agree":
        output = expect(case).output
        made["inputs"] = [describe(array) for array in case.arrays()]
        made["attributes"] = dict(case.attributes)
        made["expected"] = {"error": expect(case).message} if output is None else describe(output)
        made["got"] = describe(wrong(output)) if outcome == "differ" and output is not None else None
    return {**made, **more}


def wrong(output: np.ndarray) -> np.ndarray:
    """Two elements are others: the first is the last one, and the last is what no input has."""
    made = output.copy()
    made.flat[0], made.flat[-1] = output.flat[-1], 1234.5
    return made


RESULTS = [
    *[result("numpy")] * 199,
    result("numpy", "differ", "numpy-far"),
    result("numpy", "unsupported", detail="no axes"),
    *[result("tract")] * 2,
    result("tract", "crash", "tract-dies", detail="signal 11"),
    result("ort-builtin", "differ", detail="2 of 9 elements differ"),
    *(result(peer, id=REFUSED.format(mode)) for peer in PEERS[:2] for mode in ("wrap", "symmetric")),
    *(result("tract", id=REFUSED.format("symmetric")) for _ in range(2)),
    result("tract", "differ", "tract-dies", id=REFUSED.format("wrap")),
    *(result("numpy", id=f"specification/Pad_{n}/example-{m}/float") for n in (11, 13, 18, 19, 21, 23, 24, 25)
      for m in (1, 2, 3)),
    *(result("numpy", id=f"specification/OpenVINOPad_12/mixed-{mode}/int32")
      for mode in ("constant", "edge", "symmetric")),
]  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    versions = [{"name": peer, "versions": {peer: "1.2"}} for peer in PEERS]
    header = {"padops": "0.1.0", "level": "quick", "seed": 0, "machine": {"cores": 2}, "peers": versions, "absent": []}
    footer = {"results": len(RESULTS), "unexpected": 1, "stale": [], "new": 0, "gone": [], "strict": False, "exit": 1}
    return write_all(header, RESULTS, footer, KNOWN, tmp_path_factory.mktemp("page"))[-1]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser
        assert browser.complaints == []


def opened(browser: Chromium, page: Path, width: int = 1400) -> Chromium:
    browser.look(width, 900)
    browser.open(page)
    return browser


def labels(browser: Chromium, row: str) -> dict[str, str]:
    """Signs of the cells of one row, by what a screen reader says."""
    script = "[...document.querySelectorAll('#matrix button')].map(b => [b.ariaLabel, b.textContent])"
    return {label: sign for label, sign in browser.evaluate(script) if row in label}


def test_a_cell_shows_the_share_that_agrees(browser: Chromium, page: Path) -> None:
    assert labels(opened(browser, page), "Pad_18 reflect") == {
        # 200 of 201 is not 100 %.
        "numpy, Pad_18 reflect: 200 of 201 agree; known divergences: other values; 1 not run; 202 results": "99",
        "ort-builtin, Pad_18 reflect: 1 unexpected; 0 of 1 agree; 1 result": "!",
        "tract, Pad_18 reflect: 2 of 3 agree; known divergences: crash; 3 results": "66†",
    }
    share = "[...document.querySelectorAll('#matrix .share')].map(b => getComputedStyle(b).getPropertyValue('--share'))"
    assert [round(float(text.strip("%"))) for text in browser.evaluate(share)] == [100, 67, 67]


def test_what_must_be_refused_is_one_row(browser: Chromium, page: Path) -> None:
    row = "Pad_18 other modes, which must be refused: "
    found = labels(opened(browser, page), row)
    assert {label.replace(row, ""): sign for label, sign in found.items()} == {
        "numpy, refused; 2 results": "✓",
        "ort-builtin, refused; 2 results": "✓",
        "tract, 2 of 3 refused; known divergences: other values; 3 results": "66",
    }
    assert labels(browser, "Pad_18 wrap") == labels(browser, "Pad_18 symmetric") == {}


def test_the_introduction(browser: Chromium, page: Path) -> None:
    opened(browser, page)
    text = browser.evaluate("document.getElementById('intro').innerText")
    assert len(re.findall(r"\.(?=\s|$)", text)) == 3
    dead = (
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.querySelector(a.hash)).map(a => a.hash)"
    )
    assert browser.evaluate(dead) == []
    legend = browser.evaluate(
        "[...document.querySelectorAll('#legend li')].map(l => l.innerText.replace(/\\s+/g, ' '))"
    )
    assert "– asked, and it does not offer this" in legend
    assert any(line.startswith("blank: nothing was asked") for line in legend)


def test_a_filter_of_outcomes_counts_and_leaves_empty_rows_and_columns_out(browser: Chromium, page: Path) -> None:
    opened(browser, page)
    choose = "(s => { s.value = 'crash'; s.dispatchEvent(new Event('change')) })(document.getElementById('outcome'))"
    browser.evaluate(choose)
    heads = browser.evaluate("[...document.querySelectorAll('#matrix th')].map(h => h.textContent)")
    assert heads == ["operator, mode", "tract", "Pad_18 reflect"]
    assert labels(browser, "") == {"tract, Pad_18 reflect: 1 crash; 3 results": "1"}


def test_the_keyboard_reaches_everything_in_the_order_of_the_page(browser: Chromium, page: Path) -> None:
    opened(browser, page)
    stops = []
    for _ in range(40):
        browser.press("Tab")
        stops.append(
            browser.evaluate("(a => a.ariaLabel || a.id || a.textContent.slice(0, 30))(document.activeElement)")
        )
    places = [stops.index(name) for name in ("Skip to the matrix", "peer", "outcome")]
    places += [
        stops.index("What the signs mean"),
        next(i for i, stop in enumerate(stops) if stop.startswith("numpy, ")),
    ]
    assert places == sorted(places)
    assert sum("Pad_" in stop for stop in stops[: places[-1]]) == 1, "one stop for the whole matrix"


@pytest.mark.parametrize("width", [400, 1400])
def test_heads_stay_in_sight(browser: Chromium, page: Path, width: int) -> None:
    browser.look(width, 500)
    browser.open(page)
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    matrix = "document.getElementById('matrix')"
    browser.evaluate(f"{matrix}.scrollTo(60, 200)")
    assert browser.evaluate(f"{matrix}.scrollTop") > 100
    place = (
        f"(s => {{ const a = {matrix}.querySelector(s).getBoundingClientRect(), b = {matrix}.getBoundingClientRect();"
    )
    place += "return [Math.round(a.left - b.left), Math.round(a.top - b.top)] })"
    corner, name, head = (browser.evaluate(f"{place}('{s}')") for s in ("thead th", "tbody th", "thead th:last-child"))
    assert max(map(abs, [*corner, name[0], head[1]])) <= 1


def read_case(browser: Chromium, page: Path, cell: str) -> str:
    """The text of the first case behind a cell, opened by keys alone."""
    opened(browser, page)
    browser.evaluate(f"document.querySelector('#matrix [aria-label^=\"{cell}\"]').focus()")
    browser.press("Enter")
    browser.press("Tab")
    while browser.evaluate("document.activeElement.tagName") != "SUMMARY":
        browser.press("Tab")
    browser.press("Enter")
    return browser.evaluate("document.querySelector('#cases-body details').innerText")


def test_a_case_reads_as_its_arrays(browser: Chromium, page: Path) -> None:
    text = read_case(browser, page, "ort-builtin, Pad_18 reflect")
    parts = [ID, "2 of 9 elements differ", "data\n", "expected\n", "got\n", "rules\n", "reproduce\n"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    data = text[text.index("data\n") : text.index("pads\n")]
    numbers = [
        float(token) for line in data.splitlines()[2:] for token in line.replace("[", " ").replace("]", " ").split()
    ]
    assert numbers == cases.find_case(ID).arrays()[0].reshape(-1).astype(float).tolist()
    expected = expect(cases.find_case(ID)).output
    marks = browser.evaluate("[...document.querySelectorAll('#cases-body mark')].map(m => m.textContent)")
    assert list(map(float, marks)) == [float(expected.flat[-1]), 1234.5]
    browser.press("Escape")
    assert browser.evaluate("document.getElementById('cases').open") is False
    assert browser.evaluate("document.activeElement.ariaLabel").startswith("ort-builtin, Pad_18 reflect")
