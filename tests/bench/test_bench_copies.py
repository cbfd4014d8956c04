"""Each copy that padops chooses from gives the right bits in a session; ``tests/cpp/time_copies.cpp`` times them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Rows that are longer than where the string instruction begins, whose windows are aligned differently each.
PADDED = """
import numpy as np, onnxruntime, padops
from onnx import parser
model = parser.parse_model('''<ir_version: 8, opset_import: ["": 18, "padops": 1]>
net (uint8[9, 20011] x) => (uint8[M, N] y) <int64[4] pads = {1, 5, 1, 3}>
{ y = padops.Pad_18 <mode = "reflect"> (x, pads) }''')
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
padops.register(options)
session = onnxruntime.InferenceSession(model.SerializeToString(), options)
x = np.random.default_rng(0).integers(0, 256, (9, 20011)).astype(np.uint8)
try:
    y = session.run(None, {"x": x})[0]
    print("equal" if y.tobytes() == np.pad(x, ((1, 1), (5, 3)), "reflect").tobytes() else "different")
except Exception as error:
    print(error)
"""


@pytest.mark.parametrize("choice", ["baseline", "avx2", "string", "", "fast"])
def test_each_copy_is_right(choice: str) -> None:
    environment = {**os.environ, "PADOPS_COPY": choice}
    ran = subprocess.run([sys.executable, "-c", PADDED], capture_output=True, text=True, env=environment, check=True)
    words = "PADOPS_COPY is 'fast', expected baseline, avx2 or string"
    assert words in ran.stdout if choice == "fast" else ran.stdout == "equal\n"
