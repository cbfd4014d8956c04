"""Tables of sessions, each compared with a baseline: for the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from padops.bench.runner import Measurement, Placed
from padops.bench.tables import by_threads, by_workload, facts, merged, print_rows

if TYPE_CHECKING:
    from rich.console import Console

STOCK, PROCESSOR = "stock", "processor"  # the baselines of --provider and of --providers
FAILURES = ("refused: ", "wrong: ")
_SHORT = 10e-6  # seconds below which a time is shown in ns
_TOLD = 200  # the last characters of a failure that the terminal shows: they have the reason


@dataclass(frozen=True)
class Form:
    """The tables of what one option measures."""

    title: str
    workload: str  # the title of the first column on the terminal
    head: str  # of the first column in Markdown, where ``{threads}`` stands for the numbers of threads
    baseline: str
    columns: tuple[str, ...]
    cells: Callable[[Sequence[Measurement]], dict[tuple[str, str], list[str]]]  # by workload and implementation

    def print_table(self, console: Console, results: Sequence[Measurement], threads: int) -> None:
        """Prints the table of one number of threads; below it, why some sessions could not be timed."""
        shown = [
            (
                [workload if implementation == self.baseline else "", implementation, *row],
                implementation == self.baseline,
            )
            for (workload, implementation), row in self.cells(results).items()
        ]
        print_rows(console, threads, self.title, ([self.workload, "by"], self.columns), shown)
        for result in results:
            if isinstance(result, Placed) and result.failure:
                kind, _, why = result.failure.partition(": ")
                why = why if len(why) <= _TOLD else f"…{why[-_TOLD:]}"
                line = f"{result.workload}, {result.implementation}: {kind}: {why}"
                console.print(line, highlight=False, markup=False, soft_wrap=True)

    def markdown(self, results: Sequence[Measurement], machine: Mapping[str, str]) -> str:
        """One table of all numbers of threads, which share a cell: ``1.20 / 2.10``."""
        head = self.head.format(threads=" / ".join(map(str, by_threads(results))))
        return "\n".join([facts(machine), "", *merged(results, head, self.columns, self.cells)]) + "\n"


def _of_provider(results: Sequence[Measurement]) -> dict[tuple[str, str], list[str]]:
    """The time, its spread, and how it compares with stock: as a multiple, and as a difference."""
    made = {}
    for workload, row in by_workload(results).items():
        stock = row[STOCK].median
        unit, factor, digits = ("ns", 1e9, 0) if stock < _SHORT else ("ms", 1e3, 3)
        for implementation, taken in row.items():
            time, spread, more = (
                f"{seconds * factor:{sign}.{digits}f} {unit}"
                for seconds, sign in ((taken.median, ""), (taken.spread, ""), (taken.median - stock, "+"))
            )
            compared = ["", ""] if implementation == STOCK else [f"{taken.median / stock:.2f}", more]
            made[workload, implementation] = [time, spread, *compared]
    return made


def _beside(results: Sequence[Measurement]) -> dict[tuple[str, str], list[str]]:
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


OF_PROVIDER = Form(
    "unmodified models against stock onnxruntime", "measured", "{threads} threads", STOCK,
    ("time", "±", "× stock", "more"), _of_provider,
)  # fmt: skip
BESIDE = Form(
    "networks on the providers", "network", "network", PROCESSOR,
    ("parts", "Memcpys", "nodes elsewhere", "time", "±", "× processor"), _beside,
)  # fmt: skip


def form_of(results: Sequence[Measurement]) -> Form | None:
    """The form of measurements of ``padops bench --provider`` or ``--providers``; None of workloads and models."""
    if any(isinstance(result, Placed) for result in results):
        return BESIDE
    return OF_PROVIDER if any(result.implementation == STOCK for result in results) else None
