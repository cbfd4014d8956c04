"""OpenVINO itself on random Pads: its CPU device, and the reference code in its operators, against the native kernels.

``PADOPS_EXAMPLES`` sets how many are drawn. What is known to differ is a row of ``DIVERGENCES``, with its smallest case.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import prod

import native
import numpy as np
import pytest
from case_strategies import TYPES, Case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openvino import opset12
from openvino_peer import ELEMENT_TYPES, OpenVINO, Request, Tensor

from padops.dialects import INTEGER_KINDS, OPS, same_padding
from padops.dtypes import by_numpy

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "5000"))

LONGEST = (1, 12, 8, 5, 4, 3)  # dims by rank: borders meet each other, and no output has 100,000 elements
SIGNED = [name for name in INTEGER_KINDS["integer"] if name.startswith("int")]
EXACT = [name for name in ELEMENT_TYPES if name in TYPES]
EVALUATED = [name for name in EXACT if TYPES[name].bits not in (2, 4)]  # evaluate() corrupts its memory with int4

MOST_OF_FILL = 2**24  # the CPU device reads any integer fill as a float


@pytest.fixture(scope="module")
def peer():
    process = OpenVINO()
    yield process
    process.close()


@dataclass(frozen=True)
class Axes:
    """A case, axis by axis, for the conditions below."""

    mode: str
    type: str
    rows: tuple[tuple[int, int, int], ...]  # begin, size, end

    @property
    def negative(self) -> bool:
        return any(b + n + e < 0 for b, n, e in self.rows)

    @property
    def crossed(self) -> bool:
        """One side takes more than there is, and the other adds."""
        return any((b > 0 and n + e < 0) or (e > 0 and n + b < 0) for b, n, e in self.rows)

    @property
    def over(self) -> bool:
        most = {"reflect": -1, "symmetric": 0}.get(self.mode)
        return most is not None and any(max(b, e) > max(n + most, 0) for b, n, e in self.rows)

    @property
    def hollow(self) -> bool:
        """An empty axis, and a mode that extends."""
        return self.mode != "constant" and any(n == 0 for _, n, _ in self.rows)

    @property
    def odd(self) -> bool:
        """Half a byte of data."""
        return self.type == "float4e2m1" and prod(n for _, n, _ in self.rows) % 2 == 1

    @property
    def deep(self) -> bool:
        return self.type == "float4e2m1" and len(self.rows) > 3


@dataclass(frozen=True)
class Divergence:
    """Where OpenVINO does not do what the specification or padops' rule says.

    Attributes:
        rule: The rule of padops.
        what: What OpenVINO does instead.
        where: As in ``openvino_peer.Request``.
    """

    rule: str
    what: str
    where: tuple[str, ...]
    matches: Callable[[Axes], bool]


DIVERGENCES = (
    Divergence("P5", "rank 0: an error; garbage", ("constant", "dynamic"), lambda a: not a.rows),
    Divergence("P1", "negative dim: an error; a crash", ("constant", "dynamic", "evaluate"), lambda a: a.negative),
    Divergence("P3", "crop beyond the data: a crash", ("constant", "dynamic"), lambda a: a.crossed),
    Divergence("P4", "no error: no elements, or those of the run before", ("dynamic",), lambda a: a.over),
    Divergence("P5", "empty axis: garbage", ("dynamic", "evaluate"), lambda a: a.hollow),
    Divergence("P4", "empty axis: an error even where nothing is added", ("constant",), lambda a: a.hollow),
    Divergence("T", "float4e2m1 of rank 4 and more: an error in some layouts", ("constant",), lambda a: a.deep),
    Divergence("P7", "the fill is 0", ("fill input",), lambda a: a.mode == "constant"),
    Divergence("P7", "odd count of float4e2m1: the data of the run before", ("dynamic",), lambda a: a.odd),
)


def amounts(draw, size: int, most: int) -> tuple[int, int]:
    """Begin and end of one axis that leave no negative dim and add at most ``most``."""
    begin = draw(st.integers(-size, max(most, 0)))
    return begin, draw(st.integers(max(-size - begin, -size), max(most, 0)))


@st.composite
def cases(draw) -> Case:
    """Three in four within the limits; all eight integer types for begin and end, in any combination."""
    op = draw(st.sampled_from(["OpenVINOPad_1", "OpenVINOPad_12"]))
    mode = draw(st.sampled_from(OPS[op].modes))
    dtype = TYPES[draw(st.sampled_from([name for name in EXACT if name != "string" or mode == "constant"]))]
    rank = draw(st.integers(0, 15))
    rank = 0 if rank == 15 else rank % 5 + 1
    wild = draw(st.integers(0, 3)) == 3
    least = 0 if wild or mode == "constant" else 1
    shape = draw(st.lists(st.integers(least, LONGEST[rank]), min_size=rank, max_size=rank))
    if wild:
        amount = st.sampled_from([st.just(0), st.integers(-9, 9)]).flatmap(lambda values: values)
        pairs = [(draw(amount), draw(amount)) for _ in shape]
    else:
        most = {"reflect": -1, "symmetric": 0, "edge": 3, "constant": 3}[mode]
        pairs = [amounts(draw, n, n + most) for n in shape]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = rng.integers(0, 8, 2)  # not drawn: Hypothesis likes the same one twice
    arrays = []
    for values, kind in zip(zip(*pairs) if pairs else ((), ()), kinds):
        names = SIGNED if min(values, default=0) < 0 else INTEGER_KINDS["integer"]
        arrays.append(np.array(values, names[kind % len(names)]))
    fill = native.random_array(rng, dtype, ()) if draw(st.booleans()) else None
    inputs = [native.random_array(rng, dtype, shape), *arrays, fill]
    held = draw(st.sampled_from([False, True] if wild else [False, False, True]))
    return Case(op, {"pad_mode": mode}, inputs, frozenset(i for i in (1, 2, 3) if held and inputs[i] is not None))


def kept(array: np.ndarray | None, fill: bool) -> np.ndarray | None:
    """The nearest values that the CPU device moves without a change.

    It stores double as float, 64-bit integers as int32 and small floats as float, which makes a signalling NaN quiet
    and, from float8 and float4 on, -0 to 0. A fill of -0 is 0 in any type.
    """
    if array is None:
        return None
    name = by_numpy(array.dtype).name
    if name == "double":
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.asarray(np.nan_to_num(array.astype(np.float32)), np.float64)
    elif name in ("float16", "float8e4m3fn", "float8e5m2", "float4e2m1"):
        array = np.where(np.isnan(array) | (array == 0), np.zeros((), array.dtype), array)
    elif name in ("int64", "uint64", "int32", "uint32") and (fill or name.endswith("64")):
        array = np.asarray(array % array.dtype.type(MOST_OF_FILL if fill else 2**31))
    return np.zeros_like(array) if fill and name != "string" and array == 0 else array


def tensor(array: np.ndarray | None) -> Tensor | None:
    if array is None:
        return None
    name = by_numpy(array.dtype).name
    return Tensor(name, array.shape, array.reshape(-1).tolist() if name == "string" else native.to_bytes(array))


def ask(peer: OpenVINO, case: Case, where: str) -> tuple | str:
    """What OpenVINO gives, as bits, or its error."""
    data, begins, ends, fill = case.inputs
    request = Request(case.op, case.attributes["pad_mode"], where, tensor(data), begins, ends, tensor(fill))
    answer = peer.ask(request)
    if isinstance(answer, str):
        return answer
    if answer.type == "string":
        return ("string", answer.shape, answer.content)
    return native.bits(native.from_bytes(answer.content, by_numpy(data.dtype), answer.shape))


def outcome(case: Case) -> tuple | str:
    """What padops gives, as bits, or its error."""
    try:
        return native.bits(native.run(case.op, case.attributes, case.inputs, "n", case.constants))
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        return native.error_text(error)


def compare(peer: OpenVINO, case: Case, where: str, seen: Counter) -> None:
    """Asks OpenVINO unless it is known to differ, and holds padops to the answer."""
    rows = tuple(zip(case.inputs[1].tolist(), case.inputs[0].shape, case.inputs[2].tolist()))
    axes = Axes(case.attributes["pad_mode"], by_numpy(case.inputs[0].dtype).name, rows)
    known = next((row for row in DIVERGENCES if where in row.where and row.matches(axes)), None)
    if known is not None:
        seen[where, known.what] += 1
        return
    if where != "evaluate":
        case = Case(
            case.op, case.attributes, [kept(a, i == 3) if i in (0, 3) else a for i, a in enumerate(case.inputs)]
        )
    answer = ask(peer, case, where)
    expected = outcome(case)
    if isinstance(expected, str):
        assert expected.endswith("[P4]"), expected
        assert isinstance(answer, str) and "padding" in answer, (case, answer)
        seen[where, "P4"] += 1
        return
    assert answer == expected, (where, case)
    seen[where, "agree"] += 1
    seen[where, expected[0]] += 1
    seen[case.op, case.attributes["pad_mode"]] += 1
    seen["begins and ends", case.inputs[1].dtype.name, case.inputs[2].dtype.name] += 1


def test_openvino_agrees(peer: OpenVINO) -> None:
    """P1–P5 and P7: every bit, and an error where OpenVINO has one."""
    seen: Counter = Counter()

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(cases())
    def check(case: Case) -> None:
        seen["all"] += 1
        if by_numpy(case.inputs[0].dtype).name in EVALUATED:
            compare(peer, case, "evaluate", seen)
        compare(peer, case, "constant" if case.constants else "dynamic", seen)

    check()
    print({" ".join(key) if isinstance(key, tuple) else key: count for key, count in sorted(seen.items(), key=str)})
    assert not peer.crashes
    if EXAMPLES >= 5000:
        # The draw must reach what it is for.
        assert seen["evaluate", "agree"] >= EXAMPLES // 2
        assert seen["dynamic", "agree"] >= EXAMPLES // 3
        assert seen["constant", "agree"] >= EXAMPLES // 10
        assert all(seen[where, "P4"] >= 10 for where in ("constant", "evaluate"))
        for where in ("constant", "dynamic", "evaluate"):
            names = EVALUATED if where == "evaluate" else EXACT
            assert all(seen[where, name] >= 5 for name in names), where
        for op in ("OpenVINOPad_1", "OpenVINOPad_12"):
            assert all(seen[op, mode] >= 50 for mode in OPS[op].modes), op
        kinds = INTEGER_KINDS["integer"]
        pairs = [(begin, end) for begin in kinds for end in kinds]
        assert sum(seen["begins and ends", *pair] > 0 for pair in pairs) >= 56


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


ONE_FP4 = np.array([4], TYPES["float4e2m1"].numpy)

# Rule, where, mode, data, begins, ends; what OpenVINO gives (the text of an error, or an output), and what padops gives.
# The fill is 7.
SMALLEST = [
    # A tensor of rank 0 passes through.
    ("P5", "constant", "edge", np.float32(1), [], [], "incorrect number of input/output dimensions", np.float32(1)),
    # max(..., 0), as OpenVINO's own document says.
    ("P1", "constant", "constant", floats(1, 2), [-3], [0], "undefined source memory", floats()),
    ("P1", "evaluate", "constant", floats(1, 2), [-3], [0], "Cannot allocate memory", floats()),
    # Far outside, so that the read is sure to leave the process's memory: it happens from ([-2], [2]) on one element on.
    ("P3", "constant", "edge", floats(1, 2), [-(2**30)], [2**30], "crash", floats(2, 2)),
    # The limit is checked, but the error is lost.
    ("P4", "dynamic", "reflect", floats(1, 2), [2], [0], floats(), "[P4]"),
    # Nothing to extend from.
    ("P5", "dynamic", "edge", floats(), [1], [0], floats(), "[P5]"),
    # 0 is more than n - 1 = -1, says OpenVINO; nothing asks for a reflection, says P4.
    ("P4", "constant", "reflect", floats(), [0], [0], "REFLECT padding mode requires", floats()),
    ("P7", "fill input", "constant", floats(1), [1], [0], floats(0, 1), floats(7, 1)),
    # A new process has no run before, so it gives no elements.
    ("P7", "dynamic", "edge", ONE_FP4, [0], [0], ONE_FP4[:0], ONE_FP4),
]


@pytest.mark.parametrize("row", SMALLEST, ids=lambda row: " ".join(row[:3]))
def test_divergence(row: tuple) -> None:
    """The smallest case of what stands in DIVERGENCES: an OpenVINO that has repaired it fails here."""
    rule, where, mode, data, begins, ends, theirs, ours = row
    assert any(known.rule == rule and where in known.where for known in DIVERGENCES)
    data = np.asarray(data)
    fill = np.array(7, np.float32) if mode == "constant" else None
    inputs = [data, np.array(begins, np.int64), np.array(ends, np.int64), fill]
    case = Case("OpenVINOPad_12", {"pad_mode": mode}, inputs, frozenset({1, 2} if where != "dynamic" else ()))
    process = OpenVINO()
    try:
        answer = ask(process, case, where)
    finally:
        process.close()
    assert theirs in answer if isinstance(theirs, str) else answer == native.bits(np.asarray(theirs))
    got = outcome(case)
    assert got.endswith(ours) if isinstance(ours, str) else got == native.bits(np.asarray(ours))


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_auto_pad_agrees(mode: str) -> None:
    """S1: the amounts and the output dims that Convolution and MaxPool compute, of 2,100 windows each."""
    for n, k, s, d in product(range(1, 16), range(1, 6), range(1, 8), range(1, 5)):
        data, filters = (opset12.parameter([1, 1, size], np.float32) for size in (n, k))
        convolution = opset12.convolution(data, filters, [s], [0], [0], [d], mode.lower())
        pool = opset12.max_pool(data, [s], [d], [0], [0], [k], "floor", mode.lower())
        for node in (convolution, pool):
            attributes = node.get_attributes()
            amounts = (*attributes["pads_begin"], *attributes["pads_end"])
            assert amounts == same_padding(n, k, s, d, mode), (n, k, s, d, node.get_type_name())
            assert node.get_output_shape(0)[2] == -(-n // s)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-s"]))
