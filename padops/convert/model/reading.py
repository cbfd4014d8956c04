"""Reads a model: from a file of ONNX or of another format, from a message, or from a graph."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

import onnx
import onnx_ir as ir
from google.protobuf.message import DecodeError, EncodeError

from padops.convert.errors import PadopsError, UsageError, kind_of, library_errors, os_errors_as
from padops.convert.model.checks import check_model
from padops.convert.model.document import LARGEST_PROTO, Document
from padops.convert.model.external import Place, check_entries, refuse_pointer
from padops.convert.model.nesting import nodes_of
from padops.convert.model.scan import refuse_what_would_be_lost, with_dense

ALIAS = "ai.onnx"  # of the default domain

Source = str | os.PathLike[str] | bytes | BinaryIO | onnx.ModelProto | ir.Model

EXPECTED = "a path, bytes, a binary file, an onnx.ModelProto or an onnx_ir.Model"

IR_SUFFIX, READER = ".xml", "padops.convert.ir"  # of OpenVINO's files, and the module that reads them


def given_model(source: Source) -> str | os.PathLike[str] | onnx.ModelProto | ir.Model:
    """The source; bytes and binary file objects are parsed into a message.

    Raises:
        UsageError: The file object is of text, or the source is of an unknown type.
        PadopsError: The bytes are no ONNX model, or the file object cannot be read.
    """
    if isinstance(source, (str, os.PathLike, onnx.ModelProto, ir.Model)):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return parse_model(bytes(source), "the model")
    if not hasattr(source, "read"):
        raise UsageError(f"source is {kind_of(source)}, expected {EXPECTED}")
    name = getattr(source, "name", None)
    name = name if isinstance(name, str) else "the model"
    with os_errors_as("cannot read", name):
        content = source.read()
    if not isinstance(content, bytes):
        raise UsageError(f"{name} gives {type(content).__name__} when it is read, expected bytes: open it as 'rb'")
    return parse_model(content, name)


def read_document(
    source: Source, base_dir: str | os.PathLike[str] | None = None, follow_links: bool = False, for_pads: bool = False
) -> Document:
    """Reads a model: copies the caller's object, or reads a file without its external data.

    ``base_dir`` is the folder of a message's external data. A file's data are in its own folder (for a symbolic link,
    the link's folder); a graph's tensors know their folder. With ``follow_links``, the second file of another format
    may be a link to any place. With ``for_pads``, a file of another format that cannot be converted is read as well;
    see ``Document.refused``.

    Raises:
        UsageError: The source is of no known kind, or ``base_dir`` is given for one that knows its folder.
        PadopsError: The file is missing, too large or not a model, or the model has parts that would be lost.
    """
    if base_dir is not None and not isinstance(source, onnx.ModelProto):
        raise UsageError("base_dir needs bytes, a file object or an onnx.ModelProto; other sources know their folder")
    if isinstance(source, ir.Model):
        with library_errors("the model", RuntimeError, EncodeError):  # SerdeError is a RuntimeError
            message = ir.to_proto(source)
        _name_default_domain(message)
        check_model(message)
        with library_errors("the model", RuntimeError):
            model = source.clone()
        parts: tuple[ir.Graph | ir.Function, ...] = (model.graph, *model.functions.values())
        for part in parts:
            if (version := part.opset_imports.pop(ALIAS, None)) is not None:
                part.opset_imports.setdefault("", version)
        tensors = [value.const_value for graph in model.graphs() for value in graph.initializers.values()]
        folders = {Path(tensor.base_dir or ".") for tensor in tensors if isinstance(tensor, ir.ExternalTensor)}
        if len(folders) > 1:
            raise PadopsError(f"the tensors' external data lie in {len(folders)} folders: {sorted(map(str, folders))}")
        return Document(model, message, base_dir=folders.pop() if folders else None)
    if isinstance(source, onnx.ModelProto):
        with library_errors("the model", DecodeError, EncodeError):
            message = deepcopy(source)
        return _build(message, None, None if base_dir is None else Path(base_dir))
    if isinstance(source, (str, os.PathLike)):
        if not os.fspath(source):
            raise UsageError("the name of the model is empty")
        path = Path(source)
        if path.suffix.lower() == IR_SUFFIX:
            return _read_openvino(path, follow_links, for_pads)
        check_file(path)
        if (size := path.stat().st_size) > LARGEST_PROTO:
            raise PadopsError(f"{path} has {size} bytes; a protobuf message has at most {LARGEST_PROTO}")
        content = path.read_bytes()
        document = _build(parse_model(content, path), path, path.parent)
        document.size, document.sha256 = len(content), hashlib.sha256(content).hexdigest()
        return document
    raise UsageError(f"source is {kind_of(source)}, expected {EXPECTED}")


def _read_openvino(path: Path, follow_links: bool, for_pads: bool) -> Document:
    """An OpenVINO IR, which its reader turns into a message."""
    check_file(path)
    reader = import_module(READER)
    message, files, refused = reader.read_pads(path) if for_pads else (*reader.read(path), "")
    for record in files[1:]:
        Place(path.parent, path, follow_links).check_link(Path(record.name), f"{path}: its data file")
    document = _build(message, None, None)
    document.foreign, document.refused = files, refused
    return document


def check_file(path: Path) -> None:
    """Refuses a path that leads to no file of a model.

    Raises:
        PadopsError: Nothing is there, a folder or a pointer of Git LFS is, or the path is a link that leads nowhere.
    """
    if not path.exists():
        try:
            path.stat()
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise PadopsError(f"{path} is a circular link") from None
        link = f": it is a link to {os.readlink(path)}" if path.is_symlink() else ""
        raise PadopsError(f"{path} does not exist{link}")
    if not path.is_file():
        raise PadopsError(f"{path} is not a file")
    refuse_pointer(path)


def parse_model(content: bytes, path: Path | str) -> onnx.ModelProto:
    """The message of a model, from the bytes of an ONNX file; errors name ``path``.

    Raises:
        PadopsError: They are no ONNX model.
    """
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
    external = refuse_what_would_be_lost(message)
    _name_default_domain(message)
    check_model(message)
    for tensor, place in external:
        check_entries(tensor, place)
    name = str(path) if path else "the model"
    with library_errors(name, ir.serde.SerdeError):
        model = ir.from_proto(with_dense(message, base_dir))
    if len(model.functions) != len(message.functions):
        raise PadopsError(f"{name} has several functions of the same domain, name and overload")
    document = Document(model, message, path, base_dir, may_be_external=bool(external))
    document.pair_nodes()
    if base_dir is not None:
        for function in model.functions.values():
            ir.external_data.set_base_dir(function.graph, base_dir)
        ir.external_data.set_base_dir(model.graph, base_dir)
    return document


def _name_default_domain(message: onnx.ModelProto) -> None:
    """Writes the default domain as "" wherever it is written as "ai.onnx"."""
    bodies: tuple[onnx.GraphProto | onnx.FunctionProto, ...] = (message.graph, *message.functions)
    nodes = [node for body in bodies for _, node in nodes_of(body.node)]
    named: tuple[onnx.NodeProto | onnx.FunctionProto, ...] = (*message.functions, *nodes)
    for row in named:
        if row.domain == ALIAS:
            row.domain = ""
    parts: tuple[onnx.ModelProto | onnx.FunctionProto, ...] = (message, *message.functions)
    for part in parts:
        imported = {row.domain for row in part.opset_import}
        for i in reversed([i for i, row in enumerate(part.opset_import) if row.domain == ALIAS]):
            part.opset_import[i].domain = ""
            if "" in imported:
                del part.opset_import[i]


def original_of(source: Source, document: Document) -> Callable[[], onnx.ModelProto]:
    """The function that makes the original model for the verification, if the source is no file of ONNX."""
    if document.foreign:
        return onnx.ModelProto  # OpenVINO runs the files
    if isinstance(source, ir.Model):
        return lambda: ir.to_proto(source)
    return lambda: deepcopy(cast(onnx.ModelProto, source))
