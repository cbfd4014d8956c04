"""How far outputs may differ: as far as the original's own floats move; and what ONNX Runtime gets wrong."""

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
from padops.convert.verify import sessions
from padops.convert.verify.bits import Tolerance
from padops.convert.verify.rounding import Moves
from padops.spec.dtypes import by_name

ROADS: list[dict[str, Any]] = [{}, {"target": "onnx", "without_pad": True}, {"select": "needed"}]
HEAD = '<ir_version: 10, opset_import: ["" : 20]> '


@pytest.mark.parametrize("options", ROADS, ids=str)
def test_a_network_of_float16_is_right_but_for_rounding(options: dict[str, Any], tmp_path: Path) -> None:
    """ONNX Runtime leaves out the casts around a Pad that it runs in float; a Pad of padops takes float16."""
    conversion = padops.convert(half_network(), tmp_path / "out.onnx", verify=True, run=True, **options)
    verification = conversion.verification
    assert verification is not None and verification.outcome in ("close", "equal") and verification.passed
    assert (tmp_path / "out.onnx").exists()


def test_rounding_is_refused_where_that_is_asked_for(tmp_path: Path) -> None:
    source = half_network()
    with pytest.raises(VerificationError, match="1 output differs; y: "):
        padops.convert(source, tmp_path / "out.onnx", verify=True, run=True, rtol=0, atol=0.0)
    assert not list(tmp_path.iterdir())
    assert padops.convert(source, verify=True, run=True, rtol=0.01, atol=0.01).verification.passed


@pytest.mark.parametrize("broken", [0, 1])
def test_a_wrong_pad_among_rounding_is_found(broken: int) -> None:
    source = half_network()
    converted = padops.convert(source, fallback=False).proto()
    (node,) = (node for node in converted.graph.node if node.name == f"pad{broken}")
    next(row for row in node.attribute if row.name == "mode").s = b"edge"
    assert padops.verify(source, converted).outcome == "different"


def test_the_tolerance() -> None:
    one = np.array([1.0, -2.0, np.inf, np.nan])
    assert Tolerance(rtol=0.1).takes(one, np.array([1.09, -2.19, np.inf, np.nan]))
    assert not Tolerance(rtol=0.1).takes(one, np.array([1.15, -2.0, np.inf, np.nan]))
    assert Tolerance(atol=0.1, rtol=0.1).takes(one, np.array([1.15, -2.0, np.inf, np.nan]))
    for other in ([1, -2, 1e9, np.nan], [1, -2, np.inf, 0], [1, np.nan, np.inf, np.nan], [1, np.inf, np.inf, np.nan]):
        assert not Tolerance(atol=1e12).takes(one, np.array(other, float))
    assert not Tolerance(atol=1).takes(one, one.astype(np.float32)) and not Tolerance(atol=1).takes(one, one[:3])
    for name in ("int64", "int4", "uint2"):
        array = np.zeros(2, np.uint8).astype(by_name(name).numpy)
        assert not Tolerance(atol=9).takes(array, array)


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


def pooled() -> onnx.ModelProto:
    nodes = [pad(output="p", name="pad"), helper.make_node("MaxPool", ["p"], ["y"], kernel_shape=[2, 2], name="pool")]
    return model(nodes, inputs=[("x", FLOAT, [1, 1, 3, 3])], tensors=[tensor("pads", [0, 0, 1, 1, 0, 0, 1, 1])])


def bend(monkeypatch: pytest.MonkeyPatch, original: bool) -> None:
    """Makes one of the models, once optimised, answer as onnxruntime 1.24.4 does: no 0 of the Pad's fill wins."""
    real = sessions.Session

    class Session(real):
        def __init__(self, model: sessions.Model, optimised: bool, *more: Any) -> None:
            super().__init__(model, optimised, *more)
            domains = {row.domain for row in model.message.opset_import}
            self.bent = optimised and ("padops" not in domains) == original

        def run(self, feeds: dict[str, np.ndarray]) -> dict[str, Any]:
            outputs = super().run(feeds)
            return {name: np.where(y == 0, np.float32(-1.25), y) if self.bent else y for name, y in outputs.items()}

    monkeypatch.setattr(sessions, "Session", Session)
    monkeypatch.setattr("padops.convert.analysis.installed_minor", lambda: 24)


def test_outputs_that_onnxruntime_gets_wrong_are_said_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    bend(monkeypatch, original=True)
    verification = padops.convert(pooled(), verify=True, run=True).verification
    assert verification is not None and (verification.outcome, verification.passed) == ("corrected", True)
    assert verification.notes == (
        "without graph optimisation the outputs are bit-equal; with it, ONNX Runtime gets the original wrong",
        "y will change: graph/pad: ONNX Runtime may make this Pad the padding of MaxPool pool, which "
        "computes another result",
    )


def test_a_converted_model_that_onnxruntime_gets_wrong_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without optimisation it is right, but no session of the user's is without."""
    bend(monkeypatch, original=False)
    with pytest.raises(VerificationError, match="with it, ONNX Runtime gets the converted model wrong") as caught:
        padops.convert(pooled(), verify=True, run=True)
    verification = caught.value.conversion.verification
    assert verification is not None and verification.outcome == "different"


def test_a_default_that_nothing_replaces_is_the_pads_input() -> None:
    def with_default(end: int) -> onnx.ModelProto:
        return parser.parse_model(
            '<ir_version: 10, opset_import: ["" : 21]> g (float[2, 3] x, int64[4] p) => (float[n, m] y) '
            f"<int64[4] p = {{0, 1, 0, {end}}}> {{ y = Pad (x, p) }}"
        )

    found = padops.verify(with_default(1), with_default(2))
    assert (found.outcome, found.outputs[0].detail) == ("different", "shape [2, 5] became [2, 6]")
    assert padops.verify(with_default(1), with_default(1)).passed


def test_what_other_inputs_move_counts_in_proportion() -> None:
    """One set of inputs may hide how far floats move: what the others move counts, as a part of the element."""
    trials = [sessions.Trial({}, {"y": np.array([value])}, frozenset()) for value in (1000.0, 2000.0)]
    plain = [{"y": np.array([1000.0])}, {"y": np.array([2000.002])}]
    moves = Moves(Path("absent"), onnx.ModelProto(), trials, plain)
    moves._changed = [[], []]
    assert moves.takes(0, "y", np.array([1000.0]), np.array([1000.015]))
    assert not moves.takes(0, "y", np.array([1000.0]), np.array([1000.017]))
    assert not moves.takes(0, "y", np.array([1000.0]), np.array([1000.001]), levels=False)
