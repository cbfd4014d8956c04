"""Pages fetch nothing: docs.py says so, without a .venv and without building."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def docs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    environment, module = importlib.import_module("environment"), importlib.import_module("docs")
    monkeypatch.setattr(module, "SITE", tmp_path)
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    monkeypatch.setattr(environment, "ensure", lambda extras: tmp_path / extras[0] / "python")
    monkeypatch.setattr(environment, "hand_over", lambda command, folder: 0)
    return module


@pytest.mark.parametrize(
    "tag", ['<script src="https://x.org/a.js">', "<link rel=x href=//x.org/a.css>", '<img alt="" src="http://x.org/a">']
)
def test_a_page_that_fetches_is_a_failure(
    docs: ModuleType, tag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "a.html").write_text(f"<p>text\n{tag}")
    assert docs.main([]) == 1
    assert "error: page/a.html fetches " in capsys.readouterr().err
