"""The XML of an OpenVINO IR: its layers, as they stand there."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

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


class Port(NamedTuple):
    """An input or output of a layer; ``dims`` is None if the XML has none: a scalar, or of unknown rank."""

    id: str
    type: int
    dims: tuple[int | None, ...] | None
    names: tuple[str, ...]


class Layer(NamedTuple):
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
    _check_ids(layers, path)
    edges = _edges(net, path)
    name = net.get("name") or path.stem.encode(errors="replace").decode()
    return Net(path, weights, name, in_order(layers, edges, path), edges), files


class _Place(NamedTuple):
    """A layer's element or one of its ports, as messages call it: most files need no message."""

    layer: ElementTree.Element
    port: str | None = None

    def __str__(self) -> str:
        of = "" if self.port is None else f"port {self.port} of " if self.port else "a port of "
        return f"{of}layer {self.layer.get('type')} '{self.layer.get('name')}'"


def _attributes(element: ElementTree.Element, what: object, path: Path, *names: str) -> list[str]:
    """Attributes that have to be there."""
    found = [value for name in names if (value := element.get(name)) is not None]
    if len(found) < len(names):
        lacking = next(name for name in names if element.get(name) is None)
        raise PadopsError(f"{path} is damaged: {what} has no {lacking}")
    return found


def _layer(element: ElementTree.Element, path: Path) -> Layer:
    id, name, type, version = _attributes(element, _Place(element), path, "id", "name", "type", "version")
    if not name or not type:  # to ONNX, a value without a name is none
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
    return Port(id, type, dims or None, tuple(sorted(names)))  # OpenVINO's get_any_name gives the first


def dims_of(texts: tuple[str | None, ...], what: object, path: Path) -> tuple[int | None, ...]:
    """The dims of a port (-1 for a dynamic one), of a Parameter (? or a range) or of a Const; ``what`` has them.

    Raises:
        PadopsError: A text is no dim, or no tensor can have all of them.
    """
    dims = _dims(texts)
    if isinstance(dims, str):
        raise PadopsError(f"{path} is damaged: {what} has {dims}")
    return dims


@lru_cache(1 << 12)
def _dims(texts: tuple[str | None, ...]) -> tuple[int | None, ...] | str:
    """The dims, or what is wrong with them."""
    dims: list[int | None] = []
    for text in ((text or "").strip() for text in texts):
        if text not in ("-1", "?") and ".." not in text and not _is_number(text):
            return _cut(f"the dim '{text}'")
        dims.append(int(text) if _is_number(text) else None)
    return too_large(dims) or tuple(dims)


def _is_number(text: str) -> bool:
    """Whether a text is a number that is not negative, and not longer than any that can mean something here."""
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def _cut(called: str) -> str:
    return called if len(called) <= 2 * LONGEST_NUMBER else f"{called[: 2 * LONGEST_NUMBER]}…"


def number_of(text: str, called: str, what: object, path: Path) -> int:
    """A number; the message says that ``what`` has it as it is ``called``, such as ``"offset '-1'"``.

    Raises:
        PadopsError: The text is no number, or a negative or long one.
    """
    if not _is_number(text):
        raise PadopsError(f"{path} is damaged: {what} has {_cut(called)}")
    return int(text)


def element_type(name: str, what: object, path: Path) -> int:
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
            if len(ids := [port.id for port in ports]) > len({*ids}):
                id, count = Counter(ids).most_common(1)[0]
                raise PadopsError(f"{path} is damaged: {count} {side} ports of {layer} have the id {id}")


def _edges(net: ElementTree.Element, path: Path) -> Edges:
    """Layer and port that each input comes from, by layer and port of the input."""
    edges: Edges = {}
    for edge in net.iterfind("edges/edge"):
        *to, source, port = _attributes(edge, "an edge", path, "to-layer", "to-port", "from-layer", "from-port")
        if (to[0], to[1]) in edges:
            raise PadopsError(f"{path} is damaged: two edges lead to port {to[1]} of layer {to[0]}")
        edges[to[0], to[1]] = (source, port)
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


def parse(content: bytes, path: Path) -> ElementTree.Element:
    """Parses the content of a file.

    Raises:
        PadopsError: It is not well-formed, or in an encoding that is not known, or has a document type.
    """
    with library_errors(str(path)):  # LookupError and ValueError: of encodings that Python or expat does not know
        try:
            _refuse_document_type(content, path)
            return ElementTree.fromstring(content)
        except (ElementTree.ParseError, expat.ExpatError) as error:
            raise PadopsError(
                f"{path} is not an OpenVINO IR, or is damaged: it is not well-formed XML: {error}"
            ) from None


def _refuse_document_type(content: bytes, path: Path) -> None:
    """Refuses a document type, which can define entities: files to read, and texts of any length.

    It stands before the root element. A tree builder that is told of it takes twice the time for all elements.
    """

    def refuse(name: str, *rest: object) -> None:
        raise PadopsError(f"{path} has a document type ({name}), which no OpenVINO IR has")

    def stop(*rest: object) -> None:
        raise StopIteration

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, stop
    with suppress(StopIteration):
        parser.Parse(content, True)
