"""TensorFlow's Pads as tf2onnx leaves them, in models built node by node.

``test_tf2onnx_export.py`` does the same with what tf2onnx really exports, where it is installed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from small_models import BOOL, FLOAT, convert, graph, model, tensor

import padops
from padops.convert import Conversion, UsageError

OP = "OpenVINOPad_12"
ROWS = [[1, 2], [0, 3]]
NAME_IT = "to convert it, name its domain: --custom-domain tf (in Python custom_domains=['tf'])"


def custom(op: str, paddings: Any = ROWS, dtype: Any = np.int32, *, fill: Any = None, domain: str = "tf", **attributes):
    """A model of one node of TensorFlow's, with constant paddings of any kind, for data ``x`` of rank 2."""
    tensors = [tensor("p", paddings, dtype)]
    if fill is not None:
        tensors.append(tensor("v", fill, fill.dtype))
    node = helper.make_node(
        op, ["x", "p", *(["v"] if fill is not None else [])], ["y"], "pad", domain=domain, **attributes
    )
    kind = helper.np_dtype_to_tensor_dtype(fill.dtype) if fill is not None else FLOAT
    imports = [(domain, 1)] if domain else []
    return model(
        [node], inputs=[("x", kind, [3, 4])], outputs=[("y", kind, [None, None])], tensors=tensors, imports=imports
    )


def only_record(conversion: Conversion):
    (record,) = conversion.records
    return record


def run(message: onnx.ModelProto, *feeds: np.ndarray) -> np.ndarray:
    session = native.session(message)
    return session.run(None, dict(zip([i.name for i in session.get_inputs()], feeds, strict=True)))[0]


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return native.bits(a) == native.bits(b)


# --- nodes of a domain that the user names ---------------------------------------------------------------------------


def test_domains() -> None:
    own = "ai.onnx.converters.tensorflow"
    assert only_record(convert(custom("MirrorPad", mode="REFLECT", domain=own))).status == "converted"
    unnamed = only_record(convert(custom("MirrorPad", mode="REFLECT")))
    assert unnamed.reason == f"MirrorPad is TensorFlow's; {NAME_IT}"
    assert unnamed.form == "tf::MirrorPad"
    message = custom("MirrorPad", mode="REFLECT", domain="a.b")
    assert only_record(convert(message, custom_domains={"tf", "a.b"})).status == "converted"
    for wrong, said in [
        ("tf", "custom_domains is 'tf', expected a list of names"),
        (["padops"], "'padops' is no custom domain: padops knows what its nodes mean"),
        ([""], "'' is no custom domain: padops knows what its nodes mean"),
    ]:
        with pytest.raises(UsageError, match=said):
            convert(message, custom_domains=wrong)


@pytest.mark.parametrize("domain", ["tf", ""])  # tf2onnx loses the domain in branches
def test_of_a_domain_that_nobody_named(domain: str, tmp_path: Path) -> None:
    unnamed = {custom("MirrorPad", mode="REFLECT", domain=domain).SerializeToString(): "MirrorPad is TensorFlow's"}
    if domain:
        why = "padops does not know the domain tf, but this Pad looks like TensorFlow's"
        unnamed[custom("Pad").SerializeToString()] = why
    for message, why in unnamed.items():
        with pytest.raises(Exception, match=r"is not a registered|No Op registered"):
            onnxruntime.InferenceSession(message)
        assert [pad.verdict for pad in padops.inspect(message).pads] == ["refuses"]
        with pytest.raises(padops.PadsLeftError, match=re.escape(f"{why}; {NAME_IT}")):
            padops.convert(message, tmp_path / "o.onnx")
        assert not list(tmp_path.iterdir())
        assert only_record(padops.convert(message, custom_domains=["tf"])).status == "converted"


def test_what_lost_its_domain() -> None:
    """In the branches of an If, tf2onnx loses the domain; paddings of [r, 2] are no form of ONNX's Pad."""
    rows = [tensor("p", ROWS, np.int32), tensor("v", 3.0, np.float32)]
    branches = [
        graph([helper.make_node(op, inputs, [f"{op}_y"], op)], [], [(f"{op}_y", FLOAT, None)], rows, name=op)
        for op, inputs in (("PadV2", ["x", "p", "v"]), ("Pad", ["x", "p"]))
    ]
    node = helper.make_node("If", ["flag"], ["y"], "if", then_branch=branches[0], else_branch=branches[1])
    message = model([node], inputs=[("x", FLOAT, [3, 4]), ("flag", BOOL, [])], outputs=[("y", FLOAT, [None, None])])
    conversion = convert(message, custom_domains=["tf"])
    assert [record.op_type for record in conversion.records] == [OP, OP]
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    for flag in (True, False):
        made = run(conversion.proto(), data, np.array(flag))
        assert same(made, np.pad(data, ROWS, constant_values=3.0 if flag else 0.0))
    # Without a custom domain there is no reason to think of TensorFlow.
    forms = [record.form for record in convert(message).records]
    assert forms == ["Pad-13 node with pads of int32", "ai.onnx::PadV2"]


def test_one_row_in_the_default_domain_is_onnx() -> None:
    """[1, 2] means the same in both; only TensorFlow has it in int32."""
    for dtype, op_type in ((np.int64, "Pad_13"), (np.int32, OP)):
        message = model(
            [helper.make_node("Pad", ["x", "p"], ["y"])],
            inputs=[("x", FLOAT, [4])],
            tensors=[tensor("p", [[1, 2]], dtype)],
        )
        conversion = convert(message, custom_domains=["tf"])
        assert only_record(conversion).op_type == op_type
        data = np.arange(4, dtype=np.float32)
        assert same(run(conversion.proto(), data), np.pad(data, (1, 2)))


LEFT = [
    (custom("MirrorPad", mode="symmetric"), "mode 'symmetric' is not one of REFLECT, SYMMETRIC"),
    (custom("MirrorPad"), "mode '' is not one of REFLECT, SYMMETRIC"),
    (custom("MirrorPad", mode="REFLECT", fill=np.float32(1)), "it has 3 inputs, expected 2"),
    (custom("PadV2"), "it has 2 inputs, expected 3"),
    (custom("PadV2", fill=np.float32(1), mode="REFLECT"), "its attribute mode is unknown"),
    (custom("Pad", [1, 2, 3, 4]), "its paddings have shape [4], expected [2, 2]"),
    (custom("Pad", [[1, 2]]), "its paddings have shape [1, 2], expected [2, 2]"),
    (custom("Pad", [[1, -2], [0, 0]]), "its paddings are [[1, -2], [0, 0]], and TensorFlow takes no negative ones"),
    (custom("PadV2", fill=np.complex64(1)), "its data are complex64, which no Pad of padops has"),
]


@pytest.mark.parametrize(("message", "reason"), LEFT, ids=[row[1] for row in LEFT])
def test_left(message: onnx.ModelProto, reason: str) -> None:
    conversion = convert(message, custom_domains=["tf"])
    record = only_record(conversion)
    assert (record.status, record.reason) == ("unconverted", reason)
    assert conversion.proto() == message


# --- Targets ----------------------------------------------------------------------------------------------------------


def mirrored_beside_a_pad(type_name: str, known: bool) -> onnx.ModelProto:
    """One MirrorPad, and a Pad of float."""
    given, there = (", int64[1, 2] p", "") if not known else ("", "int64[1, 2] p = {1, 1}, ")
    return onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["": 18, "tf": 1]>
        g ({type_name}[3] x, float[3] z{given}) => ({type_name}[n] y, float[m] w)
        <{there}int64[2] q = {{1, 1}}> {{ y = tf.MirrorPad <mode = "SYMMETRIC"> (x, p) w = Pad <mode = "wrap"> (z, q) }}
    """)


@pytest.mark.parametrize("known", [True, False], ids=["known", "at run time"])
@pytest.mark.parametrize("target, refused", [("onnx", "float8e5m2"), ("pyop", "float16")])
def test_the_target_says_what_it_makes_and_what_it_refuses(target: str, refused: str, known: bool) -> None:
    done = padops.convert(mirrored_beside_a_pad("float", known), target=target, custom_domains=["tf"])
    assert [record.op_type for record in done.records] == (
        ["standard ONNX"] * 2 if target == "onnx" else [OP, "Pad_19"]
    )
    assert all(record.notes for record in done.records)
    left = padops.convert(mirrored_beside_a_pad(refused, known), target=target, custom_domains=["tf"])
    assert [record.status for record in left.records] == ["unconverted", "converted"]
    assert refused in left.records[0].reason
    assert left.proto().graph.node[0] == mirrored_beside_a_pad(refused, known).graph.node[0]
