"""What a public function of the package has to say of itself: its arguments where they are many, and what it raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "padops"

# What is held to it so far, relative to the package: files, and folders with all that is in them. The aim is the package.
HELD = [
    "__init__.py",
    "__main__.py",
    "bench",
    "cli.py",
    "conformance",
    "convert/__init__.py",
    "convert/errors.py",
    "convert/files",
    "convert/model",
    "convert/pipeline.py",
    "convert/readers",
    "convert/show.py",
    "exporters",
    "files",
    "runtime",
    "spec",
]
MANY = 3  # parameters, from which on each is described

Function = ast.FunctionDef | ast.AsyncFunctionDef


def files_of(place: str) -> list[Path]:
    path = PACKAGE / place
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def public_functions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Function]]:
    """The public functions of a module and the public methods of its public classes, by their names."""
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


def raises(node: ast.AST) -> bool:
    """Whether a function has a ``raise`` of its own, outside of the functions and classes in it."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    return any(
        isinstance(child, ast.Raise) or (not isinstance(child, inner) and raises(child))
        for child in ast.iter_child_nodes(node)
    )


def lacking(source: str) -> list[str]:
    """What the docstrings in a module do not say, one line for each function."""
    found = []
    for name, function in public_functions(ast.parse(source).body):
        text = ast.get_docstring(function) or ""
        wanted = [("Args:", len(parameters(function)) >= MANY), ("Raises:", raises(function))]
        missing = [section for section, needed in wanted if needed and f"\n{section}\n" not in text]
        if missing:
            found.append(f"{name} (line {function.lineno}): {', '.join(missing)}")
    return found


@pytest.mark.parametrize("place", HELD)
def test_docstrings_say_it(place: str) -> None:
    files = files_of(place)
    assert files and all(file.is_file() for file in files)
    found = {str(file.relative_to(PACKAGE)): lacking(file.read_text(encoding="utf-8")) for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_the_check_finds_what_is_missing() -> None:
    source = '''
def three(a, b, *, c): """One line."""
def two(a, b): """One line."""
def fails(): raise ValueError
def inner():
    def _raising(): raise ValueError
def _private(a, b, c): raise ValueError
class Public:
    def method(self, a, b): """One line."""
    def long(self, a, b, *c): """One line."""
class _Private:
    def method(self, a, b, c): raise ValueError
def good(a, b, c):
    """One line.

    Args:
        a: First.

    Raises:
        ValueError: Always.
    """
    raise ValueError
'''
    found = [line.split(" (")[0] + line.partition(")")[2] for line in lacking(source)]
    assert found == ["three: Args:", "fails: Raises:", "Public.long: Args:"]
