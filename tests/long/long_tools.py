"""docs/converter.md: onnx2torch, Olive and optimum, which need packages of their own, load converted models.

They run in an environment of their own, which is made if it is missing. onnx2torch imports torchvision, for operators
that these models do not have: the test gives it a stand-in.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnx
import peers
import pytest
from onnx import parser
from tool_rows import ROWS, network, outcome, row

import padops
from padops.conformance import peers as environments

ENVIRONMENT = "tools"
# Of torch, this version is the newest that there is without CUDA where padops is tested.
REQUIRES = ("torch==2.13.0", "onnx==1.23.2", "onnxruntime==1.32.0", "onnx2torch==1.5.15", "olive-ai==0.13.0",
            "optimum==2.1.0",
            "optimum-onnx==0.1.0")  # fmt: skip

OLIVE = """
import shutil
from olive.model import ONNXModelHandler
from olive.passes.olive_pass import create_pass_from_dict
from olive.passes.onnx.{module} import {name}
made = create_pass_from_dict({name}, {options}, disable_search=True).run(ONNXModelHandler("in.onnx"), "made")
shutil.copy(made.model_path, "out.onnx")
"""
OPTIMUM = """
import shutil
from optimum.onnxruntime import ORTQuantizer
from optimum.onnxruntime.configuration import AutoQuantizationConfig
quantizer = ORTQuantizer.from_pretrained(".", file_name="in.onnx")
quantizer.quantize(save_dir=".", quantization_config=AutoQuantizationConfig.avx2(is_static=False, per_channel=False))
shutil.copy("in_quantized.onnx", "out.onnx")
"""
PASSES = {"OnnxPeepholeOptimizer": ("peephole_optimizer", {}),
          "OnnxFloatToFloat16": ("float16_conversion", {"keep_io_types": True}),
          "OnnxDynamicQuantization": ("quantization", {})}  # fmt: skip
PROGRAMS = {(name, "Olive"): OLIVE.format(module=row[0], name=name, options=row[1]) for name, row in PASSES.items()}
PROGRAMS["ORTQuantizer", "optimum"] = OPTIMUM
ONNX2TORCH = """
import sys, types
vision, operators = types.ModuleType("torchvision"), types.ModuleType("ops")
sys.modules["torchvision"], sys.modules["torchvision.ops"] = vision, operators
operators.roi_align = None
import numpy as np, onnx2torch, torch
np.save("y.npy", onnx2torch.convert("in.onnx")(torch.from_numpy(np.load("x.npy"))).numpy())
"""


@pytest.fixture(scope="module")
def python() -> Path:
    """The interpreter of the tools' environment."""
    peers.ensure(ENVIRONMENT, {"requires": REQUIRES})
    return environments.python_of(ENVIRONMENT)


def run(python: Path, program: str, model: onnx.ModelProto, folder: Path) -> subprocess.CompletedProcess[str]:
    onnx.save(model, folder / "in.onnx")
    np.save(folder / "x.npy", ROWS)
    return subprocess.run([python, "-c", program], cwd=folder, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("lowers", [False, True], ids=["converted", "lowered"])
@pytest.mark.parametrize("words", PROGRAMS, ids=" of ".join)
def test_a_tool(words: tuple[str, ...], lowers: bool, python: Path, tmp_path: Path) -> None:
    made = padops.lower(network()) if lowers else padops.convert(network())
    ran = run(python, PROGRAMS[words], made.proto(), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert outcome(onnx.load(tmp_path / "out.onnx")) == (("neither", "yes") if lowers else row(*words))


def test_onnx2torch_knows_no_other_domain(python: Path, tmp_path: Path) -> None:
    ran = run(python, ONNX2TORCH, padops.convert(network()).proto(), tmp_path)
    assert ran.returncode == 1 and "Converter is not implemented" in ran.stderr and "'padops'" in ran.stderr, ran.stderr


@pytest.mark.parametrize(
    ("mode", "shape"), [("reflect", "2, 6"), ("reflect", "n, m"), ("edge", "2, 6"), ("edge", "n, m"), ("wrap", "2, 6")]
)
def test_onnx2torch_takes_a_lowered_model(mode: str, shape: str, python: Path, tmp_path: Path) -> None:
    """onnx2torch takes lowered models, up to opset 18 of open sizes: no Reshape has allowzero where nothing crops."""
    source = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {19 if mode == "wrap" else 17}]> '
        f"net (float[{shape}] x) => (float[a, b] y) "
        f'<int64[4] p = {{0, 7, 0, 1}}> {{ b = Pad <mode = "{mode}"> (x, p)  y = Relu (b) }}'
    )
    ran = run(python, ONNX2TORCH, padops.lower(source, without_pad=True).proto(), tmp_path)
    assert ran.returncode == 0, ran.stderr
    expected = padops.run_reference("Pad_19", {"mode": mode}, [ROWS, np.array([0, 7, 0, 1])])
    assert np.load(tmp_path / "y.npy").tobytes() == expected.tobytes()
