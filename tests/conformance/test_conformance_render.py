"""The report: the same numbers in every form, and the page as a person meets it, in a real browser."""

from __future__ import annotations

import argparse
import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from chromium import Chromium

from padops.conformance import cases, record
from padops.conformance.arrays import describe
from padops.conformance.case import expect
from padops.conformance.render import FILES, add_show, write_all

NAMES = [
    "table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0",
    "table/Pad_18/reflect/int8/2/both/plain/none/absent.flat/dynamic/0",
    "table/Pad_19/wrap/float/1/far/plain/none/absent.flat/dynamic/0",
    "table/OpenVINOPad_12/symmetric/float/1/both/plain/none/int64.int64/dynamic/0",
]
DIVERGENCE = {
    "id": "ort-<far>", "peer": "ort-builtin", "versions": "", "outcome": ("differ", "crash"), "rule": "P2",
    "reason": "Only one period & no more.", "link": "https://example.org/issue?a=1&b=2",
}  # fmt: skip
STALE = {**DIVERGENCE, "id": "ort-gone", "reason": "Was repaired."}
HEADER = {
    "schema": 1, "padops": "0.1.0", "level": "quick", "seed": 0, "machine": {"system": "Linux", "cores": 2},
    "peers": [
        {"name": "padops-native", "python": "3.11", "versions": {"onnxruntime": "1.31.1"}},
        {"name": "ort-builtin", "python": "3.11", "versions": {"onnxruntime": "1.31.1"}},
        {"name": "ort-builtin@/old/python", "python": "3.11", "versions": {"onnxruntime": "1.20.1"}},
    ],
    "absent": [{"name": "torch", "reason": "No module named 'torch'"}],
}  # fmt: skip


def result(name: str, peer: str, outcome: str = "agree", divergence: str | None = None, **more: Any) -> dict[str, Any]:
    case = cases.find_case(name)
    found = {
        "kind": "result", "case": name, "origin": case.origin, "op": case.op, "mode": case.mode, "dtype": case.dtype,
        "rank": case.rank, "rules": ["P2"], "peer": peer, "outcome": outcome, "divergence": divergence,
        "unexpected": outcome in ("differ", "error", "crash") and divergence is None, "detail": "",
        "repro": f"padops conformance repro {name} --peer {peer}",
    }  # fmt: skip
    if outcome != "agree":
        found["inputs"] = [describe(array) for array in case.arrays()]
        found["attributes"] = dict(case.attributes)
        found["expected"] = describe(expect(case).output)
        found["got"] = None
    if outcome == "differ":
        found["got"] = copy.deepcopy(found["expected"])
        row = found["got"]["values"]
        while isinstance(row[0], list):
            row = row[0]
        row[0] = 1234.5
    return {**found, **more}


def report(good: bool) -> record.Record:
    old = "ort-builtin@/old/python"
    results = [result(name, "padops-native") for name in NAMES]
    results += [
        result(NAMES[0], "ort-builtin"),
        result(NAMES[1], "ort-builtin", "unsupported", detail="no kernel for int8"),
        result(NAMES[2], "ort-builtin", "differ", "ort-<far>", detail="1 of 12 elements differ"),
        result(NAMES[0], old, "crash", "ort-<far>", detail="signal 11"),
        result(NAMES[3], old, "skipped", detail="ONNX has no such operator"),
    ]
    if not good:
        results[0] = result(NAMES[0], "padops-native", "differ", detail="\x1b[31m</script><b>x</b> | `y`")
    unexpected = sum(row["unexpected"] for row in results)
    stale = [] if good else ["ort-gone"]
    footer = {"results": len(results), "unexpected": unexpected, "stale": stale, "exit": int(not good)}
    return record.Record(HEADER, results, footer)


def written(folder: Path, good: bool) -> dict[str, str]:
    made = report(good)
    write_all(made.header, made.results, made.footer, [DIVERGENCE, STALE], folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES.values())
    return {form: (folder / name).read_text(encoding="utf-8") for form, name in FILES.items()}


# ---- Markdown and JUnit


def test_markdown_counts_and_names_everything(tmp_path: Path) -> None:
    text = written(tmp_path, good=False)["markdown"]
    assert "| padops-native | onnxruntime 1.31.1 | 4 | 3 | 0 | 0 | 1 | 0 |" in text
    assert "| ort-builtin | onnxruntime 1.31.1 | 2 | 1 | 1 | 0 | 0 | 1 |" in text
    assert "| ort-builtin@1.20.1 | onnxruntime 1.20.1 | 1 | 0 | 1 | 1 | 0 | 1 |" in text
    assert "- torch: No module named 'torch'" in text
    assert "- `ort-gone`: Was repaired." in text
    assert "**Not as expected**: 9 results of 3 peers, 1 unexpected, 1 listed divergence no longer seen." in text
    assert f"`padops conformance repro {NAMES[0]} --peer padops-native`" in text
    assert re.search(
        r"\| ort-builtin \| ort-&lt;far&gt; \| differ, crash \| 1 \| P2 \| Only one period &amp; no more\.", text
    )
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("|")]
    assert set(widths) == {9, 7}


def test_markdown_of_a_good_run_has_no_complaints(tmp_path: Path) -> None:
    text = written(tmp_path, good=True)["markdown"]
    assert "As expected: 9 results" in text and "**Not" not in text
    assert "## Unexpected" not in text and "no longer seen\n" not in text


# The shape that Jenkins' junit-10.xsd gives: what may stand in what, and the attributes that must and may be there.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"skipped", "failure", "system-out"},
}
MUST = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name"},
    "property": {"name", "value"},
}
MAY = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"skipped"},
    "testcase": {"classname"},
    "failure": {"type", "message"},
    "skipped": {"type", "message"},
}


def check_shape(element: ElementTree.Element) -> None:
    must = MUST.get(element.tag, set())
    assert must <= set(element.keys()) <= must | MAY.get(element.tag, set()), element.tag
    assert {child.tag for child in element} <= CHILDREN.get(element.tag, set()), element.tag
    for child in element:
        check_shape(child)


@pytest.mark.parametrize("good", [True, False])
def test_junit(tmp_path: Path, good: bool) -> None:
    root = ElementTree.fromstring(written(tmp_path, good)["junit"])
    check_shape(root)
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == [*(peer["name"] for peer in HEADER["peers"]), "torch", "divergences"]
    for suite in suites.values():
        found = Counter(child.tag for case in suite.iter("testcase") for child in case)
        counts = [int(suite.get(name)) for name in ("tests", "failures", "skipped", "errors")]
        assert counts == [len(suite.findall("testcase")), found["failure"], found["skipped"], 0]
    failures = [failure.get("type") for failure in root.iter("failure")]
    assert failures == ([] if good else ["unexpected", "stale"])
    assert int(root.get("failures")) == len(failures)
    skipped = [row.get("message") for row in root.iter("skipped")]
    assert skipped == ["no kernel for int8", "ONNX has no such operator", "No module named 'torch'"]
    if not good:
        text = next(root.iter("failure")).text
        assert NAMES[0] in text and "padops conformance repro" in text and "1234.5" in text


# ---- the page


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
    """What the matrix shows: signs by label."""
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
        "ort-builtin@1.20.1, Pad_18 reflect: 0 of 1 agree; known divergences: crash; 1 result": "0†",
        "padops-native, Pad_19 wrap: agrees; 1 result": "✓",
        "ort-builtin, Pad_19 wrap: 0 of 1 agree; known divergences: other values; 1 result": "0",
        "padops-native, OpenVINOPad_12 symmetric: agrees; 1 result": "✓",
        "ort-builtin@1.20.1, OpenVINOPad_12 symmetric: skipped; 1 result": "s",
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
    assert browser.evaluate("document.querySelector('[data-peer]').hidden") is True
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
        ("End", "ort-builtin@1.20.1, Pad_18"), ("ArrowDown", "ort-builtin@1.20.1, OpenVINO"), ("ArrowLeft", "padops-native"),
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
        "a = 1234.5",
        "expected",
        "reproduce",
    ):
        assert part in text
    assert browser.evaluate("[...document.querySelectorAll('mark')].map(m => m.textContent)") == ["a"]
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


# ---- the commands


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    add_show(commands)
    options = parser.parse_args(words)
    return options.run(options)


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "conformance.jsonl"
    made = report(good=False)
    record.write(file, made.header, made.results, made.footer)
    assert command("show", str(file)) == 0
    assert capsys.readouterr().out.startswith("# Pad conformance\n")
    assert command("show", str(file), "--format", "junit") == 0
    check_shape(ElementTree.fromstring(capsys.readouterr().out))
    assert command("show", str(file), "-o", str(tmp_path / "out")) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES.values())
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-1]), encoding="utf-8")
    assert command("show", str(file)) == 1
    assert "there is no footer" in capsys.readouterr().err
