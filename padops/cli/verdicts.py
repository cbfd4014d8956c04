"""Prints a verification for people: the verdict, the proof of each part, the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from padops.convert.records import WITHOUT_OPTIMISATION, PadComparison, ProofRecord, Verification
from padops.lines import Text
from padops.terminal import json_text, show_wrapped

STYLES = {"proved": "green", "tested": "green", "different": "bold red", "unknown": "bold yellow"}
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
SHOWN = 20  # the most unproved parts that are listed


def show_verification(console: Console, verification: Verification) -> None:
    """Prints the verdict, the proof, the inputs of the runs, and how each output and each Pad compares."""
    verdict, proof, ran = verification.verdict, verification.proof, _ran(verification)
    told = PROVED if verdict == "proved" else ran
    if verdict == "unknown" and proof is not None and proof.verdict == "different":
        told = UNCONFIRMED
    console.print(Text(f"{verdict}: {told}", "yellow" if verification.outcome == "close" else STYLES[verdict]))
    if proof is not None and (proof.verdict != "proved" or verdict != "different"):  # unless a run refutes it
        _show_proof(console, proof)
    if told != ran:
        console.print(Text(f"  {'' if verification.outcome == 'proved' else 'run as well: '}{ran}"))
    for inputs, count in Counter(verification.inputs).items():
        show_wrapped(console, [f"with {inputs}" + (f" ({count} draws)" if count > 1 else "")])
    for output in verification.outputs:
        weak = f", but weak: {output.weak}" if output.weak else ""
        console.print(Text(f"  {output.name}: {'equal' if output.equal else output.detail}{weak}"))
    for note in verification.notes:
        console.print(Text(f"  {note}"))
    if verification.pads:
        _show_pads(console, verification.pads)


def _ran(verification: Verification) -> str:
    """The outcome of running both models, in words."""
    outcome = verification.outcome
    if verification.inputs and outcome in ("undecided", "proved"):  # ONNX Runtime loads them
        return REFUSED
    if outcome == "equal" and any(note.startswith(WITHOUT_OPTIMISATION) for note in verification.notes):
        return UNOPTIMISED
    return SAID[outcome]


def _show_proof(console: Console, proof: ProofRecord) -> None:
    """Prints how many parts are proved, by which rule and for which values; the other parts; and the assumptions."""
    if proof.same:
        same = "1 operator is" if proof.same == 1 else f"{proof.same} operators are"
        console.print(Text(f"  {same} the same in both; an ONNX Pad and its padops operator count as the same"))
    proved = Counter((row.rule, row.holds_for) for row in proof.regions if row.verdict == "proved")
    for (rule, holds_for), count in proved.items():
        parts = "1 part that differs is" if count == 1 else f"{count} parts that differ are"
        told = f"{parts} proved to do the same, by {rule}: for {holds_for}"
        if rule == BODY:
            told = f"{'1 fallback function is' if count == 1 else f'{count} fallback functions are'} {holds_for}"
        console.print(Text(f"  {told}"), soft_wrap=True)
    left = [row for row in proof.regions if row.verdict != "proved"]
    for row in left[:SHOWN]:
        console.print(Text.assemble(f"  {row.name}  ", (NOT_PROVED[row.verdict], "bold yellow")), soft_wrap=True)
        example = [] if row.counterexample is None else [f"with {' '.join(json_text(row.counterexample).split())}"]
        show_wrapped(console, [row.why, *example], indent=4)
    if len(left) > SHOWN:
        console.print(Text(f"  and {len(left) - SHOWN} more; --json lists all parts"))
    for text in dict.fromkeys(text for row in proof.regions if row.verdict == "proved" for text in row.conditions):
        show_wrapped(console, [f"if {text}"])
    for text in proof.assumptions:
        show_wrapped(console, [f"assumed: {text}"])
    if proof.why:
        show_wrapped(console, [f"not proved: {proof.why}"])


NOT_PROVED = {"different": "may differ", "unknown": "not proved"}


def _show_pads(console: Console, pads: Sequence[PadComparison]) -> None:
    """Prints how many Pads runs exercised, and each Pad that differs or that no run exercised."""
    told = [pad for pad in pads if pad.exercise != "exercised" or not pad.equal]
    if count := len(pads) - len(told):
        one, many = (
            ("gives the same bits", "give the same bits") if pads[0].right is not None else (EXERCISED, EXERCISED)
        )
        console.print(Text(f"  {count} Pad{f' {one}' if count == 1 else f's {many}'}"))
    for pad in told:
        state = ("different", "bold red") if not pad.equal else (pad.exercise, "bold yellow")
        console.print(Text.assemble(f"  {pad.path}  ", state), soft_wrap=True)
        show_wrapped(console, [pad.detail], indent=4)
