"""What CI installs, in minutes: the hook with an environment of its own, and the action on a machine without padops."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ci_snippets import ROOT, action, run_script
from inspected_models import write_models
from test_ci import commit


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What is committed here; pip builds in a copy of its own."""
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
