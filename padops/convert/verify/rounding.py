"""Measures how far each output of the original moves by rounding alone; the converted model may differ by as much.

The original runs at two optimisation levels, and with its inputs and weights changed by a rounding error. The tolerance
is the largest change of an output times ``FACTOR``, since another order of sums or another fusion may cause as much. A
wrong Pad changes outputs by the size of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.inputs.given import Feeds
from padops.convert.verify.bits import Value
from padops.convert.verify.sessions import DoesNotRun, Model, Outputs, Trial
from padops.spec.dtypes import by_numpy

FACTOR = 16.0
ULPS = 8.0  # of an output's largest element: even a sum of a few elements rounds by this much
HANDED_ON = ("Concat", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
DRAWS = 2  # runs with changed inputs and weights
# Bits of the significand, by float type.
BITS = {"float": 24, "double": 53, "float16": 11, "bfloat16": 8}
WEIGHTS = 1 << 26  # the most bytes of inline weights that are changed


class Moves:
    """How far the original's outputs move, for each trial."""

    def __init__(self, path: Path, model: onnx.ModelProto, trials: Sequence[Trial], plain: Sequence[Outputs]) -> None:
        self._path, self._model, self._trials = path, model, trials
        self._base = [trial.outputs for trial in trials]
        self._plain = list(plain) or self._base
        self._changed: list[list[Outputs]] | None = None  # the outputs with changed inputs and weights
        self._pairs: list[tuple[Outputs, Outputs]] = []  # another runtime's outputs, with plain and changed inputs
        self._parts = _parts(model)

    def add(self, trials: Sequence[Trial], run: Callable[[Feeds], Outputs]) -> None:
        """Also measures how far another runtime's outputs move with changed inputs."""
        rng = np.random.default_rng(DRAWS)
        for trial in trials:
            moved = run({name: _moved(one, rng) for name, one in trial.feeds.items()})
            self._pairs.append((trial.outputs, moved))

    def _change(self) -> list[list[Outputs]]:
        """Runs the original with changed inputs and weights, once."""
        if self._changed is None:
            self._changed = [[] for _ in self._trials]
            for seed in range(DRAWS):
                rng = np.random.default_rng(seed)
                try:
                    session = Model(self._path, self._model, _changed(self._model, rng)).session(optimised=False)
                    for row, trial in zip(self._changed, self._trials):
                        row.append(session.run({name: _moved(one, rng) for name, one in trial.feeds.items()}))
                except DoesNotRun:
                    break
        return self._changed

    def takes(self, at: int, name: str, before: Value, after: Value, levels: bool = True) -> bool:
        """Whether an output of the converted model differs from the original's within the measured tolerance.

        Without ``levels``, changes by optimisation do not count: they may be errors of ONNX Runtime.
        """
        if not isinstance(before, np.ndarray) or not isinstance(after, np.ndarray):
            return False
        if before.dtype != after.dtype or before.shape != after.shape:
            return False
        least = 1.0 if name in self._parts else 0.0
        pairs = [(self._base[at][name], self._plain[at][name])] if levels else []
        pairs += [(one[name], other[name]) for one, other in self._pairs]
        if _is_near(before, after, pairs, least):
            return True
        pairs += [(self._plain[at][name], one[name]) for one in self._change()[at]]
        return _is_near(before, after, pairs, least, self._in_proportion(name, levels))

    def _in_proportion(self, name: str, levels: bool) -> float:
        """The largest move of an output in any trial, as a fraction of its largest element."""
        rows = zip(self._plain, self._change())
        found = [(plain[name], one[name]) for plain, changed in rows for one in changed]
        found += [(base[name], plain[name]) for base, plain in zip(self._base, self._plain)] if levels else []
        return max((_gap(pair) / _largest(pair[0]) for pair in found), default=0.0)


def _parts(model: onnx.ModelProto) -> set[str]:
    """The outputs whose elements are fractions of 1: a sigmoid of 1e-5 may be computed as 1 minus a sum."""
    made = {name: node for node in model.graph.node for name in node.output}
    found = set()
    for output in model.graph.output:
        node = made.get(output.name)
        while node is not None and node.op_type in HANDED_ON:
            node = made.get(node.input[0])
        if node is not None and node.op_type in ("Sigmoid", "HardSigmoid", "Softmax", "Tanh"):
            found.add(output.name)
    return found


def _is_near(
    before: np.ndarray,
    after: np.ndarray,
    pairs: Sequence[tuple[np.ndarray, np.ndarray]],
    least: float,
    proportion: float = 0.0,
) -> bool:
    """Whether two values differ by no more than the pairs differ, or by no more than a fraction of the largest element.

    The largest element counts as ``least`` at least.
    """
    pairs = [(one, other) for one, other in pairs if one.shape == other.shape == before.shape]
    if _bits(before.dtype) is None:
        moved = max((int(np.count_nonzero(one != other)) for one, other in pairs), default=0)
        return int(np.count_nonzero(before != after)) <= 4 * moved
    one, other = before.astype(np.float64), after.astype(np.float64)
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    largest = np.abs(one[finite]).max(initial=least)
    limit = max(ULPS * 2.0 ** -(_bits(before.dtype) or 24), FACTOR * proportion) * largest
    limit = max([limit, *(FACTOR * _gap(pair) for pair in pairs)])
    return bool((np.abs(other[finite] - one[finite]) <= limit).all())


def _gap(pair: tuple[np.ndarray, np.ndarray]) -> float:
    """The largest finite difference of two float arrays; 0 for other types."""
    if pair[0].shape != pair[1].shape or _bits(pair[0].dtype) is None:
        return 0.0
    with np.errstate(invalid="ignore"):
        gap = np.abs(pair[0].astype(np.float64) - pair[1].astype(np.float64))
    return float(gap[np.isfinite(gap)].max(initial=0))


def _largest(array: np.ndarray) -> float:
    wide = np.abs(array.astype(np.float64)) if _bits(array.dtype) is not None else np.ones(1)
    return float(wide[np.isfinite(wide)].max(initial=0)) or 1.0


def _bits(dtype: np.dtype) -> int | None:
    row = by_numpy(dtype)
    return None if row is None else BITS.get(row.name)


def _moved(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Changes each float by up to two rounding errors; returns other types unchanged."""
    bits = _bits(array.dtype)
    if bits is None or not array.size:
        return array
    wide = array.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.asarray(wide * (1 + rng.uniform(-1, 1, array.shape) * 2.0 ** (2 - bits))).astype(array.dtype)


def _changed(model: onnx.ModelProto, rng: np.random.Generator) -> onnx.ModelProto:
    """Returns the model with changed inline weights, or unchanged weights if they are too large."""
    rows = [row for row in model.graph.initializer if len(row.dims) > 1 and not row.external_data]
    made = onnx.ModelProto()
    made.CopyFrom(model)
    if sum(row.ByteSize() for row in rows) > WEIGHTS:
        return made
    for row in made.graph.initializer:
        is_float = row.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
        if len(row.dims) > 1 and not row.external_data and is_float:
            row.CopyFrom(numpy_helper.from_array(_moved(numpy_helper.to_array(row), rng), row.name))
    return made
