"""``padops convert`` of a folder: converts every model in the folder; ``--report`` writes one report.

``--jobs`` converts several models at a time, in processes that run this file: if a process crashes, only its current
model fails.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from padops.cli.parsing import SUFFIXES, models_in, typed
from padops.exits import ERROR, WORST_FIRST
from padops.files.interrupts import end_process, exit_code
from padops.files.staging import refusal, write_whole
from padops.files.streams import STREAM
from padops.plural import plural
from padops.processes import Pickled, serve
from padops.terminal import fail, say

PROGRAM = ("-m", "padops.cli.bulk")
NOT_VERIFIED = "not verified"  # the conversion failed before its verification
VERDICTS = ("proved", "tested", "different", "unknown", NOT_VERIFIED)

Outcome = dict[str, Any]  # one model: source, output, exit, error, warning, text, and the report of its conversion
Job = tuple[str, str | None, dict[str, Any]]  # one model: its file, the file to write, and the options


def convert_folder(options: argparse.Namespace, passed: dict[str, Any]) -> int:
    """Converts every model of a folder; returns the worst exit code; ``passed`` has options of ``padops.convert``."""
    source = Path(options.source)
    if options.inputs is not None:
        options.usage_error("--inputs needs one model, but IN is a folder")
    if STREAM in (options.output, options.report):
        options.usage_error(f"{STREAM} works for one model only, but IN is a folder; name a file or a folder")
    if options.output is not None and os.path.isfile(options.output):
        options.usage_error(f"OUT is a file ({options.output}), but IN is a folder ({source})")
    if options.report and not os.path.realpath(options.report).lower().endswith(".json"):
        options.usage_error(f"{options.report}: for a folder, --report must end with .json: other files may be models")
    try:
        jobs = _jobs(options, passed, source)
    except OSError as error:
        return fail(error)
    why = None if jobs else f"{source} has no {' or '.join(SUFFIXES)} file in it"
    if why := why or refusal([options.report and Path(options.report)]):
        return fail(why)
    outputs = [Path(output) for _, output, _ in jobs if output is not None]
    missing = {folder for output in outputs for folder in output.parents if not os.path.lexists(folder)}
    done: list[Outcome] = []
    try:
        with closing(_outcomes(jobs, min(options.jobs or 1, len(jobs)))) as outcomes:
            for outcome in outcomes:
                done.append(outcome)
                if outcome["exit"] or not options.quiet:
                    say(f"{outcome['source']}: {outcome['text']}", stderr=bool(outcome["exit"]))
    except (KeyboardInterrupt, SystemExit) as ending:
        converted = sum(not outcome["exit"] for outcome in done)
        print(f"interrupted; {converted} of {len(jobs)} converted, none half-written", file=sys.stderr)
        return exit_code(ending)
    finally:
        for folder in sorted(missing, reverse=True):  # a folder before its parent
            with suppress(OSError):  # it was not made, or has files
                folder.rmdir()
    order = {job[0]: number for number, job in enumerate(jobs)}
    return _finish(options, sorted(done, key=lambda outcome: order[outcome["source"]]))


def _jobs(options: argparse.Namespace, passed: dict[str, Any], source: Path) -> list[Job]:
    """Returns a job for each model in the source folder, but skips an output folder inside the source folder."""
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


def _outcomes(jobs: Sequence[Job], count: int) -> Generator[Outcome, None, None]:
    """Yields each model's outcome as soon as it is known; uses ``count`` parallel processes if ``count`` > 1."""
    if count == 1:
        yield from (convert_one(*job) for job in jobs)
        return
    own = threading.local()
    processes: list[Pickled] = []

    def convert_in_process(job: Job) -> Outcome:
        if getattr(own, "process", None) is None or own.process.gone:
            own.process = Pickled("the process that converted it", math.inf, PROGRAM)
            processes.append(own.process)
        try:
            outcome: Outcome = own.process.ask(job)
            return outcome
        except RuntimeError as error:
            return _outcome(job[0], ERROR, error=str(error))

    with ThreadPoolExecutor(count) as threads:
        try:
            futures = [threads.submit(convert_in_process, job) for job in jobs]
            yield from (future.result() for future in as_completed(futures))
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


def convert_one(source: str, output: str | None, passed: dict[str, Any]) -> Outcome:
    """Converts one model; an error becomes part of the outcome."""
    from padops.cli.tables import reservations, what_was_written
    from padops.convert import PadopsError, convert

    try:
        if output is not None and not passed["dry_run"]:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
        conversion = convert(source, output, **passed)
    except OSError as error:
        return _outcome(source, ERROR, error=f"cannot write {error.filename}: {error.strerror}")
    except PadopsError as error:
        return _outcome(source, error.exit_code, getattr(error, "conversion", None), error=typed(error))
    code, warning = reservations(conversion)
    parts = [f"warning: {warning}"] * bool(code) + [conversion.summary(), what_was_written(conversion)]
    return _outcome(source, code, conversion, output=output, warning=warning or None, text="; ".join(parts))


def _outcome(source: str, code: int, conversion: Any = None, error: str | None = None, **more: Any) -> Outcome:
    """Returns the outcome of one model; the outcome's report lacks the fields that are the same for all models."""
    report = {} if conversion is None else conversion.to_json()
    text = f"error: {(error or '').removeprefix(f'{source}: ')}"  # the line begins with the name
    told = {"source": source, "output": None, "exit": code, "error": error, "warning": None, "text": text} | more
    report = {name: value for name, value in report.items() if name not in ("schema", "versions")}
    return told | ({"report": report} if report else {})


def _finish(options: argparse.Namespace, done: Sequence[Outcome]) -> int:
    """Prints a summary of a folder's conversions, writes the report, and returns the worst exit code."""
    from padops.convert.records import SCHEMA
    from padops.runtime.installed import versions

    code = next(code for code in WORST_FIRST if any(outcome["exit"] == code for outcome in done))
    failed = sum(outcome["error"] is not None for outcome in done)
    counts: Counter[str] = Counter()
    verdicts = dict.fromkeys(VERDICTS, 0)
    for outcome in done:
        report = outcome.get("report", {})
        counts.update(report.get("counts", {}))
        verdicts[(report.get("verification") or {"verdict": NOT_VERIFIED})["verdict"]] += 1
        for lack in report.get("no_fallback", {}).values() if not outcome["exit"] else ():
            say(f"{outcome['source']}: warning: {lack}", stderr=True)
    if not options.quiet:
        pads = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        counted = f"{plural(len(done), 'model')}, {failed} failed; {plural(sum(counts.values()), 'Pad')}"
        say(counted + (f": {pads}" if pads else ""))
        if options.verify:
            say("verification: " + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    if options.report is not None:
        files = [{name: value for name, value in outcome.items() if name != "text"} for outcome in done]
        report = {"schema": SCHEMA, "versions": versions(), "exit": code, "counts": dict(counts), "files": files}
        report |= {"verification": verdicts} if options.verify else {}
        try:
            write_whole(Path(options.report), [json.dumps(report, indent=2, ensure_ascii=False) + "\n"])
        except OSError as error:
            return fail(f"cannot write {options.report}: {error.strerror}", code or 1)
    return code


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end_process)  # removes half-written files
    serve(lambda job: convert_one(*job))
