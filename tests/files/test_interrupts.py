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


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be made to wait here")
def test_a_signal_while_the_handlers_come_back(heard: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of SIGINT the handler is back, of SIGTERM it is not."""
    own = {number: signal.getsignal(number) for number in interrupts.NUMBERS}
    put_back = signal.signal

    def and_then_another(number: int, handler: object) -> object:
        before = put_back(number, handler)
        if number == signal.SIGINT and handler is own[number]:
            signal.raise_signal(signal.SIGINT)
            assert heard == [], "it waits until the other handler is back"
        return before

    monkeypatch.setattr(signal, "signal", and_then_another)
    with uninterrupted():
        signal.raise_signal(signal.SIGTERM)
    monkeypatch.undo()
    assert sorted(heard) == [signal.SIGINT, signal.SIGTERM]
    assert {number: signal.getsignal(number) for number in interrupts.NUMBERS} == own
