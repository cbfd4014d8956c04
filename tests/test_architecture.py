"""The rules of the code in docs/architecture.md, checked against the sources.

Who imports what, which rules exist, how long files and functions are.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "padops"
MODULES = sorted(PACKAGE.rglob("*.py"))
CSRC = PACKAGE / "csrc"
SOURCES = sorted(path for path in CSRC.rglob("*") if path.suffix in {".h", ".cpp", ".inc"})
SEMANTICS = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
CORE = sorted({*(PACKAGE / "spec").rglob("*.py")} - {PACKAGE / "spec" / "schemas.py"})  # which are for onnx
SCRIPTS, TESTS = ROOT / "scripts", ROOT / "tests"
SUFFIXES = {".py", ".h", ".cpp", ".inc"}
MAX_LINES, MAX_FUNCTION = 600, 60  # a function's without its docstring
LABEL = r"(?:P[1-9]\d*|S1)"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS = re.findall(r"^\| `(padops/(?!csrc/)[^`]+)` \|", ARCHITECTURE, re.MULTILINE)
CSRC_LAYERS = re.findall(r"^\| `padops/csrc/(\w+)/` \|", ARCHITECTURE, re.MULTILINE)
# They hand the names of others on, and are in no layer: what imports them imports one of those.
FACADES = {PACKAGE / "__init__.py", PACKAGE / "__main__.py", PACKAGE / "convert" / "__init__.py"}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports(path: Path) -> set[str]:
    """Dotted names that a file imports anywhere in it, also inside functions; ``from a import b`` gives a and a.b."""
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            found.update(value for value in [getattr(node.args[0], "value", None)] if isinstance(value, str))
    return found


def layer_of(path: Path) -> int:
    """The row of the folder, or of the file, that a module stands in; 0 is the top."""
    name = path.relative_to(ROOT).as_posix()
    (row,) = [i for i, layer in enumerate(LAYERS) if name == layer or (layer[-1] == "/" and name.startswith(layer))]
    return row


@cache
def file_of(module: str) -> Path | None:
    """The file of a module of the package; None where the name is that of something inside a module."""
    place = ROOT.joinpath(*module.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


@cache
def imported_files(path: Path) -> set[Path]:
    """The modules of the package that a file imports: of ``from a import b``, b where that is a module, else a."""
    names = {name for name in imports(path) if file_of(name)}
    folders = {
        node.module
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and all(file_of(f"{node.module}.{alias.name}") for alias in node.names)
    }
    return {file_of(name) for name in names - folders}


def test_imports_lead_downwards() -> None:
    """Every layer is there, every module is in one, and no module imports itself by way of others."""
    assert LAYERS and [layer for layer in LAYERS if not (ROOT / layer).exists()] == []
    graph = {path: imported_files(path) - FACADES for path in set(MODULES) - FACADES}
    layers = {path: layer_of(path) for path in graph}
    pairs = [(path, other) for path, others in graph.items() for other in others]
    assert [(name_of(path), name_of(other)) for path, other in pairs if layers[other] < layers[path]] == []
    tuple(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("runtime", ["onnxruntime", "onnxruntime_extensions"])
def test_who_imports_the_runtime(runtime: str) -> None:
    allowed = re.compile(
        r"padops\.(session|runtime\..*|bench(\..*)?|probe\.running|convert\.verify\..*|conformance\.peers(\..*)?)"
    )
    found = {name_of(path) for path in MODULES if any(f"{name}.".startswith(f"{runtime}.") for name in imports(path))}
    assert found, "the package does import it"
    assert {name for name in found if not allowed.fullmatch(name)} == set()


def test_the_verifier_shares_no_rule_of_pad_with_the_converter() -> None:
    """A bug in shared code would be in both: a verification shares the reading of models, and types as data.

    A fallback function is compared with the one that padops writes, and an entry asks what to note of an original.
    """
    allowed = re.compile(
        r"padops\.(plural|processes|progress|extras|deferred|runtime(\..*)?|spec\.(dtypes|bits|dialects|pyop_node)"
        r"|convert\.(errors|records|arguments|inputs\..*|ir(\..*)?|model(\..*)?|verify(\..*)?))"
    )
    analysis = {"padops.convert.analysis"}
    exempt = {"fallbacks.py": analysis | {"padops.convert.standard.fallback"}, "choice.py": analysis,
              "providers.py": analysis}  # fmt: skip
    verify = sorted((PACKAGE / "convert" / "verify").rglob("*.py"))
    assert len(verify) > 20
    for path in verify:
        used = {name_of(other) for other in imported_files(path) - FACADES} - exempt.get(path.name, set())
        assert {name for name in used if not allowed.fullmatch(name)} == set(), f"{name_of(path)} shares code"


def test_the_core_knows_no_onnx() -> None:
    """The core needs only NumPy, the standard library and itself, names a missing package, and counts."""
    shared = {PACKAGE / f"{name}.py" for name in ("__init__", "extras", "plural")}
    for path in CORE:
        assert imported_files(path) - {*CORE, *shared} == set(), path
        tops = {imported.partition(".")[0] for imported in imports(path)}
        assert tops <= {"padops", "numpy", "ml_dtypes", *sys.stdlib_module_names}, path


def includes(path: Path) -> list[str]:
    return re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))


def included(name: str) -> set[str]:
    """A source and the project's own headers that it includes, by any number of steps."""
    found, new = set(), {name}
    while new:
        found |= new
        new = {header for one in new for header in includes(CSRC / one)} - found
    return found


@pytest.mark.parametrize("layer", CSRC_LAYERS)
def test_includes_lead_downwards(layer: str) -> None:
    """Nothing but ort/ sees the runtime, and copy/ knows runs and bytes alone."""
    assert {path.parent for path in SOURCES} == {CSRC / layer for layer in CSRC_LAYERS}
    above = CSRC_LAYERS[: CSRC_LAYERS.index(layer)]
    headers = {header for path in (CSRC / layer).iterdir() for header in includes(path)}
    assert {header for header in headers if header.split("/")[0] in above} == set()
    assert all((CSRC / header).is_file() for header in headers)


def test_plan_and_engine_know_no_dialect_and_no_type() -> None:
    for name in ("core/plan.cpp", "core/engine.cpp", "core/walk.h"):
        assert included(name) & {"core/amounts.h", "core/dialects.h", "core/types.h", "core/types.inc"} == set()
    assert included("ort/kernel.cpp") >= {"core/plan.h", "core/engine.h", "core/dialects.h", "core/types.h"}


def test_files_and_functions_are_short() -> None:
    files = [path for folder in (PACKAGE, SCRIPTS, TESTS) for path in folder.rglob("*") if path.suffix in SUFFIXES]
    assert len(files) > 280
    long = {path: count for path in files if (count := len(path.read_text("utf-8").splitlines())) > MAX_LINES}
    functions = [
        (path, node)
        for path in [*MODULES, *SCRIPTS.rglob("*.py")]
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(functions) > 500
    long |= {(path, node.name): count for path, node in functions if (count := lines_of(node)) > MAX_FUNCTION}
    assert long == {}


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return function.end_lineno - function.lineno + 1 - docstring


def named(paths: list[Path]) -> set[str]:
    """The rules that the files name anywhere, comments included; "P1–P5" names all five."""
    labels: set[str] = set()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        labels.update(re.findall(rf"\b{LABEL}\b", text))
        for first, last in re.findall(r"\bP(\d+)[–…]P(\d+)\b", text):
            labels.update(f"P{number}" for number in range(int(first), int(last) + 1))
    return labels


def test_rules() -> None:
    """They are numbered without a gap, both languages raise the same, only these are named, and each is in a test."""
    rules = set(re.findall(rf"^### ({LABEL}) ", SEMANTICS, re.MULTILINE))
    numbers = sorted(int(label[1:]) for label in rules if label[0] == "P")
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 10
    constants = {node.value for path in CORE for node in nodes_of(path) if isinstance(node, ast.Constant)}
    in_python = {value for value in constants if isinstance(value, str) and re.fullmatch(LABEL, value)}
    in_cpp = {label for path in SOURCES for label in re.findall(rf'"({LABEL})"', path.read_text(encoding="utf-8"))}
    assert in_cpp == in_python <= rules
    tests = [path for path in TESTS.rglob("*.py") if path.name != Path(__file__).name]
    assert (named(MODULES) | named(SOURCES) | named(tests)) - rules == set()
    assert rules - named([path for path in tests if path.name.startswith("test_")]) == set()
