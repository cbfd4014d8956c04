"""Lowering for an execution provider: which nodes are written, by the rules of the provider; the bits are right on any runtime."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser

import padops
from padops.runtime.provider_rules import KNOWN_PROVIDERS, NOT_RUN
from padops.spec import reference
from padops.spec.dialects import onnx_op
from padops.spec.plan import PadError

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import provider_cases
from provider_cases import ALL, OPENVINO, QNN, WEBGPU

REAL = (OPENVINO, WEBGPU, QNN)
MOVING = {
    "Slice",
    "Concat",
    "Expand",
    "Tile",
    "Where",
    "ReduceSum",
    "Reshape",
}  # what each of the three runs on its device


def lowered(model: onnx.ModelProto | bytes, provider: str, **options) -> tuple[onnx.ModelProto, padops.Conversion]:
    conversion = padops.lower(model, provider=provider, fold=False, **options)
    return conversion.proto(), conversion


def written(model: onnx.ModelProto) -> Counter[str]:
    """The nodes between the two Relus."""
    return Counter(node.op_type for node in model.graph.node if node.op_type != "Relu")


def session(model: onnx.ModelProto, cls=onnxruntime.InferenceSession) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return cls(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("provider", REAL)
@pytest.mark.parametrize("case", ALL.values(), ids=lambda case: case.name)
def test_cases(case: provider_cases.Case, provider: str) -> None:
    """A Pad that is left is one that the provider runs; the rest moves parts of the data; the bits are the standard's."""
    model, conversion = lowered(provider_cases.model_of(case), provider)
    found = [
        pad for pad in padops.inspect(model, providers=[provider, "CPUExecutionProvider"]).pads if pad.operator == "Pad"
    ]
    (record,) = conversion.records
    if "leaves it" not in f"{record.reason} {record.notes}":
        assert [pad.runner for pad in found] == [provider] * written(model)["Pad"], [pad.why for pad in found]
        if not {"pads"} & {*case.given}:
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
    ("constant int64", QNN): "2 Concat",
    ("constant rank 5", WEBGPU): "Pad",
    ("constant rank 5", QNN): "2 Reshape, Pad",
    ("reflect rank 5", QNN): "2 Reshape, 6 Slice, 3 Concat",
    ("reflect 23", WEBGPU): "Pad",
    ("reflect 24", WEBGPU): "6 Slice, 2 Concat",
    ("reflect 23", QNN): "6 Slice, 2 Concat",
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


def padded(mode: str, x: np.ndarray, pads: list[int]) -> np.ndarray:
    """What a Pad gives; symmetric as OpenVINO's operator has it.

    Raises:
        PadError: It is none.
    """
    if mode != "symmetric":
        return reference.run(onnx_op(24), {"mode": mode}, [x, np.array(pads)])
    half = len(pads) // 2
    return np.pad(x, list(zip(pads[:half], pads[half:])), mode="symmetric")


def model_of(mode: str, dims: str, rows: list[list[int]], opset: int = 24) -> onnx.ModelProto:
    """A model of one Pad for each list of amounts, side by side."""
    axes = len(rows[0])
    constants = ", ".join(f"int64[{axes}] p{i} = {{{', '.join(map(str, row))}}}" for i, row in enumerate(rows))
    if mode == "symmetric":
        constants = ", ".join(
            f"int32[{axes // 2},2] p{i} = {{{', '.join(str(x) for pair in zip(row[: axes // 2], row[axes // 2 :]) for x in pair)}}}"
            for i, row in enumerate(rows)
        )
    op = '<mode = "SYMMETRIC">' if mode == "symmetric" else f'<mode = "{mode}">'
    name = "tf.MirrorPad" if mode == "symmetric" else "Pad"
    nodes = " ".join(f"y{i} = {name} {op} (x, p{i})" for i in range(len(rows)))
    outputs = ", ".join(f"float y{i}" for i in range(len(rows)))
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {opset}, "tf" : 1]> g (float[{dims}] x) => ({outputs}) <{constants}> {{ {nodes} }}'
    )
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_open_dims(mode: str) -> None:
    """Without a look at the shape, for any size: amounts of several periods too, which take more than one Tile."""
    rows = [[0, 1, 0, 0], [0, 0, 0, 1], [0, 2, 0, 3], [0, 3, 0, 0], [0, 9, 0, 20], [2, 3, 1, 5]]
    model, conversion = lowered(model_of(mode, "m, n", rows), WEBGPU)
    assert set(written(model)) <= MOVING and len(conversion.converted) == len(rows)
    run = session(model)
    for n in range(0 if mode == "constant" else 1, 7):
        x = np.arange(1, 2 * n + 1, dtype=np.float32).reshape(2, n)
        for output, row in zip(run.run(None, {"x": x}), rows, strict=True):
            np.testing.assert_array_equal(output, padded(mode, x, row), err_msg=f"{n} elements by {row}")


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap", "symmetric"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_known_dims(mode: str, n: int) -> None:
    """All amounts: none, short, of a whole period, of many, and crops."""
    x = np.arange(1, 2 * n + 1, dtype=np.float32).reshape(2, n)
    least = 0 if mode == "symmetric" else -2
    rows, expected = [], []
    for begin, end in itertools.product((least, 0, 1, n - 1, n, 3 * n + 1), repeat=2):
        if mode == "symmetric" and max(begin, end) > n:
            continue  # P4
        try:
            expected.append(padded(mode, x, [0, begin, 1, end]))
        except PadError:
            continue
        rows.append([0, begin, 1, end])
    model, _ = lowered(model_of(mode, f"2, {n}", rows), WEBGPU, custom_domains=["tf"])
    assert set(written(model)) <= MOVING | {"Identity", "ConstantOfShape"} and len(rows) >= 16
    for output, row, right in zip(session(model).run(None, {"x": x}), rows, expected, strict=True):
        np.testing.assert_array_equal(output, right, err_msg=f"{n} elements by {row}")


def test_nothing_begins_backward_but_at_the_last() -> None:
    """WebGPU (1.27.0) is wrong where a Slice with a negative step begins elsewhere."""
    for mode, dims in (("reflect", "m, n"), ("reflect", "2, 5"), ("symmetric", "2, 5")):
        model, _ = lowered(model_of(mode, dims, [[0, 3, 0, 2], [0, 4, 1, 5]]), WEBGPU, custom_domains=["tf"])
        constants = {x.name: onnx.numpy_helper.to_array(x).tolist() for x in model.graph.initializer}
        backward = [node for node in model.graph.node if node.op_type == "Slice" and len(node.input) == 5]
        assert backward
        for node in backward:
            assert [constants[name] for name in (node.input[1], node.input[4])] == [[-1], [-1]]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("pads", [[0, 0, 1, 1, 1], [1, 0, 1, 1, 2], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0]])
def test_rank_5_for_qnn(mode: str, pads: list[int]) -> None:
    """It dies of more than four dims: neighbours that are not padded are one dim meanwhile."""
    model = model_of(mode, "2, 3, 2, 4, 3", [[*pads, *pads]], 21)
    low, _ = lowered(model, QNN)
    shapes = onnx.shape_inference.infer_shapes(low, strict_mode=True, data_prop=True).graph.value_info
    ranks = {value.name: len(value.type.tensor_type.shape.dim) for value in shapes}
    for node in low.graph.node:
        assert node.op_type == "Reshape" or ranks[node.input[0]] <= 4, node
    assert sum(node.op_type == "Reshape" for node in low.graph.node) in (2, 4, 6, 8, 10)
    x = np.arange(144, dtype=np.float32).reshape(2, 3, 2, 4, 3)
    np.testing.assert_array_equal(session(low).run(None, {"x": x})[0], padded(mode, x, [*pads, *pads]))


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
        ({"provider": "foo"}, "padops has no rules for provider 'foo', only for OpenVINOExecutionProvider, WebGpu"),
        ({"provider": 7}, "provider is an int, expected the name of an execution provider"),
        ({"provider": "cuda", "target": "padops"}, "provider is for target 'onnx', not 'padops'"),
        ({"provider": "cuda", "without_pad": True}, "without_pad leaves no Pad, but provider CUDAExecutionProvider runs some"),
        ({"provider": "cuda", "select": "needed"}, "provider leaves what CUDAExecutionProvider runs right, but select is 'needed'"),
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
    with pytest.raises(padops.PadsLeftError, match="Slice has steps from opset 10 on, and this is 9; raise that first"):
        padops.lower(model, provider=OPENVINO)


def test_every_mode_has_a_way() -> None:
    """Of all dialects, amounts at run time and a rank that nothing tells: it is lowered, and no operator of padops is left."""
    for provider, name in itertools.product(REAL, ("reflect, amounts given", "wrap, amounts given")):
        model, _ = lowered(provider_cases.model_of(ALL[name]), provider)
        assert not any(node.domain for node in model.graph.node)
