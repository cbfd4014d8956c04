"""``torch.nn.functional.pad``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch

from padops.conformance.divergences import Divergence
from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("torch",)
REFUSALS = (RuntimeError,)

TYPES = ("float", "double", "float16", "bool", "int8", "int16", "int32", "int64", "uint8")
MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}


def prepare(
    tensor: torch.Tensor, pairs: Sequence[tuple[int, int]], mode: str, fill: float = 0
) -> Callable[[], torch.Tensor]:
    """A Pad by (begin, end) of every axis, as a call without arguments, which alone the benchmark times.

    The mode is NumPy's word; only mode constant reads the fill. PyTorch takes the amounts of the last axes, innermost
    first. The modes that extend want two axes before those.
    """
    flat = [amount for pair in reversed(pairs) for amount in pair]
    if mode == "constant":
        return lambda: torch.nn.functional.pad(tensor, flat, value=fill)
    padded_axes = max((i + 1 for i, pair in enumerate(reversed(pairs)) if any(pair)), default=0)
    if not padded_axes:
        return lambda: tensor
    before = tensor.shape[: tensor.ndim - padded_axes]
    batch = tensor.reshape(1, math.prod(before), *tensor.shape[tensor.ndim - padded_axes :])

    def call() -> torch.Tensor:
        padded = torch.nn.functional.pad(batch, flat[: 2 * padded_axes], mode=MODES[mode])
        return padded.reshape(*before, *padded.shape[2:])

    return call


def pad(data: np.ndarray, pairs: Sequence[tuple[int, int]], mode: str, fill: np.ndarray | None) -> np.ndarray:
    """The same of an array."""
    tensor = torch.from_numpy(np.array(data, order="C"))
    output: np.ndarray = prepare(tensor, pairs, mode, 0 if fill is None else fill.item())().numpy()
    return output


def arguments(request: Request) -> tuple[np.ndarray, list[tuple[int, int]], str, np.ndarray | None]:
    """Those of ``pad``.

    Raises:
        Unsupported: PyTorch has no such mode, type or amounts.
        Skipped: The operator does not take the amounts, or the fill has not one element.
    """
    request.amounts()  # skips what is wrong
    if request.dtype.name not in TYPES:
        raise Unsupported(f"torch.nn.functional.pad has no {request.dtype.name}")
    if request.mode not in MODES:
        raise Unsupported(f"torch.nn.functional.pad has no mode {request.mode}")
    pairs = request.pairs("torch.nn.functional.pad")
    if max((abs(amount) for pair in pairs for amount in pair), default=0) >= 1 << 62:
        raise Unsupported("amounts beyond 62 bits")
    untouched = next((i for i, pair in enumerate(pairs) if any(pair)), len(pairs))
    if request.mode != "constant" and len(pairs) - untouched > 3:
        raise Unsupported("torch.nn.functional.pad extends up to three axes")
    return request.data, pairs, request.mode, request.value


def run_case(request: Request) -> np.ndarray:
    """The output of ``pad``.

    Raises:
        Unsupported: As of ``arguments``; or there is no kernel for the type.
        Skipped: As of ``arguments``.
        RuntimeError: PyTorch refuses the amounts.
    """
    given = arguments(request)
    try:
        return pad(*given)
    except (NotImplementedError, RuntimeError) as error:
        if request.mode != "constant" and "not implemented for" in str(error):
            raise Unsupported(str(error)) from error
        raise


RECORDED = ">=2.13.0,<=2.13.0"
_EXTENDS = ("edge", "reflect", "symmetric", "wrap")
_FLOATS = ("float", "double", "float16")
_row = partial(Divergence, peer="torch", versions=RECORDED)
KNOWN = (
    _row("torch-reflect-limit", "error", "P4", "an amount of a reflection may be n - 1 at most", modes=("reflect",),
         expected="output", tags={"reflect-beyond-size"},
         says="Padding size should be less than the corresponding input dimension"),
    _row("torch-wrap-limit", "error", "P4", "an amount of a wrap may be n at most", modes=("wrap",), expected="output",
         tags={"beyond-size"}, says="wrapping around more than once"),
    _row("torch-full", ("differ", "error"), "P3", "negative amounts crop after the extension, not before it",
         families=("onnx",), modes=("edge", "reflect"), expected="output", tags={"mixed"}, without={"full-is-crop"},
         link="https://github.com/onnx/onnx/issues/4294"),
    _row("torch-circular-mixed", ("differ", "error"), "P3",
         "circular with amounts of both signs returns memory that nothing has written, or fails on its own views",
         modes=("wrap",), tags={"mixed"}),
    _row("torch-empty", "error", "P5", "data without elements are refused though the output has none either",
         modes=_EXTENDS, expected="output", tags={"empty-data"}, says="non-zero dimensions"),
    _row("torch-to-nothing", "error", "P5", "an output without elements that a crop makes is refused", modes=_EXTENDS,
         expected="output", tags={"negative"}, says="is too small"),
    _row("torch-overcropped", "error", "P3", "a crop longer than its axis is refused", modes=("constant",),
         expected="output", tags={"overcropped"}, says="narrow(): length must be non-negative"),
    _row("torch-negative-output", "error", "P1", "a crop to less than nothing is refused", modes=_EXTENDS,
         expected="output", tags={"negative-output"}, says="negative dimension"),
    _row("torch-huge-empty", "differ", "P10", "a dim beyond any memory is made where another one is 0",
         expected="error", rules=("P10",), tags={"huge", "empty-output"}),
    _row("torch-cropped-away", "differ", "P5", "where a crop leaves nothing, the data before the crop are extended",
         families=("onnx",), modes=_EXTENDS, expected="error", rules=("P5",), tags={"cropped-away"}),
    _row("torch-int64-fill", "differ", "P7", "the fill is a double, which has 53 bits of an int64", modes=("constant",),
         dtypes=("int64",), expected="output", tags={"fill", "grows"}),
    _row("torch-nan-fill", "differ", "P7", "the fill is a double, on whose way a NaN loses its bits",
         modes=("constant",), dtypes=_FLOATS, expected="output", tags={"fill", "grows"}, some={"fill-nan"}),
)  # fmt: skip
