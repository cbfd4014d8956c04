"""What a conversion found and did, as data; ``conversion.py`` has the whole of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from padops.convert.facts import PadFacts

SCHEMA = 6  # of the report; raised when a reader of an older report would misread a newer one

Status = Literal["converted", "already converted", "folded", "not needed", "unconverted"]
Outcome = Literal[
    "proved",
    "alone",
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
PASSED: tuple[Outcome, ...] = (
    "proved",
    "alone",
    "equal",
    "close",
    "corrected",
    "same",
)  # what a proof or a comparison leads to
REFUTED: tuple[Outcome, ...] = ("different", "interface", "fails")
WITHOUT_OPTIMISATION = "without graph optimisation; with it,"  # how a note begins if only the first is bit-equal
Exercise = Literal["exercised", "weak", "not exercised"]


@dataclass(frozen=True)
class PadRecord:
    """One Pad of a model.

    Attributes:
        path: Where it stands, such as ``graph/If_12.then_branch/Pad_3`` or ``function custom::Block/Pad_0``; a node
            without a name is called by its operator and its position in its graph.
        name: The node's name, as the model has it.
        form: What was found, such as ``"Pad-18 inputs"``, ``"Pad-2 attributes"``, ``"com.microsoft::Pad-1"``.
        status: ``"converted"``; ``"already converted"``; ``"folded"``, where it is gone; ``"not needed"``, where only
            those that ONNX Runtime cannot run correctly were asked for; or ``"unconverted"``, where it could not be.
        op_type: The operator of the domain ``padops``; ``"explicit pads"`` where the node stays what it is, and its
            ``auto_pad`` is written out; ``"standard ONNX"`` where it was lowered; None where it is unconverted.
        reason: Why it is unconverted or not needed, else None.
        notes: What else is worth knowing, such as a change of the version.
        corrects: What ONNX Runtime gets wrong in the node as it was, so that the outputs may differ; else None.
        into: Of a folded Pad, the paths of the nodes that do its work now.
        facts: What it was, and what ONNX Runtime does with that.
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
        """Which Pad it is, and why it stays."""
        return f"{self.path} ({self.form}): {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values, its facts among them."""
        own = {name: value for name, value in vars(self).items() if name != "facts"}
        facts = {} if self.facts is None else self.facts.to_json()
        return facts | own | {"notes": list(self.notes), "into": list(self.into)}


@dataclass(frozen=True)
class OutputComparison:
    """One output of the original and of the converted model.

    Attributes:
        name: The output.
        equal: Whether type, shape and every bit agree.
        detail: Where they do not: how many elements differ, the first of them, both values.
        weak: Why that it is equal says little: it is empty, NaN or one and the same value in all draws; else "".
    """

    name: str
    equal: bool
    detail: str = ""
    weak: str = ""


@dataclass(frozen=True)
class PadComparison:
    """One Pad of either model, or one that a convolution or a pooling has taken in: what it gives in both models.

    Attributes:
        path: See ``PadRecord.path``.
        form: Its operator.
        exercise: ``"exercised"``; ``"weak"``, where its output is NaN or one and the same value in all draws; or
            ``"not exercised"``, where no draw reached it: it did not run, its output was empty, it padded nothing, or there
            is nothing to compare it with.
        equal: Whether every bit agrees, as far as it was compared.
        compared: The values that were compared: its output, or those behind it where only one model has that.
        detail: What differs, or else why it is weak or not exercised.
        right: Whether it gives what the NumPy reference gives of the data that it has in the converted model; None where that
            was not asked. A Pad that is right and not equal has data that differ: the difference is older than the Pad.
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
    """A part that the two models have otherwise: all that makes one value of values that are the same in both.

    Attributes:
        name: The value, as the original calls it.
        original: The operators of the original in it.
        converted: Those of the converted model.
        verdict: ``"proved"``; ``"tested"``, where it was run; ``"different"``; or ``"unknown"``.
        rule: What decided it, such as ``"positions"`` or ``"all sizes (z3)"``; see docs/verification.md.
        holds_for: What it holds for, such as ``"all data, these dims"``.
        conditions: What it takes for granted.
        why: Why it is not proved; "" where it is.
        counterexample: Of one that differs, sizes and values that show it, by name.
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
        told = None if self.counterexample is None else dict(self.counterexample)
        lists = {name: list(getattr(self, name)) for name in ("original", "converted", "conditions")}
        return vars(self) | lists | {"counterexample": told}


@dataclass(frozen=True)
class ProofRecord:
    """What is proved of two models without running them: that wherever the original runs, the other gives the same.

    Attributes:
        verdict: ``"proved"``, where every region is; ``"tested"``, where those that are not gave the same bits when they were run
            alone; else ``"different"`` or ``"unknown"``.
        regions: The parts that are not the same, in the order in which they were decided.
        same: How many values are the same by how they are made.
        assumptions: What the whole takes for granted, such as the shape that the original declares of a value.
        lost_errors: How many regions fail for something in the original, and do not in the converted model.
        new_errors: How many fail for something in the converted model alone. Then nothing is proved.
        why: Why nothing could be proved or refuted that is no region's; "" else.
    """

    verdict: Certainty
    regions: tuple[RegionRecord, ...] = ()
    same: int = 0
    assumptions: tuple[str, ...] = ()
    lost_errors: int = 0
    new_errors: int = 0
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """The proof as JSON values, with the number of regions of each verdict."""
        counts = {verdict: sum(row.verdict == verdict for row in self.regions) for verdict in get_args(Certainty)}
        regions = [row.to_json() for row in self.regions]
        return vars(self) | {"assumptions": list(self.assumptions), "regions": regions, "counts": counts}


@dataclass(frozen=True)
class Verification:
    """Whether the converted model does what the original does.

    ``verdict`` is the answer; ``proof`` and ``outcome`` are what it follows from.

    Attributes:
        outcome: What runs of both models gave. ``"proved"``: nothing was run, for there was no need. ``"alone"``: the parts that
            are not proved were run, and gave the same bits; the models are too large for more. ``"equal"``: the same bits. ``"close"``: floats differ within the tolerance, and no Pad is the reason: another
            runtime or another order of casts rounds otherwise. ``"corrected"``: only those outputs differ that depend on a
            node which ONNX Runtime gets wrong in the original. ``"same"``: ONNX Runtime runs neither model; node by node they
            do the same. ``"different"``: they do not, or other outputs differ. ``"interface"``: nothing was run, for callers see other
            inputs or outputs: another order or number, names, element types or ranks. ``"runs"``: the converted model runs, and the
            original does not or differs from itself from run to run. ``"fails"``: the converted model does not run, or
            breaks a rule. ``"undecided"``: neither runs, and not all of their nodes could be compared. ``"not run"``: no runs were
            possible, since the inputs are too large, or ONNX Runtime died of them.
        outputs: One comparison for each output; empty where the original did not run.
        inputs: Names, types and shapes of what the models were fed with, for each draw.
        notes: How it was done, and what was found on the way.
        pads: One comparison for each Pad; of an IR, with what OpenVINO's gives of the same data.
        proof: What is proved; None where the original is no ONNX model.
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

        ``"proved"``: every part that differs is proved to do the same. ``"tested"``: not all of them are; runs of both models
        or of these parts gave the same, but for what ``outcome`` names and ``doubts`` leave open. ``"different"``: a run has shown it.
        ``"unknown"``: it could not be told; ``doubts`` and ``unproved`` say why.
        """
        if self.refuted:
            return "different"
        if self.proof is not None and self.proof.verdict in ("proved", "tested"):
            return self.proof.verdict
        if self.proof is not None and self.proof.verdict == "different":
            return "unknown"  # no run has shown the difference
        return "tested" if self.outcome in PASSED else "unknown"

    @property
    def passed(self) -> bool:
        """Whether the models are proved to do the same, or were compared, as far as ``doubts`` does not say otherwise."""
        return self.verdict in ("proved", "tested")

    @property
    def refuted(self) -> bool:
        """Whether something speaks against the converted model."""
        return self.outcome in REFUTED

    @property
    def doubts(self) -> tuple[str, ...]:
        """What keeps runs that refute nothing from telling all: each in a sentence."""
        found = []
        if self.outcome in ("runs", "undecided", "not run"):
            found.append(self.notes[-1] if self.notes else "there is nothing to compare the outputs with")
        found += [f"output {output.name} is weak: {output.weak}" for output in self.outputs if output.weak]
        found += [f"{pad.path} is {pad.exercise}: {pad.detail}" for pad in self.pads if pad.exercise != "exercised"]
        return tuple(found)

    @property
    def unproved(self) -> tuple[str, ...]:
        """Why it is not proved that the models do the same, each in a sentence; none where it is."""
        if self.outcome == "interface":
            return self.notes
        if self.proof is None:
            return ("nothing was proved: the original is no ONNX model, or other execution providers were asked for",)
        told = [f"{row.name} is not proved: {row.why}" for row in self.proof.regions if row.verdict != "proved"]
        return (*told, *([self.proof.why] if self.proof.why else []))

    def to_json(self) -> dict[str, Any]:
        """The verification as JSON values."""
        return {
            "verdict": self.verdict,
            "outcome": self.outcome,
            "passed": self.passed,
            "outputs": [asdict(output) for output in self.outputs],
            "inputs": list(self.inputs),
            "notes": list(self.notes),
            "pads": [asdict(pad) | {"compared": list(pad.compared)} for pad in self.pads],
            "proof": None if self.proof is None else self.proof.to_json(),
            "doubts": list(self.doubts),
            "unproved": list(self.unproved),
        }


@dataclass(frozen=True)
class FileRecord:
    """One file of the source or of the output.

    Attributes:
        name: Of a model, its path; of external data, the location that the tensors name.
        bytes: Its size.
        sha256: Of a model; None for external data.
        written: Whether the conversion wrote it; external data that were in place already are not written again.
    """

    name: str
    bytes: int
    sha256: str | None = None
    written: bool = False
