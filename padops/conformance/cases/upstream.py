"""The node tests of ONNX: tests that the installed ``onnx`` makes, and models that it ships."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from padops.conformance.peers.request import Request
from padops.spec.dialects import onnx_op

# Models of one Pad, from converters of their day.
SHIPPED = (
    "pytorch-converted/test_ConstantPad2d",
    "pytorch-converted/test_ReflectionPad2d",
    "pytorch-converted/test_ReplicationPad2d",
    "pytorch-converted/test_ZeroPad2d",
    "pytorch-operator/test_operator_pad",
)


@cache
def with_outputs() -> dict[str, tuple[Request, np.ndarray]]:
    """Return the cases by id, each with upstream's output."""
    return {case.id: (case, output) for case, output in (*_made(), *_shipped())}


def node_tests() -> list[Any]:
    """Return onnx's tests of Pad; its ``collect_testcases`` takes seconds, for the tests of every other operator."""
    import onnx.backend.test.case.node as made

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings from the tests of other operators
        import_module(f"{made.__name__}.pad")
        tests: list[Any] = made._NodeTestCases if hasattr(made, "_NodeTestCases") else made.collect_testcases("Pad")
    return [test for test in tests if [node.op_type for node in test.model.graph.node] == ["Pad"]]


def _made() -> Iterator[tuple[Request, np.ndarray]]:
    for test in node_tests():
        assert test.data_sets is not None  # only a downloaded model has none
        for inputs, outputs in test.data_sets[:1]:
            yield _case(test.name, test.model, [np.asarray(array) for array in inputs]), np.asarray(outputs[0])


def _shipped() -> Iterator[tuple[Request, np.ndarray]]:
    import onnx.backend.test
    from onnx import numpy_helper

    for folder in (Path(onnx.backend.test.__file__).parent / "data" / place for place in SHIPPED):
        if folder.is_dir():
            files = sorted(folder.glob("test_data_set_0/*put_*.pb"))  # inputs before outputs
            *arrays, output = (numpy_helper.to_array(onnx.load_tensor(path)) for path in files)
            yield _case(folder.name, onnx.load(folder / "model.onnx"), arrays), output


def _case(name: str, model: Any, arrays: list[np.ndarray]) -> Request:
    """Make a case of a model whose only node is a Pad."""
    from onnx import helper

    (node,) = model.graph.node
    opset = next(entry.version for entry in model.opset_import if entry.domain == "")
    found = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in found.items()}
    given = dict(zip((entry.name for entry in model.graph.input), arrays))
    inputs = tuple(given[entry] if entry else None for entry in node.input)
    return Request(f"upstream/{name}", onnx_op(opset), opset, attributes, inputs)


def cases() -> list[Request]:
    """Return all cases of the installed onnx."""
    return [case for case, _ in with_outputs().values()]
