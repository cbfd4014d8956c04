"""The quick start in a clone: Python imports the sources that lie there, which have no library."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sites import NOT_INSTALLED, ROOT, make_site, run_python

import padops

MODEL = ROOT / "models" / "int16.onnx"
QUICK_START = f"""
import numpy as np, padops
session = padops.InferenceSession({str(MODEL)!r})
print(session.run(None, {{"sound": np.arange(6, dtype=np.int16)[None]}})[0].tolist())
print(padops.__file__, padops.get_library_path(), sep="\\n")
"""
ASK = "import padops; padops.get_library_path()"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "padops", folder / "padops", ignore=NOT_INSTALLED)
    (folder / "padops" / "csrc").mkdir()
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site") / "packages", "onnxruntime")


def test_the_installed_library_serves_the_sources(clone: Path, installed: Path) -> None:
    ran = run_python(installed, "-c", QUICK_START, cwd=clone)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "[[4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 4, 3, 2, 1]]",
        str(clone / "padops" / "__init__.py"),
        str(installed / "padops" / "libpadops.so"),
    ]


def refusal(clone: Path, site: Path) -> str:
    ran = run_python(site, "-c", ASK, cwd=clone)
    last = ran.stderr.splitlines()[-1]
    start = f"FileNotFoundError: libpadops.so is not in {clone / 'padops'}, which is a source tree of padops "
    assert ran.returncode == 1 and last.startswith(start)
    assert last.endswith("; run 'pip install .' in the source tree")
    return last.removeprefix(start)


def test_a_library_of_another_version_does_not(clone: Path, installed: Path) -> None:
    project = clone / "pyproject.toml"
    project.write_text(project.read_text().replace(f'version = "{padops.__version__}"', 'version = "9.9"'))
    told = refusal(clone, installed)
    assert told.startswith("9.9 (Python imports from the folder that it runs in before installed packages), ")
    assert f"the installed library, {installed / 'padops' / 'libpadops.so'}, has version {padops.__version__};" in told


def test_what_is_installed_has_no_library_either(clone: Path, tmp_path: Path) -> None:
    site = make_site(tmp_path / "broken", library=False)
    place = site / "padops" / "libpadops.so"
    assert f", and the installed padops {padops.__version__} has none at {place} either;" in refusal(clone, site)
    ran = run_python(site, "-c", ASK, cwd=tmp_path)
    assert "padops was installed without its native library; install it anew" in ran.stderr.splitlines()[-1]
