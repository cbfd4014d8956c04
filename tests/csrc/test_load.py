"""Short forms of tests/long/long_load.py: threads, calls, sessions and processes give right bits and leak nothing."""

from __future__ import annotations

import sys

import loads
import pytest

from padops.runtime.provider import FIRST_MINOR, runtime_minor

if sys.platform != "linux":
    pytest.skip("memory is read from /proc, and processes fork", allow_module_level=True)

# What destroying a session may leave behind; without -z nodelete it was 137 kB for each whose options were the last
# ones.
KEPT = 10


def test_threads_on_one_session() -> None:
    assert loads.one_session(320) == loads.Load(320, wrong=0)


OLD = runtime_minor() < FIRST_MINOR  # without execution providers of libraries: tests/runtime has what is said then


@pytest.mark.skipif(OLD, reason="onnxruntime 1.24 is the first with execution providers of libraries")
def test_threads_on_one_session_of_the_provider() -> None:
    assert loads.provider_threads(320) == loads.Load(320, wrong=0)


def test_threads_with_a_session_each() -> None:
    assert loads.many_sessions(64) == loads.Load(64, wrong=0)


def test_outputs_that_the_caller_holds() -> None:
    assert loads.bindings(80) == loads.Load(80, wrong=0)


def test_calls_take_no_memory() -> None:
    load = loads.in_process("tiny_calls", 10_000)
    assert (load.count, load.wrong) == (10_000, 0)
    assert load.grown < 1000


def test_sessions_with_options_of_their_own_take_no_memory() -> None:
    load = loads.in_process("fresh_options", 100)
    assert (load.count, load.wrong) == (100, 0)
    assert load.grown < 90 * KEPT


@pytest.mark.skipif(OLD, reason="onnxruntime 1.24 is the first with execution providers of libraries")
def test_sessions_of_the_provider_take_no_memory() -> None:
    load = loads.in_process("provider_sessions", 300)
    assert (load.count, load.wrong) == (300, 0)
    assert load.grown < 270 * KEPT


def test_forked_processes_run_sessions() -> None:
    assert loads.in_process("forks", 5, timeout=600) == loads.Load(5, wrong=0)
