"""Models whose tensors lie in files of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from small_models import FLOAT, convert, model, pad, tensor

from padops.convert import PadopsError


def names(folder: Path) -> list[str]:
    """Every file and folder below ``folder``, hidden ones included."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def save(folder: Path, tensors: list[onnx.TensorProto], name: str = "model.onnx", elements: int = 4) -> Path:
    """A model that adds up external vectors of ``elements`` elements and pads the sum; returns its file."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [helper.make_node("Sum", ["x", *(t.name for t in tensors)], ["s"]), pad(["s", "two"])]
    inputs, outputs = [("x", FLOAT, [elements])], [("y", FLOAT, [elements + 3])]
    source = model(nodes, 17, inputs=inputs, outputs=outputs, tensors=[*tensors, tensor("two", [1, 2])])
    path = folder / name
    path.write_bytes(source.SerializeToString())
    return path


def refusal(*arguments: object, **options: object) -> str:
    """What a conversion says that is refused."""
    with pytest.raises(PadopsError) as caught:
        convert(*arguments, **options)
    return str(caught.value)


def write_floats(path: Path, *values: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(np.array(values, np.float32).tobytes())
    return path


def loads(path: Path) -> onnx.ModelProto:
    """The model with its external data, as onnx itself reads it: links refused."""
    loaded = onnx.load(path)
    assert not any(t.data_location == TensorProto.EXTERNAL for t in loaded.graph.initializer)
    return loaded
