"""The results of a conversion as data: Pads, verification, files, and the result of ``padops.convert``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from padops.runtime.installed import versions

if TYPE_CHECKING:
    import onnx
    import onnx_ir as ir


Verdict = Literal["runs", "runs if", "may be wrong", "wrong", "refuses", "breaks a rule", "unknown"]
Road = Literal["session", "memory", "convert", "lower"]

RUNNING = ("runs", "runs if")  # the verdicts of Pads that run
Dim = int | str | None  # a number, a name, or None if unknown


@dataclass(frozen=True)
class PadFacts:
    """One Pad of a model, and ONNX Runtime's verdict on the Pad.

    Attributes:
        path: The Pad's place in the model; see ``PadRecord.path``.
        name: The node's name in the model.
        form: The form of the Pad, such as ``"Pad-18 inputs"``; see ``PadRecord.form``.
        operator: The node's operator, with its domain unless the domain is ONNX's.
        opset: The version of the operator's domain that the graph imports; None without an import.
        mode: ``"constant"``, ``"edge"``, ``"reflect"``, ``"wrap"``, ``"symmetric"``, ``"SAME_UPPER"`` or
            ``"SAME_LOWER"``; None if a function's caller sets it.
        type: The element type of the data; None if unknown.
        input_shape: The dims of the data: a number, a name or None (unknown) for each; None if the rank is unknown.
        output_shape: The dims of the result, in the same form.
        amounts: For each axis, the elements added before and after, and an interior if there is one. A negative number
            crops. None for an axis with unknown amounts; None for all if no axis has known amounts.
        fill: The fill as text; ``"at run time"`` for a computed fill; None if the mode reads no fill.
        verdict: What ONNX Runtime does with the Pad: ``"runs"``; ``"runs if"``: under a condition on the data, which
            ``why`` names; ``"may be wrong"``; ``"wrong"``; ``"refuses"``; ``"breaks a rule"``: the Pad can run nowhere;
            or ``"unknown"``.
        why: The reason for the verdict.
        roads: The ways to run the Pad with padops, the best first: ``"session"`` (``padops.InferenceSession``, or
            ``padops.register`` with the provider), ``"convert"`` (``padops convert``), ``"lower"`` (``padops convert
            --target onnx``). Only ``padops.inspect`` sets it.
        runner: The execution provider that runs the Pad in a ``padops.InferenceSession``; "" if none does. Only
            ``padops.inspect`` with ``providers`` sets it.
    """

    path: str
    name: str
    form: str
    operator: str
    opset: int | None
    mode: str | None
    type: str | None
    input_shape: tuple[Dim, ...] | None
    output_shape: tuple[Dim, ...] | None
    amounts: tuple[tuple[int, ...] | None, ...] | None
    fill: str | None
    verdict: Verdict
    why: str
    roads: tuple[Road, ...] = ()
    runner: str = ""

    @property
    def runs(self) -> bool:
        """Whether ONNX Runtime runs the Pad, as far as is known without the data."""
        return self.verdict in RUNNING

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON values, without ``roads`` and ``runner``."""
        return {name: value for name, value in _plain_fields(self).items() if name not in ("roads", "runner")}

    def what(self) -> str:
        """Return the Pad in one line: mode, type, shapes, amounts and fill."""
        shapes = f"{_shape_text(self.input_shape)} \N{RIGHTWARDS ARROW} {_shape_text(self.output_shape)}"
        parts = [*([self.mode] if self.mode else []), f"{self.type or 'unknown type'} {shapes}"]
        if self.amounts is not None or (self.mode is not None and self.verdict != "breaks a rule"):
            parts.append(self._amounts_text())
        if self.fill is not None:
            parts.append(f"fill {self.fill}")
        return ", ".join(parts)

    def _amounts_text(self) -> str:
        if self.amounts is None:
            return "amounts at run time"
        parts = []
        for axis, row in enumerate(self.amounts):
            if row is None:
                parts.append(f"axis {axis}: at run time")
            elif any(row):
                between = f", {row[2]} between" if row[2:] else ""
                parts.append(f"axis {axis}: {row[0]} before, {row[1]} after{between}")
        return ", ".join(parts) or "nothing added"


def plain(value: Any) -> Any:
    """Return a value as JSON values, by its ``to_json`` if it has one, else by its fields; tuples become lists."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return _plain_fields(value)
    return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def _plain_fields(record: Any) -> dict[str, Any]:
    return {name: plain(value) for name, value in vars(record).items()}


def _shape_text(shape: tuple[Dim, ...] | None) -> str:
    """Return a shape as text: ``[2, n, ?]``; ``[...]`` if the rank is unknown."""
    return "[...]" if shape is None else f"[{', '.join('?' if dim is None else str(dim) for dim in shape)}]"


SCHEMA = 7  # the report's version; raise it when readers of older reports would misread a newer one

Status = Literal["converted", "already converted", "folded", "not needed", "unconverted"]
Outcome = Literal[
    "proved", "equal", "close", "corrected", "same", "different", "interface", "runs", "fails", "undecided", "not run"
]
Certainty = Literal["proved", "tested", "different", "unknown"]
PASSED: tuple[Outcome, ...] = ("proved", "equal", "close", "corrected", "same")
REFUTED: tuple[Outcome, ...] = ("different", "interface", "fails")
WITHOUT_OPTIMISATION = "without graph optimisation; with it,"  # begins a note if only the unoptimised run is bit-equal
Exercise = Literal["exercised", "not exercised"]


@dataclass(frozen=True)
class PadRecord:
    """One Pad of a model.

    Attributes:
        path: The Pad's place, such as ``graph/If_12.then_branch/Pad_3`` or ``function custom::Block/Pad_0``. A node
            without a name appears as its operator and its position in its graph.
        name: The node's name in the model.
        form: The form of the Pad, such as ``"Pad-18 inputs"``, ``"Pad-2 attributes"``, ``"com.microsoft::Pad-1"``.
        status: ``"converted"``; ``"already converted"``; ``"folded"``: the node is gone; ``"not needed"``: it needs no
            conversion, or ONNX Runtime runs it correctly and ``select`` leaves such Pads; or ``"unconverted"``: padops
            could not convert the Pad.
        op_type: The operator of the domain ``padops``; ``"explicit pads"`` if the node got explicit amounts in place of
            ``auto_pad``; ``"standard ONNX"`` if the Pad was lowered; None if it is unconverted.
        reason: Why the Pad is unconverted or not needed; else None.
        notes: Other remarks, such as a change of the Pad's version.
        corrects: Why ONNX Runtime gets the original node wrong, so that the outputs of the two models may differ; else
            None.
        into: For a folded Pad, the paths of the nodes that now do its work.
        facts: The facts of the original Pad, with ONNX Runtime's verdict on it.
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
        """Return the Pad's path, its form, and the reason why it stays or the rule that it breaks."""
        why = self.reason or (self.facts.why if self.facts else "")
        return f"{self.path} ({self.form}): {why}"

    def to_json(self) -> dict[str, Any]:
        """Return the record and its facts as JSON values."""
        own = _plain_fields(self)
        return (own.pop("facts") or {}) | own


def breaks_a_rule(record: PadRecord) -> bool:
    return record.facts is not None and record.facts.verdict == "breaks a rule"


@dataclass(frozen=True)
class OutputComparison:
    """One output of the original and of the converted model."""

    name: str
    equal: bool  # whether type, shape and every bit agree
    detail: str = ""  # if not equal: how many elements differ, the first position and both values
    # Why equality says little: the output is empty, NaN or one constant value for all random inputs; else "".
    weak: str = ""


@dataclass(frozen=True)
class PadComparison:
    """The result of the runs for one Pad of the original."""

    path: str  # see ``PadRecord.path``
    form: str  # the Pad's operator
    # ``"exercised"``; or ``"not exercised"``: the Pad did not run, had an empty output, or padded nothing.
    exercise: Exercise
    # For an OpenVINO IR, whether the Pad returns the same bits in both runtimes; for ONNX, only outputs count.
    equal: bool = True
    compared: tuple[str, ...] = ()  # the values that ``equal`` compares
    detail: str = ""  # the difference, or the reason why the Pad is not exercised
    right: bool | None = None  # as ``equal``; None if the Pad was not compared


@dataclass(frozen=True)
class RegionRecord:
    """One difference between the two models: the nodes that compute a value from values that both models share.

    Attributes:
        name: The value's name in the original.
        original: The region's operators in the original.
        converted: The region's operators in the converted model.
        verdict: ``"proved"``; ``"different"``; or ``"unknown"``.
        rule: The rule that decided the verdict: ``"moves"``, ``"fold"``, ``"amounts"``, ``"fallback"``; see
            docs/verification.md.
        holds_for: The scope of the verdict, such as ``"all data, these dims"``.
        conditions: The assumptions of the proof.
        why: Why the region is not proved; "" if it is proved.
        counterexample: Dims of values, by name, for which the models differ; None if none are known.
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
        """Return the region as JSON values."""
        return _plain_fields(self)


@dataclass(frozen=True)
class ProofRecord:
    """The proof, made without a run: wherever the original runs, the converted model returns the same.

    Attributes:
        verdict: ``"proved"``: every region is proved; ``"different"``: a region seems to differ, which only a run can
            confirm; or ``"unknown"``.
        regions: The regions in which the models differ, in the order in which they were decided.
        same: The number of operators that both models apply to the same inputs.
        assumptions: The assumptions of the whole proof, such as a shape that the original declares.
        new_errors: The number of regions in which the converted model fails for data with which the original runs. One
            such region prevents a proof.
        why: Why nothing could be proved or refuted, if the reason belongs to no region; else "".
    """

    verdict: Certainty
    regions: tuple[RegionRecord, ...] = ()
    same: int = 0
    assumptions: tuple[str, ...] = ()
    new_errors: int = 0
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the proof as JSON values, with the number of regions of each verdict."""
        counts = {verdict: sum(row.verdict == verdict for row in self.regions) for verdict in get_args(Certainty)}
        return _plain_fields(self) | {"counts": counts}


@dataclass(frozen=True)
class Verification:
    """Whether the converted model does what the original does.

    ``verdict`` is the answer; it follows from ``proof`` and ``outcome``.

    Attributes:
        outcome: The result of running both models:

            - ``"proved"``: everything is proved, and runs were impossible or too costly; a note says why.
            - ``"equal"``: the same bits.
            - ``"close"``: floats differ within the tolerance, and not because of a Pad: another runtime or another
              order of casts rounds differently.
            - ``"corrected"``: outputs differ, but only outputs that depend on a node that ONNX Runtime gets wrong.
            - ``"same"``: everything is proved, and ONNX Runtime loads neither model.
            - ``"different"``: other outputs differ.
            - ``"interface"``: nothing ran: inputs or outputs differ in order, number, names, element types or ranks.
            - ``"runs"``: the converted model runs; the original does not run, or its outputs change from run to run.
            - ``"fails"``: the converted model does not run, or breaks a rule.
            - ``"undecided"``: neither model runs, and not all nodes could be compared.
            - ``"not run"``: no run was possible: the inputs are too large, or ONNX Runtime crashed.
        outputs: One comparison for each output; empty if the original did not run.
        inputs: Names, types and shapes of the models' inputs, for each set of inputs.
        notes: How the models were compared, and other findings.
        pads: One comparison for each Pad; for an IR, it includes the result of OpenVINO's Pad for the same data.
        proof: The proof; None for an original that is not ONNX, for other execution providers, and for ``"interface"``.
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

        ``"proved"``: every region is proved. ``"tested"``: runs of both models returned the same, except for the
        differences that ``outcome`` names and the points that ``doubts`` lists. ``"different"``: a run has shown a
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
        """Whether the verdict is ``"proved"`` or ``"tested"``; ``doubts`` lists the points that the runs leave open."""
        return self.verdict in ("proved", "tested")

    @property
    def refuted(self) -> bool:
        """Whether a run or the interface shows that the converted model differs."""
        return self.outcome in REFUTED

    @property
    def doubts(self) -> tuple[str, ...]:
        """The points that the runs leave open, each in a sentence."""
        found = []
        if self.outcome in ("runs", "undecided", "not run", "same"):
            found.append(self.notes[-1] if self.notes else "there is nothing to compare the outputs with")
        found += [f"output {output.name} is weak: {output.weak}" for output in self.outputs if output.weak]
        found += [f"{pad.path} is {pad.exercise}: {pad.detail}" for pad in self.pads if pad.exercise != "exercised"]
        return tuple(found)

    @property
    def unproved(self) -> tuple[str, ...]:
        """The reasons why the models are not proved to do the same, each in a sentence; empty if they are proved."""
        if self.outcome == "interface":
            return self.notes
        if self.proof is None:
            return ("nothing was proved: the original is no ONNX model, or other execution providers were selected",)
        told = [f"{row.name} is not proved: {row.why}" for row in self.proof.regions if row.verdict != "proved"]
        return (*told, *([self.proof.why] if self.proof.why else []))

    def to_json(self) -> dict[str, Any]:
        """Return the verification as JSON values."""
        answer = {"verdict": self.verdict, "outcome": self.outcome, "passed": self.passed}
        return answer | _plain_fields(self) | {"doubts": list(self.doubts), "unproved": list(self.unproved)}


@dataclass(frozen=True)
class FileRecord:
    """One file of the source or of the output."""

    name: str  # for a model, its path; for external data, the location that the tensors name
    bytes: int  # the file's size
    sha256: str | None = None  # the hash of a model file; None for external data
    # Whether the conversion wrote the file; it does not write external data that are already in place.
    written: bool = False


@dataclass(frozen=True, repr=False)
class Conversion:
    """The result of ``padops.convert``.

    Attributes:
        model: The converted model; external tensors refer to the source's files.
        records: One record for each Pad: first the graph's Pads, then the functions' Pads. At the end, one record for
            each node with SAME that stays although ONNX Runtime refuses it or may get it wrong.
        verification: The verification; None without ``verify``.
        output: The written model file, or None.
        opsets: The opset imports of the source, by domain.
        sources: The source's files: the model, then its data.
        outputs: The output's files: the model, then its data.
        notes: Notes on the whole model.
        no_fallback: For each operator of padops that has no fallback although the caller wanted one: the reason and the
            fix.
    """

    model: ir.Model
    records: tuple[PadRecord, ...]
    verification: Verification | None = None
    output: Path | None = None
    opsets: dict[str, int] = field(default_factory=dict)
    sources: tuple[FileRecord, ...] = ()
    outputs: tuple[FileRecord, ...] = ()
    notes: tuple[str, ...] = ()
    no_fallback: dict[str, str] = field(default_factory=dict)
    _proto: onnx.ModelProto | None = field(default=None, repr=False, compare=False)
    _corrected: frozenset[str] = field(default=frozenset(), repr=False, compare=False)  # values that may differ
    _fatal: frozenset[str] = field(default=frozenset(), repr=False, compare=False)  # paths of Pads that stop every run
    _folder: Path | None = field(default=None, repr=False, compare=False)  # of the external data, if nothing is written
    _write: Callable[[Conversion, Path], Conversion] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        source = f" of {self.sources[0].name}" if self.sources else ""
        written = "" if self.output is None else f", written to {self.output}"
        return f"<Conversion{source}: {self.summary()}{written}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model as protobuf messages; external data stay in their files."""
        kept = {row.name: getattr(self, row.name) for row in fields(self) if row.name not in ("model", "_proto")}
        return _restored, (self.proto().SerializeToString(), *_external(self.model), kept)

    def summary(self) -> str:
        """Return the number of Pads of each status: ``"3 Pads: 2 converted, 1 not needed"``."""
        counts = Counter(record.status for record in self.records)
        parts = [f"{count} {status}" for status, count in counts.items()] or ["0 converted"]
        if lacking := sum(record.op_type in self.no_fallback for record in self.records):
            parts.append(f"{lacking} without a fallback")
        return f"{len(self.records)} Pad{'' if len(self.records) == 1 else 's'}: {', '.join(parts)}"

    def save(self, path: str | os.PathLike[str]) -> Conversion:
        """Write the model whole or not at all, and copy its external data to the same folder.

        Args:
            path: The file to write.

        Returns:
            The conversion, with the written files.

        Raises:
            PadopsError: A file cannot be read or written. No file is left behind.
        """
        assert self._write is not None, "padops.convert made it"
        return self._write(self, Path(path))

    def proto(self) -> onnx.ModelProto:
        """Return the converted model as a protobuf message; its parts other than Pads are as in the source."""
        import onnx_ir as ir

        return ir.to_proto(self.model) if self._proto is None else self._proto

    @property
    def converted(self) -> tuple[PadRecord, ...]:
        """The Pads that this conversion converted."""
        return tuple(record for record in self.records if record.status == "converted")

    @property
    def unconverted(self) -> tuple[PadRecord, ...]:
        """The Pads that could not be converted."""
        return tuple(record for record in self.records if record.status == "unconverted")

    @property
    def data_folder(self) -> Path | None:
        """The folder of the model's external data; None without external data, or after the model has been written."""
        return self._folder if self.output is None and _external(self.model)[0] is not None else None

    def to_json(self) -> dict[str, Any]:
        """Return everything but the model as JSON values, as ``--report`` writes it."""
        counts = Counter(record.status for record in self.records)
        return {
            "schema": SCHEMA,
            "versions": versions(),
            "source": {"files": plain(self.sources), "opsets": self.opsets},
            "output": {"path": None if self.output is None else str(self.output), "files": plain(self.outputs)},
            "counts": {status: counts[status] for status in get_args(Status)},
            "pads": plain(self.records),
            "verification": plain(self.verification),
            "notes": plain(self.notes),
            "no_fallback": self.no_fallback,
        }


def _external(model: ir.Model) -> tuple[bytes | None, str | None]:
    """Return the serialized model and the folder of its external data; without external data, both are None."""
    import onnx_ir as ir

    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    external = next((tensor for tensor in tensors if isinstance(tensor, ir.ExternalTensor)), None)
    return (None, None) if external is None else (ir.to_proto(model).SerializeToString(), os.fspath(external.base_dir))


def _restored(content: bytes, graph: bytes | None, folder: str | None, kept: dict[str, Any]) -> Conversion:
    """Rebuild a conversion from the parts of ``Conversion.__reduce__``."""
    import onnx
    import onnx_ir as ir

    message = onnx.ModelProto.FromString(content)
    model = ir.from_proto(message if graph is None else onnx.ModelProto.FromString(graph))
    if folder is not None:
        ir.external_data.set_base_dir(model.graph, folder)
        for function in model.functions.values():
            ir.external_data.set_base_dir(function.graph, folder)
    return Conversion(model, _proto=message, **kept)
