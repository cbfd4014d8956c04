"""Threads, calls, sessions, forks and large Pads give right bits and leak nothing; tests/long/long_counts.py has more.

The Pads of 64 MB have partial rows, stores past the caches, and 16-byte elements.
"""

from __future__ import annotations

import sys
from itertools import product

import large_pads
import loads
import pytest
from slow import MORE

from padops.runtime.provider import FIRST_MINOR, runtime_minor

if sys.platform != "linux":
    pytest.skip("memory is read from /proc, and processes fork", allow_module_level=True)

# What destroying a session may leave behind; without -z nodelete it was 137 kB for each whose options were the last
# ones.
KEPT = 10
# Without execution providers of libraries: tests/runtime has what is said then.
PROVIDER = pytest.mark.skipif(runtime_minor() < FIRST_MINOR, reason="it has no providers of libraries")


@pytest.mark.parametrize(("load", "count"), [
    ("one_session", 320),
    pytest.param("provider_threads", 320, marks=PROVIDER),
    ("many_sessions", 64),
    ("bindings", 80),
])  # fmt: skip
def test_right_bits(load: str, count: int) -> None:
    count *= 200 if MORE else 1
    assert getattr(loads, load)(count) == loads.Load(count, wrong=0)


@pytest.mark.parametrize(("load", "usual", "more"), [
    ("tiny_calls", (10_000, 1000), (1_000_000, 1000)),
    ("fresh_options", (100, 90 * KEPT), (10_000, 8000)),
    pytest.param("provider_sessions", (300, 270 * KEPT), (10_000, 8000), marks=PROVIDER),
    ("forks", (5, 1), (500, 1)),  # their memory is their own
])  # fmt: skip
def test_memory_stays_flat(load: str, usual: tuple[int, int], more: tuple[int, int]) -> None:
    """What one of a million calls or ten thousand sessions kept, even a byte of it, would be seen at once."""
    count, kilobytes = more if MORE else usual
    found = loads.in_process(load, count)
    assert (found.count, found.wrong) == (count, 0) and found.grown < kilobytes


CASES = [("constant", "float", "parts"), ("reflect", "float16", "rows"), ("edge", "float", "16 bytes")]
if MORE:
    CASES = [*product(large_pads.MODES, large_pads.TYPES, large_pads.LAYOUTS)]


@pytest.mark.parametrize(("mode", "type_name", "layout"), CASES)
def test_large_pads(mode: str, type_name: str, layout: str) -> None:
    assert large_pads.harm(mode, type_name, layout, 8 if type_name in ("int4", "uint2") else 64) == ""
