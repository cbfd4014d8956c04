"""Small IRs, made with OpenVINO, saved, and run by OpenVINO and in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from auto_pad_models import run
from native import bits
from openvino import opset12, opset13

import padops
from padops.convert import PadopsError

CORE = openvino.Core()
PRECISION = {"INFERENCE_PRECISION_HINT": "f32"}
# What OpenVINO and ONNX Runtime may differ by in a network of floats, in parts of the largest element of an output.
# The largest difference that these tests meet is 2e-6.
TOLERANCE = 1e-5
SHAPE = (2, 3, 4)
IMAGE = (1, 4, 9, 8)


def parameter(shape, type=np.float32, name: str = "x") -> openvino.Node:
    return opset13.parameter(openvino.PartialShape(list(shape)), type, name=name)


def constant(value, type=None) -> openvino.Node:
    return opset13.constant(np.asarray(value, type))


def save(path: Path, results: list, parameters: list) -> Path:
    openvino.save_model(openvino.Model(results, parameters, "model"), path, compress_to_fp16=False)
    return path


def outputs(path: Path, proto: onnx.ModelProto, feeds: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """What the converted IR gives, and beside it what OpenVINO gives."""
    wanted = CORE.compile_model(path, "CPU", PRECISION)(list(feeds)).values()
    return [*zip(run(proto, *feeds), wanted, strict=True)]


def same_bits(path: Path, *feeds: np.ndarray) -> onnx.ModelProto:
    """The converted IR, whose outputs have OpenVINO's bits."""
    proto = padops.convert(path, fallback=False).proto()
    assert all(bits(one) == bits(other) for one, other in outputs(path, proto, feeds))
    return proto


def alike(path: Path, *feeds: np.ndarray) -> None:
    """The converted IR gives what OpenVINO gives: floats but for rounding, others to the bit."""
    for one, other in outputs(path, padops.convert(path).proto(), feeds):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind == "f":
            assert np.abs(one - other).max(initial=0) <= TOLERANCE * np.abs(other).max(initial=1)
        else:
            assert bits(one) == bits(other)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


Build = Callable[[openvino.Node], openvino.Node]


def f(*shape: int) -> openvino.Node:
    """A constant of random floats, the same at every call."""
    return opset13.constant(rng().standard_normal(shape).astype(np.float32))


def i(*values: int) -> openvino.Node:
    return constant(values, np.int64)


def refusal(path: Path) -> str:
    with pytest.raises(PadopsError) as error:
        padops.convert(path, path.with_suffix(".onnx"))
    assert not list(path.parent.glob("*.onnx")) and not list(path.parent.glob(".*"))
    return str(error.value)


def layer(path: Path, build: Build, shape=SHAPE, type=np.float32) -> Path:
    x = parameter(shape, type)
    return save(path, [build(x)], [x])


def pad_model(path: Path, mode: str, shape, begin, end, fill=None, opset=opset12, type=np.float32) -> Path:
    given = {} if fill is None else {"arg_pad_value": constant(fill, type)}
    return layer(path, lambda x: opset.pad(x, begin, end, mode, **given), shape, type)
