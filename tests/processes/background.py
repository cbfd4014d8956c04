"""Signals as a shell at a terminal gives them to a command, also where the tests run in the background."""

from __future__ import annotations

import signal


def hear_interrupts() -> None:
    """Makes SIGINT an interrupt again, in this process and in those that it starts.

    A shell without job control starts ``command &`` with SIGINT ignored, and every process below inherits that. Tests
    that send an interrupt would wait for its effect in vain.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
