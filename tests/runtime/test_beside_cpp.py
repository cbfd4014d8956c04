"""``tests/cpp/beside.cpp``: the program of docs/beside.md, alone and beside real providers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from cpp_builds import CHECKS, ROOT, build
from document_blocks import blocks
from provider_sessions import model

import padops

sys.path.insert(0, str(ROOT / "scripts"))

SOURCE = CHECKS / "beside.cpp"
# A wrap that goes around more than once: OpenVINO refuses it, and WebGPU gets it wrong without a word.
TEXT = (
    "g (float[2, 3] x) => (float[2, 12] y) <int64[4] p = {0, 4, 0, 5}> "
    '{ a = Relu (x) b = Pad <mode = "wrap"> (a, p) y = Relu (b) }'
)
EXPECTED = np.pad(np.arange(1, 7).reshape(2, 3), ((0, 0), (4, 5)), "wrap").reshape(-1).tolist()


def ran(package: Path, folder: Path, *provider: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The program built beside the runtime of a wheel, which comes without the links to it, and run."""
    runtime = next(package.glob("capi/libonnxruntime.so.*"))
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (folder / name).symlink_to(runtime)
    for library in package.glob("capi/libonnxruntime_providers_*.so"):  # looked for beside the runtime
        (folder / library.name).symlink_to(library)
    build(folder, f"-DORT_LIBRARY={folder / 'libonnxruntime.so'}", source=CHECKS, target="beside")
    (folder / "model.onnx").write_bytes(model(TEXT, 19).SerializeToString())
    command = [folder / "beside", padops.get_library_path(), folder / "model.onnx", *provider]
    search = os.pathsep.join([str(package / "capi"), variables.pop("LD_LIBRARY_PATH", "")])
    chosen = {**os.environ, **variables, "LD_LIBRARY_PATH": search}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=chosen)


def test_on_the_processor(tmp_path: Path) -> None:
    done = ran(Path(onnxruntime.__file__).parent, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [float(value) for value in done.stdout.split()] == EXPECTED


def test_the_page_shows_the_program() -> None:
    (shown,) = (block.code for block in blocks(ROOT / "docs" / "beside.md") if block.language == "cpp")
    assert shown.count("\n") > 5 and shown in SOURCE.read_text(encoding="utf-8")
