"""The options and inputs of a comparison, and the interface on which callers of a model rely."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.inputs.given import Feeds, Input, Inputs, fit_inputs, overridable_inputs, required_inputs
from padops.convert.inputs.pads import Hints
from padops.convert.inputs.random_inputs import random_inputs
from padops.convert.verify.bits import Tolerance
from padops.convert.verify.inference import dims_of, forget_dims
from padops.convert.verify.sessions import Risks

TURNS = 4  # sets of random inputs; sizes, lengths, branches, single bools and special values differ between them


@dataclass(frozen=True)
class Asked:
    """The options of a comparison."""

    inputs: Inputs | None = None  # the inputs for both models; None for random inputs
    seed: int = 0  # the seed of random inputs
    rtol: float | None = None  # see ``Tolerance``
    atol: float | None = None  # see ``Tolerance``
    # The values behind Pads that ONNX Runtime gets wrong or may get wrong, each with the reason
    doubted: Mapping[str, str] = field(default_factory=dict)
    doubted_unoptimised: Mapping[str, str] = field(default_factory=dict)  # the same for runs without graph optimisation
    run: bool = False  # whether to run both models even if they are proved equal

    @property
    def tolerance(self) -> Tolerance | None:
        """The caller's tolerance; None if the tolerance is measured on the original."""
        return None if self.rtol is None and self.atol is None else Tolerance(self.rtol or 0, self.atol or 0)


@dataclass(frozen=True)
class RunInputs:
    inputs: Sequence[Input]
    given: Mapping[str, np.ndarray] | None  # the caller's arrays; None for random inputs
    asked: Asked
    hints: Hints = field(default_factory=Hints)
    # The values that may differ, because the converted model corrects an error of the original
    corrected: frozenset[str] = frozenset()
    first: Sequence[Sequence[Input]] = ()  # inputs whose dims may show a difference; they run first
    is_proved: bool = False  # whether the models are proved equal
    risks: Risks = field(default_factory=Risks)

    @property
    def proved(self) -> bool:
        """Whether a few runs are enough: the models are proved equal, and the caller wants no more runs."""
        return self.is_proved and not self.asked.run and self.given is None

    def turns(self, count: int = TURNS) -> list[Iterable[Feeds]]:
        """Returns the attempts for each set of inputs; a run uses the first attempt that the model accepts."""
        if self.given is not None:
            return [[fit_inputs(self.given, self.inputs)]]
        count = count if self.inputs else 1  # without inputs, all runs are the same
        return [random_inputs(self.inputs, self.asked.seed, turn, self.hints) for turn in range(count)]


def other_interface(original: onnx.ModelProto, converted: onnx.ModelProto) -> tuple[str, ...]:
    """Lists the interface changes that a caller of the original would notice, one sentence each.

    The changes concern names, order, number, types and ranks of inputs and outputs, and the initializers that callers
    may replace. Sizes and names of dims, and default values, do not count: the runs check these.
    """
    found = []
    for what, first, second in (
        ("input", required_inputs(original), required_inputs(converted)),
        ("output", original.graph.output, converted.graph.output),
    ):
        names, others = (", ".join(f"'{value.name}'" for value in values) or "none" for values in (first, second))
        if names != others:
            there = f"{names} in the original, and {others} in the converted model"
            found.append(f"the {what}s are {there}; callers may rely on their positions")
            continue
        for one, other in zip(first, second):
            if told := _other_type(one.type, other.type):
                found.append(f"the {what} '{one.name}' is {told}")
    replaceable, inputs = overridable_inputs(converted), {value.name: value for value in converted.graph.input}
    for value in original.graph.input:
        if value.name not in overridable_inputs(original):
            continue
        if value.name not in replaceable | {row.name for row in required_inputs(converted)}:
            may = f"may replace the initializer '{value.name}'"
            found.append(f"a caller of the original {may}, but a caller of the converted model may not")
        elif told := _other_type(value.type, inputs[value.name].type):
            found.append(f"the input '{value.name}' is {told}")
    return tuple(found)


def _other_type(first: onnx.TypeProto, second: onnx.TypeProto) -> str:
    """Describes how two declared types differ in element type or rank; "" if these agree as far as they are known."""
    bare, ranks = [deepcopy(kind) for kind in (first, second)], [dims_of(kind) for kind in (first, second)]
    for kind in bare:
        kind.ClearField("denotation")
        forget_dims(kind)
    is_known = all(kind.tensor_type.elem_type or kind.WhichOneof("value") not in ("tensor_type", None) for kind in bare)
    if bare[0] != bare[1] and is_known:
        return f"{_said(first)} in the original, and {_said(second)} in the converted model"
    if ranks[0] is not None and ranks[1] is not None and len(ranks[0]) != len(ranks[1]):
        return f"of rank {len(ranks[0])} in the original, and of rank {len(ranks[1])} in the converted model"
    return ""


def _said(kind: onnx.TypeProto) -> str:
    """Returns a type as onnxruntime writes types; only the kind, such as "map", for a type unknown to onnx_ir."""
    try:
        return repr(ir.serde.deserialize_type_proto_for_type(kind)).lower()
    except ir.serde.SerdeError:
        return str(kind.WhichOneof("value")).removesuffix("_type")
