"""Random whole sessions: models of one to three Pads of padops, run several times with shapes that change.

Types, operators, modes, amounts, what is constant and what is fed, ranks, sizes, arena, threads and who holds the
memory of the output follow from a number. :func:`check` builds a session, runs it, and compares every bit of every
output, and every error by its text, with the reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
from hypothesis import strategies as st
from small_models import graph, model

from padops.runtime.ort_values import run_session
from padops.spec import reference
from padops.spec.dialects import OPS, Node, Op, make_node_plan
from padops.spec.dtypes import DType, by_numpy
from padops.spec.plan import PadError

SMALL = 40_000  # elements of a small output
GROWTH = 60  # by which amounts alone may multiply the elements of a Pad
# Bytes of the data, from and to; 1.5 times as much of an output.
LARGE = {"large": (1 << 16, 1 << 22), "huge": (1 << 24, 1 << 26)}
GUARD, MARK = 64, 0xA5  # bytes on either side of an output that the caller holds, and what each of them is
BINDABLE = frozenset("float uint8 int8 uint16 int16 int32 int64 bool float16 double uint32 uint64".split())
Rows = list[list[np.ndarray | None]]


@dataclass
class Step:
    """One Pad: of the data, or of what an earlier one gives. ``inputs`` has a row for each run, without the data."""

    op: str
    attributes: dict
    inputs: Rows
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
    bound: bool = False
    all_outputs: bool = False
    declared: bool = False

    def data(self) -> list[np.ndarray]:
        rng = np.random.default_rng(self.seed)
        return [native.random_array(rng, self.dtype, shape) for shape in self.shapes]

    def outputs(self) -> list[str]:
        used = {step.source for step in self.steps}
        return [f"t{i}" for i in range(1, len(self.steps) + 1) if self.all_outputs or i not in used]


def sessions(sizes: Sequence[str]) -> st.SearchStrategy[Drawn]:
    """A model with its runs; of the sizes named, each as often as it stands there."""
    return st.builds(_session, st.sampled_from(sizes), st.integers(0, 2**32 - 1))


def _session(size: str, number: int) -> Drawn:
    rng = np.random.default_rng(number)
    dtype = _one(rng, [row for row in native.TYPES if size == "small" or row.name != "string"])
    rank = int(rng.integers(0, 7) if size == "small" else rng.integers(1, 6))
    runs, count = (2, 1) if size == "huge" else map(int, (rng.integers(1, 5), rng.integers(1, 4)))
    shapes = [_shape(rng, rank, size, dtype) for _ in range(runs)]
    steps = [_step(rng, dtype, rank, runs, size) for _ in range(count)]
    for i, step in enumerate(steps):
        step.source = _one(rng, [i, i, i, 0])
    most = SMALL if size == "small" else LARGE[size][1] * 3 // 2 // max(dtype.bits // 8, 1)
    for run, shape in enumerate(shapes):  # halves the longest axis until no output has more elements
        while _largest(steps, shape, run, dtype) > most and max(shape, default=0) > 1:
            shape[shape.index(max(shape))] //= 2
    yes = [_yes(rng) for _ in range(4)]
    return Drawn(dtype, steps, shapes, number, int(rng.integers(1, 3)), *yes)


def _one(rng: np.random.Generator, values: Sequence[Any]) -> Any:
    return values[rng.integers(len(values))]


def _yes(rng: np.random.Generator) -> bool:
    return bool(rng.random() < 0.5)


def _shape(rng: np.random.Generator, rank: int, size: str, dtype: DType) -> list[int]:
    if size == "small":
        shape = rng.integers(0, 8, rank).tolist()
        while prod(max(n, 1) for n in shape) > SMALL // GROWTH:
            shape[shape.index(max(shape))] //= 2
        return shape
    shape, (low, high) = rng.choice([1, 1, 2, 3], rank).tolist(), LARGE[size]
    # Those of less than a byte are one in NumPy.
    elements = min(low << int(rng.integers(9)), high) // max(dtype.bits // 8, 1)
    elements -= int(rng.integers(elements // 2 + 1))
    first = _one(rng, [rank - 1, rank - 1, int(rng.integers(rank))])  # the innermost has most, often
    second = int(rng.integers(rank))
    shape[second] = _one(rng, [shape[second], 5, 64, 257, 1500])
    shape[first] = 1
    shape[first] = max(elements // prod(shape), 1)
    return shape


def _largest(steps: list[Step], shape: list[int], run: int, dtype: DType) -> int:
    """Elements of the largest output of a run; where a rule is broken there is none."""
    shapes = [tuple(shape)]
    for step in steps:
        node = Node(OPS[step.op], "", step.attributes, [np.empty(0, dtype.numpy), *step.inputs[run]])
        try:
            shapes.append(make_node_plan(node, shapes[step.source]).shape)
        except PadError:
            shapes.append(shapes[step.source])
    return max(map(prod, shapes))


def _amounts(rng: np.random.Generator, count: int, size: str) -> list[int]:
    """Amounts of one side, or of both: they may grow a tensor by GROWTH at most, in all."""
    low, high = _one(rng, [(0, 3), (0, 3), (-1, 2), (-9, 20)])
    values = rng.integers(low, high + 1, count).tolist()
    if size != "small" and count and _yes(rng):
        values[rng.integers(count)] = _one(rng, [7, 31, 64, 1000])
        values = [min(value, 2) if abs(value) < 7 else value for value in values]
    while prod(max(value, 0) + 1 for value in values) > GROWTH and max(values) < 1000:
        values[values.index(max(values))] = 0
    return values


def _step(rng: np.random.Generator, dtype: DType, rank: int, runs: int, size: str) -> Step:
    op = _one(rng, [op for op in OPS.values() if dtype.name in op.types and (op.name != "SamePad_1" or 3 <= rank <= 5)])
    attributes = {op.mode: _one(rng, [*op.modes, op.modes[0]])}
    if op.input_index("pads") is not None:
        rows = _onnx_inputs(rng, op, dtype, rank, runs, size)
    elif op.name.startswith("OpenVINO"):
        kind, fill = _one(rng, ["int16", "int32", "int64"]), _fill(rng, op, dtype)
        lists = [[np.array(_amounts(rng, rank, size), kind) for _ in range(2)] for _ in range(runs)]
        rows = [[*pair, fill] for pair in lists]
    else:
        attributes |= _attribute_amounts(rng, op, rank, size, attributes[op.mode])
        rows = [[_fill(rng, op, dtype)] * (len(op.inputs) - 1)] * runs
    held = frozenset(i for i, array in enumerate(rows[0]) if array is not None and _yes(rng))
    # What is constant, and what is absent, is so in every run.
    absent = {i for row in rows for i, array in enumerate(row) if array is None}
    fixed = {i: None if i in absent else rows[0][i] for i in held | absent}
    rows = [[fixed.get(i, array) for i, array in enumerate(row)] for row in rows]
    return Step(op.name, attributes, rows, held - absent)


def _fill(rng: np.random.Generator, op: Op, dtype: DType) -> np.ndarray | None:
    """The fill; where it may be absent it is, every other time."""
    optional = next((row.optional for row in op.inputs if row.name == op.fill), True)
    return None if optional and _yes(rng) else native.random_array(rng, dtype, _one(rng, [(), (1,)]))


def _attribute_amounts(rng: np.random.Generator, op: Op, rank: int, size: str, mode: str) -> dict[str, Any]:
    if op.name == "SamePad_1":
        kernel, strides = (rng.integers(1, 6, rank - 2).tolist() for _ in range(2))
        return {"kernel_shape": kernel, "strides": strides, "data_format": _one(rng, ["NCHW", "NHWC"])}
    begins, ends = _amounts(rng, rank, size), _amounts(rng, rank, size)
    if op.name != "NGraphPad_0":
        name = next(row.name for row in op.attributes if row.type == "ints")
        value = float(np.frombuffer(rng.bytes(4), np.float32)[0])
        return {name: begins + ends} | ({"value": value} if _yes(rng) else {})
    made = {"padding_below": begins, "padding_above": ends}
    if mode == "CONSTANT" and _yes(rng):
        between = int(rng.integers(max(rank, 1)))
        made["padding_interior"] = [int(rng.integers(4)) if i == between else 0 for i in range(rank)]
    return made


def _onnx_inputs(rng: np.random.Generator, op: Op, dtype: DType, rank: int, runs: int, size: str) -> Rows:
    axes, count = None, rank
    if op.input_index("axes") is not None and _yes(rng):
        listed = rng.permutation(rank)[: rng.integers(rank + 1)].tolist()
        signed = [axis - rank if _yes(rng) else axis for axis in listed]
        axes, count = np.array(signed, _one(rng, [np.int64, np.int32])), len(listed)
    pads = [np.array(_amounts(rng, count, size) + _amounts(rng, count, size), np.int64) for _ in range(runs)]
    fills = [_fill(rng, op, dtype) for _ in range(runs)] if _yes(rng) else [None] * runs
    return [[*row, axes][: len(op.inputs) - 1] for row in zip(pads, fills)]


def build(drawn: Drawn) -> onnx.ModelProto:
    nodes, constants = [], []
    shape = [f"d{k}" for k in range(len(drawn.shapes[0]))] if drawn.declared else None
    feeds = [("x", drawn.dtype.onnx, shape)]
    for i, step in enumerate(drawn.steps):
        wanted = [f"t{step.source}" if step.source else "x"]
        for k, array in enumerate(step.inputs[0]):
            wanted.append("" if array is None else f"s{i}_{k}")
            if array is not None and k in step.held:
                constants.append(native.tensor(wanted[-1], array))
            elif array is not None:
                feeds.append((wanted[-1], by_numpy(array.dtype).onnx, None))
        nodes.append(native.node(step.op, wanted, f"t{i + 1}", step.attributes, f"n{i}"))
    outputs = [(name, drawn.dtype.onnx, None) for name in drawn.outputs()]
    return model(graph(nodes, feeds, outputs, constants), 18, imports=[("padops", 1)], ir_version=9)


def expected(drawn: Drawn, run: int, data: np.ndarray) -> dict[str, np.ndarray] | set[str]:
    """The outputs of a run by name, or the texts of the errors of which it must give one."""
    tensors: list[np.ndarray | None] = [data]
    errors = set()
    for i, step in enumerate(drawn.steps):
        source = tensors[step.source]
        try:
            inputs = [source, *step.inputs[run]]
            tensors.append(None if source is None else reference.run(step.op, step.attributes, inputs, f"n{i}"))
        except PadError as error:
            errors.add(str(error))
            tensors.append(None)
    return errors or {f"t{i}": array for i, array in enumerate(tensors) if i}


def check(drawn: Drawn, seen: Counter[str]) -> None:
    """Builds the session, runs it, and compares everything; counts what was seen."""
    model, data = build(drawn), drawn.data()
    wanted = [expected(drawn, run, array) for run, array in enumerate(data)]
    options = native.session_options()
    options.intra_op_num_threads = drawn.threads
    options.enable_cpu_mem_arena = options.enable_mem_pattern = drawn.arena
    seen["sessions"] += 1
    try:
        built = native.session(model, options)
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        assert any(native.error_text(error) in errors for errors in wanted if isinstance(errors, set)), error
        seen["refused"] += 1
        return
    for run, array in enumerate(data):
        feeds = {"x": array}
        for i, step in enumerate(drawn.steps):
            feeds |= {f"s{i}_{k}": a for k, a in enumerate(step.inputs[run]) if a is not None and k not in step.held}
        try:
            seen[_run(built, drawn, feeds, wanted[run])] += 1
        except AssertionError:
            raise
        except Exception as error:
            errors = wanted[run]
            assert isinstance(errors, set) and native.error_text(error) in errors, (error, errors)
            seen["errors"] += 1
            continue
        seen["runs"] += 1
        seen["large runs"] += array.nbytes > 1 << 16


def _run(built: onnxruntime.InferenceSession, drawn: Drawn, feeds: dict[str, np.ndarray], wanted: Any) -> str:
    """One run, compared: "bound" where the caller holds the outputs, with guards around them that must stay."""
    names = drawn.outputs()
    if not drawn.bound or drawn.dtype.name not in BINDABLE or isinstance(wanted, set):
        outputs = run_session(built, feeds, names)
        assert not isinstance(wanted, set), f"no error, but one of {wanted}"
        for name, output in zip(names, outputs, strict=True):
            assert native.bits(output) == native.bits(wanted[name]), f"{name}: {output.dtype}{output.shape}"
        return "plain"
    binding = built.io_binding()
    for name, array in feeds.items():
        binding.bind_ortvalue_input(name, native.to_ort_value(array))
    held = {name: np.full(wanted[name].nbytes + 2 * GUARD, MARK, np.uint8) for name in names}
    for name, memory in held.items():
        array = wanted[name]
        if array.size:
            binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, memory.ctypes.data + GUARD)
        else:
            binding.bind_output(name, "cpu")
    built.run_with_iobinding(binding)
    guard = bytes([MARK]) * GUARD
    for name, memory in held.items():
        assert memory.tobytes() == guard + wanted[name].tobytes() + guard, f"{name}, or a byte around it, differs"
    return "bound"
