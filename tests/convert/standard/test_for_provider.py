"""Lowering for an execution provider writes nodes by the provider's rules; the bits are right on any runtime.

What is written is right on any runtime, so it is run on the processor here. What the providers themselves make of it,
the peers ``padops-for-*`` say.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from lowered_for import MOVING, lowered, model_of, session, written
from onnx import parser
from onnxruntime.capi import onnxruntime_pybind11_state as states

import padops
from padops.cli import main
from padops.conformance import cases
from padops.conformance.arrays import pack
from padops.conformance.features import expect
from padops.conformance.model import converted, feeds, make_model
from padops.conformance.peers.ort import run_model, session_options
from padops.conformance.peers.request import Request, Unsupported

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


def test_what_a_provider_lacks_stays_with_the_processor() -> None:
    """More nodes would help nobody: of a type that it has for no node, and of a provider that has no Slice."""
    for provider, name in ((WEBGPU, "constant int64"), ("xnnpack", "constant 18"), (QNN, "constant, amounts given")):
        model, conversion = lowered(provider_cases.model_of(ALL[name]), provider)
        assert written(model) == {"Pad": 1} and "leaves it" in conversion.records[0].reason


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
        padops.PadsLeftError, match=f"it needs Tile .opset 6.; the model has opset {opset}; --target onnx --opset"
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


@pytest.mark.parametrize("pads", [[0, 0, 0, 1, 1, 0, 0, 0, 1, 1], [0, 0, -3, 1, 1, 0, 0, 0, 1, 1]])
def test_what_has_no_elements_is_not_narrowed(pads: list[int]) -> None:
    """Reshapes around it would help nobody."""
    held, size = f"<int64[10] p = {{{', '.join(map(str, pads))}}}>", 3 if pads[2] else 0
    low, _ = lowered(text_model('y = Pad <mode = "edge"> (x, p)', f"float[1, 2, {size}, 4, 5] x", constants=held), QNN)
    assert written(low) == {"ConstantOfShape": 1}


@pytest.mark.parametrize("provider", REAL)
def test_broken_rules_are_said(provider: str) -> None:
    model = text_model('y = Pad <mode = "edge"> (x, p)', constants="<int64[8] p = {0, 0, -4, 0, 0, 0, 1, 0}>")
    (record,) = padops.convert(model, target="onnx", provider=provider).records
    assert record.status == "unconverted" and record.reason.endswith("leave none of its 4 elements [P5]")


def test_no_pad_of_what_is_surely_cut_away() -> None:
    """A Slice in front of it would leave it no elements, which OpenVINO leaves to others."""
    model = text_model("y = Pad (x, p)", constants="<int64[8] p = {0, 0, -5, 0, 0, 0, 3, 0}>")
    low, _ = lowered(model, OPENVINO)
    assert "Pad" not in written(low)
    np.testing.assert_array_equal(session(low).run(None, FEEDS)[0], np.zeros((1, 2, 2, 5), np.float32))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, output = tmp_path / "in.onnx", tmp_path / "out.onnx"
    source.write_bytes(provider_cases.model_of(ALL["wrap 19"]))
    assert main(["convert", str(source), str(output), "--target", "onnx", "--for", "openvino"]) == 0
    assert written(onnx.load(output)) == {"Slice": 4, "Concat": 2}
    assert main(["convert", str(source), str(output), "--target", "onnx", "--for", "nobody"]) == 2
    assert "padops has no rules for provider 'nobody', only for ggml, OpenVINO" in capsys.readouterr().err


sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

PROVIDERS = ("openvino", "webgpu", "qnn", "dml", "cuda")


def lowered_case(case: Request, provider: str, form: dict | None = None) -> tuple[Request, onnx.ModelProto]:
    request = replace(case, **(form or {}))
    model = make_model(request, standard=bool(request.opset))
    return request, converted(model, target="onnx", provider=provider)


def run(request: Request, model: onnx.ModelProto) -> np.ndarray:
    return run_model(model.SerializeToString(), feeds(request), session_options())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_bits(provider: str) -> None:
    """Every fifth of some cases, another one for each provider; whatever breaks a rule has no bits."""
    chosen = [case for case in cases.collect("quick")[::6] if expect(case).output is not None]
    outcomes: Counter[str] = Counter()
    for case in chosen[PROVIDERS.index(provider) :: len(PROVIDERS)]:
        try:
            request, model = lowered_case(case, provider)
        except Unsupported:
            outcomes["no form"] += 1
            continue
        try:
            output = run(request, model)
        except states.NotImplemented:  # the processor lacks an operator of the type
            outcomes["no kernel"] += 1
            continue
        except states.InvalidArgument as error:  # the provider's Pad runs what the processor's refuses
            assert "Pad" in operators(model) and "running Pad node" in str(error), (case.id, error)
            outcomes["refused"] += 1
            continue
        assert pack(output) == pack(expect(case).output), case.id
        outcomes["right"] += 1
    assert outcomes["right"] > 0.85 * outcomes.total() > 20, outcomes


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "id",
    [
        "table/SamePad_1/symmetric/uint32/3/zero/plain/scalar/-/dynamic/0",  # further than once round
        "specification/OpenVINOPad_12/mixed-constant/float",  # amounts at run time, of an operator that ONNX lacks
        "table/OpenVINOPad_12/edge/float8e8m0/1/begin/plain/none/int32.int64/static/0",
        "table/SamePad_1/constant/float/3/end/plain/vector/-/static/0",
    ],
)  # fmt: skip
def test_that_were_wrong(id: str, provider: str) -> None:
    case = cases.find_case(id)
    request, model = lowered_case(case, provider, {"static": True})
    assert pack(run(request, model)) == pack(expect(case).output)


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def test_a_fill_at_run_time_stays_out_of_openvino_s_pad() -> None:
    """OpenVINO takes a fill given at run time for 0."""
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> g (float[2, 3] x, float[1] f) => (float[2, 5] y) '
        "<int64[2] p = {2, 0}, int64[1] a = {1}> { y = Pad (x, p, f, a) }"
    )
    feeds = {"x": np.ones((2, 3), np.float32), "f": np.array([7], np.float32)}
    for provider, wanted in (("openvino", ["Expand", "Concat"]), ("qnn", ["Expand", "Concat"]), ("webgpu", ["Pad"])):
        made = padops.lower(model, provider=provider).proto()
        assert operators(made) == wanted
        np.testing.assert_array_equal(session(made).run(None, feeds)[0], [[7, 7, 1, 1, 1]] * 2)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("provider", ["webgpu", "qnn"])
def test_a_scalar_fill_at_run_time_has_a_dim_where_webgpu_expands_it(dtype: str, provider: str) -> None:
    """WebGPU of onnxruntime-web 1.30.0 expands no uint8 of rank 0; measured in Chromium 156."""
    head = '<ir_version: 10, opset_import: ["" : 18, "padops" : 1]>'
    attributes = "padding_below = [1], padding_above = [0], padding_interior = [1]"
    model = parser.parse_model(
        f"{head} g ({dtype}[2] x, {dtype} f) => ({dtype}[4] y) {{ y = padops.NGraphPad_0 <{attributes}> (x, f) }}"
    )
    made = padops.lower(model, provider=provider).proto()
    reshaped = (dtype, provider) == ("uint8", "webgpu")
    assert operators(made) == ["Reshape"] * reshaped + ["Expand", "Concat", "Gather"]
    feeds = {"x": np.array([1, 2], dtype), "f": np.array(7, dtype)}
    np.testing.assert_array_equal(session(made).run(None, feeds)[0], [7, 1, 7, 2])


def test_between_casts_there_is_what_the_provider_takes() -> None:
    """A Pad of float in mode edge is one that QNN cannot compile."""
    case = cases.find_case("table/OpenVINOPad_12/edge/float8e8m0/1/begin/plain/none/int32.int64/static/0")
    request, model = lowered_case(case, "qnn", {"static": True, "constant_inputs": (1, 2)})
    assert operators(model) == ["Cast", "Slice", "Expand", "Concat", "Cast"]
    assert pack(run(request, model)) == pack(expect(case).output)


@pytest.mark.parametrize("value", ["7.0", "inf"])
@pytest.mark.parametrize("mode", ["constant", "reflect"])
def test_a_value_that_is_infinite(mode: str, value: str) -> None:
    """OpenVINO refuses such an attribute, in modes that do not use it, too."""
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 9]> g (float[2, 3] x) => (float[2, 5] y) '
        f'{{ y = Pad <mode = "{mode}", pads = [0, 2, 0, 0], value = 1.0> (x) }}'
    )
    (attribute,) = (one for one in model.graph.node[0].attribute if one.name == "value")
    attribute.f = float(value)
    made = padops.convert(model, target="onnx", provider="openvino").proto()
    given = [one.f for node in made.graph.node for one in node.attribute if one.name == "value"]
    assert given == ([7.0] if value == "7.0" and "Pad" in operators(made) else []), made
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    wanted = np.pad(data, [(0, 0), (2, 0)], mode, **({"constant_values": float(value)} if mode == "constant" else {}))
    np.testing.assert_array_equal(session(made).run(None, {"x": data})[0], wanted)


def test_the_first_pad_of_onnx_becomes_none_of_another_version() -> None:
    """A Pad of opset 1 had the attribute of a later one, and no runtime loaded the model."""
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 1]> g (float[5] x) => (float[7] y) '
        '{ y = Pad <mode = "edge", paddings = [2, 0], value = 1.0> (x) }'
    )
    (record,) = padops.convert(model, target="onnx", provider="openvino").records
    assert record.reason == "OpenVINOExecutionProvider runs it"
    model.graph.node[0].attribute[2].f = np.inf
    (record,) = padops.convert(model, target="onnx", provider="openvino").records
    assert record.status == "unconverted" and "opset 1; --target onnx --opset 13" in record.reason


def test_a_crop_and_a_fill_at_run_time() -> None:
    """A Slice takes away what is cropped; the fill stays out of OpenVINO's Pad all the same."""
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> g (float[6] x, int64[2] p, float[1] f) => '
        "(float[n] y) { y = Pad (x, p, f) }"
    )
    for provider, has_pad in (("openvino", False), ("webgpu", True)):
        made = padops.lower(model, provider=provider).proto()
        assert ("Pad" in operators(made)) == has_pad
        fed = {"x": np.arange(6, dtype=np.float32), "p": np.array([2, -3]), "f": np.array([7], np.float32)}
        np.testing.assert_array_equal(session(made).run(None, fed)[0], [7, 7, 0, 1, 2])
