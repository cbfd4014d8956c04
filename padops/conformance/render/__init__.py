"""Reports of a run, from a summary: Markdown for people, JUnit XML for CI, and one HTML page, a file each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from padops.conformance import record
from padops.conformance.divergences import KNOWN
from padops.conformance.render.html import html
from padops.conformance.render.junit import junit
from padops.conformance.render.markdown import markdown
from padops.conformance.render.summary import summarise
from padops.exits import USAGE
from padops.files.staging import write_whole
from padops.files.targets import refusal
from padops.terminal import fail, say

FORMS = {"markdown": markdown, "junit": junit, "html": html}
FILES = {"markdown": "report.md", "junit": "junit.xml", "html": "report.html"}


def prepare(folder: Path) -> str | None:
    """Make the folder of a report; return why a report cannot be written there, or None."""
    folder.mkdir(parents=True, exist_ok=True)
    return refusal(folder / name for name in (record.FILE, *FILES.values()))


def write_all(report: record.Record, folder: Path, divergences: Iterable[Any] = KNOWN) -> list[Path]:
    """Write every form of a report into an existing folder, and return the files; each is whole or absent."""
    summary = summarise(report, divergences)
    texts = {folder / FILES[form]: render(summary) for form, render in FORMS.items()}
    for path, text in texts.items():
        write_whole(path, [text])
    return list(texts)


def show(options: argparse.Namespace) -> int:
    """Print a form of a report, or write all of them into a folder."""
    if options.format and options.folder:
        return fail("--format is for standard output, but --out writes every form", USAGE)
    try:
        report = record.read(options.file)
        if options.folder:
            if why := prepare(Path(options.folder)):
                return fail(why)
            say(*write_all(report, Path(options.folder)))
            return 0
        text = FORMS[options.format or "markdown"](summarise(report))
    except (OSError, record.RecordError) as error:
        return fail(error)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:  # a field is wrong
        return fail(f"{options.file}: not a report: {type(error).__name__}: {error}")
    sys.stdout.write(text)
    return 0
