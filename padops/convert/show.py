"""A conversion as people read it: the table of Pads, what verification found, what was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from padops.convert.records import Conversion, PadComparison, PadRecord, Verification
from padops.spec.dialects import OPS


def show(console: Console, conversion: Conversion) -> None:
    """The table of Pads, and what else there is to say."""
    if conversion.records:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("Pad", "found as", "now", "why"):
            table.add_column(title, overflow="fold")
        for record in conversion.records:
            now, style = _now(record)
            cells = (Text(record.path), Text(record.form), Text(now, style), Text("; ".join(_why(record))))
            table.add_row(*cells)
        console.print(table)
    for note in conversion.notes:
        console.print(Text(note))
    if conversion.verification is not None:
        show_verification(console, conversion.verification)


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
    already = ["already converted"] if record.status == "already converted" else []
    corrects = [record.corrects] if record.corrects and record.corrects not in record.notes else []
    return [*already, *([record.reason] if record.reason else []), *record.notes, *corrects]


INSIDE = ("verified: the outputs agree, but not what Pads give", "bold red")


def show_verification(console: Console, verification: Verification) -> None:
    """How it came out, with what the models were fed, and what each output and each Pad gave."""
    said = {
        "equal": ("verified: the outputs are bit-equal", "green"),
        "close": ("verified: the outputs are those of another runtime but for rounding", "green"),
        "corrected": ("verified: the outputs differ only where the converted model corrects the original", "green"),
        "runs": ("verified: the converted model runs", "green"),
        "different": ("verified: the outputs differ", "bold red"),
        "fails": ("verified: the converted model fails", "bold red"),
        "undecided": ("cannot be verified: neither model runs", "bold yellow"),
    }
    inside = verification.outcome == "different" and all(output.equal for output in verification.outputs)
    console.print(Text(*(INSIDE if inside else said[verification.outcome])))
    for inputs, count in Counter(verification.inputs).items():
        console.print(Text(f"  with {inputs}" + (f" ({count} draws)" if count > 1 else ""), "dim"))
    for output in verification.outputs:
        weak = f", but weak: {output.weak}" if output.weak else ""
        console.print(Text(f"  {output.name}: {'equal' if output.equal else output.detail}{weak}"))
    for note in verification.notes:
        console.print(Text(f"  {note}"))
    if verification.pads:
        _show_pads(console, verification.pads)


def _show_pads(console: Console, pads: Sequence[PadComparison]) -> None:
    """How many Pads were compared, and a table of those of which there is more to say."""
    told = [pad for pad in pads if pad.exercise != "exercised" or not pad.equal]
    equal = len(pads) - len(told)
    if equal:
        console.print(Text(f"  {equal} Pad{' gives' if equal == 1 else 's give'} the same bits in both models"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("  Pad", "compared", "why"):
        table.add_column(title, overflow="fold")
    for pad in told:
        state, style = ("different", "bold red") if not pad.equal else (pad.exercise, "bold yellow")
        table.add_row(Text(f"  {pad.path}"), Text(state, style), Text(pad.detail))
    if told:
        console.print(table)


def show_end(console: Console, conversion: Conversion, dry_run: bool) -> None:
    """One line: how many of each, and what was written.

    Args:
        console: Where to print.
        conversion: What was done.
        dry_run: Whether nothing was to be written.
    """
    counts = Counter(record.status for record in conversion.records)
    parts = [f"{count} {status}" for status, count in counts.items()] or ["0 converted"]
    text = f"{len(conversion.records)} Pad{'' if len(conversion.records) == 1 else 's'}: {', '.join(parts)}"
    if conversion.output is not None:
        files = [f"{file.name} ({file.bytes:,} bytes)" for file in conversion.outputs if file.written]
        text += f"; wrote {', '.join(files)}"
        kept = [file.name for file in conversion.outputs if not file.written]
        text += f"; its data stay in {', '.join(kept)}" if kept else ""
    else:
        text += "; nothing was written" + (" (dry run)" if dry_run else "")
    console.print(Text(text))
