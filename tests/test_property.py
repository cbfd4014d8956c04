"""Random Pads: the native kernels, the NumPy reference and ONNX Runtime's built-in Pad must say the same.

``PADOPS_EXAMPLES`` sets how many are drawn.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from math import prod

import native
import numpy as np
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

from padops import reference
from padops.dialects import OPS
from padops.plan import PadError

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "20000"))
MOST_ELEMENTS = 20_000  # of an output: enough for every border to meet every other

ONNX_OPS = sorted((name for name in OPS if name.startswith("Pad_")), key=lambda name: int(name[4:]))
TYPES = {dtype.name: dtype for dtype in native.TYPES}


@dataclass
class Case:
    op: str
    attributes: dict
    inputs: list[np.ndarray | None]
    constants: frozenset[int]


def _shrink(shape, begins, ends):
    """Takes pads, then elements away from the largest axes until input and output are small enough."""
    while prod(max(b + n + e, n, 1) for b, n, e in zip(begins, shape, ends)) > MOST_ELEMENTS:
        i = max(range(len(shape)), key=lambda i: max(begins[i] + shape[i] + ends[i], shape[i]))
        if begins[i] > 0 or ends[i] > 0:
            begins[i], ends[i] = min(begins[i], 0), min(ends[i], 0)
        else:
            shape[i] //= 2


@st.composite
def cases(draw) -> Case:
    op = OPS[draw(st.sampled_from(ONNX_OPS))]
    dtype = TYPES[draw(st.sampled_from([name for name in op.types if name in TYPES]))]
    # One mode in twenty is one that the version does not know.
    mode = draw(st.sampled_from(op.modes)) if draw(st.integers(0, 19)) < 19 else draw(st.sampled_from(["wrap", "symmetric"]))
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
        _shrink(shape, begins, ends)
    else:
        at = [int(axis) % max(rank, 1) for axis in axes]
        at = [axis if axis < rank else 0 for axis in at]
        if rank:
            whole = [0] * rank, [0] * rank
            for i, axis in enumerate(at):
                whole[0][axis], whole[1][axis] = begins[i], ends[i]
            _shrink(shape, *whole)
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
        return Case(op.name, attributes, [data], frozenset())
    fill = None
    if draw(st.booleans()):
        fill = native.random_array(rng, dtype, draw(st.sampled_from([(), (), (1,), (1, 1), (2,), (0,)])))
    array = np.array(pads, np.int64)
    inputs = [data, array.reshape(1, -1) if draw(st.integers(0, 9)) == 9 else array, fill]
    inputs += [axes] if op.input_index("axes") is not None else []
    given_inputs = [i for i in range(1, len(inputs)) if inputs[i] is not None]
    held = draw(st.sets(st.sampled_from(given_inputs))) if draw(st.integers(0, 3)) == 3 else ()
    return Case(op.name, attributes, inputs, frozenset(held))


def _outcome(run, *arguments):
    """The bits of a result, or the text of an error."""
    try:
        return native.bits(run(*arguments))
    except PadError as error:
        return str(error)
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        text = native.error_text(error)
        assert text.startswith("padops::"), text
        return text


def _built_in(case: Case) -> np.ndarray | None:
    """What ONNX Runtime's own Pad gives; None where it refuses."""
    names = ["" if array is None else f"i{i}" for i, array in enumerate(case.inputs)]
    while names[-1] == "":
        names.pop()
    if case.attributes.get("pads") == []:
        return None  # helper.make_node cannot write an empty list, and the built-in refuses rank 0
    node = helper.make_node("Pad", names, ["output"], **case.attributes)
    arrays = {f"i{i}": array for i, array in enumerate(case.inputs) if array is not None}
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
        for name, array in arrays.items()
    ]
    output = helper.make_tensor_value_info("output", infos[0].type.tensor_type.elem_type, None)
    graph = helper.make_graph([node], "one", infos, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", int(case.op[4:]))], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        return native.session(model, options).run(None, arrays)[0]
    except Exception:
        return None


# What the built-in has kernels for: peers.md's list, all of which NumPy can hold. float16 runs as Cast, Pad, Cast there.
BUILT_IN_TYPES = {
    2: ("float", "double"),
    11: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64"),
    13: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64", "bool"),
}


def _built_in_types(op: str) -> tuple[str, ...]:
    version = int(op[4:])
    return next((BUILT_IN_TYPES[first] for first in (13, 11, 2) if version >= first), ())


def test_native_equals_reference_and_built_in() -> None:
    """P1–P5, P7–P10 on random cases; errors have the same text in C++ and in Python."""
    seen: Counter[str] = Counter()

    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(cases())
    def check(case: Case) -> None:
        expected = _outcome(reference.run, case.op, case.attributes, case.inputs, "n")
        got = _outcome(native.run, case.op, case.attributes, case.inputs, "n", case.constants)
        assert got == expected
        seen["all"] += 1
        if isinstance(expected, str):
            seen["errors"] += 1
            seen[expected[expected.rindex("[") :]] += 1
        elif expected[0] in _built_in_types(case.op) and seen["asked"] < EXAMPLES // 4:
            seen["asked"] += 1
            built_in = _built_in(case)
            if built_in is not None:
                seen["built-in"] += 1
                assert native.bits(built_in) == expected

    check()
    print(dict(seen))
    if EXAMPLES >= 20_000:
        # The draw must reach what it is for: every rule broken often, the built-in compared often.
        assert seen["all"] >= EXAMPLES
        assert all(seen[f"[{rule}]"] >= 50 for rule in ("P1", "P5", "P7", "P8", "P9")), seen
        assert seen["built-in"] >= 2000, seen


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-s"]))
