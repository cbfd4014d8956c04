"""padops beside onnxruntime's quantizers: convert before or after, the results are the same bits."""

from __future__ import annotations

from pathlib import Path

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

import padops

# A reflection that onnxruntime refuses as too long, and a convolution and a matrix product behind it.
NETWORK = (
    '<ir_version: 8, opset_import: ["" : 17]> net (float[1, 2, 4, 6] x) => (float[1, 3, 12, 5] y) '
    "<int64[8] pads = {0, 0, 5, 1, 0, 0, 5, 1}> "
    '{ p = Pad <mode = "reflect"> (x, pads) c = Conv <kernel_shape = [3, 3]> (p, w) y = MatMul (c, m) }'
)


def data(seed: int = 2, shape: tuple[int, ...] = (1, 2, 4, 6)) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Calibration(CalibrationDataReader):
    """Four inputs to calibrate with."""

    def __init__(self) -> None:
        self._left = [{"x": data(seed)} for seed in range(4)]

    def get_next(self) -> dict[str, np.ndarray] | None:
        return self._left.pop() if self._left else None


def quantized(source: Path, target: Path) -> Path:
    quantize_static(source, target, Calibration(), quant_format=QuantFormat.QDQ)
    return target


def test_static(tmp_path: Path) -> None:
    """Calibration runs the model in onnxruntime, which refuses it; lowered, or converted with its fallback, it runs."""
    model, source = parser.parse_model(NETWORK), tmp_path / "net.onnx"
    for name, shape in (("w", (3, 2, 3, 3)), ("m", (6, 5))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(data(0, shape), name))
    onnx.save(model, source)
    with pytest.raises(Exception, match="Pad reflect"):
        quantized(source, tmp_path / "refused.onnx")
    padops.lower(source, tmp_path / "lowered.onnx")
    padops.convert(source, tmp_path / "converted.onnx")
    lowered = quantized(tmp_path / "lowered.onnx", tmp_path / "a.onnx")
    converted = quantized(tmp_path / "converted.onnx", tmp_path / "b.onnx")
    feeds = {"x": data()}
    stock = onnxruntime.InferenceSession(lowered, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    exact, again = (padops.InferenceSession(path).run(None, feeds)[0] for path in (source, converted))
    assert np.corrcoef(stock.ravel(), exact.ravel())[0, 1] > 0.9  # as far as 8 bits of random weights allow
    assert native.bits(again) == native.bits(stock)
    assert "padops" in {node.domain for node in onnx.load(converted).graph.node}
