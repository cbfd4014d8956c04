"""SIGINT and SIGTERM: exit codes, and a context in which they wait until files are in place."""

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
    """The exit code of a command that SIGINT or SIGTERM ended, by the exception that the signal raised."""
    if isinstance(ending, KeyboardInterrupt):
        return INTERRUPTED
    return ending.code if isinstance(ending.code, int) else TERMINATED


def end_process(number: int, frame: FrameType | None) -> NoReturn:
    """A signal handler that ends the process by an exception, so that nothing half-written stays.

    Raises:
        SystemExit: Always, with the code that shells report for this signal.
    """
    raise SystemExit(128 + number)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds back SIGINT and SIGTERM, and delivers them at the end.

    Python runs a signal handler between any two operations, so its exception could come between a rename and its
    record. This happens only in the main thread; in other threads, the context does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int] = {}
    pending: list[int] = []
    try:
        for number in NUMBERS:
            handler = signal.getsignal(number)
            if handler is not None:  # None: a handler outside of Python, which could not be restored
                before[number] = handler
                signal.signal(number, lambda number, frame: pending.append(number))
        yield
    finally:
        _restore(before)
        for caught in pending:
            signal.raise_signal(caught)


def _restore(handlers: dict[signal.Signals, Callable[[int, FrameType | None], object] | int]) -> None:
    """Restores handlers with signals blocked, if the system can: a restored handler could raise too early."""
    mask = getattr(signal, "pthread_sigmask", None)
    before = mask(signal.SIG_BLOCK, NUMBERS) if mask else ()
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)
