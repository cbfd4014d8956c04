"""docs/beside.md: the whole GPU run, in the environment that the page makes, prints what the page shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from document_blocks import ROOT, blocks, commands

import padops

sys.path.insert(0, str(ROOT / "scripts"))
import environment
import peers

PAGE = ROOT / "docs" / "beside.md"
(PROGRAM,) = (
    block.code for block in blocks(PAGE) if "WebGpuExecutionProvider" in block.code and block.language == "python"
)
(SHOWN,) = (block for block in blocks(PAGE) if "panorama.py" in block.code)


@pytest.mark.needs_environment("ort-webgpu")
def test_the_panorama(tmp_path: Path) -> None:
    folder = peers.folder_of("ort-webgpu")
    vulkan = folder / "debian" / "usr" / "lib" / "chromium"
    variables = {
        "PYTHONPATH": str(ROOT),
        "LD_LIBRARY_PATH": str(vulkan),
        "VK_ICD_FILENAMES": str(vulkan / "vk_swiftshader_icd.json"),
        "PADOPS_LIBRARY": padops.get_library_path(),
    }
    file = tmp_path / "panorama.py"
    file.write_text(PROGRAM)
    command = [environment.interpreter(folder), file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    (shown,) = (lines for command, lines in commands(SHOWN) if command.endswith("panorama.py"))
    assert done.stdout.splitlines() == shown
