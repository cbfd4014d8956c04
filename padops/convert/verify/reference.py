"""Compares Pads with the NumPy reference, if ONNX Runtime does not run the original, or neither model.

The converted model tells each Pad's data and result. The reference computes what the original's Pad asks for, from the
same data. If these agree and every other node is equal, the models do the same. Where the converted model does not run
either, ``compare_structures`` gives both Pads the same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import numpy_helper

from padops.convert.matchers import MATCHERS, Matcher, match_pad
from padops.convert.model.evaluate import evaluate
from padops.convert.model.graphs import NodeSite, walk
from padops.convert.model.reading import read_document
from padops.convert.model.types import Types
from padops.convert.pads.match import Replacement
from padops.convert.records import Outcome, OutputComparison, PadComparison, Verification
from padops.convert.standard.fallback import is_fallback
from padops.convert.verify.bits import describe_difference
from padops.convert.verify.exercise import Reached, Sameness
from padops.convert.verify.probes import Place, Probed
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Session, fed
from padops.convert.verify.structure import other_difference, same_but_for_names
from padops.spec import reference
from padops.spec.dtypes import by_name
from padops.spec.plan import PadError

NESTED = "the original does not run, and the Pad stands in an inner graph"
COMPARED = "the converted model was compared with the NumPy reference"
NOTHING = "the converted model runs; there is nothing to compare its outputs with"
BY_NODE = "node by node, the two models do the same"
OPEN = 11  # the size of a dynamic dim
MOST = 1 << 20  # the most elements of the data on which two Pads are compared


@dataclass
class DescribedPad:
    """One Pad, with its inputs and output."""

    path: str  # see ``PadRecord.path``
    form: str  # its operator
    made: Replacement  # the operator of padops that does the same
    inputs: list[np.ndarray | str | None]  # the inputs of ``made``: arrays if constant, else names; None if absent
    output: str  # the name of its output
    type: str | None = None  # the element type of its data; None if unknown
    dims: list[int | None] | None = None  # the dims of its data, None for a dynamic one; None if the rank is unknown

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
    original: Path | None, converted: Path, feeds: Sequence[Feeds], asked: Sequence[Matcher] = MATCHERS
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
    names = wanted - {value.name for value in message.graph.input}
    # An input that nothing is given for has the value of its initializer.
    defaults = {
        x.name: numpy_helper.to_array(x, str(converted.parent))
        for x in message.graph.initializer
        if x.name in wanted - names
    }
    for name in sorted(names):
        probed.expose(Place(), name, onnx.TensorProto.FLOAT)
    try:
        session = Session(converted, optimised=False, instead=probed.model)
        for one in feeds:
            values = defaults | session.run(one, sorted(names)) | one
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
    asked: Sequence[Matcher] = MATCHERS,
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
    path: Path, converted: onnx.ModelProto, asked: Sequence[Matcher]
) -> tuple[list[DescribedPad], list[PadComparison]]:
    """The Pads of the main graph that the reference can judge, and the other Pads with the reason."""
    document = read_document(path)
    types = Types(document)
    there = {name for node in converted.graph.node for name in node.output}
    there |= {value.name for value in converted.graph.input}
    described, hidden = [], []
    for site in walk(document.model):
        if isinstance(site.scope.root, ir.Function) and is_fallback(site.scope.root):
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


class _Untold(Exception):
    """Two Pads cannot be compared; the message says why."""


def compare_structures(original: Path, converted: Path, asked: Sequence[Matcher]) -> tuple[Verification | None, str]:
    """Compares two models node by node: other nodes than Pads must be equal, apart from their names.

    The NumPy reference tells whether Pads that are written differently give the same for the same data.

    Returns:
        ``"same"`` or ``"different"``; else None, and why.
    """
    if same_but_for_names(original, converted):
        return Verification("same", notes=(BY_NODE,)), ""
    one, other = (onnx.load(path, load_external_data=False) for path in (original, converted))
    before, hidden = described_pads(original, other, asked)
    after = {pad.output: pad for pad in described_pads(converted, one, asked)[0]}
    pads, why = [], "".join(f"{pad.path}: {pad.detail}" for pad in hidden[:1])
    for pad in before:
        try:
            if pad.output not in after:
                raise _Untold("the other model has no Pad there")
            detail = _difference(pad, after[pad.output])
        except (_Untold, PadError) as error:
            why = why or f"{pad.path}: {error}"
            continue
        pads.append(PadComparison(pad.path, pad.form, "exercised", not detail, (pad.output,), detail, not detail))
    if any(not pad.equal for pad in pads):
        return Verification("different", pads=tuple(pads)), ""
    if place := other_difference(original, converted):
        why = why or f"{place} is not the same in both"
    return (None, why) if why else (Verification("same", notes=(BY_NODE,), pads=tuple(pads)), "")


def _difference(pad: DescribedPad, other: DescribedPad) -> str:
    """The difference of the results of two Pads, or "".

    Raises:
        _Untold: Their data differ, or their amounts or fills are not constant.
        PadError: A Pad breaks a rule.
    """
    if _says(pad) == _says(other):
        return ""
    if isinstance(pad.inputs[0], str) and pad.inputs[0] != other.inputs[0]:
        raise _Untold(f"its data are '{pad.inputs[0]}' in one model and '{other.inputs[0]}' in the other")
    data = _sample(pad)
    results = []
    for one in (pad, other):
        given = [data, *one.inputs[1:]]
        if any(isinstance(value, str) for value in given[1:]):
            raise _Untold("its amounts or its fill are not known before it runs")
        results.append(one.expected([None if isinstance(value, str) else value for value in given]))
    return describe_difference(*results)


def _says(pad: DescribedPad) -> tuple[Any, ...]:
    """A key of all that decides a Pad's result."""
    known = [(x.dtype.str, x.shape, x.tolist()) if isinstance(x, np.ndarray) else x for x in pad.inputs]
    return pad.made.op_type, sorted((name, str(value)) for name, value in pad.attributes.items()), known


def _sample(pad: DescribedPad) -> np.ndarray:
    """Data for a Pad, in which neighbours differ.

    Raises:
        _Untold: The type or rank is not known, or the data are too large.
    """
    if isinstance(pad.inputs[0], np.ndarray):
        return pad.inputs[0]
    if pad.type is None or pad.dims is None:
        raise _Untold("the type or the rank of its data is not known")
    dims = [OPEN if dim is None else dim for dim in pad.dims]
    if prod(dims) > MOST:
        raise _Untold(f"its data have more than {MOST} elements")
    dtype, numbers = by_name(pad.type), np.arange(prod(dims))
    if pad.type == "string":
        return np.array([str(number) for number in numbers], object).reshape(dims)
    if dtype.bits < 8 or pad.type == "bool":
        bits = numbers * 7 % 11 % (2 if pad.type == "bool" else 1 << dtype.bits)
        return bits.astype(np.uint8).view(dtype.numpy).reshape(dims)
    return (numbers % 113 + 1).astype(dtype.numpy).reshape(dims)
