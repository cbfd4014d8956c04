"""The order of a model's nodes, and its functions: a call is read as its body, with its own imports and attributes.

Fallback functions of padops are not read: a call counts as the operator, and ``bodies.py`` proves their bodies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.proof import facts
from padops.convert.proof.facts import Shape
from padops.convert.proof.schemas import OPERATORS, PADOPS, plain_domain


@dataclass(frozen=True)
class Known:
    """The known facts of a call's argument: element type (0: unknown), dims, a constant's elements."""

    dtype: int
    shape: Shape | None
    elements: np.ndarray | None


def imports_of(message: onnx.ModelProto | onnx.FunctionProto) -> dict[str, int]:
    """The imported version of each domain."""
    return {plain_domain(row.domain): row.version for row in message.opset_import}


def is_fallback(function: onnx.FunctionProto) -> bool:
    """Whether a function is a fallback: it runs in place of an operator of padops if the library is absent."""
    return function.domain == PADOPS and function.name in OPERATORS


def own_functions(model: onnx.ModelProto) -> dict[tuple[str, str, str], onnx.FunctionProto]:
    """The functions of a model that are no fallbacks, by domain, name and overload.

    Raises:
        PadopsError: A function calls itself, or has the name of an ONNX operator, which a runtime may run instead.
    """
    found = {(row.domain, row.name, row.overload): row for row in model.functions if not is_fallback(row)}
    for domain, name, _ in found:
        if onnx.defs.has(name, plain_domain(domain)):
            raise PadopsError(f"the function '{name}' of the domain '{domain}' has the name of an operator of ONNX")
    try:
        TopologicalSorter({key: _calls(function.node) for key, function in found.items()}).prepare()
    except CycleError as error:
        domain, name, _ = error.args[1][0]
        raise PadopsError(f"the function '{name}' of the domain '{domain}' calls itself") from None
    return found


def _calls(nodes: Sequence[onnx.NodeProto]) -> list[tuple[str, str, str]]:
    rows = []
    for node in nodes:
        rows.append((node.domain, node.op_type, node.overload))
        for attribute in node.attribute:
            rows += _calls(attribute.g.node)
    return rows


def called(function: onnx.FunctionProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """The nodes of a function's body, with references to attributes replaced by the call's attributes."""
    given = {row.name: row for row in function.attribute_proto} | {row.name: row for row in node.attribute}
    return [_bound(one, given) for one in function.node]


def _bound(node: onnx.NodeProto, given: dict[str, onnx.AttributeProto]) -> onnx.NodeProto:
    made = deepcopy(node)
    del made.attribute[:]
    for row in node.attribute:
        if row.ref_attr_name:
            if row.ref_attr_name in given:  # else the node lacks the attribute
                made.attribute.add().CopyFrom(given[row.ref_attr_name])
                made.attribute[-1].name = row.name
            continue
        copied = made.attribute.add()
        copied.CopyFrom(row)
        if row.HasField("g"):
            del copied.g.node[:]
            copied.g.node.extend(_bound(one, given) for one in row.g.node)
    return made


def inferred_call(
    model: onnx.ModelProto,
    function: onnx.FunctionProto,
    body: Sequence[onnx.NodeProto],
    arguments: Sequence[Known | None],
) -> facts.Inferred:
    """The body of a call as a graph with inferred types; ``arguments`` has None for an absent input."""
    made = onnx.ModelProto(ir_version=model.ir_version)
    made.opset_import.extend(function.opset_import)
    made.functions.extend(model.functions)
    made.graph.name = function.name
    made.graph.node.extend(body)
    for name, known in zip(function.input, arguments):
        if known is None:
            continue
        if known.elements is not None and known.elements.dtype != object and known.elements.nbytes <= facts.SMALL:
            made.graph.initializer.append(numpy_helper.from_array(known.elements, name))
        else:
            shape = None if known.shape is None else list(known.shape)
            made.graph.input.append(onnx.helper.make_tensor_value_info(name, known.dtype, shape))
    made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in function.output)
    return facts.inferred(made, None, set(), is_call=True)


def in_order(nodes: Sequence[onnx.NodeProto]) -> list[int]:
    """The indices of a graph's nodes in topological order.

    Raises:
        PadopsError: The graph has a cycle.
    """
    made = {name: place for place, node in enumerate(nodes) for name in node.output if name}
    reads = [{made[name] for name in _names_read(node) if name in made} for node in nodes]
    if all(not places or max(places) < place for place, places in enumerate(reads)):
        return list(range(len(nodes)))
    try:
        return list(TopologicalSorter(dict(enumerate(reads))).static_order())
    except CycleError as error:
        label = nodes[error.args[1][0]].name or nodes[error.args[1][0]].op_type
        raise PadopsError(f"node '{label}' reads what is computed from its own result") from None


def _names_read(node: onnx.NodeProto) -> Iterator[str]:
    """The values that a node and its bodies read from the graph around the node."""
    yield from node.input
    for attribute in node.attribute:
        if attribute.HasField("g"):
            own = {name for inner in attribute.g.node for name in inner.output}
            own |= {value.name for value in attribute.g.input} | {row.name for row in attribute.g.initializer}
            names = [name for inner in attribute.g.node for name in _names_read(inner)]
            yield from (name for name in (*names, *(row.name for row in attribute.g.output)) if name not in own)
