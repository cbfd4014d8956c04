"""The operators of the domain ``padops``, as the native library has them.

ONNX Runtime infers no shape through an operator whose amounts are inputs. So the converted model states the output's
type and shape if the original does not; then later nodes are optimised as before: silero-vad's Slices become a Split
because the rank of the Conv in front of them is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import onnx_ir as ir

from padops.convert.errors import PadopsError
from padops.convert.model.checks.operators import default_version
from padops.convert.model.constants import Constants
from padops.convert.model.evaluate import remove_unread
from padops.convert.model.graphs import NodeSite, replace_in_place
from padops.convert.model.types import Types
from padops.convert.pads.pad_info import PadInfo
from padops.spec.dialects import DOMAIN, VERSION


def emit(pad: PadInfo, site: NodeSite, constants: Constants, types: Types) -> tuple[str, ...]:
    """Turns the node into the Pad's operator; it keeps its name, outputs and metadata."""
    inputs = values(pad, site, constants)
    while inputs and inputs[-1] is None:
        inputs.pop()
    if not isinstance(site.scope.root, ir.Function):
        declare(site.node.outputs[0], site.node.inputs[0], types)
    set_operator(site, (DOMAIN, VERSION, pad.op.name), inputs, pad.attributes.values())
    return ()


def declare(output: ir.Value, data: ir.Value | None, types: Types) -> None:
    """States an output's inferred type, rank and known dims.

    ``data`` is a value of the same type. None: there is none, and the type is stated even if the rank is unknown.
    """
    if output.shape is not None or output.is_graph_output():
        return
    dims, type_name = types.shape(output), types.name(output, data)
    if (
        type_name is None
        or any(dim is not None and dim < 0 for dim in dims or ())
        or (dims is None and data is not None)
    ):
        return
    output.type = ir.TensorType(ir.DataType[type_name.upper()])
    output.shape = None if dims is None else ir.Shape(dims)


def values(pad: PadInfo, site: NodeSite, constants: Constants) -> list[ir.Value | None]:
    """The inputs of a node that is this Pad; arrays become new constants."""
    return [
        constants.add(value, site, row.name) if isinstance(value, np.ndarray) else value
        for row, value in zip(pad.op.inputs, pad.given, strict=True)
    ]


def set_operator(
    site: NodeSite, operator: tuple[str, int, str], inputs: Sequence[ir.Value | None], attributes: Iterable[ir.Attr]
) -> None:
    """Gives the node another operator; it keeps its name, outputs and metadata.

    Raises:
        PadopsError: The model imports another version of the domain.
    """
    node, scope = site.node, site.scope
    domain, version, op_type = operator
    imports = [graph.opset_imports for graph in (scope.root, scope.model.graph)]
    for known in imports:
        if known.get(domain, version) != version:
            raise PadopsError(
                f"{scope.path} imports version {known[domain]} of the domain {domain}; padops has {version}"
            )
    former = dict.fromkeys(value for value in node.inputs if value is not None)
    replace_in_place(node, domain, op_type, inputs, attributes)
    remove_unread(former, scope.index)  # such as TensorFlow's amounts, and empty constants for absent inputs
    # A function's body has imports of its own, and ONNX Runtime requires that the model's imports have the domain too.
    for known in imports:
        meant = default_version(known, scope.model.ir_version)
        if meant is not None:
            known.setdefault("", meant)  # a model that imports any domain must import the default domain too
        known[domain] = version
