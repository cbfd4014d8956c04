"""Prints results for people: a few lines for each Pad, the verification, the files that were written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from padops.cli.endings import what_was_written
from padops.cli.reports import nameless
from padops.convert.inspection import Inspection, summary_of
from padops.convert.records import (
    WITHOUT_OPTIMISATION,
    Conversion,
    PadComparison,
    PadFacts,
    PadRecord,
    ProofRecord,
    Road,
    Verdict,
    Verification,
    breaks_a_rule,
)
from padops.convert.rewrite import IN_PYTHON
from padops.plural import plural
from padops.spec import pyop_node
from padops.spec.dialects import OPS
from padops.terminal import json_text, line, show_wrapped

OF_VERDICTS = {"proved": "green", "tested": "green", "different": "bold red", "unknown": "bold yellow"}
PROVED = "wherever the original runs, the converted model returns the same"
SAID = {
    "proved": "no run was possible",
    "equal": "the outputs are bit-equal",
    "close": "the outputs differ by rounding",
    "corrected": "the outputs differ only where the converted model corrects the original",
    "same": "ONNX Runtime loads neither model; their nodes are proved to do the same",
    "runs": "the converted model runs, but there is nothing to compare it with",
    "different": "the outputs differ",
    "interface": "the models have other inputs or outputs",
    "fails": "the converted model does not run",
    "undecided": "neither model runs",
    "not run": "the models could not be run",
}
REFUSED = "ONNX Runtime runs neither model with these inputs"
UNOPTIMISED = "without graph optimisation, the outputs are bit-equal"
UNCONFIRMED = "a part of the models may differ, but no run of both has shown it"
EXERCISED = "padded something in the runs"
BODY = "fallback"  # the proof rule of fallback functions
SHOWN = 20  # the most unproved parts to list


def show_verification(console: Console, verification: Verification) -> None:
    """Prints the verdict, the proof, the inputs of the runs, and how each output and each Pad compares."""
    verdict, proof, ran = verification.verdict, verification.proof, _ran(verification)
    told = PROVED if verdict == "proved" else ran
    if told == PROVED and proof is not None and any("open dims" in row.holds_for for row in proof.regions):
        told += ", for the sizes below"  # of open dims, a proof by moves tries some
    if verdict == "unknown" and proof is not None and proof.verdict == "different":
        told = UNCONFIRMED
    line(console, (f"{verdict}: {told}", "yellow" if verification.outcome == "close" else OF_VERDICTS[verdict]))
    if proof is not None and (proof.verdict != "proved" or verdict != "different"):  # unless a run refutes it
        _show_proof(console, proof)
    if told != ran:
        line(console, f"  {'' if verification.outcome == 'proved' else 'run as well: '}{ran}")
    for inputs, count in Counter(verification.inputs).items():
        show_wrapped(console, [f"with {inputs or 'no inputs'}" + (f" ({count} draws)" if count > 1 else "")])
    for output in verification.outputs:
        weak = f", but weak: {output.weak}" if output.weak else ""
        line(console, f"  {output.name}: {'equal' if output.equal else output.detail}{weak}")
    for note in verification.notes:
        line(console, f"  {note}")
    if verification.pads:
        _show_pads(console, verification.pads)


def _ran(verification: Verification) -> str:
    """Describes the outcome of running both models."""
    outcome = verification.outcome
    if verification.inputs and outcome in ("undecided", "proved"):  # ONNX Runtime loads them
        return REFUSED
    if outcome == "equal" and any(note.startswith(WITHOUT_OPTIMISATION) for note in verification.notes):
        return UNOPTIMISED
    return SAID[outcome]


def _show_proof(console: Console, proof: ProofRecord) -> None:
    """Prints the number of proved parts by rule and values, the unproved parts, and the assumptions."""
    if proof.same:
        same = "1 operator is" if proof.same == 1 else f"{proof.same} operators are"
        line(console, f"  {same} the same in both; an ONNX Pad and its padops operator count as the same")
    proved = Counter((row.rule, row.holds_for) for row in proof.regions if row.verdict == "proved")
    for (rule, holds_for), count in proved.items():
        parts = "1 part that differs is" if count == 1 else f"{count} parts that differ are"
        told = f"{parts} proved to do the same, by {rule}: for {holds_for}"
        if rule == BODY:
            told = f"{'1 fallback function is' if count == 1 else f'{count} fallback functions are'} {holds_for}"
        line(console, f"  {told}")
    left = [row for row in proof.regions if row.verdict != "proved"]
    for row in left[:SHOWN]:
        line(console, f"  {row.name}  ", (NOT_PROVED[row.verdict], "bold yellow"))
        example = [] if row.counterexample is None else [f"with {' '.join(json_text(row.counterexample).split())}"]
        show_wrapped(console, [row.why, *example], indent=4)
    if len(left) > SHOWN:
        line(console, f"  and {len(left) - SHOWN} more; --json lists all parts")
    for text in dict.fromkeys(text for row in proof.regions if row.verdict == "proved" for text in row.conditions):
        show_wrapped(console, [f"if {text}"])
    for text in proof.assumptions:
        show_wrapped(console, [f"assumed: {text}"])
    if proof.why:
        show_wrapped(console, [f"not proved: {proof.why}"])


NOT_PROVED = {"different": "may differ", "unknown": "not proved"}


def _show_pads(console: Console, pads: Sequence[PadComparison]) -> None:
    """Prints the number of Pads that the runs exercised, and each Pad that differs or that no run exercised."""
    told = [pad for pad in pads if pad.exercise != "exercised" or not pad.equal]
    if count := len(pads) - len(told):
        one, many = (
            ("gives the same bits", "give the same bits") if pads[0].right is not None else (EXERCISED, EXERCISED)
        )
        line(console, f"  {count} Pad{f' {one}' if count == 1 else f's {many}'}")
    for pad in told:
        state = ("different", "bold red") if not pad.equal else (pad.exercise, "bold yellow")
        line(console, f"  {pad.path}  ", state)
        show_wrapped(console, [pad.detail], indent=4)


SHOWN_ALIKE = 20  # the most Pads shown of one form with the same verdict and reason
REASONS = 3  # the most reasons shown for each of several models
STYLES: dict[Verdict, str] = {
    "runs": "green",
    "runs if": "green",
    "may be wrong": "bold yellow",
    "unknown": "bold yellow",
}
ROADS: dict[Road, str] = {
    "session": "runs the model as it is, like padops run; for your own SessionOptions: "
    "padops.register(options, provider=True)",
    "memory": "converts the Pads that need it in memory, and writes nothing; padops run does the same",
    "convert": "writes a model with operators of padops, and functions of standard operators for use without padops",
    "lower": "writes a model of standard operators alone, for any runtime",
}


def show(console: Console, conversion: Conversion) -> None:
    """Prints the outcome for each Pad in a few lines, then the notes and the verification."""
    for record in conversion.records:
        now, style = _now(record)
        line(console, record.path, "  ", (now, style))
        what = record.form if record.facts is None else f"{_form(record.facts)}: {record.facts.what()}"
        show_wrapped(console, [what, "; ".join(_why(record))])
    for note in conversion.notes:
        line(console, note)
    if conversion.verification is not None:
        show_verification(console, conversion.verification)


def show_inspection(console: Console, inspection: Inspection) -> None:
    """Prints each Pad in a few lines, and then the commands that make the model run."""
    name = str(inspection.path or "the model")
    line(console, f"{name}: {inspection.summary()} ({inspection.runtime})")
    shown: Counter[tuple[str, ...]] = Counter()
    for pad in inspection.pads:
        shown[kind := (pad.form, pad.verdict, pad.why)] += 1
        if shown[kind] > SHOWN_ALIKE:
            continue
        verdict = (pad.verdict, STYLES.get(pad.verdict, "bold red"))
        console.print()
        line(console, pad.path, "  ", verdict)
        by = [f"in padops.InferenceSession: {pad.runner}"] if pad.runner else []
        show_wrapped(console, [f"{_form(pad)}: {pad.what()}", pad.why, *by])
    for (form, said, why), many in shown.items():
        if many > SHOWN_ALIKE:
            console.print()
            line(console, f"and {many - SHOWN_ALIKE} more of {form} with the same verdict ({said})")
            show_wrapped(console, [why])
    if any(many > SHOWN_ALIKE for many in shown.values()):
        line(console, "--json lists all Pads")
    for note in inspection.notes:
        line(console, note)
    commands = inspection.commands()
    if commands or inspection.failing:
        console.print()
    if commands:
        line(console, "Fixes, best first:" if inspection.failing else "To run the model with any data:")
    elif inspection.failing and not any("--custom-domain" in pad.why for pad in inspection.failing):
        line(console, "padops cannot fix this model; see above")
    in_python = any(pad.operator == f"{pyop_node.DOMAIN}::{pyop_node.OP_TYPE}" for pad in inspection.failing)
    for road, command in commands.items():
        line(console, (f"  {command}", "bold"))
        told = ROADS[road].replace("provider=True", 'backend="pyop"') if in_python else ROADS[road]
        show_wrapped(console, [told], indent=6)


def show_inspected(console: Console, name: str, inspection: Inspection | str) -> None:
    """Prints one line for one of several models, and the first reasons why it fails."""
    if isinstance(inspection, str):
        why = nameless(name, inspection)
        line(console, f"{name}: ", (why, "bold red"))
        return
    style = "bold red" if inspection.failing else "green"
    line(console, f"{name}: ", (inspection.summary(), style))
    reasons = Counter((pad.verdict, pad.why) for pad in inspection.failing)
    for (verdict, why), many in list(reasons.items())[:REASONS]:
        show_wrapped(console, [f"{verdict}: {why}" + (f" ({many} Pads)" if many > 1 else "")])
    if len(reasons) > REASONS:
        show_wrapped(console, [f"and {plural(len(reasons) - REASONS, 'more reason')}"])


def show_total(console: Console, read: Sequence[Inspection], unreadable: int) -> None:
    """Prints the total of several models, and the command that shows reasons and fixes."""
    pads = [pad for inspection in read for pad in inspection.pads]
    left_out = sum(inspection.left_out for inspection in read)
    failing = sum(bool(inspection.failing) for inspection in read)
    models = [f"{failing} with failing Pads"] * bool(failing) + [f"{unreadable} unreadable"] * bool(unreadable)
    count = plural(len(read) + unreadable, "model")
    line(console, f"{', '.join([count, *models])}; {summary_of(pads, left_out)}")
    if failing:
        line(console, "For reasons and fixes, run `padops inspect MODEL`")


def _form(pad: PadFacts) -> str:
    """The form of a Pad with its opset: ``Pad (opset 18)``."""
    form = "Pad" if re.fullmatch(r"Pad-\d+ (inputs|attributes)", pad.form) else pad.form
    return f"{form} (opset {pad.opset})" if pad.opset else form


def _now(record: PadRecord) -> tuple[str, str]:
    """Returns the outcome for a Pad, and its style."""
    if breaks_a_rule(record):
        return "breaks a rule", "bold red"
    if record.status == "unconverted":
        return "unconverted", "bold yellow"
    if record.status == "folded":
        return f"in {', '.join(record.into)}" if record.into else "gone", "green"
    if record.status == "not needed":
        return "as it was", "dim"
    now = f"padops::{record.op_type}" if record.op_type in OPS else str(record.op_type)
    if record.status == "already converted" and record.facts is not None:
        now = record.facts.operator
    elif IN_PYTHON in record.notes:
        now = f"{pyop_node.DOMAIN}::{pyop_node.OP_TYPE}"
    return now, "green" if record.status == "converted" else "dim"


def _why(record: PadRecord) -> list[str]:
    """The reasons, each once."""
    told = ["already converted"] if record.status == "already converted" else []
    told += [text for text in (record.reason, *record.notes, record.corrects) if text]
    why = record.facts.why if record.facts is not None else ""
    if record.status == "converted":  # else it reads like the reason
        why = why.replace("ONNX Runtime runs it", "ONNX Runtime runs the original")
    elif (record.reason or "").startswith("ONNX Runtime runs it") and why.startswith("ONNX Runtime runs it"):
        why = ""  # the reason has the conditions
    if not any(why in text for text in told):
        told = [*(text for text in told if text not in why), why]
    return list(dict.fromkeys(told))


def show_end(console: Console, conversion: Conversion, would: str | None, dry_run: bool) -> None:
    """Prints one line: the counts by status, and the files that were written."""
    line(console, f"{conversion.summary()}; {what_was_written(conversion, would, dry_run)}")
