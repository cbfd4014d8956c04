"""A fallback behind DequantizeLinear: onnxruntime moves that node, and its process must not end over an If."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import stock_sessions
from onnx import parser

import padops

MODEL = """<ir_version: 9, opset_import: ["" : 18]>
g (int8[N, C, H] x, int64[P] p) => (float[A, B, D] y) <float s = {0.5}, int64[3] dims = {0, 0, -1}> {
    d = DequantizeLinear (x, s)
    NODES
}"""
WAYS = {
    "Transpose": "t = Transpose <perm = [0, 2, 1]> (d) y = Pad <mode = MODE> (t, p)",
    "Reshape": "t = Reshape (d, dims) y = Pad <mode = MODE> (t, p)",
    "two": "t = Transpose <perm = [0, 2, 1]> (d) a = Pad <mode = MODE> (t, p) y = Pad <mode = MODE> (a, p)",
}
DATA = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
AMOUNTS = np.array([0, 0, 1, 0, 0, 2])


def converted(way: str, mode: str) -> padops.Conversion:
    return padops.convert(parser.parse_model(MODEL.replace("NODES", WAYS[way].replace("MODE", f'"{mode}"'))))


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize("way", WAYS)
def test_the_fallback_runs_in_a_stock_session(way: str, mode: str, tmp_path: Path) -> None:
    """In a process of its own: without the copy in the function, it ended by SIGABRT (onnxruntime 1.20 to 1.32)."""
    made = converted(way, mode)
    assert {record.notes for record in made.records} == {()}, "each has a fallback"
    onnx.save(made.proto(), tmp_path / "model.onnx")
    np.savez(tmp_path / "feeds.npz", x=DATA, p=AMOUNTS)
    command = [sys.executable, stock_sessions.__file__, tmp_path / "model.onnx", tmp_path / "feeds.npz", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, (ran.returncode, ran.stderr[-2000:])
    data = 0.5 * (DATA if way == "Reshape" else DATA.transpose(0, 2, 1)).astype(np.float32)
    for _ in range(2 if way == "two" else 1):
        data = np.pad(data, [(0, 0), (0, 0), (1, 2)], mode)
    assert [json.loads(line) for line in ran.stdout.splitlines()] == [data.tolist()] * len(stock_sessions.LEVELS)


def test_other_fallbacks_copy_nothing() -> None:
    """Data that are not dequantized, and bodies without an If."""
    text = MODEL.replace("NODES", WAYS["Transpose"].replace("MODE", '"reflect"'))
    plain = text.replace("d = DequantizeLinear (x, s)", "d = Cast <to = 1> (x)")
    for made in (padops.convert(parser.parse_model(plain)), converted("Transpose", "constant")):
        (function,) = made.proto().functions
        assert not any(node.op_type == "Concat" and function.input[0] in node.input for node in function.node)


def test_a_type_that_concat_lacks_leaves_no_fallback() -> None:
    both = WAYS["Transpose"].replace("MODE", '"reflect"') + ' e = Cast <to = 16> (d) z = Pad <mode = "reflect"> (e, p)'
    text = MODEL.replace("NODES", both).replace("(float[A, B, D] y)", "(float[A, B, D] y, bfloat16[E, F, G] z)")
    said = "its data follow DequantizeLinear, and have types of which onnxruntime makes no copy"
    (why,) = padops.convert(parser.parse_model(text)).no_fallback.values()
    assert said in why
