"""tract: Pad_23 of opset 23, mode reflect, float, rank 6.

a reflection longer than n - 1 gives zeros, or ends the process [P4]

Needs numpy, onnx, tract.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro random/Pad_23/0/11 --peer tract
Seen in tract 0.23.9.
"""

from __future__ import annotations

import sys

import numpy as np
import tempfile
import tract
from onnx import numpy_helper
from pathlib import Path

data = np.zeros([3, 4, 4, 4, 0, 0], np.float32)
pads = np.array([2, 0, 1, 0, 3, 2], np.int64)
axes = np.array([-4, -5, 4], np.int32)
expected = np.zeros([3, 7, 6, 4, 3, 0], np.float32)


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
    """The first output of a model of ONNX, fed in the order of its inputs.

    Raises:
        tract.TractError: tract refuses the model; the message is its reason, without the stack.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "case.onnx")
            path.write_bytes(model.SerializeToString())
            runnable = tract.onnx().load(path).into_model().into_runnable()
        return np.asarray(runnable.run(list(fed.values()))[0].to_numpy())
    except tract.TractError as error:
        raise tract.TractError(str(error).partition("Stack backtrace")[0].strip()) from error


model = one_node_model(
    "Pad",
    ["data", "pads", "", "axes"],
    {"mode": "reflect"},
    inputs={"data": (1, [3, 4, 4, 4, 0, 0])},  # element type and shape
    output=(1, ["d0", "d1", "d2", "d3", "d4", "d5"]),
    opsets={"": 23},
    ir_version=11,
    constants=[numpy_helper.from_array(pads, "pads"), numpy_helper.from_array(axes, "axes")],
)


def run():
    return pad(model, {"data": data})


REFUSALS = (tract.TractError,)  # the errors that say that a case is wrong


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
