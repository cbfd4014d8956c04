"""Signals: what they end, and how they wait until files are in place."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

from padops.exits import INTERRUPTED, TERMINATED

NUMBERS = (signal.SIGINT, signal.SIGTERM)


def exit_code(ending: KeyboardInterrupt | SystemExit) -> int:
    """What a command ends with that one of these signals has ended, by the exception that the signal raised."""
    if isinstance(ending, KeyboardInterrupt):
        return INTERRUPTED
    return ending.code if isinstance(ending.code, int) else TERMINATED


def end_process(number: int, frame: FrameType | None) -> NoReturn:
    """A handler that ends the process as an exception does, so that nothing half-written stays.

    Raises:
        SystemExit: Always, with the code that shells give to a process that this signal has ended.
    """
    raise SystemExit(128 + number)


def ending_of(code: int | None) -> str:
    """What ended a process, such as ``"SIGSEGV"`` or ``"code 1"``."""
    return signal.Signals(-code).name if code is not None and code < 0 else f"code {code}"


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Keeps SIGINT and SIGTERM back, and delivers them at the end.

    Python runs a handler between any two operations, so that its exception could come between a rename and the note
    that it was done. Only the main thread is interrupted so; in others this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int] = {}
    pending: list[int] = []
    try:
        for number in NUMBERS:
            handler = signal.getsignal(number)
            if handler is not None:  # else it is not Python's, and could not be put back
                before[number] = handler
                signal.signal(number, lambda number, frame: pending.append(number))
        yield
    finally:
        _restore(before)
        for caught in pending:
            signal.raise_signal(caught)


def _restore(handlers: dict[signal.Signals, Callable[[int, FrameType | None], object] | int]) -> None:
    """Puts handlers back. A signal that comes in between waits, where the system can have it wait: the handler that is back
    already would raise, and the others would stay away."""
    mask = getattr(signal, "pthread_sigmask", None)
    before = mask(signal.SIG_BLOCK, NUMBERS) if mask else ()
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)
