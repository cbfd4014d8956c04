"""Shows the progress of a conversion: thousands of Pads take seconds, and copying external data may take minutes."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from padops.terminal import shown

Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]  # the step, the amount done, and the total

COPYING = "copying external data"  # this step counts bytes; other steps count Pads
FEWEST = 1000  # the fewest Pads for which progress is shown; fewer take less than a second
STEP = 100


def counted(what: str, items: Sequence[Item], progress: Progress | None) -> Iterator[Item]:
    """Yields the items; for many items, calls ``progress`` every ``STEP`` items and at the end."""
    told = progress if len(items) >= FEWEST else None
    for done, item in enumerate(items):
        if told is not None and done % STEP == 0:
            told(what, done, len(items))
        yield item
    if told is not None:
        told(what, len(items), len(items))


@contextlib.contextmanager
def progress_line(quiet: bool = False) -> Iterator[Progress]:
    """Shows the latest step in a line on standard error if it is a terminal; the line vanishes at the end."""
    if quiet or not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    width = shutil.get_terminal_size().columns - 1

    def show(what: str, done: int, total: int) -> None:
        text = f"{shown(what)} {done:,}/{total:,}"
        print("\r" + text[:width].ljust(width), end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r" + " " * width, end="\r", file=sys.stderr, flush=True)
