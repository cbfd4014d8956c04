"""What a run of the suite prints: how far it is, and at its end how each peer did."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from padops.plural import plural
from padops.terminal import make_console, say, shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from padops.conformance.runner import PeerRun, Progress

SHOWN = 20  # unexpected results that are printed; those of a peer with one text count as one


@contextlib.contextmanager
def showing_progress() -> Iterator[Progress]:
    """A bar for each peer at work where somebody is looking, else a line for each that is done."""
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _print_when_done
        return
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bars:
        tasks = {}

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(shown(name), total=total)
            bars.update(tasks[name], completed=done, visible=done < total)

        yield show


def _print_when_done(name: str, done: int, total: int) -> None:
    if done == total:
        say(f"{name}: {plural(total, 'case', ',')}", stderr=True)


def show(ran: Sequence[PeerRun], footer: dict[str, Any]) -> None:
    """Prints counts per peer, which were absent, and what was not expected."""
    from padops.conformance.record import counts_of
    from padops.lines import Text

    console = make_console()
    console.print(_table([one for one in ran if one.handshake is not None]))
    _show_versions(console, ran)
    for one in ran:
        if one.handshake is None:
            text = Text(f"absent: {one.peer.name}: {' '.join(str(one.absent).split())}", "yellow")
            if console.is_terminal:
                console.print(text, no_wrap=True, overflow="ellipsis")
            else:
                console.print(text, soft_wrap=True)
    _show_results(console, [result for one in ran for result in one.results if result["unexpected"]], "red")
    for one in ran:
        for id in footer["stale"]:
            if id in one.stale:
                console.print(Text(f"{one.peer.name}: divergence {id} no longer occurs", "red"), soft_wrap=True)
    for one in ran:
        if one.recorded:
            _show_new(console, one, "red" if footer["strict"] else "yellow")
    console.print(counts_of(footer))


def _show_results(console: Console, found: Sequence[dict[str, Any]], style: str, indent: str = "") -> None:
    """The first results: of one peer indented, of several each with its peer; equal ones once, with their number."""
    from padops.lines import Text

    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for result in found:
        alike.setdefault((result["peer"], result["outcome"], result["detail"]), []).append(result)
    told = list(alike.values())[:SHOWN]
    for first, *others in told:
        where = first["case"] if indent else f"{first['peer']}: {first['case']}"
        count = f" (and in {plural(len(others), 'other case', ',')})" if others else ""
        console.print(Text(f"{indent}{where}: {first['outcome']}: {first['detail']}{count}", style), soft_wrap=True)
    if more := len(found) - sum(map(len, told)):
        console.print(f"{indent}… and {more:,} more")


def _show_new(console: Console, one: PeerRun, style: str) -> None:
    """What a peer does that has another version than the divergences were recorded with."""
    from padops.lines import Text

    found = [result for result in one.results if result["new"]]
    versions = (one.handshake or {"versions": {}})["versions"]
    package, version = next(iter(versions.items()), (one.peer.name, ""))
    counts = f"{len(found)} new, {len(one.gone)} known no longer seen"
    what = f"{package} {version} is not among the versions recorded ({one.recorded})"
    head = f"new behaviour: {one.peer.name}: {what}: {counts}; no failure of padops"
    console.print(Text(head, style), soft_wrap=True)
    _show_results(console, found, style, "  ")
    for id in one.gone:
        console.print(Text(f"  divergence {id} no longer occurs", style), soft_wrap=True)


def _table(ran: Sequence[PeerRun]) -> Table:
    """A row for each peer that was there: no more columns than 80 characters hold."""
    from rich.table import Table

    from padops.conformance.record import IDLE, WRONG
    from padops.lines import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("peer", overflow="fold")
    for title in ("cases", "agree", "wrong", "crash", "known", "unexpected", "not run", "s"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in ran:
        counts = Counter(result["outcome"] for result in one.results)
        known = sum(result["divergence"] is not None for result in one.results)
        unexpected = sum(result["unexpected"] for result in one.results)
        wrong = sum(counts[outcome] for outcome in WRONG) - counts["crash"]
        before = [len(one.results), counts["agree"], wrong, counts["crash"], known]
        behind = [sum(counts[outcome] for outcome in IDLE), round(one.seconds)]
        told = Text(str(unexpected), "red" if unexpected else "")
        table.add_row(Text(one.peer.name), *map(str, before), told, *map(str, behind))
    return table


def _show_versions(console: Console, ran: Sequence[PeerRun]) -> None:
    """The versions of what the peers are made of, each once."""
    from padops.lines import Text

    made_of = [one.handshake["versions"] for one in ran if one.handshake is not None]
    each = dict.fromkeys(f"{name} {version}" for versions in made_of for name, version in versions.items())
    if each:
        console.print(Text(f"with {', '.join(each)}", "dim"))
