"""What the verifier takes a node's Pad for: whose it is, its axes, its mode, its rules and its fill; what is no Pad."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from padops.convert.verify import pad_terms
from padops.convert.verify.moves import definitions
from padops.convert.verify.moves.definitions import NGRAPH, ONCE, ONNX, OPENVINO_1, OPENVINO_12, SAME, TENSORFLOW
from padops.convert.verify.terms import Fails, Head, Kind, Terms, Unsupported
from padops.spec.dialects import OPS
from padops.spec.plan import Mode

OV, TF, NG, OURS = "ai.intel.openvino", "tensorflow", "ngraph", "padops"


def head(name: str, domain: str = "", **attributes: Any) -> Head:
    return Head(Kind.OPERATOR, domain, name, attributes=tuple((key, 0, value) for key, value in attributes.items()))


def pad(mode: str = "constant", **more: Any) -> Head:
    return Head(Kind.PAD, mode=mode, **more)


BELOW, BOTH = {"padding_below": (1, 0)}, {"padding_below": (1, 0), "padding_above": (0, 2)}
WHOSE = [
    (pad(), "onnx"), (Head(Kind.CONSTANT), ""), (head("Pad"), ""), (head("Pad", "com.microsoft"), ""),
    (head("Pad", OV), "openvino"), (head("Relu", OV), ""), (head("OpenVINOPad_12", OURS), "openvino"),
    (head("Pad", NG, **BOTH), "ngraph"), (head("Pad", NG, **BELOW), ""), (head("Roll", NG, **BOTH), ""),
    (head("NGraphPad_0", OURS, **BELOW), "ngraph"), (head("SamePad_1", OURS), "same"), (head("Pad_1", OURS), OURS),
    (head("pad", "aten"), "torch"), (head("ATen", operator=b"pad"), "torch"), (head("ATen", operator=b"add"), ""),
    (head("ATen"), ""), (head("add", "aten"), ""), (head("pad"), ""),
    (head("CenterCropPad"), "CenterCropPad"), (head("PadImage"), "PadImage"), (head("PadImage", "x"), ""),
    (head("MirrorPad", TF, mode=b"REFLECT"), "tensorflow"), (head("Pad", TF, T=1, Tpaddings=3), "tensorflow"),
    (head("PadV2", TF), "tensorflow"), (head("Pad", TF, value=1), ""), (head("Tile", TF), ""),
]  # fmt: skip


@pytest.mark.parametrize(("node", "whose"), WHOSE, ids=str)
def test_whose_pad_a_node_is(node: Head, whose: str) -> None:
    assert definitions.dialect(node) == whose


def test_no_mode_is_forgotten() -> None:
    assert set(definitions.MODES) == {mode.value for mode in Mode}
    assert set(pad_terms.MODES) == {mode for op in OPS.values() if op.is_onnx for mode in op.modes}


L, S = np.array, (3, 4)
TWO = ((1, 0), (0, 2))
EMPTY, KERNEL = ((0, 0), (0, 0)), {"kernel_shape": (3,), "strides": (2,), "mode": b"edge"}
# Node, dims of the data, inputs from the second on; amounts of each axis, mode, rules, index of the fill.
EFFECTS: list[tuple[Head, tuple[int, ...], list[Any], tuple, str, definitions.Rules, int]] = [
    (pad("wrap"), S, [L([1, 0, 0, 2])], TWO, "wrap", ONNX, 2),
    (pad(), S, [L([[1, 0, 0, 2]])], TWO, "constant", ONNX, 2),
    (pad(), S, [L([1, 2]), None, L([-1])], ((0, 0), (1, 2)), "constant", ONNX, 2),
    (pad(), S, [L([0, 1, 2, 0]), None, L([1, 0])], TWO, "constant", ONNX, 2),
    (head("CenterCropPad"), S, [L([6, 1])], ((1, 2), (-1, -2)), "constant", ONNX, -1),
    (head("CenterCropPad", axes=(1,)), S, [L([6])], ((0, 0), (1, 1)), "constant", ONNX, -1),
    (head("constant_pad_nd", "aten"), S, [L([1, 2])], ((0, 0), (1, 2)), "constant", ONNX, 2),
    (head("pad", "aten"), S, [L([0, 2, 1, 0]), L([b"replicate"])], TWO, "edge", ONCE, 3),
    (head("pad", "aten"), S, [L([0, 2, 1, 0]), None], TWO, "constant", ONNX, 3),
    (head("_pad_enum", "aten"), S, [L([0, 2]), L(2)], ((0, 0), (0, 2)), "wrap", ONNX, 3),
    (head("PadImage"), (1, 1, 3, 4), [], ((0, 0),) * 4, "constant", ONCE, -1),
    (head("PadImage", pad_t=1, pad_r=2), (1, 1, 3, 4), [], ((0, 0), (0, 0), *TWO), "constant", ONCE, -1),
    (head("PadImage", pads=(1, 0, 0, 2), mode=b"edge"), (1, 1, 3, 4), [], ((0, 0), (0, 0), *TWO), "edge", ONCE, -1),
    (head("PadImage", pad=1, order=b"NHWC"), (1, 3, 4, 1), [], ((0, 0), (1, 1), (1, 1), (0, 0)), "constant", ONCE, -1),
    (head("Pad", OV, pad_mode=b"edge"), S, [L([1, 0]), L([0, 2])], TWO, "edge", OPENVINO_12, 3),
    (head("Pad", OV, pad_mode=b"edge", version=b"opset1"), S, [L([1, 0]), L([0, 2])], TWO, "edge", OPENVINO_1, 3),
    (head("OpenVINOPad_1", OURS, pad_mode=b"edge"), S, [L([1, 0]), L([0, 2])], TWO, "edge", OPENVINO_1, 3),
    (head("Pad", NG, **BOTH), S, [], TWO, "constant", NGRAPH, 1),
    (head("Pad", NG, pad_mode=1, padding_interior=(0, 1), **BOTH), S, [], ((1, 0), (0, 2, 1)), "edge", NGRAPH, 1),
    (head("Pad", NG, pad_mode=b"REFLECT", **BOTH), S, [], TWO, "reflect", NGRAPH, 1),
    (head("SamePad_1", OURS, **KERNEL), (1, 1, 4), [], ((0, 0), (0, 0), (0, 1)), "edge", SAME, 1),
    (head("SamePad_1", OURS, auto_pad=b"SAME_LOWER", **KERNEL), (1, 2, 4), [], (*EMPTY, (1, 0)), "edge", SAME, 1),
    (head("SamePad_1", OURS, data_format=b"NHWC", **KERNEL), (1, 4, 1), [], ((0, 0), (0, 1), (0, 0)), "edge", SAME, 1),
    (head("SamePad_1", OURS, kernel_shape=(3,), dilations=(2,)), (1, 1, 1), [], ((0, 0), (0, 0), (2, 2)), "", SAME, 1),
    (head("SamePad_1", OURS), (1, 1), [], ((0, 0), (0, 0)), "", SAME, 1),
    (head("MirrorPad", TF, mode=b"SYMMETRIC"), S, [L([[1, 0], [0, 2]])], TWO, "symmetric", TENSORFLOW, -1),
    (head("PadV2", TF), S, [L([[1, 0], [0, 2]])], TWO, "constant", TENSORFLOW, 2),
    (head("Pad", TF), S, [L([[1, 0], [0, 2]])], TWO, "constant", TENSORFLOW, -1),
]  # fmt: skip


@pytest.mark.parametrize(("node", "dims", "inputs", "amounts", "mode", "rules", "fill"), EFFECTS, ids=str)
def test_what_a_pad_does(node: Head, dims: Any, inputs: list, amounts: Any, mode: str, rules: Any, fill: int) -> None:
    found = definitions.defined(node, dims, dict(enumerate(inputs, 1)).get)
    assert found.axes == [definitions.Axis(size, *row) for size, row in zip(dims, amounts, strict=True)]
    assert (found.mode, found.rules, found.fill) == (mode, rules, fill)
    assert found.number is (node.domain == "aten")


NO_KERNEL = r"its strides and dilations do not fit rank \d \[S1\]"
REFUSED: list[tuple[Head, tuple[int, ...], list[Any], type[Exception], str]] = [
    (pad(fill=bytes(4)), S, [L([0] * 4)], Unsupported, "the fill or the mode"),
    (pad("other"), S, [L([0] * 4)], Unsupported, "the fill or the mode"),
    (pad(), S, [None], Fails, r"no list \[P8\]"), (pad(), S, [np.zeros((2, 2), int)], Fails, r"no list \[P8\]"),
    (pad(), (), [L([1])], Unsupported, "without axes"), (pad(), S, [L([0] * 6)], Fails, r"6 values .* rank 2 \[P8\]"),
    (pad(), S, [L([0] * 4), None, L([0, -2])], Fails, r"4 values for axes=\[0, -2\] .*\[P8\]"),
    (pad(), S, [L([0] * 2), None, L([2])], Fails, r"axes=\[2\]"), (pad(), S, [L([0] * 2), None, L([-3])], Fails, "-3"),
    (head("CenterCropPad"), S, [L([6])], Fails, "for 2 axes"), (head("CenterCropPad"), S, [], Fails, "shape None"),
    (head("pad", "aten"), S, [L([1] * 6)], Fails, "rank 2"), (head("pad", "aten"), S, [L([1])], Fails, "rank 2"),
    (head("pad", "aten"), S, [L([[1, 2]])], Fails, "rank 2"), (head("pad", "aten"), S, [], Fails, "rank 2"),
    (head("pad", "aten"), S, [L([1, 2]), L([b"other"])], Unsupported, "mode 'other'"),
    (head("PadImage"), S, [], Fails, "rank 2"), (head("PadImage", pads=(1, 2)), (1, 1, 2, 2), [], Fails, "rank 4"),
    (head("Pad", OV), S, [L([1, 0])], Fails, r"None do not fit rank 2 \[P8\]"),
    (head("Pad", OV), S, [L([1]), L([1])], Fails, r"\[P8\]"),
    (head("Pad", OV), S, [L([[1, 0]]), L([0, 2])], Fails, r"\[P8\]"),
    (head("Pad", NG, padding_interior=(1,), **BOTH), S, [], Fails, r"rank 2 \[P8\]"),
    (head("SamePad_1", OURS, kernel_shape=(3,)), S, [], Fails, NO_KERNEL),
    (head("SamePad_1", OURS, kernel_shape=(0,)), (1, 1, 2), [], Fails, NO_KERNEL),
    (head("SamePad_1", OURS, kernel_shape=(3,), strides=(1, 1)), (1, 1, 2), [], Fails, NO_KERNEL),
    (head("SamePad_1", OURS, kernel_shape=(3,), dilations=(0,)), (1, 1, 2), [], Fails, NO_KERNEL),
    (head("Pad", TF), S, [], Fails, "rank 2"), (head("Pad", TF), S, [L([1, 0, 0, 2])], Fails, "rank 2"),
    (head("Pad", TF), S, [np.zeros((2, 2))], Fails, "rank 2"),
    (head("PadImage", mode=("@", "of_the_caller")), (1, 1, 2, 2), [], Unsupported, "the function's caller sets"),
    (head("Relu"), S, [], Unsupported, "::Relu"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "dims", "inputs", "error", "why"), REFUSED, ids=str)
def test_what_is_no_pad_of_the_data(node: Head, dims: Any, inputs: list, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        definitions.defined(node, dims, dict(enumerate(inputs, 1)).get)


RANKS = [
    (pad(), {1: L([0] * 6)}, 3), (pad(), {1: L([0] * 6), 3: None}, None), (pad(), {}, None), (pad(), {1: L(1)}, None),
    (head("Pad", OV), {1: L([0] * 3)}, 3), (head("Pad", TF), {1: np.zeros((3, 2))}, 3),
    (head("pad", "aten"), {1: L([0])}, None), (head("Pad", NG, **BOTH), {}, 2),
    (head("NGraphPad_0", OURS, padding_below=("@", "p")), {}, None),
]  # fmt: skip


@pytest.mark.parametrize(("node", "given", "rank"), RANKS, ids=str)
def test_the_rank_that_constants_tell(node: Head, given: dict[int, Any], rank: int | None) -> None:
    assert definitions.data_rank(node, given) == rank


def test_a_name_is_an_operator_of_onnx_in_such_a_term_alone() -> None:
    terms, kinds = Terms(), (Head(Kind.INPUT, name="Concat"), head("Concat", "other"), head("Concat"))
    assert [terms.op(terms.add(one)) for one in kinds] == ["", "", "Concat"]


def test_a_cone_ends_below_its_root() -> None:
    terms = Terms()
    data = terms.add(Head(Kind.INPUT, name="x"))
    first = terms.add(head("Transpose"), (data,))
    second, other = terms.add(head("Squeeze"), (first,)), terms.add(head("Tanh"), (first,))
    root = terms.add(head("Concat"), (second, other))
    assert set(definitions.cone(terms, root)) == {root, second, other, first, data}
    assert set(definitions.cone(terms, root, {root, second}.__contains__)) == {root, second, other}
