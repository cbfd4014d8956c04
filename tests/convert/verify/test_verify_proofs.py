"""What is proved: the same written otherwise, moves, folds, foreign Pads, fallbacks; and the rules that proofs use."""

from __future__ import annotations

import importlib
import random
import re
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import road_models
import same_models
from onnx import numpy_helper
from written_models import model

import padops
from padops.convert.errors import PadopsError
from padops.convert.verify import moves
from padops.convert.verify.build import Builder
from padops.convert.verify.constants import Constants
from padops.convert.verify.moves import definitions as anew
from padops.convert.verify.proof import UNREADABLE, prove
from padops.convert.verify.terms import Terms
from padops.spec import plan
from padops.spec.dialects import OPS, same_padding
from padops.spec.plan import LARGEST, Amounts, Mode, PadError

EXAMPLES = {path.stem: onnx.load(path) for path in sorted((Path(__file__).parents[3] / "models").glob("*.onnx"))}


@pytest.mark.parametrize("way", same_models.WAYS)
def test_the_same_written_otherwise_is_one_graph(way: str) -> None:
    changed = 0
    sources = EXAMPLES | {f"random {number}": road_models.draw(3, number).proto for number in range(3)}
    for name, source in sources.items():
        try:
            other = same_models.WAYS[way](source)
        except RuntimeError:
            continue
        changed += other != source
        found = prove(source, other)
        assert (found.verdict, found.regions) == ("proved", ()) or "function" in str(found), (name, found)
    assert changed


def test_the_other_name_of_the_default_domain_hides_no_dims() -> None:
    """Inference knows the operators of ai.onnx by no domain alone."""
    pads = "p = Constant<value_ints = [0, 1, 0, 1]>()"
    source = model(f"(float[2, 3] x) => (float[a, b] y) {{ {pads} d = Pad(x, p) y = Transpose(d) }}")
    for row in (*source.opset_import, *source.graph.node):
        row.domain = row.domain or "ai.onnx"
    verification = padops.convert(source, verify=True).verification
    assert (verification.verdict, verification.unproved) == ("proved", ())


@pytest.mark.parametrize("imports", [[("", 13), ("ai.onnx", 11)], [("ai.onnx", 13), ("", 11)], [("", 13), ("", 11)]])
def test_the_last_import_of_a_domain_counts(imports: list[tuple[str, int]]) -> None:
    """As in onnxruntime: the Softmax is of opset 11, in a file and in memory."""
    first, second, third = (model("(float[a, b, c] x) => (float[a, b, c] y) { y = Softmax(x) }", 13) for _ in range(3))
    del second.opset_import[:]
    second.opset_import.extend(onnx.helper.make_opsetid(*row) for row in imports)
    third.opset_import[0].version = 11
    assert padops.verify(first, second).verdict == "different"
    assert padops.verify(third, second).verdict == "proved"


def test_a_pad_to_a_multiple_is_proved() -> None:
    """The lowered Pad divides positions, which have no period."""
    for mode, more in (("reflect", {}), ("wrap", {"without_pad": True})):
        body = f"""k = Constant<value_ints = [32]>() z = Constant<value_ints = [0, 0, 0]>() s = Shape<start = 1>(x)
            r = Mod(s, k) t = Sub(k, r) q = Mod(t, k) p = Concat<axis = 0>(z, q) y = Pad<mode = "{mode}">(x, p)"""
        source = model(f"(float[97, w] x) => (float[a, b] y) {{ {body} }}", 19)
        verification = padops.convert(source, target="onnx", verify=True, **more).verification
        assert (verification.verdict, verification.unproved) == ("proved", ())


SCATTER = """(float[8] x) => (float[m] y) {{ i = Constant<value: tensor = int64[{0}, 1] {{{1}}}>()
    u = Constant<value: tensor = float[{0}] {{{2}}}>() y = ScatterND<reduction: string = "add">(x, i, u) }}"""
MEAN = """(float[n, 1] x) => (float[n, 1, 1] y) {{ a = Constant<value_ints = [1]>() s = Sigmoid(x) {}
    y = Unsqueeze({}, a) }}"""
COMPUTED = [  # floats that are added in another way, and a mean of one element, which is that element
    (SCATTER.format(2, "0, 0", "1, 2"), SCATTER.format(1, "0", "3"), "close"),
    (MEAN.format("m = ReduceMean<keepdims = 1>(s, a)", "m"), MEAN.format("", "s"), "equal"),
]


@pytest.mark.parametrize(("one", "other", "outcome"), COMPUTED)
def test_what_is_not_followed_may_be_equal(one: str, other: str, outcome: str) -> None:
    verification = padops.verify(model(one), model(other))
    assert (verification.verdict, verification.outcome) == ("tested", outcome)


def test_constants_in_a_file_of_their_own(tmp_path: Path) -> None:
    source = EXAMPLES["pad_11"]
    path = same_models.external(source, tmp_path)
    other = onnx.load(path, load_external_data=False)
    assert prove(source, other, folders=(None, tmp_path)).verdict == "proved"
    data = bytearray((tmp_path / "data.bin").read_bytes())
    (tmp_path / "data.bin").write_bytes(bytes([data[0] ^ 2]) + data[1:])
    assert prove(source, other, folders=(None, tmp_path)).verdict != "proved"
    (tmp_path / "data.bin").write_bytes(bytes(data[:3]))
    with pytest.raises(PadopsError, match="ends .* bytes before"):
        prove(source, other, folders=(None, tmp_path))


TF, ATEN = "ai.onnx.converters.tensorflow", "org.pytorch.aten"
HELD = """int32[2, 2] m = {1, 0, 2, 1}, int64[2, 2] l = {1, 0, 2, 1}, int64[2] q = {2, 1}, int64[4] t = {2, 1, 0, 3},
    int64[4] p = {1, 0, 2, 1}, int64[2] b = {1, 0}, int64[2] e = {0, 2}, int64[2] c = {5, 4}, int64[1] d = {5},
    float f = {1.5}"""
FOREIGN = {  # each form of a foreign Pad, by name
    **{f"MirrorPad {mode}": f'{TF}.MirrorPad <mode = "{mode}"> (x, m)' for mode in ("REFLECT", "SYMMETRIC")},
    "TensorFlow Pad": f"{TF}.Pad (x, m)",
    "PadV2": f"{TF}.PadV2 (x, l, f)",
    **{f"ATen {name}": f'{ATEN}.ATen <operator = "{name}"> (x, {given})' for name, given in (
        ("reflection_pad1d", "q"), ("replication_pad1d", "q"), ("_pad_circular", "q"), ("constant_pad_nd", "t, f"))},
    "ATen replication_pad2d": "aten.replication_pad2d (x, t)",
    **{f"PadImage {mode}": f'PadImage <pads = [1, 2, 0, 1], mode = "{mode}"> (x)'
       for mode in ("constant", "reflect", "edge")},
    "nGraph": "ngraph.Pad <padding_below = [1, 0], padding_above = [0, 2], padding_interior = [1, 0]> (x, f)",
    "OpenVINO": 'ai.intel.openvino.Pad <version = "opset12", pad_mode = "reflect"> (x, b, e)',
    "com.microsoft": "com.microsoft.Pad (x, p, f)",
    "CenterCropPad": "CenterCropPad (x, c)",
    "CenterCropPad of axes": "CenterCropPad <axes = [-1]> (x, d)",
    "Conv": 'Conv <kernel_shape = [3, 2], strides = [2, 1], auto_pad = "SAME_UPPER"> (x, w)',
    "Attention": "Attention (k, v, v, n)",  # with a mask that is shorter than the keys
}  # fmt: skip
DOMAINS = ("", TF, ATEN, "aten", "ngraph", "ai.intel.openvino", "com.microsoft")


def foreign(name: str) -> onnx.ModelProto:
    rank = 4 if name.startswith(("PadImage", "Conv")) else 3 if "2d" in name else 2
    dims = ", ".join("defg"[:rank])
    ends = "float[1, 2, 4, 8] k, float[1, 2, 6, 8] v, float[4, 5] n" if name == "Attention" else f"float[{dims}] x"
    imports = ", ".join(f'"{domain}": {1 if domain else 24 if name == "Attention" else 18}' for domain in DOMAINS)
    text = f"<ir_version: 9, opset_import: [{imports}]> g ({ends}) => (float[] y) <{HELD}> {{ y = {FOREIGN[name]} }}"
    source = onnx.parser.parse_model(text)
    source.graph.initializer.append(numpy_helper.from_array(np.ones((2, 3, 3, 2), np.float32), "w"))
    return source


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_pad_is_proved(name: str) -> None:
    """And with another mode it is not."""
    source = foreign(name)
    for options in ({}, {"target": "onnx"}) if name != "nGraph" else ({},):
        conversion = padops.convert(source, auto_pad="explicit", **options)
        converted = conversion.proto()
        proof = prove(source, converted)
        assert conversion.converted and proof.verdict == "proved", (proof.why, [row.why for row in proof.regions])
        for node in converted.graph.node:
            if node.domain == "padops":
                name = "pad_mode" if node.op_type.startswith(("OpenVINO", "NGraph")) else "mode"
                (row,) = [row for row in node.attribute if row.name == name] or [node.attribute.add(name=name, type=3)]
                row.s = b"edge" if row.s != b"edge" else b"reflect"
                assert prove(source, converted).verdict != "proved"


MOVED = {
    "a Pad of zeros by Concat": ("y = Pad (x, p)", "z = Expand (zero, one) y = Concat <axis = 0> (z, x, z)"),
    "two Pads for one": ("y = Pad (x, q)", "z = Pad (x, p) y = Pad (z, p)"),
    "amounts through int32": (
        "n = Shape (x) q2 = Concat <axis = 0> (o, n) y = Pad (x, q2)",
        "n = Shape (x) w = Cast <to = 6> (n) l = Cast <to = 7> (w) q2 = Concat <axis = 0> (o, l) y = Pad (x, q2)"),
    "a Slice for a crop": ("y = Pad (x, m)", "n = Shape (x) e = Sub (n, one) y = Slice (x, one, e)"),
    "a Gather for wrap": (
        'y = Pad <mode = "wrap"> (x, p)',
        "n = Size (x) l = Sub (n, i) k = Reshape (l, one) b = Gather (x, k) a = Gather (x, o) "
        "y = Concat <axis = 0> (b, x, a)",
    ),
}  # fmt: skip
MOVED_HELD = """<int64[2] p = {1, 1}, int64[2] q = {2, 2}, int64[2] m = {-1, -1}, int64[1] one = {1}, float zero = {0},
  int64 i = {1}, int64[1] o = {0}>"""


@pytest.mark.parametrize("name", MOVED)
def test_moves_are_proved_at_sizes_that_are_named(name: str) -> None:
    one, other = (model(f"(float[n] x) => (float[k] y) {MOVED_HELD} {{ {body} }}", 19) for body in MOVED[name])
    proof = prove(one, other)
    assert proof.verdict == "proved", (proof.why, [row.why for row in proof.regions])
    assert {row.rule for row in proof.regions} == {"moves"}
    sizes = "all data, with open dims of all the same size: [0-9 ]*to 25, 31 to 33, 47, 48, 64, 97;"
    assert all(re.match(sizes, row.holds_for) for row in proof.regions)


NEAR, TABLE = "29 to 31, 39 to 41, 59 to 61", ", ".join(["0"] * 50 + ["7"] * 50)
LOOKED_UP = "s = Shape (x) g = Gather (t, s) b = Concat <axis = 0> (o, g)"
SIZED = [  # two models, and the sizes near their constants; for two axes, pairs of them
    (18, f"(float[n] x) => (float[k] y) <int64[1] o = {{0}}, int64[100] t = {{{TABLE}}}>",
     f"{LOOKED_UP} y = Pad (x, b)", f"{LOOKED_UP} c = Add (b, o) y = Pad (x, c)",
     "0 to 26, 31 to 33, 47 to 51, 64, 97 to 99; axis 0, the others 2: 0, 1, 25, 26, 48 to 51, 97 to 99; and 23"),
    (9, "(float[n] x) => (float[k] y)", "y = Slice <starts = [40], ends = [900]> (x)",
     "a = Slice <starts = [10], ends = [900]> (x) y = Slice <starts = [30], ends = [900]> (a)",
     f"0 to 25, 29 to 33, 39 to 41, 47, 48, 59 to 61, 64, 79 to 81, 97; axis 0, the others 2: 0, 1, {NEAR}, 79 to 81, "
     "449 to 451, 899 to 901, 1799 to 1801; and 24"),
    (18, "(float[n, n] x) => (float[k, l] y) <int64[4] p = {0, 30, 0, 0}, int64[4] q = {0, 10, 0, 0}, "
     "int64[4] r = {0, 20, 0, 0}>", "y = Pad (x, p)", "a = Pad (x, q) y = Pad (a, r)",
     f"0 to 25, 29 to 33, 39 to 41, 47, 48, 59 to 61, 64, 97; axis 0, the others 2: 0, 1, {NEAR}; axis 1, the others "
     f"2: 0, 1, {NEAR}; axes 0 and 1, the others 2: 30 x 30, 31 x 31, 31 x 32, 32 x 31, 15 x 15; and 24"),
]  # fmt: skip


@pytest.mark.parametrize(("opset", "ends", "one", "other", "sizes"), SIZED)
def test_a_proof_lists_the_sizes_and_what_it_assumes(opset: int, ends: str, one: str, other: str, sizes: str) -> None:
    for dims, assumed in (("n, n", True), ("n, m", False), ("2, m", False)) if "n, n" in ends else (("", False),):
        texts = (f"{ends.replace('n, n', dims)} {{ {nodes} }}" for nodes in (one, other))
        proof = prove(*(model(text, opset) for text in texts))
        assert proof.assumptions == ("dims of the inputs that have the name 'n' are equal",) * assumed
        told = f"all data, with open dims of all the same size: {sizes} drawn sets of sizes"
        assert dims == "2, m" or proof.regions[0].holds_for == told


def test_drawn_sizes_of_one_name_are_alike() -> None:
    drawn = [{moves._drawn([*range(100)], 0, alike, term, 0, name) for term in range(9)}
             for alike, name in ((True, "n"), (False, "n"), (True, None))]  # fmt: skip
    assert len(drawn[0]) == 1 and len(drawn[1]) > 1 and len(drawn[2]) > 1


def test_what_is_proved_once_is_not_proved_again() -> None:
    """Each value is read twice, so that 60 of them would otherwise take 2^60 steps."""
    doubled = " ".join(f"v{i + 1} = Add (v{i}, v{i})" for i in range(60))
    texts = (f"{ends} {doubled} y = Neg (v60) }}" for ends in (
        "(float[n] x) => (float[k] y) <int64[2] p = {2, 2}> { v0 = Pad (x, p)",
        "(float[n] x) => (float[k] y) <int64[2] q = {1, 1}> { a = Pad (x, q) v0 = Pad (a, q)"))  # fmt: skip
    assert prove(*map(model, texts)).verdict == "proved"


def test_other_dims_of_an_input_are_not_proved() -> None:
    one, other = (model(f"(float[{dim}] x) => (float[k] y) {{ y = Neg (x) }}") for dim in ("n", "3"))
    assert "declares other dims of the input 'x'" in prove(one, other).why
    assert prove(other, one).verdict == "proved"


@pytest.mark.parametrize(("fill", "verdict"), [("", "different"), (", five", "unknown")])
def test_operators_that_are_not_evaluated_may_return_the_same(fill: str, verdict: str) -> None:
    """But no fill of 0 is the 5 beside it."""
    both = """(float[2, 3] x) => (float[k, l] y, float[2, 3] u, float[2, 3] v) <int64[4] p = {0, 0, 0, 1},
        float five = {5}, int64[2] d = {2, 1}> { u = Neg (x) v = Abs (x) NODES }"""
    pads = f"y = Pad (u, p{fill})", "c = Expand (five, d) y = Concat <axis = 1> (v, c)"
    assert prove(*(model(both.replace("NODES", nodes)) for nodes in pads)).verdict == verdict


RANKS = (
    "(float[n, m] x, int64[4] p) => (float[k, l] y) < HELD> { y = Pad (x, p AXES) }",
    "(float[n, m] x, int64[4] p, int64[j] a) => (float[k, l] y) <int64[2] q = {1, 1} HELD> "
    "{ s = Pad (x, q, , a) z = Relu (s) y = Pad (z, p AXES) }",
    "(float[n, m] x, int64[4] p) => (float[k, l] y) <float[2] q = {1, 2} HELD> "
    "{ z = Resize (x, , q) y = Pad (z, p AXES) }",  # its dims are not believed, its rank is
)


@pytest.mark.parametrize("text", RANKS)
def test_computed_amounts_for_all_axes_by_the_rank(text: str) -> None:
    one = model(text.replace("HELD", "").replace("AXES", "").replace("< >", ""), 19)
    for axes, verdict in {"0, 1": "proved", "1, 0": "unknown", "0": "unknown"}.items():
        held = f", int64[{len(axes.split())}] all = {{{axes}}}"
        other = model(text.replace("HELD", held).replace("< ,", "<").replace("AXES", ", , all"), 19)
        assert prove(one, other).verdict is verdict, axes


BEFORE = (  # amounts, or a rank, that are unknown
    "(float[n] x, int64[2] p) => (float[k] y) <int64[2] o = {0, 0}> { s = Pad (x, p)",
    "(float[] x, float[] f) => (float[] y) <int64[2] p = {1, 1}, int64[2] o = {0, 0}> { s = Pad (x, p, f)",
)


@pytest.mark.parametrize("before", BEFORE)
def test_a_pad_of_zeros_goes_behind_a_pad_of_unknown(before: str) -> None:
    one, other = (model(f"{before} {end} }}", 19) for end in ("y = Pad (s, o)", "y = Identity (s)"))
    assert prove(one, other).verdict == "proved"


def test_a_changed_fallback_is_not_proved() -> None:
    """Functions of this version are compared by bytes; of others, nothing is assumed."""

    def swapped(nodes: Any) -> None:
        node = next(node for node in nodes if len(node.input) > 1)
        node.input[:2] = [node.input[1], node.input[0]]

    def filled(nodes: Any) -> None:
        row = next(row for node in nodes for row in node.attribute if row.HasField("t") or row.ints)
        row.CopyFrom(onnx.helper.make_attribute("value", numpy_helper.from_array(np.array([4]))))

    def dropped(nodes: Any) -> None:
        del nodes[-1].attribute[:], nodes[-1].input[1:]
        nodes[-1].op_type = "Neg" if nodes[-1].op_type == "Identity" else "Identity"

    source = EXAMPLES["pad_18"]
    for change in (None, swapped, filled, dropped):
        converted = padops.convert(source).proto()
        if change:
            change(next(row for row in converted.functions if row.domain == "padops").node)
        proof = prove(source, converted)
        assert (proof.verdict == "proved") == (change is None), change
        assert change is None or any(row.rule == "fallback" and row.why for row in proof.regions)


@pytest.mark.parametrize(("mode", "amount"), [("edge", 1), ("reflect", 7)])
def test_a_fallback_that_needs_an_input_of_its_calls(mode: str, amount: int) -> None:
    """Without its axes a call means the same, but its fallback loads nowhere; also where the original does not run."""
    source = model(f"""(float[2, 3] x, int64[1] i) => (float[M, N] y) <int64[2] a = {{0, 1}},
        int64[4] p = {{0, {amount}, 0, 0}}> {{
        o = Add (i, i) z = Sub (o, o) q = Add (p, z) y = Pad <mode = "{mode}"> (x, q, , a) }}""")
    converted = padops.convert(source).proto()
    assert padops.verify(source, converted).verdict == "proved"
    (call,) = (node for node in converted.graph.node if node.domain == "padops")
    del call.input[2:]
    found = padops.verify(source, converted)
    assert found.verdict == "different" and "it does not run in a session without padops" in found.notes[-1]
    assert found.proof is not None and found.proof.verdict == "unknown"


def test_an_input_of_another_type_that_a_mode_ignores() -> None:
    """A runtime refuses the call; onnx does not check it, since a function has its name."""
    source = model('(float[n] x) => (float[k] y) <int64[2] p = {1, 1}> { y = Pad <mode = "edge"> (x, p) }')
    converted = padops.convert(source, fold=False).proto()
    for kind, verdict in ((np.float32, "proved"), (np.float64, "unknown")):
        changed = onnx.ModelProto.FromString(converted.SerializeToString())
        changed.graph.initializer.append(numpy_helper.from_array(np.zeros((), kind), "v"))
        changed.graph.node[-1].input.append("v")
        proof = prove(source, changed)
        assert proof.verdict == verdict and (verdict == "proved" or "with an input of a type" in proof.why)


DIALECTS = {
    "onnx": (anew.ONNX, OPS["Pad_25"]),
    "openvino 1": (anew.OPENVINO_1, OPS["OpenVINOPad_1"]),
    "openvino 12": (anew.OPENVINO_12, OPS["OpenVINOPad_12"]),
    "ngraph": (anew.NGRAPH, OPS["NGraphPad_0"]),
    "same": (anew.SAME, OPS["SamePad_1"]),
}
NEAR = (*range(-9, 12), *range(-2, 3), 0, 0)  # amounts: beyond every drawn size in both directions
EDGES = (-(2**59), 1 - 2**59, 2**59 - 1, 2**59, 2**60)


@pytest.mark.parametrize("mode", anew.MODES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_positions_and_broken_rules_are_those_of_the_package(dialect: str, mode: str) -> None:
    rules, op = DIALECTS[dialect]
    numbers, ran = random.Random(f"{dialect} {mode}"), 0
    for _ in range(600):
        axes = []
        for _ in range(numbers.randint(1, 3)):
            amounts = [numbers.choice(EDGES) if numbers.random() < 0.02 else numbers.choice(NEAR) for _ in range(2)]
            interior = numbers.choice((0, 1, 2, -1)) if numbers.random() < (0.6 if mode == "constant" else 0.05) else 0
            axes.append(anew.Axis(numbers.choice((0, 1, 2, 3, 5, 8)), *amounts, interior))
        broken = set(anew.broken(axes, mode, rules))
        if prod(anew.output(axis, rules) for axis in axes) > LARGEST:
            broken.add("P10")
        pads = [Amounts(axis.begin, axis.end, axis.interior) for axis in axes]
        try:
            made = plan.make_plan([axis.size for axis in axes], pads, Mode(mode), op.crop, op.limit, op.clamp)
        except PadError as error:
            assert error.rule in broken, (axes, error, broken)
            continue
        assert broken == set(), (axes, broken)
        for axis, known in zip(axes, made.axes):
            assert anew.output(axis, rules) == known.output
            if known.output < 100 and 0 not in made.shape:
                shown = plan.source_index(known, Mode(mode), np.arange(known.output))
                assert anew.positions(axis, mode, rules).tolist() == shown.tolist(), axis
                ran += known.output
    assert ran > 200


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_same_padding_is_that_of_the_package(auto_pad: str) -> None:
    for size in range(12):
        for rows in ((k, s, d) for k in (1, 2, 3, 5) for s in (1, 2, 3) for d in (1, 2, 4)):
            axis = anew.same_axis(size, *rows, auto_pad)
            assert axis[1:3] == same_padding(size, *rows, auto_pad)


SHAPING = """compress concat conv convtranspose depthtospace expand gather maxpool nonzero onehot pad reducemean reshape
    resize slice split squeeze tile topk unsqueeze upsample""".split()


def test_examples_of_operators_give_the_dims_that_are_believed() -> None:
    """onnx's own examples of operators whose dims are hard to infer; with constants, and with all as inputs."""
    known, base = 0, "onnx.backend.test.case"
    for name in SHAPING:
        importlib.import_module(f"{base}.node.{name}")
    for case in importlib.import_module(f"{base}.node")._NodeTestCases:
        operators = [node.op_type.lower() for node in case.model.graph.node] if case.model is not None else []
        for given, expected in case.data_sets or () if len(operators) == 1 and operators[0] in SHAPING else ():
            constants = onnx.ModelProto.FromString(case.model.SerializeToString())
            for value, array in list(zip(case.model.graph.input, given))[1:]:
                if isinstance(array, np.ndarray) and array.dtype.kind in "iufb" and array.nbytes <= 1 << 12:
                    constants.graph.input.remove(next(r for r in constants.graph.input if r.name == value.name))
                    constants.graph.initializer.append(numpy_helper.from_array(array, value.name))
            for one in (case.model, constants):
                terms = Terms()
                try:
                    outputs = Builder(Constants(terms), one, None, set(), original=True).build().outputs
                except UNREADABLE:
                    continue
                for (_, _, term), value in zip(outputs, expected):
                    dims = terms.shape(term)
                    if dims is not None and isinstance(value, (np.ndarray, np.generic)):
                        sizes = [size if isinstance(dim, int) else dim for dim, size in zip(dims, value.shape)]
                        assert (len(dims), sizes) == (value.ndim, list(dims)), (case.name, dims, value.shape)
                        known += 1
    assert known > 200


@pytest.mark.parametrize("steps", [[7, 7, 7], [2] * 7, [10, 10], [70, 70], [100, -100, -100]], ids=str)
def test_sizes_reach_what_constants_do_one_after_another(steps: list[int]) -> None:
    """One Div by 343 in three steps, or three Subs of 100: the amount is 0 for small sizes."""
    one = model("(float[n] x) => (float[m] y) <int64[2] p = {1, 1}> { y = Pad(x, p) }")
    names = ", ".join(f"int64[1] k{i} = {{{abs(step)}}}" for i, step in enumerate(steps))
    operator = "Sub" if steps[-1] < 0 else "Div"
    nodes = " ".join(f"s{i + 1} = {operator}(s{i}, k{i})" for i in range(len(steps)))
    amounts = f"t = Max(s{len(steps)}, none) e = Add(first, t) p = Concat<axis = 0>(first, e)"
    body = f"s0 = Shape(x) {nodes} {amounts} y = Pad(x, p)"
    held = f"int64[1] first = {{1}}, int64[1] none = {{0}}, {names}"
    other = model(f"(float[n] x) => (float[m] y) <{held}> {{ {body} }}")
    assert padops.verify(one, other).verdict == "different"
