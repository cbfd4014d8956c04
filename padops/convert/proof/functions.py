"""The functions of a model: a call is read as its body, with the function's imports and the call's attributes.

Fallback functions of padops are not read: a call counts as the operator, and ``bodies.py`` proves their bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.proof import facts
from padops.convert.proof.knowledge import Shape
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
    depth: dict[tuple[str, str, str], bool] = {}

    def visit(key: tuple[str, str, str]) -> None:
        if key in depth:
            if not depth[key]:
                raise PadopsError(f"the function '{key[1]}' of the domain '{key[0]}' calls itself")
            return
        depth[key] = False
        for called_key in _calls(found[key].node):
            if called_key in found:
                visit(called_key)
        depth[key] = True

    for key in found:
        visit(key)
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
    made = onnx.NodeProto()
    made.CopyFrom(node)
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
