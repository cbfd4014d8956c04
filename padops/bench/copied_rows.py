"""``padops bench --copies``: the copies that padops can choose from, on rows of several lengths."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from padops.runtime.library import get_library_path

if TYPE_CHECKING:
    from rich.console import Console

COPIES = ("baseline", "avx2", "string", "libc", "chosen")
RUNS = (256, 1024, 2560, 8192, 16384, 65536, 960_000)  # bytes of a row
TOTALS = (200_000, 3_840_000, 12_000_000)  # bytes of all rows: within the caches of a core, and of the processor
GAPS = (0, 4)  # bytes between two rows of the target: aligned as the source, and not
SECONDS = 0.02  # for one number


@dataclass(frozen=True)
class CopiedRows:
    """Rows that are copied.

    Attributes:
        run: Bytes of a row.
        total: Bytes of all rows.
        gap: Bytes between two rows of the target.
    """

    run: int
    total: int
    gap: int


def time_copies(progress: Callable[[str], None] = lambda name: None) -> dict[CopiedRows, dict[str, float]]:
    """Bytes a second of each copy on each kind of rows.

    Raises:
        ValueError: ``PADOPS_COPY`` names no copy.
    """
    time = ctypes.CDLL(get_library_path()).padops_time_copy
    time.restype = ctypes.c_double
    time.argtypes = [ctypes.c_char_p, *[ctypes.c_int64] * 4]
    results = {}
    for rows in (CopiedRows(run, total, gap) for run in RUNS for total in TOTALS for gap in GAPS if run <= total):
        progress(f"rows of {rows.run} bytes, {rows.total} in all")
        copied = rows.total // rows.run * rows.run
        results[rows] = {name: copied / _seconds(time, name, rows) for name in COPIES}
    return results


def _seconds(time: Callable[..., float], name: str, rows: CopiedRows) -> float:
    """The better median of two: in between, what is measured next to it has had its turn."""
    numbers = (rows.run, rows.total, rows.gap)
    once = time(name.encode(), *numbers, 3)
    if once < 0:
        raise ValueError(f"the library cannot time the copy {name!r}; is PADOPS_COPY baseline, avx2 or string?")
    rounds = max(3, int(SECONDS / max(once, 1e-7)))
    return min(time(name.encode(), *numbers, rounds) for _ in range(2))


def print_copies(console: Console, results: Mapping[CopiedRows, Mapping[str, float]]) -> None:
    """A table in GB/s; the last column is how fast the choice is, as a multiple of the best."""
    from rich.table import Table

    forced = os.environ.get("PADOPS_COPY")
    chosen = f"as PADOPS_COPY={forced} says" if forced else "for this processor"
    table = Table(title=f"GB/s of copied rows (row, total and gap in bytes); chosen {chosen}", box=None)
    for heading in ("row", "total", "gap", *COPIES, "chosen / best"):
        table.add_column(heading, justify="right")
    for rows, speeds in results.items():
        shown = [f"{speeds[name] / 1e9:.1f}" for name in COPIES]
        best = max(speeds[name] for name in COPIES if name != "chosen")
        table.add_row(f"{rows.run:,}", f"{rows.total:,}", str(rows.gap), *shown, f"{speeds['chosen'] / best:.2f}")
    console.print(table)
