"""Runs onnxruntime in a copy of this process, since it may crash, for one when it divides an integer by 0."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from padops.convert.verify.sessions import DoesNotRun


class DiedError(DoesNotRun):
    """The copy died; the message says how."""


def can_copy() -> bool:
    """Whether this process can be forked: on Linux, without other threads at work, which may hold locks.

    Daemons, such as those that watch progress bars or serve a notebook, do not count: without a copy, a model at which
    onnxruntime dies would end this process.
    """
    others = [one for one in threading.enumerate() if not one.daemon and one is not threading.current_thread()]
    return sys.platform == "linux" and not others and not current_process().daemon


def in_copy(run: Callable[[], Any], room: int | None = None) -> Any:
    """The result of a function, which runs in a copy of this process; without fork, in this process.

    The copy may take ``room`` bytes of memory more than this process has; any number if None.

    Raises:
        DiedError: The copy died.
        MemoryError: The room was not enough.
        Exception: The function raised it.
    """
    if not can_copy():
        return run()
    forking = get_context("fork")
    pipe, theirs = forking.Pipe()
    process = forking.Process(target=_serve, args=(run, room, theirs, pipe), daemon=True)
    process.start()
    theirs.close()
    try:
        answer, error = pipe.recv()
    except (EOFError, ConnectionError):
        process.join()
        code = process.exitcode or 0
        how = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit code {code}"
        raise DiedError(f"onnxruntime has ended its process ({how})") from None
    finally:  # after an interrupt as well
        pipe.close()
        if process.is_alive():
            process.join(1)
            process.kill()
        process.join()
    if error is not None:
        raise error
    return answer


def _serve(run: Callable[[], Any], room: int | None, pipe: Connection, other: Connection) -> None:
    """Runs the function and sends its result; runs in the copy."""
    other.close()
    if room is not None:
        _limit_memory(room)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and ends its copy
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with open(os.devnull, "w") as nowhere:  # neither a crash nor onnxruntime's retries print to the user's terminal
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
    faulthandler.disable()
    try:
        answer: tuple[Any, Exception | None] = run(), None
    except Exception as error:  # of any type: the parent raises it again
        answer = None, error
    pipe.send(answer)


def _limit_memory(room: int) -> None:
    """Lets this process take so many bytes more than it has; a lower limit stays."""
    import resource  # Windows has none, and no copies

    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([now + room, *known]), hard))
