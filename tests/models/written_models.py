"""Models in onnx's own notation, for proofs about them."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
from small_models import tensor

DOMAINS = '"padops" : 1, "com.microsoft" : 1, "other" : 1'


def model(text: str, opset: int = 18, ir: int = 9, imports: str = DOMAINS) -> onnx.ModelProto:
    """The model whose graph, with functions behind it, a text is: ``(float[2, n] x) => (float[m, k] y) { … }``."""
    return onnx.parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {opset}, {imports}]>\ngraph {text}')


def half_network() -> onnx.ModelProto:
    """A network of float16, made from float by onnxruntime's tool; ONNX Runtime computes it in float between casts."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    source = model("""(float[1, 3, 16, 16] x) => (float[a, b, c, d] y) <int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}> {
        [pad0] p0 = Pad <mode = "reflect"> (x, pads) c0 = Conv (p0, w0) r0 = Relu (c0)
        [pad1] p1 = Pad <mode = "reflect"> (r0, pads) c1 = Conv (p1, w1) y = Relu (c1) }""", 17, 8)  # fmt: skip
    rng = np.random.default_rng(0)
    for name, channels in (("w0", 3), ("w1", 8)):
        weights = rng.standard_normal((8, channels, 3, 3)) / np.sqrt(9 * channels)
        source.graph.initializer.append(tensor(name, weights, np.float32))
    return convert_float_to_float16(source, keep_io_types=True)
