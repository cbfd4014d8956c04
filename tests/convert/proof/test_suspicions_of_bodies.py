"""A solver's suspicion of a function's body is checked with the dims that it names; a right body is never blamed."""

from __future__ import annotations

import onnx
import pytest
from written_models import model

from padops.convert.proof import bodies
from padops.convert.proof.facts import dims_of
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Proof, Region, Verdict

CALL = """(float[n] x) => (float[] y) <int64[2] p = {1, 1}> { y = padops.Pad_18 (x, p) }
<opset_import: ["" : 18], domain: "padops"> Pad_18 (u, p, f, a) => (v) { v = %s }"""


@pytest.mark.parametrize(
    "body, verdict", [("Pad (u, p)", Verdict.UNKNOWN), ("Identity (u)", Verdict.DIFFERENT)], ids=["right", "wrong"]
)
def test_a_suspicion_of_open_dims(body: str, verdict: Verdict) -> None:
    looked_at = []

    def suspecting(one: onnx.ModelProto, other: onnx.ModelProto) -> Proof:
        dims = dims_of(one.graph.input[0].type) or ()
        looked_at.append(dims)
        if all(isinstance(dim, int) for dim in dims):
            return prove(one, other, functions=False)
        example = {"u": {"dims": [4]}}
        row = Region(Verdict.DIFFERENT, why="it is not shown: an element", counterexample=example, name="v")
        return Proof(Verdict.DIFFERENT, (row,))

    (region,) = bodies.prove_bodies(model(CALL % body), suspecting, Limits())
    assert looked_at == [("n",), (4,)]
    assert (region.verdict, region.why) == (verdict, "for data of 1 axis: it is not shown: an element")
