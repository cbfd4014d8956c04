"""The operators of the domain ``padops``, as the native library has them."""

from __future__ import annotations

import numpy as np

from padops.convert.constants import Constants
from padops.convert.errors import PadopsError
from padops.convert.graphs import Found
from padops.convert.sources.finding import Draft
from padops.dialects import DOMAIN, OPS, VERSION


def put(draft: Draft, found: Found, constants: Constants) -> None:
    """Turns the node into the operator of the draft; it stays the same node, with its name, outputs and metadata."""
    node, scope = found.node, found.scope
    inputs = list(draft.inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    for i, value in enumerate(inputs):
        if isinstance(value, np.ndarray):
            inputs[i] = constants.add(value, found, OPS[draft.op_type].inputs[i].name)
    node.resize_inputs(len(inputs))
    for i, value in enumerate(inputs):
        if node.inputs[i] is not value:
            node.replace_input_with(i, value)
    for name in list(node.attributes):
        if name not in draft.attributes:
            del node.attributes[name]
    for attribute in draft.attributes.values():
        node.attributes.add(attribute)
    node.domain, node.op_type = DOMAIN, draft.op_type
    for graph in (scope.root, scope.model.graph):
        if graph.opset_imports.get(DOMAIN, VERSION) != VERSION:
            raise PadopsError(
                f"{scope.path} imports version {graph.opset_imports[DOMAIN]} of the domain {DOMAIN}; this is {VERSION}"
            )
    # A function's body has imports of its own, and ONNX Runtime wants those of the model to have the domain as well.
    scope.root.opset_imports[DOMAIN] = scope.model.graph.opset_imports[DOMAIN] = VERSION
