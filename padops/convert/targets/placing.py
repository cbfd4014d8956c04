"""One node in the place of another: what targets share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import onnx_ir as ir

from padops.convert.errors import PadopsError
from padops.convert.model.constants import Constants
from padops.convert.model.graphs import Found, constant, drop_unread, remake
from padops.convert.sources.match import Draft
from padops.spec.dialects import OPS


def values(draft: Draft, found: Found, constants: Constants) -> list[ir.Value | None]:
    """The inputs of the draft, its arrays as new constants."""
    rows = OPS[draft.op_type].inputs
    return [
        constants.add(value, found, rows[i].name) if isinstance(value, np.ndarray) else value
        for i, value in enumerate(draft.inputs)
    ]


def become(
    found: Found,
    operator: tuple[str, int, str],
    inputs: Sequence[ir.Value | None],
    attributes: Iterable[ir.Attr],
) -> None:
    """Makes the node another operator; it stays the same node, with its name, outputs and metadata.

    Args:
        found: The node.
        operator: Domain, version and name.
        inputs: None where absent.
        attributes: All that the node is to have.

    Raises:
        PadopsError: The model imports another version of the domain.
    """
    node, scope = found.node, found.scope
    domain, version, op_type = operator
    imports = [graph.opset_imports for graph in (scope.root, scope.model.graph)]
    for known in imports:
        if known.get(domain, version) != version:
            raise PadopsError(f"{scope.path} imports version {known[domain]} of the domain {domain}; this is {version}")
    former = dict.fromkeys(value for value in node.inputs if value is not None)
    remake(node, domain, op_type, inputs, attributes)
    # They stood for inputs that were absent.
    drop_unread([value for value in former if _is_empty(value, found)], scope.index)
    # A function's body has imports of its own, and ONNX Runtime wants those of the model to have the domain as well.
    for known in imports:
        known[domain] = version


def _is_empty(value: ir.Value, found: Found) -> bool:
    array = constant(value, found.scope)
    return array is not None and array.size == 0
