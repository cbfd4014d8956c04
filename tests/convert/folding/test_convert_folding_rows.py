"""Folding two and more Pads in a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from folding_models import fold, outcomes, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper
from rows_of_pads import P, made
from small_models import FLOAT, info, model

RUNTIME_ERRORS = (onnxruntime.capi.onnxruntime_pybind11_state.Fail,
                  onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument)  # fmt: skip
RANDOM = settings(max_examples=60, deadline=None, derandomize=True, database=None,
                  suppress_health_check=list(HealthCheck))  # fmt: skip
FORMS = ("Pad-2", "Pad-13", "Pad_19", "Pad-18 with axes", "OpenVINOPad_12", "NGraphPad_0")


def two(first: tuple, second: tuple, shape: Any = (None, None), outputs: str = "y") -> onnx.ModelProto:
    """Two Pads in a row: form, amounts, mode and fill of each."""
    one, tensors = made(first[0], ("x", "p"), "first", *first[1:])
    other, more = made(second[0], ("p", "y"), "second", *second[1:])
    return model([one, other], 19, ir_version=9, inputs=[("x", FLOAT, shape)], tensors=[*tensors, *more],
                 outputs=[(name, FLOAT, [None] * 2) for name in outputs], imports=[("padops", 1)])  # fmt: skip


def small(least: int) -> Any:
    return st.tuples(*[st.integers(least, 3)] * 4)


@RANDOM
@given(st.sampled_from(FORMS), st.sampled_from(FORMS), small(0), small(-3), st.sampled_from([None, 0.0, 1.5, -0.0]),
       st.tuples(st.integers(0, 4), st.integers(0, 4)))  # fmt: skip
def test_constants(one: str, other: str, first: Any, second: Any, fill: Any, shape: tuple[int, int]) -> None:
    """The first adds, the second does what it likes: the sum of both, in every pair of forms, for every shape."""
    source = two((one, first, "constant", fill), (other, second, "constant", fill))
    message = fold(source).proto()
    kept = fold(source, fold=False).proto()
    assert len(message.graph.node) == 1
    x = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape) + 1
    assert _run_or_fail(message, x) == _run_or_fail(kept, x)
    assert fold(message).proto() == message


def _run_or_fail(message: onnx.ModelProto, x: np.ndarray) -> Any:
    try:
        return run(message, {"x": x})
    except RUNTIME_ERRORS as error:
        assert "[P1]" in str(error), error
        return "a negative output dim"


@RANDOM
@given(
    st.sampled_from(FORMS), st.sampled_from(FORMS), small(0), small(0), st.tuples(st.integers(1, 4), st.integers(1, 4))
)
def test_edges(one: str, other: str, first: Any, second: Any, shape: tuple[int, int]) -> None:
    source = two((one, first, "edge", None), (other, second, "edge", None))
    message, kept = fold(source).proto(), fold(source, fold=False).proto()
    assert len(message.graph.node) == 1
    x = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape) + 1
    assert run(message, {"x": x}) == run(kept, {"x": x})


ROWS, COLUMNS = (2, 0, 1, 0), (0, 1, 0, 2)


@pytest.mark.parametrize("first, second", [(ROWS, COLUMNS), (COLUMNS, ROWS)])
@pytest.mark.parametrize("form, mode", [("Pad-13", "reflect"), ("Pad_19", "wrap"), ("OpenVINOPad_12", "symmetric"),
                                        ("NGraphPad_0", "reflect")])  # fmt: skip
def test_axes_apart(form: str, mode: str, first: Any, second: Any) -> None:
    source = two((form, first, mode, None), (form, second, mode, None))
    conversion = fold(source)
    assert outcomes(conversion)[0] == ("first", "folded", ("second",))
    kept = fold(source, fold=False).proto()
    for shape in [(3, 3), (4, 5)]:
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        assert run(conversion.proto(), {"x": x}) == run(kept, {"x": x})


STAYING = {
    "reflect on one axis": ((P, ROWS, "reflect", None), (P, ROWS, "reflect", None)),
    "wrap on one axis": (("Pad_19", ROWS, "wrap", None), ("Pad_19", ROWS, "wrap", None)),
    "symmetric on one axis": (("OpenVINOPad_12", ROWS, "symmetric", None), ("OpenVINOPad_12", ROWS, "symmetric", None)),
    "other limits": (("OpenVINOPad_12", ROWS, "reflect", None), (P, COLUMNS, "reflect", None)),
    "other modes": ((P, ROWS, "edge", None), (P, ROWS, "constant", None)),
    "other fills": ((P, ROWS, "constant", 1.0), (P, ROWS, "constant", 2.0)),
    "other zeros": ((P, ROWS, "constant", None), (P, ROWS, "constant", -0.0)),
    "a crop first": ((P, (-1, 0, 0, 0), "constant", None), (P, ROWS, "constant", None)),
    "a crop of edges": ((P, ROWS, "edge", None), (P, (-1, 0, 0, 0), "edge", None)),
}


@pytest.mark.parametrize("why", STAYING)
def test_pairs_that_stay(why: str) -> None:
    conversion = fold(two(*STAYING[why]))
    assert len(conversion.proto().graph.node) == 2
    assert conversion.records[0].status in ("converted", "already converted")


def test_what_others_read_stays() -> None:
    row = ((P, ROWS, "constant", None), (P, COLUMNS, "constant", None))
    assert len(fold(two(*row, outputs="yp")).proto().graph.node) == 2
    source = two(*row)
    source.graph.node.append(helper.make_node("Relu", ["p"], ["r"]))
    source.graph.output.append(info(("r", FLOAT, [None] * 2)))
    assert len(fold(source).proto().graph.node) == 3
