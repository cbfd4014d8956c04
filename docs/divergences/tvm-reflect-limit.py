"""tvm: Pad_13 of opset 15, mode reflect, uint8, rank 1.

a reflection longer than n - 1 reads memory beyond the data [P4]

Needs numpy, onnx, apache-tvm.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_13/reflect/uint8/1/far/plain/scalar/absent.flat/fixed/1 --peer tvm
Seen in apache-tvm 0.27.0.post1.
"""

from __future__ import annotations

import sys

import numpy as np
import tvm
from onnx import numpy_helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

data = np.array([17, 130], np.uint8)
pads = np.array([3, 2], np.int64)
constant_value = np.array(39, np.uint8)
expected = np.array([130, 17, 130, 17, 130, 17, 130], np.uint8)


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
    """The output of a model of ONNX, fed in its order."""
    module = relax.transform.LegalizeOps()(from_onnx(model, keep_params_in_input=False))
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    return np.asarray(machine["main"](*[tvm.runtime.tensor(array) for array in fed.values()]).numpy())


model = one_node_model(
    "Pad",
    ["data", "pads", "constant_value"],
    {"mode": "reflect"},
    inputs={"data": (2, [2])},  # element type and shape
    output=(2, ["d0"]),
    opsets={"": 15},
    ir_version=8,
    constants=[numpy_helper.from_array(pads, "pads"), numpy_helper.from_array(constant_value, "constant_value")],
)


def run():
    return pad(model, {"data": data})


REFUSALS = (ValueError, tvm.error.OpError)  # the errors that say that a case is wrong


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
