"""A converted model whose original does not run: each Pad by what the original says of it, in the NumPy reference.

The converted model gives what each Pad reads and what it makes of that; the reference makes the same of it as the original
asks for. Where every other node is the same in both models, they do the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model.evaluate import evaluate
from padops.convert.model.graphs import NodeSite, walk
from padops.convert.model.reading import read_document
from padops.convert.model.types import Types
from padops.convert.records import OutputComparison, PadComparison, Verification
from padops.convert.sources import SOURCES, Source, match_pad
from padops.convert.sources.match import Replacement
from padops.convert.verify.bits import describe_difference
from padops.convert.verify.exercise import Reached, Sameness
from padops.convert.verify.pads import is_pad
from padops.convert.verify.probes import Place, Probed, bodies
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Session, fed
from padops.spec import reference
from padops.spec.dialects import DOMAIN
from padops.spec.plan import PadError

OPERATOR = re.compile(rf"\b{DOMAIN}(\.pyop)?::?\w")  # of padops, as ONNX Runtime and the kernels name it
NESTED = "the original does not run, and it stands in a graph inside of it"
COMPARED = "the converted model was compared with the NumPy reference"
NOTHING = "the converted model runs; there is nothing to compare its outputs with"


@dataclass
class _Judged:
    """One Pad: what it reads, as arrays or by name, and what it gives."""

    path: str
    form: str
    made: Replacement
    inputs: list[np.ndarray | str | None]
    output: str
    detail: str = ""
    reached: Reached = field(default_factory=lambda: Reached(ran=True))
    sameness: Sameness = field(default_factory=Sameness)

    def compare(self, values: Outputs) -> None:
        """Looks at one run.

        Raises:
            PadError: The reference refuses what the model runs.
        """
        inputs = [_plain(values[given]) if isinstance(given, str) else given for given in self.inputs]
        attributes = {name: attribute.value for name, attribute in self.made.attributes.items()}
        expected, found = reference.run(self.made.op_type, attributes, inputs, self.path), values[self.output]
        self.sameness.add(found)
        self.detail = self.detail or describe_difference(expected, found)
        assert inputs[0] is not None, "every operator has data"
        self.reached.padded |= inputs[0].shape != expected.shape or not np.array_equal(inputs[0], expected)
        self.reached.filled |= bool(expected.size)

    def result(self) -> PadComparison:
        """What has been found about it."""
        compared, weak = (self.output,), self.sameness.weak
        if self.detail:
            return PadComparison(self.path, self.form, "exercised", False, compared, self.detail)
        if why := self.reached.missing:
            return PadComparison(self.path, self.form, "not exercised", True, compared, why)
        return PadComparison(self.path, self.form, "weak" if weak else "exercised", True, compared, weak)


def judge(
    original: Path | None,
    converted: Path,
    feeds: Sequence[Feeds],
    notes: Sequence[str],
    asked: Sequence[Source] = SOURCES,
) -> Verification:
    """Compares each Pad of a model that runs with the reference.

    Args:
        original: A model file; None where there is none of ONNX. Then the converted one says what its Pads are to do.
        converted: A model file.
        feeds: The draws, which the converted model takes.
        notes: What is to be said first.
        asked: What counts as a Pad.
    """
    message = onnx.load(converted, load_external_data=False)
    judged, hidden = _pads(original or converted, message, asked)
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
    except PadError as error:
        return Verification("fails", (), fed(feeds), (*notes, f"the reference refuses what it runs: {error}"))
    except DoesNotRun as error:
        why = f"ONNX Runtime does not run the model with its Pads as outputs: {error}"
        judged, hidden = [], [*hidden, *(PadComparison(p.path, p.form, "not exercised", detail=why) for p in judged)]
    pads = (*(pad.result() for pad in judged), *hidden)
    given = {pad.output: pad for pad in judged}
    outputs = tuple(
        OutputComparison(value.name, not given[value.name].detail, given[value.name].detail)
        for value in message.graph.output
        if value.name in given
    )
    if any(pad.detail for pad in judged):
        return Verification("different", outputs, fed(feeds), (*notes, COMPARED), pads)
    if hidden or not _same_but_for_pads(original or converted, message):
        return Verification("runs", outputs, fed(feeds), (*notes, NOTHING), pads)
    return Verification("equal", outputs, fed(feeds), (*notes, COMPARED), pads)


def _pads(path: Path, converted: onnx.ModelProto, asked: Sequence[Source]) -> tuple[list[_Judged], list[PadComparison]]:
    """The Pads of the main graph that the reference can be asked about, and the others with the reason."""
    document = read_document(path)
    types = Types(document)
    there = {name for node in converted.graph.node for name in node.output}
    there |= {value.name for value in converted.graph.input}
    judged, hidden = [], []
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
            judged.append(_Judged(site.path, match.form, made, inputs, output))
    return judged, hidden


def _operand(value: ir.Value | np.ndarray | None, site: NodeSite, types: Types) -> np.ndarray | str | None:
    """The elements of an input where they are known, else its name."""
    if value is None:
        return None
    known = value if isinstance(value, np.ndarray) else evaluate(value, site.scope, types)
    return (value.name or "") if known is None and isinstance(value, ir.Value) else _plain(known)


def _plain(array: np.ndarray | None) -> np.ndarray | None:
    """Strings of a tensor are bytes to onnx_ir, and text to everyone else."""
    if array is None or array.dtype.kind not in "OSU":
        return array
    decoded = [item.decode() if isinstance(item, bytes) else str(item) for item in array.reshape(-1)]
    return np.array(decoded, object).reshape(array.shape)


def _same_but_for_pads(path: Path, converted: onnx.ModelProto) -> bool:
    """Whether every node of the main graph that is no Pad, and every large constant, is the same in both models."""
    original = onnx.load(path, load_external_data=False)
    if [value.name for value in original.graph.output] != [value.name for value in converted.graph.output]:
        return False
    made = {name: node for node in converted.graph.node for name in node.output}
    for node in original.graph.node:
        if not is_pad(node) and not (node.output and _alike(node, made.get(node.output[0]))):
            return False
    tensors = {tensor.name: tensor for tensor in converted.graph.initializer}
    return all(tensor == tensors.get(tensor.name, tensor) for tensor in original.graph.initializer)


def _alike(node: onnx.NodeProto, other: onnx.NodeProto | None) -> bool:
    return other is not None and (
        (node.domain, node.op_type, list(node.input), list(node.output), list(node.attribute))
        == (other.domain, other.op_type, list(other.input), list(other.output), list(other.attribute))
    )


def blames_changes(refusal: str, original: onnx.ModelProto, converted: onnx.ModelProto) -> bool:
    """Whether what ONNX Runtime says of the converted model is about a node that the original does not have.

    Args:
        refusal: What it says.
        original: The model before.
        converted: The model after.
    """
    if OPERATOR.search(refusal):
        return True
    former = [node for located in bodies(original) for node in located.body.node]
    known = {node.name for node in former if not is_pad(node)}
    new = {node.name for located in bodies(converted) for node in located.body.node} - known
    return any(f"{quote}{name}{end}" in refusal for name in new if name for quote, end in ("''", '""', "()"))
