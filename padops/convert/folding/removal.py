"""Removes a Pad from its graph: the readers of the padded data read the data.

An output of a graph or a function must keep its name, so its Pad becomes an Identity, which ONNX Runtime removes by
itself if it can. So does a Pad whose result an inner graph reads, if another value may hide the data's name there.
"""

from __future__ import annotations

import onnx_ir as ir

from padops.convert.folding.candidate import Change
from padops.convert.model.evaluate import remove_unread
from padops.convert.model.graphs import NodeSite, replace_in_place, take_out
from padops.convert.model.types import Types
from padops.convert.runtimes.builtin_support import has_identity


def remove(site: NodeSite, types: Types, only_bypass: bool = False) -> Change | None:
    """Removes the Pad of ``site``, and the nodes that only computed its amounts. ``only_bypass``: leaves no Identity.

    Returns:
        The change; None if the Pad has to stay.
    """
    node = site.node
    data, output = node.inputs[0], node.outputs[0]
    assert data is not None, "no source finds a Pad without data"
    read = list(dict.fromkeys(value for value in node.inputs[1:] if value is not None))
    is_output = output.is_graph_output()
    if is_output or _is_hidden(data, output, site):
        if only_bypass or not _takes_identity(site, types):
            return None
        replace_in_place(node, "", "Identity", [data])
        types.invalidate()
        remove_unread(read, site.scope.index)
        why = "its output is one of the graph" if is_output else "another value hides the name of its data"
        return Change((node,), (f"an Identity stays: {why}",))
    readers = tuple(dict.fromkeys(use.node for use in output.uses()))
    output.replace_all_uses_with(data)
    take_out(node)
    remove_unread(read, site.scope.index)
    return Change(readers)


def _is_hidden(data: ir.Value, output: ir.Value, site: NodeSite) -> bool:
    """Whether another value may hide the name of the data in a graph that reads the padded data."""
    if all(use.node.graph is site.node.graph for use in output.uses()):
        return False
    return site.scope.index.is_shared(data.name)


def _takes_identity(site: NodeSite, types: Types) -> bool:
    """Whether ONNX Runtime has an Identity for the data."""
    name = types.name(site.node.inputs[0], site.node.outputs[0])
    return site.scope.opset is not None and has_identity(name, site.scope.opset)
