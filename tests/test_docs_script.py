"""What docs.py runs and refuses, without a .venv and without building; and that pages fetch nothing."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def docs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, in a .venv where it runs nothing: ``ran`` has the commands, ``code`` the exit code of each."""
    monkeypatch.syspath_prepend(SCRIPTS)
    environment, module = importlib.import_module("environment"), importlib.import_module("docs")
    module.ran, module.code = [], 0
    monkeypatch.setattr(module, "SITE", tmp_path)
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    monkeypatch.setattr(environment, "ensure", lambda extras: tmp_path / extras[0] / "python")

    def hand_over(command: list, folder: Path) -> int:
        module.ran.append([Path(command[0]).name, *command[1:]])
        return module.code

    monkeypatch.setattr(environment, "hand_over", hand_over)
    return module


def test_it_is_built_strictly(docs: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<img src="modes.svg"><a href="https://example.org">read there</a>')
    assert docs.main([]) == 0
    assert docs.ran == [["mkdocs", "build", "--strict", "--clean"]]
    assert capsys.readouterr().out == f"1 pages in {tmp_path}\n"


def test_a_warning_is_a_failure(docs: ModuleType) -> None:
    docs.code = 1
    assert docs.main([]) == 1


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


def test_unknown_arguments(docs: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert docs.main(["--out"]) == 2 and docs.ran == []
    assert capsys.readouterr().err == "error: unknown argument: --out; there is --serve\n"


def test_ci_builds_it() -> None:
    assert "\npython3 scripts/docs.py\n" in (SCRIPTS.parent / ".ci" / "run").read_text()
