"""Whether a message is a model at all, checked before anything is made of it.

onnx, onnx_ir and protobuf each find a part of what can be wrong, and raise exceptions of many kinds from deep inside.
Some errors none of them finds, and on some they never end. What ONNX Runtime runs is not refused (measured with
1.31.1): nodes of the main graph in any order, an initializer that stands there twice, values in a field that its type
does not use.

=================  ====================================================================================
``operators.py``   how many inputs and outputs standard operators have; attributes: type, value, references to the
                   function's; tensors: type, dims, number of elements
``names.py``       what the values are called: each made once, before it is read, in no cycle
``calls.py``       the model's functions: no recursion, no call of too many, no growth without end
=================  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import onnx

from padops.convert.errors import PadopsError
from padops.convert.model.checks.calls import check_calls
from padops.convert.model.checks.names import check_names
from padops.convert.model.checks.operators import (
    check_attribute,
    check_counts,
    check_tensor,
    default_version,
)
from padops.convert.model.nesting import graphs_in

HIGHEST_VERSION = (1 << 31) - 1  # of a domain; onnx reads no higher one


@dataclass(frozen=True)
class Owner:
    """The main graph or the function that nodes stand in, at any depth."""

    version: int | None  # of the default domain there
    named: frozenset[str]  # the names of the model's functions in that domain
    is_function: bool = False  # whether it is one


def check_model(model: onnx.ModelProto) -> None:
    """Refuses a message that is no model; ``scan.refuse_what_would_be_lost`` has let it pass.

    Raises:
        PadopsError: Something does not fit together. The message names the part of the model, and the numbers.
    """
    _check_imports(model.opset_import, "the model", {node.domain for node in model.graph.node})
    named = frozenset(function.name for function in model.functions if not function.domain)
    _check_graph(model.graph, "graph", Owner(_default_version(model.opset_import, model), named))
    check_names(model.graph, "graph", sorted_nodes=False)
    for i, function in enumerate(model.functions):
        path = f"functions[{i}]"
        place = f"function '{function.name}' ({path})"
        _check_imports(function.opset_import, place, {node.domain for node in function.node})
        for attribute in function.attribute_proto:
            check_attribute(attribute, place, inside_function=False)
        _check_nodes(function.node, path, Owner(_default_version(function.opset_import, model), named, True))
        check_names(function, path)
    check_calls(model)


def _default_version(rows: Iterable[onnx.OperatorSetIdProto], model: onnx.ModelProto) -> int | None:
    return default_version({row.domain: row.version for row in rows}, model.ir_version)


def _check_imports(rows: Iterable[onnx.OperatorSetIdProto], place: str, used: set[str]) -> None:
    for row in rows:
        if row.domain in {"", *used} and not 1 <= row.version <= HIGHEST_VERSION:
            raise PadopsError(
                f"{place} imports version {row.version} of the domain '{row.domain}'; versions are 1 to "
                f"{HIGHEST_VERSION}"
            )


def _check_graph(graph: onnx.GraphProto, path: str, owner: Owner) -> None:
    for i, tensor in enumerate(graph.initializer):
        check_tensor(tensor, f"initializer '{tensor.name}' ({path}.initializer[{i}])")
    for i, row in enumerate(graph.sparse_initializer):
        for part in (row.values, row.indices):
            check_tensor(part, f"sparse initializer '{row.values.name}' ({path}.sparse_initializer[{i}])")
    _check_nodes(graph.node, path, owner)


def _check_nodes(nodes: Iterable[onnx.NodeProto], path: str, owner: Owner) -> None:
    for i, node in enumerate(nodes):
        place = f"{path}.node[{i}]"
        label = f"node '{node.name}' ({place}, {node.op_type or 'of no operator'})"
        if not node.op_type:
            raise PadopsError(f"{label}: it has no op_type")
        check_counts(node, owner.version, owner.named, label)
        seen: set[str] = set()
        for attribute in node.attribute:
            if attribute.name in seen:
                raise PadopsError(f"{label}: two attributes have the name '{attribute.name}'")
            seen.add(attribute.name)
            check_attribute(attribute, label, owner.is_function)
            for name, graph in graphs_in([attribute]):
                _check_graph(graph, f"{place}.{name}", owner)
