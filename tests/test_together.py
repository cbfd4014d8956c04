"""Beside others: onnx's own tools, and programs in C++."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import oldest_runtime
import onnx
import onnxruntime
from cpp_builds import CHECKS, ROOT, build
from parsed_models import model

import padops

LONG = '({0}[2, 3] x) => ({0}[2, 9] y) <int64[4] p = {{0, 4, 0, 2}}> {{ y = Pad <mode = "reflect"> (x, p) }}'


def test_schemas_leave_the_reference_evaluator_usable() -> None:
    """onnx's evaluator is imported late, and would take padops' Pad_18 for version 18 of Pad."""
    code = (
        "import onnx, padops; padops.register_schemas(); from onnx.reference import ReferenceEvaluator\n"
        f"print(ReferenceEvaluator({str(ROOT / 'models' / 'pad_19.onnx')!r}).output_names)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("['wrapped', 'cropped']\n", "")


def run_cpp(package: Path, folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Builds a program beside the runtime of a wheel, which comes without the links to it, and runs m.onnx with it."""
    runtime = next(package.glob("capi/libonnxruntime.so.*"))
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (folder / name).symlink_to(runtime)
    build(folder, f"-DORT_LIBRARY={folder / 'libonnxruntime.so'}", source=CHECKS, target=program)
    command = [folder / program, padops.get_library_path(), folder / "m.onnx"]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)


def test_cpp(tmp_path: Path) -> None:
    """A reflection longer than the data, which ONNX Runtime alone refuses."""
    padops.convert(onnx.ModelProto.FromString(model(LONG.format("float"), 17)), tmp_path / "m.onnx")
    done = run_cpp(Path(onnxruntime.__file__).parent, tmp_path, "load")
    expected = np.pad(np.arange(1, 7).reshape(2, 3), ((0, 0), (4, 2)), mode="reflect").reshape(-1)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(value) for value in expected]


def test_cpp_with_a_runtime_that_takes_no_provider(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(model(LONG.format("int16")))
    done = run_cpp(oldest_runtime.install() / "onnxruntime", tmp_path, "provider")
    assert (done.returncode, done.stdout) == (3, "")
    assert f"needs onnxruntime 1.24 or newer, this is {oldest_runtime.VERSION}" in done.stderr
