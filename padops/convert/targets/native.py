"""The operators of the domain ``padops``, as the native library has them.

ONNX Runtime infers no shape through an operator whose amounts are inputs. Where the model does not say what its Pad
gives, the converted one does, so that what stands behind it is optimised as before: silero-vad's Slices become a Split
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
    """Turns the node into the operator of that name; it stays the same node, with its name, outputs and metadata.

    Args:
        pad: See ``targets``, as for the others.
    """
    inputs = values(pad, site, constants)
    while inputs and inputs[-1] is None:
        inputs.pop()
    declare(site.node.outputs[0], site.node.inputs[0], types)
    set_operator(site, (DOMAIN, VERSION, pad.op.name), inputs, pad.attributes.values())
    return ()


def declare(output: ir.Value, data: ir.Value | None, types: Types) -> None:
    """States what can be inferred of an output: its type, its rank, and the dims that are known.

    Args:
        output: The output.
        data: A value of the same type; None where there is none, and the type is worth to be stated alone.
        types: Of the model.
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
