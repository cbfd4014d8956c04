"""Layers of an IR that compute with constants alone become constants: OpenVINO computes them.

Some rules and checks need numbers, such as the weights of a convolution in groups, and take them only from a constant.
OpenVINO computes what they need, and what layers that cannot be read give. Other layers stay: weights in half precision
are half as large. Sums and products in half precision stay as well, as OpenVINO's CPU device computes them in float.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.matchers.openvino import DOMAIN
from padops.convert.readers.openvino_ir.builder import LARGEST
from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES
from padops.convert.readers.openvino_ir.rules import BINARY, UNARY, is_read
from padops.convert.readers.openvino_ir.values import SMALL, Values
from padops.openvino_constants import Answer
from padops.processes import Pickled

PROGRAM = "padops.openvino_constants"
SECONDS = 600.0  # for OpenVINO to read the IR and compute
NEEDED = {"GroupConvolution": 1, "GroupConvolutionBackpropData": 1}  # inputs that rules reshape, of any size
# Layers that only compute with the elements of their inputs; of others, each input but the first may say what to do.
ARITHMETIC = {*UNARY, *BINARY, "Concat", "Convolution", "Divide", "MatMul", "PReLU", "Select"}
HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
MOVES = {"Broadcast", "Concat", "Gather", "Reshape", "Slice", "Split", "Squeeze", "StridedSlice", "Tile", "Transpose"}
MOVES |= {"Unsqueeze", "VariadicSplit"}


def fold_constants(message: onnx.ModelProto, values: Values, path: Path) -> dict[str, str]:
    """Replaces layers that compute constants, where a rule needs the numbers or does not take the layer.

    Returns:
        The values that are needed but could not be computed, with the reason.

    Raises:
        PadopsError: The constants would be larger than a model can be.
    """
    computed = _computed(message, values)
    wanted = _wanted(message, values, computed)
    if not wanted:
        return {}
    total = sum(values.size(name) for node in wanted for name in node.output)
    if total > LARGEST:
        raise PadopsError(f"{path} computes {total} bytes of weights or more; up to {LARGEST} are read")
    found = {name: array for node in wanted for name in node.output if (array := _widened(name, values)) is not None}
    tensors = {name: numpy_helper.from_array(array, name) for name, array in found.items()}
    asked = [(node.name, i, name) for node in wanted for i, name in enumerate(node.output) if name not in found]
    answers, reason = _ask_openvino(path, [row[:2] for row in asked]) if asked else ([], "")
    for (_, _, name), answer in zip(asked, answers):
        if answer is not None and (tensor := _tensor(name, answer, values)) is not None:
            tensors[name] = tensor
    whole = [node for node in wanted if tensors.keys() >= set(node.output)]
    for name in (name for node in whole for name in node.output):
        message.graph.initializer.add().CopyFrom(tensors[name])
        values.add(message.graph.initializer[-1])
    _drop(message, {name for node in whole for name in node.output}, computed)
    return {name: reason for _, _, name in asked if name not in values.tensors}


def _computed(message: onnx.ModelProto, values: Values) -> dict[str, onnx.NodeProto]:
    """The layers that follow from constants alone, or from dims that are known, by what they give, in order."""
    layers: dict[str, onnx.NodeProto] = {}
    for node in message.graph.node:
        known = node.op_type == "ShapeOf" or all(name in values.tensors or name in layers for name in node.input)
        if node.domain != DOMAIN or node.op_type == "Pad" or not node.input or not known:
            continue
        sizes = [values.size(name) for name in (*node.input, *node.output)]
        halves = node.op_type not in MOVES and any(values.types[name] in HALVES for name in node.output)
        if max(sizes) <= LARGEST and not halves:
            layers.update(dict.fromkeys(node.output, node))
    return layers


def _wanted(message: onnx.ModelProto, values: Values, computed: Mapping[str, onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The layers of ``computed`` whose numbers somebody needs who stays."""
    unread: set[str] = set()  # what layers that cannot be read give, and what follows from it
    for name, node in computed.items():
        if name not in unread and (not unread.isdisjoint(node.input) or not is_read(node, values)):
            unread.update(node.output)
    wanted = {name: computed[name] for name in (output.name for output in message.graph.output) if name in unread}
    for node in reversed(message.graph.node):
        if not wanted.keys().isdisjoint(node.output):
            continue
        for at, name in enumerate(node.input):
            says = at and node.op_type not in ARITHMETIC and values.size(name) <= SMALL
            if name in computed and (says or NEEDED.get(node.op_type) == at or name in unread):
                wanted |= dict.fromkeys(computed[name].output, computed[name])
    return list({node.output[0]: node for node in wanted.values()}.values())


def _widened(name: str, values: Values) -> np.ndarray | None:
    return values.array(name) if name in values.casts else None


def _ask_openvino(path: Path, wanted: list[tuple[str, int]]) -> tuple[list[Answer | None], str]:
    """What OpenVINO computes, and why not more."""
    if find_spec("openvino") is None:
        return [], "OpenVINO computes that from constants, and is not installed: pip install 'padops[openvino]'"
    with closing(Pickled("OpenVINO", SECONDS, ["-m", PROGRAM])) as process:
        try:
            return process.ask((str(path), wanted)), "OpenVINO does not compute that from constants"
        except RuntimeError as error:
            return [], f"OpenVINO computes that from constants, but says: {error}"


def _tensor(name: str, answer: Answer, values: Values) -> onnx.TensorProto | None:
    """The tensor, if it is what the IR declares."""
    type, dims, content = answer
    if ELEMENT_TYPES.get(type) != values.types[name] or dims != values.static(name):
        return None
    return onnx.TensorProto(name=name, data_type=ELEMENT_TYPES[type], dims=dims, raw_data=content)


def _drop(message: onnx.ModelProto, folded: Collection[str], computed: Collection[str]) -> None:
    """Drops the layers whose outputs are constants now, and those before them that nothing else reads."""
    read = {output.name for output in message.graph.output}
    nodes: list[onnx.NodeProto] = []
    for node in reversed(message.graph.node):
        if node.output and node.output[0] in computed and (node.output[0] in folded or read.isdisjoint(node.output)):
            continue
        read.update(node.input)
        nodes.append(node)
    kept = onnx.GraphProto(node=nodes[::-1])
    del message.graph.node[:]
    message.graph.node.extend(kept.node)
