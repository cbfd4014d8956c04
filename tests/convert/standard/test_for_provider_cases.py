"""Lowering for an execution provider, on the suite's cases of every operator and type, with known and unknown inputs.

What is written is right on any runtime, so it is run on the processor here. What the providers themselves make of it,
the peers ``padops-for-*`` say.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from lowered_for import lowered, session
from onnx import parser
from onnxruntime.capi import onnxruntime_pybind11_state as states

import padops
from padops.conformance import cases
from padops.conformance.arrays import pack
from padops.conformance.case import Case, expect
from padops.conformance.model import converted, feeds, make_model
from padops.conformance.peers.ort import run_model, session_options
from padops.conformance.peers.request import Request, Unsupported

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import provider_cases

PROVIDERS = ("openvino", "webgpu", "qnn", "dml", "cuda")


def lowered_case(case: Case, provider: str, form: dict | None = None) -> tuple[Request, onnx.ModelProto]:
    request = Request.of(case.request() | (form or {}))
    model = make_model(request, request.inputs, standard=bool(request.opset))
    return request, converted(model, target="onnx", provider=provider)


def run(request: Request, model: onnx.ModelProto) -> np.ndarray:
    return run_model(model.SerializeToString(), feeds(request, request.inputs), session_options())


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
    for provider, written in (("openvino", ["Expand", "Concat"]), ("qnn", ["Expand", "Concat"]), ("webgpu", ["Pad"])):
        made = padops.lower(model, provider=provider).proto()
        assert operators(made) == written
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
    assert record.status == "unconverted" and "opset 1, which onnx.version_converter cannot raise" in record.reason


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


@pytest.mark.parametrize("name", ["constant cut away", "constant cut beyond"])
def test_a_pad_that_qnn_may_refuse_stays_one(name: str) -> None:
    """QNN runs the Pad in front of a Relu; it refuses each other form of a Pad of which a crop leaves nothing."""
    changed, _ = lowered(provider_cases.model_of(provider_cases.ALL[name]), provider_cases.QNN)
    assert [node.op_type for node in changed.graph.node if node.op_type in ("Pad", "Slice", "Concat")] == ["Pad"]
