"""padops beside onnxruntime's quantizers: convert before or after, the results are the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

import padops

SHAPE = (1, 2, 4, 6)
Step = Callable[[Path, Path], object]


def network(path: Path) -> Path:
    """A reflection that onnxruntime refuses as too long, and a convolution and a matrix product behind it."""
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> net (float[1, 2, 4, 6] x) => (float[1, 3, 12, 5] y) '
        "<int64[8] pads = {0, 0, 5, 1, 0, 0, 5, 1}> "
        '{ p = Pad <mode = "reflect"> (x, pads) c = Conv <kernel_shape = [3, 3]> (p, w) y = MatMul (c, m) }'
    )
    rng = np.random.default_rng(0)
    for name, shape in (("w", (3, 2, 3, 3)), ("m", (6, 5))):
        values = rng.standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    onnx.save(model, path)
    return path


def data(seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SHAPE).astype(np.float32)


def assert_near(actual: np.ndarray, expected: np.ndarray) -> None:
    """Checks that two outputs correlate as far as 8 bits of random weights allow."""
    assert np.corrcoef(actual.ravel(), expected.ravel())[0, 1] > 0.9


class Calibration(CalibrationDataReader):
    """Four inputs to calibrate with."""

    def __init__(self) -> None:
        self._left = [{"x": data(seed)} for seed in range(4)]

    def get_next(self) -> dict[str, np.ndarray] | None:
        return self._left.pop() if self._left else None


def run(path: Path) -> np.ndarray:
    return padops.InferenceSession(path).run(None, {"x": data()})[0]


def quantized(source: Path, target: Path) -> Path:
    quantize_static(source, target, Calibration(), quant_format=QuantFormat.QDQ)
    return target


def test_static(tmp_path: Path) -> None:
    """Calibration runs the model in onnxruntime, which refuses it; lowered, or converted with its fallback, it runs."""
    source = network(tmp_path / "net.onnx")
    with pytest.raises(Exception, match="Pad reflect"):
        quantized(source, tmp_path / "refused.onnx")
    padops.lower(source, tmp_path / "lowered.onnx")
    padops.convert(source, tmp_path / "converted.onnx")
    lowered = quantized(tmp_path / "lowered.onnx", tmp_path / "a.onnx")
    converted = quantized(tmp_path / "converted.onnx", tmp_path / "b.onnx")
    stock = onnxruntime.InferenceSession(lowered, providers=["CPUExecutionProvider"]).run(None, {"x": data()})[0]
    assert_near(stock, run(source))
    assert native.bits(run(converted)) == native.bits(stock)
    assert "padops" in {node.domain for node in onnx.load(converted).graph.node}
