"""Parts that begin with an input of the model, or with nothing; and the numbers that are drawn for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import padops
from padops.convert.verify.feeds import Input
from padops.convert.verify.pads import Hints
from padops.convert.verify.part_inputs import Marks, region_inputs
from padops.convert.verify.random_inputs import WIDE, random_inputs

NODE = helper.make_node


def saved(path: Path, nodes: list[onnx.NodeProto], kind: int, numbers: dict[str, float] | None = None) -> Path:
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    tensors = [numpy_helper.from_array(np.array(number, dtype), name) for name, number in (numbers or {}).items()]
    values = [helper.make_tensor_value_info(name, kind, ["n"]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def verdict(
    tmp_path: Path, first: list[onnx.NodeProto], second: list[onnx.NodeProto], kind: int, **numbers: float
) -> str:
    one, other = saved(tmp_path / "a.onnx", first, kind), saved(tmp_path / "b.onnx", second, kind, numbers)
    return padops.verify(one, other).verdict


@pytest.mark.parametrize(
    "kind, by", [("INT64", "DOUBLE"), ("INT64", "FLOAT"), ("INT32", "FLOAT"), ("UINT64", "DOUBLE")]
)
def test_a_cast_that_rounds_what_an_input_holds(tmp_path: Path, kind: str, by: str) -> None:
    number, through = TensorProto.DataType.Value(kind), TensorProto.DataType.Value(by)
    casts = [NODE("Cast", ["x"], ["c"], to=through), NODE("Cast", ["c"], ["y"], to=number)]
    assert verdict(tmp_path, [NODE("Identity", ["x"], ["y"])], casts, number) == "different"


def test_a_clip_of_an_input(tmp_path: Path) -> None:
    clip = [NODE("Clip", ["x", "low", "high"], ["y"])]
    copy = [NODE("Identity", ["x"], ["y"])]
    assert verdict(tmp_path, copy, clip, TensorProto.INT64, low=-(2**31), high=2**31) == "different"


def test_one_number_of_an_input(tmp_path: Path) -> None:
    chosen = [NODE("Equal", ["x", "at"], ["c"]), NODE("Where", ["c", "zero", "x"], ["y"])]
    copy = [NODE("Identity", ["x"], ["y"])]
    assert verdict(tmp_path, copy, chosen, TensorProto.FLOAT, at=7.25, zero=0.0) == "different"


@pytest.mark.parametrize("op", ["Neg", "Reciprocal"])
def test_a_number_that_an_input_becomes(tmp_path: Path, op: str) -> None:
    first = [NODE(op, ["x"], ["y"])]
    second = [NODE(op, ["x"], ["w"]), NODE("Equal", ["w", "at"], ["c"]), NODE("Where", ["c", "zero", "w"], ["y"])]
    assert verdict(tmp_path, first, second, TensorProto.FLOAT, at=-0.25, zero=0.0) == "different"


def test_numbers_beside_those_of_a_part() -> None:
    draws = region_inputs([Input("x", "float", (16,))], Marks((), (7.25,)), (), 0, 400)
    drawn = {float(number) for feeds in draws for number in feeds["x"]}
    wanted = {7.25, -7.25, 14.5, -14.5, 3.625, -3.625, float(np.float32(1 / 7.25))}
    assert wanted <= drawn


def test_a_part_without_inputs() -> None:
    assert [feeds for feeds in region_inputs([], Marks(), (), 0, 3)] == [{}, {}, {}]


def test_whole_models_get_large_integers() -> None:
    rows = [Input("ids", "int64", (64,)), Input("sizes", "int64", (4,))]
    hints = Hints(wide=frozenset({"ids"}))
    first, second = list(random_inputs(rows, 0, 1, hints))[:2]
    assert set(WIDE) >= set(first["ids"].tolist()) and (1 << 53) + 1 in first["ids"]
    assert max(abs(second["ids"])) <= 64 and max(abs(first["sizes"])) <= 9, "the next attempt is as it was"
    assert max(abs(next(random_inputs(rows, 0, 0, hints))["ids"])) <= 64, "nor is another turn"
    assert max(abs(next(random_inputs(rows, 0, 1, Hints()))["ids"])) <= 64, "nor what may size something"
