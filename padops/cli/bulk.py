"""``padops convert`` of a folder: every model in it, several at a time, with one report.

padops converts each model as it would alone. It names each model that fails, and continues with the others. If a
process dies, padops tries its possible models again, each in a separate process.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from padops.cli.parsing import SUFFIXES, models_in, typed
from padops.cli.reports import nameless
from padops.exits import DIFFERENT, DONE, ERROR, LEFT, UNDECIDED, USAGE
from padops.files.interrupts import end_process, exit_code
from padops.files.streams import STREAM
from padops.files.targets import Identity, identity
from padops.plural import plural
from padops.terminal import fail, line, make_console, say

if TYPE_CHECKING:
    from rich.console import Console

DIED = "the process that converted it died"
WORST_FIRST = (DIFFERENT, ERROR, USAGE, LEFT, UNDECIDED, DONE)  # exit codes; a wrong result is worse than none
NOT_VERIFIED = "not verified"  # the conversion failed before its verification
VERDICTS = ("proved", "tested", "different", "unknown", NOT_VERIFIED)

Outcome = dict[str, Any]  # one model: source, output, exit, error, warning, text, and the report of its conversion
Job = tuple[str, str | None, dict[str, Any]]  # one model: its file, the file to write, and the options


def convert_folder(options: argparse.Namespace, passed: dict[str, Any]) -> int:
    """Converts every model of a folder; returns the worst exit code. ``passed``: the options of ``padops.convert``."""
    source = Path(options.source)
    if options.inputs is not None:
        options.usage_error("--inputs needs one model, but IN is a folder")
    if STREAM in (options.output, options.report):
        options.usage_error(f"{STREAM} can take one model or one model's report, but IN is a folder")
    if options.output is not None and os.path.isfile(options.output):
        options.usage_error(f"OUT is a file ({options.output}), but IN is a folder ({source})")
    jobs = _jobs(options, passed, source)
    why = None if jobs else f"{source} has no {' or '.join(SUFFIXES)} file in it"
    if why := why or _report_refusal(options.report, jobs, options.usage_error):
        return fail(why)
    console = make_console(options.quiet)
    before = {source: _written(source, output) for source, output, _ in jobs}
    done: list[Outcome] = []
    finished: dict[str, Outcome] = {}
    try:
        with (
            _without_empty_folders(jobs),
            _progress(console, len(jobs)) as advance,
            closing(_outcomes(jobs, min(options.jobs or 1, len(jobs)), finished)) as outcomes,
        ):
            for outcome in outcomes:
                done.append(outcome)
                finished[outcome["source"]] = outcome
                advance(outcome)
    except (KeyboardInterrupt, SystemExit) as ending:
        converted = _converted(jobs, before, finished)
        print(f"interrupted; {converted} of {len(jobs)} converted, none half-written", file=sys.stderr)
        return exit_code(ending)
    return _finish(options, console, done)


def _written(source: str, output: str | None) -> Identity | None:
    """Returns the identity of the file that a conversion writes: the output, or the source without an output."""
    return identity(Path(output or source))


def _converted(jobs: Sequence[Job], before: dict[str, Identity | None], finished: dict[str, Outcome]) -> int:
    """Counts the converted models. Changed files count too: a dead process may not have reported its last model."""
    told = {source for source, outcome in finished.items() if outcome["exit"] == 0}
    new = {source for source, output, _ in jobs if _written(source, output) not in (None, before[source])}
    return len(told | new)


def _report_refusal(named: str | None, jobs: Sequence[Job], usage_error: Callable[[str], NoReturn]) -> str | None:
    """Returns why the report cannot be written, else None; exits with 2 if it might replace a model or its data."""
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
                same = "" if path == named else f"{path}, "
                usage_error(f"{named} is {same}a model {what}; name another --report")
    if not real.lower().endswith(".json"):  # files of external data can have any other name
        usage_error(f"{named}: for a folder, --report must end with .json, so that it replaces no model's data")
    return None


@contextmanager
def _without_empty_folders(jobs: Sequence[Job]) -> Iterator[None]:
    """Removes at the end the new output folders that stayed empty because their models failed."""
    folders = {folder for _, output, _ in jobs if output is not None for folder in Path(output).parents}
    missing = [folder for folder in folders if not os.path.lexists(folder)]
    try:
        yield
    finally:
        for folder in sorted(missing, key=lambda folder: len(folder.parts), reverse=True):
            with suppress(OSError):  # the folder was not made, or has files
                folder.rmdir()


def _jobs(options: argparse.Namespace, passed: dict[str, Any], source: Path) -> list[Job]:
    """Returns a job for each model of the source, except models of earlier runs in an output folder inside it."""
    passed = {name: value for name, value in passed.items() if name not in ("report", "inputs")}
    output = None if options.output is None else Path(options.output)
    found = models_in(source)
    if output is not None and source.resolve() in output.resolve().parents:
        found = [path for path in found if not path.resolve().is_relative_to(output.resolve())]
    jobs: list[Job] = []
    taken = {path for path in found if path.suffix.lower() == ".onnx"}
    for path in found:
        named = path if path in taken else path.with_suffix(".onnx")  # an IR becomes an ONNX model
        named = path.with_name(f"{path.name}.onnx") if named in taken and named != path else named
        taken.add(named)
        jobs.append((str(path), None if output is None else str(output / named.relative_to(source)), passed))
    return jobs


def _outcomes(jobs: Sequence[Job], count: int, finished: dict[str, Outcome]) -> Generator[Outcome, None, None]:
    """Yields the outcome of each model, in order; converts ``count`` at a time.

    ``finished`` receives each outcome, by source, as soon as it is known.
    """
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
        # If a process died, its model is one of the first ``count`` unfinished models, which were in progress.
        left = [job for job in waiting if job[0] not in finished]
        suspects = left[:count]
        for job in waiting:
            if job[0] in finished:
                yield finished[job[0]]
            elif job in suspects:
                yield _alone(job)
        waiting = left[count:]


def _note(finished: dict[str, Outcome], future: Future[Outcome]) -> None:
    """Stores the outcome of a model whose process has not died."""
    if not future.cancelled() and future.exception() is None:
        outcome = future.result()
        finished[outcome["source"]] = outcome


def _alone(job: Job) -> Outcome:
    """Converts a model that may crash its process."""
    with _pool(1) as pool:
        try:
            return pool.submit(_work, *job).result()
        except BrokenProcessPool:
            return _outcome(job[0], None, exit=1, error=DIED, text=f"error: {DIED}")


@contextmanager
def _pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes; the context ends all of them, even if a signal interrupts this process."""
    context = multiprocessing.get_context("spawn")
    # Workers leave Ctrl-C to the process that started them; SIGTERM ends a waiting worker as usual.
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
    """``convert_one`` in a process of its own: on SIGTERM, removes half-written files and exits."""
    before = signal.signal(signal.SIGTERM, end_process)
    try:
        return convert_one(source, output, passed)
    except SystemExit as end:
        os._exit(int(end.code or 0))  # the pool would keep an exception, and this process would live on
    finally:
        signal.signal(signal.SIGTERM, before)


def _outcome(source: str, output: str | None, **more: Any) -> Outcome:
    """The outcome of one model: a success, except for the fields of ``more``."""
    return {"source": source, "output": output, "exit": 0, "error": None, "warning": None, "text": ""} | more


def convert_one(source: str, output: str | None, passed: dict[str, Any]) -> Outcome:
    """Converts one model; an error becomes part of the outcome."""
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
    return told | {"text": f"error: {nameless(source, told['error'])}"}


def _report(conversion: Any) -> dict[str, Any]:
    """The report of one model, without the fields that are the same for all."""
    report: dict[str, Any] = conversion.to_json()
    return {name: value for name, value in report.items() if name not in ("schema", "versions")}


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Any]:
    """Prints a line for each finished model and, on a terminal, a bar below the lines."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("converting", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)

        def advance(outcome: Outcome) -> None:
            if outcome["exit"]:
                say(f"{outcome['source']}: {outcome['text']}", stderr=True)
            else:
                line(console, f"{outcome['source']}: {outcome['text']}")
            bar.advance(task)

        yield advance


def _finish(options: argparse.Namespace, console: Console, done: Sequence[Outcome]) -> int:
    """Prints a summary of a folder's conversions, writes the report, and returns the worst exit code."""
    from padops.convert.records import SCHEMA
    from padops.files.staging import write_whole
    from padops.runtime.installed import versions

    code = next(code for code in WORST_FIRST if any(outcome["exit"] == code for outcome in done))
    failed = sum(outcome["error"] is not None for outcome in done)
    counts: Counter[str] = Counter()
    for outcome in done:
        counts.update(outcome.get("report", {}).get("counts", {}))
    pads = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    told = [(one, one["report"]) for one in done if "report" in one and not one["exit"]]
    if lacking := sum(pad["op_type"] in report["no_fallback"] for _, report in told for pad in report["pads"]):
        pads += f", {lacking} without a fallback"
    counted = f"{plural(len(done), 'model')}, {failed} failed; {plural(sum(counts.values()), 'Pad')}"
    line(console, counted + (f": {pads}" if pads else ""))
    for one, report in told:
        for lack in report["no_fallback"].values():
            say(f"{one['source']}: warning: {lack}", stderr=True)
    verdicts: dict[str, list[Outcome]] = {verdict: [] for verdict in VERDICTS}
    for one in done:
        verdicts[(one.get("report", {}).get("verification") or {"verdict": NOT_VERIFIED})["verdict"]].append(one)
    if options.verify:
        counted = ", ".join(f"{len(models)} {verdict}" for verdict, models in verdicts.items())
        line(console, f"verification: {counted}")
        for verdict, models in verdicts.items():
            for one in models:
                if why := (one["error"] or one["warning"] or "").removeprefix(f"{NOT_VERIFIED}: "):
                    line(console, f"  {one['source']}  {verdict}: {why}")
    if options.report is not None:
        files = [{name: value for name, value in outcome.items() if name != "text"} for outcome in done]
        report = {"schema": SCHEMA, "versions": versions(), "exit": code, "counts": dict(counts), "files": files}
        if options.verify:
            report["verification"] = {verdict: len(models) for verdict, models in verdicts.items()}
        try:
            write_whole(Path(options.report), [json.dumps(report, indent=2, ensure_ascii=False) + "\n"])
        except OSError as error:
            return fail(f"cannot write {options.report}: {error.strerror}", code or 1)
    return code
