"""Reads parts of a peer's file without importing the file, which may need packages of another environment.

The suite evaluates parts that need no implementation, such as ``ENVIRONMENT``. A script contains the part that calls
the implementation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

PEERS_FOLDER = Path(__file__).resolve().parent
ROOT = PEERS_FOLDER.parents[2]


def has(file: Path, name: str) -> bool:
    """Return whether a file binds a name at its top level."""
    return name in _places(file.read_text(encoding="utf-8"))


def value_of(file: Path, name: str) -> Any:
    """Run the parts of a peer's file that define a name; return the name's value, or None if it is missing."""
    imports, definitions = _part(file, [name])
    namespace = dict[str, Any]()
    kept = []
    for node, other in imports.items():
        beside = bool(getattr(node, "level", 0))
        if other and (beside or has(other, "PACKAGES")):  # such a file may import an implementation
            namespace[_bound(node)[0]] = value_of(other, node.names[0].name)
        else:
            kept.append(node)
    module = ast.Module([*kept, *dict.fromkeys(definitions.values())], [])
    exec(compile(ast.fix_missing_locations(module), str(file), "exec"), namespace)
    return namespace.get(name)


def shown(file: Path, names: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return source that defines names and needs no padops: the import lines, and the needed definitions by name."""
    imports, sources = [], dict[str, str]()
    nodes, definitions = _part(file, names)
    for node, other in nodes.items():
        more, needed = shown(other, [node.names[0].name]) if other else ([ast.unparse(node)], {})
        imports += more
        sources |= needed
    lines = file.read_text(encoding="utf-8").splitlines()
    for name, definition in definitions.items():
        first = min([definition.lineno, *(mark.lineno for mark in getattr(definition, "decorator_list", []))])
        sources[name] = "\n".join(lines[first - 1 : definition.end_lineno])
    return [*dict.fromkeys(imports)], sources


Import = ast.Import | ast.ImportFrom


def _part(file: Path, names: Iterable[str]) -> tuple[dict[Import, Path | None], dict[str, ast.stmt]]:
    """Return the imports and the definitions that these names need, in the order of the file.

    Each import binds one name. The value of an import is the imported file, or None if this file is neither in padops
    nor beside ``file``.
    """
    places = _places(file.read_text(encoding="utf-8"))
    needed: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in places and name not in needed:
            needed.add(name)
            waiting += [used for node in places[name] for used in _names(node)]
    imports: dict[Import, Path | None] = {}
    definitions: dict[str, ast.stmt] = {}
    for name, node in ((name, node) for name, nodes in places.items() if name in needed for node in nodes):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            definitions[name] = node
            continue
        folder = file.parent if getattr(node, "level", 0) else ROOT
        other = folder.joinpath(*str(getattr(node, "module", "")).split(".")).with_suffix(".py")
        imports[node] = other if other.is_file() else None
    return imports, definitions


@cache
def _places(text: str) -> dict[str, list[ast.stmt]]:
    """Return the statements that bind each name at the top level of a source; each import is split by name."""
    places: dict[str, list[ast.stmt]] = {}
    for node in ast.parse(text).body:
        alone = [node]
        if isinstance(node, ast.Import):
            alone = [ast.Import([alias]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            alone = [ast.ImportFrom(node.module, [alias], node.level) for alias in node.names]
        for statement in alone:
            for name in _bound(statement):
                places.setdefault(name, []).append(statement)
    return places


def _bound(node: ast.stmt) -> list[str]:
    """Return the names that a top-level statement binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def _names(node: ast.AST) -> set[str]:
    """Return the names that a statement reads, except in annotations, which nothing evaluates."""
    used = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
    for key, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and key not in ("annotation", "returns"):
                used |= _names(child)
    return used
