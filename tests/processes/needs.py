"""What tests need that the README does not name, and which of it is not here.

A test says what it needs by what its file imports (peers), by the fixture ``browser``, by the parameter ``checker``, or
by the marks ``needs`` and ``needs_environment``. Where that is not here, the test is left out, and the run says so at
its end. Where ``PADOPS_PEERS`` is set (``scripts/test.py --peers``, and so in CI) nothing is left
out but the environments that it does not name: what is not here is a failure.
"""

from __future__ import annotations

import os
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import chromium
import pytest

from padops.conformance.divergences import add_peers
from padops.conformance.peers import is_made

TESTS = Path(__file__).resolve().parents[1]
IMPORTED = re.compile(r"^ *(?:from|import) (\w+)", re.MULTILINE)  # a parser takes seconds for all tests
NEIGHBOURS = {path.stem: path for path in TESTS.rglob("*.py") if path.parent.name not in ("mutation", "long")}
TOOLS = {"onnxconverter_common", "onnxoptimizer", "onnxsim"}  # beside which padops is tested
PEERS = {"jax", "jax2onnx", "onnxscript", "openvino", "tensorflow", "tf2onnx", "torch", *TOOLS}
# The type checkers and what else the extra ``lint`` has.
CHECKERS = ("mypy", "basedpyright", "twine", "check_wheel_contents", "pre_commit")
CLANG = "clang++"


@cache
def peers_of(file: Path) -> frozenset[str]:
    """The peers that a file imports, itself or through its neighbours."""
    found: set[str] = set()
    for name in {*IMPORTED.findall(file.read_text(encoding="utf-8"))}:
        neighbour = NEIGHBOURS.get(name)
        found |= {name} & PEERS if neighbour in (None, file) else peers_of(neighbour)
    return frozenset(found)


def _is_apart(row) -> bool:
    return is_made(row.environment) and all(which(program) for program in row.command[:1])


REQUIRED = bool(os.environ.get("PADOPS_PEERS"))  # that all of it is here
ASKED_FOR = os.environ.get("PADOPS_PEERS", "").split(",")
MISSING_PEERS = {name for name in PEERS if not REQUIRED and find_spec(name) is None}
ISOLATED = add_peers(TESTS.parent / "scripts" / "isolated")  # so that the suite knows them in each test
IN_BROWSER = {row.name for row in ISOLATED if row.environment == "onnxruntime-web-webgpu"}
NOT_MADE = [row.name for row in ISOLATED if row.environment not in ASKED_FOR and not _is_apart(row)]
UNCHECKED = [name for name in CHECKERS if not REQUIRED and find_spec(name) is None]
NO_CLANG = not REQUIRED and which(CLANG) is None
NO_BROWSER = not REQUIRED and not any(map(which, chromium.NAMES))
NOT_HERE = {*MISSING_PEERS, *UNCHECKED, *NOT_MADE, *[CLANG] * NO_CLANG, *["chromium"] * NO_BROWSER}


def can_be_imported(file: Path) -> bool:
    return MISSING_PEERS.isdisjoint(peers_of(file))


def needs_of(item: pytest.Item) -> set[str]:
    """Return what a test needs besides the imports of its file."""
    marks = [mark for name in ("needs", "needs_environment") for mark in item.iter_markers(name)]
    found = {name for mark in marks for name in mark.args}
    shown = "browser" in getattr(item, "fixturenames", ()) or found & IN_BROWSER
    found |= {"chromium"} if shown else set()
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return found | ({parameters["checker"]} if "checker" in parameters else set())


def said() -> list[str]:
    names = ", ".join(sorted(NOT_HERE))
    told = f"LEFT OUT is what needs {names}: none of them is here; python3 scripts/test.py --peers leaves nothing out"
    return [told] if names else []
