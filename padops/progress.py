"""Shows the progress of a conversion: thousands of Pads take seconds, and copying external data may take minutes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from padops.terminal import make_console, shown

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Bars
    from rich.progress import Task

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


class StepBars(AbstractContextManager["StepBars"]):
    """A bar for each step, on standard error if it is a terminal; the bars vanish when the work is done."""

    def __init__(self, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._bars: Bars | None = None
        self._tasks: dict[str, Any] = {}
        self._lock = threading.Lock()  # the suite's peers are steps in threads of their own

    def __call__(self, what: str, done: int, total: int) -> None:
        """Shows the progress of the step ``what``."""
        if not self._shown:  # rich's bars need not be loaded
            return
        with self._lock:
            if self._bars is None:
                self._bars = _make_bars()
                self._bars.start()
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(shown(what), total=total)
        self._bars.update(self._tasks[what], completed=done)

    def __exit__(self, *error: object) -> None:
        if self._bars is not None:
            self._bars.stop()


def _make_bars() -> Bars:
    """Makes progress bars that count bytes or items."""
    from rich import progress

    class Amount(progress.ProgressColumn):
        _bytes, _number = progress.DownloadColumn(), progress.MofNCompleteColumn()

        def render(self, task: Task) -> RenderableType:
            return (self._bytes if task.description == COPYING else self._number).render(task)

    columns = (progress.TextColumn("{task.description}", markup=False), progress.BarColumn(), Amount())
    return progress.Progress(*columns, progress.TimeElapsedColumn(), console=make_console(stderr=True), transient=True)
