"""Pads wherever a model can hold them, and everything else of the model as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper
from small_models import (
    BOOL,
    FLOAT,
    INT8,
    INT32,
    INT64,
    convert,
    external,
    graph,
    info,
    model,
    one_pad,
    pad,
    same_but_for_the_pads,
    tensor,
)

import padops
from padops.convert import PadopsError

MODELS = Path(__file__).resolve().parents[3] / "models"
PADS = tensor("pads", [0, 1, 0, 1])


def checked(conversion: padops.Conversion) -> onnx.ModelProto:
    """The converted model, once onnx's checker has found nothing against it, inference included."""
    padops.register_schemas()
    proto = conversion.proto()
    onnx.checker.check_model(proto, full_check=True)
    return proto


def paths(conversion: padops.Conversion) -> list[str]:
    return [record.path for record in conversion.records]


def branch(output: str, nodes: list[onnx.NodeProto], tensors: list[onnx.TensorProto] | None = None) -> onnx.GraphProto:
    return graph(nodes, [], [(output, FLOAT, [None, None])], tensors or [], name=f"{output}_branch")


def nested(depth: int) -> onnx.ModelProto:
    """An If in an If in an If, each with a Pad in either branch, and a Scan in a Loop in the innermost."""
    level = branch("last", [pad(["x", "pads"], "last", name="p")])
    for i in range(depth):
        inner = helper.make_node("If", ["c"], [f"i{i}"], then_branch=level, else_branch=branch("e", [pad(output="e")]))
        level = branch(f"o{i}", [inner, pad([f"i{i}", "pads"], f"o{i}", name="p")])
    scan_body = graph([pad(["row", "one"], "wide")], [("row", FLOAT, [3])], [("wide", FLOAT, [None])],
                      [tensor("one", [1, 0])], "scan_body")  # fmt: skip
    loop_body = graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Scan", ["x"], ["scanned"], name="scan", num_scan_inputs=1, body=scan_body),
            pad(["state", "pads"], "next", name="in_loop", mode="edge"),
        ],
        [("n", INT64, []), ("go", BOOL, []), ("state", FLOAT, [None, None])],
        [("on", BOOL, []), ("next", FLOAT, [None, None]), ("scanned", FLOAT, [None, None])],
        name="loop_body",
    )
    nodes = [
        helper.make_node(
            "If", ["c"], ["y0"], name="outer", then_branch=level, else_branch=branch("e", [pad(output="e")])
        ),
        helper.make_node("Loop", ["turns", "", "y0"], ["y", "rows"], name="loop", body=loop_body),
    ]
    inputs = [("x", FLOAT, [2, 3]), ("c", BOOL, []), ("turns", INT64, [])]
    outputs = [("y", FLOAT, [None, None]), ("rows", FLOAT, [None, None, None])]
    return model(nodes, 17, inputs=inputs, outputs=outputs, tensors=[PADS])  # fmt: skip


def test_every_depth() -> None:
    source = nested(3)
    conversion = convert(source, verify=True)
    assert conversion.verification.outcome == "equal"
    assert same_but_for_the_pads(source, checked(conversion))
    assert paths(conversion) == [
        "graph/outer.else_branch/Pad_0",
        "graph/outer.then_branch/If_0.else_branch/Pad_0",
        "graph/outer.then_branch/If_0.then_branch/If_0.else_branch/Pad_0",
        "graph/outer.then_branch/If_0.then_branch/If_0.then_branch/If_0.else_branch/Pad_0",
        "graph/outer.then_branch/If_0.then_branch/If_0.then_branch/If_0.then_branch/p",
        "graph/outer.then_branch/If_0.then_branch/If_0.then_branch/p",
        "graph/outer.then_branch/If_0.then_branch/p",
        "graph/outer.then_branch/p",
        "graph/loop.body/scan.body/Pad_0",
        "graph/loop.body/in_loop",
    ]
    assert [record.name for record in conversion.records if record.name] == ["p", "p", "p", "p", "in_loop"]


def test_graphs_in_a_list_and_names_that_are_not_unique() -> None:
    bodies = [branch(f"b{i}", [pad(output=f"b{i}")]) for i in range(2)]
    nodes = [helper.make_node("Choose", ["x"], ["c"], domain="d", branches=bodies), pad(["c", "pads"], "z", name="p"),
             pad(["z", "pads"], name="p")]  # fmt: skip
    source = model(nodes, 17, imports=[("d", 1)], tensors=[PADS])
    conversion = convert(source)
    assert paths(conversion) == [
        "graph/Choose_0.branches[0]/Pad_0",
        "graph/Choose_0.branches[1]/Pad_0",
        "graph/p[1]",
        "graph/p[2]",
    ]
    assert same_but_for_the_pads(source, conversion.proto())


def function(
    opset: int, nodes: list[onnx.NodeProto], attributes: tuple[str, ...] = (), **defaults: str
) -> onnx.FunctionProto:
    protos = [helper.make_attribute(name, value) for name, value in defaults.items()]
    return helper.make_function(
        "custom", "Block", ["a"], ["r"], nodes, [helper.make_opsetid("", opset)], list(attributes), protos
    )


def reference(name: str, kind: int, to: str) -> onnx.AttributeProto:
    return onnx.AttributeProto(name=name, type=kind, ref_attr_name=to)


def test_a_function_has_an_opset_of_its_own() -> None:
    constant = helper.make_node("Constant", [], ["p"], value=tensor("", [0, 1, 0, 1]))
    body = function(13, [constant, pad(["a", "p"], "r")])
    call = helper.make_node("Block", ["x"], ["y"], domain="custom")
    source = model([call], 17, functions=[body], imports=[("custom", 1)], ir_version=9)
    conversion = convert(source)
    proto = conversion.proto()
    assert paths(conversion) == ["function custom::Block/Pad_1"]
    assert conversion.records[0].op_type == "Pad_13"
    assert {row.domain: row.version for row in proto.functions[0].opset_import} == {"": 13, "padops": 1}
    assert {row.domain: row.version for row in proto.opset_import} == {"": 17, "custom": 1, "padops": 1}
    assert same_but_for_the_pads(source, proto)


@pytest.mark.parametrize(
    ("default", "given", "opset", "op_type"),
    [
        ("edge", "reflect", 18, "Pad_18"),
        ("edge", "wrap", 18, "Pad_19"),
        ("wrap", None, 13, "Pad_19"),
        ("edge", None, 13, "Pad_13"),
    ],
)  # fmt: skip
def test_a_mode_that_the_caller_gives(default: str, given: str | None, opset: int, op_type: str) -> None:
    node = pad(["a", "p"], "r")
    node.attribute.append(reference("mode", onnx.AttributeProto.STRING, "how"))
    constant = helper.make_node("Constant", [], ["p"], value=tensor("", [0, 1, 0, 1]))
    call = helper.make_node("Block", ["x"], ["y"], domain="custom", **({"how": given} if given else {}))
    source = model([call], opset, functions=[function(opset, [constant, node], how=default)], imports=[("custom", 1)],
                   ir_version=9)  # fmt: skip
    conversion = convert(source, verify=True)
    assert conversion.records[0].op_type == op_type
    assert conversion.verification.outcome == "equal"
    (made,) = [node for node in conversion.proto().functions[0].node if node.domain == "padops"]
    assert [(a.name, a.ref_attr_name) for a in made.attribute] == [("mode", "how")]


@pytest.mark.parametrize(("other", "status"), [("constant", "unconverted"), ("edge", "converted")])
@pytest.mark.parametrize("opset", [10, 18])
def test_a_fill_is_kept_where_a_caller_may_read_it(opset: int, other: str, status: str) -> None:
    """A node with wrap has to have inputs, also for the calls that fill; in a function no type of a fill is known."""
    node = pad(["a"], "r", pads=[0, 1, 0, 1], value=5.0)
    node.attribute.append(reference("mode", onnx.AttributeProto.STRING, "how"))
    calls = [helper.make_node("Block", ["x"], [how], domain="custom", how=how) for how in (other, "wrap")]
    source = model(calls, opset, functions=[function(opset, [node], ("how",))], imports=[("custom", 1)], ir_version=9,
                   outputs=[(other, FLOAT, None), ("wrap", FLOAT, None)])  # fmt: skip
    (record,) = convert(source, verify=opset == 10).records  # ONNX Runtime refuses attributes at opset 18
    assert record.status == status
    if status == "unconverted":
        assert record.reason == "the attribute value 5.0 has to become an input, but the type of the data is unknown"


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_a_mode_that_comes_through_two_functions(domain: str) -> None:
    """The call in the first function says nothing of its own; where the second has a default, that is not meant."""
    node = pad(["a", "p"], "r", domain=domain)
    node.attribute.append(reference("mode", onnx.AttributeProto.STRING, "how"))
    constant = helper.make_node("Constant", [], ["p"], value=tensor("", [0, 1, 0, 1]))
    inner = function(13, [constant, node], how="edge")
    passes_on = helper.make_node("Block", ["a"], ["r"], domain="custom")
    passes_on.attribute.append(reference("how", onnx.AttributeProto.STRING, "outer"))
    imports = [helper.make_opsetid(name, 1) for name in ("custom", "com.microsoft")]
    inner.opset_import.append(imports[1])
    outer = helper.make_function("custom", "Outer", ["a"], ["r"], [passes_on], imports, ["outer"])
    calls = [helper.make_node("Outer", ["x"], ["y"], domain="custom", outer="wrap"),
             helper.make_node("Outer", ["x"], ["z"], domain="custom")]  # fmt: skip
    source = model(calls, 13, functions=[inner, outer], imports=[("custom", 1), ("com.microsoft", 1)], ir_version=9,
                   outputs=[("y", FLOAT, None), ("z", FLOAT, None)])  # fmt: skip
    conversion = convert(source, verify=True)
    assert conversion.records[0].op_type == "Pad_19"
    assert conversion.verification.outcome == "equal"


def test_amounts_that_the_caller_gives() -> None:
    node = pad(["a"], "r")
    node.attribute.append(reference("pads", onnx.AttributeProto.INTS, "by"))
    node.attribute.append(reference("value", onnx.AttributeProto.FLOAT, "with"))
    body = function(17, [node], ("by", "with"))
    call = helper.make_node("Block", ["x"], ["y"], domain="custom", by=[0, 1, 0, 2], **{"with": 4.0})
    source = model([call], 17, functions=[body], imports=[("custom", 1)], ir_version=9)
    conversion = convert(source, verify=True)
    assert conversion.verification.outcome == "runs"  # onnxruntime refuses the original, and it is not of Pads alone
    assert same_but_for_the_pads(source, conversion.proto())
    body.node[0].attribute.append(helper.make_attribute("mode", "wrap"))
    source = model([call], 17, functions=[body], imports=[("custom", 1)], ir_version=9)
    reason = "pads is given by the caller of the function, but has to become an input"
    assert convert(source).records[0].reason == reason


def test_new_constants_in_a_function_are_nodes() -> None:
    body = function(17, [pad(["a"], "r", pads=[0, 1, 0, 2], mode="wrap")])
    call = helper.make_node("Block", ["x"], ["y"], domain="custom")
    source = model(
        [call], 17, functions=[body], imports=[("custom", 1)], ir_version=9, outputs=[("y", FLOAT, [None, None])]
    )
    proto = checked(convert(source, verify=True))
    assert [node.op_type for node in proto.functions[0].node] == ["Constant", "Pad_19"]


def test_new_constants_hide_nothing() -> None:
    """The names that come to mind first are those of an outer value, an inner one, and a node."""
    then_branch = branch("t", [pad(["x"], "t", pads=[0, 1, 0, 2], mode="wrap"),
                               helper.make_node("Identity", ["t_pads"], ["t_pads_2"])])  # fmt: skip
    else_branch = branch("e", [helper.make_node("Identity", ["x"], ["e"], name="t_pads_3")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)
    source = model([helper.make_node("Identity", ["x"], ["t_pads"]), node], 17,
                   inputs=[("x", FLOAT, [2, 3]), ("c", BOOL, [])], outputs=[("y", FLOAT, [None, None])])  # fmt: skip
    proto = checked(convert(source, verify=True))
    made = next(a.g for a in proto.graph.node[1].attribute if a.name == "then_branch")
    assert [t.name for t in made.initializer] == ["t_pads_4"]
    assert list(made.node[0].input) == ["x", "t_pads_4"]


def test_the_body_of_a_fallback_is_not_looked_into() -> None:
    """A function of the domain padops is what an operator falls back on where the library is absent."""
    fallback = helper.make_function(
        "padops", "Pad_18", ["a", "p"], ["r"], [pad(["a", "p"], "r")], [helper.make_opsetid("", 17)]
    )
    call = helper.make_node("Pad_18", ["x", "pads"], ["y"], domain="padops")
    source = model([call], 17, functions=[fallback], imports=[("padops", 1)], tensors=[PADS])
    conversion = convert(source)
    assert [record.status for record in conversion.records] == ["already converted"]
    assert conversion.proto().SerializeToString() == source.SerializeToString()


def test_a_function_called_pad_is_a_call_and_no_pad() -> None:
    constant = helper.make_node("Constant", [], ["p"], value=tensor("", [0, 1, 0, 1]))
    body = helper.make_function(
        "mine", "Pad", ["a"], ["r"], [constant, pad(["a", "p"], "r")], [helper.make_opsetid("", 17)]
    )
    source = model([pad(["x"], domain="mine")], 17, functions=[body], imports=[("mine", 1)])
    assert paths(convert(source)) == ["function mine::Pad/Pad_1"]


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_twice_is_once(path: Path) -> None:
    once = convert(path)
    assert {record.status for record in once.records} == {"converted"}
    twice = convert(once.proto())
    assert twice.proto().SerializeToString() == once.proto().SerializeToString()
    assert [r.path for r in twice.records] == paths(once)
    assert {record.status for record in twice.records} == {"already converted"}
    assert [r.op_type for r in twice.records] == [r.op_type for r in once.records]
    assert twice.notes == ("nothing had to be changed",)
    assert same_but_for_the_pads(onnx.load(path), once.proto())
    checked(once)


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
    source = model([node, other], 18, tensors=[weights, PADS, far], imports=[("unused", 3)],
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


def test_the_graph_and_the_message_say_the_same() -> None:
    conversion = convert(nested(2))
    again = ir.from_proto(conversion.proto())
    for one, other in zip(conversion.model.graphs(), again.graphs(), strict=True):
        assert [(n.domain, n.op_type, n.name) for n in one] == [(n.domain, n.op_type, n.name) for n in other]
        assert one.opset_imports == other.opset_imports


LOST = "are not carried by onnx_ir; converting would lose them"
REFUSED = {
    "sparse_initializer": "graph.sparse_initializer: sparse initializers",
    "sparse_in_branch": "graph.node[0].attribute[0].g.sparse_initializer: sparse initializers",
    "sparse_attribute": "graph.node[0].attribute[0].sparse_tensor: sparse tensors",
    "segment": "graph.initializer[0].segment: tensors in segments",
    "map": "graph.output[0].type.sequence_type.elem_type.map_type: map types",
}


def lossy(kind: str) -> onnx.ModelProto:
    """A model with a Pad and one thing that onnx_ir does not carry."""
    source = one_pad(17)
    sparse = onnx.SparseTensorProto(dims=[4], values=tensor("s", [1.0], np.float32), indices=tensor("", [2]))
    if kind == "sparse_initializer":
        source.graph.sparse_initializer.append(sparse)
    elif kind == "sparse_in_branch":
        inner = branch("t", [pad(output="t")])
        inner.sparse_initializer.append(sparse)
        source.graph.node.insert(0, helper.make_node("If", ["c"], ["i"], then_branch=inner, else_branch=inner))
    elif kind == "sparse_attribute":
        source.graph.node.insert(0, helper.make_node("Constant", [], ["c"], sparse_value=sparse))
    elif kind == "segment":
        source.graph.initializer[0].segment.begin = 0
    elif kind == "map":
        source.graph.output[0].type.sequence_type.elem_type.map_type.key_type = TensorProto.INT64
    return source


@pytest.mark.parametrize("kind", REFUSED)
def test_what_would_be_lost_is_refused(kind: str) -> None:
    with pytest.raises(PadopsError) as caught:
        convert(lossy(kind))
    assert str(caught.value) == f"{REFUSED[kind]} {LOST}"


@pytest.mark.parametrize("as_file", [True, False])
def test_training_graphs_survive(tmp_path: Path, as_file: bool) -> None:
    """What onnx_ir does not carry at the top of the model stays in the message, byte for byte."""
    source = one_pad(17)
    training = source.training_info.add()
    training.algorithm.CopyFrom(one_pad(17).graph)
    training.update_binding.add(key="w", value="y")
    before = training.SerializeToString(deterministic=True)
    if as_file:
        onnx.save(source, tmp_path / "in.onnx")
        padops.convert(tmp_path / "in.onnx", tmp_path / "out.onnx")
        made = onnx.load(tmp_path / "out.onnx")
    else:
        made = convert(source).proto()
    (after,) = made.training_info
    assert after.SerializeToString(deterministic=True) == before
    assert made.graph.node[0].domain == "padops"


def test_training_graphs_survive_beside_a_graph_without_nodes() -> None:
    source = helper.make_model(helper.make_graph([], "empty", [], []))
    source.training_info.add().algorithm.name = "training"
    result = padops.convert(source)
    assert result.proto().training_info == source.training_info
    assert "the training graphs stay as they are" in result.notes


def test_unknown_fields_are_refused() -> None:
    source = one_pad(17)
    node = source.graph.node[0]
    node.MergeFromString(b"\xfa\x3e\x02hi")  # field 1007, two bytes
    with pytest.raises(PadopsError) as caught:
        convert(source)
    assert str(caught.value) == (
        f"graph.node[0] (NodeProto) has the field number 1007, which onnx {onnx.__version__} does not know; converting "
        "would lose it"
    )


def test_a_graph_that_is_none() -> None:
    source = model([pad(), pad()], 17, tensors=[PADS])
    with pytest.raises(
        PadopsError, match=r"node '' \(graph.node\[1\], Pad\) makes 'y', and so does node '' \(graph.node\[0\]"
    ):
        convert(source)


def test_functions_that_are_one_too_many() -> None:
    body = function(17, [helper.make_node("Identity", ["a"], ["r"])])
    with pytest.raises(PadopsError, match="several functions of the same domain, name and overload"):
        convert(model([pad()], 17, functions=[body, body], tensors=[PADS]))


def test_another_version_of_the_domain() -> None:
    with pytest.raises(PadopsError, match="graph imports version 2 of the domain padops; this is 1"):
        convert(model([pad()], 17, imports=[("padops", 2)], tensors=[PADS]))


def test_an_int32_model_runs_in_every_place() -> None:
    """New constants in a branch, of the type of the data."""
    then_branch = graph([pad(["x"], "t", pads=[0, 1, 0, 2], value=5.0)], [], [("t", INT32, None)], name="then")
    else_branch = graph([helper.make_node("Identity", ["x"], ["e"])], [], [("e", INT32, None)], name="else")
    node = helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)
    source = model([node], 13, inputs=[("x", INT32, [2, 3]), ("c", BOOL, [])], outputs=[("y", INT32, None)])
    conversion = convert(source, verify=True)
    assert conversion.verification.outcome == "runs"
    proto = conversion.proto()
    made = next(a.g for a in proto.graph.node[0].attribute if a.name == "then_branch")
    assert [(t.name, t.data_type, list(t.dims)) for t in made.initializer] == [
        ("t_pads", INT64, [4]),
        ("t_constant_value", INT32, []),
    ]
