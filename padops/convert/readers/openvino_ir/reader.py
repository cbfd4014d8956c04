"""The XML of an OpenVINO IR: its layers, as they stand there."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from xml.etree import ElementTree

from onnx import TensorProto

from padops.convert.errors import PadopsError, library_errors
from padops.convert.readers.limits import read_text, too_large
from padops.convert.records import FileRecord

VERSION = "11"  # of the format; OpenVINO has written no other since 2022

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

Edges = dict[tuple[str, str], tuple[str, str]]  # layer and port that an input comes from, by those of the input


@dataclass(frozen=True)
class Port:
    """An input or output of a layer; ``dims`` is None if the XML has none: a scalar, or of unknown rank."""

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


@dataclass(frozen=True)
class Net:
    """An IR."""

    path: Path  # of the XML
    weights: Path  # of the ``.bin``, whether it exists or not
    name: str
    layers: tuple[Layer, ...]  # in the order of the XML
    edges: Edges  # layer and port that each input comes from, by layer and port of the input


def read_net(path: Path) -> tuple[Net, list[FileRecord]]:
    """Reads the XML of an IR: what it says, and the files that the IR consists of.

    Raises:
        PadopsError: The XML is damaged or of another version.
    """
    content = read_text(path)
    net = parse(content, path)
    _check(net, path)
    weights = path.with_suffix(".bin")
    files = [FileRecord(str(path), len(content), hashlib.sha256(content).hexdigest())]
    if weights.is_file():
        files.append(FileRecord(str(weights), weights.stat().st_size))
    layers = tuple(_layer(element, path) for element in net.iterfind("layers/layer"))
    if not layers:
        raise PadopsError(f"{path} is not an OpenVINO IR: it has no layers")
    _check_ids(layers, path)
    edges = _edges(net, path)
    name = net.get("name") or path.stem.encode(errors="replace").decode()
    return Net(path, weights, name, in_order(layers, edges, path), edges), files


def _check(net: ElementTree.Element, path: Path) -> None:
    """Refuses XML that is no IR of the version that is read."""
    if net.tag != "net":
        raise PadopsError(f"{path} is not an OpenVINO IR: it is a <{net.tag}>, expected a <net>")
    if net.get("version") != VERSION:
        raise PadopsError(
            f"{path} is an IR of version {net.get('version')}, expected {VERSION}; "
            "OpenVINO writes that with openvino.save_model(openvino.Core().read_model(...), ...)"
        )


def _attribute(element: ElementTree.Element, name: str, what: str, path: Path) -> str:
    value = element.get(name)
    if value is None:
        raise PadopsError(f"{path} is damaged: {what} has no {name}")
    return value


def _layer(element: ElementTree.Element, path: Path) -> Layer:
    what = f"layer {element.get('type')} '{element.get('name')}'"
    id, name, type, version = (_attribute(element, key, what, path) for key in ("id", "name", "type", "version"))
    if not name or not type:  # to ONNX, a value without a name is none
        raise PadopsError(f"{path} is damaged: layer {id} has an empty {'type' if name else 'name'}")
    data = element.find("data")
    inputs = tuple(_port(port, what, path) for port in element.iterfind("input/port"))
    outputs = tuple(_port(port, what, path) for port in element.iterfind("output/port"))
    return Layer(id, name, type, version, {} if data is None else dict(data.items()), inputs, outputs)


def _port(element: ElementTree.Element, what: str, path: Path) -> Port:
    id = _attribute(element, "id", f"a port of {what}", path)
    precision = _attribute(element, "precision", f"port {id} of {what}", path)
    dims = dims_of([dim.text for dim in element.iterfind("dim")], f"port {id} of {what}", path)
    names = re.split(r"(?<!\\),", element.get("names", ""))  # a comma in a name has a backslash before it
    return Port(
        id,
        element_type(PRECISIONS.get(precision, precision.lower()), what, path),
        tuple(dims) if dims else None,
        tuple(sorted(name.replace("\\,", ",") for name in names if name)),  # OpenVINO's get_any_name gives the first
    )


def dims_of(texts: Sequence[str | None], what: str, path: Path) -> list[int | None]:
    """The dims of a port (-1 for a dynamic one), of a Parameter (? or a range) or of a Const; ``what`` has them.

    Raises:
        PadopsError: A text is no dim, or no tensor can have all of them.
    """
    dims = [_dim((text or "").strip(), what, path) for text in texts]
    if wrong := too_large(dims):
        raise PadopsError(f"{path} is damaged: {what} has {wrong}")
    return dims


def _dim(text: str, what: str, path: Path) -> int | None:
    return None if text in ("-1", "?") or ".." in text else number_of(text, f"the dim '{text}'", what, path)


def number_of(text: str, called: str, what: str, path: Path) -> int:
    """A number that is not negative and not longer than any that can mean something here.

    The message says that ``what`` has the number as it is ``called``, such as ``"offset '-1'"``.

    Raises:
        PadopsError: The text is no such number.
    """
    if not text.isascii() or not text.isdecimal() or len(text) > LONGEST_NUMBER:
        called = called if len(called) <= 2 * LONGEST_NUMBER else f"{called[: 2 * LONGEST_NUMBER]}…"
        raise PadopsError(f"{path} is damaged: {what} has {called}")
    return int(text)


def element_type(name: str, what: str, path: Path) -> int:
    """The ``TensorProto.DataType`` of an element type of OpenVINO.

    Raises:
        PadopsError: ONNX has no tensors of that type.
    """
    if name not in ELEMENT_TYPES:
        raise PadopsError(f"{path}: {what} has elements of type {name}, which ONNX has no tensors of")
    return ELEMENT_TYPES[name]


def _check_ids(layers: Sequence[Layer], path: Path) -> None:
    """Refuses duplicate ids: an edge to such an id is ambiguous."""
    for id, count in Counter(layer.id for layer in layers).items():
        if count > 1:
            raise PadopsError(f"{path} is damaged: {count} layers have the id {id}")
    for layer in layers:
        for side, ports in (("input", layer.inputs), ("output", layer.outputs)):
            for id, count in Counter(port.id for port in ports).items():
                if count > 1:
                    raise PadopsError(f"{path} is damaged: {count} {side} ports of {layer} have the id {id}")


def _edges(net: ElementTree.Element, path: Path) -> Edges:
    """Layer and port that each input comes from, by layer and port of the input."""
    edges: Edges = {}
    for edge in net.iterfind("edges/edge"):
        to = (_attribute(edge, "to-layer", "an edge", path), _attribute(edge, "to-port", "an edge", path))
        if to in edges:
            raise PadopsError(f"{path} is damaged: two edges lead to port {to[1]} of layer {to[0]}")
        edges[to] = (_attribute(edge, "from-layer", "an edge", path), _attribute(edge, "from-port", "an edge", path))
    return edges


def in_order(layers: Sequence[Layer], edges: Edges, path: Path) -> tuple[Layer, ...]:
    """The layers, each behind the layers that it reads; unchanged if their order is right already.

    Raises:
        PadopsError: Layers read each other in a circle.
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
    # Inputs and outputs of the model are those of the file, in its order.
    ends = {"Parameter": -1, "Result": len(order)}
    return tuple(sorted(layers, key=lambda layer: ends.get(layer.type, order[layer.id])))


class _Builder(ElementTree.TreeBuilder):
    """Makes the tree; refuses a document type, which can define entities: files to read, and texts of any length."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise PadopsError(f"{self._path} has a document type ({name}), which no OpenVINO IR has")


def parse(content: bytes, path: Path) -> ElementTree.Element:
    """Parses the content of a file.

    Raises:
        PadopsError: It is not well-formed, or in an encoding that is not known, or has a document type.
    """
    with library_errors(str(path)):  # LookupError and ValueError: of encodings that Python or expat does not know
        try:
            return ElementTree.fromstring(content, ElementTree.XMLParser(target=_Builder(path)))
        except ElementTree.ParseError as error:
            raise PadopsError(
                f"{path} is not an OpenVINO IR, or is damaged: it is not well-formed XML: {error}"
            ) from None
