"""A signal waits where a step may not be interrupted; none is lost."""

from __future__ import annotations

import signal

from padops.files.interrupts import NUMBERS, uninterrupted


def test_a_signal_waits() -> None:
    heard: list[int] = []
    before = {number: signal.signal(number, lambda number, frame: heard.append(number)) for number in NUMBERS}
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            assert heard == []
        assert heard == [signal.SIGTERM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
