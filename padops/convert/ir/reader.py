"""Reads an OpenVINO IR (XML and weights) into one ModelProto, without interpreting the layers."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import onnx
import onnx_ir as ir
from onnx import TensorProto, helper

from padops.convert.errors import PadopsError, library_errors
from padops.convert.matchers.frameworks import DOMAIN
from padops.convert.model.checks import check_names
from padops.convert.model.external import refuse_pointer
from padops.convert.model.inference import arrange, order_of
from padops.convert.records import FileRecord
from padops.plural import plural
from padops.spec.plan import LARGEST

HIGHEST_RANK = 32  # of a tensor; NumPy's own limit before 2.0
VERSION = "11"  # of the format; OpenVINO has written only this version since 2022

# Element types by their name in Parameter and Const layers; ports spell the first six differently.
ELEMENT_TYPES = {
    **{"f64": TensorProto.DOUBLE, "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16},
    **{"boolean": TensorProto.BOOL, "string": TensorProto.STRING},
    **{f"i{bits}": TensorProto.DataType.Value(f"INT{bits}") for bits in (64, 32, 16, 8, 4)},
    **{f"u{bits}": TensorProto.DataType.Value(f"UINT{bits}") for bits in (64, 32, 16, 8, 4)},
    **{"f8e4m3": TensorProto.FLOAT8E4M3FN, "f8e5m2": TensorProto.FLOAT8E5M2, "f8e8m0": TensorProto.FLOAT8E8M0},
    "f4e2m1": TensorProto.FLOAT4E2M1,
}
PRECISIONS = {"FP64": "f64", "FP32": "f32", "FP16": "f16", "BF16": "bf16", "BOOL": "boolean", "STRING": "string"}
LARGEST_MODEL = (1 << 31) - 1  # the most bytes of a model; onnx checks the model with its weights inside
OPSET = 21  # of ONNX; the first opset whose Cast has 4-bit types
IR_VERSION = 10  # of ONNX; the first IR version that allows this opset
ENDS = {"Parameter": (0, 1), "Const": (0, 1), "Result": (1, 0)}  # the numbers of inputs and outputs of these layers
LONGEST_NUMBER = 20  # digits; 2**64 has as many
SHOWN = 40  # the most characters of a wrong number in a message


def static_dims(dims: Sequence[int | None] | None) -> list[int] | None:
    """Return the dims if all are known, else None."""
    known = [dim for dim in dims or () if dim is not None]
    return known if dims is not None and len(known) == len(dims) else None


class Port(NamedTuple):
    """An input or output of a layer; ``dims`` is None if the XML has no dims: for a scalar or an unknown rank."""

    id: str
    type: int
    dims: list[int | None] | None
    names: list[str]


class Layer(NamedTuple):
    """A layer as the XML states it."""

    id: str
    name: str
    type: str
    version: str
    data: dict[str, str]
    inputs: list[Port]
    outputs: list[Port]

    def __str__(self) -> str:
        return f"{self.type} '{self.name}'"


class _Tree(ElementTree.TreeBuilder):
    """Refuses a document type, which can define entities; an entity may read files or become a text of any length."""

    def doctype(self, name: str, *rest: object) -> None:
        raise ValueError(f"it has a document type ({name}), which no OpenVINO IR has")


class Reader:
    """Reads an IR as a model whose nodes are in the domain ``ai.intel.openvino`` and keep the layers' names and types.

    The nodes' attributes are strings. Parameter, Const and Result become inputs, initializers and outputs. A value has
    the name of OpenVINO's tensor. If the tensor has no name, the value has the name of the layer that computes it.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._weights = path, path.with_suffix(".bin")
        self._there = self._weights.stat().st_size if self._weights.is_file() else None  # bytes; None without a file
        self._sum = 0  # bytes of weights; layers may share bytes, so the sum may exceed the size of the file
        self._constants: list[tuple[onnx.TensorProto, int, int]] = []  # each with its offset and its number of bytes
        self._message = onnx.ModelProto(ir_version=IR_VERSION, producer_name="OpenVINO")
        self._message.opset_import.add(domain="", version=OPSET)
        self._message.opset_import.add(domain=DOMAIN, version=1)
        self._graph = self._message.graph  # not a copy: changes of the graph change the message
        self._sources: dict[tuple[str, str], tuple[str, str]] = {}  # from an input to its source
        self._names: dict[tuple[str, str], str] = {}  # of the values, by the layer and port that compute them
        self._taken: dict[str, int] = {}  # the names in use, each with the last number that was appended to it
        self._made: set[str] = set()  # the values that nodes compute or constants hold
        self._put_out: set[str] = set()  # the names of the model's outputs

    def read(self) -> tuple[onnx.ModelProto, list[FileRecord]]:
        """Return the model and the IR's files; refuse a damaged IR, another IR version, and a missing or short .bin."""
        content = self._path.read_bytes()
        try:
            with library_errors(str(self._path)):  # also errors for encodings that Python does not know
                net = ElementTree.fromstring(content, ElementTree.XMLParser(target=_Tree()))
        except ElementTree.ParseError as error:
            raise self._damaged(f"it is not well-formed XML: {error}") from None
        if net.tag != "net":
            raise PadopsError(f"{self._path} is not an OpenVINO IR: it is a <{net.tag}>, expected a <net>")
        if net.get("version") != VERSION:
            raise PadopsError(
                f"{self._path} is an IR of version {net.get('version')}, expected {VERSION}; "
                "openvino.save_model(openvino.Core().read_model(...), ...) writes the expected version"
            )
        files = [FileRecord(str(self._path), len(content), hashlib.sha256(content).hexdigest())]
        if self._there is not None:
            files.append(FileRecord(str(self._weights), self._there))
        self._graph.name = net.get("name") or self._path.stem.encode(errors="replace").decode()
        layers = [self._layer(element) for element in net.iterfind("layers/layer")]
        if not layers:
            raise PadopsError(f"{self._path} is not an OpenVINO IR: it has no layers")
        self._refuse_equal("layers have the id", (layer.id for layer in layers))
        edges = [[self._text(edge, name, "an edge") for name in ("to-layer", "to-port", "from-layer", "from-port")]
                 for edge in net.iterfind("edges/edge")]  # fmt: skip
        self._refuse_equal("edges lead to the input", (f"{to} of layer {layer}" for layer, to, *_ in edges))
        self._sources = {(layer, to): (source, port) for layer, to, source, port in edges}
        for layer in layers:
            for port in layer.outputs:
                suffix = f".{port.id}" if len(layer.outputs) > 1 else ""
                self._names[layer.id, port.id] = self._fresh(*port.names, layer.name + suffix)
        for layer in layers:
            self._add(layer)
        check_names(self._graph)
        arrange(self._graph, order_of(self._graph.node))
        with open(self._weights, "rb") if self._there is not None else BytesIO() as file:
            for tensor, offset, size in self._constants:
                file.seek(offset)
                tensor.raw_data = file.read(size)
                if len(tensor.raw_data) < size:
                    raise PadopsError(f"{self._path}: {self._weights} became shorter while it was read")
        return self._message, files

    def _damaged(self, what: str) -> PadopsError:
        return PadopsError(f"{self._path} is damaged: {what}")

    def _refuse_equal(self, what: str, ids: Iterable[str]) -> None:
        for id, count in Counter(ids).items():
            if count > 1:
                raise self._damaged(f"{count} {what} {id}")

    def _text(self, element: ElementTree.Element | dict[str, str], name: str, what: object) -> str:
        if (text := element.get(name)) is None:
            raise self._damaged(f"{what} has no {name}")
        return text

    def _layer(self, element: ElementTree.Element) -> Layer:
        what = f"layer {element.get('type')} '{element.get('name')}'"
        id, name, type, version = (self._text(element, key, what) for key in ("id", "name", "type", "version"))
        if not name or not type:  # in ONNX, a value without a name is absent
            raise self._damaged(f"layer {id} has an empty {'type' if name else 'name'}")
        data = element.find("data")
        inputs, outputs = (
            [self._port(port, what) for port in element.iterfind(f"{side}/port")] for side in ("input", "output")
        )
        layer = Layer(id, name, type, version, {} if data is None else dict(data.items()), inputs, outputs)
        for side, ports in (("input", inputs), ("output", outputs)):
            self._refuse_equal(f"{side} ports of {layer} have the id", (port.id for port in ports))
        expected = ENDS.get(type)
        if expected not in (None, (len(inputs), len(outputs))):
            raise self._damaged(
                f"{layer} has {plural(len(inputs), 'input')} and {plural(len(outputs), 'output')}, expected "
                f"{expected[0]} and {expected[1]}"
            )
        return layer

    def _port(self, element: ElementTree.Element, layer: str) -> Port:
        id = self._text(element, "id", f"a port of {layer}")
        what = f"port {id} of {layer}"
        precision = self._text(element, "precision", what)
        dims = self._dims([dim.text or "" for dim in element.iterfind("dim")], what)
        type = self._type(PRECISIONS.get(precision) or precision.lower(), layer)
        return Port(id, type, dims or None, _split(element.get("names", "")))

    def _dims(self, texts: Sequence[str], what: object) -> list[int | None]:
        """Return the dims of a port (-1: dynamic), a Parameter (? or a range: dynamic) or a Const."""
        dims: list[int | None] = []
        for text in map(str.strip, texts):
            if text not in ("-1", "?") and ".." not in text and not _is_number(text):
                raise self._damaged(f"{what} has the dim '{text[:SHOWN]}'")
            dims.append(int(text) if _is_number(text) else None)
        if len(dims) > HIGHEST_RANK:
            raise self._damaged(f"{what} has {len(dims)} dims, more than {HIGHEST_RANK}")
        known = [dim for dim in dims if dim is not None]
        if max(known, default=0) > LARGEST or prod(known) > LARGEST:
            raise self._damaged(f"{what} has a dim, or a number of elements, beyond {LARGEST} [P10]")
        return dims

    def _type(self, name: str, what: object) -> int:
        if name not in ELEMENT_TYPES:
            raise PadopsError(f"{self._path}: {what} has elements of type {name}, and ONNX has no tensors of this type")
        return ELEMENT_TYPES[name]

    def _fresh(self, *wanted: str) -> str:
        """Return the first wanted name that is free; if none is free, the last wanted name with a number appended."""
        name = next((name for name in wanted if name not in self._taken), wanted[-1])
        while name in self._taken:
            self._taken[wanted[-1]] += 1
            name = f"{wanted[-1]}_{self._taken[wanted[-1]]}"
        self._taken[name] = 1
        return name

    def _add(self, layer: Layer) -> None:
        inputs = [self._source(layer, port) for port in layer.inputs]
        outputs = [self._names[layer.id, port.id] for port in layer.outputs]
        if layer.type == "Result":
            (port,), (name,) = layer.inputs, inputs
            if name not in self._made or name in self._put_out:  # a model input, or already an output
                name = self._fresh(*_split(layer.data.get("output_names", "")), layer.name)
                self._graph.node.append(helper.make_node("Identity", inputs, [name], name=layer.name))
            self._put_out.add(name)
            _declare(self._graph.output.add(), name, port.type, port.dims)
        elif layer.type in ENDS:
            type = self._type(self._text(layer.data, "element_type", layer), layer)
            shape = self._text(layer.data, "shape", layer)  # an empty text means a scalar
            is_unranked = layer.type == "Parameter" and shape == "..."
            dims = None if is_unranked else self._dims(shape.split(",") if shape.strip() else (), layer)
            if layer.type == "Parameter":
                _declare(self._graph.input.add(), outputs[0], type, dims)
            else:
                self._add_constant(layer, outputs[0], type, dims)
        else:
            data = {**layer.data, "version": layer.version}
            self._graph.node.append(helper.make_node(layer.type, inputs, outputs, layer.name, domain=DOMAIN, **data))
            self._made.update(outputs)
            for port, name in zip(layer.outputs, outputs):
                _declare(self._graph.value_info.add(), name, port.type, port.dims)

    def _source(self, layer: Layer, port: Port) -> str:
        source = self._sources.get((layer.id, port.id))
        if source not in self._names:
            found = f"comes from layer {source[0]}, port {source[1]}, which does not exist" if source else "has no edge"
            raise self._damaged(f"input {port.id} of {layer} {found}")
        return self._names[source]

    def _add_constant(self, layer: Layer, name: str, type: int, dims: Sequence[int | None] | None) -> None:
        """Check that the file has the bytes of a Const; add the Const without its bytes."""
        if type == TensorProto.STRING:
            raise PadopsError(f"{self._path}: {layer} holds strings, which padops does not support")
        static = static_dims(dims)
        if static is None:
            raise self._damaged(f"{layer} has the shape '{layer.data['shape']}'")
        texts = {key: self._text(layer.data, key, layer) for key in ("offset", "size")}
        for key, text in texts.items():
            if not _is_number(text.strip()):
                raise self._damaged(f"{layer} has {key} '{text[:SHOWN]}'")
        offset, size = map(int, texts.values())
        needed = (prod(static) * ir.DataType(type).bitwidth + 7) // 8
        if needed > size:
            raise self._damaged(f"{layer} has {plural(size, 'byte')}, but its shape needs {needed}")
        tensor = self._graph.initializer.add(name=name, data_type=type, dims=static)  # filled in place, without a copy
        tensor.raw_data = b""
        self._made.add(name)
        if not needed:
            return
        if self._there is None:
            raise PadopsError(
                f"{self._path}: {layer} needs the weights in {self._weights}, which does not exist; put that file "
                f"beside the IR"
            )
        if offset + needed > self._there:
            refuse_pointer(self._weights, f"{self._path}: the weights in ")
            raise PadopsError(
                f"{self._path}: {layer} needs the bytes {offset} to {offset + needed} of {self._weights}, which has "
                f"only {self._there}"
            )
        self._sum += needed
        if self._sum > LARGEST_MODEL:
            raise PadopsError(
                f"{self._path} has at least {self._sum} bytes of weights; padops reads at most {LARGEST_MODEL}"
            )
        self._constants.append((tensor, offset, needed))


def _is_number(text: str) -> bool:
    """Return whether a text is an integer without a sign, of at most ``LONGEST_NUMBER`` digits."""
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def _split(names: str) -> list[str]:
    """Return the names in sorted order, so that the first is OpenVINO's get_any_name. A backslash escapes a comma."""
    return sorted(name.replace("\\,", ",") for name in re.split(r"(?<!\\),", names) if name)


def _declare(info: onnx.ValueInfoProto, name: str, type: int, dims: Sequence[int | None] | None) -> None:
    info.name, info.type.tensor_type.elem_type = name, type
    if dims is not None:
        info.type.tensor_type.shape.SetInParent()
        for dim in dims:
            info.type.tensor_type.shape.dim.add(dim_value=dim)  # None sets nothing
