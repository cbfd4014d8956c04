"""The command ``padops`` in this process: what it exits with, and what it prints."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from padops import cli

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
Cli = Callable[..., tuple[int, str, str]]  # the fixture ``cli``: ``run`` with the streams of the test


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        code = cli.main([str(argument) for argument in arguments])
    except SystemExit as end:  # argparse
        code = end.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def save(path: Path, source: onnx.ModelProto) -> Path:
    path.write_bytes(source.SerializeToString())
    return path


def give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def columns(text: str) -> list[list[str]]:
    """The lines of a table, each split where two blanks or more are."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]
