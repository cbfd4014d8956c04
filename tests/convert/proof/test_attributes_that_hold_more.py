"""The proofs read attributes that are no numbers: tensors in files, lists of tensors and graphs, overloads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from written_models import model

from padops.convert.proof.regions import prove
from padops.convert.proof.result import Verdict

CUSTOM = "(float[3] x) => (float[3] y) { t = %s (x) y = other.Op (x) }"


def in_file(folder: Path, values: list[float]) -> TensorProto:
    """A tensor whose elements lie in a file, of the same name in each folder."""
    tensor = numpy_helper.from_array(np.array(values, np.float32), "w")
    folder.mkdir(exist_ok=True)
    (folder / "w.bin").write_bytes(tensor.raw_data)
    onnx.external_data_helper.set_external_data(tensor, "w.bin", 0, len(tensor.raw_data))
    tensor.ClearField("raw_data")
    return tensor


def sparse(folder: Path, values: list[float], places: tuple[int, ...] = (0, 2)) -> onnx.SparseTensorProto:
    return helper.make_sparse_tensor(in_file(folder, values), numpy_helper.from_array(np.array(places)), [3])


def as_initializer(folder: Path, values: list[float]) -> onnx.ModelProto:
    made = model("(float[3] x) => (float[3] y) { y = Add (x, w) }")
    made.graph.sparse_initializer.append(sparse(folder, values))
    return made


def as_constant(folder: Path, values: list[float]) -> onnx.ModelProto:
    made = model("(float[3] x) => (float[3] y) { y = Add (x, w) }")
    made.graph.node.insert(0, helper.make_node("Constant", [], ["w"], sparse_value=sparse(folder, values)))
    return made


def as_tensors(folder: Path, values: list[float]) -> onnx.ModelProto:
    made = model(CUSTOM % "Neg")
    made.graph.node[1].attribute.add(name="a", type=AttributeProto.TENSORS).tensors.append(in_file(folder, values))
    return made


def as_sparse_tensor(folder: Path, values: list[float]) -> onnx.ModelProto:
    made = model(CUSTOM % "Neg")
    row = made.graph.node[1].attribute.add(name="a", type=AttributeProto.SPARSE_TENSOR)
    row.sparse_tensor.CopyFrom(sparse(folder, values))
    return made


def as_sparse_tensors(folder: Path, values: list[float]) -> onnx.ModelProto:
    made = model(CUSTOM % "Neg")
    row = made.graph.node[1].attribute.add(name="a", type=AttributeProto.SPARSE_TENSORS)
    row.sparse_tensors.append(sparse(folder, values))
    return made


@pytest.mark.parametrize("made", [as_initializer, as_constant, as_tensors, as_sparse_tensor, as_sparse_tensors])
def test_files_of_one_name_with_other_elements(
    made: Callable[[Path, list[float]], onnx.ModelProto], tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in "abc"]
    one, same, other = (made(folder, [5, value]) for folder, value in zip(folders, (6, 6, 7)))
    assert one == same == other, "the messages name the file, and hold no elements"
    assert prove(one, same, folders=(folders[0], folders[1])).verdict is Verdict.PROVED
    assert prove(one, other, folders=(folders[0], folders[2])).verdict is Verdict.UNKNOWN


def test_sparse_elements_at_other_places(tmp_path: Path) -> None:
    one, other = as_initializer(tmp_path, [5, 6]), as_initializer(tmp_path, [5, 6])
    other.graph.sparse_initializer[0].CopyFrom(sparse(tmp_path, [5, 6], (0, 1)))
    assert prove(one, other, folders=(tmp_path, tmp_path)).verdict is Verdict.UNKNOWN


def test_graphs_in_a_list_read_the_values_around_them() -> None:
    body = helper.make_graph([helper.make_node("Identity", ["t"], ["r"])], "body", [], [onnx.ValueInfoProto(name="r")])
    pair = [model(CUSTOM % name) for name in ("Neg", "Exp")]
    for made in pair:
        made.graph.node[1].attribute.add(name="a", type=AttributeProto.GRAPHS).graphs.append(body)
    assert prove(*pair).verdict is Verdict.UNKNOWN


def test_an_overload_that_the_model_does_not_have_is_another_operator() -> None:
    one, other = model(CUSTOM % "Neg"), model(CUSTOM % "Neg")
    other.graph.node[1].overload = "other"
    assert prove(one, other).verdict is Verdict.UNKNOWN
    assert prove(other, other).verdict is Verdict.PROVED


@pytest.mark.parametrize("opset, proved", [(6, False), (7, True)])
def test_a_dropout_of_old_versions_draws(opset: int, proved: bool) -> None:
    """One draw for two is another distribution; since version 7 it draws nothing unless it is told to train."""
    text = "(float[3] x) => (float[3] y) {{ a = Dropout (x) b = {} y = Max (a, b) }}"
    pair = [model(text.format(second), opset) for second in ("Dropout (x)", "Identity (a)")]
    assert (prove(*pair).verdict is Verdict.PROVED) == proved
    assert prove(pair[0], pair[0]).verdict is Verdict.PROVED
