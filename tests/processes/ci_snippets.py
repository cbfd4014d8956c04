"""The parts of ``action.yml``, ``.pre-commit-hooks.yaml`` and the files in docs/ci.md that CI runs.

What these files install is left out; ``tests/long/long_install.py`` installs it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION, HOOKS = ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"
OTHERS = ("actions/checkout", "actions/setup-python", "github/codeql-action/upload-sarif")  # they run at GitHub alone

Script = tuple[str, Mapping[str, str]]  # for bash, with what it has in its environment


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def action(given: Mapping[str, str]) -> Script:
    """The action's script, with the inputs that a workflow gives, and the defaults of the others."""
    described = read(ACTION)
    unknown = set(given) - set(described["inputs"])
    assert not unknown, f"the action has no inputs {unknown}"
    (step,) = described["runs"]["steps"]
    inputs = {f"${{{{ inputs.{name} }}}}": given.get(name, row["default"]) for name, row in described["inputs"].items()}
    environment = {name: inputs[value] for name, value in step["env"].items()}
    assert "${{" not in step["run"], "a script with expressions takes inputs for commands"
    return step["run"], environment | {"GITHUB_ACTION_PATH": str(ROOT)}


def hook(name: str, arguments: list[str]) -> Script:
    """A hook on every file that it is for, as pre-commit calls it."""
    (found,) = (row for row in read(HOOKS) if row["id"] == name)
    assert found["files"] == r"\.onnx$"
    return f"{found['entry']} {shlex.join(arguments)} $(find * -name '*.onnx' | sort)", {}


def scripts_of(text: str) -> Iterator[Script]:
    """Yield the scripts of a CI file that run padops."""
    told = yaml.safe_load(text)
    if "repos" in told:
        for row in (row for repository in told["repos"] for row in repository["hooks"]):
            yield hook(row["id"], row.get("args", []))
        return
    if "jobs" not in told:  # GitLab's
        for job in told.values():
            yield "\n".join([*job["script"]]), {}
        return
    for step in (step for job in told["jobs"].values() for step in job["steps"]):
        name = step.get("uses", "").partition("@")[0]
        if name.endswith("/padops"):
            yield action(step.get("with", {}))
        elif name:
            assert name in OTHERS, name
        else:
            yield step["run"], {}


def run_script(script: Script, folder: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a script in a repository as GitHub's runner does; ``path``: by default with the padops that is tested."""
    path = path or os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script[0]]
    environment = os.environ | script[1] | {"PATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
