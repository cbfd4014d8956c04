"""Pads of 64 MB: partial rows, stores past the caches, 16-byte elements; tests/long/long_counts.py runs all others."""

from __future__ import annotations

from itertools import product

import large_pads
import pytest
from slow import MORE

CASES = [("constant", "float", "parts"), ("reflect", "float16", "rows"), ("edge", "float", "16 bytes")]
if MORE:
    CASES = [*product(large_pads.MODES, large_pads.TYPES, large_pads.LAYOUTS)]


@pytest.mark.parametrize(("mode", "type_name", "layout"), CASES)
def test_large_pads(mode: str, type_name: str, layout: str) -> None:
    assert large_pads.harm(mode, type_name, layout, 8 if type_name in ("int4", "uint2") else 64) == ""
