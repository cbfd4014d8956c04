"""Operators of standard ONNX, without functions and without a domain of padops; see ``standard/lowering.py``."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model.constants import Constants, tensor_of
from padops.convert.model.document import Document
from padops.convert.model.evaluate import remove_unread
from padops.convert.model.graphs import NodeSite, inner_graphs, replace_in_place, walk
from padops.convert.model.types import Types
from padops.convert.pads.match import Unconvertible, Unneeded
from padops.convert.pads.pad_info import PadInfo
from padops.convert.standard.graph_builder import GraphBuilder, detach
from padops.convert.standard.lowering import write
from padops.convert.standard.rules import check_nesting
from padops.runtime.provider_rules import KnownProvider
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN


def emit(
    pad: PadInfo,
    site: NodeSite,
    constants: Constants,
    types: Types,
    without_pad: bool = False,
    provider: KnownProvider | None = None,
) -> tuple[str, ...]:
    """Replaces the node by several; it becomes the last of them, and keeps its name, outputs and metadata.

    Raises:
        Unconvertible: No standard nodes do the same; nothing has been changed.
        Unneeded: The node would not change.
    """
    wanted = site.node.outputs[0].name or site.node.name
    builder, said = _written(pad, site, lambda role: constants.fresh(f"{wanted}_{role}"), without_pad, provider)
    return (_install(site, builder, constants), *filter(None, [said]))


def check(pad: PadInfo, site: NodeSite, without_pad: bool = False, provider: KnownProvider | None = None) -> None:
    """Refuses a Pad that ``emit`` would refuse: writes the nodes, and drops them.

    Raises:
        Unconvertible: No standard nodes do the same.
    """
    numbers = itertools.count()
    detach(_written(pad, site, lambda role: f"{role}_{next(numbers)}", without_pad, provider)[0].nodes)


def _written(
    pad: PadInfo, site: NodeSite, fresh: Callable[[str], str], without_pad: bool, provider: KnownProvider | None
) -> tuple[GraphBuilder, str]:
    """The new nodes, in no graph yet and named by ``fresh``, and a note on the provider."""
    opset = site.scope.opset
    if opset is None:
        raise Unconvertible(f"{site.scope.path} does not import the default domain, so its version is unknown")
    if pad.problem is not None:
        raise Unconvertible(pad.problem)
    plain = site.node.op_identifier() == ("", "Pad", "")
    builder = GraphBuilder(opset, fresh, has_pad=not without_pad)
    try:
        with builder:
            output, said = write(pad, plain, plain and _has_form(site.node, pad), provider)
            if isinstance(output, ir.Value):
                builder.drop_unused(output)
        last = builder.nodes[-1] if builder.nodes else None
        if isinstance(output, np.ndarray):  # not by Identity, which ONNX Runtime does not have for every type
            builder.emit("Constant", [], {"value": tensor_of(output)})
        elif last is None or last in builder.arrays or output is not last.outputs[0] or any(inner_graphs(last)):
            builder.emit("Identity", [output])
        check_nesting(builder.nodes, pad.around)
        made = builder.nodes
        if plain and len(made) == 1 and made[0].op_type == "Pad" and _signature(site.node) == _signature(made[0]):
            cast = ", by a cast to float and back" if pad.type == "float16" else ""
            raise Unneeded("; ".join(filter(None, [said, f"ONNX Runtime's Pad is right for it{cast}, or fails"])))
    except (Unconvertible, Unneeded):
        detach(builder.nodes)
        raise
    return builder, said


def prune_opset_imports(document: Document) -> None:
    """Drops the imports of padops' domains from a model that has none of their operators any more."""
    message = document.message()
    used = {site.node.domain for site in walk(document.model)}
    unused = {DOMAIN, pyop_node.DOMAIN} - used
    rows: list[tuple[ir.Graph | ir.Function, onnx.ModelProto | onnx.FunctionProto]] = [(document.model.graph, message)]
    rows += zip(document.model.functions.values(), message.functions, strict=True)
    for graph, owner in rows:
        kept = [row for row in owner.opset_import if row.domain not in unused]
        if len(kept) < len(owner.opset_import):
            del owner.opset_import[:]
            owner.opset_import.extend(kept)
        for domain in unused & set(graph.opset_imports):
            del graph.opset_imports[domain]


def _has_form(node: ir.Node, pad: PadInfo) -> bool:
    """Whether a node has exactly the inputs and attributes of its Pad."""
    given = list(pad.given)
    while given and given[-1] is None:
        given.pop()
    inputs, _ = _signature(node)
    same = len(inputs) == len(given) and all(one is other for one, other in zip(inputs, given))
    kinds = [{name: attribute.type for name, attribute in given.items()} for given in (node.attributes, pad.attributes)]
    return same and kinds[0] == kinds[1]


def _signature(node: ir.Node) -> tuple[list[ir.Value | None], dict[str, object]]:
    inputs = list(node.inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    attributes = {name: (attribute.type, attribute.value) for name, attribute in node.attributes.items()}
    mode = {"mode": (ir.AttributeType.STRING, "constant")}
    return inputs, mode | {k: (kind, list(v) if isinstance(v, tuple) else v) for k, (kind, v) in attributes.items()}


def _install(site: NodeSite, builder: GraphBuilder, constants: Constants) -> str:
    """Inserts the new nodes in front of the node, which becomes the last of them; returns their operators, in words."""
    for made, array in builder.arrays.items():
        ir.convenience.replace_all_uses_with(made.outputs[0], constants.add(array, site, "constant"))
    *before, last = (made for made in builder.nodes if made not in builder.arrays)
    node, counts = site.node, Counter(made.op_type for made in (*before, last))
    for made in before:
        node.prepend(made)
    inputs, attributes = list(last.inputs), list(last.attributes.values())
    former = dict.fromkeys(value for value in node.inputs if value is not None)
    last.resize_inputs(0)
    replace_in_place(node, "", last.op_type, inputs, attributes)
    remove_unread(former, site.scope.index)  # ONNX Runtime warns of amounts that nothing reads
    return ", ".join(f"{count} {op_type}" if count > 1 else op_type for op_type, count in counts.items())
