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
from onnx import helper, parser
from small_models import FLOAT, info

RUNTIME_ERRORS = (onnxruntime.capi.onnxruntime_pybind11_state.Fail,
                  onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument)  # fmt: skip
RANDOM = settings(max_examples=40, deadline=None, derandomize=True, database=None,
                  suppress_health_check=list(HealthCheck))  # fmt: skip
P = "Pad-13"
# By form, a Pad of rank 2 in text: the node, and the tensors. FILL is ", " and the name of the fill, or nothing.
FORMS = {
    "Pad-2": ('Pad <mode = "MODE", pads = [B0, B1, E0, E1]VALUE> (X)', "int64[1] @u = {0}"),
    P: ('Pad <mode = "MODE"> (X, @pFILL)', "int64[4] @p = {B0, B1, E0, E1}"),
    "Pad_19": ('padops.Pad_19 <mode = "MODE"> (X, @pFILL)', "int64[4] @p = {B0, B1, E0, E1}"),
    "Pad-18 axes": ('Pad <mode = "MODE"> (X, @pFIL2, @a)', "int64[4] @p = {B1, B0, E1, E0}, int64[2] @a = {-1, 0}"),
    "OpenVINOPad_12": ('padops.OpenVINOPad_12 <pad_mode = "MODE"> (X, @b, @eFILL)',
                       "int32[2] @b = {B0, B1}, int64[2] @e = {E0, E1}"),
    "NGraphPad_0": (
        'padops.NGraphPad_0 <pad_mode = "Mode", padding_below = [B0, B1], padding_above = [E0, E1]> (X, @f)',
        "int64[1] @u = {0}"),
}  # fmt: skip


def two(first: tuple, second: tuple, outputs: str = "y") -> onnx.ModelProto:
    """Two Pads in a row: form, amounts, mode and fill of each."""
    nodes, tensors = "", []
    for role, x, y, (form, amounts, mode, fill) in (("first", "x", "p", first), ("second", "p", "y", second)):
        node, held = FORMS[form]
        words = {"MODE": mode, "Mode": mode.upper(), "VALUE": "" if fill is None else f", value = {fill}", "X": x,
                 "FILL": "" if fill is None else f", {role}f", "FIL2": ", " if fill is None else f", {role}f",
                 "@": role} | dict(zip(("B0", "B1", "E0", "E1"), map(str, amounts)))  # fmt: skip
        for word, meaning in words.items():
            node, held = node.replace(word, meaning), held.replace(word, meaning)
        nodes += f"[{role}] {y} = {node} "
        tensors += [held, f"float {role}f = {{{0.0 if fill is None else fill}}}"]
    shown = ", ".join(f"float[{name}0, {name}1] {name}" for name in outputs)
    return parser.parse_model(f"""<ir_version: 9, opset_import: ["": 19, "padops": 1]>
        g (float[a, b] x) => ({shown}) <{", ".join(tensors)}> {{ {nodes} }}""")


def small(least: int) -> Any:
    return st.tuples(*[st.integers(least, 3)] * 4)


def _data(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


@RANDOM
@given(st.sampled_from([*FORMS]), st.sampled_from([*FORMS]), small(0), small(-3),
       st.sampled_from([None, 0.0, 1.5, -0.0]), st.tuples(st.integers(0, 4), st.integers(0, 4)))  # fmt: skip
def test_constants(one: str, other: str, first: Any, second: Any, fill: Any, shape: tuple[int, int]) -> None:
    """The first adds, the second does what it likes: the sum of both, in every pair of forms, for every shape."""
    source = two((one, first, "constant", fill), (other, second, "constant", fill))
    message, kept = fold(source).proto(), fold(source, fold=False).proto()
    assert len(message.graph.node) == 1
    assert _run_or_fail(message, _data(*shape)) == _run_or_fail(kept, _data(*shape))
    assert fold(message).proto() == message


def _run_or_fail(message: onnx.ModelProto, x: np.ndarray) -> Any:
    try:
        return run(message, {"x": x})
    except RUNTIME_ERRORS as error:
        assert "[P1]" in str(error), error
        return "a negative output dim"


@RANDOM
@given(st.sampled_from([*FORMS]), st.sampled_from([*FORMS]), small(0), small(0), st.tuples(st.integers(1, 4),
       st.integers(1, 4)))  # fmt: skip
def test_edges(one: str, other: str, first: Any, second: Any, shape: tuple[int, int]) -> None:
    source = two((one, first, "edge", None), (other, second, "edge", None))
    message, kept = fold(source).proto(), fold(source, fold=False).proto()
    assert len(message.graph.node) == 1
    assert run(message, {"x": _data(*shape)}) == run(kept, {"x": _data(*shape)})


ROWS, COLUMNS = (2, 0, 1, 0), (0, 1, 0, 2)


@pytest.mark.parametrize("first, second", [(ROWS, COLUMNS), (COLUMNS, ROWS)])
@pytest.mark.parametrize("form, mode", [(P, "reflect"), ("Pad_19", "wrap"), ("OpenVINOPad_12", "symmetric"),
                                        ("NGraphPad_0", "reflect")])  # fmt: skip
def test_axes_apart(form: str, mode: str, first: Any, second: Any) -> None:
    source = two((form, first, mode, None), (form, second, mode, None))
    conversion = fold(source)
    assert outcomes(conversion)[0] == ("first", "folded", ("second",))
    kept = fold(source, fold=False).proto()
    for shape in [(3, 3), (4, 5)]:
        assert run(conversion.proto(), {"x": _data(*shape)}) == run(kept, {"x": _data(*shape)})


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
