"""The operators of the domain ``padops``, as the native library has them.

ONNX Runtime infers no shape through an operator whose amounts are inputs. So the converted model states the output's
type and shape if the original does not; then later nodes are optimised as before: silero-vad's Slices become a Split
because the rank of the Conv in front of them is known.
"""

from __future__ import annotations

import onnx_ir as ir

from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.pad_info import PadInfo
from padops.convert.targets.placing import set_operator, values
from padops.spec.dialects import DOMAIN, VERSION


def emit(pad: PadInfo, site: NodeSite, constants: Constants, types: Types) -> tuple[str, ...]:
    """Turns the node into the Pad's operator; it keeps its name, outputs and metadata."""
    inputs = values(pad, site, constants)
    while inputs and inputs[-1] is None:
        inputs.pop()
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
