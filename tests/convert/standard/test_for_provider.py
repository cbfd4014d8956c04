"""Lowering for an execution provider writes nodes by the provider's rules; the bits are right on any runtime."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from lowered_for import MOVING, lowered, model_of, padded, session, written
from onnx import parser

import padops
from padops.cli import main
from padops.runtime.provider_rules import KNOWN_PROVIDERS, NOT_RUN

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import provider_cases
from provider_cases import ALL, OPENVINO, QNN, RARE_CASES, WEBGPU

REAL = (OPENVINO, WEBGPU, QNN)


@pytest.mark.parametrize("provider", REAL)
@pytest.mark.parametrize("case", ALL.values(), ids=lambda case: case.name)
def test_cases(case: provider_cases.Case, provider: str) -> None:
    """A Pad that is left is one that the provider runs; the rest moves parts of the data; the bits are the standard's.

    What has no dims or no elements may take other nodes: they have nothing to do.
    """
    model, conversion = lowered(provider_cases.model_of(case), provider)
    found = [
        pad for pad in padops.inspect(model, providers=[provider, "CPUExecutionProvider"]).pads if pad.operator == "Pad"
    ]
    (record,) = conversion.records
    if "leaves it" not in f"{record.reason} {record.notes}" and case not in RARE_CASES:
        if "pads" not in case.given:
            assert [pad.runner for pad in found] == [provider] * written(model)["Pad"], [pad.why for pad in found]
            assert set(written(model)) <= MOVING | {"Pad", *case.behind.split()}
    output = session(model, padops.InferenceSession).run(None, provider_cases.feeds_of(case))[0]
    np.testing.assert_array_equal(output, provider_cases.expected_of(case))


# The rules of the three providers, as what is written shows them. A Pad alone stays as it is, but for its axes.
WRITTEN = {
    ("constant 24", OPENVINO): "Pad",
    ("constant 24", WEBGPU): "2 Concat",
    ("constant 24", QNN): "Pad",
    ("constant axes", OPENVINO): "Pad",
    ("constant axes", QNN): "Pad",
    ("constant int64", WEBGPU): "Pad",
    ("constant int64", QNN): "Pad",
    ("constant rank 5", WEBGPU): "Pad",
    ("constant rank 5", QNN): "2 Reshape, Pad",
    ("reflect rank 5", QNN): "2 Reshape, 6 Slice, 3 Concat",
    ("constant rank 6", QNN): "2 Reshape, Pad",
    ("edge rank 6", QNN): "2 Reshape, 6 Slice, 2 Expand, 3 Concat",
    ("wrap rank 6", QNN): "2 Reshape, 6 Slice, 3 Concat",
    ("reflect 23", WEBGPU): "Pad",
    ("reflect 24", WEBGPU): "6 Slice, 2 Concat",
    ("reflect 23", QNN): "Pad",
    ("reflect beyond n - 1", OPENVINO): "3 Slice, Concat, Tile",
    ("reflect beyond n - 1", WEBGPU): "Pad",
    ("edge 18", OPENVINO): "Pad",
    ("edge 18", WEBGPU): "Pad",
    ("edge 18", QNN): "4 Slice, 2 Expand, 2 Concat",
    ("wrap 19", OPENVINO): "4 Slice, 2 Concat",
    ("wrap 19", WEBGPU): "Pad",
    ("wrap 19", QNN): "4 Slice, 2 Concat",
    ("wrap of n", WEBGPU): "Pad",
    ("wrap of n", OPENVINO): "2 Concat",
    ("wrap beyond n", WEBGPU): "Tile, Slice",
    ("wrap crop", WEBGPU): "4 Slice, 2 Concat",
    ("reflect, open dims", OPENVINO): "12 Slice, 4 Concat, 2 Tile",
    ("reflect, open dims", WEBGPU): "Pad",
    ("wrap, open dims", OPENVINO): "6 Slice, 2 Concat, 2 Tile",
    ("constant, open dims", QNN): "Pad",
    # Not every processor's Pad runs these, and onnxruntime 1.20's is wrong without a word.
    ("reflect, open dims", QNN): "12 Slice, 4 Concat, 2 Tile",
    ("wrap, open dims", QNN): "6 Slice, 2 Concat, 2 Tile",
    ("constant 25, open dims", WEBGPU): "2 Slice, 2 ReduceSum, 2 Where, 2 Concat",
    ("reflect 24, open dims", WEBGPU): "12 Slice, 4 Concat, 2 Tile",
    ("constant, amounts given", WEBGPU): "Pad",
}


@pytest.mark.parametrize("name, provider", WRITTEN)
def test_nodes(name: str, provider: str) -> None:
    model, _ = lowered(provider_cases.model_of(ALL[name]), provider)
    expected = Counter()
    for part in WRITTEN[name, provider].split(", "):
        count, _, op_type = part.rpartition(" ")
        expected[op_type] += int(count or 1)
    assert written(model) == expected
    assert not any(node.op_type == "Pad" and len(node.input) > 3 for node in model.graph.node), "axes"


def test_what_lowering_says_of_a_branch() -> None:
    """QNN takes no node of one; what a Pad becomes there runs on the processor, and the record says so."""
    text = """g (bool c, float[4] x) => (float[a] y) <int64[2] p = {1, 1}> { r = Relu (x)
        b = If (c) <then_branch = k () => (float[d] u) { u = Pad <mode = "MODE"> (r, p) },
            else_branch = e () => (float[h] v) { v = Identity (r) }> y = Relu (b) }"""
    for mode, provider, said in (("edge", QNN, True), ("wrap", QNN, True), ("wrap", OPENVINO, False)):
        built = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 19]> {text.replace("MODE", mode)}')
        _, conversion = lowered(built.SerializeToString(), provider)
        (record,) = conversion.records
        words = " ".join((record.reason or "", *record.notes))
        assert (f"{QNN} leaves it (in a branch or a body)" in words) is said, words


def test_rules_that_were_not_run_say_so() -> None:
    for row in KNOWN_PROVIDERS:
        for name in ("wrap beyond n", "constant 18"):
            _, conversion = lowered(provider_cases.model_of(ALL[name]), row.name)
            (record,) = conversion.records
            said = " ".join((record.reason or "", *record.notes))
            assert ("by rules that were not run" in said) == (row.version == NOT_RUN), (row.name, said)


@pytest.mark.parametrize("name", ["openvino", "OpenVINO", "openvinoexecutionprovider", OPENVINO])
def test_names(name: str) -> None:
    _, conversion = lowered(provider_cases.model_of(ALL["constant 18"]), name)
    assert conversion.records[0].reason == "OpenVINOExecutionProvider runs it"


def test_what_a_provider_lacks_stays_with_the_processor() -> None:
    """More nodes would help nobody: of a type that it has for no node, and of a provider that has no Slice."""
    for provider, name in ((WEBGPU, "constant int64"), ("xnnpack", "constant 18"), (QNN, "constant, amounts given")):
        model, conversion = lowered(provider_cases.model_of(ALL[name]), provider)
        assert written(model) == {"Pad": 1} and "leaves it" in conversion.records[0].reason


def test_cuda_has_no_pad_of_int64() -> None:
    model, _ = lowered(provider_cases.model_of(ALL["constant int64"]), "cuda")
    assert written(model) == {"Concat": 2}


@pytest.mark.parametrize(
    "options, why",
    [
        ({"provider": "foo"}, "padops has no rules for provider 'foo', only for ggml, OpenVINOExecutionProvider, QNN"),
        ({"provider": 7}, "provider is an int, expected the name of an execution provider"),
        ({"provider": "cuda", "target": "padops"}, "provider needs target='onnx'"),
        ({"provider": "cuda", "without_pad": True},
         "provider and without_pad exclude each other: CUDAExecutionProvider runs some Pads, which stay"),
        ({"provider": "cuda", "select": "needed"}, "provider needs select='all'"),
    ],
)  # fmt: skip
def test_wrong_arguments(options: dict, why: str) -> None:
    with pytest.raises(padops.UsageError) as raised:
        padops.convert(provider_cases.model_of(ALL["constant 18"]), **{"target": "onnx"} | options)
    assert str(raised.value).startswith(why)


def test_before_slices_have_steps() -> None:
    model = model_of("reflect", "1, 2, 4, 5", [[0, 0, 5, 0, 0, 0, 4, 0]], 9)
    del model.graph.initializer[:]
    model.graph.node[0].input.pop()
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("pads", [0, 0, 5, 0, 0, 0, 4, 0]))
    with pytest.raises(padops.PadsLeftError, match="it needs Slice with steps .opset 10.; the model has opset 9;"):
        padops.lower(model, provider=OPENVINO)


@pytest.mark.parametrize("opset", [4, 5])
def test_before_tile_has_counts(opset: int) -> None:
    """A model was written that no runtime loads."""
    model = model_of("reflect", "4", [[3, -1]], opset)
    del model.graph.initializer[:]
    model.graph.node[0].input.pop()
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("pads", [3, -1]))
    with pytest.raises(
        padops.PadsLeftError, match=f"it needs Tile-6 .opset 6.; the model has opset {opset}; raise that first"
    ):
        padops.lower(model, provider=OPENVINO)


FEEDS = {"x": np.arange(1, 41, dtype=np.float32).reshape(1, 2, 4, 5)}


def text_model(body: str, inputs: str = "float[1, 2, 4, 5] x", opset: int = 18, constants: str = "") -> onnx.ModelProto:
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {opset}]> g ({inputs}) => (float y) {constants} {{ {body} }}'
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


@pytest.mark.parametrize(
    "model, op_types",
    [
        # ONNX Runtime refuses these before a provider is asked.
        (
            text_model("y = Pad (x, p, , a)", constants="<int64[2] p = {1, 1}, int32[1] a = {2}>"),
            "Pad",
        ),
        (text_model("y = Pad <pads = [0, 0, 1, 1, 0, 0, 1, 1]> (x)"), "Pad"),
        # It makes this one the padding of the pooling, which is wrong until 1.31.
        (
            text_model(
                "b = Pad (x, p) y = MaxPool <kernel_shape = [2, 2]> (b)",
                constants="<int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}>",
            ),
            "Concat Concat MaxPool",
        ),
        (text_model("y = Pad (x, p)", "float x", constants="<int64[0] p = {}>"), "Identity"),
        (text_model("y = Pad (x, p)", constants="<int64[8] p = {0, 0, 0, 0, 0, 0, 0, 0}>"), "Pad"),
    ],
)
def test_what_onnxruntime_refuses_or_gets_wrong_is_not_left(model: onnx.ModelProto, op_types: str) -> None:
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    low, _ = lowered(model, OPENVINO)
    assert " ".join(node.op_type for node in low.graph.node) == op_types
    assert all(len(node.input) <= 3 and len(node.attribute) <= 1 for node in low.graph.node)
    if "MaxPool" not in op_types and model.graph.input[0].type.tensor_type.shape.dim:
        session(low).run(None, FEEDS)


@pytest.mark.parametrize("provider", REAL)
def test_amounts_of_two_dims_become_one(provider: str) -> None:
    """ONNX Runtime refuses them before a provider is asked; each of these would run the Pad."""
    model = text_model("y = Pad (x, p)", constants="<int64[1, 8] p = {0, 0, 1, 1, 0, 0, 1, 1}>")
    low, conversion = lowered(model, provider)
    assert [record.status for record in conversion.records] == ["converted"] and written(low) == {"Pad": 1}
    np.testing.assert_array_equal(
        session(low).run(None, FEEDS)[0], padded("constant", FEEDS["x"], [0, 0, 1, 1, 0, 0, 1, 1])
    )


def test_what_a_provider_refuses_does_not_stay() -> None:
    """QNN has no node of double, and yet takes the Pad, and refuses it: the processor runs parts of the data."""
    model = text_model('y = Pad <mode = "reflect"> (x, p)', "double[4] x", constants="<int64[2] p = {1, 2}>")
    low, conversion = lowered(model, QNN)
    assert written(low) == {"Slice": 3, "Concat": 1} and conversion.records[0].status == "converted"


@pytest.mark.parametrize("pads", [[0, 0, 0, 1, 1, 0, 0, 0, 1, 1], [0, 0, -3, 1, 1, 0, 0, 0, 1, 1]])
def test_what_has_no_elements_is_not_narrowed(pads: list[int]) -> None:
    """Reshapes around it would help nobody."""
    held, size = f"<int64[10] p = {{{', '.join(map(str, pads))}}}>", 3 if pads[2] else 0
    low, _ = lowered(text_model('y = Pad <mode = "edge"> (x, p)', f"float[1, 2, {size}, 4, 5] x", constants=held), QNN)
    assert written(low) == {"ConstantOfShape": 1}


def test_what_a_provider_leaves_is_not_narrowed() -> None:
    """Fewer dims would help nobody."""
    held = "<int64[10] p = {0, 0, 1, 1, 1, 0, 0, 1, 1, 1}>"
    low, conversion = lowered(text_model("y = Pad (x, p)", "uint8[1, 2, 3, 4, 5] x", constants=held), QNN)
    assert (
        written(low) == {"Pad": 1}
        and "QNNExecutionProvider leaves it (any node of uint8)" in conversion.records[0].reason
    )


@pytest.mark.parametrize("provider", REAL)
def test_broken_rules_are_said(provider: str) -> None:
    model = text_model('y = Pad <mode = "edge"> (x, p)', constants="<int64[8] p = {0, 0, -4, 0, 0, 0, 1, 0}>")
    (record,) = padops.convert(model, target="onnx", provider=provider).records
    assert record.status == "unconverted" and record.reason.endswith("leave none of its 4 elements [P5]")


def test_constant_crops() -> None:
    """For DirectML, which crops wrongly, a Slice crops and the Pad adds; OpenVINO would die of an emptied axis."""
    model = text_model("y = Pad (x, p)", constants="<int64[8] p = {0, 0, -1, 2, 0, 0, 1, -2}>")
    low, _ = lowered(model, "dml")
    assert [node.op_type for node in low.graph.node] == ["Slice", "Pad"]
    np.testing.assert_array_equal(session(low).run(None, FEEDS)[0], session(model).run(None, FEEDS)[0])
    given = text_model("y = Pad (x, p)", "float[1, 2, 4, 5] x, int64[8] p")
    low, _ = lowered(given, OPENVINO)
    assert low.graph.node[-1].op_type == "Pad" and "Slice" in {node.op_type for node in low.graph.node}
    for pads in ([0, 0, -4, 0, 0, 0, 3, 0], [0, 0, 1, -5, 0, 0, 0, 2], [0, 0, 1, 2, 0, 0, 1, 2]):
        feeds = FEEDS | {"p": np.array(pads)}
        np.testing.assert_array_equal(session(low).run(None, feeds)[0], padded("constant", FEEDS["x"], pads))


def test_no_pad_of_what_is_surely_cut_away() -> None:
    """A Slice in front of it would leave it no elements, which OpenVINO leaves to others."""
    model = text_model("y = Pad (x, p)", constants="<int64[8] p = {0, 0, -5, 0, 0, 0, 3, 0}>")
    low, _ = lowered(model, OPENVINO)
    assert "Pad" not in written(low)
    np.testing.assert_array_equal(session(low).run(None, FEEDS)[0], np.zeros((1, 2, 2, 5), np.float32))


def test_no_least_of_a_concat_of_two() -> None:
    """OpenVINO 1.24.1 reads ReduceMin of two joined vectors as a minimum of each pair, so lowering writes none."""
    model, _ = lowered(provider_cases.model_of(ALL["wrap, amounts given"]), OPENVINO)
    joined = {node.output[0]: len(node.input) for node in model.graph.node if node.op_type == "Concat"}
    least = [joined.get(node.input[0]) for node in model.graph.node if node.op_type == "ReduceMin"]
    assert least and 2 not in least


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, output = tmp_path / "in.onnx", tmp_path / "out.onnx"
    source.write_bytes(provider_cases.model_of(ALL["wrap 19"]))
    assert main(["convert", str(source), str(output), "--target", "onnx", "--for", "openvino"]) == 0
    assert written(onnx.load(output)) == {"Slice": 4, "Concat": 2}
    assert main(["convert", str(source), str(output), "--target", "onnx", "--for", "nobody"]) == 2
    assert "padops has no rules for provider 'nobody', only for ggml, OpenVINO" in capsys.readouterr().err
