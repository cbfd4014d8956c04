"""The Pad tests that come with onnx, converted and run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from whole_models import assert_same, convert, fit_to_runtime, pads_in, run

import padops
from padops.conformance.cases import upstream
from padops.spec.dialects import DOMAIN

ONNX_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"


@pytest.fixture(scope="module")
def node_tests() -> dict[str, object]:
    return {case.name: case for case in upstream.node_tests()}


NODE_TESTS = [
    f"test_{name}"
    for name in "constant_pad constant_pad_axes constant_pad_negative_axes edge_pad reflect_pad wrap_pad".split()
]


def test_no_node_test_is_left_out(node_tests: dict[str, object]) -> None:
    assert sorted(node_tests) == NODE_TESTS


@pytest.mark.parametrize("name", NODE_TESTS)
def test_onnx_node_test(name: str, node_tests: dict, tmp_path: Path) -> None:
    case = node_tests[name]
    path = tmp_path / "original.onnx"
    onnx.save(case.model, path)
    converted = tmp_path / "converted.onnx"
    padops.convert(path, converted)
    assert pads_in(onnx.load(converted), DOMAIN) == 1
    assert fit_to_runtime(converted)
    graph = case.model.graph
    assert case.data_sets
    for inputs, outputs in case.data_sets:
        feeds = {value.name: np.asarray(array) for value, array in zip(graph.input, inputs, strict=True)}
        expected = {value.name: np.asarray(array) for value, array in zip(graph.output, outputs, strict=True)}
        assert_same(run(converted, feeds, registered=True), expected)


STORED = sorted(
    model.parent
    for model in ONNX_DATA.glob("*/*/model.onnx")
    if any(node.op_type == "Pad" for node in onnx.load(model).graph.node)
)


def test_stored_models_are_there() -> None:
    names = {folder.name.removeprefix("test_") for folder in STORED}
    assert names >= {"ConstantPad2d", "ReflectionPad2d", "ReplicationPad2d", "ZeroPad2d", "operator_pad"}


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_onnx_stored_model(folder: Path, tmp_path: Path) -> None:
    converted, _ = convert(folder / "model.onnx", tmp_path)
    graph = onnx.load(folder / "model.onnx").graph
    data_sets = sorted(folder.glob("test_data_set_*"))
    assert data_sets
    for data in data_sets:
        stored = {
            kind: {
                value.name: numpy_helper.to_array(onnx.load_tensor(data / f"{kind}_{i}.pb"))
                for i, value in enumerate(getattr(graph, kind))
            }
            for kind in ("input", "output")
        }
        assert_same(run(converted, stored["input"], registered=True), stored["output"])
