"""A model as a protobuf message and as a graph, side by side.

Passes work on the graph (onnx_ir). Then ``write_back`` copies the changed nodes into the message, node by node, so that
everything else stays exactly as it was: order, metadata, value infos, and entries that onnx_ir would reformat.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
import onnx_ir as ir
from google.protobuf.message import DecodeError, EncodeError

from padops.convert.errors import PadopsError, UsageError, kind_of, library_errors, os_errors_as
from padops.convert.model import nesting
from padops.convert.model.checks import check_model
from padops.convert.model.external import DataFile, Place, check_entries, check_links, find_data_files, refuse_pointer
from padops.convert.model.graphs import IrBody, paired_graphs, subgraphs, values_of, walk
from padops.convert.model.nesting import Body, external_tensors, nodes_in, shaped_type
from padops.convert.records import FileRecord
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN

LARGEST_PROTO = (1 << 31) - 1  # bytes of one protobuf message


@dataclass(eq=False, repr=False)
class Document:
    """A model during its conversion; only the converter uses it."""

    model: ir.Model
    proto: onnx.ModelProto  # the model as a message, without the changes of passes since the last ``write_back``
    path: Path | None = None  # the model's file, or None
    base_dir: Path | None = None  # the base folder of its external data, or None if unknown
    size: int = 0  # the file's bytes
    sha256: str = ""  # the file's hash
    touched: set[ir.Node] = field(default_factory=set)  # nodes that a pass has changed; new nodes need not be listed
    embedded: bool = False  # whether its fallback functions have changed
    # The files of the OpenVINO IR from which the model was read; then ``path`` is None.
    foreign: list[FileRecord] = field(default_factory=list)
    may_be_external: bool = True  # whether tensors may have their data in a separate file
    refused: str = ""  # why an IR cannot be converted although its Pads could be read; else ""
    # The computed elements of values that follow from constants; see ``types.py``.
    evaluated: dict[ir.Value, np.ndarray] = field(default_factory=dict)
    _origin: dict[ir.Node, onnx.NodeProto] = field(default_factory=dict)  # the nodes' parts of the message

    @property
    def changed(self) -> bool:
        return bool(self.touched) or self.embedded

    def data_files(self, follow_links: bool, needed: bool = True) -> list[DataFile]:
        """Check and return the files with external data.

        If the files are not ``needed`` and the model itself is not a file, only check links, and return no files.
        """
        tensors = list(external_tensors(self.proto)) if self.may_be_external else []
        if not needed and self.path is None:
            check_links(tensors, Place(self.base_dir or Path(), None, follow_links))
        if not tensors or not (needed or self.path):
            return []
        if self.base_dir is None:
            raise UsageError("the model has external data in an unknown folder; name the folder as base_dir")
        return find_data_files(tensors, Place(self.base_dir, self.path, follow_links))

    def files(self) -> list[FileRecord]:
        """Return the model file, or the files of the OpenVINO IR that the model comes from."""
        return self.foreign if self.path is None else [FileRecord(str(self.path), self.size, self.sha256)]

    def write_back(self) -> onnx.ModelProto:
        """Update the message from the graph and return it."""
        if not self._origin and any(map(len, (self.model.graph, *self.model.functions.values()))):
            self.proto = ir.to_proto(self.model)
            return self.proto
        self._write_graph(self.model.graph, self.proto.graph)
        for graph, message in self._bodies()[1:]:
            self._write_nodes(graph, message)
        for graph, owner in self._owners():
            known = {row.domain for row in owner.opset_import}
            for domain, version in graph.opset_imports.items():
                if domain not in known:
                    owner.opset_import.add(domain=domain, version=version)
        return self.proto

    def settle_shapes(self) -> None:
        """Replace wrong dims of inner values in the message by the graph's dims, or remove them if the graph has none.

        ONNX Runtime trusts the dims in the message.
        """
        for body, body_message in self._bodies():
            for graph, message in paired_graphs(body, body_message):
                _settle_shapes(graph, message, is_inner=message is not body_message)

    def prune_imports(self) -> None:
        """Drop the unused opset imports of padops' domains; if the source is an IR, drop all unused imports."""
        used = {"", *(site.node.domain for site in walk(self.model))}
        for graph, owner in self._owners():
            for domain in set(graph.opset_imports) - used:
                if self.foreign or domain in (DOMAIN, pyop_node.DOMAIN):
                    del graph.opset_imports[domain]
                    kept = [row for row in owner.opset_import if row.domain != domain]
                    del owner.opset_import[:]
                    owner.opset_import.extend(kept)

    def _owners(self) -> list[tuple[IrBody, onnx.ModelProto | onnx.FunctionProto]]:
        """Return the main graph and the functions, each with the protobuf message that has its opset imports."""
        graphs: tuple[IrBody, ...] = (self.model.graph, *self.model.functions.values())
        return list(zip(graphs, (self.proto, *self.proto.functions), strict=True))

    def _bodies(self) -> list[tuple[IrBody, Body]]:
        """Return the main graph and the functions, each with the protobuf message that has its nodes."""
        return [(graph, row.graph if isinstance(row, onnx.ModelProto) else row) for graph, row in self._owners()]

    def _write_graph(self, graph: ir.Graph, message: onnx.GraphProto) -> None:
        names = {tensor.name for tensor in message.initializer}
        names |= {row.values.name for row in message.sparse_initializer}
        for name, value in graph.initializers.items():
            if name not in names:
                assert value.const_value is not None
                ir.serde.serialize_tensor_into(message.initializer.add(), value.const_value)
        gone = names - {""} - set(graph.initializers)
        _remove(message.initializer, gone)
        _remove(message.sparse_initializer, gone)
        self._write_nodes(graph, message)

    def _write_nodes(self, graph: IrBody, message: Body) -> None:
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
            pairs = _pair_nodes(graph, message)  # paired anew, because ``extend`` copies the nodes
            self._origin.update({node: copied for node, copied in pairs if node in self._origin})
        if isinstance(message, onnx.GraphProto):
            self._declare(graph, message)
        _remove(message.value_info, former - _outputs(message))

    def _declare(self, graph: IrBody, message: onnx.GraphProto) -> None:
        """Declare the types that passes found for the outputs of changed nodes."""
        known = {info.name: info for info in (*message.value_info, *message.output)}
        for node in graph:
            for value in node.outputs if node in self.touched else ():
                if value.type is None:
                    continue
                if (info := known.get(value.name or "")) is not None:
                    if value.shape is not None and not info.type.tensor_type.HasField("shape"):
                        info.type.tensor_type.shape.CopyFrom(ir.serde.serialize_value(value).type.tensor_type.shape)
                elif value.shape is not None or node.op_identifier() in self.model.functions:
                    message.value_info.append(ir.serde.serialize_value(value))


def _remove(rows: Any, gone: Collection[str]) -> None:
    """Remove the tensors, sparse tensors or declarations of these names from a repeated field."""
    for i in reversed(range(len(rows))):
        if (rows[i].values if isinstance(rows[i], onnx.SparseTensorProto) else rows[i]).name in gone:
            del rows[i]


def _settle_shapes(graph: IrBody, message: Body, is_inner: bool) -> None:
    values = {value.name: value for value in values_of(graph)}
    infos = list(message.value_info)
    if isinstance(message, onnx.GraphProto):
        infos += [*message.input, *message.output] if is_inner else message.output
    for info in infos:
        tensor, value = shaped_type(info.type), values.get(info.name)
        if value is None or tensor is None or not tensor.HasField("shape"):
            continue
        if value.shape is None:
            tensor.ClearField("shape")
        elif len(value.shape) != len(tensor.shape.dim):
            ir.serde.serialize_shape_into(info.type, value.shape)
        else:
            for dim, known in zip(tensor.shape.dim, value.shape):
                if dim.HasField("dim_value") and dim.dim_value >= 0 and dim.dim_value != known:
                    dim.ClearField("dim_value")
                    if isinstance(known, int):
                        dim.dim_value = known


def _outputs(message: Body) -> set[str]:
    return {name for node in message.node for name in node.output}


def _node_message(node: ir.Node) -> onnx.NodeProto:
    with library_errors(f"node '{node.name}' ({node.op_type})", ir.serde.SerdeError, doing="written"):
        return ir.serde.serialize_node(node)


def _write_node(node: ir.Node, message: onnx.NodeProto) -> None:
    """Update a node's name, operator, inputs, outputs and attributes; passes change nothing else of a node."""
    kept = _keeps_attributes(node, message)
    made = _node_message(node)
    if message.name != made.name:
        message.name = made.name
    message.op_type, message.domain = made.op_type, made.domain
    if not made.domain:
        message.ClearField("domain")  # as in every node of the default domain
    for name in ("input", "output", *(() if kept else ("attribute",))):
        message.ClearField(name)
        getattr(message, name).extend(getattr(made, name))


def _keeps_attributes(node: ir.Node, message: onnx.NodeProto) -> bool:
    """Return whether a node has graphs as attributes, and its other attributes equal those of its message."""
    kinds = {attribute.name: attribute.type for attribute in message.attribute}
    graphs = {onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS}
    if not graphs & set(kinds.values()) or set(kinds) != set(node.attributes):
        return False
    plain = [attribute for attribute in message.attribute if attribute.type not in graphs]
    return all(ir.to_proto(node.attributes[attribute.name]) == attribute for attribute in plain)


def _pair_nodes(body: IrBody, body_message: Body) -> Iterator[tuple[ir.Node, onnx.NodeProto]]:
    for graph, message in paired_graphs(body, body_message):
        yield from zip(graph, message.node, strict=True)


ALIAS = "ai.onnx"  # an alias of the default domain

Source = str | os.PathLike[str] | bytes | BinaryIO | onnx.ModelProto | ir.Model

IR_SUFFIX, READER = ".xml", "padops.convert.ir"  # the suffix of OpenVINO's files, and the module that reads them


def given_model(source: Source) -> str | os.PathLike[str] | onnx.ModelProto | ir.Model:
    """Return the source; parse bytes and binary file objects into a ModelProto."""
    if isinstance(source, (str, os.PathLike, onnx.ModelProto, ir.Model)):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return parse_model(bytes(source), "the model")
    if not hasattr(source, "read"):
        expected = "a path, bytes, a binary file, an onnx.ModelProto or an onnx_ir.Model"
        raise UsageError(f"source is {kind_of(source)}, expected {expected}")
    name = getattr(source, "name", None)
    name = name if isinstance(name, str) else "the model"
    with os_errors_as("cannot read", name):
        content = None if isinstance(source, io.TextIOBase) else source.read()
    if not isinstance(content, bytes):
        raise UsageError(f"reading {name} does not return bytes: open it in mode 'rb'")
    return parse_model(content, name)


def read_document(
    source: str | os.PathLike[str] | onnx.ModelProto | ir.Model,
    base_dir: str | os.PathLike[str] | None = None,
    follow_links: bool = False,
    for_pads: bool = False,
) -> Document:
    """Read a model: copy the caller's object, or read a file without its external data.

    ``base_dir``: the folder of a ModelProto's external data. ``for_pads``: also accept an IR that is ``refused``.
    """
    if base_dir is not None and not isinstance(source, onnx.ModelProto):
        raise UsageError("base_dir needs bytes, a file object or an onnx.ModelProto; other sources know their folder")
    if isinstance(source, ir.Model):
        with library_errors("the model", RuntimeError, EncodeError):  # SerdeError is a RuntimeError
            message = ir.to_proto(source)
        tensors = [value.const_value for graph in source.graphs() for value in graph.initializers.values()]
        folders = {Path(tensor.base_dir or ".") for tensor in tensors if isinstance(tensor, ir.ExternalTensor)}
        if len(folders) > 1:
            raise PadopsError(f"the tensors' external data lie in {len(folders)} folders: {sorted(map(str, folders))}")
        document = _build(message, None, folders.pop() if folders else None)
        document._origin.clear()  # the caller passed no message that must stay unchanged
        return document
    if isinstance(source, onnx.ModelProto):
        with library_errors("the model", DecodeError, EncodeError):
            message = deepcopy(source)
        return _build(message, None, None if base_dir is None else Path(base_dir))
    if not os.fspath(source):
        raise UsageError("the path of the model is empty")
    path = Path(source)
    check_file(path)
    if path.suffix.lower() == IR_SUFFIX:
        message, files, refused = import_module(READER).read(path)
        if refused and not for_pads:
            raise PadopsError(refused)
        for record in files[1:]:
            Place(path.parent, path, follow_links).check_link(Path(record.name), f"{path}: its data file")
        document = _build(message, None, None)
        document.foreign, document.refused = files, refused
        return document
    if (size := path.stat().st_size) > LARGEST_PROTO:
        raise PadopsError(f"{path} has {size} bytes; a protobuf message has at most {LARGEST_PROTO}")
    content = path.read_bytes()
    document = _build(parse_model(content, path), path, path.parent)
    document.size, document.sha256 = len(content), hashlib.sha256(content).hexdigest()
    return document


def check_file(path: Path) -> None:
    """Refuse a path that leads to no model file."""
    if not path.exists():
        link = f": it is a link to {os.readlink(path)}" if path.is_symlink() else ""
        raise PadopsError(f"{path} does not exist{link}")
    if not path.is_file():
        raise PadopsError(f"{path} is not a file")
    refuse_pointer(path)


def parse_model(content: bytes, path: Path | str) -> onnx.ModelProto:
    """Return the ModelProto in the bytes of an ONNX file; errors name ``path``."""
    if content[4:8] == b"ORTM":
        raise PadopsError(f"{path} is in ORT format; convert the .onnx file that it was made from")
    message = onnx.ModelProto()
    try:
        message.ParseFromString(content)
    except DecodeError as error:
        deep = ", whose parts are nested more than 100 deep" if "depth" in str(error).lower() else ""
        raise PadopsError(f"{path}: not an ONNX model: it cannot be parsed as a protobuf message{deep}") from None
    if not message.HasField("graph"):
        raise PadopsError(f"{path}: not an ONNX model: it has no graph")
    return message


def _build(message: onnx.ModelProto, path: Path | None, base_dir: Path | None) -> Document:
    external = nesting.refuse_what_would_be_lost(message)
    name_default_domain(message)
    check_model(message)
    for tensor, place in external:
        check_entries(tensor, place)
    name = str(path) if path else "the model"
    with library_errors(name, ir.serde.SerdeError):
        model = ir.from_proto(nesting.with_dense(message, base_dir))
    if len(model.functions) != len(message.functions):
        raise PadopsError(f"{name} has several functions of the same domain, name and overload")
    document = Document(model, message, path, base_dir, may_be_external=bool(external))
    for graph, body in document._bodies():
        document._origin.update(_pair_nodes(graph, body))
    if base_dir is not None:
        for function in model.functions.values():
            ir.external_data.set_base_dir(function.graph, base_dir)
        ir.external_data.set_base_dir(model.graph, base_dir)
    return document


def name_default_domain(message: onnx.ModelProto) -> None:
    """Write the default domain as "" instead of "ai.onnx"; keep only the last import of each domain."""
    named: Sequence[onnx.NodeProto | onnx.FunctionProto] = (*message.functions, *nodes_in(message))
    for row in named:
        if row.domain == ALIAS:
            row.domain = ""
    parts: Sequence[onnx.ModelProto | onnx.FunctionProto] = (message, *message.functions)
    for part in parts:
        imports = {"" if row.domain == ALIAS else row.domain: row.version for row in part.opset_import}
        if [*imports.items()] != [(row.domain, row.version) for row in part.opset_import]:
            del part.opset_import[:]
            part.opset_import.extend(onnx.helper.make_opsetid(*row) for row in imports.items())
