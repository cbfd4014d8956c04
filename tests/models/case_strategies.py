"""Hypothesis strategies that draw one padops node with its inputs: right ones, and wrong ones of every kind.

``padops/conformance/cases/drawn.py`` draws such nodes as well, and says why there are two.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import native
import numpy as np
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

from padops.conformance.cases.drawn import shrink
from padops.spec.dialects import INTEGER_KINDS, OPS

Drawn = TypeVar("Drawn")

MAX_ELEMENTS = 20_000  # of an output: enough for every border to meet every other
TYPES = {dtype.name: dtype for dtype in native.TYPES}
ONNX_OPS = [name for name in OPS if name.startswith("Pad_")]


def drawn(examples: int) -> settings:
    """So many examples, the same ones in every run, however long they take."""
    return settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )


def explore(
    cases: st.SearchStrategy[Drawn], check: Callable[[Drawn], None], examples: int, met: Callable[[], object]
) -> None:
    """Draw and check so many cases, and further ones until the condition is met."""
    drawn(examples)(given(cases)(check))()
    until(cases, check, met)


def until(cases: st.SearchStrategy[Drawn], check: Callable[[Drawn], None], met: Callable[[], object]) -> None:
    """Draw and check further cases until the condition is met, 5,000 at most: then ``hypothesis.errors.NoSuchExample``.

    For what the cases have to reach: a release of Hypothesis may draw it 60 times, and another one never.
    """

    def meets(case: Drawn) -> object:
        check(case)
        return met()

    if not met():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisWarning)  # the text of the case that was found may be long
            find(cases, meets, settings=settings(drawn(5000), phases=[Phase.generate]))


@dataclass
class Case:
    op: str
    attributes: dict
    inputs: list[np.ndarray | None]
    constants: frozenset[int] = frozenset()
    static: bool = False  # whether the model declares its shapes


@st.composite
def onnx_cases(draw) -> Case:
    """Every version of ONNX Pad: pads in all forms, axes, fills, mixed signs; constant inputs and run-time ones."""
    op = OPS[draw(st.sampled_from(ONNX_OPS))]
    dtype = TYPES[draw(st.sampled_from([name for name in op.types if name in TYPES]))]
    # One mode in twenty is one that the version does not know.
    mode = (
        draw(st.sampled_from(op.modes))
        if draw(st.integers(0, 19)) < 19
        else draw(st.sampled_from(["wrap", "symmetric"]))
    )
    rank = draw(st.integers(0, 6))
    shape = draw(st.lists(st.integers(0, 7), min_size=rank, max_size=rank))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = rank
    axes = None
    if op.input_index("axes") is not None and draw(st.booleans()):
        listed = draw(st.permutations(range(rank)))[: draw(st.integers(0, rank))]
        listed = [axis - rank if draw(st.booleans()) else axis for axis in listed]
        if draw(st.integers(0, 9)) == 9:
            listed += draw(st.lists(st.integers(-rank - 1, rank), max_size=2))  # perhaps repeated, perhaps out of range
        axes = np.array(listed, draw(st.sampled_from([np.int64, np.int32])))
        count = len(listed)
    amount = st.integers(-9, 20) if draw(st.booleans()) else st.integers(-3, 3)
    begins, ends = [draw(amount) for _ in range(count)], [draw(amount) for _ in range(count)]
    if axes is None:
        shrink(shape, begins, ends, MAX_ELEMENTS)
    else:
        at = [int(axis) % max(rank, 1) for axis in axes]
        at = [axis if axis < rank else 0 for axis in at]
        if rank:
            whole = [0] * rank, [0] * rank
            for i, axis in enumerate(at):
                whole[0][axis], whole[1][axis] = begins[i], ends[i]
            shrink(shape, *whole, MAX_ELEMENTS)
            begins, ends = [whole[0][axis] for axis in at], [whole[1][axis] for axis in at]
    pads = begins + ends
    if draw(st.integers(0, 29)) == 29:
        pads = pads[:-1] if draw(st.booleans()) else [*pads, 0]
    data = native.random_array(rng, dtype, shape)
    attributes = {} if mode == "constant" and draw(st.booleans()) else {"mode": mode}
    if len(op.inputs) == 1:
        attributes[next(row.name for row in op.attributes if row.type == "ints")] = pads
        if draw(st.booleans()):
            attributes["value"] = float(np.frombuffer(rng.bytes(4), np.float32)[0])
        return Case(op.name, attributes, [data], static=draw(st.booleans()))
    fill = None
    if draw(st.booleans()):
        fill = native.random_array(rng, dtype, draw(st.sampled_from([(), (), (1,), (1, 1), (2,), (0,)])))
    array = np.array(pads, np.int64)
    inputs = [data, array.reshape(1, -1) if draw(st.integers(0, 9)) == 9 else array, fill]
    inputs += [axes] if op.input_index("axes") is not None else []
    given_inputs = [i for i in range(1, len(inputs)) if inputs[i] is not None]
    held = draw(st.sets(st.sampled_from(given_inputs))) if draw(st.integers(0, 3)) == 3 else ()
    return Case(op.name, attributes, inputs, frozenset(held))


@st.composite
def _data(draw, op, lowest_rank: int = 0, highest_rank: int = 6):
    """A generator of random bits, a type of the operator and a shape."""
    dtype = TYPES[draw(st.sampled_from([name for name in op.types if name in TYPES]))]
    rank = draw(st.integers(lowest_rank, highest_rank))
    shape = draw(st.lists(st.integers(0, 7), min_size=rank, max_size=rank))
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))), dtype, shape


@st.composite
def openvino_cases(draw) -> Case:
    """OpenVINOPad_1 and _12: begin and end of two integer types, mixed signs, fills right and wrong."""
    op = OPS[draw(st.sampled_from(["OpenVINOPad_1", "OpenVINOPad_12"]))]
    rng, dtype, shape = draw(_data(op))
    rank = len(shape)
    amount = draw(st.sampled_from([st.integers(-9, 20), st.integers(-3, 3), st.integers(0, 3)]))
    pads = [draw(st.lists(amount, min_size=rank, max_size=rank)) for _ in range(2)]
    shrink(shape, *pads, MAX_ELEMENTS)
    if draw(st.integers(0, 19)) == 19:
        pads[draw(st.integers(0, 1))].append(1)
    arrays = []
    for values in pads:
        kinds = INTEGER_KINDS["integer"] if min(values, default=0) >= 0 else ("int8", "int16", "int32", "int64")
        arrays.append(np.array(values, draw(st.sampled_from(kinds))))
    fill = None
    if draw(st.booleans()):
        fill = native.random_array(rng, dtype, draw(st.sampled_from([(), (), (1,), (2,)])))
    mode = draw(st.sampled_from(op.modes)) if draw(st.integers(0, 19)) < 19 else "wrap"
    held = draw(st.sets(st.sampled_from([1, 2]))) if draw(st.integers(0, 3)) == 3 else ()
    inputs = [native.random_array(rng, dtype, shape), *arrays, fill]
    return Case(op.name, {"pad_mode": mode}, inputs, frozenset(held))


@st.composite
def ngraph_cases(draw) -> Case:
    """NGraphPad_0: interior with and without CONSTANT, crops beyond the data."""
    op = OPS["NGraphPad_0"]
    rng, dtype, shape = draw(_data(op, highest_rank=4))
    rank = len(shape)
    amount = st.integers(-9, 20) if draw(st.booleans()) else st.integers(-3, 3)
    below, above = ([draw(amount) for _ in range(rank)] for _ in range(2))
    mode = draw(st.sampled_from(op.modes)) if draw(st.integers(0, 19)) < 19 else "constant"
    attributes = {"padding_below": below, "padding_above": above, "pad_mode": mode}
    if mode == "CONSTANT" and draw(st.booleans()) or draw(st.integers(0, 9)) == 9:
        interior = draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank))
        if draw(st.integers(0, 19)) == 19:
            interior = [-1] * rank
        attributes["padding_interior"] = interior
        dilated = [n * (i + 1) for n, i in zip(shape, interior)]
        shrink(dilated, below, above, MAX_ELEMENTS)
        shape = [min(n, d) for n, d in zip(shape, dilated)]
    shrink(shape, below, above, MAX_ELEMENTS)
    if draw(st.integers(0, 29)) == 29:
        below.append(0)
    fill = native.random_array(rng, dtype, draw(st.sampled_from([(), (), (), (1,), (3,)])))
    return Case(op.name, attributes, [native.random_array(rng, dtype, shape), fill], static=draw(st.booleans()))


@st.composite
def same_cases(draw) -> Case:
    """SamePad_1: strides, dilations, layouts and modes of 1 to 3 spatial axes."""
    op = OPS["SamePad_1"]
    rng, dtype, shape = draw(_data(op, 3, 5))
    spatial = len(shape) - 2
    length = spatial if draw(st.integers(0, 29)) < 29 else spatial + 1
    values = st.lists(st.integers(1, 5), min_size=length, max_size=length)
    attributes = {"kernel_shape": draw(values)}
    for name, choices in (
        ("strides", values),
        ("dilations", values if draw(st.integers(0, 29)) < 29 else st.just([0] * length)),
        ("auto_pad", st.sampled_from(["SAME_UPPER", "SAME_LOWER", "VALID"])),
        ("data_format", st.sampled_from(["NCHW", "NHWC", "NWC", "NDHWC"])),
        ("mode", st.sampled_from([*op.modes, "WRAP"])),
    ):
        if draw(st.booleans()):
            attributes[name] = draw(choices)
    if draw(st.integers(0, 29)) == 29:
        attributes["auto_pad"] = "SAME"
    fill = None if draw(st.booleans()) else native.random_array(rng, dtype, draw(st.sampled_from([(), (1,), (2,)])))
    return Case(op.name, attributes, [native.random_array(rng, dtype, shape), fill], static=draw(st.booleans()))
