"""The page of a conformance run as a person meets it, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium
from conformance_records import DIVERGENCE, NAMES, report, written

from padops.conformance.render import write_all


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser
        assert browser.complaints == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    folders = {good: tmp_path_factory.mktemp("page") for good in (True, False)}
    for good, folder in folders.items():
        written(folder, good)
    return {good: folder / "report.html" for good, folder in folders.items()}


def cells(browser: Chromium) -> dict[str, str]:
    """Return the signs that the matrix shows, by label."""
    script = (
        "Object.fromEntries([...document.querySelectorAll('#matrix button')].map(b => [b.ariaLabel, b.textContent]))"
    )
    return browser.evaluate(script)


def choose(browser: Chromium, **filters: str) -> None:
    for name, text in filters.items():
        browser.evaluate(
            f"(() => {{ const s = document.getElementById('{name}');"
            f"s.value = [...s.options].find(o => o.text === {json.dumps(text)}).value;"
            "s.dispatchEvent(new Event('change')); })()"
        )


def test_page_shows_every_cell(browser: Chromium, pages: dict[bool, Path]) -> None:
    browser.look(1600, 1000)
    browser.open(pages[False])
    assert cells(browser) == {
        "padops-native, Pad_18 reflect: 1 unexpected; 1 of 2 agree; 2 results": "!",
        "ort-builtin, Pad_18 reflect: agrees; 1 not run; 2 results": "✓",
        "ort-builtin@/old/python, Pad_18 reflect: 0 of 1 agree; known divergences: crash; 1 result": "0†",
        "padops-native, Pad_19 wrap: agrees; 1 result": "✓",
        "ort-builtin, Pad_19 wrap: 0 of 1 agree; known divergences: other values; 1 result": "0",
        "padops-native, OpenVINOPad_12 symmetric: agrees; 1 result": "✓",
        "ort-builtin@/old/python, OpenVINOPad_12 symmetric: skipped; 1 result": "s",
    }
    assert browser.evaluate("document.querySelector('.verdict').textContent") == "not as expected"
    browser.open(pages[True])
    assert browser.evaluate("document.querySelector('.verdict').textContent") == "as expected"
    assert browser.evaluate("document.querySelectorAll('#matrix .unexpected').length") == 0


def test_page_filters(browser: Chromium, pages: dict[bool, Path]) -> None:
    browser.open(pages[False])
    choose(browser, peer="ort-builtin")
    assert set(cells(browser)) == {
        "ort-builtin, float, Pad_18 reflect: agrees; 1 result",
        "ort-builtin, int8, Pad_18 reflect: not offered; 1 result",
        "ort-builtin, float, Pad_19 wrap: 0 of 1 agree; known divergences: other values; 1 result",
    }
    choose(browser, outcome="unsupported")
    assert list(cells(browser).values()) == ["1"]
    choose(browser, peer="padops-native", outcome="crash")
    assert cells(browser) == {}
    assert browser.evaluate("document.getElementById('shown').textContent") == "No cell has such results."
    choose(browser, peer="all", dtype="int8", outcome="all")
    assert sorted(cells(browser).values()) == ["–", "✓"]


def focused(browser: Chromium) -> str:
    return browser.evaluate(
        "document.activeElement.ariaLabel || document.activeElement.id || document.activeElement.tagName"
    )


def test_page_with_the_keyboard_alone(browser: Chromium, pages: dict[bool, Path]) -> None:
    browser.open(pages[False])
    stops = []
    for _ in range(40):
        browser.press("Tab")
        stops.append(focused(browser))
        if "Pad_18" in stops[-1]:
            break
    assert stops[-1] == "padops-native, Pad_18 reflect: 1 unexpected; 1 of 2 agree; 2 results"
    assert {"peer", "dtype", "outcome"} <= set(stops)
    outline = browser.evaluate("getComputedStyle(document.activeElement).outline")
    assert "solid" in outline and "3px" in outline
    for key, name in (
        ("ArrowRight", "ort-builtin, Pad_18"), ("ArrowDown", "ort-builtin, Pad_19"), ("ArrowUp", "ort-builtin, Pad_18"),
        ("End", "ort-builtin@/old/python, Pad_18"), ("ArrowDown", "ort-builtin@/old/python, OpenVINO"),
        ("ArrowLeft", "padops-native"),
        ("ArrowUp", "padops-native, Pad_19"), ("ArrowUp", "padops-native, Pad_18"),
    ):  # fmt: skip
        browser.press(key)
        assert focused(browser).startswith(name), key
    browser.press("Enter")
    assert browser.evaluate("document.getElementById('cases').open") is True
    assert focused(browser) == "close"
    browser.press("Tab")
    assert focused(browser) == "SUMMARY"
    browser.press("Enter")
    text = browser.evaluate("document.getElementById('cases').innerText")
    for part in (
        NAMES[0],
        "Unexpected",
        "</script><b>x</b>",
        'mode = "reflect"',
        "data",
        "1234.5",
        "expected",
        "reproduce",
    ):
        assert part in text
    assert browser.evaluate("[...document.querySelectorAll('mark')].map(m => m.textContent)") == ["1234.5"]
    browser.press("Escape")
    assert browser.evaluate("document.getElementById('cases').open") is False
    assert focused(browser).startswith("padops-native, Pad_18")


def test_page_gives_a_divergence_its_reason(browser: Chromium, pages: dict[bool, Path]) -> None:
    browser.open(pages[False])
    browser.evaluate("document.querySelector('#matrix button.share:not(.crash)').click()")
    text = browser.evaluate("document.getElementById('cases-body').innerText")
    assert "ort-<far>" in text and DIVERGENCE["reason"] in text and "differ, crash" in text
    link = browser.evaluate("document.querySelector('#cases-body a[rel]').href")
    assert link == DIVERGENCE["link"]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1600])
def test_page_is_readable(browser: Chromium, pages: dict[bool, Path], width: int, dark: bool, tmp_path: Path) -> None:
    browser.look(width, 900, dark)
    browser.open(pages[False])
    assert browser.evaluate("document.documentElement.scrollWidth") == width  # nothing scrolls the page sideways
    back = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (luminance(back) < 0.1) is dark
    pairs = browser.evaluate(
        "[...document.querySelectorAll('p, h2, td, button, .sign, summary')].filter(e => e.innerText.trim()).map(e => {"
        "let b = e; while (b && getComputedStyle(b).backgroundColor === 'rgba(0, 0, 0, 0)') b = b.parentElement;"
        "return [getComputedStyle(e).color, getComputedStyle(b || document.body).backgroundColor, e.innerText] })"
    )
    assert len(pairs) > 20
    for front, behind, text in pairs:
        high, low = sorted((luminance(front), luminance(behind)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, text  # WCAG 2, AA
    sizes = browser.evaluate(
        "[...document.querySelectorAll('#matrix button')].map(b => b.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 24  # WCAG 2.2, AA
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes()[:4] == b"\x89PNG"


def test_page_stays_light(tmp_path: Path) -> None:
    made = report(good=True)
    many = [*made.results, *(made.results[6] for _ in range(20_000))]
    write_all(made.header, many, {**made.footer, "results": len(many)}, [DIVERGENCE], tmp_path)
    assert (tmp_path / "report.html").stat().st_size < 60_000
    assert "20,001" in (tmp_path / "report.html").read_text(encoding="utf-8")
