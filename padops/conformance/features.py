"""A case with its expected answer, the tags that divergences match, and the rules that the case exercises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from padops.conformance.arrays import Packed, pack
from padops.conformance.peers.request import Request
from padops.spec import reference
from padops.spec.dialects import Node
from padops.spec.plan import NOTHING, Amounts, Crop, Mode, PadError, dilated_size, make_plan, source_index

# All tags; _tags and _of_axis decide when each holds.
TAGS = frozenset(
    """
    rank-0 amounts-wrong nothing-to-do grows negative mixed empty-data empty-output empty-axis-padded
    negative-output overcropped cropped-away reflect-beyond-left reflect-beyond-size beyond-left beyond-size
    interior huge fill fill-not-scalar fill-not-one fill-empty fill-nan nan axes axes-int32 axes-repeated axes-empty
    pads-row constant-amounts dynamic fixed mode-unknown full-is-crop
    """.split()
)
BEYOND = "beyond the standard"  # a class of cases, which an implementation may refuse
IDLE = ("unsupported", "skipped")  # outcomes without a comparison
WRONG = ("differ", "error", "crash")
OUTCOMES = ("agree", *WRONG, *IDLE)

FAMILIES = {"Pad": "onnx", "OpenVINOPad": "openvino", "NGraphPad": "ngraph", "SamePad": "same"}


@dataclass(frozen=True)
class Expected:
    """The result of a case by the rules: an output, or an error."""

    output: np.ndarray | None
    rule: str | None = None
    message: str | None = None


def expect(case: Request) -> Expected:
    try:
        return Expected(reference.run(case.op, case.attributes, case.inputs, "pad"))
    except PadError as error:
        return Expected(None, error.rule, str(error))


@dataclass(frozen=True)
class Prepared:
    """A case with its expected answer, and with the features by which known divergences match cases."""

    case: Request
    expected: Expected
    packed: Packed | None  # the expected output, or None for an error
    tags: frozenset[str]  # the tags in ``TAGS`` that hold

    @classmethod
    def of(cls, case: Request) -> Prepared:
        expected = expect(case)
        packed = None if expected.output is None else pack(expected.output)
        return cls(case, expected, packed, frozenset(_tags(case)))

    @property
    def family(self) -> str:
        return FAMILIES[self.case.op.split("_")[0]]

    @property
    def of_class(self) -> str:
        """``BEYOND`` for a case that padops runs and that ONNX lets a runtime refuse (P4); else ``"standard"``."""
        tag = "reflect-beyond-left" if self.case.mode == "reflect" else "overcropped"
        right = self.family == "onnx" and self.packed is not None and self.case.mode != "constant"
        return BEYOND if right and tag in self.tags else "standard"

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that the case exercises, in the order of docs/semantics.md."""
        tags, extends = self.tags, self.case.mode != "constant"
        holds = {
            "P1": "nothing-to-do" not in tags,
            "P2": extends,
            "P3": bool({"mixed", "overcropped"} & tags),
            "P4": extends and "reflect-beyond-left" in tags,
            "P5": bool({"empty-data", "cropped-away", "rank-0"} & tags),
            "P6": "interior" in tags,
            "P7": not extends or "fill" in tags,
            "P8": bool({"axes", "pads-row", "amounts-wrong"} & tags),
            "P9": "mode-unknown" in tags,
            "P10": "huge" in tags,
            "S1": self.family == "same",
        }
        return tuple(rule for rule, exercised in holds.items() if exercised or rule == self.expected.rule)


def _tags(case: Request) -> set[str]:
    row, arrays, data = case.row, case.inputs, case.data
    given = {entry.name: array for entry, array in zip(row.inputs, arrays)}
    fill, pads, axes = (given.get(name) for name in (row.fill, "pads", "axes"))
    value = case.attributes.get(row.fill) if row.input_index(row.fill) is None else None
    amount_inputs = {i for i, entry in enumerate(row.inputs) if entry.kind != "T"}
    constant = bool(set(case.constant_inputs) & amount_inputs)
    places = [] if axes is None else [int(axis) % max(data.ndim, 1) for axis in axes.reshape(-1)]
    found = {
        "rank-0": not data.shape,
        "empty-data": not data.size,
        "fill": fill is not None or value is not None,
        "fill-not-scalar": fill is not None and fill.ndim > 0,
        "fill-not-one": fill is not None and fill.size != 1,
        "fill-empty": fill is not None and not fill.size,
        "fill-nan": _has_nan(fill) if fill is not None else value is not None and bool(np.isnan(value)),
        "nan": _has_nan(data),
        "constant-amounts": constant,
        "dynamic": bool(amount_inputs) and not constant,
        "fixed": constant and case.static,
        "pads-row": pads is not None and pads.ndim == 2,
        "axes": axes is not None,
        "axes-int32": axes is not None and axes.dtype == np.int32,
        "axes-empty": axes is not None and not axes.size,
        "axes-repeated": len(set(places)) < len(places),
        "mode-unknown": case.attributes.get(row.mode, row.modes[0]) not in row.modes,
    }
    tags = {tag for tag, holds in found.items() if holds}
    try:
        amounts = row.amounts(Node(row, "pad", case.attributes, arrays), data.shape)
    except PadError:
        return tags | {"amounts-wrong"}
    outputs = [a.begin + dilated_size(n, a.interior) + a.end for n, a in zip(data.shape, amounts)]
    for n, a, output in zip(data.shape, amounts, outputs):
        tags |= _of_axis(n, a, output)
    tags |= {"nothing-to-do"} if all(a == NOTHING for a in amounts) else set()
    tags |= {"empty-output"} if 0 in outputs else set()
    if "mixed" in tags and case.mode != "constant":  # P3's two readings of mixed signs may differ, or one is an error
        first, second = (_positions(data.shape, amounts, case.mode, crop) for crop in Crop)
        return tags | ({"full-is-crop"} if first == second else set())
    return tags | {"full-is-crop"}


def _has_nan(array: np.ndarray) -> bool:
    if array.dtype.kind in "OUTbiu" or "int" in array.dtype.name:
        return False
    with np.errstate(invalid="ignore"):  # for signalling NaNs
        return bool(np.isnan(array.astype(np.float64)).any())


def _of_axis(n: int, a: Amounts, output: int) -> set[str]:
    least, most = min(a.begin, a.end), max(a.begin, a.end)
    left = n + min(a.begin, 0) + min(a.end, 0)
    found = {
        "grows": most > 0,
        "negative": least < 0,
        "mixed": least < 0 < most,
        "empty-axis-padded": n == 0 and output > 0,
        "negative-output": output < 0,
        "overcropped": -least > n,
        "cropped-away": n > 0 and left <= 0 and least < 0,
        "reflect-beyond-left": most > max(left - 1, 0),
        "reflect-beyond-size": most > max(n - 1, 0),
        "beyond-left": most > max(left, 0),
        "beyond-size": most > n,
        "interior": a.interior != 0,
        "huge": max(abs(a.begin), abs(a.end), a.interior) > 1 << 31,
    }
    return {tag for tag, holds in found.items() if holds}


def _positions(shape: tuple[int, ...], amounts: list[Amounts], mode: str, crop: Crop) -> Any:
    """Return a key of the output, or None if the plan fails; outputs with equal keys are equal."""
    try:
        plan = make_plan(shape, amounts, Mode(mode), crop)
    except (PadError, ValueError):
        return None
    if max(plan.shape, default=0) > 1 << 20:
        return crop  # too many to compare
    if 0 in plan.shape:
        return plan.shape
    return [source_index(axis, plan.mode, np.arange(axis.output)).tolist() for axis in plan.axes]
