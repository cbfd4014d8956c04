"""Reports of a run, from a summary: Markdown for people, JUnit XML for CI, and one HTML page, a file each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from padops.conformance import record
from padops.conformance.divergences import KNOWN
from padops.conformance.render.summary import Record, Summary, summarise
from padops.exits import USAGE
from padops.files.staging import write_whole
from padops.files.targets import refusal
from padops.terminal import fail, say

FILES = {"markdown": "report.md", "junit": "junit.xml", "html": "report.html"}


def renderer(form: str) -> Callable[[Summary], str]:
    """Return the function for a form, a key of ``FILES``."""
    render: Callable[[Summary], str] = getattr(import_module(f"{__name__}.{form}"), form)
    return render


def write_all(
    header: Record, results: Iterable[Record], footer: Record, divergences: Iterable[Any], folder: Path | str
) -> list[Path]:
    """Write every form of a report into a folder, and return the files; each is whole or absent."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    summary = summarise(header, results, footer, divergences)
    texts = {folder / name: renderer(form)(summary) for form, name in FILES.items()}
    for path, text in texts.items():
        write_whole(path, [text])
    return list(texts)


def add_show(commands: Any) -> None:
    """Add ``show`` to the commands of ``padops conformance``."""
    parser = commands.add_parser("show", help="render a report again", description="Render a report of a run again.")
    parser.add_argument("file", metavar="FILE", help="a report, conformance.jsonl")
    parser.add_argument("--format", choices=tuple(FILES), help="what to print (default: markdown)")
    parser.add_argument("-o", "--out", metavar="DIR", help="write every form into this folder instead")
    parser.set_defaults(run=_show)


def _show(options: argparse.Namespace) -> int:
    if options.format and options.out:
        return fail("--format is for standard output, but --out writes every form", USAGE)
    try:
        report = record.read(options.file)
        if options.out:
            Path(options.out).mkdir(parents=True, exist_ok=True)
            if why := refusal(Path(options.out, name) for name in FILES.values()):
                return fail(why)
            for path in write_all(report.header, report.results, report.footer, KNOWN, options.out):
                say(path)
            return 0
        summary = summarise(report.header, report.results, report.footer, KNOWN)
        text = renderer(options.format or "markdown")(summary)
    except (OSError, record.RecordError) as error:
        return fail(error)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:  # a nested field is wrong
        return fail(f"{options.file}: not a report: {type(error).__name__}: {error}")
    sys.stdout.write(text)
    return 0


def prepare(folder: Path) -> str | None:
    """Make the folder of a report; return why a report cannot be written there, or None."""
    folder.mkdir(parents=True, exist_ok=True)
    return refusal(folder / name for name in (record.FILE, *FILES.values()))


def write_report(folder: Path, header: Record, results: Sequence[Record], footer: Record) -> None:
    """Write a report in every form into an existing folder."""
    record.write(folder / record.FILE, header, results, footer)
    write_all(header, results, footer, KNOWN, folder)
