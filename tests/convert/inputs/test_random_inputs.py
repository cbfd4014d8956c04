"""What ``verify`` feeds models with, and what it says of models that do not run."""

from __future__ import annotations

import hashlib
from itertools import chain, islice

import numpy as np
import onnx
import pytest
from written_models import model

import padops
from padops.convert.inputs.given import Input, inputs_of
from padops.convert.inputs.pads import SIZED_BY, AmountsInput, Hints, hints_of, sizing_inputs
from padops.convert.inputs.random_inputs import HIGHEST, MAX_ELEMENTS, many_inputs, marks_of, random_inputs, unlike
from padops.convert.verify import compare, sessions
from padops.convert.verify.sessions import DoesNotRun, run_trials
from padops.spec.dtypes import by_numpy, to_bytes


def drawn(source: onnx.ModelProto, seed: int = 0, turn: int = 0) -> dict[str, np.ndarray]:
    return next(random_inputs(inputs_of(source), seed, turn, hints_of(source)))


SIZES = {
    "Pad": "pads axes", "ConstantOfShape": "input", "Range": "start limit delta", "Expand": "shape", "Tile": "repeats",
    "Reshape": "shape", "OneHot": "depth", "Resize": "roi scales sizes", "Upsample": "scales",
    "Slice": "starts ends axes steps", "HannWindow": "size", "HammingWindow": "size", "BlackmanWindow": "size",
    "MelWeightMatrix": "num_mel_bins dft_length sample_rate lower_edge_hertz upper_edge_hertz",
    "DFT": "dft_length axis", "STFT": "frame_step frame_length", "CenterCropPad": "shape",
    "Col2Im": "image_shape block_shape", "AffineGrid": "size", "MaxUnpool": "I output_shape",
    "RoiAlign": "batch_indices", "TopK": "K", "SplitToSequence": "split",
}  # fmt: skip
HINTS = {  # what is drawn otherwise for these models
    '(float[a, b] x, int64[4] p) => (float[c, d] y) { y = Pad <mode = "reflect"> (x, p) }':
        Hints(amounts={"p": AmountsInput("x", True, "", 2)}, moves=True),
    "(float[a, b] x, int64[4] p, float v) => (float[c, d] y) { n = Neg (x) q = Identity (p) y = Pad (n, q, v) }":
        Hints(amounts={"p": AmountsInput(None, False, "", 2)}, fills={"v"}, moves=True),
    '(float[a, b] x, int64[n] p, int64[m] at) => (float[c, d] y) { y = Pad <mode = "wrap"> (x, p, , at) }':
        Hints(amounts={"p": AmountsInput("x", True, "at", None)}, axes={"at": "x"}, moves=True),
    "(float[a, b] x, int64[n] p) => (float[c, d] y) <int64[1] at = {1}> { y = Pad (x, p, , at) }":
        Hints(amounts={"p": AmountsInput("x", False, "", 1)}, moves=True),
    "(float[a] x, int64[2] p, int64[2] q) => (float[c] y) { d = Shape (x) s = Add (p, q) t = Mul (s, d) "
    "y = Pad (x, t) }":
        Hints(small={"p", "q"}),
    '(float[a] x, int64[1] p, int64[1] q, float v) => (float[c] y) { y = padops.OpenVINOPad_12 <pad_mode = "reflect"> '
    "(x, p, q, v) }": Hints(
        amounts={name: AmountsInput("x", True, "", 1, 1) for name in "pq"}, fills={"v"}, moves=True),
    "(float[a] x, float v) => (float[c] y) { y = padops.NGraphPad_0 <pads_below = [1], pads_above = [2]> (x, v) }":
        Hints(fills={"v"}, moves=True),
    "(float[a] x) => (float[c] z) <int64[2] p = {-7, 2}, int64[2] q = {1, 5}> { y = Pad (x, p) z = Pad (y, q) }":
        Hints(reach=7, moves=True),
    "(int64 n, int64[1] i, bool on) => (bool a, bool[1] b) <int64[1] j = {-3}, int64 k = {8}> { a = Equal (k, n) "
    "g = Gather (i, j) b = Equal (g, j) }": Hints(special={"n": [8], "i": [-3]}, moves=True),
    "(float[a] x, bool on) => (float[b] y) { y = If (on) <then_branch = t () => (float[] z) { z = Exp (x) }, "
    "else_branch = e () => (float[] z) { z = Abs (x) }> }": Hints(conditions={"on"}),
    "(int64 n, float[a] x) => (float[a] y) <int64 one = {1}> { m = Add (n, one) y = Loop (m, , x) <body = b (int64 i, "
    "bool on, float[a] s) => (bool go, float[a] t) { go = Identity (on) t = Neg (s) }> }": Hints(steps={"n"}),
    # A function of the model's own is inlined, beside one that is a fallback.
    '(float[a, b] x, int64[4] p) => (float[c, d] y) { y = other.Ours (x, p) } <domain: "other", '
    'opset_import: ["": 18]> Ours (u, v) => (w) { w = Pad (u, v) } <domain: "padops", '
    'opset_import: ["": 18]> Pad_18 (u, v) => (w) { w = Pad (u, v) }':
        Hints(amounts={"p": AmountsInput("x", False, "", 2)}, moves=True),
    "(float[a] x, float[a] u, int64[a] i) => (float[a] y) { y = ScatterElements <reduction = \"add\"> (x, i, u) }":
        Hints(),
}  # fmt: skip


# Models, and the first digits of the hashes of what is drawn for them: in turns, and in many small sets.
DRAWN = {
    "(float[b, n] x, float[b, m] z, bool on) => (float[c, d] y) <int64[4] p = {0, 0, 700, -3}> { y = Pad (x, p) }":
        "fd641329",
    '(float[a, b, c] x, int64[n] p, int64[m] at, float[] v) => (float[d, e, f] y) { y = Pad <mode = "reflect"> '
    "(x, p, v, at) }": "7b5d2cde",
    "(float16[n] x, float a, float b, bfloat16[n] c, float8e8m0[n] e) => (float16[m] y) <float16[1] k = {3}> { "
    "z = Add (x, k) y = Sqrt (z) }": "1206c2bd",
    "(int8[h, w] i, uint16[w] j, int4[n] k, uint32[n] l, int64[n] m, string[n] s) => (int64[n] y) "
    "<int64[3] k = {100, -7, 4096}> { y = Sub (m, k) }": "c9bd0084",
    "(float[2, 3] x, int64[2] i, int8[2] j, bool[2] on) => (int64[2] y) { y = Neg (i) }": "efae1ac4",
    "(float[] x, int64[] i) => (float[] y) <float[2] f = {0.25, 1e30}> { y = Gather (x, i) }": "497cedc6",
    "(float[batch, n] sound, int64[batch] lens, int64[1] rate) => (bool[1] y) <int64[1] r = {16000}> { "
    "y = Equal (rate, r) }": "2a700864",
    "(int64 steps, float[n] x, int64[n] i) => (float[k] y) { y = Loop (steps, , x) <body = b (int64 j, bool on, "
    "float[n] s) => (bool go, float[k] t) { go = Identity (on) t = Concat <axis = 0> (s, s) }> }": "cbabd961",
}  # fmt: skip


@pytest.mark.parametrize("text", DRAWN)
def test_a_seed_draws_what_it_drew_before(text: str) -> None:
    """No verdict changes by chance with a new padops. After a wanted change, long_proof.py must find as much."""
    source, found = model(text, opset=22), hashlib.sha256()
    inputs, hints, marks = inputs_of(source), hints_of(source), marks_of(source)
    attempts = 9 if any(row.dynamic(1) for row in inputs) else 99  # to the last ones where these are small
    turns = [islice(random_inputs(inputs, 1, turn, hints), attempts) for turn in range(8)]
    many = (many_inputs(inputs, marks, sizing, hints.moves, 1, 150) for sizing in (sizing_inputs(source), {"i", "m"}))
    for feeds in chain(*turns, *many):
        for name, array in feeds.items():
            found.update(f"{name} {array.dtype} {array.shape}".encode())
            found.update(repr(array.tolist()).encode() if array.dtype == object else to_bytes(array))
    assert found.hexdigest()[:8] == DRAWN[text]


@pytest.mark.parametrize("text", HINTS)
def test_hints(text: str) -> None:
    assert hints_of(model(text)) == HINTS[text]


def test_inputs_that_decide_sizes() -> None:
    """Amounts are told by every node of a foreign domain; else by the names that the standard gives its inputs."""
    for operator, places in SIZED_BY.items():
        inputs = [row.name for row in onnx.defs.get_schema(operator).inputs]
        assert [inputs[at] for at in places] == SIZES[operator].split(), operator
    source = """(float[a] x, int64[1] p, int64[1] q, int64[2] r, float[b] u, int64[1] s) => (float[c] y, float[d] z) {
        t = Shape (u) v = Add (p, q) w = Expand (x, v) y = Other.Own (w, r) z = Tile (x, t) o = Neg (s) }"""
    assert sizing_inputs(model(source)) & {*"xpqrus"} == {*"xpqr"}


def test_axes_and_amounts_that_are_inputs_are_valid() -> None:
    """As in onnx's own test_constant_pad_axes: axes of [1, 1] are refused by padops alone."""
    text = """(float[1, 3, 4, 5] x, int64[4] pads, int64[2] axes) => (float[a, b, c, d] y) {
        y = Pad <mode = "MODE"> (x, pads, , axes) }"""
    source, drawn_axes = model(text.replace("MODE", "reflect")), set()
    for seed in range(50):
        fed = drawn(source, seed, seed)
        drawn_axes |= {*fed["axes"].tolist()}
        assert len({axis % 4 for axis in fed["axes"].tolist()}) == 2
        assert not fed["pads"].any()  # the axis of 1 may be meant, which allows no reflection
    assert drawn_axes == {*range(-4, 4)}
    whole = model("""(float[1, 3, 4, 5] x, int64[8] pads) => (float[a, b, c, d] y) {
        y = Pad <mode = "reflect"> (x, pads) }""")
    assert np.max([drawn(whole, seed)["pads"] for seed in range(50)], axis=0).tolist() == [0, 2, 3, 4] * 2
    for seed in range(5):
        constant = model(text.replace("MODE", "constant"))
        verification = padops.convert(constant, verify=True, run=True, seed=seed, strict=True).verification
        assert (verification.outcome, verification.doubts) == ("equal", ())


def test_an_openvino_pad_has_two_lists_of_amounts() -> None:
    source = model("""(float[3, 4, 5] x, int64[] p, int64[n] q) => (float[a, b, c] y) {
        y = padops.OpenVINOPad_12 <pad_mode = "reflect"> (x, p, q) }""")
    fed = [drawn(source, seed) for seed in range(50)]
    for name in "pq":
        assert np.max([one[name] for one in fed], axis=0).tolist() == [2, 3, 4]  # what a reflection allows


def test_lengths_go_with_the_data() -> None:
    rows = [Input("sound", "float", ("batch", "n")), Input("lens", "int64", ("batch",)), Input("k", "int64", ())]
    for turn in (0, 1, 2, 4, 5):  # at 3, numbers are small first
        fed = next(random_inputs(rows, 0, turn, Hints()))
        n = fed["sound"].shape[1]
        assert n // 2 <= fed["lens"].min() and fed["lens"].max() <= n
        assert turn or fed["lens"].tolist() == [n]
    indices = [Input("ids", "int64", ("batch", "n"))]
    assert next(random_inputs(indices, 0, 0, Hints()))["ids"].max() <= 9


def test_a_loop_runs_few_steps() -> None:
    """Its body may double a value: of 64 steps no machine has memory for the result."""
    loop = model("""(int64 steps, float[n] x) => (float[k] y) { y = Loop (steps, , x) <body = b (int64 i, bool on,
        float[n] s) => (bool go, float[k] t) { go = Identity (on) t = Concat <axis = 0> (s, s) }> }""")
    fed = [drawn(loop, turn=turn) for turn in range(8)]
    fed += many_inputs(inputs_of(loop), marks_of(loop), {"steps"}, True, 0, 500)
    assert max(int(one["steps"]) for one in fed) == HIGHEST[0]
    verification = padops.verify(loop, loop, run=True)
    assert (verification.outcome, verification.doubts) == ("equal", ())


def test_sizes_are_past_the_reach_of_the_pads_and_values_are_special() -> None:
    source = model("""(float[1, n] x) => (float[a, b] y) <int64[4] pads = {0, 700, 0, 0}> {
        y = Pad <mode = "reflect"> (x, pads) }""")
    fed = [drawn(source, turn=turn)["x"] for turn in range(compare.TURNS)]
    assert [x.shape[1] for x in fed] == [64, 1403, 37, 256], "of 64 and 37 elements, the first attempt is refused"
    assert np.isfinite(fed[0]).all() and np.isfinite(fed[1]).all() and np.isfinite(fed[2]).all()
    assert ((fed[1] != 0) & (np.abs(fed[1]) < np.finfo(np.float32).tiny)).any()
    assert (np.signbit(fed[1]) & (fed[1] == 0)).any()
    assert 0 < np.isnan(fed[3]).sum() < 3 and np.isinf(fed[3]).any()


WEAK = {  # what shows something for some inputs alone, and the last inputs
    # As in silero: the number is reshaped and picked before it is compared.
    "(int64 rate) => (bool[a] y) <int64[1] flat = {-1}, int64[1] first = {0}, int64[1] sixteen = {16000}> {"
    " r = Reshape (rate, flat) g = Gather (r, first) y = Equal (g, sixteen) }": "",
    # The length decides from which draw on there is anything: 5000 and more.
    "(float[1, n] x) => (float[a, b] y) <int64[1] from = {5000}, int64[1] to = {9000}, int64[1] axis = {1}> {"
    " y = Slice (x, from, to, axis) }": "x: float[1, 16000]",
}


@pytest.mark.parametrize("text", WEAK)
def test_further_draws_follow_where_something_is_weak(text: str) -> None:
    verification = padops.convert(model(text), verify=True, run=True).verification
    assert verification.outputs[0].weak == "" and verification.inputs[-1].endswith(WEAK[text])


def test_single_floats_are_in_order_at_every_other_turn() -> None:
    """A lowest and a highest frequency, as swift-f0 has them."""
    low, high = next(random_inputs([Input(name, "float", ()) for name in "ab"], 0, 1, Hints())).values()
    assert 40 <= low <= 80 and 2000 <= high <= 4000


@pytest.mark.parametrize("operator", [
    "Pad (x, p, fill)", "padops.Pad_18 (x, p, fill)", 'padops.OpenVINOPad_12 <pad_mode = "constant"> (x, p, q, fill)',
])  # fmt: skip
def test_a_fill_of_unknown_rank_is_a_scalar(operator: str) -> None:
    """At the first attempt, whatever the rank of the data; and amounts of unknown rank are as many as the data need."""
    amounts = "int64[]" if operator.startswith("Pad") else "int64[2]"
    for data in ("float[2, 3]", "float[n, m, 4]", "float[]"):
        ends = f"({data} x, float[] fill, {amounts} p) => (float[] y) <int64[2] q = {{0, 1}}>"
        first = drawn(model(f"{ends} {{ y = {operator} }}"))
        assert first["fill"].shape == ()
        assert amounts != "int64[]" or first["p"].shape == (2 * first["x"].ndim,)
    assert drawn(model("(float[2, 3, 4] x, int64[n] p) => (float[a, b, c] y) { y = Pad (x, p) }"))["p"].shape == (6,)


def test_shapes_that_only_the_pads_tell() -> None:
    """As many amounts as the inferred rank asks for, half as many axes, a condition of an If that is a scalar."""
    call = ' <domain: "own", opset_import: ["": 18]> Ours (a, b) => (c) { c = Pad (a, b) }'
    for nodes, shapes in (
        ("v = Reshape (x, dims) y = Pad (v, p)", {"p": (6,)}),
        ("v = Reshape (x, dims) y = Pad (v, p, , axes)", {"p": (4,)}),
        ("v = Reshape (x, dims) y = own.Ours (v, p)", {"p": (6,)}),  # in a model's own function
        ("y = Pad (x, two, , q)", {"q": (1,)}),
        ("y = If (c) <then_branch = b () => (float[] z) { z = Neg (x) }, else_branch = b () => (float[] z) "
         "{ z = Abs (x) }>", {"c": ()}),
    ):  # fmt: skip
        read = ", ".join(f"int64[] {name}" for name in "pq" if f" {name}" in nodes)
        source = onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 18, "own": 1]> '
            f"g (float[6] x, int64[2] two, {read or 'bool[] c'}) => (float[] y) "
            f"<int64[3] dims = {{1, 2, 3}}, int64[2] axes = {{0, 2}}> {{ {nodes} }}{call}"
        )
        assert all(drawn(source)[name].shape == shape for name, shape in shapes.items())


def test_attempts_end() -> None:
    """Of a model that takes nothing, not every size is tried; a number decides when it ends, and no clock."""
    tried = []

    class Refusing:
        def run(self, feeds: dict[str, np.ndarray]) -> None:
            tried.append(feeds)
            raise DoesNotRun(f"attempt {len(tried)}")

    with pytest.raises(DoesNotRun, match=f"attempt {sessions.MOST_ATTEMPTS}") as caught:
        run_trials(Refusing(), [({"x": np.zeros(1)} for _ in range(10**6))])
    assert len(tried) == sessions.MOST_ATTEMPTS and caught.value.feeds == (tried[-1],)


def test_random_inputs_repeat_themselves_and_none_is_huge() -> None:
    types = {"a": "float", "b": "int64", "c": "string", "d": "int4"}
    rows = [Input(name, type, (2, "n")) for name, type in types.items()]
    one, same, other = (next(random_inputs(rows, seed, 0, Hints())) for seed in (3, 3, 4))
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["a"], other["a"])
    assert {name: by_numpy(array.dtype).name for name, array in one.items()} == types
    assert one["a"].shape == (2, 64)
    rows = [Input("a", "float", ("b", 3, "h", "w"))]
    assert max(fed["a"].size for fed in random_inputs(rows, 0, 0, Hints())) <= MAX_ELEMENTS


def test_sizes_that_a_model_has_run_on_come_later() -> None:
    """Of the sizes that a model takes, each turn has another one, or the same if it takes no other."""
    rows = [Input("x", "float", ("n",))]
    taken: list[dict[str, np.ndarray]] = []
    for turn in range(4):
        attempts = unlike(random_inputs(rows, 0, turn, Hints()), taken)
        taken.append(next(feeds for feeds in attempts if feeds["x"].size in (256, 512, 576)))
    assert {feeds["x"].size for feeds in taken[:3]} == {256, 512, 576}
    for turn in range(1, 4):
        found = [feeds["x"].size for feeds in islice(unlike(random_inputs(rows, 0, turn, Hints()), taken[:1]), 20)]
        assert taken[0]["x"].size in found
