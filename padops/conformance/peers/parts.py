"""A part of a peer's file, without the rest: what the rest imports may be installed in another environment.

The suite runs parts that need no implementation, such as ``ENVIRONMENT``. A script shows the part that asks the
implementation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PEERS_FOLDER = Path(__file__).resolve().parent
ROOT = PEERS_FOLDER.parents[2]


@dataclass(frozen=True)
class Part:
    """What a file defines by some names, with all that it needs but for annotations, in the order of the file.

    Attributes:
        imports: Statements that import one name each.
        of_padops: Those among the imports that name a file of padops, or one beside this file, by that file.
        definitions: Constants and functions.
    """

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    of_padops: dict[ast.ImportFrom, Path]
    definitions: dict[str, ast.stmt]

    @classmethod
    def of(cls, file: Path, names: Iterable[str]) -> Part:
        """The part of these names; those that the file has not are left out."""
        places = _places(file)
        needed: set[str] = set()
        waiting = [*names]
        while waiting:
            name = waiting.pop()
            if name in places and name not in needed:
                needed.add(name)
                waiting += [used for node in places[name] for used in _names(node)]
        imports, of_padops, definitions = [], {}, {}
        for name, node in ((name, node) for name, nodes in places.items() if name in needed for node in nodes):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                definitions[name] = node
                continue
            imports.append(node)
            if isinstance(node, ast.ImportFrom):
                folder = file.parent if node.level else ROOT
                other = folder.joinpath(*str(node.module).split(".")).with_suffix(".py")
                if other.is_file():
                    of_padops[node] = other
        return cls(tuple(imports), of_padops, definitions)


def has(file: Path, name: str) -> bool:
    """Whether a file binds a name at its top level."""
    return name in _places(file)


def value_of(file: Path, name: str) -> Any:
    """The value of a name in a peer's file, or None without such a name; runs only what the value needs."""
    part, namespace = Part.of(file, [name]), dict[str, Any]()
    imports = []
    for node in part.imports:
        other = part.of_padops.get(node) if isinstance(node, ast.ImportFrom) else None
        # A file of a peer imports an implementation.
        if other and (node.level or has(other, "PACKAGES") or has(other, "REFUSALS")):
            namespace[_bound(node)[0]] = value_of(other, node.names[0].name)
        else:
            imports.append(node)
    module = ast.Module([*imports, *dict.fromkeys(part.definitions.values())], [])
    exec(compile(ast.fix_missing_locations(module), str(file), "exec"), namespace)
    return namespace.get(name)


def shown(file: Path, names: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Source that works without padops.

    Returns:
        Lines that import, and by name what the file and those of padops that it imports from define, as it stands
        there.
    """
    part = Part.of(file, names)
    imports, sources = [], dict[str, str]()
    for node in part.imports:
        if isinstance(node, ast.ImportFrom) and node in part.of_padops:
            more, needed = shown(part.of_padops[node], [node.names[0].name])
            imports += more
            sources |= needed
        else:
            imports.append(ast.unparse(node))
    lines = file.read_text(encoding="utf-8").splitlines()
    for name, definition in part.definitions.items():
        first = min([definition.lineno, *(mark.lineno for mark in getattr(definition, "decorator_list", []))])
        sources[name] = "\n".join(lines[first - 1 : definition.end_lineno])
    return [*dict.fromkeys(imports)], sources


def _places(file: Path) -> dict[str, list[ast.stmt]]:
    """The statements that bind each name at the top level of a file; an import has one name."""
    return _places_in(file.read_text(encoding="utf-8"))


@cache
def _places_in(text: str) -> dict[str, list[ast.stmt]]:
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
    """The names that a statement of the top level binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def _names(node: ast.AST) -> set[str]:
    """The names of the top level that a statement may use; nothing evaluates annotations."""
    used, own = set(), set()
    for key, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and key not in ("annotation", "returns"):
                used |= _names(child)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        used.add(node.id)
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        inside = [*ast.walk(node)]
        own = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        own |= {one.arg for one in inside if isinstance(one, ast.arg)}
    return used - own
