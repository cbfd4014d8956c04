"""The two files of an OpenVINO IR as one message: every layer a node of its own type, nothing interpreted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import onnx
from onnx import TensorProto, helper

from padops.convert.errors import PadopsError
from padops.convert.records import FileRecord
from padops.convert.sources.openvino import DOMAIN

VERSION = "11"  # of the format; OpenVINO has written no other since 2022
OPSET = 19  # of ONNX; what onnxifier's rules are made for
IR_VERSION = 9  # of ONNX; the first that knows this opset

# Element types by their name in Parameter and Const layers; ports spell the first six differently.
ELEMENT_TYPES = {
    "f64": TensorProto.DOUBLE,
    "f32": TensorProto.FLOAT,
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "boolean": TensorProto.BOOL,
    "string": TensorProto.STRING,
    "i64": TensorProto.INT64,
    "i32": TensorProto.INT32,
    "i16": TensorProto.INT16,
    "i8": TensorProto.INT8,
    "i4": TensorProto.INT4,
    "u64": TensorProto.UINT64,
    "u32": TensorProto.UINT32,
    "u16": TensorProto.UINT16,
    "u8": TensorProto.UINT8,
    "u4": TensorProto.UINT4,
    "f8e4m3": TensorProto.FLOAT8E4M3FN,
    "f8e5m2": TensorProto.FLOAT8E5M2,
    "f8e8m0": getattr(TensorProto, "FLOAT8E8M0", 24),
    "f4e2m1": TensorProto.FLOAT4E2M1,
}
PRECISIONS = {"FP64": "f64", "FP32": "f32", "FP16": "f16", "BF16": "bf16", "BOOL": "boolean", "STRING": "string"}


@dataclass(frozen=True)
class Port:
    """An input or output of a layer; ``dims`` is None where there are none: a scalar, or of a rank that is open."""

    id: str
    type: int
    dims: tuple[int | None, ...] | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Layer:
    """One layer, as the XML has it."""

    id: str
    name: str
    type: str
    version: str
    data: dict[str, str]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    def __str__(self) -> str:
        return f"{self.type} '{self.name}'"


def read_layers(path: Path) -> tuple[onnx.ModelProto, list[FileRecord]]:
    """Reads an IR.

    Returns:
        A model of nodes in the domain ``ai.intel.openvino``, named and typed like the layers, with their attributes as
        strings; Parameter, Const and Result are inputs, Constant nodes and outputs. And the files that were read.

    Raises:
        PadopsError: The XML is damaged or of another version, or the ``.bin`` is missing or too short.
    """
    content = path.read_bytes()
    net = _net(content, path)
    weights = path.with_suffix(".bin")
    files = [FileRecord(str(path), len(content), hashlib.sha256(content).hexdigest())]
    if weights.is_file():
        files.append(FileRecord(str(weights), weights.stat().st_size))
    layers = [_layer(element, path) for element in net.iterfind("layers/layer")]
    if not layers:
        raise PadopsError(f"{path} is not an OpenVINO IR: it has no layers")
    return _Builder(path, weights).build(net.get("name") or path.stem, layers, _edges(net, path)), files


def _net(content: bytes, path: Path) -> ElementTree.Element:
    try:
        net = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise PadopsError(f"{path} is not an OpenVINO IR, or is damaged: it is not well-formed XML: {error}") from None
    if net.tag != "net":
        raise PadopsError(f"{path} is not an OpenVINO IR: it is a <{net.tag}>, expected a <net>")
    if net.get("version") != VERSION:
        raise PadopsError(
            f"{path} is an IR of version {net.get('version')}, expected {VERSION}; "
            "OpenVINO writes that with openvino.save_model(openvino.Core().read_model(...), ...)"
        )
    return net


def _attribute(element: ElementTree.Element, name: str, what: str, path: Path) -> str:
    value = element.get(name)
    if value is None:
        raise PadopsError(f"{path} is damaged: {what} has no {name}")
    return value


def _layer(element: ElementTree.Element, path: Path) -> Layer:
    what = f"layer {element.get('type')} '{element.get('name')}'"
    id, name, type, version = (_attribute(element, key, what, path) for key in ("id", "name", "type", "version"))
    data = element.find("data")
    inputs = tuple(_port(port, what, path) for port in element.iterfind("input/port"))
    outputs = tuple(_port(port, what, path) for port in element.iterfind("output/port"))
    return Layer(id, name, type, version, {} if data is None else dict(data.items()), inputs, outputs)


def _port(element: ElementTree.Element, what: str, path: Path) -> Port:
    id = _attribute(element, "id", f"a port of {what}", path)
    precision = _attribute(element, "precision", f"port {id} of {what}", path)
    dims = [_dim(dim.text, f"port {id} of {what}", path) for dim in element.iterfind("dim")]
    names = re.split(r"(?<!\\),", element.get("names", ""))  # a comma in a name has a backslash before it
    return Port(
        id,
        _element_type(PRECISIONS.get(precision, precision.lower()), what, path),
        tuple(dims) if dims else None,
        tuple(sorted(name.replace("\\,", ",") for name in names if name)),  # OpenVINO's get_any_name gives the first
    )


def _dim(text: str | None, what: str, path: Path) -> int | None:
    """A dim of a port (-1 where it is open) or of a Parameter (? or a range)."""
    text = (text or "").strip()
    if text in ("-1", "?") or ".." in text:
        return None
    if not text.isdecimal():
        raise PadopsError(f"{path} is damaged: {what} has the dim '{text}'")
    return int(text)


def _element_type(name: str, what: str, path: Path) -> int:
    if name not in ELEMENT_TYPES:
        raise PadopsError(f"{path}: {what} has elements of type {name}, which ONNX has no tensors of")
    return ELEMENT_TYPES[name]


def _edges(net: ElementTree.Element, path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Layer and port that each input comes from, by layer and port of the input."""
    edges = {}
    for edge in net.iterfind("edges/edge"):
        to = (_attribute(edge, "to-layer", "an edge", path), _attribute(edge, "to-port", "an edge", path))
        edges[to] = (_attribute(edge, "from-layer", "an edge", path), _attribute(edge, "from-port", "an edge", path))
    return edges


class _Builder:
    """Makes the message; values are named like OpenVINO's tensors, else like the layer that makes them."""

    def __init__(self, path: Path, weights: Path) -> None:
        self._path = path
        self._weights = weights
        self._graph = onnx.GraphProto()
        self._names: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def build(
        self, name: str, layers: list[Layer], edges: dict[tuple[str, str], tuple[str, str]]
    ) -> onnx.ModelProto:
        self._graph.name = name
        for layer in layers:
            for port in layer.outputs:
                suffix = f".{port.id}" if len(layer.outputs) > 1 else ""
                self._names[layer.id, port.id] = self._fresh(*port.names, layer.name + suffix)
        node_names: set[str] = set()
        for layer in layers:
            inputs = [self._source(layer, port, edges) for port in layer.inputs]
            if layer.type == "Parameter":
                self._add_input(layer)
            elif layer.type == "Const":
                self._add_constant(layer)
            elif layer.type == "Result":
                self._add_output(layer, inputs)
            else:
                self._add_node(layer, inputs)
            if layer.name in node_names and layer.type not in ("Parameter", "Result"):
                raise PadopsError(f"{self._path} is damaged: two layers have the name '{layer.name}'")
            node_names.add(layer.name)
        imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(self._graph, opset_imports=imports, ir_version=IR_VERSION, producer_name="OpenVINO")

    def _fresh(self, *wanted: str) -> str:
        """The first of the names that is free, else the last one with a number."""
        number = 1
        candidates = [*wanted]
        while candidates[0] in self._taken:
            candidates.pop(0)
            if not candidates:
                number += 1
                candidates = [f"{wanted[-1]}_{number}"]
        self._taken.add(candidates[0])
        return candidates[0]

    def _source(self, layer: Layer, port: Port, edges: dict[tuple[str, str], tuple[str, str]]) -> str:
        """The value that an input reads."""
        source = edges.get((layer.id, port.id))
        if source not in self._names:
            found = f"comes from layer {source[0]}, port {source[1]}, which does not exist" if source else "has no edge"
            raise PadopsError(f"{self._path} is damaged: input {port.id} of {layer} {found}")
        return self._names[source]

    def _output(self, layer: Layer) -> tuple[str, Port]:
        """The only output of a Parameter or Const."""
        if len(layer.outputs) != 1:
            raise PadopsError(f"{self._path} is damaged: {layer} has {len(layer.outputs)} outputs, expected one")
        return self._names[layer.id, layer.outputs[0].id], layer.outputs[0]

    def _data(self, layer: Layer, name: str) -> str:
        if name not in layer.data:
            raise PadopsError(f"{self._path} is damaged: {layer} has no {name}")
        return layer.data[name]

    def _add_input(self, layer: Layer) -> None:
        name, _ = self._output(layer)
        type = _element_type(self._data(layer, "element_type"), str(layer), self._path)
        shape = self._data(layer, "shape")
        dims = None if shape == "..." else [_dim(dim, str(layer), self._path) for dim in _split(shape)]
        self._graph.input.append(_value(name, type, dims))

    def _add_constant(self, layer: Layer) -> None:
        name, port = self._output(layer)
        type = _element_type(self._data(layer, "element_type"), str(layer), self._path)
        dims = [self._number(layer, "shape", dim) for dim in _split(self._data(layer, "shape"))]
        offset = self._number(layer, "offset", self._data(layer, "offset"))
        size = self._number(layer, "size", self._data(layer, "size"))
        if type == TensorProto.STRING:
            raise PadopsError(f"{self._path}: {layer} holds strings, which are not read")
        needed = (prod(dims) * onnx_bits(type) + 7) // 8
        if needed > size:
            raise PadopsError(f"{self._path} is damaged: {layer} has {size} bytes, but its shape needs {needed}")
        tensor = TensorProto(name=name, data_type=type, dims=dims, raw_data=self._read(layer, offset, needed))
        self._graph.node.append(helper.make_node("Constant", [], [name], name=layer.name, value=tensor))
        self._graph.value_info.append(_value(name, type, dims))

    def _number(self, layer: Layer, name: str, text: str) -> int:
        if not text.strip().isdecimal():
            raise PadopsError(f"{self._path} is damaged: {layer} has {name} '{text}'")
        return int(text)

    def _read(self, layer: Layer, offset: int, size: int) -> bytes:
        """Bytes of the ``.bin``."""
        if not size:
            return b""
        if not self._weights.is_file():
            raise PadopsError(f"{self._path}: {layer} needs {self._weights}, which does not exist")
        with open(self._weights, "rb") as file:
            return self._read_all(file, layer, offset, size)

    def _read_all(self, file: IO[bytes], layer: Layer, offset: int, size: int) -> bytes:
        file.seek(offset)
        content = file.read(size)
        if len(content) < size:
            raise PadopsError(
                f"{self._path}: {layer} needs the bytes {offset} to {offset + size} of {self._weights}, "
                f"which has only {self._weights.stat().st_size}"
            )
        return content

    def _add_output(self, layer: Layer, inputs: list[str]) -> None:
        """A Result; it gets the name that OpenVINO gives it, and a node of its own where that is not the value's."""
        if len(inputs) != 1:
            raise PadopsError(f"{self._path} is damaged: {layer} has {len(inputs)} inputs, expected one")
        port = layer.inputs[0]
        names = [name for name in re.split(r"(?<!\\),", layer.data.get("output_names", "")) if name]
        name, made = inputs[0], {output for node in self._graph.node for output in node.output}
        if name not in made or any(output.name == name for output in self._graph.output):
            name = self._fresh(*sorted(names), layer.name)
            self._graph.node.append(helper.make_node("Identity", inputs, [name], name=f"{layer.name}"))
        self._graph.output.append(_value(name, port.type, port.dims))

    def _add_node(self, layer: Layer, inputs: list[str]) -> None:
        outputs = [self._names[layer.id, port.id] for port in layer.outputs]
        node = helper.make_node(layer.type, inputs, outputs, name=layer.name, domain=DOMAIN, version=layer.version)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in layer.data.items())
        self._graph.node.append(node)
        for port, name in zip(layer.outputs, outputs):
            self._graph.value_info.append(_value(name, port.type, port.dims))


def onnx_bits(type: int) -> int:
    """Storage bits of one element."""
    if type in (TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1):
        return 4
    return helper.tensor_dtype_to_np_dtype(type).itemsize * 8


def _split(shape: str) -> Iterator[str]:
    """The dims of a shape attribute; an empty one is that of a scalar."""
    return (dim.strip() for dim in shape.split(",")) if shape.strip() else iter(())


def _value(name: str, type: int, dims: tuple[int | None, ...] | list[int | None] | None) -> onnx.ValueInfoProto:
    """A declaration; open dims get a name each, since onnxifier takes one without for 0."""
    named = None if dims is None else [f"{name}_{i}" if dim is None else dim for i, dim in enumerate(dims)]
    return helper.make_tensor_value_info(name, type, named)
