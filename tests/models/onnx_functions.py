"""Lists the ONNX operators of the installed ``onnx`` whose function bodies pad; with ``-m``, prints the list as JSON.

Bodies that depend on the node are asked for with each of the optional inputs absent and present, with each attribute at
its ends, for several ranks and element types: what one of these bodies holds counts.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from functools import cache

import onnx
from onnx import TensorProto, defs, helper

PADS = "Pad"
RANKS = (4, 3, 1)
TYPES = (TensorProto.FLOAT, TensorProto.INT64)
LISTS = ([0], [1, -1])  # of an attribute that is a list of integers
NUMBERS = (2, 0, 1)
OPTIONAL = defs.OpSchema.FormalParameterOption.Optional
MOST = 512  # nodes that are asked about, for each of an operator's versions


@cache
def padding_functions() -> dict[str, list[str]]:
    """Map each function whose body has a Pad, directly or through a call, to the operators that bring it.

    A function is written as domain, name and version.
    """
    schemas = [schema for schema in defs.get_all_schemas_with_history() if _is_function(schema)]
    operators = {_name(schema): set(_operators(schema)) for schema in schemas}
    padding = {PADS}
    found: dict[str, list[str]] = {}
    while True:
        more = {name: sorted(within & padding) for name, within in operators.items() if within & padding}
        if more == found:
            return dict(sorted(found.items()))
        found = more
        padding |= {name.split("::")[-1].split("-")[0] for name in found}


def unread_functions() -> list[str]:
    """Functions of which onnx gave no body for any of the nodes that it was asked about."""
    schemas = defs.get_all_schemas_with_history()
    return sorted(_name(schema) for schema in schemas if _is_function(schema) and not set(_operators(schema)))


def _name(schema: defs.OpSchema) -> str:
    return f"{schema.domain or 'ai.onnx'}::{schema.name}-{schema.since_version}"


def _is_function(schema: defs.OpSchema) -> bool:
    return schema.has_function or schema.has_context_dependent_function


def _operators(schema: defs.OpSchema) -> Iterator[str]:
    for version in schema.function_opset_versions:
        yield from _within(schema.get_function_with_opset_version(version))
    for version in schema.context_dependent_function_opset_versions:
        for node, types in itertools.islice(_nodes(schema), MOST):
            try:
                body = schema.get_context_dependent_function_with_opset_version(version, node, types)
            except (RuntimeError, ValueError):  # of such a node there is no body
                continue
            yield from _within(body)


def _within(body: bytes) -> Iterator[str]:
    """The operators of a body and of the graphs inside it."""
    pending = list(onnx.FunctionProto.FromString(body).node)
    while pending:
        node = pending.pop()
        yield node.op_type
        for attribute in node.attribute:
            pending += [*attribute.g.node, *(inner for one in attribute.graphs for inner in one.node)]


def _nodes(schema: defs.OpSchema) -> Iterator[tuple[bytes, list[bytes]]]:
    """Nodes of an operator, and the types of their inputs."""
    flags = [(True, False) if row.option == OPTIONAL else (True,) for row in schema.inputs]
    for given in itertools.product(*flags):
        for attributes in _attributes(schema):
            names = [row.name if one else "" for row, one in zip(schema.inputs, given, strict=True)]
            node = helper.make_node(schema.name, names, [row.name for row in schema.outputs], domain=schema.domain)
            node.attribute.extend(attributes)
            for rank, element in itertools.product(RANKS, TYPES):
                dims = [2] * rank
                types = [helper.make_tensor_type_proto(element, dims) if name else onnx.TypeProto() for name in names]
                yield node.SerializeToString(), [one.SerializeToString() for one in types]


def _attributes(schema: defs.OpSchema) -> Iterator[list[onnx.AttributeProto]]:
    """Attributes of a node: those that it has to have, and then each other with several values."""
    choices = {name: list(_values(name, row)) for name, row in schema.attributes.items()}
    required = [choices[name][0] for name, row in schema.attributes.items() if row.required and choices[name]]
    yield required
    for name, values in choices.items():
        rest = [one for one in required if one.name != name]
        yield from ([*rest, value] for value in values)


def _values(name: str, row: defs.OpSchema.Attribute) -> Iterator[onnx.AttributeProto]:
    kind = defs.OpSchema.AttrType
    if row.default_value.ByteSize() and row.type == kind.STRING:
        yield row.default_value
    values = {kind.INT: NUMBERS, kind.INTS: LISTS, kind.FLOAT: (0.5,), kind.STRING: ("constant",)}.get(row.type, ())
    yield from (helper.make_attribute(name, value) for value in values)


if __name__ == "__main__":
    json.dump({"onnx": onnx.__version__, "padding": padding_functions(), "unread": unread_functions()}, sys.stdout)
