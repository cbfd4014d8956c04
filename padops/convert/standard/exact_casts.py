"""Element types that standard operators cannot move are cast to one that they can, and back, where no bit is lost."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from padops.convert.pads.match import Unconvertible
from padops.convert.pads.operands import Operand
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes.builtin_support import EXACT_CASTS, MOVED
from padops.convert.standard.graph_builder import here
from padops.convert.standard.numbers import emit
from padops.convert.standard.pad_values import Lacking
from padops.spec.dtypes import by_name

_SATURATING = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2fnuz")


def check_moved(name: str | None, opset: int) -> str | None:
    """The type to which elements are cast to be moved; None for their own.

    Raises:
        Unconvertible: There is none, or the type is not known.
    """
    if name is None:
        raise Unconvertible("the type of its data is not known")
    proxy, since = EXACT_CASTS.get(name, (None, 0))
    if MOVED.get(name, opset + 1) <= opset or (proxy and since <= opset):
        return proxy
    raise Unconvertible(f"no standard operator moves {name} at opset {opset} and leaves every bit of it as it is")


def write_exact(pad: PadInfo, types: Collection[str | None], write: Callable[[PadInfo], Operand]) -> Operand:
    """Writes a Pad with ``write``, between two casts where the type of its data needs them.

    Raises:
        Unconvertible: No type moves the bits, or each of several types would need casts of its own.
    """
    proxies = {check_moved(name, here().opset) for name in types}
    if proxies == {None}:
        return write(pad)
    if pad.type is None:
        raise Unconvertible(
            f"its data are of several types, {', '.join(sorted(map(str, types)))}, some of which are cast"
        )
    output = write(_cast_inputs(pad))
    if not isinstance(output, ir.Value):
        return output.astype(by_name(pad.type).numpy)
    exact = {"saturate": 0} if pad.type in _SATURATING else {}
    return emit("Cast", [output], {"to": by_name(pad.type).onnx} | exact)


def _cast_inputs(pad: PadInfo) -> PadInfo:
    """The same Pad of the type that it is to be done in.

    Raises:
        Lacking: A fill may be there or not, and to cast it, it must be known which.
    """
    assert pad.type is not None, "check_moved has found one to do it in"
    proxy, _ = EXACT_CASTS[pad.type]
    to, own = by_name(proxy), by_name(pad.type)
    position = pad.op.input_index(pad.op.fill)
    inputs: list[Operand | None] = [emit("Cast", [pad.data], {"to": to.onnx}), *pad.inputs[1:]]
    if position is not None:
        if pad.some_fill:
            raise Lacking(pad.op.fill, pad.op)
        fill: Operand | None = inputs[position]
        if fill is None:  # float8e8m0 has no 0, and its default is another number (P7)
            fill = np.zeros((), own.numpy)
        inputs[position] = (
            fill.astype(to.numpy) if isinstance(fill, np.ndarray) else emit("Cast", [fill], {"to": to.onnx})
        )
    return replace(pad, inputs=inputs, given=inputs, type=proxy)
