"""Models of onnx's own text form for sessions of ``padops.InferenceSession``, with data inside or beside them."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnxruntime
from onnx import numpy_helper, parser


def model(text: str, imports: str = '"": 18') -> bytes:
    return parser.parse_model(f"<ir_version: 8, opset_import: [{imports}]> g {text}").SerializeToString()


def quiet() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return options


def save_with_data(content: bytes, folder: Path, size_threshold: int = 0) -> Path:
    """The model's file ``m.onnx``; tensors of that size and larger ones are in ``w.bin`` beside it."""
    made = onnx.ModelProto.FromString(content)
    for row in made.graph.initializer:  # the parser gives them as numbers, which cannot stand in a file
        row.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(row), row.name))
    path = folder / "m.onnx"
    onnx.save(made, path, save_as_external_data=True, location="w.bin", size_threshold=size_threshold)
    return path
