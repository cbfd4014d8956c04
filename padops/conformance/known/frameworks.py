"""The pads of torch, JAX and TensorFlow."""

from __future__ import annotations

from padops.conformance.divergences import Divergence
from padops.conformance.known.versions import JAX, TENSORFLOW, TORCH

_EXTENDS = ("edge", "reflect", "symmetric", "wrap")
_FLOATS = ("float", "double", "float16")

_OF_TORCH = (
    Divergence(
        "torch-reflect-limit", "torch", "error", rule="P4",
        versions=TORCH, modes=("reflect",), tags={"reflect-beyond-size"},
        expected="output", says="Padding size should be less than the corresponding input dimension",
        reason="an amount of a reflection may be n - 1 at most",
    ),
    Divergence(
        "torch-wrap-limit", "torch", "error", rule="P4",
        versions=TORCH, modes=("wrap",), tags={"beyond-size"}, expected="output",
        says="wrapping around more than once", reason="an amount of a wrap may be n at most",
    ),
    Divergence(
        "torch-full", "torch", ("differ", "error"), rule="P3",
        versions=TORCH, families=("onnx",), modes=("edge", "reflect"),
        tags={"mixed"}, without={"full-is-crop"}, expected="output",
        reason="negative amounts crop after the extension, not before it",
        link="https://github.com/onnx/onnx/issues/4294",
    ),
    Divergence(
        "torch-circular-mixed", "torch", ("differ", "error"), rule="P3",
        versions=TORCH, modes=("wrap",), tags={"mixed"},
        reason="circular with amounts of both signs returns memory that nothing has written, or fails on its own views",
    ),
    Divergence(
        "torch-empty", "torch", "error", rule="P5",
        versions=TORCH, modes=_EXTENDS, tags={"empty-data"}, expected="output",
        says="non-zero dimensions",
        reason="data without elements are refused though the output has none either",
    ),
    Divergence(
        "torch-to-nothing", "torch", "error", rule="P5",
        versions=TORCH, modes=_EXTENDS, tags={"negative"}, expected="output",
        says="is too small", reason="an output without elements that a crop makes is refused",
    ),
    Divergence(
        "torch-overcropped", "torch", "error", rule="P3", versions=TORCH, modes=("constant",), tags={"overcropped"},
        expected="output", says="narrow(): length must be non-negative",
        reason="a crop longer than its axis is refused",
    ),
    Divergence(
        "torch-negative-output", "torch", "error", rule="P1", versions=TORCH, modes=_EXTENDS, tags={"negative-output"},
        expected="output", says="negative dimension", reason="a crop to less than nothing is refused",
    ),
    Divergence(
        "torch-huge-empty", "torch", "differ", rule="P10",
        versions=TORCH, tags={"huge", "empty-output"}, expected="error",
        rules=("P10",), reason="a dim beyond any memory is made where another one is 0",
    ),
    Divergence(
        "torch-cropped-away", "torch", "differ", rule="P5", versions=TORCH, families=("onnx",), modes=_EXTENDS,
        tags={"cropped-away"}, expected="error", rules=("P5",),
        reason="where a crop leaves nothing, the data before the crop are extended",
    ),
    Divergence(
        "torch-int64-fill", "torch", "differ", rule="P7",
        versions=TORCH, modes=("constant",), dtypes=("int64",), expected="output",
        tags={"fill", "grows"}, reason="the fill is a double, which has 53 bits of an int64",
    ),
    Divergence(
        "torch-nan-fill", "torch", "differ", rule="P7",
        versions=TORCH, modes=("constant",), dtypes=_FLOATS, expected="output",
        tags={"fill", "grows"}, some={"fill-nan"}, reason="the fill is a double, on whose way a NaN loses its bits",
    ),
)  # fmt: skip

_OF_TENSORFLOW = (
    Divergence(
        "tensorflow-reflect-limit", "tensorflow", "error", rule="P4", versions=TENSORFLOW, modes=("reflect",),
        some={"reflect-beyond-size", "empty-data"}, expected="output", says="paddings must be less than the dimension",
        reason="an amount of a reflection may be n - 1 at most, and none at all where n = 0",
    ),
    Divergence(
        "tensorflow-symmetric-limit", "tensorflow", "error", rule="P4",
        versions=TENSORFLOW, modes=("symmetric",), tags={"beyond-size"},
        expected="output", says="paddings must be no greater than the dimension",
        reason="an amount of symmetric may be n at most",
    ),
    Divergence(
        "tensorflow-huge", "tensorflow", ("differ", "crash"), rule="P10",
        versions=TENSORFLOW, tags={"huge"}, expected="error",
        rules=("P10",), reason="amounts beyond 32 bits wrap around",
    ),
)  # fmt: skip

_OF_JAX = (
    Divergence(
        "jax-negative-output", "jax", "error", rule="P1", versions=JAX, tags={"negative-output"}, expected="output",
        says="Dimension size after padding is not at least 0", reason="a crop to less than nothing is refused",
    ),
    Divergence(
        "jax-empty", "jax", "error", rule="P5",
        versions=JAX, modes=_EXTENDS, tags={"empty-axis-padded", "empty-output"},
        expected="output", says="padding to empty axis",
        reason="an axis without elements is refused though the output has none either",
    ),
    Divergence(
        "jax-bfloat16-nan", "jax", "differ", rule="P7", versions=JAX, dtypes=("bfloat16",), some={"nan", "fill-nan"},
        expected="output", reason="the CPU backend computes bfloat16 by way of float, which changes the bits of NaNs",
    ),
)  # fmt: skip

KNOWN = (*_OF_TORCH, *_OF_TENSORFLOW, *_OF_JAX)
