"""Formats results as lines for people: a few lines for each Pad, the verification, and the written files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from padops.convert import records
from padops.convert.inspection import Inspection, session_arguments, summary_of
from padops.convert.records import Conversion, PadFacts, PadRecord, ProofRecord, Road, Verification
from padops.convert.rewrite import IN_PYTHON
from padops.convert.verify.choice import shortcoming
from padops.plural import plural
from padops.spec import pyop_node
from padops.spec.dialects import OPS
from padops.terminal import json_text

PROVED = "wherever the original runs, the converted model returns the same"
SAID = {
    "proved": "no run was possible",
    "equal": "the outputs are bit-equal",
    "close": "the outputs differ by rounding",
    "corrected": "the outputs differ only where the converted model corrects the original",
    "same": "ONNX Runtime loads neither model; their nodes are proved to do the same",
    "runs": "the converted model runs, but there is nothing to compare it with",
    "different": "the outputs differ",
    "interface": "the models have different inputs or outputs",
    "fails": "the converted model does not run",
    "undecided": "neither model runs",
    "not run": "the models could not be run",
}
NOT_PROVED = {"different": "may differ", "unknown": "not proved"}
IN_OPTIONS = ("provider=True", 'backend="pyop"')  # for operators in C++, and for kernels in Python
ROADS: dict[Road, str] = {
    "session": "runs the model as it is, like padops run; for your own SessionOptions: padops.register(options, "
    "{arguments})",
    "memory": "converts, in memory, the Pads that need conversion, and writes nothing; padops run does the same",
    "convert": "writes a model with operators of padops, and functions of standard operators for use without padops",
    "lower": "writes a model of standard operators alone, for sessions without padops",
}


def verification_lines(verification: Verification) -> Iterator[str]:
    """Yields the verdict, the proof, the inputs of the runs, and how each output and each Pad compares."""
    verdict, proof, ran = verification.verdict, verification.proof, SAID[verification.outcome]
    told = PROVED if verdict == "proved" else ran
    if told == PROVED and proof is not None and any("open dims" in row.holds_for for row in proof.regions):
        told += ", for the sizes below"  # a proof by moves tries some sizes of open dims
    if verdict == "unknown" and proof is not None and proof.verdict == "different":
        told = "a part of the models may differ, but no run of both has shown it"
    yield f"{verdict}: {told}"
    if proof is not None and (proof.verdict != "proved" or verdict != "different"):  # unless a run refutes it
        yield from _proof_lines(proof)
    if told != ran:
        yield f"  run as well: {ran}"
    for inputs, count in Counter(verification.inputs).items():
        yield f"  with {inputs or 'no inputs'}" + (f" ({count} draws)" if count > 1 else "")
    for output in verification.outputs:
        weak = f", but weak: {output.weak}" if output.weak else ""
        yield f"  {output.name}: {'equal' if output.equal else output.detail}{weak}"
    yield from (f"  {note}" for note in verification.notes)
    pads = verification.pads
    told_pads = [pad for pad in pads if pad.exercise != "exercised" or not pad.equal]
    if count := len(pads) - len(told_pads):
        same = "" if pads[0].right is None else ", with the same bits"
        yield f"  {plural(count, 'Pad')} padded something in the runs{same}"
    for pad in told_pads:
        yield f"  {pad.path}  {pad.exercise if pad.equal else 'different'}"
        yield f"    {pad.detail}"


def _proof_lines(proof: ProofRecord) -> Iterator[str]:
    """Yields the numbers of equal operators and of proved parts, then the unproved parts and the assumptions."""
    if proof.same:
        same = plural(proof.same, "operator")
        yield f"  the same in both, where an ONNX Pad and its padops operator count as the same: {same}"
    proved = [row for row in proof.regions if row.verdict == "proved"]
    for (rule, holds_for), count in Counter((row.rule, row.holds_for) for row in proved).items():
        yield f"  proved to do the same, by {rule}: {plural(count, 'part')}, for {holds_for}"
    for row in proof.regions:
        if row.verdict != "proved":
            yield f"  {row.name}  {NOT_PROVED[row.verdict]}"
            yield f"    {row.why}"
            if row.counterexample is not None:
                yield f"    with {' '.join(json_text(row.counterexample).split())}"
    yield from (f"  if {text}" for text in dict.fromkeys(text for row in proved for text in row.conditions))
    yield from (f"  assumed: {text}" for text in proof.assumptions)
    if proof.why:
        yield f"  not proved: {proof.why}"


def conversion_lines(conversion: Conversion) -> Iterator[str]:
    """Yields the outcome for each Pad in a few lines, then the notes and the verification."""
    for record in conversion.records:
        yield f"{record.path}  {_now(record)}"
        facts, why = record.facts, "; ".join([*([record.reason] if record.reason else []), *record.notes])
        if facts is not None:
            yield _form(facts)
        if why:
            yield f"  {why}"
        if facts is not None and facts.why not in why and not (record.status == "not needed" and facts.runs):
            yield f"  the original: {facts.verdict}: {facts.why}"
    yield from conversion.notes
    if conversion.verification is not None:
        yield from verification_lines(conversion.verification)


def _now(record: PadRecord) -> str:
    """Returns the outcome for a Pad."""
    if records.breaks_a_rule(record):
        return "breaks a rule"
    if record.status in ("unconverted", "not needed"):
        return record.status
    if record.status == "folded":
        return f"in {', '.join(record.into)}" if record.into else "gone"
    if record.status == "already converted" and record.facts is not None:
        return f"{record.facts.operator} already"
    if IN_PYTHON in record.notes:
        return f"{pyop_node.DOMAIN}::{pyop_node.OP_TYPE}"
    return f"padops::{record.op_type}" if record.op_type in OPS else str(record.op_type)


def reservations(conversion: Conversion) -> tuple[int, str]:
    """Returns exit code and warning of a finished conversion: (0, ""), or 5 and the reason why nothing was compared."""
    found = conversion.verification
    if found is None or (error := shortcoming(found, strict=False)) is None:
        return 0, ""
    return error.exit_code, f"not verified: {(*found.doubts, *found.unproved)[0]}"


def what_was_written(conversion: Conversion) -> str:
    if conversion.output is None:
        return "nothing was written"
    files = [f"{file.name} ({file.bytes:,} bytes)" for file in conversion.outputs if file.written]
    kept = [file.name for file in conversion.outputs if not file.written]
    return f"wrote {', '.join(files)}" + (f"; its data stay in {', '.join(kept)}" if kept else "")


def inspection_lines(inspection: Inspection) -> Iterator[str]:
    """Yields each Pad in a few lines, and then the commands that make the model run."""
    yield f"{inspection.path or 'the model'}: {inspection.summary()} ({inspection.runtime})"
    for pad in inspection.pads:
        yield ""
        yield f"{pad.path}  {pad.verdict}"
        yield _form(pad)
        yield f"  {pad.why}"
        if pad.runner:
            yield f"  in padops.InferenceSession: {pad.runner}"
    yield from inspection.notes
    commands = inspection.commands()
    if commands:
        yield from ("", "Fixes, best first:" if inspection.failing else "To run the model with any data:")
    elif inspection.failing:
        yield from ("", "padops cannot fix this model as it is; see above")
    in_python = any(pad.operator == f"{pyop_node.DOMAIN}::{pyop_node.OP_TYPE}" for pad in inspection.failing)
    for road, command in commands.items():
        yield f"  {command}"
        yield f"      {ROADS[road].format(arguments=IN_OPTIONS[in_python] + session_arguments(inspection))}"


def inspected_lines(name: str, inspection: Inspection) -> Iterator[str]:
    """Yields one line for one of several models, then a line for each reason why its Pads fail."""
    yield f"{name}: {inspection.summary()}"
    for (verdict, why), many in Counter((pad.verdict, pad.why) for pad in inspection.failing).items():
        yield f"  {verdict}: {why}" + (f" ({many} Pads)" if many > 1 else "")


def total_lines(results: Sequence[Inspection | str]) -> Iterator[str]:
    """Yields the total of several models, and the command that shows reasons and fixes."""
    read = [result for result in results if not isinstance(result, str)]
    pads, left_out = [pad for result in read for pad in result.pads], sum(result.left_out for result in read)
    failing = sum(bool(result.failing) for result in read)
    counts = {"with failing Pads": failing, "unreadable": len(results) - len(read)}
    told = "".join(f", {count} {what}" for what, count in counts.items() if count)
    yield f"{plural(len(results), 'model')}{told}; {summary_of(pads, left_out)}"
    if failing:
        yield "For reasons and fixes, run `padops inspect MODEL`"


def _form(pad: PadFacts) -> str:
    """Returns the line that describes a Pad: form, opset, mode, type, shapes, amounts and fill."""
    form = "Pad" if re.fullmatch(r"Pad-\d+ (inputs|attributes)", pad.form) else pad.form
    return f"  {form} (opset {pad.opset}): {pad.what()}" if pad.opset else f"  {form}: {pad.what()}"
