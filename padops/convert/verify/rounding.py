"""Measures how far rounding alone moves each output of the original. This determines the tolerance.

The original runs at two optimisation levels, and with its inputs and weights changed by a rounding error. Another order
of sums, or another fusion, may change an output by as much. So the tolerance is ``FACTOR`` times the largest change of
the output. A wrong Pad causes larger changes, of about the magnitude of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cached_property
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.inputs.given import Feeds
from padops.convert.verify.bits import BITS, Value, are_alike, are_near
from padops.convert.verify.sessions import DoesNotRun, Model, Outputs, Trial
from padops.spec.dtypes import by_numpy

FACTOR = 16.0
ULPS = 8.0  # units in the last place of an output's largest element: even a sum of a few elements rounds by this much
HANDED_ON = ("Concat", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
DRAWS = 2  # runs with changed inputs and weights
Pair = tuple[np.ndarray, np.ndarray]
WEIGHTS = 1 << 26  # the most bytes of inline weights that are changed


class Moves:
    """How far the original's outputs move, for each trial."""

    def __init__(self, path: Path, model: onnx.ModelProto, trials: Sequence[Trial], plain: Sequence[Outputs]) -> None:
        self._path, self._model, self._trials = path, model, trials
        self._base = [trial.outputs for trial in trials]
        self._plain = list(plain) or self._base
        self._pairs: list[tuple[Outputs, Outputs]] = []  # another runtime's outputs, with plain and changed inputs
        self._parts = _parts(model)

    def add(self, trials: Sequence[Trial], run: Callable[[Feeds], Outputs]) -> None:
        """Also measures how far another runtime's outputs move with changed inputs."""
        rng = np.random.default_rng(DRAWS)
        for trial in trials:
            self._pairs.append((trial.outputs, run({name: _moved(one, rng) for name, one in trial.feeds.items()})))

    @cached_property
    def _changed(self) -> list[list[Outputs]]:
        """The outputs with changed inputs and weights, for each trial."""
        changed: list[list[Outputs]] = [[] for _ in self._trials]
        with suppress(DoesNotRun):
            for seed in range(DRAWS):
                rng = np.random.default_rng(seed)
                session = Model(self._path, self._model, _with_other_weights(self._model, rng)).session(False)
                for row, trial in zip(changed, self._trials):
                    row.append(session.run({name: _moved(one, rng) for name, one in trial.feeds.items()}))
        return changed

    def takes(self, at: int, name: str, before: Value, after: Value, levels: bool = True) -> bool:
        """Returns whether an output is within the tolerance; ``levels`` includes the changes by graph optimisation."""
        if not are_alike(before, after):
            return False
        least = 1.0 if name in self._parts else 0.0
        pairs = [(self._base[at][name], self._plain[at][name])] if levels else []
        pairs += [(one[name], other[name]) for one, other in self._pairs]
        if _is_near(before, after, pairs, least):
            return True
        pairs += [(self._plain[at][name], one[name]) for one in self._changed[at]]
        # The largest move of the output in any trial, as a fraction of its largest element
        found = [(plain[name], one[name]) for plain, changed in zip(self._plain, self._changed) for one in changed]
        found += [(base[name], plain[name]) for base, plain in zip(self._base, self._plain)] if levels else []
        proportions = (gap / (_largest(pair[0]) or 1.0) for pair in found if (gap := _gap(pair)))
        return _is_near(before, after, pairs, least, max(proportions, default=0.0))


def _parts(model: onnx.ModelProto) -> set[str]:
    """Returns the outputs whose rounding errors are relative to 1: a runtime may compute a sigmoid as 1 minus a sum."""
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
    before: np.ndarray, after: np.ndarray, pairs: Sequence[Pair], least: float, proportion: float = 0.0
) -> bool:
    """Returns whether two values are near: ``pairs``, ``least``, ``proportion`` and the largest element set a limit."""
    pairs, bits = [pair for pair in pairs if pair[0].shape == pair[1].shape == before.shape], _bits(before.dtype)
    if bits is None:
        moved = max((int(np.count_nonzero(one != other)) for one, other in pairs), default=0)
        return int(np.count_nonzero(before != after)) <= 4 * moved
    limit = max(ULPS * 2.0**-bits, FACTOR * proportion) * max(_largest(before), least)
    return are_near(before, after, max([limit, *(FACTOR * _gap(pair) for pair in pairs)]))


def _gap(pair: Pair) -> float:
    """Returns the largest finite difference of two float arrays; 0 for other types."""
    if pair[0].shape != pair[1].shape or _bits(pair[0].dtype) is None:
        return 0.0
    with np.errstate(invalid="ignore"):
        return _largest(pair[0].astype(np.float64) - pair[1].astype(np.float64))


def _largest(array: np.ndarray) -> float:
    """Returns the largest finite magnitude of an array of floats."""
    wide = np.abs(array.astype(np.float64))
    return float(wide[np.isfinite(wide)].max(initial=0))


def _bits(dtype: np.dtype) -> int | None:
    row = by_numpy(dtype)
    return None if row is None else BITS.get(row.name)


def _moved(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Changes each float by a relative error of up to two machine epsilons; returns other types unchanged."""
    bits = _bits(array.dtype)
    if bits is None or not array.size:
        return array
    wide = array.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.asarray(wide * (1 + rng.uniform(-1, 1, array.shape) * 2.0 ** (2 - bits))).astype(array.dtype)


def _with_other_weights(model: onnx.ModelProto, rng: np.random.Generator) -> onnx.ModelProto:
    """Returns the model with changed inline weights, or with unchanged weights if these are too large."""
    made = deepcopy(model)
    rows = [row for row in made.graph.initializer if len(row.dims) > 1 and not row.external_data]
    for row in rows if sum(row.ByteSize() for row in rows) <= WEIGHTS else ():
        if row.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16):
            row.CopyFrom(numpy_helper.from_array(_moved(numpy_helper.to_array(row), rng), row.name))
    return made
