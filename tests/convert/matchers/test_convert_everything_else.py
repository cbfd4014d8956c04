"""Everything of a model but its Pads: it stays as it was, or the model is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from small_models import FLOAT, INT8, convert, external, info, model, one_pad, pad, same_but_for_the_pads, tensor

import padops
from padops.convert import PadopsError


def test_everything_else_stays() -> None:
    """What onnx_ir would reorder, add or drop by itself: the message is edited, not written anew."""
    node = pad(name="p")
    node.doc_string, node.overload = "why", ""
    for i, key in enumerate("zab"):
        node.metadata_props.add(key=key, value=str(i))
    other = helper.make_node("Split", ["y"], ["s", ""], name="split", num_outputs=2, axis=1)
    weights = tensor("w", [1.5], np.float32)
    weights.metadata_props.add(key="b", value="2")
    weights.metadata_props.add(key="a", value="1")
    weights.doc_string = "weights"
    far = external("far", "weights.bin", 4, offset=16, checksum="abc")
    source = model([node, other], 18, tensors=[weights, tensor("pads", [0, 1, 0, 1]), far], imports=[("unused", 3)],
                   outputs=[("s", FLOAT, ["batch*2 + 1", None])])  # fmt: skip
    source.graph.value_info.extend([info(("nowhere", INT8, [1])), info(("y", FLOAT, [2, "n"]))])
    source.graph.value_info[1].doc_string = "padded"
    annotation = source.graph.quantization_annotation.add(tensor_name="y")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    source.graph.doc_string, source.producer_name, source.model_version = "graph", "test", 7
    for i, key in enumerate("zab"):
        source.metadata_props.add(key=key, value=str(i))
        source.graph.metadata_props.add(key=key, value=str(i))
    before = source.SerializeToString()
    proto = convert(source).proto()
    assert source.SerializeToString() == before
    assert same_but_for_the_pads(source, proto)
    assert [row.domain for row in proto.opset_import] == ["", "unused", "padops"]


SPARSE = onnx.SparseTensorProto(dims=[4], values=tensor("s", [1.0], np.float32), indices=tensor("", [2]))
TWICE = [helper.make_function("custom", "Block", ["a"], ["r"], [helper.make_node("Identity", ["a"], ["r"])],
                              [helper.make_opsetid("", 17)])] * 2  # fmt: skip
LOST = "are not carried by onnx_ir; converting would lose them"
# What is done to a model of one Pad, and what is said of it.
REFUSED: list[tuple[Callable[[onnx.ModelProto], object], str]] = [
    (lambda m: m.graph.node.insert(0, helper.make_node("Mine", [], ["c"], domain="mine", given=SPARSE)),
     f"graph.node[0].attribute[0].sparse_tensor: sparse tensors {LOST}"),
    (lambda m: setattr(m.graph.initializer[0].segment, "begin", 0),
     f"graph.initializer[0].segment: tensors in segments {LOST}"),
    (lambda m: setattr(m.graph.output[0].type.sequence_type.elem_type.map_type, "key_type", TensorProto.INT64),
     f"graph.output[0].type.sequence_type.elem_type.map_type: map types {LOST}"),
    (lambda m: m.graph.node[0].MergeFromString(b"\xfa\x3e\x02hi"),  # field 1007, two bytes
     f"graph.node[0] (NodeProto) has the field number 1007, which onnx {onnx.__version__} does not know; converting "
     "would lose it"),
    (lambda m: m.functions.extend(TWICE), "several functions of the same domain, name and overload"),
    (lambda m: m.opset_import.add(domain="padops", version=2),
     "graph imports version 2 of the domain padops; padops has 1"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "why"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_would_be_lost_is_refused(change: Callable[[onnx.ModelProto], object], why: str) -> None:
    source = one_pad(17)
    change(source)
    with pytest.raises(PadopsError) as caught:
        convert(source)
    assert why in str(caught.value)


def test_training_graphs_survive(tmp_path: Path) -> None:
    """What onnx_ir does not carry at the top of the model stays in the message, byte for byte."""
    source = one_pad(17)
    training = source.training_info.add()
    training.algorithm.CopyFrom(one_pad(17).graph)
    training.update_binding.add(key="w", value="y")
    onnx.save(source, tmp_path / "in.onnx")
    made = padops.convert(tmp_path / "in.onnx", tmp_path / "out.onnx").proto()
    for message in (made, onnx.load(tmp_path / "out.onnx")):
        assert message.training_info[0] == training
    assert made.graph.node[0].domain == "padops"


UNKNOWN = ("ai.onnx::PadPacked", "custom::ZeroPadding2D", "org.openvinotoolkit::Pad", "TFL::MIRROR_PAD",
           "org.pytorch.aten::ATen of pad_sequence", "org.pytorch.aten::reflection_pad2d_backward",
           "any::Call of my_pad")  # fmt: skip


def of(form: str, **attributes: Any) -> onnx.ModelProto:
    """A model of one node: domain, operator, and an operator that it calls."""
    domain, _, name = form.removeprefix("ai.onnx").partition("::")
    op_type, _, called = name.partition(" of ")
    attributes |= {"operator": called} if called else {}
    node = helper.make_node(op_type, ["x"], ["y"], "node", domain=domain, **attributes)
    return model([node], 18, inputs=[("x", FLOAT, [2, 3])], imports=[(domain, 1)] if domain else [])


@pytest.mark.parametrize("form", UNKNOWN)
def test_named_as_unknown(form: str) -> None:
    source, (domain, _, name) = of(form), form.partition("::")
    found = padops.inspect(source)
    assert found.summary() == "1 Pad: 1 unknown"
    (facts,) = found.pads
    assert (facts.form, facts.verdict) == (form, "unknown")
    assert facts.why == f"padops does not know {name.rpartition(' of ')[2]} of the domain {domain}"
    conversion = padops.convert(source)
    (record,) = conversion.records
    assert (record.status, record.reason) == ("unconverted", facts.why)
    assert conversion.proto().SerializeToString() == source.SerializeToString()
    with pytest.raises(padops.PadsLeftError, match="1 of 1 Pad stays unconverted"):
        padops.convert(source, strict=True)


@pytest.mark.parametrize("source", [
    *map(of, ("com.microsoft::RemovePadding", "com.microsoft::RestorePadding",
              "com.microsoft::ConvTransposeWithDynamicPads", "org.pytorch.aten::ATen of sspaddmm",
              "org.pytorch.aten::ATen of _pack_padded_sequence")),
    of("any::Call", operator=3), of("any::Call", mode="pad"),
])  # fmt: skip
def test_no_false_alarm(source: onnx.ModelProto) -> None:
    assert padops.inspect(source).pads == ()
