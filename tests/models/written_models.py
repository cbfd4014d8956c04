"""Models in onnx's own notation, for proofs about them."""

from __future__ import annotations

import onnx
import onnx.parser

HEADER = '<ir_version: {ir}, opset_import: ["" : {opset}, "padops" : 1, "com.microsoft" : 1, "other" : 1]>\n'


def model(text: str, opset: int = 18, ir: int = 9) -> onnx.ModelProto:
    """The model whose graph, with functions behind it, a text is: ``(float[2, n] x) => (float[m, k] y) { … }``."""
    return onnx.parser.parse_model(HEADER.format(ir=ir, opset=opset) + "graph " + text)
