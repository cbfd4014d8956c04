"""SIGINT and SIGTERM: exit codes, and a context in which the signals wait until files are in place."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from padops.exits import INTERRUPTED, TERMINATED

NUMBERS = (signal.SIGINT, signal.SIGTERM)


def exit_code(ending: KeyboardInterrupt | SystemExit) -> int:
    """Returns the exit code of a command that SIGINT (a KeyboardInterrupt) or SIGTERM (a SystemExit) ended."""
    return INTERRUPTED if isinstance(ending, KeyboardInterrupt) else TERMINATED


def end_process(number: int, frame: FrameType | None) -> NoReturn:
    """Handles a signal: raises SystemExit with a shell's exit code, so that padops removes half-written files."""
    raise SystemExit(128 + number)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds back SIGINT and SIGTERM, and delivers them at the end.

    The exception of a signal handler could come after a rename and before padops records the rename. Python runs
    handlers only in the main thread; in other threads, the context does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []
    handlers = {number: signal.getsignal(number) for number in NUMBERS}
    before = {number: handler for number, handler in handlers.items() if handler is not None}  # None: not in Python
    try:
        for number in before:
            signal.signal(number, lambda number, frame: pending.append(number))
        yield
    finally:
        # A restored handler may end the command, which then needs no other handler.
        for number, handler in before.items():
            signal.signal(number, handler)
        for caught in pending:
            signal.raise_signal(caught)
