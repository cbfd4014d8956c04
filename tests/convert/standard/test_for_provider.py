"""Lowering for an execution provider, run on the processor; what providers make of it, ``padops-for-*`` say."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import onnx
import provider_cases
import pytest
from emulations import operators
from lowered_for import MOVING, lowered, model_of, padded, session, text_model, written
from onnxruntime.capi import onnxruntime_pybind11_state as states
from provider_cases import ALL, OPENVINO, QNN, RARE_CASES, WEBGPU
from small_models import parsed

import padops
from padops.conformance import cases
from padops.conformance.arrays import pack
from padops.conformance.features import expect
from padops.conformance.model import converted, feeds, make_model
from padops.conformance.peers.ort import run_model, session_options
from padops.conformance.peers.request import Request, Unsupported
from padops.convert.standard.graph_builder import GraphBuilder, Number, ints
from padops.spec.plan import PadError

REAL = (OPENVINO, WEBGPU, QNN)


@pytest.mark.parametrize("provider", REAL)
def test_cases(provider: str) -> None:
    """A Pad that is left is one that the provider runs; the rest moves parts of the data, where there are elements."""
    for case in ALL.values():
        model, conversion = lowered(provider_cases.model_of(case), provider)
        pads = padops.inspect(model, providers=[provider, "CPUExecutionProvider"]).pads
        found = [pad for pad in pads if pad.operator == "Pad"]
        (record,) = conversion.records
        is_left = "leaves it" in f"{record.reason} {record.notes}"
        if not is_left and case not in RARE_CASES and "pads" not in case.given:
            assert [pad.runner for pad in found] == [provider] * written(model)["Pad"], (case.name, found)
            assert set(written(model)) <= MOVING | {"Pad", *case.behind.split()}, case.name
        output = session(model, padops.InferenceSession).run(None, provider_cases.feeds_of(case))[0]
        np.testing.assert_array_equal(output, provider_cases.expected_of(case), case.name)


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


X = np.arange(1, 41, dtype=np.float32).reshape(1, 2, 4, 5)
IMAGE = "float[1, 2, 4, 5] x"
COMPUTED = "Reshape Gather Gather Add Add Neg Max Min Add Min Max Max Min Sub Sub Sub Slice Gather Gather Expand Expand"
CLAMPED = "Shape Add Add Max Min Add Min Max Min Sub Sub Sub Slice"
SCALAR = "padops.NGraphPad_0 <padding_below = [1], padding_above = [0], padding_interior = [1]> (x, f)"
ROWS = {  # inputs, constants, the node; the operators for each provider; what to run with, and what that gives
    "OpenVINO takes a fill at run time for 0":
        ("float[2, 3] x, float[1] f", "int64[2] p = {2, 0}, int64[1] a = {1}", "Pad (x, p, f, a)",
         {OPENVINO: "Expand Concat", QNN: "Expand Concat", WEBGPU: "Pad"},
         {"x": np.ones((2, 3), np.float32), "f": np.array([7], np.float32)}, [[7, 7, 1, 1, 1]] * 2),
    "a Slice crops, and OpenVINO's Pad gets no fill":
        ("float[6] x, int64[2] p, float[1] f", "", "Pad (x, p, f)", {OPENVINO: f"{COMPUTED} Concat", WEBGPU: "Pad"},
         {"x": np.arange(6, dtype=np.float32), "p": np.array([2, -3]), "f": np.array([7], np.float32)},
         [7, 7, 0, 1, 2]),
    "WebGPU of onnxruntime-web 1.30.0 expands no uint8 of rank 0":
        ("uint8[2] x, uint8 f", "", SCALAR, {WEBGPU: "Reshape Expand Concat Gather", QNN: "Expand Concat Gather"},
         {"x": np.array([1, 2], np.uint8), "f": np.array(7, np.uint8)}, [7, 1, 7, 2]),
    "it does expand int8":
        ("int8[2] x, int8 f", "", SCALAR, {WEBGPU: "Expand Concat Gather"},
         {"x": np.array([1, 2], np.int8), "f": np.array(7, np.int8)}, [7, 1, 7, 2]),
    "a crop of more than there may be: one Pad added as much behind":
        ("float[n] x", "int64[1] b = {-3}, int64[1] e = {1}", 'padops.OpenVINOPad_12 <pad_mode = "constant"> (x, b, e)',
         {WEBGPU: "Shape Add Add Min Sub Concat Pad", QNN: f"{CLAMPED} Concat Pad"},
         {"x": np.arange(1, 5, dtype=np.float32)}, [4, 0]),
    "a crop of more than there is, by amounts at run time":
        ("float[3] x, int64[1] b, int64[1] e", "", 'padops.OpenVINOPad_12 <pad_mode = "constant"> (x, b, e)',
         {WEBGPU: "Cast Reshape Cast Reshape Add Add Min Sub Concat Pad"},
         {"x": X[0, 0, 0, :3], "b": np.array([-5]), "e": np.array([1])}, []),
    "OpenVINO leaves a Pad of what a Slice left no elements":
        (IMAGE, "int64[8] p = {0, 0, -5, 0, 0, 0, 3, 0}", "Pad (x, p)", {OPENVINO: "Identity"}, {"x": X},
         np.zeros((1, 2, 2, 5))),
    "QNN needs no Reshapes around nothing":
        ("float[1, 2, 0, 4, 5] x", "int64[10] p = {0, 0, 0, 1, 1, 0, 0, 0, 1, 1}", 'Pad <mode = "edge"> (x, p)',
         {QNN: "ConstantOfShape"}, {"x": np.zeros((1, 2, 0, 4, 5), np.float32)}, np.zeros((1, 2, 0, 6, 7))),
    "nor around what becomes nothing":
        ("float[1, 2, 3, 4, 5] x", "int64[10] p = {0, 0, -3, 1, 1, 0, 0, 0, 1, 1}", 'Pad <mode = "edge"> (x, p)',
         {QNN: "ConstantOfShape"}, {"x": np.zeros((1, 2, 3, 4, 5), np.float32)}, np.zeros((1, 2, 0, 6, 7))),
    "ONNX Runtime refuses axes of int32 before a provider is asked":
        (IMAGE, "int64[2] p = {1, 1}, int32[1] a = {2}", "Pad (x, p, , a)", {OPENVINO: "Pad"}, {"x": X}, None),
    "and amounts as attributes":
        (IMAGE, "", "Pad <pads = [0, 0, 1, 1, 0, 0, 1, 1]> (x)", {OPENVINO: "Pad"}, {"x": X}, None),
    "a scalar": ("float x", "int64[0] p = {}", "Pad (x, p)", {OPENVINO: "Identity"}, {"x": np.array(3, np.float32)}, 3),
    "no amounts":
        (IMAGE, "int64[8] p = {0, 0, 0, 0, 0, 0, 0, 0}", "Pad (x, p)", {OPENVINO: "Pad"}, {"x": X}, X),
    "ONNX Runtime makes a Pad the padding of a pooling, which is wrong until 1.31":
        (IMAGE, "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}", "Pad (x, p) y = MaxPool <kernel_shape = [2, 2]> (b)",
         {OPENVINO: "Concat Concat MaxPool"}, {"x": X}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_what_is_written_and_its_bits(name: str) -> None:
    inputs, constants, node, rows, fed, expected = ROWS[name]
    model = text_model(f"{'b' if 'MaxPool' in node else 'y'} = {node}", inputs, 18, constants)
    for provider, op_types in rows.items():
        made, _ = lowered(model, provider)
        assert " ".join(operators(made)) == op_types
        output = session(made).run(None, fed)[0]
        if expected is not None:
            np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize(("mode", "provider", "said"), [("edge", QNN, True), ("wrap", QNN, True),
                                                        ("wrap", OPENVINO, False)])  # fmt: skip
def test_what_lowering_says_of_a_branch(mode: str, provider: str, said: bool) -> None:
    """QNN takes no node of one; what a Pad becomes there runs on the processor, and the record says so."""
    built = parsed(f"""(bool c, float[4] x) => (float[a] y) <int64[2] p = {{1, 1}}> {{ r = Relu (x)
        b = If (c) <then_branch = k () => (float[d] u) {{ u = Pad <mode = "{mode}"> (r, p) }},
            else_branch = e () => (float[h] v) {{ v = Identity (r) }}> y = Relu (b) }}""", 19, 10)  # fmt: skip
    (record,) = lowered(built.SerializeToString(), provider)[1].records
    words = " ".join((record.reason or "", *record.notes))
    assert (f"{QNN} leaves it (in a branch or a body)" in words) is said, words


def test_what_a_provider_lacks_stays_with_the_processor() -> None:
    """More nodes would help nobody: of a type that it has for no node, and of a provider that has no Slice."""
    for provider, name in ((WEBGPU, "constant int64"), ("xnnpack", "constant 18"), (QNN, "constant, amounts given")):
        model, conversion = lowered(provider_cases.model_of(ALL[name]), provider)
        assert written(model) == {"Pad": 1} and "leaves it" in conversion.records[0].reason


@pytest.mark.parametrize("options, why", [
    ({"provider": "foo"}, "padops has no rules for provider 'foo', only for ggml, OpenVINOExecutionProvider, QNN"),
    ({"provider": 7}, "provider is an int, expected the name of an execution provider"),
    ({"provider": "cuda", "target": "padops"}, "provider needs target='onnx'"),
    ({"provider": "cuda", "without_pad": True},
     "provider and without_pad exclude each other: CUDAExecutionProvider runs some Pads, which stay"),
    ({"provider": "cuda", "select": "needed"}, "provider needs select='all'"),
])  # fmt: skip
def test_wrong_arguments(options: dict, why: str) -> None:
    with pytest.raises(padops.UsageError) as raised:
        padops.convert(provider_cases.model_of(ALL["constant 18"]), **{"target": "onnx"} | options)
    assert str(raised.value).startswith(why)


AROUND = "[0, 0, 2, 0, 0, 0, 0, 0]"
EARLY = [
    ("reflect", "pads = [0, 0, 5, 0, 0, 0, 4, 0]", 9, "it needs Slice with steps (opset 10), which"),
    ("reflect", "pads = [0, 0, 0, 8, 0, 0, 0, -1]", 4, "it needs Slice with steps (opset 10), which"),
    ("edge", "pads = [0, 0, -4, 0, 0, 0, 1, 0]", 9, "leave none of its 4 elements [P5]"),
    ("edge", f"paddings = {AROUND}", 1, "OpenVINOExecutionProvider runs it"),
    ("edge", f"paddings = {AROUND}, value = inf", 1, "--target onnx --opset 13"),
    # A model was written that no runtime loads.
    *(("reflect", "pads = [0, 0, 3, 0, 0, 0, -1, 0]", opset, f"it needs Tile (opset 6), which opset {opset} lacks; ")
      for opset in (4, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "attributes", "opset", "why"), EARLY)
def test_before_the_operators_are_there(mode: str, attributes: str, opset: int, why: str) -> None:
    model = text_model(f'y = Pad <mode = "{mode}", {attributes.replace("inf", "1.0")}> (x)', IMAGE, opset)
    if "inf" in attributes:
        model.graph.node[0].attribute[2].f = np.inf
    (record,) = padops.convert(model, target="onnx", provider=OPENVINO).records
    assert why in record.reason, record.reason


PROVIDERS = ("openvino", "webgpu", "qnn", "dml", "cuda")


def lowered_case(case: Request, provider: str, **form: object) -> tuple[Request, onnx.ModelProto]:
    request = replace(case, **form)
    return request, converted(make_model(request, standard=bool(request.opset)), target="onnx", provider=provider)


def run(request: Request, model: onnx.ModelProto) -> np.ndarray:
    return run_model(model.SerializeToString(), feeds(request), session_options())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_bits(provider: str) -> None:
    """Some cases, others for each provider; whatever breaks a rule has no bits."""
    chosen = [case for case in cases.collect("quick")[::9] if expect(case).output is not None]
    outcomes: Counter[str] = Counter()
    for case in chosen[PROVIDERS.index(provider) :: len(PROVIDERS)]:
        try:
            request, model = lowered_case(case, provider)
            output = run(request, model)
        except Unsupported:
            outcomes["no form"] += 1
        except states.NotImplemented:  # the processor lacks an operator of the type
            outcomes["no kernel"] += 1
        except states.InvalidArgument as error:  # the provider's Pad runs what the processor's refuses
            assert "Pad" in operators(model) and "running Pad node" in str(error), (case.id, error)
            outcomes["refused"] += 1
        else:
            assert pack(output) == pack(expect(case).output), case.id
            outcomes["right"] += 1
    assert outcomes["right"] > 0.85 * outcomes.total() > 15, outcomes


EDGE_OF_FLOAT8 = "table/OpenVINOPad_12/edge/float8e8m0/1/begin/plain/none/int32.int64/static/0"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("id", [
    "table/SamePad_1/symmetric/uint32/3/zero/plain/scalar/-/dynamic/0",  # further than once round
    "specification/OpenVINOPad_12/mixed-constant/float",  # amounts at run time, of an operator that ONNX lacks
    EDGE_OF_FLOAT8,
    "table/SamePad_1/constant/float/3/end/plain/vector/-/static/0",
])  # fmt: skip
def test_that_were_wrong(id: str, provider: str) -> None:
    case = cases.find_case(id)
    request, model = lowered_case(case, provider, static=True)
    assert pack(run(request, model)) == pack(expect(case).output)


def test_between_casts_there_is_what_the_provider_takes() -> None:
    """A Pad of float in mode edge is one that QNN cannot compile."""
    case = cases.find_case(EDGE_OF_FLOAT8)
    request, model = lowered_case(case, "qnn", static=True, constant_inputs=(1, 2))
    assert operators(model) == ["Cast", "Slice", "Expand", "Concat", "Cast"]
    assert pack(run(request, model)) == pack(expect(case).output)


@pytest.mark.parametrize("value", [7.0, np.inf])
@pytest.mark.parametrize("mode", ["constant", "reflect"])
def test_a_value_that_is_infinite(mode: str, value: float) -> None:
    """OpenVINO refuses such an attribute, in modes that do not use it, too."""
    model = text_model(f'y = Pad <mode = "{mode}", pads = [0, 2, 0, 0], value = 1.0> (x)', "float[2, 3] x", 9)
    next(one for one in model.graph.node[0].attribute if one.name == "value").f = value
    made = padops.convert(model, target="onnx", provider="openvino").proto()
    given = [one.f for node in made.graph.node for one in node.attribute if one.name == "value"]
    assert given == ([7.0] if value == 7.0 and "Pad" in operators(made) else []), made
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    wanted = np.pad(data, [(0, 0), (2, 0)], mode, **({"constant_values": value} if mode == "constant" else {}))
    np.testing.assert_array_equal(session(made).run(None, {"x": data})[0], wanted)


# --- formulas in NumPy: what is known is computed, what is not becomes nodes ------------------------------------------


def test_what_numpy_cannot_ask_is_an_error() -> None:
    number = Number(name="x")
    with GraphBuilder(18, str) as made:
        with pytest.raises(TypeError, match="x is not known before the model runs"):
            np.take(ints(1, 2), number)
        with pytest.raises(TypeError, match="power"):
            np.power(number, 2)
        with pytest.raises(TypeError, match="cumsum"):
            np.cumsum(number)
    assert not made.nodes


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


# The bits of fills: -0.0, 0.0, 1.5, -inf, the least denormal, its negative, and NaNs, quiet and signalling. In float16,
# ONNX Runtime's own Pad on the processor loses a NaN's bits as well.
FILLS = {
    np.uint16: (np.float16, (0x8000, 0, 0x3E00, 0xFC00, 1, 0x8001)),
    np.uint32: (np.float32, (1 << 31, 0, 0x3FC00000, 0xFF800000, 1, (1 << 31) + 1, 0x7FC01234, 0xFFC01234, 0x7FA01234)),
    np.uint64: (
        np.float64,
        (1 << 63, 0, 0x3FF8 << 48, 0xFFF << 52, 1, (1 << 63) + 1, 5 + (0x7FF8 << 48), 0x7FF4 << 48),
    ),
}


@pytest.mark.parametrize("given", [False, True], ids=["constant fill", "fill given at run time"])
@pytest.mark.parametrize("dims", ["n, m", "2, 3"])
@pytest.mark.parametrize("unsigned", FILLS, ids=lambda unsigned: FILLS[unsigned][0].__name__)
def test_fills_keep_their_bits(unsigned: type[np.unsignedinteger], dims: str, given: bool) -> None:
    """On any axis and for each provider; with a value at run time, too, which may be -0.0."""
    kind, fills = FILLS[unsigned]
    name = {"float32": "float", "float64": "double"}.get(kind.__name__, kind.__name__)
    x = np.array([[-0.0, 1, np.inf], [2, -3, 4]], kind)
    forms = set()
    for provider, pads in itertools.product(("cuda", "openvino", WEBGPU, QNN), ([0, 1, 0, 2], [1, 2, 2, 1])):
        inputs = f"{name}[{dims}] x, {name} f" if given else f"{name}[{dims}] x"
        held = f"int64[4] p = {{{', '.join(map(str, pads))}}}"
        model = parsed(f"({inputs}) => ({name}[a, b] y) <{held}> {{ y = Pad (x, p, f) }}", 25, 10)
        run = None
        # A fill that is given needs no model of its own; each other one has a model for every second list of pads.
        for bits in fills if given else fills[pads[0] :: 2]:
            fill = np.array(bits, unsigned).view(kind)
            if run is None or not given:
                copy = onnx.ModelProto.FromString(model.SerializeToString())
                if not given:
                    copy.graph.initializer.append(onnx.numpy_helper.from_array(fill, "f"))
                made, _ = lowered(copy, provider)
                forms.add("Less" in written(made))
                run = session(made)
            expected = np.pad(x.view(unsigned), [(pads[0], pads[2]), (pads[1], pads[3])], constant_values=bits)
            output = run.run(None, {"x": x, "f": fill} if given else {"x": x})[0]
            np.testing.assert_array_equal(output.view(unsigned), expected, err_msg=f"{provider}, {pads}, {bits:x}")
    assert forms == ({False} if dims == "2, 3" else {True, False}), "with open dims the condition has the shape"


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap", "symmetric"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
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
