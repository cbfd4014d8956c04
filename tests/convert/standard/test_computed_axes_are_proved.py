"""Axes are extended by amounts computed at run time: the solver proves, for all sizes, that nothing overflows (P10)."""

from __future__ import annotations

import pytest
from written_models import model

import padops
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Verdict

LIMIT = ("dims and amounts are within P10: at most 2^59 - 1",)


@pytest.mark.parametrize("mode", ["edge", "wrap"])
def test_no_number_overflows(mode: str) -> None:
    """The size of the output times that of what it shows would, of more than 3,037,000,499 elements each."""
    made = model(f'(float[n] x, int64[2] p) => (float[k] y) {{ y = Pad<mode = "{mode}">(x, p) }}', 19)
    converted = padops.convert(made, target="onnx", without_pad=True).proto()
    proof = prove(made, converted, limits=Limits(goal_seconds=60, region_seconds=240, seconds=600))
    assert proof.verdict is Verdict.PROVED
    assert [region.conditions for region in proof.regions] == [LIMIT]
