"""Beside others: onnxruntime-extensions' library in one session with padops', onnx's own tools, and programs in C++."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import oldest_runtime
import onnx
import onnxruntime
import onnxruntime_extensions
import pytest
from cpp_builds import CHECKS, build
from small_models import FLOAT, INT16, model, pad, tensor

import padops

ROOT = Path(__file__).resolve().parent.parent
EXTENSIONS = onnxruntime_extensions.get_library_path()
TEXTS = {
    "Pad THESE words": ["pad", "these", "words", *["<pad>"] * 5],
    "": ["<pad>"] * 8,
    "Zoë  eins zwei drei vier fünf sechs sieben acht": "zoë eins zwei drei vier fünf sechs sieben".split(),
}

# --- libraries in one session ----------------------------------------------------------------------------------------

Register = Callable[[onnxruntime.SessionOptions], None]
LIBRARIES: dict[str, Register] = {
    "padops": padops.register,
    "extensions": lambda options: options.register_custom_ops_library(EXTENSIONS),
    "pyop": lambda options: padops.register(options, backend="pyop"),
}


def tokens(path: Path, *libraries: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for name in libraries:
        LIBRARIES[name](options)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@pytest.fixture(params=["padops", "pyop"])
def converted(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The sample that splits a text with an operator of onnxruntime-extensions and pads the words."""
    path = tmp_path / f"{request.param}.onnx"
    result = padops.convert(ROOT / "models" / "tokens.onnx", path, target=request.param, verify=True, run=True)
    assert (len(result.converted), result.verification.outcome) == (1, "equal")
    assert {node.domain for node in onnx.load(path).graph.node} >= {
        "ai.onnx.contrib",
        "padops" if request.param == "padops" else "padops.pyop",
    }
    return path


ORDERS = {
    "padops": [("extensions", "padops"), ("padops", "extensions"), ("pyop", "padops"), ("padops", "pyop")],
    "pyop": [("pyop",), ("pyop", "padops"), ("padops", "pyop")],
}


def test_text_and_pad_in_one_session(converted: Path) -> None:
    """In any order; the Python kernels bring the extensions along."""
    for order in ORDERS[converted.stem]:
        session = tokens(converted, *order)
        for text, words in TEXTS.items():
            assert session.run(None, {"text": np.array([text])})[0].tolist() == words


def test_neither_library_is_enough(converted: Path) -> None:
    """Each library lacks operators of the model; the extensions alone run it if padops' fallbacks are in it."""
    with pytest.raises(Exception, match="is not a registered function/op"):
        tokens(converted, "padops")
    bare = converted.with_name("bare.onnx")
    padops.convert(ROOT / "models" / "tokens.onnx", bare, fallback=False)
    with pytest.raises(Exception, match="is not a registered function/op"):
        tokens(bare, "extensions")
    if converted.stem == "padops":
        for text, words in TEXTS.items():
            assert tokens(converted, "extensions").run(None, {"text": np.array([text])})[0].tolist() == words


def test_stock_runtime_refuses_the_original_for_its_pad() -> None:
    with pytest.raises(Exception, match=r"Could not find an implementation for Pad\(18\) node with name 'tokens_pad'"):
        tokens(ROOT / "models" / "tokens.onnx", "extensions")


def test_the_extensions_twice_are_refused(converted: Path) -> None:
    """Why padops.register says that backend "pyop" brings them along."""
    with pytest.raises(Exception, match="Conflicting with a registered kernel"):
        tokens(converted, "padops", "pyop", "extensions")


# --- onnx's own tools ------------------------------------------------------------------------------------------------


def test_schemas_leave_the_reference_evaluator_usable() -> None:
    """It is imported late, and would take Pad_18 of the domain padops for version 18 of Pad."""
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


def test_cpp_gets_the_whole_message(built: Path) -> None:
    source = model(
        [pad(name="p", mode="edge")], tensors=[tensor("pads", [0, 0, 0, -4])], inputs=[("x", FLOAT, [2, "n"])]
    )
    done = run_cpp(built / "load", padops.get_library_path(), source)
    assert (done.returncode, done.stdout) == (1, "")
    assert "padops::Pad_13 'p': axis 1 would have -1 elements (begin 0, size 3, interior 0, end -4) [P1]" in done.stderr


def test_cpp_without_the_library(built: Path) -> None:
    done = run_cpp(built / "load", str(built / "missing.so"), model([pad()], tensors=[tensor("pads", [0, 0, 0, 1])]))
    assert done.returncode == 1
    assert "missing.so" in done.stderr


def reflected() -> onnx.ModelProto:
    """int16, which ONNX Runtime alone refuses, and a reflection longer than the data."""
    values = {"inputs": [("x", INT16, [2, 3])], "outputs": [("y", INT16, [2, 9])]}
    return model([pad(mode="reflect", name="p")], 18, tensors=[tensor("pads", [0, 4, 0, 2])], **values)


def test_cpp_with_the_provider(built: Path) -> None:
    with pytest.raises(Exception, match=r"Could not find an implementation for Pad\(18\) node with name 'p'"):
        onnxruntime.InferenceSession(reflected().SerializeToString(), providers=["CPUExecutionProvider"])
    done = run_cpp(built / "provider", padops.get_library_path(), reflected())
    expected = np.pad(np.arange(1, 7).reshape(2, 3), ((0, 0), (4, 2)), mode="reflect").reshape(-1)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(value) for value in expected]


def test_cpp_without_the_provider(built: Path) -> None:
    done = run_cpp(built / "provider", str(built / "missing.so"), reflected())
    assert (done.returncode, done.stdout) == (1, "")
    assert "missing.so" in done.stderr


def test_cpp_with_a_runtime_that_takes_no_provider(tmp_path: Path) -> None:
    build_beside(oldest_runtime.install() / "onnxruntime", tmp_path, "provider")
    done = run_cpp(tmp_path / "provider", padops.get_library_path(), reflected())
    assert (done.returncode, done.stdout) == (3, "")
    assert f"needs onnxruntime 1.24 or newer, this is {oldest_runtime.VERSION}" in done.stderr
