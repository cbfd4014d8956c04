"""Minutes of the load that tests/csrc/test_load.py makes for a second; memory stays flat, "harmed" is wrong results."""

from __future__ import annotations

import loads
import pytest

# Kilobytes. A million calls and ten thousand sessions: what one of them kept, even a byte of it, would be seen at once.
MAX_GROWTH = {"tiny_calls": 1000, "shared_options": 8000, "fresh_options": 8000, "provider_sessions": 8000}
TIMEOUT = 3600


def test_32_threads_on_one_session(tally) -> None:
    load = loads.one_session(64_000)
    tally("32 threads on one session, shapes that change: calls", load.count, load.wrong)


def test_32_threads_on_one_session_of_the_provider(tally) -> None:
    load = loads.provider_threads(64_000)
    tally("32 threads on one session of the execution provider: calls", load.count, load.wrong)


def test_32_sessions_at_once(tally) -> None:
    load = loads.many_sessions(6_400)
    tally("32 threads, each with sessions of its own, arena on and off: sessions", load.count, load.wrong)


@pytest.mark.parametrize(
    ("name", "count", "tried"),
    [
        ("tiny_calls", 1_000_000, "calls of one tiny Pad, shapes that change; memory flat"),
        ("shared_options", 10_000, "sessions made, run and destroyed, with the same options; memory flat"),
        ("fresh_options", 10_000, "sessions made, run and destroyed, and their options with them; memory flat"),
        ("provider_sessions", 10_000, "sessions of the execution provider made, run and destroyed; memory flat"),
    ],
    ids=MAX_GROWTH,
)
def test_memory_stays_flat(tally, name: str, count: int, tried: str) -> None:
    load = loads.in_process(name, count, TIMEOUT)
    print(f"{name}: {load.grown} kB more after {count:,} than after a tenth of them")
    tally(tried, load.count, load.wrong + (load.grown > MAX_GROWTH[name]))


def test_forks(tally) -> None:
    load = loads.in_process("forks", 500, TIMEOUT)
    tally("processes forked after use: the parent's session, and one of their own", load.count, load.wrong)


def test_bindings(tally) -> None:
    load = loads.bindings(20_000)
    tally("IOBinding, memory of the caller and of the runtime, arena on and off: calls", load.count, load.wrong)
