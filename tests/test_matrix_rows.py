"""The tables of docs/matrix.md: a row replaces the one of the same name, and they stay in order."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    module = importlib.import_module("matrix_rows")
    monkeypatch.setattr(module, "DOCUMENT", tmp_path / "matrix.md")
    return module


def test_rows_are_replaced_and_stay_in_order(rows: ModuleType) -> None:
    rows.DOCUMENT.write_text("before\n" + "".join([*rows.ROWS, "between\n", *rows.VERSIONS, "after\n"]))
    for name, result in (
        ("python 3.11, newest, onnxruntime newest (1.31.1)", "failed"),
        ("python 3.11, newest, onnxruntime 1.24.4", "passed"),
        ("python 3.11, lowest, onnxruntime 1.20.1", "passed"),
        ("python 3.11, newest, onnxruntime newest (1.32.0)", "passed"),
    ):
        rows.record_row(name, f"| {name} | 14 of 14 | 300 | {result} | 1 |\n")
    for place, versions in (
        ("python 3.11, newest", "numpy 1"),
        ("python 3.10, newest", "numpy 2"),
        ("python 3.11, newest", "numpy 3"),
    ):
        rows.record_versions(place, versions)
    text = rows.DOCUMENT.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "between\n" in text
    assert [line for line in text.splitlines() if line.startswith("| python")] == [
        "| python 3.11, lowest, onnxruntime 1.20.1 | 14 of 14 | 300 | passed | 1 |",
        "| python 3.11, newest, onnxruntime 1.24.4 | 14 of 14 | 300 | passed | 1 |",
        "| python 3.11, newest, onnxruntime newest (1.32.0) | 14 of 14 | 300 | passed | 1 |",
        "| python 3.10, newest | numpy 2 |",
        "| python 3.11, newest | numpy 3 |",
    ]


def test_a_document_without_its_markers_is_left_alone(rows: ModuleType) -> None:
    for text in ("before\n", rows.ROWS[0], "".join(reversed(rows.ROWS))):
        rows.DOCUMENT.write_text(text)
        with pytest.raises(SystemExit, match="matrix.md has not the lines <!-- matrix --> and <!-- /matrix -->, one"):
            rows.record_row("python 3.11, newest, onnxruntime 1.24.4", "| a row |\n")
        assert rows.DOCUMENT.read_text() == text


def test_the_document_has_the_tables_as_they_are_written(rows: ModuleType) -> None:
    """Each row is that of a cell, and the heads are today's."""
    text = (SCRIPTS.parent / "docs" / "matrix.md").read_text(encoding="utf-8")
    for markers, head in rows.HEADS.items():
        table = text.split(markers[0])[1].split(markers[1])[0]
        assert table.startswith(head)
        names = [rows._key(line.split(" | ")[0][2:]) for line in table[len(head) :].splitlines()]
        assert names and names == sorted(set(names), key=rows._in_order)
