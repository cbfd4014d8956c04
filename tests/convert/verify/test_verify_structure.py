"""Models node by node: sparse initializers, inputs and initializers of other kinds are differences, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from small_models import FLOAT, external, model, pad, tensor

from padops.convert.verify.structure import other_difference

PADS = tensor("pads", [0, 1, 0, 1])


def sparse(values: list[float], places: list[int], name: str = "w", size: int = 5) -> onnx.SparseTensorProto:
    held = helper.make_tensor(name, FLOAT, [len(values)], values)
    return helper.make_sparse_tensor(held, helper.make_tensor("", TensorProto.INT64, [len(places)], places), [size])


def unheard(*more: onnx.SparseTensorProto, **parts: object) -> onnx.ModelProto:
    """A Pad, and an operator that no runtime has, which reads ``w``."""
    nodes = [pad(name="pad", mode="reflect"), helper.make_node("Unheard", ["y", "w"], ["z"], domain="custom")]
    given = {"inputs": [("x", FLOAT, ["n", 3])], "tensors": [PADS]} | parts
    made = model(nodes, imports=[("custom", 1)], outputs=[("z", FLOAT, None)], **given)
    made.graph.sparse_initializer.extend(more)
    return made


def difference(tmp_path: Path, *models: onnx.ModelProto) -> str:
    paths = [tmp_path / f"{number}.onnx" for number in range(2)]
    for path, made in zip(paths, models):
        path.write_bytes(made.SerializeToString())
    return other_difference(*paths)


ONE = unheard(sparse([1.0, 2.0], [0, 3]))


@pytest.mark.parametrize(
    "other",
    [
        unheard(sparse([1.0, 3.0], [0, 3])),
        unheard(sparse([1.0, 2.0], [0, 2])),
        unheard(sparse([1.0, 2.0], [0, 3], size=6)),
        unheard(tensors=[PADS, tensor("w", [1, 0, 0, 2, 0], np.float32)]),
    ],
    ids=["values", "places", "dims", "dense"],
)
def test_sparse_initializers(other: onnx.ModelProto, tmp_path: Path) -> None:
    assert difference(tmp_path, ONE, other) == "initializer 'w'"
    assert difference(tmp_path, other, ONE) == "initializer 'w'"
    assert difference(tmp_path, ONE, ONE) == ""


def test_sparse_initializers_that_only_pads_read(tmp_path: Path) -> None:
    made = [unheard(sparse([1.0], [0]), sparse([2.0 + n], [0], name="unread")) for n in range(2)]
    assert difference(tmp_path, *made) == ""


def test_sparse_initializers_in_files(tmp_path: Path) -> None:
    """The elements count, and not the places in files."""
    made = []
    for number, values in enumerate(([1.0, 2.0], [1.0, 2.0, 1.0, 2.0], [1.0, 9.0])):
        (tmp_path / f"{number}.bin").write_bytes(np.array(values, np.float32).tobytes())
        one = sparse([1.0, 2.0], [0, 3])
        one.values.CopyFrom(external("w", f"{number}.bin", 2, offset=8 * (number == 1)))
        made.append(unheard(one))
    assert difference(tmp_path, made[0], made[1]) == ""
    assert difference(tmp_path, made[0], made[2]) == "initializer 'w'"


def test_inputs(tmp_path: Path) -> None:
    """An input of other dims, and one that was an initializer."""
    w = tensor("w", [1.0], np.float32)
    one = unheard(tensors=[PADS, w])
    stricter = unheard(tensors=[PADS, w], inputs=[("x", FLOAT, [2, 3])])
    assert difference(tmp_path, one, stricter) == "input 'x'"
    assert difference(tmp_path, stricter, one) == "", "it takes more"
    doubles = unheard(tensors=[PADS, w], inputs=[("x", TensorProto.DOUBLE, ["n", 3])])
    assert difference(tmp_path, one, doubles) == "input 'x'"
    given = unheard(inputs=[("x", FLOAT, ["n", 3]), ("w", FLOAT, [1])])
    assert difference(tmp_path, one, given) == "initializer 'w'"
    assert difference(tmp_path, given, one) == "input 'w'"
    replaceable = unheard(tensors=[PADS, w], inputs=[("x", FLOAT, ["n", 3]), ("w", FLOAT, [1])])
    assert difference(tmp_path, replaceable, one) == "input 'w'"
    assert difference(tmp_path, one, replaceable) == "", "callers may replace more"
