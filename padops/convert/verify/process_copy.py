"""Runs onnxruntime in a copy of this process, since onnxruntime may crash, for example by dividing an integer by 0."""

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
from padops.processes import how_ended


class DiedError(DoesNotRun):
    """The copy died; the message has the exit code or signal."""


def can_copy() -> bool:
    """Whether this process can be forked: on Linux, without other active threads, which may hold locks."""
    # Daemon threads, of progress bars or notebooks, do not count: without a copy, a crash would end this process.
    others = [one for one in threading.enumerate() if not one.daemon and one is not threading.current_thread()]
    return sys.platform == "linux" and not others and not current_process().daemon


def in_copy(run: Callable[[], Any], room: int | None = None) -> Any:
    """Runs a function in a copy of this process, or in this process without fork, and returns its result.

    The copy may use ``room`` bytes of memory more than this process has; no limit if None.
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
        raise DiedError(f"onnxruntime has ended its process ({how_ended(process.exitcode)})") from None
    finally:  # also after an interrupt
        pipe.close()
        process.join(1)
        process.kill()
        process.join()
    if error is not None:
        raise error
    return answer


def _serve(run: Callable[[], Any], room: int | None, pipe: Connection, other: Connection) -> None:
    """Runs the function and sends its result; runs in the copy."""
    other.close()
    if room is not None:  # a lower limit stays
        import resource  # Windows has no resource module, and no copies

        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min([now + room, *known]), hard))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles the interrupt and ends the copy
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with open(os.devnull, "w") as nowhere:  # neither a crash nor onnxruntime's retries print to the user's terminal
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
    faulthandler.disable()
    try:
        answer: tuple[Any, Exception | None] = run(), None
    except Exception as error:  # any type: the parent raises it again
        answer = None, error
    pipe.send(answer)
