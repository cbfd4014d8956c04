"""The features of a case: tags that divergences match, and the rules that the case exercises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from padops.conformance.case import Case, Expected
from padops.spec.dialects import Node
from padops.spec.plan import Amounts, Crop, PadError, dilated_size

# All tags; _of_inputs, _of_axis and _of_amounts decide when each holds.
TAGS = frozenset(
    """
    rank-0 amounts-wrong nothing-to-do grows negative mixed empty-data empty-output empty-axis-padded
    negative-output overcropped cropped-away reflect-beyond-left reflect-beyond-size beyond-left beyond-size
    interior huge fill fill-not-scalar fill-not-one fill-empty fill-nan nan axes axes-int32 axes-repeated axes-empty
    pads-row constant-amounts dynamic fixed mode-unknown full-is-crop
    """.split()
)
BEYOND = "beyond the standard"  # a class of cases, which an implementation may refuse


@dataclass(frozen=True)
class CaseFeatures:
    """The features of a case that divergences match."""

    op: str
    family: str  # a value of ``FAMILIES``
    version: int  # the version of the operator
    opset: int
    mode: str  # in lower case
    dtype: str
    rank: int
    expected: str  # ``"output"`` or ``"error"``
    rule: str | None  # the rule of the error, or None
    tags: frozenset[str]  # those of ``TAGS`` that hold

    @property
    def of_class(self) -> str:
        """``BEYOND`` if the ONNX standard does not require a Pad to run the case, as padops does (P4)."""
        tag = "reflect-beyond-left" if self.mode == "reflect" else "overcropped"
        right = (self.family, self.expected) == ("onnx", "output") and self.mode != "constant"
        return BEYOND if right and tag in self.tags else "standard"


FAMILIES = {"Pad": "onnx", "OpenVINOPad": "openvino", "NGraphPad": "ngraph", "SamePad": "same"}


def features_of(case: Case, expected: Expected) -> CaseFeatures:
    """Collect the features of a case."""
    name, version = case.op.split("_")
    arrays = case.arrays()
    data = arrays[0]
    assert data is not None  # every Pad has data
    tags = _of_inputs(case, data, arrays)
    if case.attributes.get(case.row.mode, case.row.modes[0]) not in case.row.modes:
        tags.add("mode-unknown")
    try:
        amounts = case.row.amounts(Node(case.row, "pad", case.attributes, arrays), data.shape)
    except PadError:
        tags.add("amounts-wrong")
    else:
        tags |= _of_amounts(data.shape, amounts, case)
    return CaseFeatures(
        case.op, FAMILIES[name], int(version), case.opset, case.mode, case.dtype, case.rank,
        "error" if expected.output is None else "output", expected.rule, frozenset(tags),
    )  # fmt: skip


def _of_inputs(case: Case, data: np.ndarray, arrays: list[np.ndarray | None]) -> set[str]:
    row = case.row
    fill, pads, axes = (_input(case, arrays, name) for name in (row.fill, "pads", "axes"))
    value = case.attributes.get(row.fill) if row.input_index(row.fill) is None else None
    amounts = {i for i, given in enumerate(row.inputs) if given.kind != "T"}
    constant = bool(set(case.constant_inputs) & amounts)
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
        "dynamic": bool(amounts) and not constant,
        "fixed": constant and case.static,
        "pads-row": pads is not None and pads.ndim == 2,
        "axes": axes is not None,
        "axes-int32": axes is not None and axes.dtype == np.int32,
        "axes-empty": axes is not None and not axes.size,
        "axes-repeated": len(set(places)) < len(places),
    }
    return {tag for tag, holds in found.items() if holds}


def _input(case: Case, arrays: list[np.ndarray | None], name: str) -> np.ndarray | None:
    position = case.row.input_index(name)
    return arrays[position] if position is not None and position < len(arrays) else None


def _has_nan(array: np.ndarray) -> bool:
    if array.dtype.kind in "OUT" or array.dtype.kind in "biu" or "int" in array.dtype.name:
        return False
    with np.errstate(invalid="ignore"):  # for signalling NaNs
        return bool(np.isnan(array.astype(np.float64)).any())


def _of_amounts(shape: tuple[int, ...], amounts: list[Amounts], case: Case) -> set[str]:
    tags: set[str] = set()
    outputs = [a.begin + dilated_size(n, a.interior) + a.end for n, a in zip(shape, amounts)]
    for n, a, output in zip(shape, amounts, outputs):
        tags |= _of_axis(n, a, output)
    tags |= {"nothing-to-do"} if all(a == Amounts(0, 0) for a in amounts) else set()
    tags |= {"empty-output"} if 0 in outputs else set()
    if "mixed" not in tags or case.mode == "constant" or not _crop_matters(shape, amounts, case.mode):
        tags.add("full-is-crop")
    return tags


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


def _crop_matters(shape: tuple[int, ...], amounts: list[Amounts], mode: str) -> bool:
    """Return whether P3's two readings of mixed signs differ, as plans or because one of them is an error."""
    from padops.spec.plan import Mode, make_plan, source_index

    maps: list[Sequence[Sequence[int | None]] | None] = []
    for crop in Crop:
        try:
            plan = make_plan(shape, amounts, Mode(mode), crop)
        except (PadError, ValueError):
            maps.append(None)
            continue
        if max(plan.shape, default=0) > 1 << 20:
            return True
        if 0 in plan.shape:
            maps.append([plan.shape])
            continue
        maps.append([[source_index(axis, plan.mode, i) for i in range(axis.output)] for axis in plan.axes])
    return maps[0] != maps[1]


def rules_of(features: CaseFeatures) -> tuple[str, ...]:
    """Return the rules that a case exercises, in the order of docs/semantics.md."""
    tags = features.tags
    extends = features.mode != "constant"
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
        "S1": features.family == "same",
    }
    return tuple(rule for rule, exercised in holds.items() if exercised or rule == features.rule)
