"""What the symbolic proofs say that operators compute, for given inputs: to be compared with a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import z3

from padops.convert.proof.build import Builder, Built
from padops.convert.proof.constants import Constants
from padops.convert.proof.result import Fails, Limits, Outcome
from padops.convert.proof.symbolic import decide
from padops.convert.proof.symbolic.evaluation import Evaluation
from padops.convert.proof.symbolic.integers import is_open, opened
from padops.convert.proof.symbolic.operators import OPERATORS
from padops.convert.proof.terms import Terms


@dataclass(frozen=True)
class Computed:
    """What the solver's formulas give for the inputs.

    Attributes:
        runs: Whether all that is required holds.
        array: The output where it runs; floats and strings as their bytes.
    """

    runs: bool
    array: np.ndarray | None = None


def model_of(text: str, opset: int = 21) -> onnx.ModelProto:
    """A model in ONNX's own syntax.

    Args:
        text: The graph.
        opset: Of the default domain.
    """
    header = f'<ir_version: 10, opset_import: ["": {opset}, "padops": 1]>\n'
    return onnx.parser.parse_model(header + text)


def read(*models: onnx.ModelProto) -> tuple[Terms, list[Built]]:
    """Models as terms of one store, the original first."""
    terms = Terms()
    constants = Constants(terms)
    return terms, [Builder(terms, constants, one, None, set(), one is models[0]).build() for one in models]


def decided(original: onnx.ModelProto, converted: onnx.ModelProto, limits: Limits | None = None) -> Outcome:
    """What the proof says of the first output of two models."""
    terms, (one, other) = read(original, converted)
    return decide(terms, one.outputs[0][2], other.outputs[0][2], limits or Limits(goal_seconds=10.0))


def computed(model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> Computed:
    """The first output of a model by the formulas of the proofs, where its inputs are known.

    Every fact that the formulas bring along has to hold for the inputs.
    """
    terms, (built,) = read(model)
    numbers = {f"rank {terms.find(term)}": feeds[name].ndim for name, term in built.inputs.items()}
    while True:
        evaluation = Evaluation(terms, OPERATORS, numbers)
        try:
            tensor = evaluation.tensor(built.outputs[0][2])
        except Fails:
            return Computed(False)
        except Exception as needed:
            key = getattr(needed, "key", None)
            if key is None:
                raise
            numbers[key] = next(size for one, size in _dims(evaluation, terms, built, feeds) if one == key)
            continue
        break
    pins = []
    for name, term in built.inputs.items():
        if f"x{terms.find(term)}" in evaluation.leaves.functions:
            pins += _pinned(evaluation, f"x{terms.find(term)}", feeds[name], terms.dtype(term) or 0)
    required = [
        z3.Implies(z3.And(*map(opened, one.given)), opened(one.condition)) for one in evaluation.demands.required
    ]
    pinned = _solved(evaluation, pins, [opened(dim) for dim in tensor.shape])
    dims = [_value(pinned, dim) for dim in tensor.shape]
    for condition in required:
        if _holds(evaluation, pins, condition):
            continue
        return Computed(False)
    elements = [tensor.at(list(index)) for index in np.ndindex(*dims)]
    model_found = _solved(evaluation, pins, [opened(element) for element in elements])
    array = np.empty(len(elements), object)
    for place, element in enumerate(elements):
        array[place] = _value(model_found, element)
    return Computed(True, array.reshape(dims))


def _dims(evaluation: Evaluation, terms: Terms, built: Built, feeds: dict[str, np.ndarray]) -> list[tuple[str, int]]:
    """The keys of the inputs' dims, and what they are."""
    found = []
    for name, term in built.inputs.items():
        declared = terms.shape(term) or (None,) * feeds[name].ndim
        for axis, (dim, size) in enumerate(zip(declared, feeds[name].shape)):
            found.append((f"dim {dim}" if dim else f"dim {terms.find(term)}.{axis}", size))
    return found


def _pinned(evaluation: Evaluation, key: str, array: np.ndarray, dtype: int) -> list[Any]:
    _, tensor = evaluation.leaves.functions[key]
    pins = [opened(dim) == size for dim, size in zip(tensor.shape, array.shape)]
    for index in np.ndindex(*array.shape):
        element = tensor.at([z3.IntVal(at) for at in index])
        pins.append(opened(element) == opened(evaluation.leaves.constant(array[index], dtype)))
    return pins


def _solver(evaluation: Evaluation, pins: list[Any], terms: list[Any]) -> z3.Solver:
    known = [*evaluation.integers.facts, *evaluation.leaves.distinct(), *pins]
    solver = z3.Solver()
    solver.add(*known, *evaluation.integers.exact([*known, *terms]))
    return solver


def _solved(evaluation: Evaluation, pins: list[Any], terms: list[Any]) -> z3.ModelRef:
    solver = _solver(evaluation, pins, terms)
    assert solver.check() == z3.sat, "a fact is false"
    return solver.model()


def _holds(evaluation: Evaluation, pins: list[Any], condition: Any) -> bool:
    solver = _solver(evaluation, pins, [condition])
    solver.add(z3.Not(condition))
    return bool(solver.check() == z3.unsat)


def _value(model: z3.ModelRef, element: Any) -> Any:
    if not is_open(element):
        return element
    said = model.eval(element, model_completion=True)
    if z3.is_int_value(said):
        return said.as_long()
    if z3.is_bool(said):
        return z3.is_true(said)
    return _bits(model, said)


def _bits(model: z3.ModelRef, said: Any) -> Any:
    """The constant that a value of the solver stands for."""
    for declared in model.decls():
        if declared.name().startswith("bits ") and model.eval(declared(), model_completion=True).eq(said):
            return bytes.fromhex(declared.name().split()[2])
    return None
