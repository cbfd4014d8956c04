"""Random whole sessions: models of one to three Pads of padops, run several times with shapes that change.

Types, operators, modes, amounts, what is constant and what is fed, ranks, sizes, arena, threads and who holds the
memory of the output are drawn by Hypothesis. ``session_checks.py`` runs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import native
import numpy as np
import onnx
from hypothesis import assume
from hypothesis import strategies as st
from small_models import graph, model

from padops.spec.dialects import INTEGER_KINDS, OPS, Node, Op, make_node_plan
from padops.spec.dtypes import DType, by_numpy
from padops.spec.plan import PadError

SMALL = 40_000  # elements of a small output
GROWTH = 60  # by which amounts alone may multiply the elements of a Pad
LARGE, HUGE = (1 << 16, 1 << 22), (1 << 24, 1 << 26)  # bytes of the data, from and to; 1.5 times as much of an output


@dataclass
class Step:
    """One Pad: of the data, or of what an earlier one gives. ``inputs`` has a row for each run, without the data."""

    op: str
    attributes: dict
    inputs: list[list[np.ndarray | None]]
    held: frozenset[int] = frozenset()  # inputs that are constants of the model
    source: int = 0


@dataclass
class Drawn:
    """A model and its runs."""

    dtype: DType
    steps: list[Step]
    shapes: list[list[int]]
    seed: int
    threads: int = 1
    arena: bool = True
    all_outputs: bool = False
    bound: bool = False
    declared: bool = False
    names: list[str] = field(default_factory=list)

    def data(self) -> list[np.ndarray]:
        rng = np.random.default_rng(self.seed)
        return [native.random_array(rng, self.dtype, shape) for shape in self.shapes]


@st.composite
def sessions(draw, sizes: tuple[str, ...] = ("small", "small", "large")) -> Drawn:
    """A model with its runs; of the sizes named, each as often as it stands there."""
    size = draw(st.sampled_from(sizes))
    dtype = draw(st.sampled_from([row for row in native.TYPES if size == "small" or row.name != "string"]))
    rank = draw(st.integers(0, 6) if size == "small" else st.integers(1, 5))
    runs = draw(st.integers(1, 4) if size != "huge" else st.just(2))
    shapes = [draw(_shape(rank, size, dtype)) for _ in range(runs)]
    steps: list[Step] = []
    for i in range(draw(st.integers(1, 3 if size != "huge" else 1))):
        step = draw(_step(dtype, rank, runs, size))
        step.source = draw(st.sampled_from([i, i, i, 0]))
        steps.append(step)
    made = Drawn(dtype, steps, shapes, draw(st.integers(0, 2**32 - 1)))
    limits = {"small": SMALL, "large": LARGE[1] * 3 // 2, "huge": HUGE[1] * 3 // 2}
    most = limits[size] if size == "small" else limits[size] // max(dtype.bits // 8, 1)
    for run, shape in enumerate(shapes):
        _shrink(steps, shape, run, dtype, most)
        assume(largest(steps, shape, run, dtype) <= most)  # amounts of their own may make gigabytes of one element
    made.threads, made.arena = draw(st.integers(1, 2)), draw(st.booleans())
    made.all_outputs, made.bound, made.declared = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    return made


@st.composite
def _shape(draw, rank: int, size: str, dtype: DType):
    if size == "small":
        shape = draw(st.lists(st.integers(0, 7), min_size=rank, max_size=rank))
        while prod(max(n, 1) for n in shape) > SMALL // GROWTH:
            shape[shape.index(max(shape))] //= 2
        return shape
    shape = draw(st.lists(st.sampled_from([1, 1, 2, 3]), min_size=rank, max_size=rank))
    low, high = LARGE if size == "large" else HUGE
    # Those of less than a byte are one in NumPy.
    elements = min(low << draw(st.integers(0, 8)), high) // max(dtype.bits // 8, 1)
    elements -= draw(st.integers(0, elements // 2))
    first = draw(st.sampled_from([rank - 1, rank - 1, draw(st.integers(0, rank - 1))]))  # the innermost has most, often
    second = draw(st.integers(0, rank - 1))
    shape[second] = draw(st.sampled_from([shape[second], 5, 64, 257, 1500]))
    shape[first] = 1
    shape[first] = max(elements // prod(shape), 1)
    return shape


def _shrink(steps: list[Step], shape: list[int], run: int, dtype: DType, most: int) -> None:
    """Halves the longest axis until no output has more than ``most`` elements."""
    while largest(steps, shape, run, dtype) > most and max(shape, default=0) > 1:
        shape[shape.index(max(shape))] //= 2


def largest(steps: list[Step], shape: list[int], run: int, dtype: DType) -> int:
    """Elements of the largest output of a run; where a rule is broken there is none."""
    shapes = [tuple(shape)]
    for step in steps:
        node = Node(OPS[step.op], "", step.attributes, [np.empty(0, dtype.numpy), *step.inputs[run]])
        try:
            shapes.append(make_node_plan(node, shapes[step.source]).shape)
        except PadError:
            shapes.append(shapes[step.source])
    return max(map(prod, shapes))


@st.composite
def _amounts(draw, count: int, size: str) -> list[int]:
    """Amounts of one side, or of both: they may grow a tensor by GROWTH at most, in all."""
    amount = draw(st.sampled_from([st.integers(0, 3), st.integers(0, 3), st.integers(-1, 2), st.integers(-9, 20)]))
    values = draw(st.lists(amount, min_size=count, max_size=count))
    if size != "small" and count and draw(st.booleans()):
        values[draw(st.integers(0, count - 1))] = draw(st.sampled_from([7, 31, 64, 1000]))
        values = [min(value, 2) if abs(value) < 7 else value for value in values]
    while prod(max(value, 0) + 1 for value in values) > GROWTH and max(values) < 1000:
        values[values.index(max(values))] = 0
    return values


@st.composite
def _step(draw, dtype: DType, rank: int, runs: int, size: str) -> Step:
    fitting = [op for op in OPS.values() if dtype.name in op.types and (op.name != "SamePad_1" or 3 <= rank <= 5)]
    op = draw(st.sampled_from(fitting))
    attributes = {op.mode: draw(st.sampled_from([*op.modes, op.modes[0]]))}
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if op.name in ("NGraphPad_0", "SamePad_1", "Pad_1", "Pad_2"):
        attributes |= draw(_attribute_amounts(op, rank, size, attributes[op.mode]))
        rows = [[_fill(draw, op, dtype, rng)] * (len(op.inputs) - 1) for _ in range(runs)]
    else:
        maker = _openvino_inputs if op.name.startswith("OpenVINO") else _onnx_inputs
        rows = draw(maker(op, dtype, rank, runs, size, rng))
    given = [i for i, array in enumerate(rows[0]) if array is not None]
    held = frozenset(i for i in given if draw(st.booleans()))
    for row in rows:
        # What is constant, and what is absent, is so in every run.
        row[:] = [
            first if i in held or first is None or array is None else array
            for i, (array, first) in enumerate(zip(row, rows[0]))
        ]
    return Step(op.name, attributes, rows, held)


def _fill(draw, op: Op, dtype: DType, rng: np.random.Generator) -> np.ndarray | None:
    """The fill; where it may be absent it is, every other time."""
    optional = next((row.optional for row in op.inputs if row.name == op.fill), True)
    if optional and draw(st.booleans()):
        return None
    return native.random_array(rng, dtype, draw(st.sampled_from([(), (1,)])))


@st.composite
def _attribute_amounts(draw, op: Op, rank: int, size: str, mode: str) -> dict:
    if op.name == "SamePad_1":
        values = st.lists(st.integers(1, 5), min_size=rank - 2, max_size=rank - 2)
        layout = draw(st.sampled_from(["NCHW", "NHWC"]))
        return {"kernel_shape": draw(values), "strides": draw(values), "data_format": layout}
    begins, ends = draw(_amounts(rank, size)), draw(_amounts(rank, size))
    if op.name != "NGraphPad_0":
        name = next(row.name for row in op.attributes if row.type == "ints")
        return {name: begins + ends} | ({"value": draw(st.floats(width=32))} if draw(st.booleans()) else {})
    made = {"padding_below": begins, "padding_above": ends}
    if mode == "CONSTANT" and draw(st.booleans()):
        made["padding_interior"] = [0] * rank
        if rank:
            made["padding_interior"][draw(st.integers(0, rank - 1))] = draw(st.integers(0, 3))
    return made


@st.composite
def _onnx_inputs(draw, op: Op, dtype: DType, rank: int, runs: int, size: str, rng: np.random.Generator):
    axes, count = None, rank
    if op.input_index("axes") is not None and draw(st.booleans()):
        listed = draw(st.permutations(range(rank)))[: draw(st.integers(0, rank))]
        signed = [axis - rank if draw(st.booleans()) else axis for axis in listed]
        axes, count = np.array(signed, draw(st.sampled_from([np.int64, np.int32]))), len(listed)
    rows = []
    for _ in range(runs):
        pads = np.array(draw(_amounts(count, size)) + draw(_amounts(count, size)), np.int64)
        rows.append([pads, _fill(draw, op, dtype, rng), axes][: len(op.inputs) - 1])
    if any(row[1] is None for row in rows):
        for row in rows:
            row[1] = None
    return rows


@st.composite
def _openvino_inputs(draw, op: Op, dtype: DType, rank: int, runs: int, size: str, rng: np.random.Generator):
    rows = []
    kinds = [
        draw(st.sampled_from([kind for kind in INTEGER_KINDS["integer"] if kind in ("int16", "int32", "int64")]))
    ] * 2
    fill = _fill(draw, op, dtype, rng)
    for _ in range(runs):
        rows.append([np.array(draw(_amounts(rank, size)), kind) for kind in kinds] + [fill])
    return rows


def build(drawn: Drawn) -> onnx.ModelProto:
    """The model; the names of its outputs go into ``drawn.names``."""
    nodes, feeds, constants = [], [], []
    names = ["x", *(f"t{i}" for i in range(len(drawn.steps)))]
    for i, step in enumerate(drawn.steps):
        wanted = [names[step.source]]
        for k, array in enumerate(step.inputs[0]):
            wanted.append("" if array is None else f"s{i}_{k}")
            if array is not None and k in step.held:
                constants.append(native.tensor(wanted[-1], array))
            elif array is not None:
                kind = by_numpy(array.dtype).onnx
                feeds.append((wanted[-1], kind, None))
        nodes.append(native.node(step.op, wanted, names[i + 1], step.attributes, f"n{i}"))
    used = {names[step.source] for step in drawn.steps}
    drawn.names = [name for name in names[1:] if drawn.all_outputs or name not in used]
    shape = [f"d{k}" for k in range(len(drawn.shapes[0]))] if drawn.declared else None
    feeds.insert(0, ("x", drawn.dtype.onnx, shape))
    outputs = [(name, drawn.dtype.onnx, None) for name in drawn.names]
    return model(graph(nodes, feeds, outputs, constants), 18, imports=[("padops", 1)], ir_version=9)
