"""Which Pads of other versions, domains and writings the verifier brings into one form, and which it keeps apart."""

from __future__ import annotations

import pytest
from written_models import model

from padops.convert.verify.proof import prove

HELD = """int64[4] p = {0, 1, 0, 2}, int32[4] p32 = {0, 1, 0, 2}, int64[2] pl = {1, 2}, int64[2] a = {0, 1},
    int64[2] b = {1, 0}, int32[2] a32 = {0, 1}, int64[1] last = {1}, float v = {1.5}, float one = {1}, float z = {0},
    float[1] z1 = {0}, float n = {-0.0}, float16 h = {11878}, double d = {1.5}"""
OLD, OLDEST = "Pad <pads = [0, 1, 0, 2]{}> (x)", "Pad <paddings = [0, 1, 0, 2]{}> (x)"
SAME: list[tuple[int, str, str, str]] = [  # opset, type of the data, two Pads
    (2, "float", OLD.format(", value = 1.5"), "padops.Pad_11 (x, p, v)"),
    (2, "float", OLD.format(""), "padops.Pad_11 (x, p)"),
    (2, "float", OLD.format(", value = 1"), "padops.Pad_11 (x, p, one)"),
    (2, "float", OLD.format(""), "padops.Pad_2 <pads = [0, 1, 0, 2]> (x)"),
    (2, "float", OLD.format(', value = 1.5, mode = "edge"'), 'padops.Pad_11 <mode = "edge"> (x, p)'),
    (2, "float16", OLD.format(", value = 0.1"), "padops.Pad_11 (x, p, h)"),
    (1, "float", OLDEST.format(", value = 1.5"), "padops.Pad_11 (x, p, v)"),
    (1, "float", OLDEST.format(""), "padops.Pad_11 (x, p)"),
    (13, "float", "Pad (x, p)", "Pad (x, p, z)"), (13, "float", "Pad (x, p)", "Pad (x, p, z1)"),
    (13, "float", 'Pad <mode = "edge"> (x, p)', 'Pad <mode = "edge"> (x, p, v)'),
    (13, "float", "com.microsoft.Pad (x, p, v)", "Pad (x, p, v)"),
    (13, "float", "Pad (x, p, v)", "padops.Pad_13 (x, p, v)"),
    (18, "float", "Pad (x, p)", "Pad (x, p, , a)"), (18, "float", "Pad (x, p, , a)", "padops.Pad_18 (x, p, , a32)"),
    (18, "float", "Pad (x, p)", "padops.Pad_18 (x, p, z)"), (18, "float", "Pad (x, p)", "Pad (x, p, , )"),
    (18, "float", "Pad (x, p)", "Pad (x, pl, , last)"),
]  # fmt: skip
OTHER: list[tuple[int, str, str, str]] = [
    (2, "float", OLD.format(", value = 1.5"), "padops.Pad_11 (x, p)"),
    (2, "float", OLD.format(", value = 1.5"), "padops.Pad_11 (x, p, one)"),
    (2, "float16", OLD.format(", value = 0.125"), "padops.Pad_11 (x, p, h)"),
    (2, "float", OLD.format(', mode = "edge"'), "padops.Pad_11 (x, p)"),
    (2, "float", OLD.format(", extra = 1"), "padops.Pad_11 (x, p)"),
    (1, "float", OLD.format(""), "padops.Pad_11 (x, p)"),
    (13, "float", "Pad (x, p)", "Pad (x, p, n)"), (13, "float", "Pad (x, p)", "Pad (x, p, v)"),
    (13, "float", "Pad (x, p)", "Pad (x, p32)"), (13, "float", "Pad (x, p, v)", "Pad (x, p, d)"),
    (13, "float", "Pad (x, p)", "Pad (x, p, , a)"), (13, "float", "Pad (x, p)", "com.microsoft.Pad (x, p, , a)"),
    (13, "float", 'padops.Pad_13 <mode = "wrap"> (x, p)', 'padops.Pad_19 <mode = "wrap"> (x, p)'),
    (18, "float", "Pad (x, p)", "Pad (x, p, , b)"),
    (18, "float", "Pad (x, p)", "padops.Pad_18 (x, p, , last)"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "same"), [(row, row in SAME) for row in (*SAME, *OTHER)], ids=str)
def test_whether_two_pads_are_one(row: tuple[int, str, str, str], same: bool) -> None:
    opset, kind, *nodes = row
    text = f"({kind}[2, 3] x) => ({kind}[i, j] y) <{HELD}> {{ y = NODE }}"
    one, other = (model(text.replace("NODE", node), opset) for node in nodes)
    assert (prove(one, other).verdict == "proved") == same
    assert not same or prove(other, one).verdict == "proved"  # else the first may run nowhere, which proves all
