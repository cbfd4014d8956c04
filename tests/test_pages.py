"""What pages and lists have of the package is what the package has.

    python tests/test_pages.py [REPORT.md]

writes ``tests/public_surface.txt`` anew and the tables of the pages. With the report of a conformance run, its table
goes into docs/conformance.md first.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent / "models"))  # as pytest has it, for the command above
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import public_surface
import site_pages
from public_surface import ROOT, text_of

import docs
import padops
from padops import exits
from padops.runtime.provider_rules import CONDITIONS, KNOWN_PROVIDERS
from padops.spec.dialects import OPS

README, DOCS = ROOT / "README.md", ROOT / "docs"
CONFORMANCE, CONTRIBUTING = DOCS / "conformance.md", DOCS / "contributing.md"
LIST = ROOT / "tests" / "public_surface.txt"
COMMAND = "python tests/test_pages.py writes it anew"

names, reports = cache(public_surface.surface), cache(public_surface.json_fields)


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


# --- the public surface -----------------------------------------------------------------------------------------------


def test_the_surface_is_that_of_the_list() -> None:
    """What goes out of it, or into it, is written down; CHANGELOG.md needs a line for users."""
    assert text_of(names() | reports()) == read(LIST), COMMAND


def test_the_promises_name_what_there_is() -> None:
    page = read(CONTRIBUTING)
    codes = page.partition("### Exit codes")[2].partition("\n### ")[0]
    numbers = [str(code) for name, code in vars(exits).items() if isinstance(code, int)]
    assert re.findall(r"^\| (\d+) \|", codes, re.M) == numbers
    variables = page.partition("### Environment variables")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([A-Z_]+)`", variables, re.M)) == names()["environment variables"]
    entries = [line.split()[1] for line in names()["execution providers and session configuration"] if "entry " in line]
    assert len(entries) == 4 and [entry for entry in entries if f"`{entry}`" not in page] == []


# --- tables of the pages ----------------------------------------------------------------------------------------------


def marked(text: str, mark: str) -> tuple[int, int]:
    """Where what stands between the marks begins and ends."""
    return text.index("\n", re.search(f"<!-- {mark}\\b", text).end()) + 1, text.index(f"<!-- /{mark} -->")


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a table: their cells, by the titles."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    titles, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(titles, row, strict=True)) for row in rows]


def table(page: Path, mark: str) -> dict[str, dict[str, str]]:
    begin, end = marked(read(page), mark)
    return {next(iter(row.values())).partition("<br>")[0]: row for row in rows_of(read(page)[begin:end])}


def markdown(titles: list[str], rows: list[list[str]], right: str = "--:") -> str:
    rule = "|---" + f"|{right}" * (len(titles) - 1) + "|"
    return "\n".join([f"| {' | '.join(titles)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


# The peers that README.md has, by the names that people know them by.
PEERS = {
    "padops-native": "**padops**",
    "padops-provider": "padops, the model as it is",
    "padops-lowered": "padops, lowered to standard ONNX",
    "ort-builtin": "ONNX Runtime's own Pad",
    "onnx-reference": "onnx.reference",
    "openvino-onnx": "OpenVINO",
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "numpy": "NumPy",
}
OTHERS = {
    "built-in": "ONNX Runtime", "copy": "a plain copy", "numpy": "NumPy", "torch": "PyTorch", "openvino": "OpenVINO",
}  # fmt: skip


def conformance() -> str:
    """How many cases a peer ran, in how many of a hundred it gave the right bits, and its crashes."""
    peers, rows = table(CONFORMANCE, "conformance"), []
    for name, shown in PEERS.items():
        right, ran = peers[name]["agree"].split(" of ")
        share = 100 * int(right.replace(",", "")) // int(ran.replace(",", ""))
        rows.append([shown, ran, f"{share} %", peers[name]["crashes"]])
    return markdown(["", "cases", "right", "crashes"], rows)


def benchmark() -> str:
    found = table(DOCS / "run.md", "benchmark")
    rows = [[name, *(found[name][title] for title in OTHERS)] for name in ("geometric mean", "least")]
    return markdown(["", *OTHERS.values()], rows)


def schemas() -> str:
    titles = [title.removeprefix("JSON of padops ").split(", ") for title in reports()]
    numbers = {title[0]: title[1].removeprefix("schema ") for title in titles if len(title) > 1}
    return markdown(["JSON of", "schema"], [[f"`padops {name}`", number] for name, number in numbers.items()])


def operators() -> str:
    """Operators × inputs, attributes, modes and element types."""
    rows, previous = [], ()
    for op in OPS.values():
        inputs = ", ".join(row.name + "?" * row.optional for row in op.inputs)
        attributes = ", ".join(
            row.name + (f'="{row.default}"' if row.type == "string" else "?") * (not row.required)
            for row in op.attributes
        )
        rows.append([op.name, inputs, attributes, " ".join(op.modes), _types(op.types, previous)])
        previous = op.types
    return markdown(["op_type", "inputs", "attributes", "modes", "element types"], rows, "---")


def _types(types: tuple[str, ...], previous: tuple[str, ...]) -> str:
    """All names, or what a version adds to the one before it."""
    if previous and set(previous) < set(types):
        return "+ " + " ".join(name for name in types if name not in previous)
    return "same" if set(previous) == set(types) else " ".join(types)


TABLES: list[tuple[Path, Callable[[], str]]] = [(README, conformance),
                                                (README, benchmark),
                                                (CONTRIBUTING, schemas),
                                                (DOCS / "semantics.md", operators)]  # fmt: skip


@pytest.mark.parametrize(("page", "made"), TABLES)
def test_tables_are_those_of_the_package(page: Path, made: Callable[[], str]) -> None:
    begin, end = marked(read(page), made.__name__)
    assert read(page)[begin:end] == made(), COMMAND


def test_modes_as_shown() -> None:
    (shown,) = re.findall(r"```text\n(.*?)```", read(README), re.DOTALL)
    data, three, zero = np.arange(1, 5), np.array([3]), np.array(0)
    found = {}
    for mode, row in re.findall(r"([a-z]+) +((?:[\d|] ?)+)", shown):
        if mode == "interior":
            gaps = {"padding_below": [0], "padding_above": [0], "padding_interior": [2]}
            padded = padops.run_reference("NGraphPad_0", gaps, [data, zero])
        elif mode == "wrap":
            padded = padops.run_reference("Pad_19", {"mode": mode}, [data, np.array([3, 3])])
        else:
            padded = padops.run_reference("OpenVINOPad_12", {"pad_mode": mode}, [data, three, three])
        assert padded.tolist() == [int(number) for number in re.findall(r"\d", row)], mode
        found[mode] = row.count("|")
    assert found == dict.fromkeys(("constant", "symmetric", "edge", "wrap", "reflect"), 2) | {"interior": 0}


def test_the_site_shows_the_rules_of_providers() -> None:
    """Every rule and condition, in the place that docs/beside.md has for them; each rule has a source."""
    page = read(DOCS / "beside.md")
    shown = site_pages.on_page_markdown(page)
    assert page.count(site_pages.PROVIDERS) == 1 and site_pages.PROVIDERS not in shown
    for row in KNOWN_PROVIDERS:
        rules = "; ".join(map(site_pages.rule_text, row.rules))
        assert f"| {row.name.removesuffix('ExecutionProvider')} | {row.version} | {rules} |" in shown
        for rule in row.rules:
            kind, _, where = rule.source.partition(": ")
            assert where and kind == ("read" if row.version == "not run" else "measured"), (row.name, rule)
    assert [name for name in CONDITIONS if f"`{name}`:" not in " ".join(shown.split())] == []


@pytest.mark.parametrize(
    "tag", ['<script src="https://x.org/a.js">', "<link rel=x href=//x.org/a.css>", '<img alt="" src="http://x.org/a">']
)
def test_a_page_that_fetches_is_a_failure(tag: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<p>text\n{tag}")
    assert [str(page) for page, _ in docs.fetched(tmp_path)] == ["a.html"]


def write(report: Path | None) -> None:
    LIST.write_text(text_of(names() | reports()), encoding="utf-8")
    if report is not None:
        (found,) = re.findall(r"^\| peer \| versions \|.*?(?=\n\n)", read(report), re.M | re.S)
        rows = [[f"{row['peer']}<br>{row['versions']}", f"{row['agree']} of {row['cases run']}", row["crashes"]]
                for row in rows_of(found)]  # fmt: skip
        put(CONFORMANCE, "conformance", "\n" + markdown(["peer", "agree", "crashes"], rows) + "\n")
    for page, made in TABLES:
        put(page, made.__name__, made())


def put(page: Path, mark: str, content: str) -> None:
    begin, end = marked(read(page), mark)
    page.write_text(read(page)[:begin] + content + read(page)[end:], encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if sys.argv[1:] else None)
