"""``torch.nn.functional.pad``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

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
    """A Pad of a tensor by (begin, end) of every axis, as a call without arguments, which alone the benchmark times.

    PyTorch takes the amounts of the last axes, innermost first. The modes that extend want two axes before those.

    Args:
        tensor: A tensor of rank r.
        pairs: r pairs.
        mode: NumPy's word.
        fill: A number; read in mode constant alone.
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
KNOWN = (
    Divergence(
        "torch-reflect-limit", "torch", "error", rule="P4",
        versions=RECORDED, modes=("reflect",), tags={"reflect-beyond-size"},
        expected="output", says="Padding size should be less than the corresponding input dimension",
        reason="an amount of a reflection may be n - 1 at most",
    ),
    Divergence(
        "torch-wrap-limit", "torch", "error", rule="P4",
        versions=RECORDED, modes=("wrap",), tags={"beyond-size"}, expected="output",
        says="wrapping around more than once", reason="an amount of a wrap may be n at most",
    ),
    Divergence(
        "torch-full", "torch", ("differ", "error"), rule="P3",
        versions=RECORDED, families=("onnx",), modes=("edge", "reflect"),
        tags={"mixed"}, without={"full-is-crop"}, expected="output",
        reason="negative amounts crop after the extension, not before it",
        link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "torch-circular-mixed", "torch", ("differ", "error"), rule="P3",
        versions=RECORDED, modes=("wrap",), tags={"mixed"},
        reason="circular with amounts of both signs returns memory that nothing has written, or fails on its own views",
    ),
    Divergence(
        "torch-empty", "torch", "error", rule="P5",
        versions=RECORDED, modes=_EXTENDS, tags={"empty-data"}, expected="output",
        says="non-zero dimensions",
        reason="data without elements are refused though the output has none either",
    ),
    Divergence(
        "torch-to-nothing", "torch", "error", rule="P5",
        versions=RECORDED, modes=_EXTENDS, tags={"negative"}, expected="output",
        says="is too small", reason="an output without elements that a crop makes is refused",
    ),
    Divergence(
        "torch-overcropped", "torch", "error", rule="P3", versions=RECORDED, modes=("constant",), tags={"overcropped"},
        expected="output", says="narrow(): length must be non-negative",
        reason="a crop longer than its axis is refused",
    ),
    Divergence(
        "torch-negative-output", "torch", "error", rule="P1", versions=RECORDED, modes=_EXTENDS,
        tags={"negative-output"},
        expected="output", says="negative dimension", reason="a crop to less than nothing is refused",
    ),
    Divergence(
        "torch-huge-empty", "torch", "differ", rule="P10",
        versions=RECORDED, tags={"huge", "empty-output"}, expected="error",
        rules=("P10",), reason="a dim beyond any memory is made where another one is 0",
    ),
    Divergence(
        "torch-cropped-away", "torch", "differ", rule="P5", versions=RECORDED, families=("onnx",), modes=_EXTENDS,
        tags={"cropped-away"}, expected="error", rules=("P5",),
        reason="where a crop leaves nothing, the data before the crop are extended",
    ),
    Divergence(
        "torch-int64-fill", "torch", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), dtypes=("int64",), expected="output",
        tags={"fill", "grows"}, reason="the fill is a double, which has 53 bits of an int64",
    ),
    Divergence(
        "torch-nan-fill", "torch", "differ", rule="P7",
        versions=RECORDED, modes=("constant",), dtypes=_FLOATS, expected="output",
        tags={"fill", "grows"}, some={"fill-nan"}, reason="the fill is a double, on whose way a NaN loses its bits",
    ),
)  # fmt: skip
