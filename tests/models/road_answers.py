"""What a random model of ``road_models.py`` must give: its nodes in NumPy, its Pads by the rules.

Each Pad is computed twice, by the reference and by the walk of ``padops.conformance.peers.independent``, which must
agree. Nothing here looks at how a model is converted, nor at onnxruntime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import native
import numpy as np
import onnx
from onnx import helper

from padops.conformance.peers import independent
from padops.conformance.peers.request import Request
from padops.spec import reference
from padops.spec.dtypes import by_onnx, from_bytes
from padops.spec.plan import PadError

Values = dict[str, np.ndarray]
Attributes = Mapping[str, Any]


class Broken(Exception):
    """A Pad breaks a rule; the message is that of the reference, with the rule at its end."""


def evaluate(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs of a model; raises Broken where a Pad that runs breaks a rule."""
    engine = Engine(model.opset_import[0].version, {row.name: row for row in model.functions})
    return engine.graph(model.graph, {}, feeds)


class Engine:
    def __init__(self, opset: int, functions: dict[str, onnx.FunctionProto]) -> None:
        self.opset = opset
        self.functions = functions

    def graph(self, graph: onnx.GraphProto, outside: Values, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        values = {**outside, **{row.name: array_of(row) for row in graph.initializer}, **inputs}
        for node in graph.node:
            self.node(node, values, {})
        return [values[row.name] for row in graph.output]

    def node(self, node: onnx.NodeProto, values: Values, given: Attributes) -> None:
        """Compute one node and put its outputs into ``values``; ``given``: the attributes of the function around it."""
        attributes = {}
        for row in node.attribute:
            if not row.ref_attr_name:
                attributes[row.name] = helper.get_attribute_value(row)
            elif row.ref_attr_name in given:
                attributes[row.name] = given[row.ref_attr_name]
        inputs = [values[name] if name else None for name in node.input]
        if node.domain:
            outputs = self.call(self.functions[node.op_type], inputs, attributes)
        elif node.op_type == "If":
            outputs = self.graph(attributes["then_branch" if inputs[0] else "else_branch"], values, {})
        elif node.op_type == "Loop":
            outputs = self.loop(attributes["body"], inputs, values)
        elif node.op_type == "Pad":
            outputs = [self.pad(node.name, attributes, inputs)]
        else:
            outputs = [OPERATORS[node.op_type](attributes, inputs)]
        values.update(zip(node.output, outputs, strict=True))

    def call(self, function: onnx.FunctionProto, inputs: Sequence, attributes: Attributes) -> list[np.ndarray]:
        defaults = {row.name: helper.get_attribute_value(row) for row in function.attribute_proto}
        values = dict(zip(function.input, inputs, strict=True))
        for node in function.node:
            self.node(node, values, {**defaults, **attributes})
        return [values[name] for name in function.output]

    def pad(self, name: str, attributes: Attributes, inputs: Sequence[np.ndarray | None]) -> np.ndarray:
        """Compute a Pad of the model's opset by the newest rules: ``wrap`` has never changed since it was added."""
        mode = attributes.get("mode", b"constant").decode()
        op, given = "Pad_25", {"mode": mode}
        if self.opset < 11 and mode != "wrap":
            op = "Pad_1" if self.opset == 1 else "Pad_2"
            given = {key: value for key, value in attributes.items() if key != "mode"} | {"mode": mode}
        elif self.opset < 11:  # of which the old versions do not know
            inputs = [inputs[0], np.array(attributes["pads"], np.int64)]
        walk = partial(independent.run_case, Request("", op, self.opset, given, tuple(inputs)))
        try:
            found = reference.run(op, given, inputs, name)
        except PadError as error:
            try:
                walk()
            except independent.Refused:
                raise Broken(str(error)) from error
            raise AssertionError(f"the walk gives something, where the reference says: {error}") from error
        walked = walk()
        assert native.bits(walked) == native.bits(found), "the two implementations of the rules differ"
        return found

    def loop(self, body: onnx.GraphProto, inputs: Sequence, values: Values) -> list[np.ndarray]:
        state, turns = inputs[2], []
        names = [row.name for row in body.input]
        for turn in range(int(inputs[0])):
            feeds = dict(zip(names, [np.int64(turn), np.bool_(True), state], strict=True))
            _, state, *rest = self.graph(body, values, feeds)
            turns.append(rest)
        return [state, *(np.stack(rows) for rows in zip(*turns))]


def array_of(tensor: onnx.TensorProto) -> np.ndarray:
    dtype = by_onnx(tensor.data_type)
    if dtype.name == "string":
        array = np.empty(len(tensor.string_data), object)
        array[:] = [text.decode() for text in tensor.string_data]
        return array.reshape(tuple(tensor.dims))
    if tensor.raw_data or not np.prod(tensor.dims):
        return from_bytes(tensor.raw_data, dtype, tuple(tensor.dims))
    return onnx.numpy_helper.to_array(tensor)


def _slice(attributes: Attributes, inputs: Sequence) -> np.ndarray:
    start, stop, _, step = (int(row[0]) for row in inputs[1:])
    return inputs[0][slice(start, None if stop < -(2**31) else stop, step)]


def _windows(data: np.ndarray, kernel: Sequence[int]) -> np.ndarray:
    """The windows of a spatial shape, their elements last."""
    axes = tuple(range(2, data.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(data, tuple(kernel), axes)
    return windows.reshape(*windows.shape[: data.ndim], -1)


def _conv(attributes: Attributes, inputs: Sequence) -> np.ndarray:
    """A convolution of one group: the sum of whole numbers, so that no order of adding matters."""
    data, weight = inputs[0].astype(np.float64), inputs[1].astype(np.float64)
    windows = _windows(data, weight.shape[2:])
    flat = weight.reshape(*weight.shape[:2], -1)
    output = np.zeros((data.shape[0], weight.shape[0], *windows.shape[2:-1]))
    for m, c in product(range(flat.shape[0]), range(flat.shape[1])):
        output[:, m] += windows[:, c] @ flat[m, c]
    return (output + 0.0).astype(inputs[0].dtype)


OPERATORS: dict[str, Callable[[Attributes, Sequence], np.ndarray]] = {
    "Cast": lambda attributes, inputs: inputs[0].astype(by_onnx(attributes["to"]).numpy),
    "Concat": lambda attributes, inputs: np.concatenate(inputs, attributes["axis"]),
    "Constant": lambda attributes, inputs: array_of(attributes["value"]),
    "Conv": _conv,
    "Gather": lambda attributes, inputs: inputs[0][inputs[1]],
    "Identity": lambda attributes, inputs: inputs[0],
    "MaxPool": lambda attributes, inputs: _windows(inputs[0], attributes["kernel_shape"]).max(-1),
    "Relu": lambda attributes, inputs: np.maximum(inputs[0], 0).astype(inputs[0].dtype),
    "Reshape": lambda attributes, inputs: inputs[0].reshape(inputs[1].tolist()),
    "Shape": lambda attributes, inputs: np.array(inputs[0].shape, np.int64),
    "Slice": _slice,
    "Sub": lambda attributes, inputs: inputs[0] - inputs[1],
    "Transpose": lambda attributes, inputs: np.ascontiguousarray(np.transpose(inputs[0], attributes["perm"])),
}
