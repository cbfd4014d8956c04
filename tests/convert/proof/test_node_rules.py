"""Before a proof, each node is checked: a broken node gives a reason, and a right one gives none."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper
from written_models import model

from padops.convert.errors import PadopsError
from padops.convert.proof import refusals
from padops.convert.proof.refusals import problems

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
AMOUNTS = "p = Constant<value_ints: ints = [0, 1, 0, 1]>()"


def told(
    op: str, *dims: list[int] | None, domain: str = "", kinds: dict[int, int] | None = None, **rows: object
) -> list:
    """Return the faults of a node whose inputs have these dims and are float, but for the ``kinds`` by place."""
    types = [None if row is None else helper.make_tensor_type_proto((kinds or {}).get(at, FLOAT), row)
             for at, row in enumerate(dims)]  # fmt: skip
    node = helper.make_node(op, [f"x{at}" for at in range(len(dims))], ["y"], domain=domain, **rows)
    return list(problems(node, domain, 18, types))


@pytest.mark.parametrize(
    "op, place",
    [
        ("ConstantOfShape", 0), ("Expand", 1), ("Pad", 1), ("Pad", 3), ("Reshape", 1), ("Slice", 1), ("Slice", 2),
        ("Slice", 3),
        ("Slice", 4), ("Split", 1), ("Squeeze", 1), ("Tile", 1), ("TopK", 1), ("Unsqueeze", 1),
    ],
)  # fmt: skip
def test_lists_have_one_axis(op: str, place: int) -> None:
    scalar = [[] if op == "Pad" and at == 2 else [2] for at in range(place)]
    for dims, axes in (([2, 2], 2), ([], 0)):
        assert told(op, *scalar, dims) == [f"its input {place} has {axes} axes, and is to be a list"]
    assert told(op, *scalar, [2]) == told(op, *scalar, None) == []


def test_pads_of_other_domains() -> None:
    assert told("Pad_18", [2, 3], [2, 2], domain="padops") == ["its input 1 has 2 axes, and is to be a list"]
    assert told("Pad_18", [2, 3], [4], [2], domain="padops") == ["its fill has the dims [2], and is to be one number"]
    assert told("Pad_18", [2, 3], [4], [1], domain="padops") == told("Pad", [2, 3], [4], []) == []
    assert told("Pad_18", [2, 3], [2, 2], domain="other") == told("Tile", [2, 3], [2, 2], domain="other") == []
    assert told("Pad", [2, 3], [4], domain="com.microsoft", kinds={0: INT64}) == ["its data are of int64"]
    for kind in (FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, 0):
        assert told("Pad", [2, 3], [4], domain="com.microsoft", kinds={0: kind}) == []


def test_texts_that_an_operator_knows() -> None:
    assert told("DepthToSpace", [1, 4, 2, 2], mode="CDR") == ["its mode is 'CDR'"]
    assert told("DepthToSpace", [1, 4, 2, 2], mode="CRD") == []
    assert told("Pad", [2, 3], [4], mode="symmetric") == [
        "its mode is 'symmetric'"
    ]  # in a branch that is never taken, too
    assert [told("Pad", [2, 3], [4], mode=mode) for mode in ("constant", "edge", "reflect", "wrap")] == [[]] * 4
    assert told("Pad_18", [2, 3], [4], domain="padops", mode="symmetric") == []
    for op in ("AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv"):
        assert told(op, [1, 1, 5, 5], auto_pad="SAME") == ["its auto_pad is 'SAME'"]
        assert told(op, [1, 1, 5, 5], auto_pad="VALID") == []
        assert told(op, [1, 1, 5], kernel_shape=[2, 2]) == ["its kernel_shape are [2, 2], of data with 1 spatial axes"]
        assert told(op, [1, 1, 5, 5], kernel_shape=[2, 2], pads=[0, 1, 0, 1]) == told(op, None, strides=[1]) == []


def test_what_is_right_is_no_reason() -> None:
    """Right nodes give no reason: operators of three inputs, a body that reads outer values, windows, lists."""
    made = model(
        f"""(bool c, float[1, 1, 4, 4] x, float[1, 1, 2, 2] w, bool[4] m) => (float[a, b, d, e] y) {{
        s = Constant<value_ints: ints = [1, 2]>() t = Constant<value_ints: ints = [3, 4]>() {AMOUNTS}
        u = Slice(x, s, t, t) v = Where(m, x, x) q = Reshape(v, p) k = com.microsoft.Pad(x, p)
        h = Conv<kernel_shape = [2, 2], pads = [0, 1, 0, 1], auto_pad = "NOTSET">(x, w)
        a, b = Split<axis = 2, num_outputs = 2>(x) d, e = Split<axis = 2>(x, s)
        y = If(c) <then_branch = g1 () => (float[a, b, d, e] t1) {{ t1 = Relu(h) }},
                   else_branch = g2 () => (float[a, b, d, e] t2) {{ t2 = Neg(x) }}> }}""",
    )
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    assert refusals.refusals(onnx.ModelProto(ir_version=8, graph=onnx.GraphProto()), made) == []


def test_as_many_calls_as_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made = model("""(float[n] x) => (float[m] y) { a = other.f(x) y = other.f(a) }
        <domain: "other", opset_import: ["" : 18]> f (x) => (r) { r = Neg(x) }""")
    monkeypatch.setattr(refusals, "MOST_CALLS", 2)
    refusals.check_calls(made)
    monkeypatch.setattr(refusals, "MOST_CALLS", 1)
    with pytest.raises(PadopsError, match="the functions of the model call each other 2 times: more than 1"):
        refusals.check_calls(made)
