"""Tables of networks on execution providers, for the terminal and in Markdown: the number of parts, and the time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from padops.bench.runner import Measurement
from padops.bench.tables import by_workload, facts, merged, print_rows

if TYPE_CHECKING:
    from rich.console import Console

PROCESSOR = "processor"  # the baseline
FAILURES = ("refused: ", "wrong: ")
_TOLD = 200  # the last characters of a failure that the terminal shows: they have the reason
COLUMNS = ("parts", "Memcpys", "nodes elsewhere", "time", "±", "× processor")


@dataclass(frozen=True)
class Placed(Measurement):
    """One network in a session with execution providers.

    Attributes:
        parts: The number of parts in which the providers run it; see ``placement.Placement``.
        copies: Memcpys between a device and the CPU.
        elsewhere: Nodes that the CPU's provider and padops run.
        failure: ``"refused: "`` or ``"wrong: "`` with the reason if nothing could be timed; then all numbers are 0.
    """

    parts: int
    copies: int
    elsewhere: int
    failure: str


def is_beside(results: Iterable[Measurement]) -> bool:
    """Whether these are measurements of ``padops bench --providers``."""
    return any(isinstance(result, Placed) for result in results)


def cells(results: Sequence[Measurement]) -> dict[tuple[str, str], list[str]]:
    """The cells of ``COLUMNS``, by network and implementation."""
    made = {}
    for workload, row in by_workload(results).items():
        processor = row[PROCESSOR].median
        for implementation, taken in row.items():
            assert isinstance(taken, Placed)
            if taken.failure:
                made[workload, implementation] = ["", "", "", taken.failure.partition(":")[0], "", ""]
                continue
            counted = [str(taken.parts), str(taken.copies), str(taken.elsewhere)]
            times = [f"{seconds * 1e3:.2f} ms" for seconds in (taken.median, taken.spread)]
            made[workload, implementation] = [*counted, *times, f"{taken.median / processor:.2f}"]
    return made


def print_table(console: Console, results: Sequence[Measurement], threads: int) -> None:
    """Prints the table of one number of threads; below it, why some sessions could not be timed."""
    shown = [
        ([workload if implementation == PROCESSOR else "", implementation, *row], implementation == PROCESSOR)
        for (workload, implementation), row in cells(results).items()
    ]
    print_rows(console, threads, "networks on the providers", (["network", "by"], COLUMNS), shown)
    for result in results:
        if isinstance(result, Placed) and result.failure:
            kind, _, why = result.failure.partition(": ")
            why = why if len(why) <= _TOLD else f"…{why[-_TOLD:]}"
            line = f"{result.workload}, {result.implementation}: {kind}: {why}"
            console.print(line, highlight=False, markup=False, soft_wrap=True)


def markdown(results: Sequence[Measurement], machine: Mapping[str, str]) -> str:
    """One table of all numbers of threads, which share a cell."""
    return "\n".join([facts(machine), "", *merged(results, "network", COLUMNS, cells)]) + "\n"
