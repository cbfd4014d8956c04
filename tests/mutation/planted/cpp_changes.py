"""The breaks of a C++ source: operators, constants, conditions, statements and arguments in lines of code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .change import Change

# Comments, strings, characters, and lines of the preprocessor with what continues them.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*|\bstatic_assert\(.*?;',
    re.DOTALL | re.MULTILINE,
)
# clang-format puts spaces around the operators of two operands, and none around the brackets of templates.
SWAPS = {
    "comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "logic": {"&&": "||", "||": "&&"},
    "arithmetic": {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "<<": ">>", ">>": "<<"},
}
OPERATOR = re.compile(r"(?<= )(?:[<>=!]=|[<>]|&&|\|\||<<|>>|[-+]=|[-+*/%])(?= )")
NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
WORD = re.compile(r"\b(?:true|false|std::min|std::max|any_of|all_of)\b")
WORDS = {"true": "false", "false": "true", "std::min": "std::max", "std::max": "std::min"}
WORDS |= {"any_of": "all_of", "all_of": "any_of"}
CONDITION = re.compile(r"\bif \((?P<of>[^;{}\n]+)\)(?= [^\n]*;$| \{$|$)", re.MULTILINE)
# A whole statement in a line of its own, or after an if: a call, an assignment, a return, continue or break.
STATEMENT = re.compile(
    r"(?:(?<=[;{}]\n)|(?<=\) ))[ ]*(?P<of>(?:[\w:>.\[\]*-]+(?:<[\w: ]+>)?\([^;{}\n]*\)|[*\w.>\[\]-]+ [-+|]?= [^;{}\n]+"
    r"|(?:\+\+|--)\w+|return|return (?P<given>[^;{}\n]+)|throw [^;{}\n]+|continue|break));$",
    re.MULTILINE,
)
# Not where one of them is what every call of the runtime has: no other type fits there.
ARGUMENTS = re.compile(r"(?<=[(])(?!(?:api_?|context|info|minor_?)\b)(?P<first>[\w.]+), (?P<second>[\w.]+)(?=[,)])")


def changes(file: str, source: str) -> Iterator[Change]:
    """All breaks of one file, in no order.

    Args:
        file: Its path from the checkout's root.
        source: Its text, as clang-format lays it out.
    """
    code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), source)
    for found in OPERATOR.finditer(code):
        for kind, others in SWAPS.items():
            if found.group() in others:
                yield Change(file, *found.span(), others[found.group()], kind)
    for found in NUMBER.finditer(code):
        yield Change(file, *found.span(), str(int(found.group()) + 1), "constant")
    for found in WORD.finditer(code):
        yield Change(file, *found.span(), WORDS[found.group()], "word")
    for found in CONDITION.finditer(code):
        condition = source[slice(*found.span("of"))]
        if condition.count("(") == condition.count(")"):
            yield Change(file, *found.span("of"), f"!({condition})", "condition")
    for found in STATEMENT.finditer(code):
        if found.group("given") is None:
            yield Change(file, *found.span("of"), "", "dropped")
        elif found.group("given") not in ("true", "false", "{}"):
            yield Change(file, *found.span("given"), "{}", "returned")
    for found in ARGUMENTS.finditer(code):
        if found["first"] != found["second"]:
            yield Change(file, *found.span(), f"{found['second']}, {found['first']}", "arguments")
