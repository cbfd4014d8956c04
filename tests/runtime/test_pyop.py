"""Python kernels of onnxruntime-extensions: the same bits and the same errors as the reference, in a real session.

``PADOPS_EXAMPLES`` sets how many random cases are drawn. What could abort the process is in ``test_pyop_process.py``.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import case_strategies
import native
import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from onnx import helper
from pyop_sessions import session
from small_models import FLOAT, model, tensor

import padops
from padops.runtime import pyop
from padops.spec import pyop_node, reference
from padops.spec.dtypes import by_numpy
from padops.spec.plan import PadError

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "60"))


def run(op_type: str, attributes: dict, inputs: list[np.ndarray | None], node: str = "") -> np.ndarray:
    """One node in a session."""
    fields = pyop_node.encode(op_type, attributes, [array is not None for array in inputs], node)
    arrays = [array for array in inputs if array is not None]
    built = session(tuple(fields.items()), tuple(by_numpy(array.dtype).onnx for array in arrays))
    return built.run(None, {f"i{i}": array for i, array in enumerate(arrays)})[0]


def without_nul(array: np.ndarray | None) -> np.ndarray | None:
    """onnxruntime-extensions cuts strings at the first NUL."""
    if array is None or array.dtype != object:
        return array
    return np.array([text.replace("\0", "␀") for text in array.reshape(-1).tolist()], object).reshape(array.shape)


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Without the log of what is meant to fail, and with the errors of this test alone."""
    pyop.pyop_errors(clear=True)
    caplog.set_level(logging.CRITICAL, logger="padops.pyop")


FAMILIES = {  # their share of the examples, and the rules that they have to break now and then
    "Pad_": (0.4, ("P1", "P5", "P7", "P8", "P9")),
    "OpenVINOPad_": (0.2, ("P1", "P4", "P5", "P7", "P8", "P9")),
    "NGraphPad_": (0.2, ("P1", "P4", "P6", "P7", "P8", "P9")),
    "SamePad_": (0.2, ("P5", "P7", "P9", "S1")),
}


@pytest.mark.parametrize("prefix", FAMILIES)
def test_pyop_is_the_reference(prefix: str, quiet: None) -> None:
    """Every operator, mode and rule, in all types that Python kernels have: every bit, and every error's text."""
    (share, rules), seen = FAMILIES[prefix], Counter[str]()

    def check(case: case_strategies.Case) -> None:
        inputs = [without_nul(array) for array in case.inputs]
        output = run(case.op, case.attributes, inputs, "decoder/pad")
        failed = pyop.pyop_errors(clear=True)
        try:
            expected = reference.run(case.op, case.attributes, inputs, "decoder/pad")
        except PadError as error:
            assert [(row.rule, row.message) for row in failed] == [(error.rule, str(error))]
            assert output.size == 0 and output.dtype == inputs[0].dtype
            seen[error.rule] += 1
        else:
            assert not failed
            assert native.bits(output) == native.bits(expected)
            mode = case.attributes.get(padops.OPS[case.op].mode, "constant").lower()
            seen.update((case.op, mode, by_numpy(output.dtype).name, f"rank {output.ndim}"))

    drawn = case_strategies.cases(prefix)
    cases = drawn.filter(lambda case: by_numpy(case.inputs[0].dtype).name in pyop_node.TYPES)
    case_strategies.drawn(round(EXAMPLES * share))(given(cases)(check))()
    print(dict(seen))
    ops = [op for op in padops.OPS.values() if op.name.startswith(prefix)]
    ranks = range(3, 6) if prefix == "SamePad_" else range(5)
    modes = {mode.lower() for op in ops for mode in op.modes}
    for what in (*(op.name for op in ops), *modes, *pyop_node.TYPES, *(f"rank {rank}" for rank in ranks), *rules):
        # A release of Hypothesis may draw one type often and another one never: what is not seen yet is looked for.
        case_strategies.until(cases, check, partial(seen.__getitem__, what))


# --- registering -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backends", [("native", "pyop"), ("pyop", "native")])
def test_both_backends_in_a_session(backends: tuple[str, str]) -> None:
    made = onnxruntime.SessionOptions()
    for backend in backends * 2:  # the second time does nothing
        padops.register(made, backend=backend)
    fields = pyop_node.encode("Pad_2", {"pads": [0, 2], "value": -1.5}, [True])
    nodes = [helper.make_node("Pad_2", ["x"], ["y"], domain="padops", pads=[1, 0], mode="edge"),
             helper.make_node("Pad", ["y", *["e"] * 3], ["z"], domain="padops.pyop", **fields)]  # fmt: skip
    parts = {"inputs": [("x", FLOAT, [2])], "outputs": [("z", FLOAT, None)], "tensors": [tensor("e", [])]}
    both = model(nodes, None, imports=[("padops", 1), ("padops.pyop", 1)], ir_version=9, **parts)
    for _ in range(2):
        found = native.session(both, made).run(None, {"x": np.array([1, 2], np.float32)})[0]
        assert found.tolist() == [1, 1, 2, -1.5, -1.5]


def test_what_register_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="backend is 'python', expected 'native' or 'pyop'"):
        padops.register(onnxruntime.SessionOptions(), backend="python")
    monkeypatch.setitem(sys.modules, "onnxruntime_extensions", None)
    with pytest.raises(RuntimeError, match=r'^Python kernels need .*: pip install "padops\[pyop\]"[^\n]*$'):
        padops.register(onnxruntime.SessionOptions(), backend="pyop")


def test_threads() -> None:
    built = session(tuple(pyop_node.encode("Pad_2", {"pads": [2, 1]}, [True]).items()), (1,))
    arrays = [np.full(5, i, np.float32) for i in range(64)]
    with ThreadPoolExecutor(4) as pool:
        outputs = list(pool.map(lambda array: built.run(None, {"i0": array})[0], arrays))
    assert all((output[2:-1] == array).all() for output, array in zip(outputs, arrays))


def test_only_the_latest_errors_are_kept(quiet: None) -> None:
    for _ in range(pyop.KEPT_ERRORS + 1):
        run("Pad_2", {"pads": [-4, 0]}, [np.zeros(3, np.float32)])
    assert len(padops.pyop_errors()) == pyop.KEPT_ERRORS
