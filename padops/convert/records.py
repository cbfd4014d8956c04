"""The records of a conversion: its Pads, its verification, its files; ``conversion.py`` combines them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from padops.convert.facts import PadFacts, plain_fields

SCHEMA = 7  # of the report; raised when a reader of an older report would misread a newer one

Status = Literal["converted", "already converted", "folded", "not needed", "unconverted"]
Outcome = Literal[
    "proved",
    "equal",
    "close",
    "corrected",
    "same",
    "different",
    "interface",
    "runs",
    "fails",
    "undecided",
    "not run",
]
Certainty = Literal["proved", "tested", "different", "unknown"]
PASSED: tuple[Outcome, ...] = ("proved", "equal", "close", "corrected", "same")
REFUTED: tuple[Outcome, ...] = ("different", "interface", "fails")
WITHOUT_OPTIMISATION = "without graph optimisation; with it,"  # how a note begins if only the first is bit-equal
Exercise = Literal["exercised", "not exercised"]


@dataclass(frozen=True)
class PadRecord:
    """One Pad of a model.

    Attributes:
        path: Where it stands, such as ``graph/If_12.then_branch/Pad_3`` or ``function custom::Block/Pad_0``; a node
            without a name is called by its operator and its position in its graph.
        name: The node's name, as the model has it.
        form: What was found, such as ``"Pad-18 inputs"``, ``"Pad-2 attributes"``, ``"com.microsoft::Pad-1"``.
        status: ``"converted"``; ``"already converted"``; ``"folded"``: it is gone; ``"not needed"``: it needs no
            conversion, or ONNX Runtime runs it correctly and ``select`` leaves such Pads; or ``"unconverted"``: it
            could not be converted.
        op_type: The operator of the domain ``padops``; ``"explicit pads"`` if the node got explicit amounts in place of
            ``auto_pad``; ``"standard ONNX"`` if the Pad was lowered; None if it is unconverted.
        reason: Why it is unconverted or not needed, else None.
        notes: What else is worth knowing, such as a change of the version.
        corrects: What ONNX Runtime gets wrong in the original node, so that the outputs may differ; else None.
        into: For a folded Pad, the paths of the nodes that now do its work.
        facts: The original Pad, and what ONNX Runtime does with it.
    """

    path: str
    name: str
    form: str
    status: Status
    op_type: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    corrects: str | None = None
    into: tuple[str, ...] = ()
    facts: PadFacts | None = None

    def why(self) -> str:
        """The Pad's path, its form and why it stays, or which rule it breaks."""
        why = self.reason or (self.facts.why if self.facts else "")
        return f"{self.path} ({self.form}): {why}"

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values, its facts among them."""
        own = plain_fields(self)
        return (own.pop("facts") or {}) | own


def breaks_a_rule(record: PadRecord) -> bool:
    """Whether the Pad of a record can run nowhere."""
    return record.facts is not None and record.facts.verdict == "breaks a rule"


@dataclass(frozen=True)
class OutputComparison:
    """One output of the original and of the converted model.

    Attributes:
        name: The output.
        equal: Whether type, shape and every bit agree.
        detail: If not equal: how many elements differ, the first position and both values.
        weak: Why equality says little: the output is empty, NaN or one constant value for all random inputs; else "".
    """

    name: str
    equal: bool
    detail: str = ""
    weak: str = ""


@dataclass(frozen=True)
class PadComparison:
    """What the runs say of one Pad of the original.

    Attributes:
        path: See ``PadRecord.path``.
        form: Its operator.
        exercise: ``"exercised"``; or ``"not exercised"``: it did not run, its output was empty, or it padded nothing.
        equal: Whether it gives the same bits in both runtimes, for an OpenVINO IR; ONNX Runtime compares outputs alone.
        compared: The values compared for that.
        detail: What differs, or why it is not exercised.
        right: As ``equal``; None if it was not compared.
    """

    path: str
    form: str
    exercise: Exercise
    equal: bool = True
    compared: tuple[str, ...] = ()
    detail: str = ""
    right: bool | None = None


@dataclass(frozen=True)
class RegionRecord:
    """A region in which the two models differ: the nodes that compute one value from values that are the same in both.

    Attributes:
        name: The value's name in the original.
        original: The region's operators in the original.
        converted: The region's operators in the converted model.
        verdict: ``"proved"``; ``"different"``; or ``"unknown"``.
        rule: The rule that decided it: ``"moves"``, ``"fold"``, ``"amounts"``, ``"fallback"``; see
            docs/verification.md.
        holds_for: The scope of the verdict, such as ``"all data, these dims"``.
        conditions: The assumptions of the proof.
        why: Why it is not proved; "" if it is.
        counterexample: Dims of values for which a difference was found, by name; None if there are none.
    """

    name: str
    original: tuple[str, ...]
    converted: tuple[str, ...]
    verdict: Certainty
    rule: str = ""
    holds_for: str = ""
    conditions: tuple[str, ...] = ()
    why: str = ""
    counterexample: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """The region as JSON values."""
        return plain_fields(self)


@dataclass(frozen=True)
class ProofRecord:
    """The proof, without a run, that wherever the original runs, the converted model gives the same.

    Attributes:
        verdict: ``"proved"``: every region is proved; else ``"different"``, which is a suspicion, or ``"unknown"``.
        regions: The regions in which the models differ, in the order of their decisions.
        same: The number of values that both models compute in the same way.
        assumptions: The assumptions of the whole proof, such as a shape that the original declares.
        new_errors: The number of regions that fail for some data only in the converted model. If any, nothing is
            proved.
        why: Why nothing could be proved or refuted, if the reason is not a region's; else "".
    """

    verdict: Certainty
    regions: tuple[RegionRecord, ...] = ()
    same: int = 0
    assumptions: tuple[str, ...] = ()
    new_errors: int = 0
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """The proof as JSON values, with the number of regions of each verdict."""
        counts = {verdict: sum(row.verdict == verdict for row in self.regions) for verdict in get_args(Certainty)}
        return plain_fields(self) | {"counts": counts}


@dataclass(frozen=True)
class Verification:
    """Whether the converted model does what the original does.

    ``verdict`` is the answer; it follows from ``proof`` and ``outcome``.

    Attributes:
        outcome: The result of running both models:

            - ``"proved"``: everything is proved, and no run was possible; a note says why.
            - ``"equal"``: the same bits.
            - ``"close"``: floats differ within the tolerance, and not because of a Pad: another runtime or another
              order of casts rounds differently.
            - ``"corrected"``: only outputs differ that depend on a node that ONNX Runtime gets wrong in the original.
            - ``"same"``: everything is proved, and ONNX Runtime loads neither model.
            - ``"different"``: other outputs differ.
            - ``"interface"``: nothing was run, since inputs or outputs differ in order, number, names, element types or
              ranks.
            - ``"runs"``: the converted model runs; the original does not, or its own runs differ.
            - ``"fails"``: the converted model does not run, or breaks a rule.
            - ``"undecided"``: neither model runs, and not all nodes could be compared.
            - ``"not run"``: no run was possible: the inputs are too large, or ONNX Runtime crashed.
        outputs: One comparison for each output; empty if the original did not run.
        inputs: Names, types and shapes of the models' inputs, for each set of inputs.
        notes: How the models were compared, and what else was found.
        pads: One comparison for each Pad; for an IR, with the result of OpenVINO's Pad for the same data.
        proof: The proof; None if the original is no ONNX model.
    """

    outcome: Outcome
    outputs: tuple[OutputComparison, ...] = ()
    inputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pads: tuple[PadComparison, ...] = ()
    proof: ProofRecord | None = None

    @property
    def verdict(self) -> Certainty:
        """The answer: ``"proved"``, ``"tested"``, ``"different"`` or ``"unknown"``.

        ``"proved"``: every region is proved. ``"tested"``: runs of both models gave the same, except for what
        ``outcome`` names and ``doubts`` leave open. ``"different"``: a run has shown a
        difference. ``"unknown"``: undecided; ``doubts`` and ``unproved`` say why.
        """
        if self.refuted:
            return "different"
        if self.proof is not None and self.proof.verdict == "proved":
            return "tested" if self.outcome == "same" else "proved"  # onnxruntime loads no model that is "same"
        if self.proof is not None and self.proof.verdict == "different":
            return "unknown"  # no run has shown the difference
        return "tested" if self.outcome in PASSED else "unknown"

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``"proved"`` or ``"tested"``; ``doubts`` says what runs left open."""
        return self.verdict in ("proved", "tested")

    @property
    def refuted(self) -> bool:
        """Whether a run or the interface shows that the converted model differs."""
        return self.outcome in REFUTED

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the runs leave open, each in a sentence."""
        found = []
        if self.outcome in ("runs", "undecided", "not run", "same"):
            found.append(self.notes[-1] if self.notes else "there is nothing to compare the outputs with")
        found += [f"output {output.name} is weak: {output.weak}" for output in self.outputs if output.weak]
        found += [f"{pad.path} is {pad.exercise}: {pad.detail}" for pad in self.pads if pad.exercise != "exercised"]
        return tuple(found)

    @property
    def unproved(self) -> tuple[str, ...]:
        """Why it is not proved that the models do the same, each in a sentence; empty if it is."""
        if self.outcome == "interface":
            return self.notes
        if self.proof is None:
            return ("nothing was proved: the original is no ONNX model, or other execution providers were asked for",)
        told = [f"{row.name} is not proved: {row.why}" for row in self.proof.regions if row.verdict != "proved"]
        return (*told, *([self.proof.why] if self.proof.why else []))

    def to_json(self) -> dict[str, Any]:
        """The verification as JSON values."""
        answer = {"verdict": self.verdict, "outcome": self.outcome, "passed": self.passed}
        return answer | plain_fields(self) | {"doubts": list(self.doubts), "unproved": list(self.unproved)}


@dataclass(frozen=True)
class FileRecord:
    """One file of the source or of the output.

    Attributes:
        name: For a model, its path; for external data, the location that the tensors name.
        bytes: Its size.
        sha256: The hash of a model file; None for external data.
        written: Whether the conversion wrote it; external data that are already in place are not written.
    """

    name: str
    bytes: int
    sha256: str | None = None
    written: bool = False
