"""``action.yml`` and ``.pre-commit-hooks.yaml``: what they run says of a repository what is so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ci_snippets import ACTION, HOOKS, ROOT, action, read, run_script


@pytest.fixture
def repository(inspected: Path) -> Path:
    (inspected / "a folder").mkdir()
    (inspected / "right.onnx").rename(inspected / "a folder" / "right.onnx")
    return inspected


@pytest.mark.parametrize(("given", "code"), [
    ({}, 4),
    ({"models": "a folder"}, 0),
    ({"models": "a folder\nrefused.onnx\n"}, 3),
    ({"models": "refused.onnx\nunsure.onnx", "allow": "refused unsure"}, 0),
    ({"models": "a folder", "allow": "nothing"}, 2),
    ({"models": "--help\n$(touch hacked)"}, 1),
])  # fmt: skip
def test_the_action(given: dict[str, str], code: int, repository: Path) -> None:
    ran = run_script(action(given), repository)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert not (repository / "hacked").exists()
    if code in (3, 4):
        assert "::error file=refused.onnx,title=pad-refused::" in ran.stdout
        assert "padops inspect: a folder/right.onnx: 1 Pad: 1 run" in ran.stdout


def test_the_action_writes_a_report(repository: Path) -> None:
    ran = run_script(action({"models": "refused.onnx", "sarif": "found.sarif"}), repository)
    (run,) = json.loads((repository / "found.sarif").read_text(encoding="utf-8"))["runs"]
    assert (ran.returncode, [result["ruleId"] for result in run["results"]]) == (3, ["pad-refused"])


def test_the_action_installs_padops_where_it_is_absent(repository: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    python = tools / "python"
    python.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/asked"\n', encoding="utf-8")
    python.chmod(0o755)
    ran = run_script(action({}), repository, f"{tools}:/usr/bin:/bin")
    assert ran.returncode == 127 and "padops" in ran.stderr
    assert (tmp_path / "asked").read_text() == f"-m\npip\ninstall\n--quiet\n{ROOT}[cpu,convert]\n"


def test_what_is_installed() -> None:
    """tests/test_extras.py has that the package has both."""
    assert "[cpu,convert]" in ACTION.read_text(encoding="utf-8")
    own, installed = read(HOOKS)
    assert own["additional_dependencies"] == [".[cpu,convert]"]
    assert own["entry"] == installed["entry"] == "padops inspect --check"


@pytest.mark.needs("pre_commit")
def test_pre_commit(repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch) -> None:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    hooks = tmp_path_factory.mktemp("hooks")
    (hooks / HOOKS.name).write_bytes(HOOKS.read_bytes())
    configured = {"repos": [{"repo": str(hooks), "rev": commit(hooks), "hooks": [{"id": "padops-inspect-installed"}]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(configured), encoding="utf-8")
    (repository / "notes.txt").write_text("no model", encoding="utf-8")
    commit(repository)

    def hook(*files: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "pre_commit", "run", *(["--files", *files] if files else ["--all-files"])]
        ran = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=600)
        return ran.returncode, ran.stdout + ran.stderr

    code, said = hook("a folder/right.onnx", "notes.txt")
    assert code == 0 and "Passed" in said, said
    code, said = hook()
    assert code == 1 and "- exit code: 4" in said and "refused.onnx: 1 Pad: 1 refused" in said, said
    assert hook("notes.txt")[1].count("Skipped") == 1


def commit(folder: Path) -> str:
    """Makes a repository of a folder; gives its only commit."""
    git = ["git", "-c", "user.name=padops", "-c", "user.email=padops", "-C", str(folder)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "models", "--no-verify"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
