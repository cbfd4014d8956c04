"""What a model of nothing but Pads has to give, by the NumPy reference."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model.graphs import Index, Scope, constant
from padops.runtime import pyop
from padops.spec import reference
from padops.spec.dialects import DOMAIN, OPS


def expected_outputs(message: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """The outputs of a converted model, or None if it has other nodes than Pads, Constant and Identity.

    Raises:
        PadError: A rule is broken.
    """
    model = ir.from_proto(message)
    scope = Scope(model, model.graph, model.graph, "graph", Index(model))
    values: dict[ir.Value | None, np.ndarray] = {  # None, an absent input, is not among them
        value: feeds[value.name] for value in model.graph.inputs if value.name is not None and value.name in feeds
    }
    for value in model.graph.initializers.values():
        assert value.const_value is not None
        values.setdefault(value, value.const_value.numpy())
    for node in model.graph:
        if node.domain == DOMAIN and node.op_type in OPS:
            inputs = [None if value is None else _typed(values[value]) for value in node.inputs]
            attributes = {name: attribute.value for name, attribute in node.attributes.items()}
            values[node.outputs[0]] = reference.run(node.op_type, attributes, inputs, node.name or "")
        elif node.domain == pyop.DOMAIN:
            texts = {name: attribute.value for name, attribute in node.attributes.items()}
            values[node.outputs[0]] = reference.run(*pyop.decode(texts, [_typed(values[v]) for v in node.inputs]))
        elif (node.domain, node.op_type) == ("", "Identity"):
            values[node.outputs[0]] = values[node.inputs[0]]
        elif (array := constant(node.outputs[0], scope)) is not None:
            values[node.outputs[0]] = array
        else:
            return None
    return {value.name or "": values[value] for value in model.graph.outputs}


def _typed(array: np.ndarray) -> np.ndarray:
    """Strings of a tensor are bytes to onnx_ir, and text to everyone else."""
    if array.dtype.kind not in "OSU":
        return array
    decoded = [item.decode() if isinstance(item, bytes) else str(item) for item in array.reshape(-1)]
    return np.array(decoded, object).reshape(array.shape)
