"""Reads the layers of an OpenVINO IR from its XML into one ONNX message, without interpreting them."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from io import BytesIO
from math import prod
from pathlib import Path
from typing import BinaryIO, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

import onnx
from onnx import TensorProto, helper

from padops.convert.errors import PadopsError, library_errors
from padops.convert.matchers.frameworks import DOMAIN
from padops.convert.model.external import refuse_pointer
from padops.convert.records import FileRecord
from padops.plural import plural
from padops.spec.plan import LARGEST

LARGEST_TEXT = 1 << 31  # bytes of a JSON or XML file; Python's objects for it need ten times this number
MOST_LINES = 20  # of a list in a message
HIGHEST_RANK = 32  # of a tensor; NumPy's own limit before 2.0


def listing(lines: Sequence[str]) -> str:
    """Return a list of unconvertible parts for the end of a message: up to ``MOST_LINES``."""
    more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return " " + "; ".join([*lines[:MOST_LINES], *more])


def static_dims(dims: Sequence[int | str | None] | None) -> list[int] | None:
    """Return the dims if all are known, else None; an unknown dim is None or a name."""
    known = [dim for dim in dims or () if isinstance(dim, int)]
    return known if dims is not None and len(known) == len(dims) else None


def too_large(dims: Sequence[int | None]) -> str | None:
    """Return why no tensor can have these dims (None for a dynamic dim; none is negative), or None."""
    if len(dims) > HIGHEST_RANK:
        return f"{len(dims)} dims, more than {HIGHEST_RANK}"
    known = [dim for dim in dims if dim is not None]
    if max(known, default=0) > LARGEST:
        return f"a dim beyond {LARGEST} [P10]"
    return f"more than {LARGEST} elements [P10]" if prod(known) > LARGEST else None


VERSION = "11"  # of the format; OpenVINO has written only this version since 2022

# Element types by their name in Parameter and Const layers; ports spell the first six differently.
ELEMENT_TYPES = {
    "f64": TensorProto.DOUBLE,
    "f32": TensorProto.FLOAT,
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "boolean": TensorProto.BOOL,
    "string": TensorProto.STRING,
    **{f"i{bits}": TensorProto.DataType.Value(f"INT{bits}") for bits in (64, 32, 16, 8, 4)},
    **{f"u{bits}": TensorProto.DataType.Value(f"UINT{bits}") for bits in (64, 32, 16, 8, 4)},
    "f8e4m3": TensorProto.FLOAT8E4M3FN,
    "f8e5m2": TensorProto.FLOAT8E5M2,
    "f8e8m0": getattr(TensorProto, "FLOAT8E8M0", 24),
    "f4e2m1": TensorProto.FLOAT4E2M1,
}
LONGEST_NUMBER = 20  # digits; those of 2**64
PRECISIONS = {"FP64": "f64", "FP32": "f32", "FP16": "f16", "BF16": "bf16", "BOOL": "boolean", "STRING": "string"}

Edges = dict[tuple[str, str], tuple[str, str]]  # from layer and port of an input to layer and port of its source


class Port(NamedTuple):
    """An input or output of a layer; ``dims`` is None if the XML has none: for a scalar or an unknown rank."""

    id: str
    type: int
    dims: tuple[int | None, ...] | None
    names: tuple[str, ...]


class Layer(NamedTuple):
    """A layer as the XML states it."""

    id: str
    name: str
    type: str
    version: str
    data: dict[str, str]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    def __str__(self) -> str:
        return f"{self.type} '{self.name}'"


@dataclass(frozen=True)
class Net:
    """An OpenVINO IR."""

    path: Path  # of the XML
    weights: Path  # of the ``.bin``, whether it exists or not
    name: str
    layers: tuple[Layer, ...]  # in the order of the XML
    edges: Edges  # from layer and port of each input to layer and port of its source


def read_net(path: Path) -> tuple[Net, list[FileRecord]]:
    """Read the XML of an IR: its layers and edges, and the files of the IR.

    Raises:
        PadopsError: The XML is damaged or of another version.
    """
    if (size := path.stat().st_size) > LARGEST_TEXT:
        raise PadopsError(f"{path} has {size} bytes; files of text are read up to {LARGEST_TEXT}")
    content = path.read_bytes()
    net = parse(content, path)
    if net.tag != "net":
        raise PadopsError(f"{path} is not an OpenVINO IR: it is a <{net.tag}>, expected a <net>")
    if net.get("version") != VERSION:
        raise PadopsError(
            f"{path} is an IR of version {net.get('version')}, expected {VERSION}; "
            "OpenVINO writes that with openvino.save_model(openvino.Core().read_model(...), ...)"
        )
    weights = path.with_suffix(".bin")
    files = [FileRecord(str(path), len(content), hashlib.sha256(content).hexdigest())]
    if weights.is_file():
        files.append(FileRecord(str(weights), weights.stat().st_size))
    layers = tuple(_layer(element, path) for element in net.iterfind("layers/layer"))
    if not layers:
        raise PadopsError(f"{path} is not an OpenVINO IR: it has no layers")
    for id, count in Counter(layer.id for layer in layers).items():  # an edge to such an id is ambiguous
        if count > 1:
            raise PadopsError(f"{path} is damaged: {count} layers have the id {id}")
    for layer in layers:
        for side, ports in (("input", layer.inputs), ("output", layer.outputs)):
            id, count = Counter(port.id for port in ports).most_common(1)[0] if ports else ("", 0)
            if count > 1:
                raise PadopsError(f"{path} is damaged: {count} {side} ports of {layer} have the id {id}")
    edges: Edges = {}
    for edge in net.iterfind("edges/edge"):
        *to, source, port = _attributes(edge, "an edge", path, "to-layer", "to-port", "from-layer", "from-port")
        if (to[0], to[1]) in edges:
            raise PadopsError(f"{path} is damaged: two edges lead to port {to[1]} of layer {to[0]}")
        edges[to[0], to[1]] = (source, port)
    name = net.get("name") or path.stem.encode(errors="replace").decode()
    return Net(path, weights, name, in_order(layers, edges, path), edges), files


class _Place(NamedTuple):
    """The name of a layer's element or port for messages, formatted only if a message needs it."""

    layer: ElementTree.Element
    port: str | None = None

    def __str__(self) -> str:
        of = "" if self.port is None else f"port {self.port} of " if self.port else "a port of "
        return f"{of}layer {self.layer.get('type')} '{self.layer.get('name')}'"


def _attributes(element: ElementTree.Element, what: object, path: Path, *names: str) -> list[str]:
    found = [value for name in names if (value := element.get(name)) is not None]
    if len(found) < len(names):
        lacking = next(name for name in names if element.get(name) is None)
        raise PadopsError(f"{path} is damaged: {what} has no {lacking}")
    return found


def _layer(element: ElementTree.Element, path: Path) -> Layer:
    id, name, type, version = _attributes(element, _Place(element), path, "id", "name", "type", "version")
    if not name or not type:  # in ONNX, a value without a name is absent
        raise PadopsError(f"{path} is damaged: layer {id} has an empty {'type' if name else 'name'}")
    data: dict[str, str] | None = None
    ports: dict[str, list[Port]] = {"input": [], "output": []}
    for part in element:
        if part.tag in ports:
            ports[part.tag] += [_port(port, element, path) for port in part if port.tag == "port"]
        elif part.tag == "data" and data is None:
            data = dict(part.items())
    return Layer(id, name, type, version, data or {}, tuple(ports["input"]), tuple(ports["output"]))


def _port(element: ElementTree.Element, layer: ElementTree.Element, path: Path) -> Port:
    id, precision = element.get("id"), element.get("precision")
    what = _Place(layer, id or "")
    if id is None or precision is None:
        raise PadopsError(f"{path} is damaged: {what} has no {'id' if id is None else 'precision'}")
    dims = dims_of(tuple([dim.text for dim in element if dim.tag == "dim"]), what, path)
    names: list[str] = []
    if text := element.get("names"):  # a comma in a name has a backslash before it
        names = [name.replace("\\,", ",") for name in re.split(r"(?<!\\),", text) if name]
    type = element_type(PRECISIONS.get(precision) or precision.lower(), _Place(layer), path)
    return Port(id, type, dims or None, tuple(sorted(names)))  # OpenVINO's get_any_name returns the first


def dims_of(texts: tuple[str | None, ...], what: object, path: Path) -> tuple[int | None, ...]:
    """Return the dims of ``what``: a port (-1: dynamic), a Parameter (? or a range: dynamic) or a Const.

    Raises:
        PadopsError: A text is not a dim, or no tensor can have these dims.
    """
    dims = _dims(texts)
    if isinstance(dims, str):
        raise PadopsError(f"{path} is damaged: {what} has {dims}")
    return dims


@lru_cache(1 << 12)
def _dims(texts: tuple[str | None, ...]) -> tuple[int | None, ...] | str:
    """Return the dims, or the error in them as a text."""
    dims: list[int | None] = []
    for text in ((text or "").strip() for text in texts):
        if text not in ("-1", "?") and ".." not in text and not _is_number(text):
            return _cut(f"the dim '{text}'")
        dims.append(int(text) if _is_number(text) else None)
    return too_large(dims) or tuple(dims)


def _is_number(text: str) -> bool:
    """Return whether a text is a number that is not negative, and not too long to mean something here."""
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def _cut(called: str) -> str:
    return called if len(called) <= 2 * LONGEST_NUMBER else f"{called[: 2 * LONGEST_NUMBER]}…"


def element_type(name: str, what: object, path: Path) -> int:
    """Return the ``TensorProto.DataType`` of an element type of OpenVINO.

    Raises:
        PadopsError: ONNX has no tensors of this type.
    """
    if name not in ELEMENT_TYPES:
        raise PadopsError(f"{path}: {what} has elements of type {name}, which ONNX has no tensors of")
    return ELEMENT_TYPES[name]


def in_order(layers: Sequence[Layer], edges: Edges, path: Path) -> tuple[Layer, ...]:
    """Return the layers in an order in which each follows the layers that it reads; unchanged if their order is right.

    Raises:
        PadopsError: Layers read each other in a cycle.
    """
    sources = {layer.id: {edges[layer.id, port.id][0] for port in layer.inputs if (layer.id, port.id) in edges}
               for layer in layers}  # fmt: skip
    seen: set[str] = set()
    for layer in layers:
        if not sources[layer.id] <= seen:
            break
        seen.add(layer.id)
    else:
        return tuple(layers)
    try:
        order = {id: place for place, id in enumerate(TopologicalSorter(sources).static_order())}
    except CycleError as error:
        raise PadopsError(
            f"{path} is damaged: layers read each other in a circle: {', '.join(error.args[1][:8])}"
        ) from None
    # The model's inputs and outputs stay in the order of the file.
    ends = {"Parameter": -1, "Result": len(order)}
    return tuple(sorted(layers, key=lambda layer: ends.get(layer.type, order[layer.id])))


def parse(content: bytes, path: Path) -> ElementTree.Element:
    """Parse the content of a file.

    It refuses a document type, which can define entities: files to read, and texts of any length. A document type
    precedes the root element, so a first parser stops at the root. A tree builder that handles document types needs
    twice the time for all elements.

    Raises:
        PadopsError: The content is not well-formed, has an unknown encoding, or has a document type.
    """

    def refuse(name: str, *rest: object) -> None:
        raise PadopsError(f"{path} has a document type ({name}), which no OpenVINO IR has")

    def stop(*rest: object) -> None:
        raise StopIteration

    with library_errors(str(path)):  # LookupError and ValueError: from encodings that Python or expat does not know
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, stop
        try:
            with suppress(StopIteration):
                parser.Parse(content, True)
            return ElementTree.fromstring(content)
        except (ElementTree.ParseError, expat.ExpatError) as error:
            raise PadopsError(
                f"{path} is not an OpenVINO IR, or is damaged: it is not well-formed XML: {error}"
            ) from None


LARGEST_MODEL = (1 << 31) - 1  # bytes of a model; onnx checks it with its weights inside
OPSET = 21  # of ONNX; the first whose Cast has 4-bit types
IR_VERSION = 10  # of ONNX; the first that knows this opset


class Builder:
    """Makes a model of nodes in the domain ``ai.intel.openvino``, with the names and types of the layers.

    The nodes' attributes are strings. Parameter, Const and Result become inputs, initializers and outputs. Values have
    the names of OpenVINO's tensors, else of the layers that make them.
    """

    def __init__(self, net: Net) -> None:
        self._net = net
        self._path = net.path
        self._there = net.weights.stat().st_size if net.weights.is_file() else None  # bytes
        self._asked = 0  # bytes of weights; layers may share bytes, so the sum may exceed the file
        self._constants: dict[str, tuple[int, list[int], int, int]] = {}
        self._message = onnx.ModelProto(ir_version=IR_VERSION, producer_name="OpenVINO")
        self._message.opset_import.add(domain="", version=OPSET)
        self._message.opset_import.add(domain=DOMAIN, version=1)
        self._graph = self._message.graph  # no copy, so changed in place
        self._names: dict[tuple[str, str], str] = {}
        self._taken: dict[str, int] = {}  # names, each with the last number that was put behind it
        self._made: set[str] = set()  # the values that nodes make
        self._put_out: set[str] = set()  # the names of the outputs

    def build(self) -> onnx.ModelProto:
        """Build and return the model.

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
        """Add all layers, and read the constants from the file of weights."""
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
        """Return the first free name, else the last name with a number."""
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
        source = self._net.edges.get((layer.id, port.id))
        if source not in self._names:
            found = f"comes from layer {source[0]}, port {source[1]}, which does not exist" if source else "has no edge"
            raise PadopsError(f"{self._path} is damaged: input {port.id} of {layer} {found}")
        return self._names[source]

    def _output(self, layer: Layer) -> str:
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
        """Return the dims of a Parameter or Const; an empty text means a scalar."""
        shape = self._data(layer, "shape")
        return dims_of(tuple(shape.split(",")) if shape.strip() else (), layer, self._path)

    def _check_constant(self, layer: Layer) -> tuple[int, list[int], int, int]:
        """Return element type, dims, offset and bytes of a Const, after a check that the file has the bytes."""
        type = element_type(self._data(layer, "element_type"), layer, self._path)
        dims = self._dims(layer)
        if type == TensorProto.STRING:
            raise PadopsError(f"{self._path}: {layer} holds strings, which are not read")
        static = static_dims(dims)
        if static is None:
            raise PadopsError(f"{self._path} is damaged: {layer} has the shape '{layer.data['shape']}'")
        numbers = []
        for key in ("offset", "size"):
            text = self._data(layer, key)
            if not _is_number(text.strip()):
                called = _cut(f"{key} '{text}'")
                raise PadopsError(f"{self._path} is damaged: {layer} has {called}")
            numbers.append(int(text))
        offset, size = numbers
        is_4_bits = type in (TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1)
        bits = 4 if is_4_bits else helper.tensor_dtype_to_np_dtype(type).itemsize * 8
        needed = (prod(static) * bits + 7) // 8
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
        tensor = self._graph.initializer.add(name=name, data_type=type)  # filled in place, to avoid a copy
        if size:
            file.seek(offset)
        content = file.read(size) if size else b""
        if len(content) < size:
            raise PadopsError(f"{self._path}: {self._net.weights} became shorter while it was read")
        tensor.raw_data = content
        tensor.dims.extend(dims)
        self._made.add(name)

    def _check_weights(self, layer: Layer, offset: int, size: int) -> None:
        """Refuse a Const whose bytes are not in the file. The builder checks every Const before it reads the first."""
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
        if self._asked > LARGEST_MODEL:
            raise PadopsError(f"{path} has {self._asked} bytes of weights or more; up to {LARGEST_MODEL} are read")

    def _add_output(self, layer: Layer, inputs: list[str]) -> None:
        """Add the output of a Result: the value, or an Identity if no node made the value or it already is one."""
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


def _declare(info: onnx.ValueInfoProto, name: str, type: int, dims: Sequence[int | None] | None) -> None:
    info.name = name
    tensor = info.type.tensor_type
    tensor.elem_type = type
    if dims is None:
        return
    tensor.shape.SetInParent()
    for dim in dims:
        tensor.shape.dim.add(dim_value=dim)  # None sets nothing
