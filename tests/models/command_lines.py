"""The command ``padops`` in this process: what it exits with, and what it prints."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import helper
from small_models import FLOAT, model, tensor

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


# A name of a model or of a folder that clears the screen, begins a line of its own, turns the direction of writing
# round, and has a control character of Latin-1; and how the console gets it.
HOSTILE = "x\x1b[2J\x07\r\nFAKED\u2028\u202egnp\u2066\x9b1m\x7f\u200f\ufeff"
ESCAPED = r"x\x1b[2J\x07\r\nFAKED\u2028\u202egnp\u2066\x9b1m\x7f\u200f\ufeff"
FILE = HOSTILE.replace("[", "")


def hostile(mode: str = "reflect", amount: int = 1) -> onnx.ModelProto:
    """A model with a Pad all of whose names are hostile; it is as valid as any."""
    name = f"in {HOSTILE}"
    node = helper.make_node("Pad", [name, f"pads {HOSTILE}"], [HOSTILE], name=HOSTILE, mode=mode, doc_string=HOSTILE)
    made = model([node], 13, inputs=[(name, FLOAT, [2, 3])], outputs=[(HOSTILE, FLOAT, None)],
                 tensors=[tensor(f"pads {HOSTILE}", [0, amount, 0, 0])])  # fmt: skip
    made.graph.name = made.producer_name = made.graph.doc_string = HOSTILE
    return made
