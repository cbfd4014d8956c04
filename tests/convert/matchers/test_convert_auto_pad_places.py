"""``auto_pad="explicit"``: what ONNX Runtime gets wrong, and every place of a model."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from auto_pad_models import NAMES, WF, explicit, messages, node_model, only_record, run, same
from small_models import convert, parsed

import padops
from padops.convert import VerificationError
from padops.convert.model.graphs import NodeSite
from padops.convert.pads.pad_info import PadInfo
from padops.convert.rewrite import TARGETS

D2 = {"kernel_shape": (3,), "dilations": (2,)}
S3 = {"kernel_shape": (1,), "strides": (3,)}
DILATED = "ONNX Runtime computes SAME as if there were no dilation"
NEGATIVE = "ONNX Runtime pads by a negative amount where the stride is larger than the kernel"
NEEDED = [  # operator, attributes, other inputs, reason, what ONNX Runtime says unless it gives wrong numbers
    ("Conv", D2, {"w": np.ones((1, 1, 3), np.float32)}, "ONNX Runtime refuses SAME with a dilation",
     "Dilation not supported"),
    ("MaxPool", D2, {}, DILATED, None),
    ("AveragePool", D2, {}, DILATED, None),
    ("LpPool", D2, {}, DILATED, None),
    ("MaxPool", S3, {}, NEGATIVE, "padding values must be non-negative"),
    ("AveragePool", S3, {}, NEGATIVE, None),
    ("LpPool", S3, {}, NEGATIVE, None),
]  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1, 9), NAMES[:3]], ids=["static", "dynamic"])
@pytest.mark.parametrize("row", NEEDED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_needed(row: tuple, shape: tuple) -> None:
    """Each reason for ``select="needed"`` is a fact about the runtime that is installed."""
    op, attributes, tensors, reason, refusal = row
    original = node_model(op, shape, {**attributes, "auto_pad": "SAME_UPPER"}, tensors)
    conversion = explicit(original, select="needed")
    record = only_record(conversion)
    assert record.status == "converted" and record.notes[-1] == reason
    data = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 9)
    right = run(conversion.proto(), data)[0]
    if refusal is None:
        assert not same(run(original, data)[0], right)
    else:
        with pytest.raises(Exception, match=refusal):
            run(original, data)
    if shape[2] == 9:  # outputs that differ because the original's are wrong are no reason against the converted model
        conversion = explicit(original, verify=True, run=True)
        assert conversion.verification.outcome == ("corrected" if refusal is None else "runs")
        assert only_record(conversion).corrects == (None if op == "Conv" else reason)
        note = f"the outputs differ because the converted model corrects the original (graph/same: {reason})"
        assert refusal is not None or conversion.verification.notes[-1] == note


POOL = 'MaxPool <kernel_shape = [3], dilations = [2], auto_pad = "SAME_UPPER"> (x)'
BRANCHES = (
    f"then_branch = t () => (float[] t) {{ t = {POOL} }}, else_branch = e () => (float[] e) {{ e = Identity (x) }}"
)
PLACES = {"graph": f"p = {POOL}", "branch": f"p = If (c) <{BRANCHES}>", "function": "p = d.Pool (x)"}


def pooled(where: str) -> onnx.ModelProto:
    """y is pooled with SAME and a dilation, in a place; z is padded."""
    return parsed(f"""(float[1, 1, 9] x) => (float[a, b, d] y, float[e, f, h] z)
        <int64[6] pads = {{0, 0, 1, 0, 0, 1}}, bool c = {{1}}>
        {{ {PLACES[where]} y = Relu (p) z = Pad <mode = "reflect"> (x, pads) }}
        FUNCTION Pool (x) => (p) {{ p = {POOL} }}""")


@pytest.mark.parametrize("where", PLACES)
def test_a_correction_excuses_only_what_depends_on_it(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conversion = explicit(pooled(where), verify=True, run=True)
    assert conversion.verification.outcome == "corrected"
    assert [output.name for output in conversion.verification.outputs if not output.equal] == ["y"]
    right = TARGETS["padops"]

    def wrong(pad: PadInfo, site: NodeSite, *others: Any) -> None:
        right(pad, site, *others)
        site.node.attributes["mode"] = ir.AttrString("mode", "edge")

    monkeypatch.setitem(TARGETS, "padops", wrong)
    with pytest.raises(VerificationError, match="^1 output differs; z: ") as raised:
        explicit(pooled(where), verify=True, run=True)
    assert raised.value.conversion.verification.outcome == "different"


def pools(data: str, prefix: str, first: str = "LpPool") -> str:
    """A pooling of each kind: pads by the shape, pads by the size, explicit pads."""
    two = '<kernel_shape = [3], strides = [2], auto_pad = "SAME_UPPER">'
    return f"""
        [{prefix}max] {prefix}m = {first} {two} ({data})
        [{prefix}average] {prefix}a = AveragePool {two} ({prefix}m)
        [{prefix}fixed] {prefix}y = AveragePool <kernel_shape = [3], auto_pad = "SAME_LOWER"> ({prefix}a)
    """


def nested() -> onnx.ModelProto:
    return parsed(f"""(float[n, c, w] x, bool flag) => (float[a, b, d] y) {{
            [if] z = If (flag) <then_branch = then () => (float[] t_y) {{ {pools("x", "t_")} }},
                                else_branch = else () => (float[] e_y) {{ {pools("x", "e_")} }}>
            [call] y = d.Pools (z)
        }} FUNCTION Pools (i) => (f_y) {{ {pools("i", "f_", "MaxPool")} }}""")


def test_branches_and_functions(tmp_path: Path) -> None:
    original = nested()
    padops.convert(original, tmp_path / "out.onnx", auto_pad="explicit", verify=True, run=True)
    message = onnx.load(tmp_path / "out.onnx")
    padops.register_schemas()
    onnx.checker.check_model(message, full_check=True)
    nodes = [m for m in messages(message) if isinstance(m, onnx.NodeProto)]
    assert {n.domain for n in nodes if "auto_pad" in [a.name for a in n.attribute]} == {"padops"}
    records = explicit(original).records
    paths = [record.path for record in records]
    places = ["graph/if.then_branch", "graph/if.else_branch", "function d::Pools"]
    assert [path.rsplit("/", 1)[0] for path in paths[::3]] == places
    assert [record.op_type for record in records[::3]] == ["SamePad_1", "SamePad_1", "explicit pads"]
    other = "a Pad in front changes the bits of results for NaN and minus infinity in padded data"
    assert records[6].notes == (f"an If chooses between 2 pads by the size; {other}",)
    for flag, size in product((True, False), (11, 12, 13, 14)):
        data = np.random.default_rng(size).standard_normal((1, 2, size), np.float32)
        assert same(run(message, data, np.array(flag))[0], run(original, data, np.array(flag))[0])


@pytest.mark.parametrize("call", ["d.Pool", "d.Outer"])
def test_attributes_of_the_caller(call: str) -> None:
    for how, reasons in [("SAME_LOWER", ["the function's caller sets auto_pad"]), ("VALID", [])]:
        message = parsed(f"""(float[n, c, w] x) => (float[a, b, d] y) {{ y = {call} <how = "{how}", size = [3]> (x) }}
            FUNCTION Pool <how, size> (i) => (p) {{
                o = MaxPool <kernel_shape = [3], auto_pad: string = @how> (i)
                p = MaxPool <kernel_shape: ints = @size, auto_pad = "SAME_UPPER"> (o)
            }}
            FUNCTION Outer <how, size> (i) => (p) {{ p = d.Pool <how: string = @how, size = [3]> (i) }}""")
        records = explicit(message).records
        last = "its attribute kernel_shape is not of type INTS, or the function's caller sets it"
        assert [record.reason for record in records] == [*reasons, last]
        assert [record.form for record in records[:-1]] == ["MaxPool auto_pad=of the caller"] * len(reasons)


def test_twice_is_once() -> None:
    once = explicit(nested()).proto()
    again = explicit(once)
    assert again.proto() == once
    assert [record.status for record in again.records] == ["already converted"] * 2


ASK = "; --auto-pad explicit (in Python auto_pad='explicit') writes its amounts out"
WIDE = {"auto_pad": "SAME_UPPER", "dilations": (2, 2), "kernel_shape": (3, 3)}
REFUSED = "(Conv auto_pad=SAME_UPPER): ONNX Runtime refuses SAME with a dilation"
WRONG = f"(MaxPool auto_pad=SAME_UPPER): {DILATED}: its output has 7 elements instead of 9"


def said(conversion: object) -> list[str]:
    return [record.why() for record in conversion.records if record.status == "unconverted"]


@pytest.mark.parametrize(("op", "tensors", "why"), [("Conv", {"w": WF}, REFUSED), ("MaxPool", {}, WRONG)])
def test_it_is_told_what_to_ask_for(op: str, tensors: dict, why: str) -> None:
    message = node_model(op, (1, 3, 9, 9), WIDE, tensors)
    assert said(convert(message)) == [f"graph/same {why}{ASK}"]
    assert said(explicit(message)) == []


REACH = "it counts only data, and ONNX Runtime refuses pads (3) that reach the size of the kernel (3)"
STAYS = f"{DILATED}: its output has 5 elements instead of 9; {REACH}"
WHERE = "graph/same (AveragePool auto_pad=SAME_UPPER)"


def wide_average(size: int | str = 9) -> onnx.ModelProto:
    attributes = {"auto_pad": "SAME_UPPER", "kernel_shape": (3, 3), "dilations": (3, 3)}
    return node_model("AveragePool", (1, 1, size, size), attributes)


def test_what_cannot_be_written_out_is_told(tmp_path: Path) -> None:
    message = wide_average()
    assert said(convert(message)) == [f"{WHERE}: {STAYS}"]
    with pytest.raises(padops.PadsLeftError) as error:
        padops.convert(message, tmp_path / "o.onnx", auto_pad="explicit", verify=True)
    left = f"1 of 1 Pad stays unconverted, and ONNX Runtime gets the model wrong as it is: {WHERE}"
    assert str(error.value).startswith(left)
    assert not list(tmp_path.iterdir())
    (pad,) = padops.inspect(message).pads
    assert (pad.verdict, pad.why, pad.roads) == ("wrong", STAYS, ())
    assert [pad.verdict for pad in padops.inspect(wide_average("n")).pads] == ["may be wrong"]


@pytest.mark.parametrize(("size", "gets"), [(9, "gets"), ("n", "may get")])
def test_a_session_warns_of_it_once_and_has_it_in_its_records(size: int | str, gets: str) -> None:
    content = wide_average(size).SerializeToString()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        session = padops.InferenceSession(content)
    (warning,) = said
    assert warning.filename == __file__
    assert f"{gets} {WHERE} wrong: {DILATED}" in str(warning.message)
    (record,) = session.padops_records
    assert record.status == "unconverted"
    assert session.run(None, {"x": np.ones((1, 1, 9, 9), np.float32)})[0].shape == (1, 1, 5, 5)
