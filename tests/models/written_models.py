"""Models in onnx's own notation, for proofs about them."""

from __future__ import annotations

import onnx
import onnx.parser

HEADER = '<ir_version: {ir}, opset_import: ["" : {opset}, "padops" : 1, "com.microsoft" : 1, "other" : 1]>\n'


def model(text: str, opset: int = 18, ir: int = 9) -> onnx.ModelProto:
    """The model whose graph a text says: ``(float[2, n] x) => (float[m, k] y) { y = Relu(x) }``.

    Args:
        text: The graph without its name, and functions behind it.
        opset: Of ONNX's own domain.
        ir: The version of the format.
    """
    return onnx.parser.parse_model(HEADER.format(ir=ir, opset=opset) + "graph " + text)
