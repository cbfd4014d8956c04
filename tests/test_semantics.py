"""docs/semantics.md lists the operators of the package; ``python tests/test_semantics.py`` rewrites its table."""

from __future__ import annotations

from pathlib import Path

from padops.spec.dialects import OPS
from padops.spec.dtypes import DTYPES

PAGE = Path(__file__).parent.parent / "docs" / "semantics.md"
BEGIN = "<!-- operators: written by tests/test_semantics.py -->\n"
END = "<!-- /operators -->\n"


def operators_table() -> str:
    """Operators × inputs, attributes, modes and element types, in Markdown."""
    lines = ["| op_type | inputs | attributes | modes | element types |", "|---|---|---|---|---|"]
    previous: set[str] = set()
    for op in OPS.values():
        inputs = ", ".join(row.name + "?" * row.optional for row in op.inputs)
        attributes = ", ".join(
            row.name + (f'="{row.default}"' if row.type == "string" else "?") * (not row.required)
            for row in op.attributes
        )
        lines.append(f"| {op.name} | {inputs} | {attributes} | {' '.join(op.modes)} | {_types(op.types, previous)} |")
        previous = set(op.types)
    return "\n".join(lines) + "\n"


def _types(names: tuple[str, ...], previous: set[str]) -> str:
    """All names, or what a version adds to the one before it."""
    if len(names) == len(DTYPES) and previous == set(names):
        return "same"
    if previous and previous < set(names):
        return "+ " + " ".join(name for name in names if name not in previous)
    return "same" if previous == set(names) else " ".join(names)


def test_operators_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)] == operators_table()


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page[: page.index(BEGIN)] + BEGIN + operators_table() + page[page.index(END) :], encoding="utf-8")
