"""Element types that standard operators cannot move are cast to one that they can, and back, where no bit is lost."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from padops.convert.sources.match import Unconvertible
from padops.convert.standard import emit_pad, ort_pad
from padops.convert.standard.graph_builder import GraphBuilder, Operand
from padops.convert.standard.pad_info import Lacking, PadInfo
from padops.spec.dtypes import by_name

# Types that Gather, Concat, Slice, Reshape and If move, and from which opset on (onnxruntime 1.20 to 1.31).
MOVED = dict.fromkeys(
    ("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double", "uint32",
     "uint64"), 1,
) | {"bfloat16": 13}  # fmt: skip

# Types that can be cast to another and back without a change of any of their bit patterns, and from which opset on. Of
# float8e5m2, the NaNs change; float4e2m1 cannot be cast. onnxruntime has the last five later than 1.20.
CARRIERS = {
    "float8e4m3fn": ("float", 19),
    "float8e4m3fnuz": ("float", 19),
    "float8e5m2fnuz": ("float", 19),
    "float8e8m0": ("float", 24),
    "uint4": ("uint8", 21),
    "int4": ("int8", 21),
    "uint2": ("uint8", 25),
    "int2": ("int8", 25),
}
_SATURATING = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2fnuz")


def check_moved(name: str | None, opset: int) -> str | None:
    """The type to do the work in, or None where it is the type itself.

    Raises:
        Unconvertible: There is none, or the type is not known.
    """
    if name is None:
        raise Unconvertible("the type of its data is not known")
    carrier, since = CARRIERS.get(name, (None, 0))
    if MOVED.get(name, opset + 1) <= opset or (carrier and since <= opset):
        return carrier
    raise Unconvertible(f"no standard operator moves {name} at opset {opset} and leaves every bit of it as it is")


def carried(
    builder: GraphBuilder, pad: PadInfo, types: Collection[str | None], guarantees: emit_pad.Guarantees
) -> ir.Value:
    """Writes a body, between two casts where its type wants that."""
    carriers = {check_moved(name, builder.opset) for name in types}
    if carriers == {None}:
        return emit_pad.write(builder, pad, guarantees)
    if pad.type is None:
        raise Unconvertible(
            f"its data are of several types, {', '.join(sorted(map(str, types)))}, some of which are cast"
        )
    cast, guarantees = cast_inputs(builder, pad), replace(guarantees, typed=ort_pad.has_type(*carriers, builder.opset))
    return cast_back(builder, emit_pad.write(builder, cast, guarantees), pad.type)


def cast_inputs(builder: GraphBuilder, pad: PadInfo) -> PadInfo:
    """The same Pad of the type that it is to be done in."""
    carrier, _ = CARRIERS[pad.type]
    to, own = by_name(carrier), by_name(pad.type)
    position = pad.op.input_index(pad.op.fill)
    inputs = [builder.emit("Cast", [pad.data], {"to": to.onnx}), *pad.inputs[1:]]
    if position is not None:
        if pad.some_fill:
            raise Lacking(pad.op.fill, pad.op)
        fill: Operand | None = inputs[position]
        if fill is None:  # float8e8m0 has no 0, and its default is another number (P7)
            fill = np.zeros((), own.numpy)
        inputs[position] = (
            fill.astype(to.numpy) if isinstance(fill, np.ndarray) else builder.emit("Cast", [fill], {"to": to.onnx})
        )
    return replace(pad, inputs=inputs, given=inputs, type=carrier)


def cast_back(builder: GraphBuilder, output: ir.Value, name: str) -> ir.Value:
    """A value of the carrier as one of the type ``name``."""
    exact = {"saturate": 0} if name in _SATURATING else {}
    return builder.emit("Cast", [output], {"to": by_name(name).onnx} | exact)
