"""Random Pads, right and wrong: the native kernels and the NumPy reference must say the same, to the bit and the text.

``PADOPS_EXAMPLES`` sets how many are drawn; ``tests/long/long_counts.py`` draws 100,000. What ONNX Runtime's built-in
Pad says of random Pads is a part of every conformance run.
"""

from __future__ import annotations

import os
from collections import Counter

import case_strategies
import native
import pytest
from slow import MORE

from padops.spec import reference

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "100000" if MORE else "1000"))


# A share of the examples for each kind of operator, and how often a full run has to see each of these errors.
KINDS = {
    "Pad_": (1, 12, "P1 P5 P7 P8 P9"),
    "OpenVINOPad_": (4, 5, "P1 P4 P5 P7 P8 P9"),  # P1 clamped in 12, P3 FULL
    "NGraphPad_": (4, 5, "P1 P4 P6 P7 P8 P9"),  # P6's interior, P3 FULL, P4 for EDGE and REFLECT
    "SamePad_": (4, 5, "S1 P5 P7 P9"),  # in every layout and mode
}


@pytest.mark.parametrize("prefix", KINDS)
def test_pads(prefix: str) -> None:
    """P1–P10, S1."""
    (part, least, rules), seen = KINDS[prefix], Counter[str]()

    def check(case: case_strategies.Case) -> None:
        given = case.op, case.attributes, case.inputs, "n"
        expected = native.outcome(reference.run, *given)
        assert native.outcome(native.run, *given, case.constants, case.static) == expected
        seen["all"] += 1
        if isinstance(expected, str):
            seen[expected[expected.rindex("[") + 1 : -1]] += 1

    met = lambda: EXAMPLES < 1000 or all(seen[rule] >= least for rule in rules.split())
    case_strategies.explore(case_strategies.cases(prefix), check, EXAMPLES // part, met)
    print(dict(seen))
