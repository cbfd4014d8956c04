"""What a public function of the package has to say of itself: its arguments where they are many, and what it raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "padops"

MANY = 3  # parameters, from which on each is described

Function = ast.FunctionDef | ast.AsyncFunctionDef


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


def test_docstrings_say_it() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 100
    found = {str(file.relative_to(PACKAGE)): lacking(file.read_text(encoding="utf-8")) for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_the_check_finds_what_is_missing() -> None:
    source = '''
def three(a, b, *, c): """One line."""
def two(a, b): """One line."""
def fails(): raise ValueError
def catches():
    try: raise ValueError
    except ValueError: pass
def catches_another():
    try: raise ValueError
    except KeyError: raise
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
    assert found == ["three: Args:", "fails: Raises:", "catches_another: Raises:", "Public.long: Args:"]
