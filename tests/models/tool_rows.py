"""What a tool makes of a converted model, in the words of docs/converter.md, and what that page says of the tool."""

from __future__ import annotations

from pathlib import Path

import native
import numpy as np
import onnx
import onnxruntime
from onnx import parser

import padops

PAGE = Path(__file__).resolve().parents[2] / "docs" / "converter.md"
ROWS = np.arange(12, dtype=np.float32).reshape(2, 6)
EXPECTED = native.bits(np.pad(ROWS, [(0, 0), (7, 1)], "reflect"))
CPU = ["CPUExecutionProvider"]


def network() -> onnx.ModelProto:
    """A reflection of more than once around, which a stock session refuses."""
    return parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
        net (float[2, 6] x) => (float[2, 14] y) <int64[4] p = {0, 7, 0, 1}>
        { a = Identity (x)  b = Pad <mode = "reflect"> (a, p)  y = Relu (b) }""")


def rows() -> dict[str, tuple[str, str]]:
    """The page's table: of each tool what it keeps, and whether that runs without padops."""
    section = PAGE.read_text(encoding="utf-8").partition("## Other tools")[2]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: (kept, alone) for name, kept, alone in cells}


def name_of(*words: str) -> str:
    """The only tool of the table whose name has these words."""
    (found,) = [name for name in rows() if all(word in name for word in words)]
    return found


def row(*words: str) -> tuple[str, str]:
    """What the table says of that tool."""
    return rows()[name_of(*words)]


def outcome(made: onnx.ModelProto) -> tuple[str, str]:
    """What there is of padops in a model that gives the right bits, and whether a stock session gives them, too."""
    operators = {node.op_type for node in made.graph.node if node.domain == "padops"}
    functions = {function.name for function in made.functions if function.domain == "padops"}
    kept = ("operators and functions" if functions else "operators") if operators else "neither"
    assert operators or not functions
    if functions and not functions & set(padops.OPS):
        kept = "functions, renamed"
    content = made.SerializeToString()
    assert run(padops.InferenceSession(content)) == EXPECTED
    try:
        return kept, "yes" if run(onnxruntime.InferenceSession(content, providers=CPU)) == EXPECTED else "wrong"
    except Exception as error:  # onnxruntime's exceptions have no base of their own
        assert "is not a registered function/op" in str(error)
        return kept, "no"


def run(session: onnxruntime.InferenceSession) -> object:
    return native.bits(session.run(None, {session.get_inputs()[0].name: ROWS})[0])
