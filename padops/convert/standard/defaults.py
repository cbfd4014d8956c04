"""Writes out the default of an optional input, where one body is to serve nodes that have it and nodes that do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from padops.convert.model.constants import Constants
from padops.convert.model.document import Document
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.pad_info import PadInfo, describe_node
from padops.convert.standard.pad_values import default_fill


def apply(document: Document, pads: Sequence[NodeSite], op_type: str, name: str) -> int:
    """Gives the nodes of an operator the default of an input: all that lack it, or none.

    Args:
        document: The model; what passes have changed in it has been written back, and so is this.
        pads: The nodes of padops in it.
        op_type: The operator.
        name: The input: the fill, or axes.

    Returns:
        How many nodes have got it; 0 where the default of one of them is not known.
    """
    types = Types(document)
    types.infer()
    lacking = []
    for site in pads:
        if site.node.op_type == op_type:
            pad = describe_node(site, types)
            position = pad.op.input_index(name)
            assert position is not None, "only what some calls have can be lacking"
            if pad.inputs[position] is None:
                lacking.append((site, position, _default(pad, name)))
    known = [(site, position, default) for site, position, default in lacking if default is not None]
    if len(known) < len(lacking):
        return 0
    constants = Constants(document.model)
    for site, position, default in known:
        node = site.node
        if len(node.inputs) <= position:
            node.resize_inputs(position + 1)
        node.replace_input_with(position, constants.add(default, site, name))
        document.touched.add(node)
    document.write_back()
    return len(known)


def _default(pad: PadInfo, name: str) -> np.ndarray | None:
    """What an absent input stands for (P7, P8), if that is known."""
    if name == "axes":
        return None if pad.dims is None else np.arange(len(pad.dims), dtype=np.int64)
    return None if pad.type is None else default_fill(pad.type)
