"""``--without-pad`` of shapes that are not known: Mod gets no negative number where the result would be wrong for one.

tract computes with shapes by an arithmetic of its own, whose remainder of a negative number is negative.
"""

from __future__ import annotations

import native
import numpy as np
import pytest
import standard_models as standard
from onnx import helper, parser
from onnx.reference import ReferenceEvaluator

import padops

SYMMETRIC = 'y = padops.OpenVINOPad_12 <pad_mode = "symmetric"> (x, b, e)'
ROWS = {
    "reflect-11": (11, 'y = Pad <mode = "reflect"> (x, p)', [2, 1, 0, 1, 2, 1, 0]),
    "reflect-19": (19, 'y = Pad <mode = "reflect"> (x, p)', [2, 1, 0, 1, 2, 1, 0]),
    "symmetric": (19, SYMMETRIC, [1, 0, 0, 1, 2, 2, 1]),
}


@pytest.mark.parametrize(("opset", "node", "shown"), ROWS.values(), ids=ROWS)
def test_no_negative_number_is_divided(opset: int, node: str, shown: list[int]) -> None:
    source = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {opset}, "padops": 1]> g (float[n] x) => (float[m] y)'
        f" <int64[2] p = {{2, 2}}, int64[1] b = {{2}}, int64[1] e = {{2}}> {{ {node} }}"
    )
    made = padops.lower(source, without_pad=True, fold=False).proto()
    (mod,) = [node for node in made.graph.node if node.op_type == "Mod"]
    made.graph.output.append(helper.make_tensor_value_info(mod.input[0], 7, None))
    x = np.arange(3, dtype=np.float32)
    output, divided = ReferenceEvaluator(made).run(None, {"x": x})
    assert output.tolist() == shown and divided.min() == 0 and divided.max() == 4
    del made.graph.output[1]
    assert standard.run(made, {"x": x}, standard.stock_options()) == native.bits(np.array(shown, np.float32))
