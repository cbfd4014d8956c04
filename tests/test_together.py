"""Beside others: onnx's own tools, and programs in C++."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import oldest_runtime
import onnx
import onnxruntime
import pytest
from cpp_builds import CHECKS, build
from small_models import INT16, model, pad, tensor

import padops

ROOT = Path(__file__).resolve().parent.parent


# --- onnx's own tools ------------------------------------------------------------------------------------------------


def test_schemas_leave_the_reference_evaluator_usable() -> None:
    """onnx's evaluator is imported late, and would take padops' Pad_18 for version 18 of Pad."""
    code = (
        "import onnx, padops; padops.register_schemas(); from onnx.reference import ReferenceEvaluator\n"
        f"print(ReferenceEvaluator({str(ROOT / 'models' / 'pad_19.onnx')!r}).output_names)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("['wrapped', 'cropped']\n", "")


# --- C++ -------------------------------------------------------------------------------------------------------------

PACKAGE = Path(onnxruntime.__file__).parent


def build_beside(package: Path, folder: Path, *programs: str) -> None:
    """Builds the examples beside the runtime of a wheel, which comes without the links to it."""
    runtime = next(package.glob("capi/libonnxruntime.so.*"))
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (folder / name).symlink_to(runtime)
    for program in programs:
        build(folder, f"-DORT_LIBRARY={folder / 'libonnxruntime.so'}", source=CHECKS, target=program)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the examples."""
    folder = tmp_path_factory.mktemp("cpp")
    build_beside(PACKAGE, folder, "load", "provider")
    return folder


def run_cpp(program: Path, library: str, source: onnx.ModelProto) -> subprocess.CompletedProcess:
    """Runs ``load`` with the model converted, ``provider`` with it as it is."""
    saved = program.with_name("model.onnx")
    if program.name == "load":
        padops.convert(source, saved)
    else:
        onnx.save(source, saved)
    return subprocess.run([program, library, saved], check=False, capture_output=True, text=True, timeout=600)


def test_cpp(built: Path) -> None:
    """A reflection longer than the data, which ONNX Runtime alone refuses."""
    source = model([pad(mode="reflect")], tensors=[tensor("pads", [0, 4, 0, 2])])
    done = run_cpp(built / "load", padops.get_library_path(), source)
    expected = np.pad(np.arange(1, 7).reshape(2, 3), ((0, 0), (4, 2)), mode="reflect").reshape(-1)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(value) for value in expected]


def reflected() -> onnx.ModelProto:
    """int16, which ONNX Runtime alone refuses, and a reflection longer than the data."""
    values = {"inputs": [("x", INT16, [2, 3])], "outputs": [("y", INT16, [2, 9])]}
    return model([pad(mode="reflect", name="p")], 18, tensors=[tensor("pads", [0, 4, 0, 2])], **values)


def test_cpp_with_a_runtime_that_takes_no_provider(tmp_path: Path) -> None:
    build_beside(oldest_runtime.install() / "onnxruntime", tmp_path, "provider")
    done = run_cpp(tmp_path / "provider", padops.get_library_path(), reflected())
    assert (done.returncode, done.stdout) == (3, "")
    assert f"needs onnxruntime 1.24 or newer, this is {oldest_runtime.VERSION}" in done.stderr
