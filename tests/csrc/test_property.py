"""Random Pads: the native kernels, the NumPy reference and ONNX Runtime's built-in Pad must say the same.

``PADOPS_EXAMPLES`` sets how many are drawn; ``tests/long/long_counts.py`` draws 100,000.
"""

from __future__ import annotations

import os
from collections import Counter

import case_strategies
import native
import numpy as np
import onnxruntime
import pytest
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from onnx import helper
from slow import MORE

from padops.spec import reference
from padops.spec.plan import PadError

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "100000" if MORE else "1000"))


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


def _built_in(case: case_strategies.Case) -> np.ndarray | None:
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


# What the built-in has kernels for: the list, all of which NumPy can hold. float16 runs as Cast, Pad, Cast
# there.
BUILT_IN_TYPES = {
    2: ("float", "double"),
    11: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64"),
    13: ("float", "double", "int8", "int32", "int64", "uint8", "uint32", "uint64", "bool"),
}


def _built_in_types(op: str) -> tuple[str, ...]:
    version = int(op[4:])
    return next((BUILT_IN_TYPES[first] for first in (13, 11, 2) if version >= first), ())


def _check_all(strategy, examples: int, least: dict[str, int]) -> None:
    """Compares native and reference on ``examples`` drawn cases, and on more until each of these was seen as often.

    Only a full run is large enough to tell.
    """
    seen: Counter[str] = Counter()

    def check(case: case_strategies.Case) -> None:
        expected = _outcome(reference.run, case.op, case.attributes, case.inputs, "n")
        got = _outcome(native.run, case.op, case.attributes, case.inputs, "n", case.constants, case.static)
        assert got == expected
        seen["all"] += 1
        if isinstance(expected, str):
            seen[expected[expected.rindex("[") :]] += 1
        elif (
            "built-in" in least
            and expected[0] in _built_in_types(case.op)
            and (seen["asked"] < examples // 4 or seen["built-in"] < least["built-in"])
        ):
            seen["asked"] += 1
            built_in = _built_in(case)
            if built_in is not None:
                seen["built-in"] += 1
                assert native.bits(built_in) == expected

    met = lambda: EXAMPLES < 1000 or all(seen[label] >= count for label, count in least.items())
    case_strategies.explore(strategy, check, examples, met)
    print(dict(seen))


def test_onnx_pads() -> None:
    """P1–P5, P7–P10: native, reference and built-in; errors have the same text in C++ and in Python."""
    rules = dict.fromkeys(("[P1]", "[P5]", "[P7]", "[P8]", "[P9]"), 12)
    _check_all(case_strategies.cases("Pad_"), EXAMPLES, rules | {"all": 1000, "built-in": 120})


def test_openvino_pads() -> None:
    """P1 (clamped in 12), P2, P3 FULL, P4's limits, P5, P7–P9."""
    rules = ("[P1]", "[P4]", "[P5]", "[P7]", "[P8]", "[P9]")
    _check_all(case_strategies.cases("OpenVINOPad_"), EXAMPLES // 4, dict.fromkeys(rules, 5))


def test_ngraph_pads() -> None:
    """P6's interior, P3 FULL, P4 for EDGE and REFLECT."""
    rules = ("[P1]", "[P4]", "[P6]", "[P7]", "[P8]", "[P9]")
    _check_all(case_strategies.cases("NGraphPad_"), EXAMPLES // 4, dict.fromkeys(rules, 5))


def test_same_pads() -> None:
    """S1 in every layout and mode."""
    _check_all(case_strategies.cases("SamePad_"), EXAMPLES // 4, dict.fromkeys(("[S1]", "[P5]", "[P7]", "[P9]"), 5))


def test_what_a_draw_has_not_met_is_looked_for() -> None:
    """So that no release of Hypothesis, which may draw anything, decides about these tests."""
    seen: Counter[int] = Counter()
    count = lambda number: seen.update([number])
    case_strategies.explore(st.integers(0, 99), count, 5, lambda: len(seen) >= 60)
    assert len(seen) == 60
    with pytest.raises(NoSuchExample):
        case_strategies.explore(st.integers(0, 99), count, 5, lambda: seen[100])


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-s"]))
