"""The packages that scripts/release.py writes by itself."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from padops.runtime.provider import EP_NAMES

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
ABOUT = {"VERSION": "1.2.3", "ID": "Padops.ML.OnnxRuntime.EP", "DESCRIPTION": "Pads", "SHA256": "0" * 64, "URL": "file"}


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("release")


def test_the_wheel_of_the_plugin(release: ModuleType, tmp_path: Path) -> None:
    """It needs padops in its own version, and has the functions that onnxruntime expects."""
    release.write_ep_wheel(tmp_path, ABOUT)
    (wheel,) = tmp_path.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        told = message_from_bytes(archive.read("onnxruntime_ep_padops-1.2.3.dist-info/METADATA"))
    assert (told["Name"], told["Version"], told["Requires-Dist"]) == ("onnxruntime-ep-padops", "1.2.3", "padops==1.2.3")
    command = "import onnxruntime_ep_padops as ep; print(*ep.get_ep_names(), ep.get_ep_name(), ep.get_library_path())"
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(wheel), *sys.path])}
    done = subprocess.run([sys.executable, "-c", command], env=variables, capture_output=True, text=True)
    *names, library = done.stdout.split()
    assert names == [*EP_NAMES, EP_NAMES[0]] and Path(library).is_file(), done.stderr


def test_the_nuget_package(release: ModuleType, tmp_path: Path) -> None:
    """Each part has a type; the source names the providers; the same parts give the same bytes."""
    parts = {f"runtimes/{rid}/native/libpadops.so": b"x" for rid in release.RIDS.values()}
    made = []
    for _ in range(2):
        release.write_nuget(tmp_path, ABOUT, parts)
        (package,) = tmp_path.glob("*.nupkg")
        made.append(package.read_bytes())
    assert made[0] == made[1]
    with zipfile.ZipFile(package) as archive:
        assert {*parts, "README.md", "_rels/.rels", f"{ABOUT['ID']}.nuspec"} < set(archive.namelist())
        code = archive.read("contentFiles/cs/any/Padops.cs").decode()
        told = ElementTree.fromstring(archive.read(f"{ABOUT['ID']}.nuspec"))
        kinds = {row.get("Extension") for row in ElementTree.fromstring(archive.read("[Content_Types].xml"))}
    assert kinds == {"rels", "so", "cs", "md", "nuspec"}
    assert ", ".join(f'"{name}"' for name in EP_NAMES) in code and "@" not in code
    assert next(row.text for row in told.iter() if row.tag.endswith("}version")) == "1.2.3"
