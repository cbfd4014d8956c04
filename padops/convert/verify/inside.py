"""Compares the result of each Pad in both models, bit by bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import onnx

from padops.convert.model.inference import declarations
from padops.convert.records import PadComparison
from padops.convert.verify.bits import Value, describe_difference
from padops.convert.verify.exercise import Reached, Sameness
from padops.convert.verify.pads import WatchedPad
from padops.convert.verify.probes import OutOfReach, Place, Probed, bodies
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Session
from padops.spec.schemas import register_schemas

AT_ONCE = 1 << 28  # bytes of Pads' values as outputs of one run; more Pads take further runs

Kinds = dict[tuple[Place, str], int]


@dataclass
class _Watch:
    """The findings about one Pad."""

    pad: WatchedPad
    missing: str
    detail: str = ""
    sameness: Sameness = field(default_factory=Sameness)

    def result(self) -> PadComparison:
        pad, weak = self.pad, self.sameness.weak
        if self.missing:
            return PadComparison(pad.path, pad.form, "not exercised", detail=self.missing)
        if self.detail or not weak or pad.idle:
            return PadComparison(pad.path, pad.form, "exercised", not self.detail, pad.compared, self.detail)
        return PadComparison(pad.path, pad.form, "weak", True, pad.compared, weak)


def compare_inside(
    original: tuple[Path, onnx.ModelProto],
    converted: tuple[Path, onnx.ModelProto],
    pads: Sequence[WatchedPad],
    reached: Sequence[Reached],
    feeds: Sequence[Feeds],
) -> list[PadComparison]:
    """Runs both models with the Pads' values as outputs, without graph optimisation, and compares them."""
    watches = [_Watch(pad, one.missing or _unmatched(pad, one)) for pad, one in zip(pads, reached, strict=True)]
    kinds = kinds_of(original[1])
    sizes = {pad: one.bytes for pad, one in zip(pads, reached, strict=True)}
    for group in _groups([watch for watch in watches if not watch.missing], sizes):
        _compare_group(original, converted, group, feeds, kinds)
    return [watch.result() for watch in watches]


def _unmatched(pad: WatchedPad, reached: Reached) -> str:
    if not pad.compared:
        return "there is nothing to compare it with: no value behind it has the same name in both models"
    if reached.bytes > AT_ONCE:
        return f"comparing it takes {reached.bytes} bytes of memory, more than {AT_ONCE}"
    return ""


def _groups(watches: Sequence[_Watch], sizes: dict[WatchedPad, int]) -> Iterator[list[_Watch]]:
    """Groups of Pads whose values fit into memory together; those of the main graph come first, which always run."""
    group: list[_Watch] = []
    total, nested = 0, False
    for watch in sorted(watches, key=lambda watch: watch.pad.place != Place()):
        size, inner = sizes[watch.pad], watch.pad.place != Place()
        if group and (total + size > AT_ONCE or inner != nested):
            yield group
            group, total = [], 0
        group.append(watch)
        total, nested = total + size, inner
    if group:
        yield group


def _compare_group(
    original: tuple[Path, onnx.ModelProto],
    converted: tuple[Path, onnx.ModelProto],
    group: Sequence[_Watch],
    feeds: Sequence[Feeds],
    kinds: Kinds,
) -> None:
    try:
        sessions = [_ProbedSession(*model, group, kinds) for model in (original, converted)]
        for one in feeds:
            before, after = (session.run(one) for session in sessions)
            for watch in group:
                for name in watch.pad.compared:
                    key = watch.pad.place, name
                    watch.sameness.add(before[key])
                    watch.detail = watch.detail or _difference(sessions[0], one, key, before[key], after[key])
    except (DoesNotRun, OutOfReach) as error:
        if len(group) > 1 and group[0].pad.place != Place():  # one Pad may be the reason: try each alone
            for watch in group:
                _compare_group(original, converted, [watch], feeds, kinds)
            return
        for watch in group:
            watch.missing = f"ONNX Runtime does not run the models with it as an output: {error}"


def _difference(
    original: _ProbedSession, feeds: Feeds, key: tuple[Place, str], before: list[Value], after: list[Value]
) -> str:
    """The difference; "" if the original's result changes from run to run."""
    detail = describe_difference(before, after).removeprefix("element 0: ")
    if not detail or describe_difference(before, original.run(feeds)[key]):
        return ""
    return f"{key[1]}: {detail}"


class _ProbedSession:
    """A model with the Pads' compared values as outputs."""

    def __init__(self, path: Path, model: onnx.ModelProto, group: Sequence[_Watch], kinds: Kinds) -> None:
        probed = Probed(model)
        self._names: dict[tuple[Place, str], list[str]] = {}
        for watch in group:
            for name in watch.pad.compared:
                key = watch.pad.place, name
                if key not in self._names:
                    self._names[key] = probed.expose(*key, kinds.get(key, onnx.TensorProto.FLOAT))
        self._session = Session(path, optimised=False, instead=probed.model)

    def run(self, feeds: Feeds) -> dict[tuple[Place, str], list[Value]]:
        """The values, one for each call of the function that they are in."""
        wanted = sorted({name for names in self._names.values() for name in names})
        outputs: Outputs = self._session.run(feeds, wanted)
        return {key: [outputs[name] for name in names] for key, names in self._names.items()}


def kinds_of(model: onnx.ModelProto) -> Kinds:
    """The element types of values that onnx infers."""
    register_schemas()
    try:
        inferred = onnx.shape_inference.infer_shapes(declarations(model))
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError, TypeError, LookupError):
        # Unknown types then count as float.
        inferred = model
    kinds: Kinds = {}
    for located in bodies(inferred):
        if isinstance(located.body, onnx.GraphProto):
            for info in (*located.body.input, *located.body.value_info, *located.body.output):
                if info.type.tensor_type.elem_type:
                    kinds[located.place, info.name] = info.type.tensor_type.elem_type
    return kinds
