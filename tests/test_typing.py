"""What a type checker tells a user of padops: the names are typed, though they load on first use."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import padops

ROOT = Path(__file__).resolve().parent.parent
PUBLIC = ROOT / "padops" / "__init__.py"
SCRIPT = """\
import padops
from padops.convert import Conversion

conversion: Conversion = padops.convert("m.onnx", "n.onnx", select="needed")
print(padops.lower("m.onnx").records[0].path, padops.same_padding(7, 3))
padops.convert("m.onnx", selekt="all")
"""

# padops' own findings are none of a user's, and what its exporters import takes minutes to read.
MYPY = """\
[mypy]
follow_imports = silent
[mypy-torch.*,onnxscript.*,jax.*,jax2onnx.*]
follow_imports = skip
follow_imports_for_stubs = True
ignore_missing_imports = True
"""


def run(checker: str, *arguments: object, **variables: str) -> str:
    command = [sys.executable, "-m", checker, *map(str, arguments)]
    ran = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.stdout


def errors_of_mypy(script: Path) -> list[tuple[int, str]]:
    config, cache = script.with_name("mypy.ini"), ROOT / ".mypy_cache" / "user"
    config.write_text(MYPY)
    told = run("mypy", "--config-file", config, "--cache-dir", cache, "--output", "json", script, MYPYPATH=str(ROOT))
    found = map(json.loads, told.splitlines())
    return [(row["line"], row["message"]) for row in found if row["severity"] == "error"]


def errors_of_basedpyright(script: Path) -> list[tuple[int, str]]:
    settings = {"include": [script.name], "extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}
    script.with_name("pyrightconfig.json").write_text(json.dumps(settings))
    told = run("basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", script.parent)
    found = json.loads(told)["generalDiagnostics"]
    return [(row["range"]["start"]["line"] + 1, row["message"]) for row in found if row["severity"] == "error"]


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_wrong_argument_is_found(checker: str, here: Path) -> None:
    script = here / "script.py"
    script.write_text(SCRIPT)
    find = {"mypy": errors_of_mypy, "basedpyright": errors_of_basedpyright}[checker]
    ((line, message),) = find(script)
    assert "selekt" in SCRIPT.splitlines()[line - 1] and "selekt" in message


def test_checkers_and_python_see_the_same_names() -> None:
    """The imports for type checkers name what loads on first use, from where it comes."""
    typed = next(node for node in ast.parse(PUBLIC.read_text(encoding="utf-8")).body if isinstance(node, ast.If))
    imports = [node for node in typed.body if isinstance(node, ast.ImportFrom)]
    found = {alias.asname or alias.name: (node.module, alias.name) for node in imports for alias in node.names}
    assert set(found) == set(padops.__all__) == set(padops._HOMES)
    for name, (module, original) in found.items():
        assert module == padops._HOMES[name]
        value = getattr(padops, name)
        assert value is getattr(sys.modules[module], original) or (name == "convert" and value is sys.modules[module])


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "padops" / "py.typed").read_bytes() == b""
