"""``padops convert`` of a folder: every model in it, several at a time, with one report.

Each model is converted as it would be alone. One that cannot be converted is named, and the others go on; so they do where
a process dies, since the models that it may have had are tried again, each in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.cli.folder_summary import Outcome, finish
from padops.cli.parsing import typed
from padops.files.interrupts import end_process, exit_code
from padops.files.streams import STREAM
from padops.files.targets import Identity, identity
from padops.terminal import fail, make_console, say

if TYPE_CHECKING:
    from rich.console import Console

SUFFIX = ".onnx"
DIED = "the process that converted it died"

Job = tuple[str, str | None, dict[str, Any]]  # of one model: its file, the file to write, and the options


def convert_folder(options: argparse.Namespace, passed: dict[str, Any]) -> int:
    """Converts every model of a folder as the options say; ``passed`` are those that ``padops.convert`` has, too.

    Returns:
        The worst of the exit codes that the models would have alone.
    """
    source = Path(options.source)
    if options.inputs is not None:
        options.usage_error("--inputs needs one model, but IN is a folder")
    if STREAM in (options.output, options.report):
        options.usage_error(f"{STREAM} takes one model, or its report, but IN is a folder")
    if options.output is not None and os.path.isfile(options.output):
        options.usage_error(f"OUT is a file ({options.output}), but IN is a folder ({source})")
    jobs = _jobs(options, passed, source)
    why = None if jobs else f"{source} has no {SUFFIX} file in it"
    if why := why or _report_refusal(options.report, jobs):
        return fail(why)
    console = make_console(options.quiet)
    before = {source: _written(source, output) for source, output, _ in jobs}
    done: list[Outcome] = []
    finished: dict[str, Outcome] = {}
    try:
        with (
            _without_empty_folders(jobs),
            _progress(console, len(jobs)) as advance,
            closing(_outcomes(jobs, min(options.jobs, len(jobs)), finished)) as outcomes,
        ):
            for outcome in outcomes:
                done.append(outcome)
                finished[outcome["source"]] = outcome
                advance(outcome)
    except (KeyboardInterrupt, SystemExit) as ending:
        converted = _converted(jobs, before, finished)
        print(f"interrupted; {converted} of {len(jobs)} converted, none half-written", file=sys.stderr)
        return exit_code(ending)
    return finish(options, console, done)


def _written(source: str, output: str | None) -> Identity | None:
    """The file that a conversion writes, as it is now; where it writes none, the source stays as it is."""
    return identity(Path(output or source))


def _converted(jobs: Sequence[Job], before: dict[str, Identity | None], finished: dict[str, Outcome]) -> int:
    """How many models are converted; a process that was ended may not have said what it wrote."""
    told = {source for source, outcome in finished.items() if outcome["exit"] == 0}
    new = {source for source, output, _ in jobs if _written(source, output) not in (None, before[source])}
    return len(told | new)


def _report_refusal(named: str | None, jobs: Sequence[Job]) -> str | None:
    """What to tell where the report cannot be written, or would take the place of a model; else None."""
    from padops.files.targets import refusal

    if named is None:
        return None
    try:
        if why := refusal([Path(named)]):
            return why
    except OSError as error:
        return f"cannot write {named}: {error.strerror}"
    real = os.path.realpath(named)
    for source, output, _ in jobs:
        for path, what in ((source, "to be converted"), (output, "to be written")):
            if path is not None and os.path.realpath(path) == real:
                return f"cannot write {named}: it is {path}, a model {what}; name another --report"
    if not real.lower().endswith(".json"):  # models' data have any other name
        return (
            f"cannot write {named}: --report of a folder needs a name with .json, so that it replaces no model's data"
        )
    return None


@contextmanager
def _without_empty_folders(jobs: Sequence[Job]) -> Iterator[None]:
    """Takes away at the end what folders of outputs have come about and are empty: those of models that failed."""
    folders = {folder for _, output, _ in jobs if output is not None for folder in Path(output).parents}
    missing = [folder for folder in folders if not os.path.lexists(folder)]
    try:
        yield
    finally:
        for folder in sorted(missing, key=lambda folder: len(folder.parts), reverse=True):
            with suppress(OSError):  # it was not made, or has files
                folder.rmdir()


def models_in(folder: Path) -> list[Path]:
    """The models in a folder and in those inside it."""
    return [path for path in sorted(folder.rglob(f"*{SUFFIX}")) if path.is_file()]


def _jobs(options: argparse.Namespace, passed: dict[str, Any], source: Path) -> list[Job]:
    """What there is to do; outputs of a run before that lie inside the source are no part of it."""
    passed = {name: value for name, value in passed.items() if name not in ("report", "inputs")}
    output = None if options.output is None else Path(options.output)
    found = models_in(source)
    if output is not None and source.resolve() in output.resolve().parents:
        found = [path for path in found if not path.resolve().is_relative_to(output.resolve())]
    return [(str(path), None if output is None else str(output / path.relative_to(source)), passed) for path in found]


def _outcomes(jobs: Sequence[Job], count: int, finished: dict[str, Outcome]) -> Generator[Outcome, None, None]:
    """What became of each model, in order, ``count`` at a time; ``finished`` receives it by the source, as soon as it is known."""
    if count == 1:
        yield from (convert_one(*job) for job in jobs)
        return
    waiting = list(jobs)
    while waiting:
        with _pool(count) as pool:
            futures = [pool.submit(_work, *job) for job in waiting]
            for future in futures:
                future.add_done_callback(partial(_note, finished))
            for future in futures:
                try:
                    yield future.result()
                    waiting.pop(0)
                except BrokenProcessPool:
                    break
        # One of them may have ended its process: it is among the first that have not finished, which were at work.
        left = [job for job in waiting if job[0] not in finished]
        suspects = left[:count]
        for job in waiting:
            if job[0] in finished:
                yield finished[job[0]]
            elif job in suspects:
                yield _alone(job)
        waiting = left[count:]


def _note(finished: dict[str, Outcome], future: Future[Outcome]) -> None:
    """Keeps the outcome of a process that has not died."""
    if not future.cancelled() and future.exception() is None:
        outcome = future.result()
        finished[outcome["source"]] = outcome


def _alone(job: Job) -> Outcome:
    """What becomes of a model that may end its process."""
    with _pool(1) as pool:
        try:
            return pool.submit(_work, *job).result()
        except BrokenProcessPool:
            return _outcome(job[0], None, exit=1, error=DIED, text=f"error: {DIED}")


@contextmanager
def _pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """Processes; all of them have ended afterwards, also where this one is interrupted."""
    context = multiprocessing.get_context("spawn")
    # A process leaves Ctrl-C to the one that started it; while it waits for work, SIGTERM ends it as usual.
    ignore = (signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=signal.signal, initargs=ignore)
    try:
        yield pool
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _work(source: str, output: str | None, passed: dict[str, Any]) -> Outcome:
    """``convert_one`` in a process of its own: on SIGTERM it takes away what is half written, and ends."""
    before = signal.signal(signal.SIGTERM, end_process)
    try:
        return convert_one(source, output, passed)
    except SystemExit as end:
        os._exit(int(end.code or 0))  # the pool would keep an exception, and this process would live on
    finally:
        signal.signal(signal.SIGTERM, before)


def _outcome(source: str, output: str | None, **more: Any) -> Outcome:
    """The outcome of one model, of which all has gone well but for what ``more`` says."""
    return {"source": source, "output": output, "exit": 0, "error": None, "warning": None, "text": ""} | more


def convert_one(source: str, output: str | None, passed: dict[str, Any]) -> Outcome:
    """Converts one model; what goes wrong is part of the outcome.

    Args:
        source: The file.
        output: The file to write, or None.
        passed: The options.
    """
    from padops.cli.endings import reservations, what_was_written
    from padops.convert import PadopsError, convert

    told = _outcome(source, output)
    try:
        if output is not None and not passed["dry_run"]:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
        conversion = convert(source, output, **passed)
    except OSError as error:
        told.update(exit=1, output=None, error=f"cannot write {error.filename}: {error.strerror}")
    except PadopsError as error:
        found = getattr(error, "conversion", None)
        told.update(exit=error.exit_code, output=None, error=typed(error))
        told |= {} if found is None else {"report": _report(found)}
    else:
        written = what_was_written(conversion, output, passed["dry_run"])
        code, why = reservations(conversion)
        parts = [*([f"warning: {why}"] if code else []), conversion.summary(), written]
        return told | {"exit": code, "warning": why or None, "text": "; ".join(parts), "report": _report(conversion)}
    return told | {"text": f"error: {told['error']}"}


def _report(conversion: Any) -> dict[str, Any]:
    """The report of one model, without what is the same for all."""
    report: dict[str, Any] = conversion.to_json()
    return {name: value for name, value in report.items() if name not in ("schema", "versions")}


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Any]:
    """A line for each model that is done, and where somebody is looking a bar below them."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    from padops.lines import Text

    columns = ("converting", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)

        def advance(outcome: Outcome) -> None:
            if outcome["exit"]:
                say(f"{outcome['source']}: {outcome['text']}", stderr=True)
            else:
                console.print(Text(f"{outcome['source']}: {outcome['text']}"), soft_wrap=True)
            bar.advance(task)

        yield advance
