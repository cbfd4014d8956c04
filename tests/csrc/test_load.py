"""Short forms of tests/long/long_load.py and long_large.py: right bits from threads, sessions and forks, and no leak.

The Pads of 64 MB have partial rows, stores past the caches, and 16-byte elements.
"""

from __future__ import annotations

import sys

import large_pads
import loads
import pytest

from padops.runtime.provider import FIRST_MINOR, runtime_minor

if sys.platform != "linux":
    pytest.skip("memory is read from /proc, and processes fork", allow_module_level=True)

# What destroying a session may leave behind; without -z nodelete it was 137 kB for each whose options were the last
# ones.
KEPT = 10
# Without execution providers of libraries: tests/runtime has what is said then.
PROVIDER = pytest.mark.skipif(
    runtime_minor() < FIRST_MINOR, reason="onnxruntime 1.24 is the first with execution providers of libraries"
)


@pytest.mark.parametrize(
    ("load", "count"),
    [
        ("one_session", 320),
        pytest.param("provider_threads", 320, marks=PROVIDER),
        ("many_sessions", 64),
        ("bindings", 80),
    ],
)
def test_right_bits(load: str, count: int) -> None:
    assert getattr(loads, load)(count) == loads.Load(count, wrong=0)


@pytest.mark.parametrize(
    ("load", "count", "grown"),
    [
        ("tiny_calls", 10_000, 1000),
        ("fresh_options", 100, 90 * KEPT),
        pytest.param("provider_sessions", 300, 270 * KEPT, marks=PROVIDER),
        ("forks", 5, 1),  # their memory is their own
    ],
)
def test_no_memory_is_kept(load: str, count: int, grown: int) -> None:
    found = loads.in_process(load, count)
    assert (found.count, found.wrong) == (count, 0) and found.grown < grown


@pytest.mark.parametrize(
    ("mode", "type_name", "layout"),
    [("constant", "float", "parts"), ("reflect", "float16", "rows"), ("edge", "float", "16 bytes")],
)
def test_large_pads(mode: str, type_name: str, layout: str) -> None:
    assert large_pads.harm(mode, type_name, layout, 64) == ""
