"""Random Pads in front of a convolution, a pooling or another Pad: folded or not, the bits stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import roads
from case_strategies import drawn
from folding_models import fold, outcomes, padded, run
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper
from small_models import INT32, parsed


@st.composite
def cases(draw: Any) -> tuple[onnx.ModelProto, np.ndarray]:
    """A constant Pad in front of a node that may or may not take it, and data with every kind of number."""
    rank = draw(st.integers(1, 3))
    op = draw(st.sampled_from(["Conv", "ConvInteger", "AveragePool", "MaxPool"]))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    channels = draw(st.sampled_from([1, 3, 8, 16]))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    attributes = {"kernel_shape": kernel, "strides": [draw(st.integers(1, 3)) for _ in range(rank)]}
    if op != "AveragePool":
        attributes["dilations"] = [draw(st.sampled_from([1, 1, 2])) for _ in range(rank)]
    if draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, k - 1)) for k in kernel * 2]
    if op == "AveragePool":
        attributes["count_include_pad"] = draw(st.integers(0, 1))
    if op in ("AveragePool", "MaxPool"):
        attributes["ceil_mode"] = draw(st.sampled_from([0, 0, 0, 1]))
    begins, ends = ([draw(st.integers(least, 3)) for _ in range(rank)] for least in (-1, 0))
    amounts = [0, 0, *begins, 0, 0, *ends]
    dtype = np.dtype(draw(st.sampled_from({"Conv": ["f4", "f2"], "ConvInteger": ["u1", "i1"],
                                           "AveragePool": ["f4", "f2"],
                                           "MaxPool": ["u1", "i1", "f4"]}[op])))  # fmt: skip
    shape = [draw(st.integers(1, 2)), channels, *(draw(st.integers(7, 12)) for _ in range(rank))]
    data = _data(seed, shape, dtype, draw(st.sampled_from(["plain", "plain", "special"])))
    fill = None if dtype.kind == "f" else int(seed.choice([np.iinfo(dtype).min, 0, 5]))
    others: dict[str, np.ndarray] = {}
    if op.startswith("Conv"):
        group = draw(st.sampled_from([1, channels]))
        attributes["group"] = group
        weights = (group * draw(st.sampled_from([1, 2, 8])) if group == 1 else channels, channels // group, *kernel)
        others["w"] = _data(seed, weights, dtype, "plain")
        if op == "ConvInteger":
            others["xz"] = np.array(seed.choice([fill, 3]), dtype)
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    result = INT32 if op == "ConvInteger" else kind
    return padded(amounts, op, others=others, kind=kind, result=result, fill=fill, **attributes), data


def _data(rng: np.random.Generator, shape: Any, dtype: np.dtype, what: str) -> np.ndarray:
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    data = rng.standard_normal(shape).astype(dtype)
    if what == "special":
        for value in (-0.0, 0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny):
            data[rng.random(shape) < 0.05] = value
    return data


@drawn(40)
@given(cases())
def test_random_models(case: tuple[onnx.ModelProto, np.ndarray]) -> None:
    """A folded model has the bits of ONNX Runtime's Pad at each level; any other has those without optimisation."""
    source, data = case
    conversion = fold(source)
    folded = conversion.records[0].status == "folded"
    for level in roads.LEVELS if folded else ("disable",):
        assert run(conversion.proto(), {"x": data}, level) == run(source, {"x": data}, level)
    assert fold(conversion.proto()).proto() == conversion.proto()


# --- two Pads in a row ------------------------------------------------------------------------------------------------

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


def two(first: tuple, second: tuple, outputs: str = "y", more: str = "") -> onnx.ModelProto:
    """Two Pads in a row, of a form, amounts, mode and fill each; and other nodes."""
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
    shown = ", ".join(f"float[] {name}" for name in outputs)
    return parsed(f"(float[a, b] x) => ({shown}) <{', '.join(tensors)}> {{ {nodes} {more} }}", 19)


def _counted(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def small(least: int) -> Any:
    return st.tuples(*[st.integers(least, 3)] * 4)


@drawn(80)
@given(st.booleans(), st.sampled_from([*FORMS]), st.sampled_from([*FORMS]), small(0), small(-3),
       st.sampled_from([None, 0.0, 1.5, -0.0]), st.tuples(st.integers(0, 4), st.integers(0, 4)))  # fmt: skip
def test_sums(edge: bool, one: str, other: str, first: Any, second: Any, fill: Any, shape: tuple[int, int]) -> None:
    """The sum of both, in every pair of forms, for every shape; constants may crop behind what is added."""
    mode = "edge" if edge else "constant"
    if edge:
        second, fill, shape = tuple(map(abs, second)), None, (shape[0] or 1, shape[1] or 1)
    source = two((one, first, mode, fill), (other, second, mode, fill))
    message, kept = fold(source).proto(), fold(source, fold=False).proto()
    assert len(message.graph.node) == 1
    assert _run_or_fail(message, _counted(*shape)) == _run_or_fail(kept, _counted(*shape))
    assert fold(message).proto() == message


def _run_or_fail(message: onnx.ModelProto, x: np.ndarray) -> Any:
    states = onnxruntime.capi.onnxruntime_pybind11_state
    try:
        return run(message, {"x": x})
    except (states.Fail, states.InvalidArgument) as error:
        assert "[P1]" in str(error), error
        return "a negative output dim"


ROWS, COLUMNS = (2, 0, 1, 0), (0, 1, 0, 2)


@pytest.mark.parametrize("form, mode", [(P, "reflect"), ("Pad_19", "wrap"), ("OpenVINOPad_12", "symmetric"),
                                        ("NGraphPad_0", "reflect")])  # fmt: skip
def test_axes_apart(form: str, mode: str) -> None:
    for first, second in ((ROWS, COLUMNS), (COLUMNS, ROWS)):
        source = two((form, first, mode, None), (form, second, mode, None))
        conversion, kept = fold(source), fold(source, fold=False).proto()
        assert outcomes(conversion)[0] == ("first", "folded", ("second",))
        for shape in [(3, 3), (4, 5)]:
            assert run(conversion.proto(), {"x": _counted(*shape)}) == run(kept, {"x": _counted(*shape)})


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
    assert len(fold(two(*row, outputs="yr", more="r = Relu (p)")).proto().graph.node) == 3
