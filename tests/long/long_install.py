"""What is installed, in minutes: CI's hook and action on a machine without padops, and the coming onnx."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import yaml
from ci_snippets import ROOT, action, run_script
from conftest import Tally
from inspected_models import write_models
from test_ci import commit

import padops


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the committed tree, in which pip builds."""
    subprocess.run(["git", "clone", "-q", str(ROOT), str(tmp_path / "checkout")], check=True)
    return tmp_path / "checkout"


def test_the_hook_installs_itself(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    repository = tmp_path / "repository"
    repository.mkdir()
    write_models(repository)
    told = subprocess.run(["git", "-C", checkout, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    configured = {"repos": [{"repo": str(checkout), "rev": told.stdout.strip(), "hooks": [{"id": "padops-inspect"}]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(configured), encoding="utf-8")
    commit(repository)
    command = [sys.executable, "-m", "pre_commit", "run", "--files"]
    for name, code in (("right.onnx", 0), ("refused.onnx", 1)):
        ran = subprocess.run([*command, name], cwd=repository, capture_output=True, text=True, timeout=1800)
        assert ran.returncode == code, ran.stdout + ran.stderr
    assert "- exit code: 3" in ran.stdout


def test_the_action_installs_padops(checkout: Path, tmp_path: Path) -> None:
    write_models(tmp_path)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "fresh"], check=True)
    script, environment = action({"models": "right.onnx\nrefused.onnx"})
    path = os.pathsep.join([str(tmp_path / "fresh" / "bin"), "/usr/local/bin:/usr/bin:/bin"])
    ran = run_script((script, {**environment, "GITHUB_ACTION_PATH": str(checkout)}), tmp_path, path)
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "padops inspect: right.onnx: 1 Pad: 1 run" in ran.stdout


def test_onnx_weekly(tally: Tally, tmp_path: Path) -> None:
    """The coming standard has no newer Pad, and no new function whose body pads."""
    folder = str(tmp_path / "onnx-weekly")
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--no-deps", "--pre"]
    subprocess.run([*pip, "--target", folder, "onnx-weekly"], check=True)
    path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "PADOPS_LIBRARY": padops.get_library_path()}
    run = lambda *words: subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    place, opset = run("-c", "import onnx; print(onnx.__file__, onnx.defs.onnx_opset_version())").stdout.split()
    assert place.startswith(folder) and int(opset) >= onnx.defs.onnx_opset_version()
    tests = ["tests/convert/matchers/test_functions_that_pad.py"]
    ran = run("-m", "pytest", "-n0", "-p", "no:cacheprovider", *tests)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr
    passed = int(re.search(r"(\d+) passed", ran.stdout).group(1))
    tally(f"onnx-weekly with opset {opset}: tests of the newest opsets, and of functions that pad", passed, 0)
