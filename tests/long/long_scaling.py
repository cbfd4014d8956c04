"""Long chains of Pads: 10,000 of them, with every option, in under 20 seconds of one processor.

``tests/convert/model/test_convert_scaling.py`` counts the same work at small sizes, and holds that it is linear.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pad_chains
import pytest

import padops

COUNT = 10_000
MAX_SECONDS = 20.0  # seconds
CHAINS = (
    "in_a_row",
    "reflecting",
    "with_relu",
    "with_conv",
    "with_amounts_of_their_own",
    "in_branches",
    "side_by_side",
)


@pytest.mark.parametrize("options", pad_chains.OPTIONS)
def test_a_chain_of_ten_thousand(options: str, tally: Callable[[str, int, int], None]) -> None:
    took = {}
    for made in CHAINS:
        if (made, options) == ("in_branches", "onnx"):
            continue  # onnx infers no shapes in there, so that each Pad becomes 20 nodes: 200,000 in a minute
        model = pad_chains.MODELS[made](COUNT)
        start = time.process_time()  # not the clock on the wall, so that another load does not count
        conversion = padops.convert(model, **pad_chains.OPTIONS[options])
        took[made] = time.process_time() - start
        assert len(conversion.records) == COUNT
    print(*(f"{made} {seconds:.1f} s" for made, seconds in took.items()), sep=", ")
    slow = sum(seconds > MAX_SECONDS for seconds in took.values())
    tally(f"a chain of {COUNT:,} Pads converted in under {MAX_SECONDS:.0f} s, {options}", len(took), slow)
