"""The breaks of a Python source, found in its syntax tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from itertools import accumulate

from .change import Change

OPPOSITES = ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot))
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    one: other for pair in OPPOSITES for one, other in (pair, pair[::-1])
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
ALIKE = ("isinstance", "add", "mul", "gcd", "lcm", "isdisjoint")  # with other arguments refused at once, or the same
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


def changes(file: str, source: str) -> Iterator[Change]:
    """All breaks of one file, in no order; none in annotations, decorators, strings and what only types are for.

    Args:
        file: Its path from the checkout's root.
        source: Its text.
    """
    starts = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]
    lines = source.splitlines()

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node in _code(ast.parse(source)):
        for place, changed, kind in _changed(node):
            text = changed if isinstance(changed, str) else ast.unparse(changed)
            if isinstance(changed, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp)):
                text = f"({text})"
            span = offset(place.lineno, place.col_offset), offset(place.end_lineno, place.end_col_offset)
            yield Change(file, *span, text, kind)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree that run, each once."""
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in field if isinstance(field, list) else [field]:
            if not isinstance(child, ast.AST) or isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue  # a docstring
            yield child
            yield from _code(child)


def _changed(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST | str, str]]:
    """What of a node is replaced, what stands in its place, and what kind of break that is."""
    made = copy.copy(node)
    match made:
        case ast.Compare():
            for i, op in enumerate(made.ops):
                one = copy.copy(made)
                one.ops = [*made.ops[:i], COMPARISONS[type(op)](), *made.ops[i + 1 :]]
                yield node, one, "comparison"
        case ast.BoolOp():
            made.op = ast.Or() if isinstance(made.op, ast.And) else ast.And()
            yield node, made, "logic"
        case ast.UnaryOp(op=ast.Not()):
            yield node, made.operand, "condition"
        case ast.If() if not isinstance(made.test, (ast.Compare, ast.UnaryOp)):  # these have breaks of their own
            yield node.test, ast.UnaryOp(ast.Not(), made.test), "condition"
        case ast.IfExp():
            made.body, made.orelse = made.orelse, made.body
            yield node, made, "condition"
        case ast.BinOp() if type(made.op) in OPERATORS:
            made.op = OPERATORS[type(made.op)]()
            yield node, made, "arithmetic"
        case ast.Constant(value=bool(value)):
            yield node, str(not value), "word"
        case ast.Constant(value=int(value)):
            yield node, str(value + 1), "constant"
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            made.func = ast.Name(NAMES[name])
            yield node, made, "word"
        case ast.Call(args=[first, second]) if type(first) is type(second) and not isinstance(first, ast.Starred):
            made.args = [second, first]
            if ast.unparse(made.func).rpartition(".")[2] not in ALIKE and ast.dump(first) != ast.dump(second):
                yield node, made, "arguments"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield node, "return None", "returned"
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break():
            yield node, "pass", "dropped"
