"""Pads of TensorFlow, PyTorch, Caffe2 and nGraph in models built node by node, and what of them stays, and why."""

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
from small_models import FLOAT, INT64, STRING, UINT8, convert, model, parsed, tensor

import padops
from padops.convert import PadRecord, UsageError

OP = "OpenVINOPad_12"
DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


def of_domain(
    op: str, domain: str, names: list[str], dims: Any = (3, 4), kind: int = FLOAT, tensors: Any = (), **attributes: Any
) -> onnx.ModelProto:
    """A model of one node of a domain."""
    node = helper.make_node(op, names, ["y"], "pad", domain=domain, **attributes)
    return model([node], 18, inputs=[("x", kind, dims)], outputs=[("y", kind, None)], tensors=tensors,
                 imports=[(domain, 1)] if domain else [])  # fmt: skip


EXAMPLE = {"padding_below": [1, 2], "padding_above": [1, 0], "padding_interior": [1, 2]}  # the document's, 3x3 to 7x9
SQUARE, FILL = np.arange(1, 10, dtype=np.float32).reshape(3, 3), np.array(42, np.float32)


def ngraph(domain: str = "d", inputs: int = 2, **attributes: Any) -> onnx.ModelProto:
    fill = [tensor("v", FILL, np.float32)]
    return of_domain("Pad", domain, ["x", "v"][:inputs], None, tensors=fill, **attributes)


def run(message: onnx.ModelProto, **feeds: np.ndarray) -> tuple:
    return native.bits(native.session(message).run(None, feeds)[0])


def record_of(message: onnx.ModelProto, *custom_domains: str) -> PadRecord:
    """The record of the only Pad; a model of which it stays has every byte that it had."""
    conversion = convert(message, custom_domains=custom_domains)
    (record,) = conversion.records
    assert record.status == "converted" or conversion.proto() == message
    return record


# --- TensorFlow -------------------------------------------------------------------------------------------------------

ROWS = [[1, 2], [0, 3]]
NAME_IT = "to convert it, name its domain: --custom-domain tf (in Python custom_domains=['tf'])"


def custom(op: str, paddings: Any = ROWS, *, fill: Any = None, domain: str = "tf", **attributes: Any) -> Any:
    """A model of one node of TensorFlow's, with constant paddings."""
    tensors = [tensor("p", paddings, np.int32), *([] if fill is None else [tensor("v", fill, fill.dtype)])]
    kind = FLOAT if fill is None else helper.np_dtype_to_tensor_dtype(fill.dtype)
    return of_domain(op, domain, ["x", "p", "v"][: 1 + len(tensors)], kind=kind, tensors=tensors, **attributes)


def test_domains_of_tensorflow() -> None:
    own = custom("MirrorPad", mode="REFLECT", domain="ai.onnx.converters.tensorflow")
    assert record_of(own).status == "converted"
    message = custom("MirrorPad", mode="REFLECT", domain="a.b")
    assert record_of(message, "tf", "a.b").status == "converted"
    for wrong in ("padops", ""):
        with pytest.raises(UsageError, match=f"'{wrong}' is not a custom domain: padops knows this domain's operators"):
            convert(message, custom_domains=[wrong])


LOOKS = "padops does not know the domain tf, but this Pad looks like TensorFlow's"


@pytest.mark.parametrize(("message", "why"), [
    (custom("MirrorPad", mode="REFLECT"), "MirrorPad is TensorFlow's"), (custom("Pad"), LOOKS),
    (custom("MirrorPad", mode="REFLECT", domain=""), "MirrorPad is TensorFlow's"),  # tf2onnx loses it in branches
    (ngraph("tf", **EXAMPLE), LOOKS.replace("TensorFlow", "nGraph")),
], ids=["tf", "tf Pad", "lost", "nGraph"])  # fmt: skip
def test_of_a_domain_that_nobody_named(message: onnx.ModelProto, why: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"is not a registered|No Op registered"):
        onnxruntime.InferenceSession(message.SerializeToString())
    assert [pad.verdict for pad in padops.inspect(message).pads] == ["refuses"]
    with pytest.raises(padops.PadsLeftError, match=re.escape(f"{why}; {NAME_IT}")):
        padops.convert(message, tmp_path / "o.onnx")
    assert not list(tmp_path.iterdir())
    assert record_of(message, "tf").status == "converted"


def test_what_lost_its_domain() -> None:
    """In the branches of an If, tf2onnx loses the domain; paddings of [r, 2] are no form of ONNX's Pad."""
    message = parsed("""(float[3, 4] x, bool flag) => (float[n, m] y) <int32[2, 2] p = {1, 2, 0, 3}, float v = {3}> {
        y = If (flag) <then_branch = t () => (float[] a) { a = PadV2 (x, p, v) },
                       else_branch = e () => (float[] b) { b = Pad (x, p) }> }""")
    conversion = convert(message, custom_domains=["tf"])
    assert [record.op_type for record in conversion.records] == [OP, OP]
    for flag, fill in ((True, 3.0), (False, 0.0)):
        made = run(conversion.proto(), x=DATA, flag=np.array(flag))
        assert made == native.bits(np.pad(DATA, ROWS, constant_values=fill))
    # Without a custom domain there is no reason to think of TensorFlow.
    forms = [record.form for record in convert(message).records]
    assert forms == ["ai.onnx::PadV2", "Pad-13 node with pads of int32"]


def test_one_row_in_the_default_domain_is_onnx() -> None:
    """[1, 2] means the same in both; only TensorFlow has it in int32."""
    for dtype, op_type in ((np.int64, "Pad_18"), (np.int32, OP)):
        message = of_domain("Pad", "", ["x", "p"], [12], tensors=[tensor("p", [[1, 2]], dtype)])
        assert record_of(message, "tf").op_type == op_type
        converted = convert(message, custom_domains=["tf"]).proto()
        assert run(converted, x=DATA.reshape(-1)) == native.bits(np.pad(DATA.reshape(-1), (1, 2)))


def mirrored_beside_a_pad(type_name: str, known: bool) -> onnx.ModelProto:
    """One MirrorPad, and a Pad of float."""
    given, there = ("", "int64[1, 2] p = {1, 1}, ") if known else (", int64[1, 2] p", "")
    return parsed(f"""({type_name}[3] x, float[3] z{given}) => ({type_name}[n] y, float[m] w)
        <{there}int64[2] q = {{1, 1}}> {{ y = tf.MirrorPad <mode = "SYMMETRIC"> (x, p) w = Pad <mode = "wrap"> (z, q) }}
    """, 18, 10)  # fmt: skip


@pytest.mark.parametrize("known", [True, False], ids=["known", "at run time"])
@pytest.mark.parametrize(("target", "refused", "becomes"), [
    ("onnx", "float8e5m2", ["standard ONNX"] * 2), ("pyop", "float16", [OP, "Pad_19"])])  # fmt: skip
def test_the_target_says_what_it_makes_and_what_it_refuses(target: str, refused: str, becomes: list, known: bool):
    done = padops.convert(mirrored_beside_a_pad("float", known), target=target, custom_domains=["tf"])
    assert [record.op_type for record in done.records] == becomes
    assert all(record.notes for record in done.records)
    left = padops.convert(mirrored_beside_a_pad(refused, known), target=target, custom_domains=["tf"])
    assert [record.status for record in left.records] == ["unconverted", "converted"]
    assert refused in left.records[0].reason
    assert left.proto().graph.node[0] == mirrored_beside_a_pad(refused, known).graph.node[0]


# --- PyTorch ----------------------------------------------------------------------------------------------------------

ATEN = "org.pytorch.aten"


def aten(operator: str = "pad", pads: Any = (1, 2, 0, 1), mode: Any = "reflect", value: Any = None, *,
         domain: str = ATEN, dims: Any = (3, 4), dtype: int = FLOAT, **attributes: Any) -> onnx.ModelProto:  # fmt: skip
    """A model of one node that calls ``operator``, as PyTorch's exporter writes it."""
    has_mode = operator in ("pad", "_pad_enum")
    names = ["x", "p", *(["m"] if has_mode else []), *(["v"] if value is not None else [])]
    tensors = [tensor("p", pads), *([] if value is None else [tensor("v", value, np.asarray(value).dtype)])]
    made = of_domain("ATen", domain, names, dims, dtype, tensors, operator=operator, **attributes)
    if has_mode:  # a string, as PyTorch has it
        made.graph.node.insert(0, helper.make_node("Constant", [], ["m"], value=mode))
    return made


@pytest.mark.parametrize(("domain", "dims", "mode", "wanted"), [
    (ATEN, (3, 4), "reflect", "reflect"), ("aten", None, "reflect", "reflect"), ("", (3, 4), "replicate", "edge"),
    ("", None, "circular", "wrap")])  # fmt: skip
def test_domains_and_modes_of_pytorch(domain: str, dims: Any, mode: str, wanted: Any) -> None:
    source = aten(mode=mode, domain=domain, dims=dims)
    record, made = record_of(source), convert(source).proto()
    assert (record.status, record.form) == ("converted", "PyTorch pad")
    assert [node.op_type for node in made.graph.node] == [record.op_type]  # the text is gone
    assert run(made, x=DATA) == native.bits(np.pad(DATA, [(0, 1), (1, 2)], wanted))


@pytest.mark.parametrize("value", [None, 2.5], ids=["no fill", "fill"])
def test_no_constant_is_left_that_nothing_reads(value: float | None) -> None:
    """ONNX Runtime warns of such a one when a session is created."""
    given = None if value is None else np.float32(value)
    made = convert(aten("constant_pad_nd" if value else "reflection_pad2d", value=given)).proto().graph
    assert {row.name for row in made.initializer} <= {name for node in made.node for name in node.input}


@pytest.mark.parametrize("operator", ["pad", "symmetric_pad2d"])
def test_symmetric(operator: str) -> None:
    """The mode that PyTorch may get: a reflection with the edge, n elements at most (P4), cropped afterwards (P3)."""
    converted = convert(aten(operator, mode="symmetric", pads=(4, 2, -1, 3))).proto()
    assert run(converted, x=DATA) == native.bits(np.pad(DATA, [(0, 3), (4, 2)], "symmetric")[1:])
    record = record_of(aten(operator, mode="symmetric", pads=(5, 0, 0, 0)))
    assert record.status == "unconverted" and "[P4]" in record.reason


# --- Caffe2 and nGraph ------------------------------------------------------------------------------------------------

IMAGE = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)


def image(**attributes: Any) -> onnx.ModelProto:
    """A model of one PadImage, as Caffe2's frontend writes it."""
    return of_domain("PadImage", "", ["x"], [1, 2, 3, 4], **attributes)


IMAGES: dict[str, tuple[dict[str, Any], Any]] = {
    "one amount": ({"pad": 1}, np.pad(IMAGE, [(0, 0), (0, 0), (1, 1), (1, 1)])),
    "sides": ({"pad_t": 1, "pad_l": 2, "pad_b": 0, "pad_r": -1, "mode": "edge"},
              np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (2, 0)], "edge")[..., :-1]),
    "pads": ({"pads": [1, 2, 0, 3], "value": 1.5},
             np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (2, 3)], constant_values=np.float32(1.5))),
    "NHWC": ({"pads": [1, 2, 0, 1], "order": "NHWC", "mode": "reflect"},
             np.pad(IMAGE, [(0, 0), (1, 0), (2, 1), (0, 0)], "reflect")),
    "none": ({"stride": 1, "legacy_pad": 0}, IMAGE),
}  # fmt: skip


@pytest.mark.parametrize("name", IMAGES)
def test_pad_image(name: str) -> None:
    attributes, wanted = IMAGES[name]
    record = record_of(image(**attributes))
    assert (record.form, record.status) == ("Caffe2 PadImage", "converted")
    assert run(convert(image(**attributes)).proto(), x=IMAGE) == native.bits(wanted)


@pytest.mark.parametrize("attributes", [
    EXAMPLE,
    {"padding_below": [-1, 2], "padding_above": [3, -2]},
    {"padding_below": [1, 0], "padding_above": [2, 4], "pad_mode": "EDGE"},
    {"padding_below": [4, 2], "padding_above": [2, 9], "pad_mode": "reflect"},
    {"padding_below": [3, -1], "padding_above": [0, 3], "pad_mode": 3},
])  # fmt: skip
def test_ngraph(attributes: dict) -> None:
    record = record_of(ngraph(**attributes), "d")
    assert (record.status, record.op_type) == ("converted", "NGraphPad_0")
    assert record.form == "nGraph Pad in the domain 'd'"
    mode = attributes.get("pad_mode", "CONSTANT")
    by_mode = {**attributes, "pad_mode": "SYMMETRIC" if mode == 3 else mode.upper()}
    made = run(convert(ngraph(**attributes), custom_domains=["d"]).proto(), x=SQUARE)
    assert made == native.bits(padops.run_reference("NGraphPad_0", by_mode, [SQUARE, FILL]))


@pytest.mark.parametrize("value", [-128, 127])
def test_both_ends_of_a_type_are_values(value: int) -> None:
    assert record_of(aten(mode="constant", value=value, dtype=onnx.TensorProto.INT8)).status == "converted"


def without(operator: str = "pad", name: str = "p", **parts: Any) -> onnx.ModelProto:
    """Its amounts are no input; or they, or its mode, are an input of the graph."""
    message = aten(operator)
    if parts:
        del (message.graph.initializer if name == "p" else message.graph.node)[0]
        message.graph.input.append(helper.make_tensor_value_info(name, **parts))
    else:
        del message.graph.node[-1].input[1:]
    return message


@pytest.mark.parametrize(("count", "nodes"), [(4, []), (2, ["Concat"])])
def test_unknown_amounts_are_filled_up_where_axes_lack_some(count: int, nodes: list[str]) -> None:
    made = convert(without(elem_type=INT64, shape=[count])).proto()
    assert [node.op_type for node in made.graph.node] == [*nodes, "Gather", "Gather", "OpenVINOPad_12"]


P9 = "is not one of reflect, replicate, circular, constant, symmetric [P9]"
LEFT: list[tuple[onnx.ModelProto, str]] = [
    (custom("MirrorPad", mode="symmetric"), "mode 'symmetric' is not one of REFLECT, SYMMETRIC"),
    (custom("MirrorPad"), "mode '' is not one of REFLECT, SYMMETRIC"),
    (custom("MirrorPad", mode="REFLECT", fill=np.float32(1)), "it has 3 inputs, expected 2"),
    (custom("PadV2"), "it has 2 inputs, expected 3"),
    (custom("PadV2", fill=np.float32(1), mode="REFLECT"), "its attribute mode is unknown"),
    (custom("Pad", [1, 2, 3, 4]), "its paddings have shape [4], expected [2, 2]"),
    (custom("Pad", [[1, 2]]), "its paddings have shape [1, 2], expected [2, 2]"),
    (custom("Pad", [[1, -2], [0, 0]]), "its paddings are [[1, -2], [0, 0]], and TensorFlow refuses negative paddings"),
    (custom("PadV2", fill=np.complex64(1)), "its data are complex64, which no Pad of padops accepts"),
    (aten(mode="mirror"), f"mode 'mirror' {P9}"),
    (aten("_pad_enum", mode=tensor("m", 4)), f"mode 4 {P9}"),
    (without(name="m", elem_type=STRING, shape=[]), "its mode is not constant"),
    (without("reflection_pad1d"), "it has 1 input, expected 2"),
    (without(), "it has 1 input, expected 2 to 4"),
    (without(elem_type=INT64, shape=["n"]), "the number of its amounts is not known"),
    (aten(mode="symmetric", dims=None),
     "the rank of its data is not known, and no ONNX Pad is equivalent in mode symmetric"),
    (aten(pads=[1] * 6), "it has amounts for 3 axes, but its data have rank 2"),
    (aten(pads=[1] * 3), "it has 3 amounts, expected an even number"),
    (aten("reflection_pad2d", pads=[1, 1]), "it has 2 amounts, expected 4"),
    (aten(pads=[[1, 1]]), "its amounts have shape [1, 2], expected a list"),
    (aten(pads=[-1, 0], dims=None),
     "the rank of its data is not known, and no ONNX Pad is equivalent in mode reflect"),
    (aten(mode="constant", value=300, dtype=UINT8), "the value 300 cannot become an element of the data's type, uint8"),
    (aten(mode="constant", value=1e300), "the value 1e+300 cannot become an element of the data's type, float"),
    (aten(mode="constant", value=1.5, dtype=STRING),
     "the value 1.5 cannot become an element of the data's type, string"),
    (aten(mode="constant", value=[1.0, 2.0]), "its value is not one constant number"),
    (aten(overload_name="out"), "its overload is 'out', which padops does not know"),
    (aten(dim=1), "its attribute dim is unknown"),
    (image(pad_t=1), "it has only the amounts pad_t, expected pad_t, pad_l, pad_b, pad_r"),
    (image(pad=1, pads=[1] * 4), "its amounts are given more than once: pads, pad"),
    (image(pads=[1, 1]), "its attribute pads has 2 values, expected 4"),
    (image(stride_h=2), "its attribute stride_h is 2, expected 1"),
    (image(mode="symmetric"), "mode 'symmetric' is not one of constant, reflect, edge [P9]"),
    (image(order="HWC"), "order 'HWC' is not one of NCHW, NHWC"),
    (image(scale=1.0), "its attribute scale is unknown"),
    (image(value=1), "its attribute value is of type INT, expected FLOAT"),
    (ngraph(padding_below=[1, 2]), "it has no attribute padding_above"),
    (ngraph(**EXAMPLE, other=1), "its attribute other is unknown"),
    (ngraph(**EXAMPLE | {"padding_above": 1}), "its attribute padding_above is of type INT, expected INTS"),
    (ngraph(**EXAMPLE, pad_mode="WRAP"), "pad_mode 'WRAP' is not one of CONSTANT, EDGE, REFLECT, SYMMETRIC [P9]"),
    (ngraph(**EXAMPLE, pad_mode=4), "pad_mode 4 is not one of CONSTANT, EDGE, REFLECT, SYMMETRIC [P9]"),
    (ngraph(inputs=1, **EXAMPLE), "it has 1 input, expected 2"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "why"), LEFT, ids=[row[1] for row in LEFT])
def test_left(message: onnx.ModelProto, why: str) -> None:
    record = record_of(message, "tf", "d")
    assert (record.status, record.reason) == ("unconverted", why)


@pytest.mark.parametrize("nodes", [
    "m = PadImage <pads = [1, 1, 1, 1]> (x) y = PadImage <pads = [1, 2, 1, 1]> (m)",
    'm = ATen <operator = "constant_pad_nd"> (x, p, f) y = ATen <operator = "constant_pad_nd"> (m, q, f)'])  # fmt: skip
def test_two_of_the_default_domain_are_joined_in_onnx_order(nodes: str) -> None:
    """Their own amounts have another order: the two were joined to a Pad with wrong amounts."""
    message = parsed(f"""(float[1, 2, 3, 4] x) => (float[] y)
        <int64[4] p = {{1, 1, 1, 1}}, int64[4] q = {{2, 1, 1, 1}}, float f = {{0}}> {{ {nodes} }}""", 13)  # fmt: skip
    conversion = padops.convert(message)
    assert [record.status for record in conversion.records] == ["folded", "converted"]
    assert run(conversion.proto(), x=IMAGE) == native.bits(np.pad(IMAGE, [(0, 0), (0, 0), (2, 2), (3, 2)]))
