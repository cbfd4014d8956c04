"""Folding several nodes in a row: two Pads, and a Pad between Casts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from folding_models import fold, operators, outcomes, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from small_models import FLOAT, INT16, INT64, info, model, pad, tensor

import padops
from padops.convert.folding.casts import WIDER
from padops.spec.dtypes import by_name

RUNTIME_ERRORS = (onnxruntime.capi.onnxruntime_pybind11_state.Fail,
                  onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument)  # fmt: skip
RANDOM = settings(max_examples=60, deadline=None, derandomize=True, database=None,
                  suppress_health_check=list(HealthCheck))  # fmt: skip


# --- two Pads ---------------------------------------------------------------------------------------------------------


def made(form: str, names: tuple[str, str], role: str, amounts: Any, mode: str, fill: float | None) -> tuple:
    """A Pad of rank 2 in one of its forms, with the tensors that it reads."""
    begins, ends = list(amounts[:2]), list(amounts[2:])
    given = [tensor(f"{role}_fill", fill, np.float32)] if fill is not None and form != "Pad-2" else []
    fills = [f"{role}_fill"] if given else []
    inputs, output = [names[0]], names[1]
    attributes: dict[str, Any] = {"name": role, "mode": mode}
    if form == "Pad-2":
        node = pad(inputs, output, pads=list(amounts), **attributes, **({"value": fill} if fill is not None else {}))
        return node, []
    if form in ("Pad-13", "Pad_19"):
        more = {"domain": "padops"} if form == "Pad_19" else {}
        op = form if more else "Pad"
        node = helper.make_node(op, [*inputs, f"{role}_pads", *fills], [output], **attributes, **more)
        return node, [tensor(f"{role}_pads", list(amounts)), *given]
    if form == "Pad-18 with axes":
        node = pad([*inputs, f"{role}_pads", fills[0] if fills else "", f"{role}_axes"], output, **attributes)
        reordered = [begins[1], begins[0], ends[1], ends[0]]
        return node, [tensor(f"{role}_pads", reordered), tensor(f"{role}_axes", [-1, 0]), *given]
    attributes = {"name": role, "pad_mode": mode, "domain": "padops"}
    if form == "OpenVINOPad_12":
        node = helper.make_node(form, [*inputs, f"{role}_b", f"{role}_e", *fills], [output], **attributes)
        return node, [tensor(f"{role}_b", begins, np.int32), tensor(f"{role}_e", ends), *given]
    given = given or [tensor(f"{role}_fill", 0, np.float32)]
    node = helper.make_node("NGraphPad_0", [*inputs, f"{role}_fill"], [output], padding_below=begins, padding_above=ends,
                            **attributes | {"pad_mode": mode.upper()})  # fmt: skip
    return node, given


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
    assert conversion.records[1].notes == ("with what graph/first did",)
    kept = fold(source, fold=False).proto()
    for shape in [(3, 3), (4, 5)]:
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        assert run(conversion.proto(), {"x": x}) == run(kept, {"x": x})


P = "Pad-13"
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


def test_a_pad_and_the_crop_of_it() -> None:
    """Together they change nothing."""
    source = two((P, (2, 1, 0, 3), "constant", 7.0), (P, (-2, -1, 0, -3), "constant", 7.0))
    conversion = fold(source, verify=True)
    assert operators(conversion.proto()) == ["Identity"] and conversion.verification.outcome == "equal"
    assert [status for _, status, _ in outcomes(conversion)] == ["folded", "folded"]


def test_three_in_a_row() -> None:
    source = two((P, ROWS, "constant", None), (P, COLUMNS, "constant", None))
    last, tensors = made(P, ("y", "z"), "third", ROWS, "constant", None)
    source.graph.node.append(last)
    source.graph.initializer.extend(tensors)
    source.graph.output[0].name = "z"
    conversion = fold(source, verify=True)
    (node,) = conversion.proto().graph.node
    pads = next(t for t in conversion.proto().graph.initializer if t.name == node.input[1])
    assert numpy_helper.to_array(pads).tolist() == [4, 1, 2, 2]
    assert [path for path, *_ in outcomes(conversion)] == ["first", "second", "third"]
    assert conversion.records[2].status == "converted" and conversion.verification.outcome == "equal"


def test_the_rank_has_to_be_known_where_axes_are_named() -> None:
    row = (("Pad-18 with axes", ROWS, "constant", None), (P, COLUMNS, "constant", None))
    assert [len(fold(two(*row, shape=shape)).proto().graph.node) for shape in [(None, None), None]] == [1, 2]
    opset = [helper.make_opsetid("", 18)]
    nodes = [helper.make_node("Constant", [], [name], value=tensor("", value)) for name, value in
             [("a", [-1]), ("b", [-2]), ("o", [1, 1])]]  # fmt: skip
    nodes += [pad(["i", "o", "", "a"], "p"), pad(["p", "o", "", "b"], "r")]
    function = helper.make_function("mine", "Block", ["i"], ["r"], nodes, opset)
    call = helper.make_node("Block", ["x"], ["y"], domain="mine")
    message = fold(model([call], 18, functions=[function], imports=[("mine", 1)])).proto()
    assert operators(message.functions[0])[-2:] == ["padops::Pad_18"] * 2


# --- Casts ------------------------------------------------------------------------------------------------------------


def cast(
    narrow: int, wide: int, back: int | None = None, mode: str = "constant", fill: Any = None, **parts: Any
) -> Any:
    """Cast, Pad and Cast back."""
    dtype = helper.tensor_dtype_to_np_dtype(wide)
    fills = [tensor("fill", fill, dtype)] if fill is not None else []
    nodes = [helper.make_node("Cast", ["x"], ["w"], name="up", to=wide),
             pad(["w", "pads", *(["fill"] if fills else [])], "q", name="pad", mode=mode),
             helper.make_node("Cast", ["q"], ["y"], name="down", to=back or narrow)]  # fmt: skip
    return model(nodes, parts.get("opset", 21), ir_version=10, inputs=[("x", narrow, ["n"])],
                 outputs=[("y", back or narrow, None)], tensors=[tensor("pads", parts.get("amounts", [2, 1])), *fills])  # fmt: skip


PAIRS = [(narrow, wide) for narrow, wides in WIDER.items() for wide in wides]


def every_value(name: str) -> np.ndarray:
    """All bits of a type of up to 16, many of a wider one; of NaNs the one of either sign that Casts make of them."""
    dtype = by_name(name).numpy
    if name == "bool":
        return np.array([False, True, True])
    if dtype.itemsize <= 2:
        values = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
    elif name == "float":
        values = np.random.default_rng(0).integers(0, 1 << 32, 5000, dtype=np.uint32).view(dtype)
        values = np.append(values, np.array([0.0, -0.0, np.inf, -np.inf, 1e-45, np.finfo(dtype).max], dtype))
    else:
        limits = np.iinfo(dtype)
        values = np.random.default_rng(0).integers(limits.min, limits.max, 5000, dtype, endpoint=True)
    if dtype.kind in "iu":
        return values
    nan = values.dtype.type(np.nan)
    with np.errstate(invalid="ignore"):
        numbers = values[~np.isnan(values.astype(np.float64))]
    return np.append(numbers, np.array([nan, -nan], dtype))


@pytest.mark.parametrize("narrow, wide", PAIRS)
def test_casts_to_every_wider_type_and_back(narrow: str, wide: str) -> None:
    """Every element of the narrow type comes back through ONNX Runtime's Casts as it was."""
    row, other = by_name(narrow), by_name(wide)
    source = cast(row.onnx, other.onnx, mode="edge")
    conversion = fold(source)
    assert operators(conversion.proto()) == ["padops::Pad_21"]
    assert conversion.records[0].notes == (f"of {narrow}, without up to {wide} and down back",)
    values = every_value(narrow)
    assert run(conversion.proto(), {"x": values}) == run(fold(source, fold=False).proto(), {"x": values})
    if wide not in ("bfloat16", "float16"):
        filled = cast(row.onnx, other.onnx, fill=1)
        assert operators(fold(filled).proto()) == ["padops::Pad_21"]
        assert run(fold(filled).proto(), {"x": values}) == run(fold(filled, fold=False).proto(), {"x": values})


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("amounts", ["known", "of the caller"])
def test_every_mode(mode: str, amounts: str) -> None:
    source = cast(10, FLOAT, mode=mode)
    feeds = {"x": np.array([-0.0, 1.5, np.nan, 65504], np.float16)}
    if amounts == "of the caller":
        del source.graph.initializer[0]
        source.graph.input.append(info(("pads", INT64, [2])))
        feeds["pads"] = np.array([2, 1])
    conversion = fold(source)
    assert operators(conversion.proto()) == ["padops::Pad_21"]
    assert conversion.proto().graph.output == source.graph.output
    assert run(conversion.proto(), feeds) == run(source, feeds)


def test_the_payload_of_a_nan_is_kept() -> None:
    """The one difference: the Casts keep its sign alone."""
    source, bits = cast(10, FLOAT, mode="edge"), np.array([0xFD01], np.uint16)
    kept = np.frombuffer(run(fold(source).proto(), {"x": bits.view(np.float16)})[0][2], np.uint16)
    cast_back = np.frombuffer(run(source, {"x": bits.view(np.float16)}, "DISABLE_ALL")[0][2], np.uint16)
    assert set(kept.tolist()) == {0xFD01} and set(cast_back.tolist()) == {0xFE00}


def cast_with_attributes(narrow: int, opset: int) -> onnx.ModelProto:
    nodes = [helper.make_node("Cast", ["x"], ["w"], to=FLOAT), pad(["w"], "q", pads=[1, 0], value=-3.0, name="pad"),
             helper.make_node("Cast", ["q"], ["y"], to=narrow)]  # fmt: skip
    return model(nodes, opset, inputs=[("x", narrow, ["n"])], outputs=[("y", narrow, None)])


@pytest.mark.parametrize("opset, target", [(13, "padops"), (10, "pyop")])
def test_fills_in_attributes(opset: int, target: str) -> None:
    conversion = fold(cast_with_attributes(3, opset), target=target)
    assert "Cast" not in operators(conversion.proto())
    assert conversion.records[0].op_type == f"Pad_{max(opset, 11)}"
    if target == "padops":
        assert run(conversion.proto(), {"x": np.array([5], np.int8)})[0][2] == np.array([-3, 5], np.int8).tobytes()


@pytest.mark.parametrize("narrow", [3, 10], ids=["int8", "float16"])
def test_casts_stay_where_no_fallback_has_the_narrow_type(narrow: int) -> None:
    """The model has run without the library, and has to go on doing so."""
    source = cast_with_attributes(narrow, 10)
    conversion = padops.convert(source)
    assert operators(conversion.proto()) == ["Cast", "padops::Pad_2", "Cast"]
    x = np.array([5], helper.tensor_dtype_to_np_dtype(narrow))
    alone = onnxruntime.InferenceSession(conversion.proto().SerializeToString())
    assert alone.run(None, {"x": x})[0].tolist() == [-3, 5]


NOT_FOLDED = {
    "a type that lacks values": cast(INT64, FLOAT),
    "another type back": cast(3, FLOAT, back=INT16),
    "to an unsigned type": cast(3, 2),
    "a fill that is rounded": cast(10, FLOAT, fill=0.1),
    "a fill out of range": cast(3, FLOAT, fill=200),
    "a fill that is NaN": cast(10, FLOAT, fill=np.nan),
    "a fill that is no bool": cast(9, 6, fill=2),
}


@pytest.mark.parametrize("why", NOT_FOLDED)
def test_casts_that_stay(why: str) -> None:
    conversion = fold(NOT_FOLDED[why])
    assert operators(conversion.proto()) == ["Cast", "padops::Pad_21", "Cast"]


def test_casts_that_others_read_stay() -> None:
    for name, kind in [("w", FLOAT), ("q", FLOAT)]:
        source = cast(10, FLOAT)
        source.graph.output.append(info((name, kind, None)))
        assert operators(fold(source).proto()) == ["Cast", "padops::Pad_21", "Cast"]
    source = cast(10, FLOAT, fill=1)
    del source.graph.initializer[1]
    source.graph.input.append(info(("fill", FLOAT, [])))
    assert operators(fold(source).proto()) == ["Cast", "padops::Pad_21", "Cast"]
    assert operators(fold(cast(10, FLOAT), target="onnx").proto()) == ["Cast", "Pad", "Cast"]
    assert operators(fold(cast(10, FLOAT), select="needed").proto()) == ["Cast", "Pad", "Cast"]


def test_casts_of_earlier_conversions() -> None:
    """An operator of padops takes another type where it has it; Pad_1 and Pad_2 have floats alone."""
    for op, more, becomes in [("Pad_2", {"pads": [1, 0]}, 3), ("Pad_1", {"paddings": [1, 0]}, 3)]:
        node = helper.make_node(op, ["w"], ["q"], name="pad", domain="padops", **more)
        nodes = [helper.make_node("Cast", ["x"], ["w"], to=FLOAT), node, helper.make_node("Cast", ["q"], ["y"], to=3)]
        source = model(nodes, inputs=[("x", 3, ["n"])], outputs=[("y", 3, None)], imports=[("padops", 1)])
        assert len(fold(source).proto().graph.node) == becomes
    source = cast(10, FLOAT)
    kept = fold(source, fold=False).proto()
    conversion = fold(kept)
    assert operators(conversion.proto()) == ["padops::Pad_21"]
    assert conversion.records[0].status == "already converted"
    x = np.arange(5).astype(np.float16)
    assert run(conversion.proto(), {"x": x}) == run(source, {"x": x})
    assert fold(conversion.proto()).proto() == conversion.proto()


def test_a_fill_that_no_one_reads() -> None:
    """In other modes it goes away, so that it need not be of the type."""
    source = cast(10, FLOAT, mode="edge", fill=0.1)
    (node,) = fold(source).proto().graph.node
    assert len(node.input) == 2 and [t.name for t in fold(source).proto().graph.initializer] == ["pads"]
    given = [tensor("f", 7, np.float32)]
    node = helper.make_node("NGraphPad_0", ["w", "f"], ["q"], domain="padops", pad_mode="EDGE", padding_below=[1],
                            padding_above=[0])  # fmt: skip
    nodes = [helper.make_node("Cast", ["x"], ["w"], to=FLOAT), node, helper.make_node("Cast", ["q"], ["y"], to=16)]
    source = model(nodes, inputs=[("x", 16, ["n"])], outputs=[("y", 16, None)], tensors=given, imports=[("padops", 1)])
    message = fold(source).proto()
    assert operators(message) == ["padops::NGraphPad_0"]
    x = np.arange(3).astype(ml_dtypes.bfloat16)
    assert run(message, {"x": x})[0][2] == x[[0, 0, 1, 2]].tobytes()


def test_the_type_behind_a_pad_that_took_over() -> None:
    """Nothing declares what the second Cast gave, and inference has said what the first did."""
    source = cast(10, FLOAT, amounts=[0, 1], mode="edge")
    source.graph.node.append(pad(["y", "pads"], "z", name="again", mode="reflect"))
    source.graph.output[0].name = "z"
    conversion = fold(source, verify=True)
    assert operators(conversion.proto()) == ["padops::Pad_21"] * 2 and conversion.verification.outcome == "equal"
    assert [info.type.tensor_type.elem_type for info in conversion.proto().graph.value_info] == [10]
    pairs = model([*cast(10, FLOAT, fill=1).graph.node, *_renamed(cast(10, FLOAT, fill=1).graph.node)], 21, ir_version=10,
                  inputs=[("x", 10, ["n"])], outputs=[("z", 10, None)],
                  tensors=[tensor("pads", [1, 1]), tensor("fill", 1, np.float32)])  # fmt: skip
    conversion = fold(pairs, verify=True)
    assert operators(conversion.proto()) == ["padops::Pad_21"] and conversion.verification.outcome == "equal"


def _renamed(nodes: Any) -> list[onnx.NodeProto]:
    """The same nodes, behind those."""
    made = []
    for node in nodes:
        made.append(onnx.NodeProto())
        made[-1].CopyFrom(node)
        names = {"x": "y", "w": "w2", "q": "q2", "y": "z"}
        for field in (made[-1].input, made[-1].output):
            field[:] = [names.get(name, name) for name in field]
        made[-1].name += "2"
    return made


def test_casts_and_another_pad() -> None:
    """Rules go on where others have ended."""
    source = cast(10, FLOAT, amounts=[1, 0])
    other, tensors = made(P, ("y", "z"), "other", (0, 0, 0, 0), "constant", None)
    del tensors[:]
    other.input[1] = "pads"
    source.graph.node.append(other)
    source.graph.output[0].name = "z"
    conversion = fold(source, verify=True)
    assert operators(conversion.proto()) == ["padops::Pad_21"] and conversion.verification.outcome == "equal"
    assert outcomes(conversion) == [("pad", "folded", ("other",)), ("other", "converted", ())]
