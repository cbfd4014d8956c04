"""The layers of an IR as one ONNX message: every layer a node of its own type, nothing interpreted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from math import prod
from typing import BinaryIO

import onnx
from onnx import TensorProto, helper

from padops.convert.errors import PadopsError
from padops.convert.matchers.openvino import DOMAIN
from padops.convert.model.external import refuse_pointer
from padops.convert.readers.limits import static_dims
from padops.convert.readers.openvino_ir.reader import Layer, Net, Port, dims_of, element_type, number_of
from padops.plural import plural

LARGEST = (1 << 31) - 1  # bytes of a model; onnx checks it with its weights inside
OPSET = 21  # of ONNX; the first whose Cast has 4-bit types
IR_VERSION = 10  # of ONNX; the first that knows this opset


class Builder:
    """Makes a model of nodes in the domain ``ai.intel.openvino``, named and typed like the layers.

    Their attributes are strings. Parameter, Const and Result are inputs, initializers and outputs. Values are named
    like OpenVINO's tensors, else like the layer that makes them.
    """

    def __init__(self, net: Net) -> None:
        self._net = net
        self._path = net.path
        self._there = net.weights.stat().st_size if net.weights.is_file() else None  # bytes
        self._asked = 0  # bytes of weights; layers may share bytes, so the sum may be any multiple of the file
        self._constants: dict[str, tuple[int, list[int], int, int]] = {}
        self._message = onnx.ModelProto(ir_version=IR_VERSION, producer_name="OpenVINO")
        self._message.opset_import.add(domain="", version=OPSET)
        self._message.opset_import.add(domain=DOMAIN, version=1)
        self._graph = self._message.graph  # in place, as it would be copied
        self._names: dict[tuple[str, str], str] = {}
        self._taken: dict[str, int] = {}  # names, with the last number that was put behind each
        self._made: set[str] = set()  # the values that nodes give
        self._put_out: set[str] = set()  # the names of the outputs

    def build(self) -> onnx.ModelProto:
        """The model.

        Raises:
            PadopsError: The IR is damaged, or its ``.bin`` is missing or too short.
        """
        for layer in self._net.layers:
            side = "outputs" if layer.type == "Result" else "inputs"
            if layer.type in ("Parameter", "Const", "Result") and (ports := getattr(layer, side)):
                raise PadopsError(f"{self._path} is damaged: {layer} has {len(ports)} {side}, expected none")
        self._constants = {layer.id: self._check_constant(layer) for layer in self._net.layers if layer.type == "Const"}
        self._graph.name = self._net.name
        for layer in self._net.layers:
            for port in layer.outputs:
                suffix = f".{port.id}" if len(layer.outputs) > 1 else ""
                self._names[layer.id, port.id] = self._fresh(*port.names, layer.name + suffix)
        with open(self._net.weights, "rb") if self._there is not None else BytesIO() as file:
            self._add_layers(file)
        return self._message

    def _add_layers(self, file: BinaryIO) -> None:
        """Adds all layers, with the constants of the file of weights."""
        node_names: set[str] = set()
        for layer in self._net.layers:
            inputs = [self._source(layer, port) for port in layer.inputs]
            if layer.type == "Parameter":
                self._add_input(layer)
            elif layer.type == "Const":
                self._add_constant(layer, file)
            elif layer.type == "Result":
                self._add_output(layer, inputs)
            else:
                self._add_node(layer, inputs)
            if layer.name in node_names and layer.type not in ("Parameter", "Result"):
                raise PadopsError(f"{self._path} is damaged: two layers have the name '{layer.name}'")
            node_names.add(layer.name)

    def _fresh(self, *wanted: str) -> str:
        """The first of the names that is free, else the last one with a number."""
        for name in wanted:
            if name not in self._taken:
                self._taken[name] = 1
                return name
        while True:
            self._taken[wanted[-1]] += 1
            name = f"{wanted[-1]}_{self._taken[wanted[-1]]}"
            if name not in self._taken:
                self._taken[name] = 1
                return name

    def _source(self, layer: Layer, port: Port) -> str:
        """The value that an input reads."""
        source = self._net.edges.get((layer.id, port.id))
        if source not in self._names:
            found = f"comes from layer {source[0]}, port {source[1]}, which does not exist" if source else "has no edge"
            raise PadopsError(f"{self._path} is damaged: input {port.id} of {layer} {found}")
        return self._names[source]

    def _output(self, layer: Layer) -> str:
        """The only output of a Parameter or Const."""
        if len(layer.outputs) != 1:
            raise PadopsError(
                f"{self._path} is damaged: {layer} has {plural(len(layer.outputs), 'output')}, expected one"
            )
        return self._names[layer.id, layer.outputs[0].id]

    def _data(self, layer: Layer, name: str) -> str:
        if name not in layer.data:
            raise PadopsError(f"{self._path} is damaged: {layer} has no {name}")
        return layer.data[name]

    def _add_input(self, layer: Layer) -> None:
        name = self._output(layer)
        type = element_type(self._data(layer, "element_type"), layer, self._path)
        dims = None if self._data(layer, "shape") == "..." else self._dims(layer)
        _declare(self._graph.input.add(), name, type, dims)

    def _dims(self, layer: Layer) -> tuple[int | None, ...]:
        """The dims of a Parameter or Const; an empty text is that of a scalar."""
        shape = self._data(layer, "shape")
        return dims_of(tuple(shape.split(",")) if shape.strip() else (), layer, self._path)

    def _check_constant(self, layer: Layer) -> tuple[int, list[int], int, int]:
        """Element type, dims, offset and bytes of a Const; its bytes are there."""
        type = element_type(self._data(layer, "element_type"), layer, self._path)
        dims = self._dims(layer)
        if type == TensorProto.STRING:
            raise PadopsError(f"{self._path}: {layer} holds strings, which are not read")
        static = static_dims(dims)
        if static is None:
            raise PadopsError(f"{self._path} is damaged: {layer} has the shape '{layer.data['shape']}'")
        texts = {name: self._data(layer, name) for name in ("offset", "size")}
        offset, size = (number_of(text.strip(), f"{name} '{text}'", layer, self._path) for name, text in texts.items())
        needed = (prod(static) * _bits(type) + 7) // 8
        if needed > size:
            raise PadopsError(
                f"{self._path} is damaged: {layer} has {plural(size, 'byte')}, but its shape needs {needed}"
            )
        if needed:
            self._check_weights(layer, offset, needed)
        return type, static, offset, needed

    def _add_constant(self, layer: Layer, file: BinaryIO) -> None:
        name = self._output(layer)
        type, dims, offset, size = self._constants[layer.id]
        tensor = self._graph.initializer.add(name=name, data_type=type)  # filled in place, as it would be copied
        if size:
            file.seek(offset)
        content = file.read(size) if size else b""
        if len(content) < size:
            raise PadopsError(f"{self._path}: {self._net.weights} became shorter while it was read")
        tensor.raw_data = content
        tensor.dims.extend(dims)
        self._made.add(name)

    def _check_weights(self, layer: Layer, offset: int, size: int) -> None:
        """Refuses a Const whose bytes are not in the file. Every Const is checked before the first is read."""
        path, weights = self._path, self._net.weights
        if self._there is None:
            raise PadopsError(
                f"{path}: {layer} needs the weights in {weights}, which does not exist; put that file beside the IR"
            )
        if offset + size > self._there:
            refuse_pointer(weights, f"{path}: the weights in ")
            raise PadopsError(
                f"{path}: {layer} needs the bytes {offset} to {offset + size} of {weights}, which has only "
                f"{self._there}"
            )
        self._asked += size
        if self._asked > LARGEST:
            raise PadopsError(f"{path} has {self._asked} bytes of weights or more; up to {LARGEST} are read")

    def _add_output(self, layer: Layer, inputs: list[str]) -> None:
        """Adds the output of a Result: the value, or an Identity if no node made it or it is an output already."""
        if len(inputs) != 1:
            raise PadopsError(f"{self._path} is damaged: {layer} has {plural(len(inputs), 'input')}, expected one")
        port = layer.inputs[0]
        names = [name for name in re.split(r"(?<!\\),", layer.data.get("output_names", "")) if name]
        name = inputs[0]
        if name not in self._made or name in self._put_out:
            name = self._fresh(*sorted(names), layer.name)
            self._graph.node.append(helper.make_node("Identity", inputs, [name], name=layer.name))
        self._put_out.add(name)
        _declare(self._graph.output.add(), name, port.type, port.dims)

    def _add_node(self, layer: Layer, inputs: list[str]) -> None:
        outputs = [self._names[layer.id, port.id] for port in layer.outputs]
        node = self._graph.node.add(name=layer.name, op_type=layer.type, domain=DOMAIN, input=inputs, output=outputs)
        for name, value in {**layer.data, "version": layer.version}.items():
            node.attribute.add(name=name, type=onnx.AttributeProto.STRING, s=value.encode())
        self._made.update(outputs)
        for port, name in zip(layer.outputs, outputs):
            _declare(self._graph.value_info.add(), name, port.type, port.dims)


def _bits(type: int) -> int:
    """Storage bits of one element."""
    if type in (TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1):
        return 4
    return helper.tensor_dtype_to_np_dtype(type).itemsize * 8


def _declare(info: onnx.ValueInfoProto, name: str, type: int, dims: Sequence[int | None] | None) -> None:
    """Fills a declaration in."""
    info.name = name
    tensor = info.type.tensor_type
    tensor.elem_type = type
    if dims is None:
        return
    tensor.shape.SetInParent()
    for dim in dims:
        tensor.shape.dim.add(dim_value=dim)  # None sets none
