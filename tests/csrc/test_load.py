"""Threads, calls, sessions and processes give right bits and leak nothing; ``tests/long/long_counts.py`` takes more."""

from __future__ import annotations

import sys

import loads
import pytest
from slow import MORE

from padops.runtime.provider import FIRST_MINOR, runtime_minor

if sys.platform != "linux":
    pytest.skip("memory is read from /proc, and processes fork", allow_module_level=True)

# What destroying a session may leave behind; without -z nodelete it was 137 kB for each whose options were the last
# ones.
KEPT = 10
OLD = runtime_minor() < FIRST_MINOR  # without execution providers of libraries: tests/runtime has what is said then
NEW = pytest.mark.skipif(OLD, reason="onnxruntime 1.24 is the first with execution providers of libraries")


@pytest.mark.parametrize(
    ("load", "count"),
    [
        (loads.one_session, 320),
        pytest.param(loads.provider_threads, 320, marks=NEW),
        (loads.many_sessions, 64),
        (loads.bindings, 80),
    ],
)
def test_threads_and_bindings(load, count: int) -> None:
    count *= 200 if MORE else 1
    assert load(count) == loads.Load(count, wrong=0)


@pytest.mark.parametrize(
    ("name", "usual", "more"),
    [
        ("tiny_calls", (10_000, 1000), (1_000_000, 1000)),
        ("fresh_options", (100, 90 * KEPT), (10_000, 8000)),
        pytest.param("provider_sessions", (300, 270 * KEPT), (10_000, 8000), marks=NEW),
    ],
)
def test_memory_stays_flat(name: str, usual: tuple[int, int], more: tuple[int, int]) -> None:
    """What one of a million calls or ten thousand sessions kept, even a byte of it, would be seen at once."""
    count, kilobytes = more if MORE else usual
    load = loads.in_process(name, count)
    assert (load.count, load.wrong) == (count, 0)
    assert load.grown < kilobytes


def test_forked_processes_run_sessions() -> None:
    count = 500 if MORE else 5
    assert loads.in_process("forks", count) == loads.Load(count, wrong=0)
