"""Folds the layers of an IR that compute with constants alone; weights of other frameworks are written so.

Some of onnxifier's rules need numbers, such as the weights of a convolution in groups, and take them only from a
constant. Folded layers have one right result, to the bit: moved elements, lossless casts, and sums and products of
float. (Sums of other floats stay layers: OpenVINO's CPU device computes them in float.) Large results that no rule
needs stay layers too: weights in half precision are half as large.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.matchers.openvino import DOMAIN
from padops.convert.readers.openvino_ir.builder import LARGEST
from padops.convert.readers.openvino_ir.forms import replace_nodes
from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES
from padops.convert.readers.openvino_ir.values import SMALL, Values, attributes_of

NEEDED = {"GroupConvolution": 1, "GroupConvolutionBackpropData": 1}  # inputs that rules read, of any size
MOST_LAYERS = 64  # that one constant is computed by

Compute = Callable[[onnx.NodeProto, list[np.ndarray]], np.ndarray | None]


def fold_constants(message: onnx.ModelProto, path: Path) -> None:
    """Puts constants into the place of layers that compute them, as far as something is gained by it.

    Raises:
        PadopsError: The constants would be larger than a model can be.
    """
    values = Values.of(message)
    layers = _computed(message)
    places = {name: i for i, name in enumerate(layers)}
    readers = [node for node in message.graph.node if node.op_type in NEEDED]
    wanted = {node.input[at] for node in readers if (at := NEEDED[node.op_type]) < len(node.input)}
    folded: dict[str, onnx.NodeProto] = {}
    total = 0
    for name in layers:
        if name not in wanted and _size(name, values) > SMALL:
            continue
        array = _result(name, layers, places, values)
        if array is None:
            continue
        total += array.nbytes
        if total > LARGEST:
            raise PadopsError(f"{path} computes {total} bytes of weights or more; up to {LARGEST} are read")
        tensor = values.tensors[name] = numpy_helper.from_array(array)
        folded[name] = helper.make_node("Constant", [], [name], layers[name].name, value=tensor)
    if folded:
        _replace(message, folded, layers)


def _computed(message: onnx.ModelProto) -> dict[str, onnx.NodeProto]:
    """The layers that compute with constants alone and can be computed here, by what they give, in order."""
    constant = {node.output[0] for node in message.graph.node if node.op_type == "Constant"}
    layers: dict[str, onnx.NodeProto] = {}
    for node in message.graph.node:
        known = node.domain == DOMAIN and node.op_type in COMPUTED and len(node.output) == 1
        if known and node.input and constant.issuperset(node.input):
            constant.add(node.output[0])
            layers[node.output[0]] = node
    return layers


def _size(name: str, values: Values) -> float:
    """Bytes of a value, as the IR declares it."""
    dims = values.static(name)
    if dims is None:
        return math.inf
    return math.prod(dims) * helper.tensor_dtype_to_np_dtype(values.types[name]).itemsize


def _result(
    name: str, layers: Mapping[str, onnx.NodeProto], places: Mapping[str, int], values: Values
) -> np.ndarray | None:
    """What layers compute, or None: they are too many, or one does not give what the IR declares."""
    needed: list[str] = []
    pending = [name]
    while pending:
        this = pending.pop()
        if this not in values.tensors and this not in needed:
            needed.append(this)
            pending += layers[this].input
        if len(needed) > MOST_LAYERS:
            return None
    arrays: dict[str, np.ndarray] = {}
    for this in sorted(needed, key=places.__getitem__):
        node = layers[this]
        inputs = [arrays[x] if x in arrays else numpy_helper.to_array(values.tensors[x]) for x in node.input]
        try:
            with np.errstate(all="ignore"):
                array = COMPUTED[node.op_type](node, inputs)
        except (ValueError, TypeError, LookupError, OverflowError):  # a layer that is wrong stays what it is
            return None
        if array is None or not _is_declared(array, this, values):
            return None
        arrays[this] = array
    return arrays[name]


def _is_declared(array: np.ndarray, name: str, values: Values) -> bool:
    type = helper.np_dtype_to_tensor_dtype(array.dtype)
    return type == values.types[name] and list(array.shape) == values.static(name)


def _replace(
    message: onnx.ModelProto, folded: Mapping[str, onnx.NodeProto], layers: Mapping[str, onnx.NodeProto]
) -> None:
    """Inserts the constants, and drops the layers that nothing reads any more."""
    read = {output.name for output in message.graph.output}
    nodes: list[onnx.NodeProto] = []
    for node in reversed(message.graph.node):
        name = node.output[0] if len(node.output) == 1 else ""
        if name in layers and name not in read:
            continue
        kept = folded.get(name, node)
        read.update(kept.input)
        nodes.append(kept)
    replace_nodes(message, nodes[::-1])


def _cast(node: onnx.NodeProto, inputs: list[np.ndarray]) -> np.ndarray | None:
    """A Convert of a constant, if it loses nothing: OpenVINO's devices differ in how they round."""
    type = ELEMENT_TYPES.get(attributes_of(node).get("destination_type", ""))
    if type is None or type == TensorProto.STRING:
        return None
    array = inputs[0].astype(helper.tensor_dtype_to_np_dtype(type))
    return array if np.array_equal(array.astype(inputs[0].dtype), inputs[0]) else None


def _axes(inputs: list[np.ndarray]) -> tuple[int, ...]:
    return tuple(inputs[1].reshape(-1).tolist())


def _reshaped(node: onnx.NodeProto, inputs: list[np.ndarray]) -> np.ndarray:
    data, dims = inputs[0], inputs[1].tolist()
    if attributes_of(node).get("special_zero", "false").lower() == "true":
        dims = [data.shape[i] if dim == 0 else dim for i, dim in enumerate(dims)]
    return np.reshape(data, dims)


def _arithmetic(ufunc: np.ufunc) -> Compute:
    def compute(node: onnx.NodeProto, inputs: list[np.ndarray]) -> np.ndarray | None:
        one, other = inputs
        if attributes_of(node).get("auto_broadcast", "numpy") != "numpy" or one.dtype != np.float32:
            return None
        if math.prod(np.broadcast_shapes(one.shape, other.shape)) > max(one.size, other.size):
            return None  # it would be larger than what there is in the file
        result: np.ndarray = np.asarray(ufunc(one, other))
        return result

    return compute


COMPUTED: Mapping[str, Compute] = {
    "Add": _arithmetic(np.add),
    "Convert": _cast,
    "Multiply": _arithmetic(np.multiply),
    "Reshape": _reshaped,
    "Squeeze": lambda node, inputs: np.squeeze(inputs[0], _axes(inputs)) if len(inputs) == 2 else None,
    "Subtract": _arithmetic(np.subtract),
    "Transpose": lambda node, inputs: np.transpose(inputs[0], inputs[1].tolist()) if inputs[1].tolist() else None,
    "Unsqueeze": lambda node, inputs: np.expand_dims(inputs[0], _axes(inputs)),
}
