"""tinygrad: Pad_2 of opset 9, mode constant, float, rank 2.

NaNs get other bits on their way, and a fill of -0 loses its sign [P7]

Needs numpy, onnx, tinygrad.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_2/constant/float/2/both/plain/value/absent.flat/fixed/3 --peer tinygrad
Seen in tinygrad 0.14.0.
"""

from __future__ import annotations

import sys

import numpy as np
import tempfile
from onnx import numpy_helper
from pathlib import Path
from tinygrad import Tensor
from tinygrad.nn.onnx import OnnxRunner

data = np.frombuffer(bytes.fromhex("9ab6794ea524d1988cacf34239784d3f7d10a62922ff821e355fd9ff171c6ee5"), np.float32).reshape([4, 2])
expected = np.frombuffer(bytes.fromhex("000000809ab6794ea524d19800000080000000808cacf34239784d3f00000080000000807d10a62922ff821e0000008000000080355fd9ff171c6ee500000080"), np.float32).reshape([4, 4])


def one_node_model(
    op_type: str,
    names: Sequence[str],
    attributes: Mapping[str, Any],
    inputs: Mapping[str, tuple[int, Sequence[int | str] | None]],
    output: tuple[int, Sequence[int | str] | None],
    opsets: Mapping[str, int],
    ir_version: int,
    constants: Sequence[onnx.TensorProto] = (),
    domain: str = "",
    name: str = "pad",
) -> onnx.ModelProto:
    """A model of one node, whose output is called ``output``.

    ``inputs`` and ``output`` have an element type and a shape each, None for one that is not declared. ``constants``
    are the inputs of the node that the model holds itself; an absent input has an empty name.
    """
    import onnx
    from onnx import helper

    node = helper.make_node(op_type, names, ["output"], name=name, domain=domain)
    for key, value in attributes.items():
        kind = onnx.AttributeProto.INTS if isinstance(value, (list, tuple)) and not value else None
        node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    infos = [helper.make_tensor_value_info(key, *declared) for key, declared in inputs.items()]
    given = helper.make_tensor_value_info("output", *output)
    graph = helper.make_graph([node], "case", infos, [given], constants)
    imports = [helper.make_opsetid(*row) for row in opsets.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version)


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The output of a model of ONNX, fed by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case.onnx")
        path.write_bytes(model.SerializeToString())
        runner = OnnxRunner(path)
        return np.asarray(runner({name: Tensor(array) for name, array in fed.items()})["output"].numpy())


model = one_node_model(
    "Pad",
    ["data"],
    {"mode": "constant", "pads": [0, 1, 0, 1], "value": -0.0},
    inputs={"data": (1, [4, 2])},  # element type and shape
    output=(1, ["d0", "d1"]),
    opsets={"": 9},
    ir_version=8,
    constants=[],
)


def run():
    return pad(model, {"data": data})


REFUSALS = (ValueError, AssertionError)  # the errors that say that a case is wrong


def bits(array):
    if array.dtype.kind in "OUT":
        return "string", array.shape, array.tolist()
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return array.dtype, array.shape, raw.tobytes().hex()


print("expected:", "an error" if expected is None else f"{expected.dtype}{list(expected.shape)}")
if expected is not None:
    print(expected)
sys.stdout.flush()
try:
    got = run()
except Exception as error:
    print(f"got an error: {type(error).__name__}: {error}")
    sys.exit(expected is not None or not isinstance(error, REFUSALS))
print(f"got: {got.dtype}{list(got.shape)}")
print(got)
same = expected is not None and bits(got) == bits(expected)
print("the same bits" if same else "different")
if not same and str(got) == str(expected):  # NaNs of different bits print alike
    print("expected bits:", bits(expected)[-1])
    print("got bits:     ", bits(got)[-1])
sys.exit(not same)
