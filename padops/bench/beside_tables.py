"""Networks on execution providers as tables: in how many parts each runs, and in what time, for the terminal and in Markdown."""

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
_TOLD = 200  # characters of a failure, on the terminal: the reason stands at its end
COLUMNS = ("parts", "Memcpys", "nodes elsewhere", "time", "±", "× processor")


@dataclass(frozen=True)
class Placed(Measurement):
    """One network in a session with execution providers.

    Attributes:
        parts: In how many parts the providers run it; see ``placement.Placement``.
        copies: Memcpys between a device and the processor.
        elsewhere: Nodes that the processor runs, padops' among them.
        failure: ``"refused: "`` or ``"wrong: "`` with the reason where nothing could be timed; all numbers are 0 then.
    """

    parts: int
    copies: int
    elsewhere: int
    failure: str


def is_beside(results: Iterable[Measurement]) -> bool:
    """Whether these are what ``padops bench --providers`` measured."""
    return any(isinstance(result, Placed) for result in results)


def cells(results: Sequence[Measurement]) -> dict[tuple[str, str], list[str]]:
    """The rows of the table: for each network and implementation what ``COLUMNS`` says."""
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
    """The table of one number of threads, on the terminal; below it why what could not be timed could not.

    Args:
        console: Where to print.
        results: The measurements with this number of threads.
        threads: The number, for the title.
    """
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
    """One table of all numbers of threads, which share a cell.

    Args:
        results: The measurements.
        machine: What ``describe_machine`` says.
    """
    return "\n".join([facts(machine), "", *merged(results, "network", COLUMNS, cells)]) + "\n"
