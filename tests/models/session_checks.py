"""A drawn session, built, run and compared with the reference: every bit of every output, every error by its text."""

from __future__ import annotations

from collections import Counter

import native
import numpy as np
import onnxruntime
from session_models import Drawn, build

from padops.runtime.ort_values import run_session
from padops.spec import reference
from padops.spec.plan import PadError

GUARD = 64  # bytes on either side of an output that the caller holds
MARK = 0xA5
BINDABLE = frozenset("float uint8 int8 uint16 int16 int32 int64 bool float16 double uint32 uint64".split())


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
    return errors or {f"t{i}": array for i, array in enumerate(tensors[1:])}


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
        check_run(built, drawn, feeds, wanted[run], seen)


def check_run(
    built: onnxruntime.InferenceSession,
    drawn: Drawn,
    feeds: dict[str, np.ndarray],
    wanted: dict[str, np.ndarray] | set[str],
    seen: Counter[str],
) -> None:
    """One run, compared."""
    try:
        if drawn.bound and drawn.dtype.name in BINDABLE and isinstance(wanted, dict):
            values = {name: native.to_ort_value(array) for name, array in feeds.items()}
            run_bound(built, drawn, values, wanted)
            seen["bound"] += 1
        else:
            outputs = run_session(built, feeds, drawn.names)
            assert isinstance(wanted, dict), f"no error, but one of {wanted}"
            for name, output in zip(drawn.names, outputs, strict=True):
                same(output, wanted[name])
    except AssertionError:
        raise
    except Exception as error:
        assert isinstance(wanted, set) and native.error_text(error) in wanted, (error, wanted)
        seen["errors"] += 1
        return
    seen["runs"] += 1
    seen["large runs"] += feeds["x"].nbytes > 1 << 16


def run_bound(built: onnxruntime.InferenceSession, drawn: Drawn, values: dict, wanted: dict[str, np.ndarray]) -> None:
    """A run into memory of the caller, with guards around it that must stay as they are."""
    binding = built.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    held = {}
    for name in drawn.names:
        array = wanted[name]
        held[name] = np.full(array.nbytes + 2 * GUARD, MARK, np.uint8)
        if array.size:
            address = held[name].ctypes.data + GUARD
            binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, address)
        else:
            binding.bind_output(name, "cpu")
    built.run_with_iobinding(binding)
    for name, memory in held.items():
        inside = memory[GUARD:-GUARD] if wanted[name].size else memory[:0]
        assert inside.tobytes() == wanted[name].tobytes(), f"{name} differs"
        outside = memory if not wanted[name].size else np.concatenate([memory[:GUARD], memory[-GUARD:]])
        assert (outside == MARK).all(), f"bytes outside {name} have been written"


def same(got: np.ndarray, wanted: np.ndarray) -> None:
    assert native.bits(got) == native.bits(wanted), f"{got.dtype}{got.shape}, expected {wanted.dtype}{wanted.shape}"
