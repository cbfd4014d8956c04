"""Compares two models node by node, apart from their Pads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx

from padops.convert.errors import PadopsError
from padops.convert.model.external import check_entries
from padops.convert.model.nesting import nodes_of
from padops.convert.model.scan import external_tensors
from padops.convert.pads.window_operators import WINDOW_OPERATORS
from padops.convert.proof.facts import dims_of
from padops.convert.proof.regions import is_stricter
from padops.convert.standard.fallback import is_fallback
from padops.convert.verify.pads import is_pad, known_amounts, nodes_by_output
from padops.convert.verify.probes import bodies
from padops.spec.dialects import DOMAIN

OPERATOR = re.compile(rf"\b{DOMAIN}(\.pyop)?::?\w")  # an operator of padops in an error of ONNX Runtime or a kernel


def other_difference(original: Path, converted: Path) -> str:
    """The first difference of two models, apart from Pads and constants that only Pads read; "" for none.

    A convolution or a pool into which a Pad was folded counts as equal. Names of nodes do not count; names of values
    do.
    """
    one, other = (onnx.load(path, load_external_data=False) for path in (original, converted))
    return next(_differences((original, one), (converted, other)), "")


def taken_in(original: Path, converted: Path) -> set[str]:
    """The paths of the original's Pads that the converted model has folded into all their readers."""
    one, other = (onnx.load(path, load_external_data=False) for path in (original, converted))
    former, made = nodes_by_output(one.graph), nodes_by_output(other.graph)
    shown = {value.name for value in one.graph.output}
    nested = [node for located in bodies(one) if located.body is not one.graph for node in located.body.node]
    shown |= {name for node in nested for name in node.input}
    found = set()
    for path, pad in next(bodies(one)).labelled():
        readers = [node for node in one.graph.node if pad.output and pad.output[0] in node.input]
        there = [made.get(next(iter(node.output), "")) for node in readers]
        alike = (after is not None and _took_in(node, after, former, one) for node, after in zip(readers, there))
        if is_pad(pad) and readers and pad.output[0] not in shown and all(alike):
            found.add(path)
    return found


def same_but_for_names(original: Path, converted: Path) -> bool:
    """Whether two models are equal, Pads included, apart from the names of nodes."""
    one, other = (onnx.load(path, load_external_data=False) for path in (original, converted))
    tensors = [{tensor.name: tensor for tensor in model.graph.initializer} for model in (one, other)]
    return (
        [_text(node) for node in one.graph.node] == [_text(node) for node in other.graph.node]
        and list(one.graph.input) == list(other.graph.input)
        and not next(_differences((original, one), (converted, other)), "")
        and set(tensors[0]) == set(tensors[1])
        and all(_same_elements((original, x), (converted, tensors[1][name])) for name, x in tensors[0].items())
        and list(one.graph.sparse_initializer) == list(other.graph.sparse_initializer)
    )


def blames_changes(refusal: str, original: onnx.ModelProto, converted: onnx.ModelProto) -> bool:
    """Whether ONNX Runtime's error for the converted model names a node that the original does not have."""
    if OPERATOR.search(refusal):
        return True
    known = {_text(node) for located in bodies(original) for node in located.body.node}
    new = [node.name for located in bodies(converted) for node in located.body.node if _text(node) not in known]
    return any(f"{quote}{name}{end}" in refusal for name in new if name for quote, end in ("''", '""', "()"))


def _differences(original: tuple[Path, onnx.ModelProto], converted: tuple[Path, onnx.ModelProto]) -> Iterator[str]:
    one, other = original[1], converted[1]
    if [value.name for value in one.graph.output] != [value.name for value in other.graph.output]:
        yield "the outputs of the graph"
    versions = {row.domain or "ai.onnx": row.version for row in other.opset_import}
    for row in one.opset_import:
        if versions.get(row.domain or "ai.onnx", row.version) != row.version:
            yield f"the opset of {row.domain or 'ai.onnx'}"
    main = next(bodies(one))
    inner = sum(1 for _ in external_tensors(one)) > sum(map(_is_external, one.graph.initializer))
    if inner and original[0].resolve().parent != converted[0].resolve().parent:
        yield "external data in an inner graph, which may be other data"
    former, made = nodes_by_output(one.graph), nodes_by_output(other.graph)
    read = {name for located in bodies(one) for node in located.body.node if not is_pad(node) for name in node.input}
    read |= {value.name for value in one.graph.output}
    for path, node in main.labelled():
        idle = node.op_type == "Constant" and not read & set(node.output)
        if not is_pad(node) and not idle and not _alike(node, made.get(next(iter(node.output), "")), former, one):
            yield path
    yield from (f"input '{name}'" for name in _other_inputs(one, other))
    former_parts, parts = _initializers(one), _initializers(other)
    for name in (name for name in former_parts if name in read):
        pairs = zip(former_parts[name], parts.get(name, ()))
        same = all(_same_elements((original[0], first), (converted[0], second)) for first, second in pairs)
        if not same or len(former_parts[name]) != len(parts.get(name, ())):
            yield f"initializer '{name}'"
    functions = {(row.domain, row.name, row.overload): row for row in other.functions}
    for function in one.functions:
        key = (function.domain, function.name, function.overload)
        if not is_fallback(function) and (key not in functions or _text(function) != _text(functions[key])):
            yield f"function {function.domain}::{function.name}"


def _other_inputs(one: onnx.ModelProto, other: onnx.ModelProto) -> Iterator[str]:
    """The inputs that the other model lacks, or has with another type or with stricter dims."""
    there = {value.name: value.type for value in other.graph.input}
    for value in one.graph.input:
        kind = there.get(value.name)
        if kind is None or kind.tensor_type.elem_type != value.type.tensor_type.elem_type:
            yield value.name
        elif is_stricter(dims_of(value.type), dims_of(kind)):
            yield value.name


def _initializers(model: onnx.ModelProto) -> dict[str, list[onnx.TensorProto]]:
    """The initializers of a graph by name; a sparse one as its values, indices and dims."""
    found = {tensor.name: [tensor] for tensor in model.graph.initializer}
    for row in model.graph.sparse_initializer:
        dims = onnx.numpy_helper.from_array(np.array(row.dims, np.int64))
        found[row.values.name] = [row.values, row.indices, dims]
    return found


def _alike(
    node: onnx.NodeProto, other: onnx.NodeProto | None, former: Mapping[str, onnx.NodeProto], model: onnx.ModelProto
) -> bool:
    return other is not None and (_text(node) == _text(other) or _took_in(node, other, former, model))


def _took_in(
    node: onnx.NodeProto, other: onnx.NodeProto, former: Mapping[str, onnx.NodeProto], model: onnx.ModelProto
) -> bool:
    """Whether the other node is this node with the Pad in front folded into its pads."""
    pad = former.get(next(iter(node.input), ""))
    if (node.domain, node.op_type) not in WINDOW_OPERATORS or pad is None or not is_pad(pad):
        return False
    amounts = known_amounts(pad, model) if _fills_with_zero(pad, model) else None
    before, after = (onnx.NodeProto.FromString(one.SerializeToString()) for one in (node, other))
    pads = [[list(row.ints) for row in one.attribute if row.name == "pads"] for one in (before, after)]
    half = len(amounts or ()) // 2
    if amounts is None or half < 3 or not pads[1] or other.input[0] != pad.input[0]:
        return False
    added = [*amounts[2:half], *amounts[half + 2 :]]
    own = pads[0][0] if pads[0] else [0] * len(added)
    outside = (*amounts[:2], *amounts[half : half + 2])
    before.input[0] = other.input[0]
    for one in (before, after):
        kept = [row for row in one.attribute if row.name not in ("pads", "auto_pad", "count_include_pad")]
        del one.attribute[:]
        one.attribute.extend(kept)
    sums = [one + more for one, more in zip(own, added)]
    return not any(outside) and sums == pads[1][0] and _text(before) == _text(after)


def _fills_with_zero(pad: onnx.NodeProto, model: onnx.ModelProto) -> bool:
    """Whether a Pad is an ONNX Pad of mode constant with a fill of 0."""
    attributes = {row.name: row for row in pad.attribute}
    if pad.domain not in ("", "ai.onnx") or pad.op_type != "Pad" or len(pad.input) > 3:
        return False
    if "mode" in attributes and attributes["mode"].s != b"constant" or "value" in attributes and attributes["value"].f:
        return False
    fill = next(iter(pad.input[2:3]), "")
    tensors = [tensor for tensor in model.graph.initializer if tensor.name == fill and not _is_external(tensor)]
    return not fill or any(not np.any(onnx.numpy_helper.to_array(tensor)) for tensor in tensors)


def _text(part: onnx.NodeProto | onnx.FunctionProto) -> bytes:
    """A node or a function as bytes, without names of nodes and docs, and with its attributes sorted."""
    copy = type(part).FromString(part.SerializeToString())
    copy.ClearField("doc_string")
    copy.ClearField("metadata_props")
    for _, node in nodes_of([copy] if isinstance(copy, onnx.NodeProto) else copy.node):
        for name in ("name", "doc_string", "metadata_props"):
            node.ClearField(name)
        if node.domain == "ai.onnx":
            node.domain = ""
        attributes = sorted(node.attribute, key=lambda row: str(row.name))
        del node.attribute[:]
        node.attribute.extend(attributes)
        for row in node.attribute:
            row.ClearField("doc_string")
    return bytes(copy.SerializeToString(deterministic=True))


def _same_elements(one: tuple[Path, onnx.TensorProto], other: tuple[Path, onnx.TensorProto]) -> bool:
    """Whether two tensors, each of its model file, have the same type, dims and elements."""
    first, second = one[1], other[1]
    if (first.data_type, list(first.dims)) != (second.data_type, list(second.dims)):
        return False
    if first == second and (not _is_external(first) or one[0].resolve().parent == other[0].resolve().parent):
        return True
    try:
        return _elements(*one) == _elements(*other)
    except (OSError, PadopsError):  # unreadable data count as different
        return False


def _is_external(tensor: onnx.TensorProto) -> bool:
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def _elements(path: Path, tensor: onnx.TensorProto) -> bytes:
    if not _is_external(tensor):
        return np.asarray(onnx.numpy_helper.to_array(tensor)).tobytes()
    location, offset, length = check_entries(tensor, tensor.name)
    with (path.parent / location).open("rb") as file:
        file.seek(offset)
        return file.read(length)
