"""onnx-reference: Pad_24 of opset 24, mode constant, float8e8m0, rank 1.

the default fill of float8e8m0, which has no zero, becomes NaN [P7]

Needs numpy, onnx.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_24/constant/float8e8m0/1/begin/plain/none/absent.flat/dynamic/0 --peer onnx-reference
Seen in onnx 1.23.2, numpy 2.4.6.
"""

from __future__ import annotations

import sys

import numpy as np
import ml_dtypes
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

data = np.frombuffer(bytes.fromhex("76f2f64044"), ml_dtypes.float8_e8m0fnu).reshape([5])
pads = np.array([1, 0], np.int64)
expected = np.frombuffer(bytes.fromhex("0076f2f64044"), ml_dtypes.float8_e8m0fnu).reshape([6])


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
    """The first output of a model of RECORDED, fed by name."""
    outputs = ReferenceEvaluator(model).run(None, dict(fed))
    assert isinstance(outputs, list)  # a dict is for intermediate values
    return np.asarray(outputs[0])


model = one_node_model(
    "Pad",
    ["data", "pads"],
    {"mode": "constant"},
    inputs={"data": (24, None), "pads": (7, None)},  # element type and shape
    output=(24, None),
    opsets={"": 24},
    ir_version=12,
    constants=[],
)


def run():
    return pad(model, {"data": data, "pads": pads})


REFUSALS = (RuntimeError, ValueError, MemoryError)  # the errors that say that a case is wrong


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
