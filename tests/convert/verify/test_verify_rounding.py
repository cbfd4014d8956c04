"""What differs: a Pad, the rounding of the nodes around Pads that are right, or what ONNX Runtime gets wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from half_networks import half_network
from onnx import helper, parser
from small_models import FLOAT, model, pad, tensor

import padops
from padops.convert import VerificationError
from padops.convert.verify import choice, compare
from padops.convert.verify.bits import Tolerance
from padops.convert.verify.rounding import tolerance_of
from padops.spec.dtypes import by_name

ROADS: list[dict[str, Any]] = [{}, {"target": "onnx", "without_pad": True}, {"select": "needed"}]


@pytest.mark.parametrize("options", ROADS, ids=str)
def test_a_network_of_float16_is_right_but_for_rounding(options: dict[str, Any], tmp_path: Path) -> None:
    """ONNX Runtime leaves out the casts around a Pad that it runs in float; a Pad of padops takes float16."""
    conversion = padops.convert(half_network(), tmp_path / "out.onnx", verify=True, run=True, **options)
    verification = conversion.verification
    assert verification is not None and (verification.outcome, verification.passed) == ("close", True)
    assert not verification.outputs[0].equal and (tmp_path / "out.onnx").exists()
    assert verification.notes == (
        "no element differs by more than 0.05 of the largest element of its output",
        "each Pad gives the right result for its data; the nodes around the Pads round differently",
    )
    assert [(one.path, one.equal, one.right) for one in verification.pads] == [
        ("graph/pad0", True, True), ("graph/pad1", False, True)
    ]  # fmt: skip


def test_a_lowered_network_of_float16_keeps_its_pads_and_its_rounding(tmp_path: Path) -> None:
    conversion = padops.convert(half_network(), tmp_path / "out.onnx", verify=True, run=True, target="onnx")
    assert [record.status for record in conversion.records] == ["not needed", "not needed"]
    assert conversion.verification is not None and conversion.verification.outcome == "equal"


def test_rounding_is_refused_where_that_is_asked_for(tmp_path: Path) -> None:
    source = half_network()
    with pytest.raises(VerificationError, match="1 output differs; y: .*; each Pad gives the right result"):
        padops.convert(source, tmp_path / "out.onnx", verify=True, run=True, strict=True)
    with pytest.raises(
        VerificationError, match=r"but an output differs by more than 0 \+ 0 of the element \(--rtol, --atol\)"
    ):
        padops.convert(source, tmp_path / "out.onnx", verify=True, run=True, rtol=0, atol=0.0)
    assert not list(tmp_path.iterdir())
    assert padops.convert(source, verify=True, run=True, rtol=0.01, atol=0.01).verification.outcome == "close"
    assert padops.verify(source, padops.convert(source).proto(), atol=1e-9, run=True).outcome == "different"


@pytest.mark.parametrize("broken", [0, 1])
def test_a_wrong_pad_among_rounding_is_named(broken: int) -> None:
    """However small the difference is: the reference compares the bits of each Pad."""
    source = half_network()
    converted = padops.convert(source, fallback=False).proto()
    (node,) = (node for node in converted.graph.node if node.name == f"pad{broken}")
    next(row for row in node.attribute if row.name == "mode").s = b"edge"
    verification = padops.verify(source, converted, rtol=1e6, atol=1e6, run=True)
    assert (verification.outcome, verification.passed) == ("different", False)
    assert [one.path for one in verification.pads if one.right is False] == [f"graph/pad{broken}"]
    assert f"a Pad is the reason: graph/pad{broken}: p{broken}: " in choice.mismatch(verification, ())


HEAD = '<ir_version: 10, opset_import: ["" : 20]> '
# The fill goes through ONNX Runtime's Where, which has other bits for an x of several rows only.
BY_HAND = """g (float[n, m] x) => (float[a, b] OUT) <float[1] f = {-0.0}, int64[1] zero = {0}, int64[1] one = {1},
    bool[1, 1] never = {0}, bool[1, 2] nevers = {0, 0}> { first = Slice (x, zero, one, one) sum = ReduceSum (first, one)
    front = Where (never, sum, f) back = Where (nevers, sum, f) y = Concat <axis = 1> (front, x, back) TAIL }"""


@pytest.mark.parametrize("tail, output", [("", "y"), ("z = Sigmoid (y)", "z")])
def test_a_pad_that_differs_for_the_last_inputs_only_is_no_rounding(tail: str, output: str) -> None:
    """All inputs that were run count, not only the first: here those of one row agree, and run first."""
    pad = "<int64[4] p = {0, 1, 0, 2}, float f = {-0.0}> { y = Pad (x, p, f) TAIL }"
    pad = f"g (float[n, m] x) => (float[a, b] OUT) {pad}"
    models = [parser.parse_model(HEAD + text.replace("OUT", output).replace("TAIL", tail)) for text in (pad, BY_HAND)]
    verification = padops.verify(*models, run=True)
    assert (verification.outcome, verification.passed) == ("different", False)
    (found,) = verification.pads
    assert (found.path, found.equal) == ("graph/Pad_0", False) and "-0.0 became 0.0" in found.detail
    assert not any("round differently" in note for note in verification.notes)


FILLS = {
    "-0.0": (0x80000000, 0),
    "1.5 and 1 ulp more": (0x3FC00000, 0x3FC00001),
    "1e-30 and 1 ulp more": (0x0DA24260, 0x0DA24261),
    "a NaN of another payload": (0x7FC01234, 0x7FC00000),
}


@pytest.mark.parametrize("fills", FILLS.values(), ids=FILLS)
def test_a_fill_of_other_bits_is_no_rounding(fills: tuple[int, int]) -> None:
    """The Pad was replaced by hand, by nodes that move its data and another fill."""
    texts = (
        "<int64[4] p = {0, 1, 0, 2}> { z = Pad (x, p, f) y = Sigmoid (z) }",
        "<int64[1] one = {1}, int64[1] two = {2}> { s = Shape <end = 1> (x) s1 = Concat <axis = 0> (s, one) "
        "s2 = Concat <axis = 0> (s, two) l = Expand (f, s1) r = Expand (f, s2) z = Concat <axis = 1> (l, x, r) "
        "y = Sigmoid (z) }",
    )
    models = []
    for text, bits in zip(texts, fills, strict=True):
        made = parser.parse_model(f"{HEAD} g (float[n, m] x) => (float[a, b] y) {text}")
        made.graph.initializer.append(onnx.numpy_helper.from_array(np.array(bits, np.uint32).view(np.float32), "f"))
        models.append(made)
    verification = padops.verify(*models, run=True)
    assert (verification.outcome, verification.passed) == ("different", False)
    assert [(pad.compared, pad.equal, pad.right) for pad in verification.pads] == [(("z",), False, False)]


def test_another_node_is_no_rounding() -> None:
    source = half_network()
    converted = padops.convert(source, fallback=False).proto()
    weights = next(one for one in converted.graph.initializer if one.name == "w1")
    array = onnx.numpy_helper.to_array(weights).copy()
    array[0, 0, 0, 0] += np.float16(1e-3)
    weights.CopyFrom(onnx.numpy_helper.from_array(array, "w1"))
    verification = padops.verify(source, converted, run=True)
    assert verification.outcome == "different"
    assert verification.notes[-1] == "initializer 'w1' is not the same in both models, and may be the reason"


def test_a_pad_that_was_folded_beside_rounding() -> None:
    """The convolution has taken it in; it is the same node but for that."""
    source = half_network(3)
    source.graph.node[6].attribute[0].s = b"constant"
    conversion = padops.convert(source, verify=True, run=True)
    assert [record.status for record in conversion.records] == ["converted", "converted", "folded"]
    assert conversion.verification is not None and conversion.verification.outcome == "close"


def test_the_tolerance() -> None:
    one = np.array([1.0, -2.0, np.inf, np.nan])
    near = Tolerance(share=1e-2)
    assert near.takes(one, np.array([1.019, -2.0, np.inf, np.nan])) and not near.takes(
        one, np.array([1.03, -2, np.inf, np.nan])
    )
    assert Tolerance(rtol=0.1).takes(one, np.array([1.09, -2.19, np.inf, np.nan]))
    assert not Tolerance(rtol=0.1).takes(one, np.array([1.15, -2.0, np.inf, np.nan]))
    assert Tolerance(atol=0.1, rtol=0.1).takes(one, np.array([1.15, -2.0, np.inf, np.nan]))
    for other in ([1, -2, 1e9, np.nan], [1, -2, np.inf, 0], [1, np.nan, np.inf, np.nan], [1, np.inf, np.inf, np.nan]):
        assert not Tolerance(atol=1e12).takes(one, np.array(other, float))
    assert not near.takes(one, one.astype(np.float32)) and not near.takes(one, one[:3])
    for name in ("int64", "int4", "uint2"):
        array = np.zeros(2, np.uint8).astype(by_name(name).numpy)
        assert not Tolerance(atol=9).takes(array, array)
    shares = [tolerance_of(half_network(), None, None), tolerance_of(model([pad()]), None, None)]
    assert [one.share for one in shares] == [5e-2, 1e-4]


@pytest.mark.parametrize("wrong", [{"rtol": -1}, {"atol": float("nan")}, {"rtol": "1"}, {"atol": True}], ids=str)
def test_what_is_no_tolerance(wrong: dict[str, Any]) -> None:
    source = model([pad()], tensors=[tensor("pads", [0, 1, 0, 1])])
    (name,) = wrong
    for call in (
        lambda: padops.convert(source, verify=True, run=True, **wrong),
        lambda: padops.verify(source, source, **wrong, run=True),
    ):
        with pytest.raises(padops.UsageError, match=f"{name} is .*, expected a"):
            call()


# --- What ONNX Runtime gets wrong
# --------------------------------------------------------------------------------------


def pooled() -> onnx.ModelProto:
    nodes = [pad(output="p", name="pad"), helper.make_node("MaxPool", ["p"], ["y"], kernel_shape=[2, 2], name="pool")]
    return model(nodes, inputs=[("x", FLOAT, [1, 1, 3, 3])], tensors=[tensor("pads", [0, 0, 1, 1, 0, 0, 1, 1])])


def bend(monkeypatch: pytest.MonkeyPatch, original: bool) -> None:
    """Makes one of the models, once optimised, answer as onnxruntime 1.24.4 does: no 0 of the Pad's fill wins."""
    real = compare.Session

    class Session(real):
        def __init__(self, path: Path, optimised: bool) -> None:
            super().__init__(path, optimised)
            domains = {row.domain for row in onnx.load(path).opset_import}
            self.bent = optimised and ("padops" not in domains) == original

        def run(self, feeds: dict[str, np.ndarray], wanted: Any = None) -> dict[str, Any]:
            outputs = super().run(feeds, wanted)
            return {name: np.where(y == 0, np.float32(-1.25), y) if self.bent else y for name, y in outputs.items()}

    monkeypatch.setattr(compare, "Session", Session)
    monkeypatch.setattr(choice, "installed_minor", lambda: 24)


def test_outputs_that_onnxruntime_gets_wrong_are_said_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    bend(monkeypatch, original=True)
    verification = padops.convert(pooled(), verify=True, run=True).verification
    assert verification is not None and (verification.outcome, verification.passed) == ("corrected", True)
    assert (
        verification.outputs[0].detail.startswith("4 of 16 elements") or "became 0.0" in verification.outputs[0].detail
    )
    assert verification.notes == (
        "without graph optimisation the outputs are bit-equal; with it, ONNX Runtime gets the original wrong",
        "y will change: graph/pad: ONNX Runtime may make it the padding of MaxPool pool, which is another thing",
    )
    assert padops.verify(pooled(), padops.convert(pooled()).proto(), run=True).notes == verification.notes


def test_a_converted_model_that_onnxruntime_gets_wrong_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without optimisation it is right, but no session of the user's is without."""
    bend(monkeypatch, original=False)
    with pytest.raises(VerificationError, match="with it, ONNX Runtime gets the converted model wrong") as caught:
        padops.convert(pooled(), verify=True, run=True)
    verification = caught.value.conversion.verification
    assert verification is not None and verification.outcome == "different"


def test_a_default_that_nothing_replaces_is_the_pads_input() -> None:
    """Both models run, their outputs differ, and the Pad is judged with amounts that no caller gives."""

    def with_default(end: int) -> onnx.ModelProto:
        return parser.parse_model(
            '<ir_version: 10, opset_import: ["" : 21]> g (float[2, 3] x, int64[4] p) => (float[n, m] y) '
            f"<int64[4] p = {{0, 1, 0, {end}}}> {{ y = Pad (x, p) }}"
        )

    found = padops.verify(with_default(1), with_default(2))
    assert (found.outcome, found.outputs[0].detail) == ("different", "shape [2, 5] became [2, 6]")
    assert padops.verify(with_default(1), with_default(1)).passed
