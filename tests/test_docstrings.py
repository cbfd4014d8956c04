"""What docstrings must hold where users can import a function: ``Args:``, and ``Raises:`` if it raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "padops"

MANY = 3  # parameters: from so many on, each is described

FOR_USERS = ("padops", "padops.convert")  # users import the names in __all__ of these packages
EXPORTERS = sorted((PACKAGE / "exporters").glob("*.py"))  # and every public function of these files

Function = ast.FunctionDef | ast.AsyncFunctionDef


def public_functions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body, f"{node.name}.")
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield owner + node.name, node


def parameters(function: Function) -> list[str]:
    arguments = function.args
    named = [row.arg for row in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    named += [row.arg for row in (arguments.vararg, arguments.kwarg) if row is not None]
    return [name for name in named if name not in ("self", "cls")]


def raises(node: ast.AST, caught: frozenset[str] = frozenset()) -> bool:
    """Whether a function lets a ``raise`` of its own out, outside of the functions and classes in it."""
    if isinstance(node, ast.Raise):
        named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return not isinstance(named, ast.Name) or named.id not in caught
    if isinstance(node, ast.Try):
        here = {name.id for row in node.handlers for name in ast.walk(row.type or node) if isinstance(name, ast.Name)}
        rest = (*node.handlers, *node.orelse, *node.finalbody)
        return any(raises(x, caught | here) for x in node.body) or any(raises(x, caught) for x in rest)
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    return any(raises(child, caught) for child in ast.iter_child_nodes(node) if not isinstance(child, inner))


def file_of(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def home(module: str, name: str) -> tuple[Path, str]:
    """The file that defines a name which a module exports, and the name there: imports and aliases are followed."""
    file = file_of(module)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        for row in node.names if isinstance(node, ast.ImportFrom) else ():
            if name == (row.asname or row.name) and node.module and node.module.startswith("padops"):
                return home(node.module, row.name)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and ast.unparse(node.targets[0]) == name:
            return file, node.value.id
    return file, name


def names_for_users() -> dict[Path, set[str]]:
    """The functions and classes that users can import, by the file that defines them."""
    found: dict[Path, set[str]] = {}
    for module in FOR_USERS:
        for name in import_module(module).__all__:
            file, defined = home(module, name)
            found.setdefault(file, set()).add(defined)
    for file in EXPORTERS:
        names = {name.split(".")[0] for name, _ in public_functions(ast.parse(file.read_text(encoding="utf-8")).body)}
        found.setdefault(file, set()).update(names)
    return found


def lacking(source: str, for_users: set[str]) -> list[str]:
    """The sections that the docstrings of a module lack, one line for each function.

    ``for_users`` holds the functions and classes of the module that need them.
    """
    found = []
    for name, function in public_functions(ast.parse(source).body):
        text = ast.get_docstring(function) or ""
        many = len(parameters(function)) >= MANY
        if name.split(".")[0] not in for_users:
            continue
        wanted = [("Args:", many), ("Raises:", raises(function))]
        missing = [section for section, needed in wanted if needed and f"\n{section}\n" not in text]
        if missing:
            found.append(f"{name} (line {function.lineno}): {', '.join(missing)}")
    return found


def test_docstrings_say_it() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 100
    users = names_for_users()
    found = {
        str(file.relative_to(PACKAGE)): lacking(file.read_text(encoding="utf-8"), users.get(file, set()))
        for file in files
    }
    assert {file: lines for file, lines in found.items() if lines} == {}
