"""The page of a conformance run as a person meets it, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium
from conformance_records import DIVERGENCE, NAMES, result, whole, written

from padops.conformance import cases
from padops.conformance.divergences import Divergence
from padops.conformance.features import expect
from padops.conformance.render import write_all

PEERS = ["numpy", "ort-builtin", "tract"]
REFUSED = "table/Pad_18/{}/float/2/both/plain/none/absent.flat/dynamic/0"
KNOWN = [Divergence("numpy-far", "differ", "P2", "only one period", "numpy", ">=1,<2"),
         Divergence("tract-dies", "crash", "P1", "it ends", "tract", ">=1,<2", "https://a.org")]  # fmt: skip
RESULTS = [
    *[result(NAMES[0], "numpy")] * 199,
    result(NAMES[0], "numpy", "differ", "numpy-far"),
    result(NAMES[0], "numpy", "unsupported", detail="no axes"),
    *[result(NAMES[0], "tract")] * 2,
    result(NAMES[0], "tract", "crash", "tract-dies", detail="signal 11"),
    result(NAMES[0], "ort-builtin", "differ", detail="2 of 9 elements differ"),
    *(result(REFUSED.format(mode), peer) for peer in PEERS[:2] for mode in ("wrap", "symmetric")),
    *[result(REFUSED.format("symmetric"), "tract")] * 2,
    result(REFUSED.format("wrap"), "tract", "differ", "tract-dies"),
    *(result(f"specification/Pad_{n}/example-{m}/float", "numpy") for n in (11, 13, 18, 19, 21) for m in (1, 2, 3)),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser
        assert browser.complaints == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {name: tmp_path_factory.mktemp("page") for name in ("good", "bad", "long")}
    written(folders["good"], good=True)
    written(folders["bad"], good=False)
    peers = [{"name": peer, "versions": {peer: "1.2"}} for peer in PEERS]
    write_all(whole(RESULTS, peers, exit=1), folders["long"], KNOWN)
    return {name: folder / "report.html" for name, folder in folders.items()}


@pytest.fixture
def bad(browser: Chromium, pages: dict[str, Path]) -> Chromium:
    browser.look(1600, 1000)
    browser.open(pages["bad"])
    return browser


def cells(browser: Chromium, row: str = "") -> dict[str, str]:
    """Signs of the cells of the matrix, by what a screen reader says."""
    script = "[...document.querySelectorAll('#matrix button')].map(b => [b.ariaLabel, b.textContent])"
    return {label: sign for label, sign in browser.evaluate(script) if row in label}


def choose(browser: Chromium, **filters: str) -> None:
    for name, text in filters.items():
        browser.evaluate(
            f"(() => {{ const s = document.getElementById('{name}');"
            f"s.value = [...s.options].find(o => o.text === {json.dumps(text)}).value;"
            "s.dispatchEvent(new Event('change')); })()"
        )


def focused(browser: Chromium) -> str:
    return browser.evaluate("(a => a.ariaLabel || a.id || a.textContent.slice(0, 30))(document.activeElement)")


def test_every_cell(browser: Chromium, bad: Chromium, pages: dict[str, Path]) -> None:
    assert cells(bad) == {
        "padops-native, Pad_18 reflect: 1 unexpected; 1 of 2 agree; 2 results": "!",
        "ort-builtin, Pad_18 reflect: agrees; 1 not run; 2 results": "✓",
        "ort-builtin@/old/python, Pad_18 reflect: 0 of 1 agree; known divergences: crash; 1 result": "0†",
        "padops-native, Pad_19 wrap: agrees; 1 result": "✓",
        "ort-builtin, Pad_19 wrap: 0 of 1 agree; known divergences: other values; 1 result": "0",
        "padops-native, OpenVINOPad_12 symmetric: agrees; 1 result": "✓",
        "ort-builtin@/old/python, OpenVINOPad_12 symmetric: skipped; 1 result": "s",
    }
    assert bad.evaluate("document.querySelector('.verdict').textContent") == "not as expected"
    bad.evaluate("document.querySelector('#matrix button.share:not(.crash)').click()")
    text = bad.evaluate("document.getElementById('cases-body').innerText")
    assert "ort-<far>" in text and DIVERGENCE.reason in text and "differ, crash" in text
    assert bad.evaluate("document.querySelector('#cases-body a[rel]').href") == DIVERGENCE.link
    browser.open(pages["good"])
    assert browser.evaluate("document.querySelector('.verdict').textContent") == "as expected"
    assert browser.evaluate("document.querySelectorAll('#matrix .unexpected').length") == 0


def test_a_cell_shows_the_share_that_agrees(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.look(1400, 900)
    browser.open(pages["long"])
    assert cells(browser, "Pad_18 reflect") == {
        # 200 of 201 is not 100 %.
        "numpy, Pad_18 reflect: 200 of 201 agree; known divergences: other values; 1 not run; 202 results": "99",
        "ort-builtin, Pad_18 reflect: 1 unexpected; 0 of 1 agree; 1 result": "!",
        "tract, Pad_18 reflect: 2 of 3 agree; known divergences: crash; 3 results": "66†",
    }
    share = "[...document.querySelectorAll('#matrix .share')].map(b => getComputedStyle(b).getPropertyValue('--share'))"
    assert [round(float(text.strip("%"))) for text in browser.evaluate(share)] == [100, 67, 67]
    row = "Pad_18 other modes, which must be refused: "
    assert {label.replace(row, ""): sign for label, sign in cells(browser, row).items()} == {
        "numpy, refused; 2 results": "✓",
        "ort-builtin, refused; 2 results": "✓",
        "tract, 2 of 3 refused; known divergences: other values; 3 results": "66",
    }
    assert cells(browser, "Pad_18 wrap") == cells(browser, "Pad_18 symmetric") == {}
    choose(browser, outcome="crash")  # empty rows and columns are left out
    heads = browser.evaluate("[...document.querySelectorAll('#matrix th')].map(h => h.textContent)")
    assert heads == ["operator, mode", "tract", "Pad_18 reflect"]
    assert cells(browser) == {"tract, Pad_18 reflect: 1 crash; 3 results": "1"}


def test_filters(bad: Chromium) -> None:
    choose(bad, peer="ort-builtin")
    assert set(cells(bad)) == {
        "ort-builtin, float, Pad_18 reflect: agrees; 1 result",
        "ort-builtin, int8, Pad_18 reflect: not offered; 1 result",
        "ort-builtin, float, Pad_19 wrap: 0 of 1 agree; known divergences: other values; 1 result",
    }
    choose(bad, outcome="unsupported")
    assert list(cells(bad).values()) == ["1"]
    choose(bad, peer="padops-native", outcome="crash")
    assert cells(bad) == {}
    assert bad.evaluate("document.getElementById('shown').textContent") == "No cell has such results."
    choose(bad, peer="all", dtype="int8", outcome="all")
    assert sorted(cells(bad).values()) == ["–", "✓"]


def test_the_keyboard_alone(bad: Chromium) -> None:
    found: list[str] = [""]
    while len(found) < 40 and ", Pad_18" not in found[-1]:
        bad.press("Tab")
        found.append(focused(bad))
    places = list(map(found.index, ("Skip to the matrix", "peer", "dtype", "outcome", "What the signs mean")))
    assert places == sorted(places) and sum(", Pad_" in stop for stop in found) == 1, "one stop for the whole matrix"
    assert found[-1] == "padops-native, Pad_18 reflect: 1 unexpected; 1 of 2 agree; 2 results"
    outline = bad.evaluate("getComputedStyle(document.activeElement).outline")
    assert "solid" in outline and "3px" in outline
    first, second, third = "padops-native", "ort-builtin", "ort-builtin@/old/python"
    for key, name in (
        ("ArrowRight", f"{second}, Pad_18"), ("ArrowDown", f"{second}, Pad_19"), ("ArrowUp", f"{second}, Pad_18"),
        ("End", f"{third}, Pad_18"), ("ArrowDown", f"{third}, OpenVINO"), ("ArrowLeft", first),
        ("ArrowUp", f"{first}, Pad_19"), ("ArrowUp", f"{first}, Pad_18"),
    ):  # fmt: skip
        bad.press(key)
        assert focused(bad).startswith(name), key
    bad.press("Enter")
    assert bad.evaluate("document.getElementById('cases').open") is True and focused(bad) == "close"
    bad.press("Tab")
    assert bad.evaluate("document.activeElement.tagName") == "SUMMARY"
    bad.press("Enter")
    text = bad.evaluate("document.querySelector('#cases-body details').innerText")
    data = text[text.index("data\n") : text.index("pads\n")]
    numbers = re.sub(r"[\[\]]", " ", "\n".join(data.splitlines()[2:])).split()
    assert list(map(float, numbers)) == cases.find_case(NAMES[0]).data.reshape(-1).astype(float).tolist()
    marks = bad.evaluate("[...document.querySelectorAll('#cases-body mark')].map(m => m.textContent)")
    assert list(map(float, marks)) == [float(expect(cases.find_case(NAMES[0])).output.flat[-1]), 1234.5]
    parts = [NAMES[0], "</script><b>x</b>", "data\n", "expected\n", "got\n", "1234.5", "rules\n", "reproduce\n"]
    places = list(map(text.index, parts))
    assert places == sorted(places) and 'mode = "reflect"' in text
    bad.press("Escape")
    assert bad.evaluate("document.getElementById('cases').open") is False
    assert focused(bad).startswith("padops-native, Pad_18")


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1600, True)])
def test_the_page_is_readable(bad: Chromium, width: int, dark: bool) -> None:
    bad.look(width, 900, dark)
    assert bad.evaluate("document.documentElement.scrollWidth") == width  # nothing scrolls the page sideways
    back = bad.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (luminance(back) < 0.1) is dark
    pairs = bad.evaluate(
        "[...document.querySelectorAll('p, h2, td, button, .sign, summary')].filter(e => e.innerText.trim()).map(e => {"
        "let b = e; while (b && getComputedStyle(b).backgroundColor === 'rgba(0, 0, 0, 0)') b = b.parentElement;"
        "return [getComputedStyle(e).color, getComputedStyle(b || document.body).backgroundColor, e.innerText] })"
    )
    assert len(pairs) > 20
    for front, behind, text in pairs:
        high, low = sorted((luminance(front), luminance(behind)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, text  # WCAG 2, AA
    heights = "[...document.querySelectorAll('#matrix button')].map(b => b.getBoundingClientRect().height)"
    assert min(bad.evaluate(heights)) >= 24  # WCAG 2.2, AA
