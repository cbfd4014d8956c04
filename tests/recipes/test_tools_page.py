"""docs/converter.md: what tools that come with onnx and onnxruntime, and onnxslim, make of a converted model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import native
import numpy as np
import onnx
import onnxruntime
import onnxslim
import pytest
from cpp_builds import well
from onnx import compose, inliner, parser, version_converter
from onnxruntime.quantization import QuantFormat, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from onnxruntime.transformers.float16 import convert_float_to_float16
from tool_rows import CPU, EXPECTED, ROWS, name_of, network, outcome, row, rows, run

import padops
from padops.convert.matchers.onnx_pad import operator_of

Tool = Callable[[onnx.ModelProto, Path], onnx.ModelProto]


def quantized(source: Path, target: Path, *arrays: np.ndarray, of: list[str] | None = None) -> Path:
    reader = SimpleNamespace(get_next=partial(next, iter([{"x": array} for array in arrays]), None))
    quantize_static(source, target, reader, quant_format=QuantFormat.QDQ, op_types_to_quantize=of)
    return target


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


to_float16 = partial(convert_float_to_float16, keep_io_types=True)
TOOLS: dict[str, tuple[tuple[str, ...], Tool]] = {
    "onnxslim": (("onnxslim",), lambda model, _: onnxslim.slim(model)),
    "float16": (("float16", "onnxruntime.transformers"), lambda model, _: to_float16(model)),
    "dynamic": (("quantize_dynamic",), through(quantize_dynamic)),
    "static": (("quantize_static",), through(lambda a, b: quantized(a, b, ROWS, of=["Conv"]))),
    "prefix": (("add_prefix",), lambda model, _: compose.add_prefix(model, "a/")),
    "inliner": (("inliner",), lambda model, _: inliner.inline_local_functions(model)),
    "quant_pre_process": (("quant_pre_process",), through(quant_pre_process)),
    "saved": (("a saved optimized model of onnxruntime",), saved),
    "saved with the library": (("of a session with",), partial(saved, library=True)),
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
    library = ("--custom_op_library", padops.get_library_path(), "--optimization_style", "Fixed")
    well(sys.executable, "-m", "onnxruntime.tools.convert_onnx_models_to_ort", tmp_path, *library)
    path = str(tmp_path / "m.ort")
    assert run(padops.InferenceSession(path)) == EXPECTED
    with pytest.raises(Exception, match=r"padops:Pad_13\(1\) is not a registered function/op"):
        onnxruntime.InferenceSession(path, providers=CPU)
    assert row("convert_onnx_models_to_ort") == ("operators", "no")


def test_each_row_has_its_test() -> None:
    elsewhere = ["onnxsim", "onnxoptimizer", "onnxconverter-common", "ORTQuantizer optimum", "OnnxFloatToFloat16 Olive"]
    elsewhere += ["OnnxDynamicQuantization OnnxPeepholeOptimizer Olive", "convert_onnx_models_to_ort"]  # the last: here
    tested = [*(words for words, _ in TOOLS.values()), *(one.split() for one in elsewhere)]
    assert {name_of(*words) for words in tested} == set(rows())


# --- compose's prefix ------------------------------------------------------------------------------------------------


def operators(model: onnx.ModelProto) -> list[str]:
    return [
        f"{node.domain}::{node.op_type}" for node in model.graph.node if node.op_type.rpartition("/")[2] in padops.OPS
    ]


def test_a_prefix_renames_the_operators_and_convert_mends_them() -> None:
    """A prefix renames padops' operators, so their functions silently run instead; ``convert`` restores the names."""
    renamed = compose.add_prefix(padops.convert(network()).proto(), "a/")
    assert operators(renamed) == ["padops::a/Pad_13"] and outcome(renamed) == ("functions, renamed", "yes")
    (found,) = padops.inspect(renamed).pads
    assert (found.mode, found.verdict) == ("reflect", "runs")
    assert "a prefix has renamed Pad_13, so padops' library does not run it; padops convert fixes that" in found.why
    mended = padops.convert(renamed, verify=True, run=True)
    assert mended.verification is not None and mended.verification.passed
    assert [record.notes for record in mended.records] == [("Pad_13 again, which a prefix had renamed",)]
    model = mended.proto()
    assert (operators(model), [function.name for function in model.functions]) == (["padops::Pad_13"], ["Pad_13"])
    assert outcome(model) == ("operators and functions", "yes")


def test_a_renamed_operator_without_its_function() -> None:
    renamed = padops.convert(network(), fallback=False).proto()
    for node in renamed.graph.node:
        node.op_type = f"a/{node.op_type}" if node.domain == "padops" else node.op_type
    inspection = padops.inspect(renamed)
    why = "a prefix has renamed Pad_13, and neither padops' library nor the model has that name"
    assert [(found.verdict, found.why) for found in inspection.pads] == [("refuses", why)]
    assert inspection.roads == ("memory", "convert", "lower")
    assert operators(padops.convert(renamed).proto()) == ["padops::Pad_13"]
    assert run(padops.InferenceSession(renamed.SerializeToString())) == EXPECTED


def test_a_prefix_is_told_from_the_name() -> None:
    """SamePad_1 and OpenVINOPad_1 end as Pad_1 does."""
    for name in padops.OPS:
        assert [operator_of(text) for text in (name, f"a/{name}", f"b_a_{name}")] == [name] * 3
        assert [operator_of(text) for text in (f"{name}0", "Pad", "a/Pad_12")] == [None] * 3


# --- onnxruntime's quantizers ----------------------------------------------------------------------------------------


def data(seed: int = 2, shape: tuple[int, ...] = (1, 2, 4, 6)) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_convert_before_or_after_static_quantization(tmp_path: Path) -> None:
    """Calibration runs the model in onnxruntime, which refuses it; lowered, or converted with its fallback, it runs."""
    source = tmp_path / "net.onnx"
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> net (float[1, 2, 4, 6] x) => (float[1, 3, 12, 5] y) '
        "<int64[8] pads = {0, 0, 5, 1, 0, 0, 5, 1}> "
        '{ p = Pad <mode = "reflect"> (x, pads) c = Conv <kernel_shape = [3, 3]> (p, w) y = MatMul (c, m) }'
    )
    for name, shape in (("w", (3, 2, 3, 3)), ("m", (6, 5))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(data(0, shape), name))
    onnx.save(model, source)
    inputs = [data(seed) for seed in range(4)]
    with pytest.raises(Exception, match="Pad reflect"):
        quantized(source, tmp_path / "refused.onnx", *inputs)
    padops.lower(source, tmp_path / "lowered.onnx")
    padops.convert(source, tmp_path / "converted.onnx")
    lowered = quantized(tmp_path / "lowered.onnx", tmp_path / "a.onnx", *inputs)
    converted = quantized(tmp_path / "converted.onnx", tmp_path / "b.onnx", *inputs)
    feeds = {"x": data()}
    stock = onnxruntime.InferenceSession(lowered, providers=CPU).run(None, feeds)[0]
    exact, again = (padops.InferenceSession(path).run(None, feeds)[0] for path in (source, converted))
    assert np.corrcoef(stock.ravel(), exact.ravel())[0, 1] > 0.9  # as far as 8 bits of random weights allow
    assert native.bits(again) == native.bits(stock)
    assert "padops" in {node.domain for node in onnx.load(converted).graph.node}
