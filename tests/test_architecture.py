"""What must stay so by docs/architecture.md, read from the sources.

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


def importers(module: str) -> set[str]:
    """The modules of the package that import ``module`` or something below it."""
    return {
        name_of(path)
        for path in MODULES
        if any(name == module or name.startswith(module + ".") for name in imports(path))
    }


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


def test_every_layer_is_there_and_every_module_is_in_one() -> None:
    assert LAYERS and [layer for layer in LAYERS if not (ROOT / layer).exists()] == []
    for path in set(MODULES) - FACADES:
        layer_of(path)


def test_imports_lead_downwards() -> None:
    upwards = [
        f"{name_of(path)} imports {name_of(other)}"
        for path in sorted(set(MODULES) - FACADES)
        for other in imported_files(path) - FACADES
        if layer_of(other) < layer_of(path)
    ]
    assert upwards == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {path: imported_files(path) - FACADES for path in set(MODULES) - FACADES}
    tuple(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("runtime", ["onnxruntime", "onnxruntime_extensions"])
def test_who_imports_the_runtime(runtime: str) -> None:
    allowed = re.compile(
        r"padops\.(session|runtime\..*|bench(\..*)?|probe\.running|convert\.verify\..*|conformance\.peers(\..*)?)"
    )
    found = importers(runtime)
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


def included(name: str, seen: set[str] | None = None) -> set[str]:
    """The project's own headers that a source includes, by any number of steps."""
    seen = set() if seen is None else seen
    for header in includes(CSRC / name):
        if header not in seen:
            seen.add(header)
            included(header, seen)
    return seen


def test_every_folder_of_csrc_is_a_layer() -> None:
    assert len(CSRC_LAYERS) > 1 and {path.parent for path in SOURCES} == {CSRC / layer for layer in CSRC_LAYERS}


@pytest.mark.parametrize("layer", CSRC_LAYERS)
def test_includes_lead_downwards(layer: str) -> None:
    """Nothing but ort/ sees the runtime, and copy/ knows runs and bytes alone."""
    above = CSRC_LAYERS[: CSRC_LAYERS.index(layer)]
    headers = {header for path in (CSRC / layer).iterdir() for header in includes(path)}
    assert {header for header in headers if header.split("/")[0] in above} == set()
    assert all((CSRC / header).is_file() for header in headers)


def test_plan_and_engine_know_no_dialect_and_no_type() -> None:
    for name in ("core/plan.cpp", "core/engine.cpp", "core/walk.h"):
        assert included(name) & {"core/amounts.h", "core/dialects.h", "core/types.h", "core/types.inc"} == set()
    assert included("ort/kernel.cpp") >= {"core/plan.h", "core/engine.h", "core/dialects.h", "core/types.h"}


def test_files_are_short() -> None:
    files = [path for folder in (PACKAGE, SCRIPTS, TESTS) for path in folder.rglob("*") if path.suffix in SUFFIXES]
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert len(lines) == len(files) > 300
    assert {name for name, count in lines.items() if count > MAX_LINES} == set()


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return function.end_lineno - function.lineno + 1 - docstring


def test_functions_are_short() -> None:
    lines = {
        f"{name_of(path)}:{node.lineno} {node.name}": lines_of(node)
        for path in [*MODULES, *SCRIPTS.rglob("*.py")]
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(lines) > 500
    assert {name: count for name, count in lines.items() if count > MAX_FUNCTION} == {}


def documented() -> set[str]:
    return set(re.findall(rf"^### ({LABEL}) ", SEMANTICS, re.MULTILINE))


def named(paths: list[Path]) -> set[str]:
    """The rules that the files name anywhere, comments included; "P1–P5" names all five."""
    labels: set[str] = set()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        labels.update(re.findall(rf"\b{LABEL}\b", text))
        for first, last in re.findall(r"\bP(\d+)[–…]P(\d+)\b", text):
            labels.update(f"P{number}" for number in range(int(first), int(last) + 1))
    return labels


def raised_in_python() -> set[str]:
    """The string constants that are a rule: what PadError and ``Node.error`` get."""
    return {
        node.value
        for path in CORE
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(LABEL, node.value)
    }


def raised_in_cpp() -> set[str]:
    return {label for path in SOURCES for label in re.findall(rf'"({LABEL})"', path.read_text(encoding="utf-8"))}


def test_rules_are_numbered_without_a_gap() -> None:
    numbers = sorted(int(label[1:]) for label in documented() if label[0] == "P")
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 10


def test_only_documented_rules_are_named() -> None:
    tests = [path for path in TESTS.rglob("*.py") if path.name != Path(__file__).name]
    for paths in (MODULES, SOURCES, tests):
        assert named(paths) - documented() == set()


def test_both_languages_raise_the_same_rules() -> None:
    assert raised_in_cpp() == raised_in_python() <= documented()


def test_each_rule_is_named_in_a_test() -> None:
    tests = [path for path in TESTS.rglob("test_*.py") if path.name != Path(__file__).name]
    assert documented() - named(tests) == set()
