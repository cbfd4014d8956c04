"""A model as the file has it and as a graph, side by side.

Passes work on the graph (onnx_ir); what they touched is then written back into the protobuf message node by node, so
that everything else stays exactly as it was: order, metadata, value infos, and entries that onnx_ir would reformat.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
from google.protobuf.message import DecodeError, EncodeError

from padops.convert.errors import PadopsError, UsageError, library_errors
from padops.convert.model.checks import check_model
from padops.convert.model.external import DataFile, Place, check_entries, check_links, find_data_files
from padops.convert.model.graphs import subgraphs
from padops.convert.model.scan import external_tensors, refuse_what_would_be_lost
from padops.convert.records import FileRecord

LARGEST_PROTO = (1 << 31) - 1  # bytes of one protobuf message

# Modules that read files of other formats, by their suffix: ``read(path)`` gives a message and the files that were read.
FOREIGN = {".json": "padops.convert.readers.ngraph_json", ".xml": "padops.convert.readers.openvino_ir"}


@dataclass(eq=False, repr=False)
class Document:
    """A model that is being converted; it belongs to the converter alone.

    Attributes:
        model: The graph.
        proto: The message that the graph was made from, or None where the source was a graph.
        path: The file it came from, or None.
        base_dir: The folder that its external data are relative to, or None where nobody said.
        size: Bytes of that file.
        sha256: Of that file.
        touched: Nodes that a pass has changed; new nodes need not be listed.
        embedded: Whether its fallback functions have changed.
        foreign: The files that it was read from, where they are not ONNX; there is no path then.
        evaluated: Of values that follow from constants, the elements, once they have been computed; see ``evaluate.py``.
    """

    model: ir.Model
    proto: onnx.ModelProto | None = None
    path: Path | None = None
    base_dir: Path | None = None
    size: int = 0
    sha256: str = ""
    touched: set[ir.Node] = field(default_factory=set)
    embedded: bool = False
    foreign: list[FileRecord] = field(default_factory=list)
    evaluated: dict[ir.Value, np.ndarray] = field(default_factory=dict)
    _origin: dict[ir.Node, onnx.NodeProto] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether the model is not as it was read."""
        return bool(self.touched) or self.embedded

    def data_files(self, follow_links: bool) -> list[DataFile]:
        """The external files of the model, checked; see ``find_data_files``.

        Raises:
            PadopsError: One of them is not as it should be, or the folder is not known.
        """
        tensors = list(external_tensors(self.message()))
        if tensors and self.base_dir is None:
            raise UsageError("the model has external data: say with base_dir which folder they are relative to")
        return find_data_files(tensors, Place(self.base_dir, self.path, follow_links)) if tensors else []

    def check_links(self, follow_links: bool) -> None:
        """Checks less of external data of which only small constants are read; see ``external.check_links``."""
        check_links(external_tensors(self.message()), Place(self.base_dir or Path(), None, follow_links))

    def files(self) -> list[FileRecord]:
        """The model file, if it was one, or the files of another format."""
        return self.foreign if self.path is None else [FileRecord(str(self.path), self.size, self.sha256)]

    def message(self) -> onnx.ModelProto:
        """The model as a message, without what passes have changed since the last ``write_back``."""
        if self.proto is None:
            self.proto = ir.to_proto(self.model)
        return self.proto

    def write_back(self) -> onnx.ModelProto:
        """Brings the message up to date with the graph and returns it."""
        if self.foreign:
            self._drop_imports()
        if self.proto is None or not self._origin:
            self.proto = ir.to_proto(self.model)
            return self.proto
        self._write_graph(self.model.graph, self.proto.graph)
        _write_imports(self.model.graph, self.proto)
        for function, message in zip(self.model.functions.values(), self.proto.functions, strict=True):
            self._write_nodes(function, message)
            _write_imports(function, message)
        return self.proto

    def _drop_imports(self) -> None:
        """Forgets the domains of another format, none of whose nodes is left."""
        used = {node.domain for node in self.model.graph} | {""}
        for domain in set(self.model.graph.opset_imports) - used:
            del self.model.graph.opset_imports[domain]
        kept = [row for row in self.message().opset_import if row.domain in used]
        del self.message().opset_import[:]
        self.message().opset_import.extend(kept)

    def _write_graph(self, graph: ir.Graph, message: onnx.GraphProto) -> None:
        known = {tensor.name for tensor in message.initializer}
        for name, value in graph.initializers.items():
            if name not in known:
                ir.serde.serialize_tensor_into(message.initializer.add(), value.const_value)
        gone = [i for i, t in enumerate(message.initializer) if t.name and t.name not in graph.initializers]
        for i in reversed(gone):
            del message.initializer[i]
        self._write_nodes(graph, message)

    def _write_nodes(self, graph: ir.Graph | ir.Function, message: onnx.GraphProto | onnx.FunctionProto) -> None:
        nodes, changed, former = [], False, _outputs(message)
        for node in graph:
            origin = self._origin.get(node)
            if origin is None:
                nodes.append(_node_message(node))
                changed = True
                continue
            nodes.append(origin)
            if node not in self.touched or _keeps_attributes(node, origin):
                for inner, inner_message in subgraphs(node, origin):
                    self._write_graph(inner, inner_message)
            if node in self.touched:
                _write_node(node, origin)
        if changed or len(nodes) != len(message.node):
            del message.node[:]
            message.node.extend(nodes)
            pairs = _pair_nodes(graph, message.node)  # anew, because extending copies
            self._origin.update({node: copied for node, copied in pairs if node in self._origin})
        if isinstance(message, onnx.GraphProto):
            self._declare(graph, message)
        gone = former - _outputs(message)
        for i in reversed([i for i, info in enumerate(message.value_info) if info.name in gone]):
            del message.value_info[i]

    def _declare(self, graph: ir.Graph, message: onnx.GraphProto) -> None:
        """Adds what passes have found out about the outputs of the nodes that they changed."""
        outputs = {info.name for info in message.output}
        stated = {info.name: info for info in message.value_info}
        for node in graph:
            for value in node.outputs if node in self.touched else ():
                said = value.shape is not None or node.op_identifier() in self.model.functions
                if value.name in outputs or value.type is None or not said:
                    continue
                made = ir.serde.serialize_value(value)
                if value.name not in stated:
                    message.value_info.append(made)
                elif value.shape is not None and not stated[value.name].type.tensor_type.HasField("shape"):
                    stated[value.name].type.tensor_type.shape.CopyFrom(made.type.tensor_type.shape)


def _outputs(message: onnx.GraphProto | onnx.FunctionProto) -> set[str]:
    return {name for node in message.node for name in node.output}


def _node_message(node: ir.Node) -> onnx.NodeProto:
    with library_errors(f"node '{node.name}' ({node.op_type})", ir.serde.SerdeError, doing="written"):
        return ir.serde.serialize_node(node)


def _write_node(node: ir.Node, message: onnx.NodeProto) -> None:
    """Brings a node's operator, inputs, outputs and attributes up to date; the rest of it is no pass's business."""
    kept = _keeps_attributes(node, message)
    made = _node_message(node)
    message.op_type, message.domain = made.op_type, made.domain
    if not made.domain:
        message.ClearField("domain")  # as every node of the default domain has it
    for name in ("input", "output", *(() if kept else ("attribute",))):
        if list(getattr(message, name)) != list(getattr(made, name)):
            message.ClearField(name)
            getattr(message, name).extend(getattr(made, name))


def _keeps_attributes(node: ir.Node, message: onnx.NodeProto) -> bool:
    """Whether a node with graphs, which are written by themselves, has the attributes of its message."""
    kinds = {attribute.name: attribute.type for attribute in message.attribute}
    graphs = {onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS}
    if not graphs & set(kinds.values()) or set(kinds) != set(node.attributes):
        return False
    plain = [attribute for attribute in message.attribute if attribute.type not in graphs]
    return all(ir.to_proto(node.attributes[attribute.name]) == attribute for attribute in plain)


def _write_imports(graph: ir.Graph | ir.Function, message: onnx.ModelProto | onnx.FunctionProto) -> None:
    known = {row.domain for row in message.opset_import}
    for domain, version in graph.opset_imports.items():
        if domain not in known:
            message.opset_import.add(domain=domain, version=version)


def _pair_nodes(
    nodes: Iterable[ir.Node], messages: Iterable[onnx.NodeProto]
) -> Iterator[tuple[ir.Node, onnx.NodeProto]]:
    """Every node at any depth, beside its message."""
    for node, message in zip(nodes, messages, strict=True):
        yield node, message
        for graph, graph_message in subgraphs(node, message):
            yield from _pair_nodes(graph, graph_message.node)


def read(
    source: str | os.PathLike[str] | onnx.ModelProto | ir.Model,
    base_dir: Path | None = None,
    follow_links: bool = False,
) -> Document:
    """Takes a model in; the caller's object is copied, a file is read without its external data.

    Args:
        source: A file (of ONNX, or of a format in ``FOREIGN``), a message or a graph.
        base_dir: The folder that a message's external data are relative to. A file's are relative to its own folder
            (that of the link, where it is a symbolic link), a graph's tensors know theirs.
        follow_links: Whether the second file of another format may be a link to anywhere.

    Raises:
        PadopsError: The file is missing, too large or not a model, or the model has parts that would be lost.
    """
    if isinstance(source, ir.Model):
        with library_errors("the model", RuntimeError, EncodeError):  # SerdeError is a RuntimeError
            message = ir.to_proto(source)
        check_model(message)
        with library_errors("the model", RuntimeError):
            model = source.clone()
        folders = {Path(tensor.base_dir or ".") for tensor in _external_values(model)}
        if len(folders) > 1:
            raise PadopsError(f"the tensors' external data lie in {len(folders)} folders: {sorted(map(str, folders))}")
        return Document(model, message, base_dir=folders.pop() if folders else base_dir)
    if isinstance(source, onnx.ModelProto):
        message = onnx.ModelProto()
        with library_errors("the model", DecodeError, EncodeError):
            message.CopyFrom(source)
        return _build(message, None, base_dir)
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.suffix.lower() in FOREIGN:
            return _read_foreign(path, follow_links)
        content = _content(path)
        document = _build(_parse(content, path), path, path.parent)
        document.size, document.sha256 = len(content), hashlib.sha256(content).hexdigest()
        return document
    raise UsageError(f"source is a {type(source).__name__}, expected a path, an onnx.ModelProto or an onnx_ir.Model")


def _read_foreign(path: Path, follow_links: bool) -> Document:
    """A model of another format, which its reader turns into a message."""
    _check_file(path)
    message, files = import_module(FOREIGN[path.suffix.lower()]).read(path)
    for record in files[1:]:
        Place(path.parent, path, follow_links).check_link(Path(record.name), f"{path}: its data file")
    document = _build(message, None, None)
    document.foreign = files
    return document


def _external_values(model: ir.Model) -> Iterator[ir.ExternalTensor]:
    for graph in model.graphs():
        for value in graph.initializers.values():
            if isinstance(value.const_value, ir.ExternalTensor):
                yield value.const_value


def _check_file(path: Path) -> None:
    if not path.exists():
        raise PadopsError(f"{path} does not exist")
    if not path.is_file():
        raise PadopsError(f"{path} is not a file")


def _content(path: Path) -> bytes:
    _check_file(path)
    if (size := path.stat().st_size) > LARGEST_PROTO:
        raise PadopsError(f"{path} has {size} bytes; a protobuf message has at most {LARGEST_PROTO}")
    return path.read_bytes()


def _parse(content: bytes, path: Path) -> onnx.ModelProto:
    if content[4:8] == b"ORTM":
        raise PadopsError(f"{path} is in ORT format; convert the .onnx file that it was made from")
    message = onnx.ModelProto()
    try:
        message.ParseFromString(content)
    except DecodeError as error:
        deep = ", whose parts are nested more than 100 deep" if "depth" in str(error).lower() else ""
        raise PadopsError(f"{path} is not an ONNX model: it cannot be parsed as a protobuf message{deep}") from None
    if not message.HasField("graph"):
        raise PadopsError(f"{path} is not an ONNX model: it has no graph")
    return message


def _build(message: onnx.ModelProto, path: Path | None, base_dir: Path | None) -> Document:
    refuse_what_would_be_lost(message)
    check_model(message)
    for tensor, place in external_tensors(message):
        check_entries(tensor, place)
    name = str(path) if path else "the model"
    with library_errors(name, ir.serde.SerdeError):
        model = ir.from_proto(message)
    if len(model.functions) != len(message.functions):
        raise PadopsError(f"{name} has several functions of the same domain, name and overload")
    document = Document(model, message, path, base_dir)
    document._origin.update(_pair_nodes(model.graph, message.graph.node))
    for function, function_message in zip(model.functions.values(), message.functions, strict=True):
        document._origin.update(_pair_nodes(function, function_message.node))
    if base_dir is not None:
        for function in model.functions.values():
            ir.external_data.set_base_dir(function.graph, base_dir)
        ir.external_data.set_base_dir(model.graph, base_dir)
    return document
