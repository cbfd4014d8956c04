"""The summary of ``padops convert`` of a folder: what became of the models, their Pads, and the verifications."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.exits import DIFFERENT, DONE, ERROR, LEFT, UNDECIDED, USAGE
from padops.plural import plural
from padops.terminal import fail, say

if TYPE_CHECKING:
    from rich.console import Console

WORST_FIRST = (DIFFERENT, ERROR, USAGE, LEFT, UNDECIDED, DONE)  # exit codes; a wrong result is worse than none
NOT_VERIFIED = "not verified"  # the conversion failed before its verification
VERDICTS = ("proved", "tested", "different", "unknown", NOT_VERIFIED)

Outcome = dict[str, Any]  # one model: source, output, exit, error, warning, text, and the report of its conversion


def _verdict(outcome: Outcome) -> str:
    """The verdict of the verification of one model."""
    verification = outcome.get("report", {}).get("verification")
    return NOT_VERIFIED if verification is None else str(verification["verdict"])


def finish(options: argparse.Namespace, console: Console, done: Sequence[Outcome]) -> int:
    """Prints how the conversions of a folder came out, and writes the report.

    Args:
        options: The command's options, of which ``verify`` and ``report`` are used.

    Returns:
        The worst exit code of all models.
    """
    from padops.convert.records import SCHEMA
    from padops.files.staging import write_whole
    from padops.lines import Text
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
    line = f"{plural(len(done), 'model')}, {failed} failed; {plural(sum(counts.values()), 'Pad')}" + (
        f": {pads}" if pads else ""
    )
    console.print(Text(line), soft_wrap=True)
    for one, report in told:
        for lack in report["no_fallback"].values():
            say(f"{one['source']}: warning: {lack}", stderr=True)
    verdicts = {verdict: [one for one in done if _verdict(one) == verdict] for verdict in VERDICTS}
    if options.verify:
        counted = ", ".join(f"{len(models)} {verdict}" for verdict, models in verdicts.items())
        console.print(Text(f"verification: {counted}"), soft_wrap=True)
        for verdict, models in verdicts.items():
            for one in models:
                if why := (one["error"] or one["warning"] or "").removeprefix(f"{NOT_VERIFIED}: "):
                    console.print(Text(f"  {one['source']}  {verdict}: {why}"), soft_wrap=True)
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
