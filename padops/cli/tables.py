"""What commands found, as people read it: a few lines for each Pad, what verification found, what was written."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from padops.cli.endings import what_was_written
from padops.cli.verdicts import show_verification
from padops.convert.conversion import Conversion
from padops.convert.facts import Road, Verdict
from padops.convert.inspection import Inspection
from padops.convert.records import PadRecord
from padops.lines import Text
from padops.spec.dialects import OPS
from padops.terminal import show_wrapped

SHOWN_ALIKE = 20  # Pads of one form with one verdict for one reason, in a table
STYLES: dict[Verdict, str] = {
    "runs": "green",
    "runs if": "green",
    "may be wrong": "bold yellow",
    "unknown": "bold yellow",
}
ROADS: dict[Road, str] = {
    "session": "runs the model as it is, as padops run does; padops.register(options, provider=True) does that to options of yours",
    "memory": "converts what it has to in memory, and writes nothing; padops run does the same",
    "convert": "writes a model with operators of padops, and functions of standard ONNX for where padops is absent",
    "lower": "writes a model of standard operators alone, for any runtime",
}


def show(console: Console, conversion: Conversion) -> None:
    """What became of each Pad, in a few lines each, and what else there is to say."""
    for record in conversion.records:
        now, style = _now(record)
        console.print(Text.assemble(record.path, "  ", (now, style)), soft_wrap=True)
        what = "" if record.facts is None else f": {record.facts.what()}"
        show_wrapped(console, [f"{record.form}{what}", "; ".join(_why(record))])
    for note in conversion.notes:
        console.print(Text(note), soft_wrap=True)
    if conversion.verification is not None:
        show_verification(console, conversion.verification)


def show_inspection(console: Console, inspection: Inspection) -> None:
    """Each Pad in a few lines, and then what makes the model run."""
    name = str(inspection.path or "the model")
    console.print(Text(f"{name}: {inspection.summary()} ({inspection.runtime})"), soft_wrap=True)
    shown: Counter[tuple[str, ...]] = Counter()
    for pad in inspection.pads:
        shown[kind := (pad.form, pad.verdict, pad.why)] += 1
        if shown[kind] > SHOWN_ALIKE:
            continue
        verdict = (pad.verdict, STYLES.get(pad.verdict, "bold red"))
        console.print()
        console.print(Text.assemble(pad.path, "  ", verdict), soft_wrap=True)
        opset = f", opset {pad.opset}" if pad.opset else ""
        by = [f"in padops.InferenceSession: {pad.runner}"] if pad.runner else []
        show_wrapped(console, [f"{pad.form}{opset}: {pad.what()}", pad.why, *by])
    for (form, said, why), many in shown.items():
        if many > SHOWN_ALIKE:
            console.print()
            console.print(Text(f"and {many - SHOWN_ALIKE} more of {form} with the same verdict ({said})"))
            show_wrapped(console, [why])
    if any(many > SHOWN_ALIKE for many in shown.values()):
        console.print(Text("--json has each of them"))
    for note in inspection.notes:
        console.print(Text(note), soft_wrap=True)
    commands = inspection.commands()
    if commands or inspection.failing:
        console.print()
    if commands:
        console.print(Text("What helps:" if inspection.failing else "What runs it whatever the data are:"))
    elif inspection.failing:
        console.print(Text("Nothing makes all of these run as they stand; the reasons above say what is in the way."))
    for road, command in commands.items():
        console.print(Text(f"  {command}", "bold"), soft_wrap=True)
        show_wrapped(console, [ROADS[road]], indent=6)


def show_inspected(console: Console, name: str, inspection: Inspection | str) -> None:
    """One line on one of several models.

    Args:
        console: Where to print.
        name: The model.
        inspection: What is in it, or why it cannot be read.
    """
    if isinstance(inspection, str):
        console.print(Text.assemble(f"{name}: ", ("error", "bold red"), f": {inspection}"), soft_wrap=True)
        return
    style = "bold red" if inspection.failing else "green"
    console.print(Text.assemble(f"{name}: ", (inspection.summary(), style)), soft_wrap=True)


def _now(record: PadRecord) -> tuple[str, str]:
    """What became of a Pad, and the style to say it in."""
    if record.status == "unconverted":
        return "unconverted", "bold yellow"
    if record.status == "folded":
        return f"in {', '.join(record.into)}" if record.into else "gone", "green"
    if record.status == "not needed":
        return "as it was", "dim"
    now = f"padops::{record.op_type}" if record.op_type in OPS else str(record.op_type)
    return now, "green" if record.status == "converted" else "dim"


def _why(record: PadRecord) -> list[str]:
    """The reasons, each once."""
    told = ["already converted"] if record.status == "already converted" else []
    told += [text for text in (record.reason, *record.notes, record.corrects) if text]
    if record.facts is not None and not any(record.facts.why in text for text in told):
        told.append(record.facts.why)
    return list(dict.fromkeys(told))


def show_end(console: Console, conversion: Conversion, would: str | None, dry_run: bool) -> None:
    """One line: how many of each, and what was written.

    Args:
        console: Where to print.
        conversion: What was done.
        would: The file that would have been written.
        dry_run: Whether nothing was to be written.
    """
    console.print(Text(f"{conversion.summary()}; {what_was_written(conversion, would, dry_run)}"), soft_wrap=True)
