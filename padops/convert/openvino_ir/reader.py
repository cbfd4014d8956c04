"""The XML of an OpenVINO IR: its layers, as they stand there."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from onnx import TensorProto

from padops.convert.errors import PadopsError
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


@dataclass(frozen=True)
class Net:
    """An IR.

    Attributes:
        path: Of the XML.
        weights: Of the ``.bin``, whether it exists or not.
        name: Of the model.
        layers: In the order of the XML.
        edges: Layer and port that each input comes from, by layer and port of the input.
    """

    path: Path
    weights: Path
    name: str
    layers: tuple[Layer, ...]
    edges: dict[tuple[str, str], tuple[str, str]]


def read_net(path: Path) -> tuple[Net, list[FileRecord]]:
    """Reads the XML of an IR.

    Returns:
        What it says, and the files that the IR consists of.

    Raises:
        PadopsError: The XML is damaged or of another version.
    """
    content = path.read_bytes()
    net = _net(content, path)
    weights = path.with_suffix(".bin")
    files = [FileRecord(str(path), len(content), hashlib.sha256(content).hexdigest())]
    if weights.is_file():
        files.append(FileRecord(str(weights), weights.stat().st_size))
    layers = tuple(_layer(element, path) for element in net.iterfind("layers/layer"))
    if not layers:
        raise PadopsError(f"{path} is not an OpenVINO IR: it has no layers")
    return Net(path, weights, net.get("name") or path.stem, layers, _edges(net, path)), files


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
    dims = [dim_of(dim.text, f"port {id} of {what}", path) for dim in element.iterfind("dim")]
    names = re.split(r"(?<!\\),", element.get("names", ""))  # a comma in a name has a backslash before it
    return Port(
        id,
        element_type(PRECISIONS.get(precision, precision.lower()), what, path),
        tuple(dims) if dims else None,
        tuple(sorted(name.replace("\\,", ",") for name in names if name)),  # OpenVINO's get_any_name gives the first
    )


def dim_of(text: str | None, what: str, path: Path) -> int | None:
    """A dim of a port (-1 where it is open) or of a Parameter (? or a range)."""
    text = (text or "").strip()
    if text in ("-1", "?") or ".." in text:
        return None
    if not text.isdecimal():
        raise PadopsError(f"{path} is damaged: {what} has the dim '{text}'")
    return int(text)


def element_type(name: str, what: str, path: Path) -> int:
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
