"""Models of onnx's own text form for sessions of ``padops.InferenceSession``, with data inside or beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper, parser

ROWS = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
REFLECTED = np.pad(ROWS, [(0, 0), (1, 1)], "reflect")
FLAT = "(float[2, 3] x) => (float[2, 5] y)"
AXES = "int64[2] p = {1, 1}, int32[1] a = {1}"
REFUSED = f'{FLAT} <{AXES}> {{ y = Pad <mode = "reflect"> (x, p, , a) }}'  # for its axes of int32
DOMAINS = ("com.microsoft", "tf", "ngraph", "ai.intel.openvino")


def model(text: str, opset: int = 18, domains: tuple[str, ...] = DOMAINS, ir_version: int = 8) -> bytes:
    imports = ", ".join([f'"": {opset}', *(f'"{name}": 1' for name in domains)])
    made = parser.parse_model(f"<ir_version: {ir_version}, opset_import: [{imports}]> g {text}")
    return made.SerializeToString()


def quiet(threads: int = 0) -> onnxruntime.SessionOptions:
    """Options whose log is silent; of 0 threads onnxruntime chooses the number."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, threads
    return options


def save_with_data(content: bytes, folder: Path, size_threshold: int = 0) -> Path:
    """The model's file ``m.onnx``; tensors of that size and larger ones are in ``w.bin`` beside it."""
    made = onnx.ModelProto.FromString(content)
    for row in made.graph.initializer:  # the parser gives them as numbers, which cannot stand in a file
        row.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(row), row.name))
    folder.mkdir(exist_ok=True)
    onnx.save(made, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=size_threshold)
    return folder / "m.onnx"
