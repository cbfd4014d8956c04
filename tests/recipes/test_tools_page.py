"""docs/converter.md: what tools that come with onnx and onnxruntime, and onnxslim, make of a converted model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import onnxslim
import pytest
from onnx import compose, inliner, version_converter
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from onnxruntime.transformers.float16 import convert_float_to_float16
from tool_rows import CPU, EXPECTED, ROWS, name_of, network, outcome, row, rows, run

import padops

Tool = Callable[[onnx.ModelProto, Path], onnx.ModelProto]


class Calibration(CalibrationDataReader):
    """One input to calibrate with."""

    def __init__(self) -> None:
        self._left = [{"x": ROWS}]

    def get_next(self) -> dict[str, np.ndarray] | None:
        return self._left.pop() if self._left else None


def through(tool: Callable[[Path, Path], object]) -> Tool:
    """A tool that reads a file and writes another."""

    def applied(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
        onnx.save(model, folder / "in.onnx")
        tool(folder / "in.onnx", folder / "out.onnx")
        return onnx.load(folder / "out.onnx")

    return applied


def saved(model: onnx.ModelProto, folder: Path, library: bool = False) -> onnx.ModelProto:
    """The optimized model that a session writes."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    if library:
        padops.register(options)
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=CPU)
    return onnx.load(folder / "optimized.onnx")


TOOLS: dict[str, tuple[tuple[str, ...], Tool]] = {
    "onnxslim": (("onnxslim",), lambda model, _: onnxslim.slim(model)),
    "float16": (
        ("float16", "onnxruntime.transformers"), lambda model, _: convert_float_to_float16(model, keep_io_types=True)
    ),
    "dynamic": (("quantize_dynamic",), through(quantize_dynamic)),
    "static": (
        ("quantize_static",),
        through(lambda a, b: quantize_static(a, b, Calibration(), quant_format=QuantFormat.QDQ,
                                             op_types_to_quantize=["Conv"]))
    ),
    "prefix": (("add_prefix",), lambda model, _: compose.add_prefix(model, "a/")),
    "inliner": (("inliner",), lambda model, _: inliner.inline_local_functions(model)),
    "quant_pre_process": (("quant_pre_process",), through(quant_pre_process)),
    "saved": (("a saved optimized model of onnxruntime",), saved),
    "saved with the library": (("of a session with",), lambda model, folder: saved(model, folder, library=True)),
    "version_converter": (("version_converter",), lambda model, _: version_converter.convert_version(model, 21)),
}  # fmt: skip


@pytest.mark.parametrize("name", TOOLS)
def test_a_converted_model(name: str, tmp_path: Path) -> None:
    words, tool = TOOLS[name]
    made = tool(padops.convert(network()).proto(), tmp_path)
    assert outcome(made) == row(*words)
    if row(*words)[0] in ("operators", "functions, renamed"):
        assert outcome(padops.convert(made).proto()) == ("operators and functions", "yes")


def test_files_of_ort(tmp_path: Path) -> None:
    """Files in the ORT format need the library to run, and to be made."""
    onnx.save(padops.convert(network()).proto(), tmp_path / "m.onnx")
    command = [sys.executable, "-m", "onnxruntime.tools.convert_onnx_models_to_ort", str(tmp_path)]
    library = ["--custom_op_library", padops.get_library_path(), "--optimization_style", "Fixed"]
    ran = subprocess.run([*command, *library], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    path = str(tmp_path / "m.ort")
    assert run(padops.InferenceSession(path)) == EXPECTED
    with pytest.raises(Exception, match=r"padops:Pad_13\(1\) is not a registered function/op"):
        onnxruntime.InferenceSession(path, providers=CPU)
    assert row("convert_onnx_models_to_ort") == ("operators", "no")


def test_each_row_has_its_test() -> None:
    elsewhere = [
        ("onnxsim",),
        ("onnxoptimizer",),
        ("onnxconverter-common",),
        ("convert_onnx_models_to_ort",),
        ("ORTQuantizer", "optimum"),
        ("OnnxFloatToFloat16", "Olive"),
        ("OnnxDynamicQuantization", "OnnxPeepholeOptimizer", "Olive"),
    ]  # and here
    tested = [words for words, _ in TOOLS.values()] + elsewhere
    assert {name_of(*words) for words in tested} == set(rows())
