"""Compares the Pads of a converted model with the NumPy reference, if the original does not run.

The converted model tells each Pad's data and result. The reference computes what the original's Pad asks for, from the
same data. If these agree and every other node is equal, the models do the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model.evaluate import evaluate
from padops.convert.model.graphs import NodeSite, walk
from padops.convert.model.reading import read_document
from padops.convert.model.types import Types
from padops.convert.pads.match import Replacement
from padops.convert.records import Outcome, OutputComparison, PadComparison, Verification
from padops.convert.sources import SOURCES, Source, match_pad
from padops.convert.verify.bits import describe_difference
from padops.convert.verify.exercise import Reached, Sameness
from padops.convert.verify.probes import Place, Probed
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Session, fed
from padops.convert.verify.structure import other_difference
from padops.spec import reference
from padops.spec.dialects import DOMAIN
from padops.spec.plan import PadError

NESTED = "the original does not run, and the Pad stands in an inner graph"
COMPARED = "the converted model was compared with the NumPy reference"
NOTHING = "the converted model runs; there is nothing to compare its outputs with"


@dataclass
class DescribedPad:
    """One Pad, with its inputs and output.

    Attributes:
        path: See ``PadRecord.path``.
        form: Its operator.
        made: The operator of padops that does the same.
        inputs: The inputs of ``made``: arrays if constant, else names; None if absent.
        output: The name of its output.
        type: The element type of its data; None if unknown.
        dims: The dims of its data, None for a dynamic one; None if the rank is unknown.
    """

    path: str
    form: str
    made: Replacement
    inputs: list[np.ndarray | str | None]
    output: str
    type: str | None = None
    dims: list[int | None] | None = None

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of ``made``, by name."""
        return {name: attribute.value for name, attribute in self.made.attributes.items()}

    def expected(self, inputs: Sequence[np.ndarray | None]) -> np.ndarray:
        """The reference's result for these inputs.

        Raises:
            PadError: The reference refuses the Pad.
        """
        return reference.run(self.made.op_type, self.attributes, inputs, self.path)


@dataclass
class _Judged(DescribedPad):
    """A Pad with the findings about it."""

    detail: str = ""
    reached: Reached = field(default_factory=lambda: Reached(ran=True))
    sameness: Sameness = field(default_factory=Sameness)

    def compare(self, values: Outputs) -> None:
        """Compares one run's values with the reference.

        Raises:
            PadError: The reference refuses what the model ran.
        """
        inputs = [_plain(values[given]) if isinstance(given, str) else given for given in self.inputs]
        expected, found = self.expected(inputs), values[self.output]
        self.sameness.add(found)
        self.detail = self.detail or describe_difference(expected, found)
        assert inputs[0] is not None, "every operator has data"
        self.reached.padded |= inputs[0].shape != expected.shape or not np.array_equal(inputs[0], expected)
        self.reached.filled |= bool(expected.size)

    def result(self) -> PadComparison:
        """The findings as a record."""
        compared, weak = (self.output,), self.sameness.weak
        if self.detail:
            return PadComparison(self.path, self.form, "exercised", False, compared, self.detail, right=False)
        if why := self.reached.missing:
            return PadComparison(self.path, self.form, "not exercised", True, compared, why, right=True)
        return PadComparison(self.path, self.form, "weak" if weak else "exercised", True, compared, weak, right=True)


def judge_pads(
    original: Path | None, converted: Path, feeds: Sequence[Feeds], asked: Sequence[Source] = SOURCES
) -> list[PadComparison]:
    """Compares each Pad of the converted model with the reference, on the same data.

    ``original`` None means that there is no original in ONNX: then the converted model tells what its Pads must do.

    Returns:
        A record for each Pad; if the reference cannot judge one, ``right`` is None and ``detail`` tells why.

    Raises:
        PadError: The reference refuses what the model ran.
    """
    message = onnx.load(converted, load_external_data=False)
    described, hidden = described_pads(original or converted, message, asked)
    judged = [_Judged(**vars(pad)) for pad in described]
    probed = Probed(message)
    wanted = {name for pad in judged for name in (pad.output, *(x for x in pad.inputs if isinstance(x, str)))}
    names = {name for name in wanted if name not in {value.name for value in message.graph.input}}
    for name in sorted(names):
        probed.expose(Place(), name, onnx.TensorProto.FLOAT)
    try:
        session = Session(converted, optimised=False, instead=probed.model)
        for one in feeds:
            values = session.run(one, sorted(names)) | one
            for pad in judged:
                pad.compare(values)
    except DoesNotRun as error:
        why = f"ONNX Runtime does not run the model with its Pads as outputs: {error}"
        return [*(PadComparison(p.path, p.form, "not exercised", detail=why) for p in judged), *hidden]
    return [*(pad.result() for pad in judged), *hidden]


def judge(
    original: Path | None,
    converted: Path,
    feeds: Sequence[Feeds],
    notes: Sequence[str],
    asked: Sequence[Source] = SOURCES,
) -> Verification:
    """Verifies a converted model that runs by comparing each Pad with the reference; see ``judge_pads``."""
    try:
        pads = tuple(judge_pads(original, converted, feeds, asked))
    except PadError as error:
        # Where the rules refuse the original's Pad, the converted model may do anything.
        outcome: Outcome = "fails" if original is None else "runs"
        return Verification(outcome, (), fed(feeds), (*notes, f"the reference refuses what it runs: {error}"))
    given = {pad.compared[0]: pad for pad in pads if pad.right is not None}
    names = [value.name for value in onnx.load(converted, load_external_data=False).graph.output]
    outputs = tuple(
        OutputComparison(name, given[name].equal, "" if given[name].equal else given[name].detail)
        for name in names
        if name in given
    )
    if any(not pad.equal for pad in pads):
        return Verification("different", outputs, fed(feeds), (*notes, COMPARED), pads)
    if len(given) < len(pads) or other_difference(original or converted, converted):
        return Verification("runs", outputs, fed(feeds), (*notes, NOTHING), pads)
    return Verification("equal", outputs, fed(feeds), (*notes, COMPARED), pads)


def described_pads(
    path: Path, converted: onnx.ModelProto, asked: Sequence[Source]
) -> tuple[list[DescribedPad], list[PadComparison]]:
    """The Pads of the main graph that the reference can judge, and the other Pads with the reason."""
    document = read_document(path)
    types = Types(document)
    there = {name for node in converted.graph.node for name in node.output}
    there |= {value.name for value in converted.graph.input}
    described, hidden = [], []
    for site in walk(document.model):
        if isinstance(site.scope.root, ir.Function) and site.scope.root.domain == DOMAIN:
            continue
        match = match_pad(site, types, asked)
        if match is None:
            continue
        made, why = match.replacement, NESTED if site.scope.graph is not document.model.graph else ""
        if not why and not isinstance(made, Replacement):
            why = match.reason or "the reference has no operator for it"
        inputs = [_operand(value, site, types) for value in made.inputs] if isinstance(made, Replacement) else []
        output = site.node.outputs[0].name or ""
        missing = [name for name in (output, *inputs) if isinstance(name, str) and name not in there]
        if not why and missing:
            why = f"there is nothing to compare it with: the converted model has no value '{missing[0]}'"
        if why or not isinstance(made, Replacement):
            hidden.append(PadComparison(site.path, match.form, "not exercised", detail=why))
        else:
            data = made.inputs[0] if isinstance(made.inputs[0], ir.Value) else None
            type_name, dims = types.name(data), types.shape(data)
            described.append(DescribedPad(site.path, match.form, made, inputs, output, type_name, dims))
    return described, hidden


def _operand(value: ir.Value | np.ndarray | None, site: NodeSite, types: Types) -> np.ndarray | str | None:
    """The elements of an input if known, else its name; None if absent."""
    if value is None:
        return None
    known = value if isinstance(value, np.ndarray) else evaluate(value, site.scope, types)
    return (value.name or "") if known is None and isinstance(value, ir.Value) else _plain(known)


def _plain(array: np.ndarray | None) -> np.ndarray | None:
    """An array with strings as text; onnx_ir has them as bytes."""
    if array is None or array.dtype.kind not in "OSU":
        return array
    decoded = [item.decode() if isinstance(item, bytes) else str(item) for item in array.reshape(-1)]
    return np.array(decoded, object).reshape(array.shape)
