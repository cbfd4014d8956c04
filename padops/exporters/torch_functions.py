"""The functions that ``torch_translations`` passes to PyTorch's exporter; the exporter traces them with onnxscript."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional, TypeAlias

import numpy as np
import onnx_ir as ir
import torch
from onnx_ir.tensor_adapters import TorchTensor, to_torch_dtype
from onnxscript import INT64, opset20
from onnxscript.onnx_types import TensorType
from onnxscript.values import Opset

from padops.spec.dialects import DOMAIN, VERSION
from padops.spec.schemas import register_schemas

PADOPS = Opset(DOMAIN, VERSION)
MODES = {"reflect": "reflect", "replicate": "edge", "symmetric": "symmetric"}

ONNX: Opset = opset20  # typed as Opset: the methods of opset20 are declared for scripts, not for graph values

if TYPE_CHECKING:
    # While a model is traced, a Tensor is an ir.Value; Amounts are numbers, or ir.Values if they depend on the inputs.
    Tensor: TypeAlias = Any
    Amounts: TypeAlias = Sequence[Any]
else:  # the annotations that the exporter reads
    Tensor, Amounts = TensorType, Sequence[INT64]


def table() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Registers padops' schemas, which onnxscript needs; returns a function for each pad operator of PyTorch."""
    register_schemas()
    aten = torch.ops.aten
    functions: dict[Callable[..., Any], Callable[..., Any]] = {
        aten.pad.default: _pad,
        aten.constant_pad_nd.default: _constant_pad,
    }
    for dims in (1, 2, 3):
        for name, mode in (("reflection", "reflect"), ("replication", "replicate"), ("symmetric", "symmetric")):
            if (pad := getattr(aten, f"{name}_pad{dims}d", None)) is not None:  # PyTorch 2.13 has no symmetric_pad
                functions[pad.default] = _of_mode(mode, dims)
    return functions


# The exporter reads these signatures with typing.get_type_hints, and knows Optional, not "| None".
def _pad(
    self: Tensor,
    pad: Amounts,
    mode: str = "constant",
    value: Optional[float] = None,  # noqa: UP045
) -> Tensor:
    """``aten::pad(Tensor self, SymInt[] pad, str mode, float? value)``."""
    if mode == "constant":
        return _constant_pad(self, pad, 0.0 if value is None else value)
    if mode != "circular":
        return _extended(self, pad, MODES[mode])
    for begin, end in zip(pad[::2], pad[1::2]):
        if isinstance(begin, int) and isinstance(end, int) and min(begin, end) < 0 < max(begin, end):
            raise ValueError(f"circular pad of {begin} and {end} on one axis: PyTorch's result is undefined")
    return _pad_25(self, pad, "wrap")


def _constant_pad(self: Tensor, pad: Amounts, value: float = 0.0) -> Tensor:
    """``aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value)``."""
    # PyTorch itself converts the number to an element.
    fill = TorchTensor(torch.full((), value, dtype=to_torch_dtype(self.dtype)))
    return _pad_25(self, pad, "constant", ONNX.Constant(value=fill))


def _of_mode(mode: str, dims: int) -> Callable[..., Any]:
    """Returns a new function for a pad of one mode, such as ``reflection_pad1d``: the exporter may modify it."""

    def pad(self: Tensor, padding: Amounts) -> Tensor:
        return _extended(self, padding, MODES[mode])

    pad.__name__ = f"{mode}_pad{dims}d"
    return pad


def _pad_25(data: Any, pad: Amounts, mode: str, *fill: Any) -> Any:
    begins, ends = _both_sides(pad, data)
    return PADOPS.Pad_25(data, _vector([*begins, *ends]), *fill, mode=mode)


def _extended(data: Any, pad: Amounts, mode: str) -> Any:
    return PADOPS.OpenVINOPad_12(data, *map(_vector, _both_sides(pad, data)), pad_mode=mode)


def _both_sides(pad: Amounts, data: Any) -> tuple[list[Any], list[Any]]:
    """Returns begins and ends of all axes; PyTorch lists the last axis first, and may omit leading axes."""
    missing = [0] * (len(data.shape) - len(pad) // 2)
    return [*missing, *pad[-2::-2]], [*missing, *pad[::-2]]


def _vector(amounts: Amounts) -> Any:
    """Returns a list of amounts as a graph value."""
    if all(isinstance(amount, int) for amount in amounts):
        return ONNX.Constant(value=ir.tensor(np.array(amounts, np.int64)))
    parts = [_vector([amount]) if isinstance(amount, int) else ONNX.Reshape(amount, [-1]) for amount in amounts]
    return ONNX.Concat(*parts, axis=0)
