"""OpenVINO itself on random Pads: its CPU device, and the reference code in its operators, against the native kernels.

``PADOPS_EXAMPLES`` sets how many are drawn. What is known to differ is a row of ``DIVERGENCES``, and has its smallest
case below.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import product

import native
import numpy as np
import pytest
from case_strategies import TYPES, Case, explore
from hypothesis import strategies as st
from openvino import opset12
from openvino_divergences import DIVERGENCES, divergence
from openvino_peer import ELEMENT_TYPES, OpenVINO, Request, Tensor

from padops.spec.dialects import INTEGER_KINDS, OPS, same_padding
from padops.spec.dtypes import by_numpy

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "1000"))
BATCH = 10  # Pads that are asked at once

LONGEST = (1, 12, 8, 5, 4, 3)  # dims by rank: borders meet each other, and no output has 100,000 elements
SIGNED = [name for name in INTEGER_KINDS["integer"] if name.startswith("int")]
EXACT = [name for name in ELEMENT_TYPES if name in TYPES]
EVALUATED = [name for name in EXACT if TYPES[name].bits not in (2, 4)]  # evaluate() corrupts its memory with int4

MAX_FILL = 2**24  # the CPU device reads any integer fill as a float


@pytest.fixture(scope="module")
def peer():
    process = OpenVINO()
    yield process
    process.close()


def amounts(draw, size: int, most: int) -> tuple[int, int]:
    """Begin and end of one axis that leave no negative dim and add at most ``most``."""
    begin = draw(st.integers(-size, max(most, 0)))
    return begin, draw(st.integers(max(-size - begin, -size), max(most, 0)))


@st.composite
def cases(draw) -> Case:
    """Three in four within the limits; all eight integer types for begin and end, in any combination."""
    op = draw(st.sampled_from(["OpenVINOPad_1", "OpenVINOPad_12"]))
    mode = draw(st.sampled_from(OPS[op].modes))
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
    rng = np.random.default_rng([draw(st.integers(0, 2**32 - 1)), *shape])
    # Not drawn: Hypothesis likes some types better than others, and the same kind of integer twice.
    types = [name for name in EXACT if name != "string" or mode == "constant"]
    dtype, kinds = TYPES[types[rng.integers(len(types))]], rng.integers(0, 8, 2)
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
    with np.errstate(over="ignore", invalid="ignore"):
        if name == "double":
            array = np.asarray(np.nan_to_num(array.astype(np.float32)), np.float64)
        elif name in ("float16", "float8e4m3fn", "float8e5m2", "float4e2m1"):
            array = np.where(np.isnan(array) | (array == 0), np.zeros((), array.dtype), array)
        elif name in ("int64", "uint64", "int32", "uint32") and (fill or name.endswith("64")):
            array = np.asarray(array % array.dtype.type(MAX_FILL if fill else 2**31))
        return np.zeros_like(array) if fill and name != "string" and array == 0 else array


def tensor(array: np.ndarray | None) -> Tensor | None:
    if array is None:
        return None
    name = by_numpy(array.dtype).name
    return Tensor(name, array.shape, array.reshape(-1).tolist() if name == "string" else native.to_bytes(array))


def request(case: Case, where: str) -> Request:
    data, begins, ends, fill = case.inputs
    return Request(case.op, case.attributes["pad_mode"], where, tensor(data), begins, ends, tensor(fill))


def bits(answer: Tensor) -> tuple:
    if answer.type == "string":
        return ("string", answer.shape, answer.content)
    return native.bits(native.from_bytes(answer.content, TYPES[answer.type], answer.shape))


def outcome(case: Case) -> tuple | str:
    """What padops gives, as bits, or its error."""
    try:
        return native.bits(native.run(case.op, case.attributes, case.inputs, "n", case.constants))
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        return native.error_text(error)


def compare(peer: OpenVINO, batch: list[Case], where: str, seen: Counter) -> None:
    """Asks OpenVINO what it is not known to do differently, and holds padops to the answers."""
    asked = []
    for case in batch:
        known = divergence(case, where)
        if known is not None:
            seen[where, known.what] += 1
            continue
        if where != "evaluate":
            inputs = [kept(a, i == 3) if i in (0, 3) else a for i, a in enumerate(case.inputs)]
            case = Case(case.op, case.attributes, inputs, case.constants)
        expected = outcome(case)
        if not isinstance(expected, str):
            asked.append((case, expected))
            continue
        answer = peer.ask([request(case, where)])
        assert expected.endswith("[P4]"), expected
        assert isinstance(answer, str) and "padding" in answer, (case, answer)
        seen[where, "P4"] += 1
    if not asked:
        return
    answers = peer.ask([request(case, where) for case, _ in asked])
    assert not isinstance(answers, str), (where, answers, asked)
    for (case, expected), answer in zip(asked, answers, strict=True):
        assert bits(answer) == expected, (where, case)
        seen[where, "agree"] += 1
        seen[where, expected[0]] += 1
        seen[case.op, case.attributes["pad_mode"]] += 1
        seen["begins and ends", case.inputs[1].dtype.name, case.inputs[2].dtype.name] += 1


def test_openvino_agrees(peer: OpenVINO) -> None:
    """P1–P5 and P7: every bit, and an error where OpenVINO has one."""
    seen: Counter = Counter()

    def check(batch: list[Case]) -> None:
        seen["all"] += len(batch)
        compare(peer, [case for case in batch if by_numpy(case.inputs[0].dtype).name in EVALUATED], "evaluate", seen)
        compare(peer, [case for case in batch if case.constants], "constant", seen)
        compare(peer, [case for case in batch if not case.constants], "dynamic", seen)

    batches = st.lists(cases(), min_size=BATCH, max_size=BATCH)
    explore(batches, check, -(-EXAMPLES // BATCH), lambda: seen["all"] >= EXAMPLES and _is_enough(seen))
    print({" ".join(key) if isinstance(key, tuple) else key: count for key, count in sorted(seen.items(), key=str)})
    assert not peer.crashes


def _is_enough(seen: Counter) -> bool:
    """Whether the draw has reached what it is for; only a full run is large enough to tell."""
    if EXAMPLES < 1000:
        return True
    agreed = {"evaluate": EXAMPLES // 2, "dynamic": EXAMPLES // 3, "constant": EXAMPLES // 10}
    kinds = INTEGER_KINDS["integer"]
    return (
        all(seen[where, "agree"] >= least for where, least in agreed.items())
        and all(seen[where, "P4"] >= 5 for where in ("constant", "evaluate"))
        and all(seen[where, name] >= 3 for where in agreed for name in (EVALUATED if where == "evaluate" else EXACT))
        and all(seen[op, mode] >= 20 for op in ("OpenVINOPad_1", "OpenVINOPad_12") for mode in OPS[op].modes)
        and sum(seen["begins and ends", begin, end] > 0 for begin in kinds for end in kinds) >= 56
    )


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def fp4(*values: float) -> np.ndarray:
    return np.array(values, TYPES["float4e2m1"].numpy)


# Where, mode, data, begins, ends; what OpenVINO gives (the text of an error, or an output), what padops gives, and the
# rule of padops. The fill is 7.
SMALLEST = [
    # A tensor of rank 0 passes through.
    ("constant", "edge", np.float32(1), [], [], "incorrect number of input/output dimensions", np.float32(1), "P5"),
    # max(..., 0), as OpenVINO's own document says.
    ("constant", "constant", floats(1, 2), [-3], [0], "undefined source memory", floats(), "P1"),
    ("evaluate", "constant", floats(1, 2), [-3], [0], "Cannot allocate memory", floats(), "P1"),
    # Far outside, so that the read is sure to leave the process's memory: it happens from ([-2], [2]) on one element
    # on.
    ("constant", "edge", floats(1, 2), [-(2**30)], [2**30], "crash", floats(2, 2), "P3"),
    # The limit is checked, but the error is lost.
    ("dynamic", "reflect", floats(1, 2), [2], [0], floats(), "[P4]", "P4"),
    # Nothing to extend from.
    ("dynamic", "edge", floats(), [1], [0], floats(), "[P5]", "P5"),
    # 0 is more than n - 1 = -1, says OpenVINO; nothing asks for a reflection, says P4.
    ("constant", "reflect", floats(), [0], [0], "REFLECT padding mode requires", floats(), "P4"),
    ("fill input", "constant", floats(1), [1], [0], floats(0, 1), floats(7, 1), "P7"),
    # A new process has no run before, so it gives no elements.
    ("dynamic", "edge", fp4(4), [0], [0], fp4(), fp4(4), "P7"),
    ("constant", "edge", fp4(4).reshape(1, 1, 1, 1), [-1, 0, 0, 0], [0] * 4, "reorder", fp4().reshape(0, 1, 1, 1), "T"),
]


def smallest(row: tuple) -> tuple[Case, str]:
    where, mode, data, begins, ends = row[:5]
    fill = np.array(7, np.float32) if mode == "constant" else None
    inputs = [np.asarray(data), np.array(begins, np.int64), np.array(ends, np.int64), fill]
    return Case("OpenVINOPad_12", {"pad_mode": mode}, inputs, frozenset({1, 2} if where != "dynamic" else ())), where


@pytest.mark.parametrize("row", SMALLEST, ids=lambda row: f"{row[-1]} {row[0]} {row[1]}")
def test_divergence(row: tuple) -> None:
    """The smallest case of what stands in DIVERGENCES: an OpenVINO that has repaired it fails here."""
    case, where = smallest(row)
    theirs, ours, rule = row[5:]
    assert divergence(case, where).rule == rule
    process = OpenVINO()
    try:
        answer = process.ask([request(case, where)])
    finally:
        process.close()
    assert theirs in answer if isinstance(theirs, str) else bits(answer[0]) == native.bits(np.asarray(theirs))
    got = outcome(case)
    assert got.endswith(ours) if isinstance(ours, str) else got == native.bits(np.asarray(ours))


def test_every_divergence_has_its_case() -> None:
    assert {divergence(*smallest(row)) for row in SMALLEST} == set(DIVERGENCES)


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
