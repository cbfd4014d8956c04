"""What the tests of files share."""

from __future__ import annotations

from pathlib import Path

import command_lines
import pytest
from external_data import save, write_floats
from small_models import external, one_pad


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return command_lines.save(tmp_path / "in.onnx", one_pad(13))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    """A model whose data lie in two files, one of them in a folder of its own, two tensors in one."""
    write_floats(tmp_path / "in" / "a.bin", *range(8))
    write_floats(tmp_path / "in" / "deep" / "b.bin", *range(4))
    tensors = [external("w0", "a.bin", 4), external("w1", "deep/b.bin", 4), external("w2", "a.bin", 4, offset=16)]
    return save(tmp_path / "in", tensors)
