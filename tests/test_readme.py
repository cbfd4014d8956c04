"""What README.md shows of the modes and of the results is what padops does, and what docs/ has in full.

    python tests/test_readme.py [REPORT.md]

writes the two tables of results into README.md. With the report of a conformance run, its table goes into
docs/conformance.md first.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

import padops

ROOT = Path(__file__).resolve().parent.parent
README, CONFORMANCE, BENCHMARK = ROOT / "README.md", ROOT / "docs" / "conformance.md", ROOT / "docs" / "run.md"
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
WORKLOADS = ("geometric mean", "least")
OTHERS = {
    "built-in": "ONNX Runtime",
    "copy": "a plain copy",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "openvino": "OpenVINO",
}


def table(page: Path) -> dict[str, dict[str, str]]:
    """The table between the markers of a page of docs/: the cells of each row by title, by the first cell."""
    lines = re.search(r"^<!-- (?:conformance|benchmark).*?-->\n+(.*?)\n+<!-- /", page.read_text("utf-8"), re.M | re.S)
    titles, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[1].splitlines())
    return {row[0].partition("<br>")[0]: dict(zip(titles, row, strict=True)) for row in rows}


def markdown(titles: list[str], rows: list[list[str]]) -> str:
    rule = "|---" + "|--:" * (len(titles) - 1) + "|"
    return "\n".join([f"| {' | '.join(titles)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def shares(row: dict[str, str]) -> list[str]:
    """How many cases a peer ran, in how many of a hundred it gave the right bits, and its crashes."""
    right, _, ran = row["agree"].partition(" of ")
    share = 100 * int(right.replace(",", "")) // int(ran.replace(",", ""))
    return [ran, f"{share} %", row["crashes"]]


def of_report(text: str) -> str:
    """The table of a report as the page has it: peer and versions in one cell, then the cases and the crashes."""
    (rows,) = re.findall(r"^\| peer \| versions \|.*?(?=\n\n)", text, re.M | re.S)
    titles, _, *cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in rows.splitlines())
    peers = [dict(zip(titles, row, strict=True)) for row in cells]
    made = [[f"{p['peer']}<br>{p['versions']}", f"{p['agree']} of {p['cases run']}", p["crashes"]] for p in peers]
    return markdown(["peer", "agree", "crashes"], made)


def results() -> dict[str, str]:
    peers, workloads = table(CONFORMANCE), table(BENCHMARK)
    ran = [[shown, *shares(peers[name])] for name, shown in PEERS.items()]
    times = [[name, *(workloads[name][title] for title in OTHERS)] for name in WORKLOADS]
    return {
        "conformance": markdown(["", "cases", "right", "crashes"], ran),
        "benchmark": markdown(["", *OTHERS.values()], times),
    }


def marked(text: str, name: str) -> tuple[int, int]:
    begin = text.index("\n", text.index(f"<!-- {name}: ")) + 1
    return begin, text.index(f"<!-- /{name} -->")


def test_results_are_those_of_the_pages() -> None:
    text = README.read_text(encoding="utf-8")
    for name, expected in results().items():
        begin, end = marked(text, name)
        assert text[begin:end] == expected, "python tests/test_readme.py writes it anew"


def test_modes_as_shown() -> None:
    (shown,) = re.findall(r"```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    rows = re.findall(r"([a-z]+) +((?:[\d|] ?)+)", shown)
    data, three, zero = np.arange(1, 5), np.array([3]), np.array(0)
    found = {}
    for mode, row in rows:
        numbers = [int(number) for number in re.findall(r"\d", row)]
        if mode == "interior":
            gaps = {"padding_below": [0], "padding_above": [0], "padding_interior": [2]}
            padded = padops.run_reference("NGraphPad_0", gaps, [data, zero])
        elif mode == "wrap":
            padded = padops.run_reference("Pad_19", {"mode": mode}, [data, np.array([3, 3])])
        else:
            padded = padops.run_reference("OpenVINOPad_12", {"pad_mode": mode}, [data, three, three])
        assert padded.tolist() == numbers, mode
        found[mode] = row.count("|")
    assert found == dict.fromkeys(("constant", "symmetric", "edge", "wrap", "reflect"), 2) | {"interior": 0}


def write(report: Path | None) -> None:
    if report is not None:
        rows = of_report(report.read_text(encoding="utf-8")).rstrip()
        page = CONFORMANCE.read_text(encoding="utf-8")
        begin, end = marked(page, "conformance")
        CONFORMANCE.write_text(f"{page[:begin]}\n{rows}\n\n{page[end:]}", encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    for name, made in results().items():
        begin, end = marked(text, name)
        text = text[:begin] + made + text[end:]
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if sys.argv[1:] else None)
