"""Signals that wait: none is lost, and the handlers come back, also where another signal arrives just then."""

from __future__ import annotations

import signal
from types import FrameType

import pytest

from padops.files import interrupts
from padops.files.interrupts import uninterrupted


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The signals that have been delivered, by handlers that stand there only in this test."""
    told: list[int] = []

    def tell(number: int, frame: FrameType | None) -> None:
        told.append(number)

    before = {number: signal.signal(number, tell) for number in interrupts.NUMBERS}
    yield told
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_waits(heard: list[int]) -> None:
    with uninterrupted():
        signal.raise_signal(signal.SIGTERM)
        assert heard == []
    assert heard == [signal.SIGTERM]
