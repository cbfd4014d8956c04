"""Pads of 64 MB: partial rows, stores past the caches, 16-byte elements; tests/long/long_large.py runs all others."""

from __future__ import annotations

import large_pads
import pytest


@pytest.mark.parametrize(
    ("mode", "type_name", "layout"),
    [("constant", "float", "parts"), ("reflect", "float16", "rows"), ("edge", "float", "16 bytes")],
)
def test_large_pads(mode: str, type_name: str, layout: str) -> None:
    assert large_pads.harm(mode, type_name, layout, 64) == ""
