"""Everything but the Pads: what functions and bodies say of them; the rest stays as it was, or the model is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import pytest
from folding_models import run
from onnx import TensorProto, helper
from small_models import FLOAT, convert, external, graph, model, one_pad, pad, parsed, same_but_for_the_pads, tensor

import padops
from padops.convert import PadopsError
from padops.runtime.ort_values import run_session


@pytest.mark.parametrize(("other", "kind", "status"), [("constant", "float", "converted"),
                         ("edge", "float", "converted"), ("constant", "int32", "unconverted")])  # fmt: skip
@pytest.mark.parametrize("opset", [10, 18])
def test_a_fill_is_kept_where_a_caller_may_read_it(opset: int, other: str, kind: str, status: str) -> None:
    """A node with wrap has to have inputs, also for the calls that fill; calls of two types give no type to a fill."""
    source = parsed(f"""(float[2, 3] x, {kind}[2, 3] z) => (float[a, b] y, {kind}[c, e] w)
        {{ y = d.Block <how = "{other}"> (x) w = d.Block <how = "wrap"> (z) }}
        FUNCTION Block <how> (a) => (r) {{ r = Pad <pads = [0, 1, 0, 1], value = 5.0, mode: string = @how> (a) }}
    """, opset)  # fmt: skip
    runs = opset == 10 and kind == "float"  # ONNX Runtime refuses attributes at opset 18
    (record,) = convert(source, verify=runs, run=runs).records
    assert record.status == status
    if status == "unconverted":
        assert record.reason == "the attribute value 5.0 cannot become an input: the type of the data is unknown"


@pytest.mark.parametrize("operator", ["Pad", "com.microsoft.Pad"])
def test_a_mode_that_comes_through_two_functions(operator: str) -> None:
    """The call in the first function says nothing of its own; where the second has a default, that is not meant."""
    conversion = convert(parsed(f"""(float[2, 3] x) => (float[a, b] y, float[c, e] z)
        {{ y = d.Outer <outer = "wrap"> (x) z = d.Outer (x) }}
        FUNCTION Block <how: string = "edge"> (a) => (r)
        {{ p = Constant <value = int64[4] {{0, 1, 0, 1}}> () r = {operator} <mode: string = @how> (a, p) }}
        FUNCTION Outer <outer> (a) => (r) {{ r = d.Block <how: string = @outer> (a) }}
    """, 13), verify=True, run=True)  # fmt: skip
    assert conversion.records[0].op_type == "Pad_19"
    assert conversion.verification.outcome == "equal"


def test_amounts_that_the_caller_gives() -> None:
    text = """(float[2, 3] x) => (float[a, b] y) { y = d.Block <by = [0, 1, 0, 2], to = 4.0> (x) }
        FUNCTION Block <by, to> (a) => (r) { r = Pad <pads: ints = @by, value: float = @to> (a) }"""
    conversion = convert(parsed(text), verify=True, run=True)
    assert conversion.verification.outcome == "runs"  # onnxruntime refuses the original, and it is not of Pads alone
    (node,) = conversion.proto().functions[0].node
    assert (node.op_type, [row.ref_attr_name for row in node.attribute]) == ("Pad_2", ["by", "to"])
    reason = "its attribute pads cannot become an input, since the function's caller sets it"
    assert convert(parsed(text.replace("Pad <", 'Pad <mode = "wrap", '))).records[0].reason == reason


@pytest.mark.parametrize(("depth", "dims", "place"), [(1, "2, 3", "graph"), (2, "n, 3", "branch"), (2, "", "graph"),
                                                      (1, "", "branch")])  # fmt: skip
def test_a_call_of_a_function_without_fallback_loads(depth: int, dims: str, place: str) -> None:
    """The call's output is no output of the model."""
    nodes = f"p = d.F{depth} (x, pads) {{}} = Relu (p)"
    made = nodes.format("y")
    if place == "branch":
        one, other = (f"{i} () => (float[] {i}) {{ {nodes.format(i)} }}" for i in ("t", "e"))
        made = f"z = If (c) <then_branch = {one}, else_branch = {other}> y = Abs (z)"
    source = parsed(f"""(float[{dims}] x, bool c) => (float[a, b] y) <int64[4] pads = {{0, 2, 0, 1}}> {{ {made} }}
        FUNCTION F1 (x, pads) => (y) {{ y = Pad <mode = "reflect"> (x, pads) }}
        FUNCTION F2 (x, pads) => (y) {{ y = d.F1 (x, pads) }}""", ir_version=8)  # fmt: skip
    message = padops.convert(source, fallback=False).proto()
    feeds = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "c": np.array(True)}
    for level in ("disable", "all"):
        assert run(message, feeds, level) == run(source, feeds, level)
    assert padops.convert(message, fallback=False).proto() == message


@pytest.mark.parametrize(("body", "axes"), [
    ("e = d.F (x, held) y = Identity (e)", "axes"),
    ("e = d.F (x, held) y = d.F (e, held)", "given"),
    ("y = If (c) <then_branch = t () => (float[] a) { e = d.F (x, held) a = Identity (e) }, "
     "else_branch = e () => (float[] b) { b = Identity (x) }>", "axes"),
])  # fmt: skip
def test_axes_of_int32(body: str, axes: str) -> None:
    """The converter states the type of the calls: onnxruntime said "output arg (d) type inference failed"."""
    made = padops.convert(parsed(f"""(float[N, 4] x, bool c) => (float[A, B] y) <int32[1] held = {{-1}}>
        {{ {body} }}
        FUNCTION F (data, given) => (made) {{
            pads = Constant <value = int64[2] {{1, 3}}> () axes = Constant <value = int32[1] {{-1}}> ()
            made = Pad <mode = "edge"> (data, pads, , {axes})
        }}""", 21, 10), fallback=False)  # fmt: skip
    data, times = np.arange(8, dtype=np.float32).reshape(2, 4), body.count("d.F")
    (output,) = run_session(native.session(made.proto()), {"x": data, "c": np.array(True)})
    assert output.tobytes() == np.pad(data, [(0, 0), (times, 3 * times)], "edge").tobytes()


def declared(message: onnx.GraphProto) -> dict[str, list]:
    return {
        info.name: [dim.dim_value if dim.HasField("dim_value") else None for dim in info.type.tensor_type.shape.dim]
        for info in message.value_info
    }


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize(("dims", "false", "told", "expected"), [
    ("2, 3", "[1, 3]", [2, 3], [3, 5]), ("2, 3", "[n, 9]", [None, 3], [3, 5]), ("2, 3", "[2, 3, 1]", [2, 3], [3, 5]),
    ("n, ?", "", [None, None], [None, None]), ("n, 3", "[1, 3]", [None, 3], [None, 5]),
])  # fmt: skip
def test_a_false_shape_that_the_model_states(dims: str, false: str, told: list, expected: list, inner: bool) -> None:
    """As where only the inputs were changed to another batch size: ONNX Runtime makes constants of known shapes."""
    body = f"""<int64[4] amounts = {{1, 0, 0, 2}}, float{false} v>
        {{ v = Neg (x) p = Pad <mode = "edge"> (v, amounts) y = Shape (p) }}"""
    if inner:
        branch = f"b () => (int64[] y) {body}"
        body = f"<bool always = {{1}}> {{ y = If (always) <then_branch = {branch}, else_branch = {branch}> }}"
    source = parsed(f"(float[{dims}] x) => (int64[] y) {body}", 13)
    converted = padops.convert(source).proto()
    assert declared(converted.graph.node[0].attribute[0].g if inner else converted.graph) == {"v": told, "p": expected}
    if expected == [3, 5]:
        for made in (source, converted):
            assert native.session(made).run(None, {"x": np.zeros((2, 3), np.float32)})[0].tolist() == [3, 5]


@pytest.mark.parametrize(("ir_version", "dims"), [(3, [3, 5]), (8, [None, None])])
def test_a_default_that_the_caller_may_override(ir_version: int, dims: list) -> None:
    """Up to IR version 3 an initializer is constant though it is an input, too."""
    source = parsed("""(float[2, 3] x, int64[4] pads = {1, 0, 0, 2}) => (float[a, b] y)
        { p = Pad <mode = "edge"> (x, pads) y = Relu (p) }""", 13, ir_version)  # fmt: skip
    assert declared(padops.convert(source, fallback=False).proto().graph) == {"p": dims}


def test_the_rows_of_a_scan_have_a_shape_and_the_outputs_of_the_model_stay_as_they_are() -> None:
    converted = padops.convert(parsed("""(float[n, 3] x) => (float[] y) { y = Scan <num_scan_inputs = 1,
        body = b (float[] row) => (float[] wide) <int64[2] p = {1, 2}> { wide = Pad <mode = "edge"> (row, p) }> (x) }
    """)).proto()  # fmt: skip
    assert not converted.graph.output[0].type.tensor_type.HasField("shape")
    body = next(row.g for row in converted.graph.node[0].attribute if row.name == "body")
    assert [dim.dim_value for dim in body.output[0].type.tensor_type.shape.dim] == [6]


def test_graphs_in_a_list_and_names_that_are_not_unique() -> None:
    bodies = [graph([pad(output=f"b{i}")], [], [(f"b{i}", FLOAT, None)], name=f"g{i}") for i in range(2)]
    nodes = [helper.make_node("Choose", ["x"], ["c"], domain="d", branches=bodies), pad(["c", "pads"], "z", name="p"),
             pad(["z", "pads"], name="p")]  # fmt: skip
    source = model(nodes, 17, imports=[("d", 1)], tensors=[tensor("pads", [0, 1, 0, 1])])
    conversion = convert(source)
    inner = [f"graph/Choose_0.branches[{i}]/Pad_0" for i in range(2)]
    assert [record.path for record in conversion.records] == [*inner, "graph/p[1]", "graph/p[2]"]
    assert same_but_for_the_pads(source, conversion.proto())


# --- everything else -------------------------------------------------------------------------------------------------


def test_everything_else_stays() -> None:
    """What onnx_ir would reorder, add or drop by itself: the message is edited, not written anew."""
    node = pad(name="p")
    node.doc_string, node.overload = "why", ""
    other = helper.make_node("Split", ["y"], ["s", ""], name="split", num_outputs=2, axis=1)
    weights = tensor("w", [1.5], np.float32)
    weights.doc_string = "weights"
    far = external("far", "weights.bin", 4, offset=16, checksum="abc")
    source = model([node, other], 18, tensors=[weights, tensor("pads", [0, 1, 0, 1]), far], imports=[("unused", 3)],
                   outputs=[("s", FLOAT, ["batch*2 + 1", None])])  # fmt: skip
    for name, dims in (("nowhere", [1]), ("y", [2, "n"])):
        source.graph.value_info.append(helper.make_tensor_value_info(name, FLOAT, dims))
    source.graph.value_info[1].doc_string = "padded"
    annotation = source.graph.quantization_annotation.add(tensor_name="y")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    source.graph.doc_string, source.producer_name, source.model_version = "graph", "test", 7
    for described in (source, source.graph, source.graph.node[0], source.graph.initializer[0]):
        for i, key in enumerate("zab"):
            described.metadata_props.add(key=key, value=str(i))
    before = source.SerializeToString()
    proto = convert(source).proto()
    assert source.SerializeToString() == before
    assert same_but_for_the_pads(source, proto)
    assert [row.domain for row in proto.opset_import] == ["", "unused", "padops"]


SPARSE = onnx.SparseTensorProto(dims=[4], values=tensor("s", [1.0], np.float32), indices=tensor("", [2]))
TWICE = [helper.make_function("custom", "Block", ["a"], ["r"], [helper.make_node("Identity", ["a"], ["r"])],
                              [helper.make_opsetid("", 17)])] * 2  # fmt: skip
LOST = "converting would lose them"
# What is done to a model of one Pad, and what is said of it.
REFUSED: list[tuple[Callable[[onnx.ModelProto], object], str]] = [
    (lambda m: m.graph.node.insert(0, helper.make_node("Mine", [], ["c"], domain="mine", given=SPARSE)),
     f"graph.node[0].attribute[0].sparse_tensor: onnx_ir drops sparse tensors; {LOST}"),
    (lambda m: setattr(m.graph.initializer[0].segment, "begin", 0),
     f"graph.initializer[0].segment: onnx_ir drops tensors in segments; {LOST}"),
    (lambda m: setattr(m.graph.output[0].type.sequence_type.elem_type.map_type, "key_type", TensorProto.INT64),
     f"graph.output[0].type.sequence_type.elem_type.map_type: onnx_ir drops map types; {LOST}"),
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
