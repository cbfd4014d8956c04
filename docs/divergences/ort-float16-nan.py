"""ort-builtin: Pad_11 of opset 11, mode constant, float16, rank 1.

float16 runs as Cast, Pad, Cast, which changes the bits of NaNs and rounds the value of an attribute at another time [P7]

Needs numpy, onnx, onnxruntime.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_11/constant/float16/1/end/one/vector/absent.flat/held/2 --peer ort-builtin
Seen in onnxruntime 1.32.0.
"""

from __future__ import annotations

import sys

import numpy as np
import ctypes
import math
import onnxruntime
from onnx import numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as states

data = np.array([1.059], np.float16)
pads = np.array([0, 1], np.int64)
constant_value = np.frombuffer(bytes.fromhex("e6fd"), np.float16).reshape([1])
expected = np.frombuffer(bytes.fromhex("3c3ce6fd"), np.float16).reshape([2])


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


def session_options() -> onnxruntime.SessionOptions:
    """Options of one thread and without a log: errors reach the caller as exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return options


def to_onnxruntime(array: np.ndarray, element: int, bits: int) -> Any:
    """A tensor of onnxruntime with the bits of an array of a type that NumPy lacks.

    In ml_dtypes' arrays, elements of less than a byte take one each; in the tensor they lie packed, the first in the
    low bits. ``element`` is ONNX's number of the type, ``bits`` are those of an element.
    """
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(array.shape), element, "cpu")
    raw: np.ndarray = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if bits < 8:
        count = 8 // bits
        rows = np.append(raw & (1 << bits) - 1, np.zeros(-raw.size % count, np.uint8)).reshape(-1, count)
        raw = np.bitwise_or.reduce(rows << np.arange(0, 8, bits, dtype=np.uint8), axis=1)
    if raw.size:
        ctypes.memmove(value.data_ptr(), raw.tobytes(), raw.size)
    return value


def from_onnxruntime(value: Any, dtype: np.dtype, bits: int) -> np.ndarray:
    """The reverse of ``to_onnxruntime``: an array of a type of ml_dtypes."""
    shape = value.shape()
    size = (math.prod(shape) * dtype.itemsize * min(bits, 8) + 7) // 8
    raw: np.ndarray = np.frombuffer(ctypes.string_at(value.data_ptr(), size) if size else b"", np.uint8)
    if bits < 8:
        raw = (raw[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & (1 << bits) - 1).reshape(-1)[: math.prod(shape)]
    made: np.ndarray = raw.astype(np.uint8).view(dtype).reshape(shape)
    return made


def pad(
    model: onnx.ModelProto, fed: Mapping[str, np.ndarray], elements: Mapping[str, tuple[int, int]] | None = None
) -> np.ndarray:
    """The first output of a model of ONNX, fed by name, the data first.

    Where NumPy lacks the type of the data, ``elements`` has ONNX's number of each input's type, and the bits of an
    element.
    """
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, session_options(), providers=["CPUExecutionProvider"])
    if elements is None:
        output: np.ndarray = session.run(None, dict(fed))[0]
        return output
    given = {name: to_onnxruntime(array, *elements[name]) for name, array in fed.items()}
    (value,) = session.run_with_ort_values(None, given)
    first = next(iter(fed))
    return from_onnxruntime(value, fed[first].dtype, elements[first][1])


model = one_node_model(
    "Pad",
    ["data", "pads", "constant_value"],
    {"mode": "constant"},
    inputs={"data": (10, None)},  # element type and shape
    output=(10, None),
    opsets={"": 11},
    ir_version=8,
    constants=[numpy_helper.from_array(pads, "pads"), numpy_helper.from_array(constant_value, "constant_value")],
)


def run():
    return pad(model, {"data": data})


REFUSALS = (states.Fail, states.InvalidArgument, states.InvalidGraph, states.RuntimeException)  # the errors that say that a case is wrong


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
