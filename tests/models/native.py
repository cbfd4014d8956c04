"""Runs one padops operator natively in a real onnxruntime session, bits in and bits out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import onnxruntime
import small_models
from onnx import helper

import padops
from padops.conformance.arrays import random_array as random_array
from padops.conformance.model import one_node_model
from padops.conformance.model import tensor as tensor
from padops.conformance.peers.ort import RUNTIME as RUNTIME
from padops.runtime import ort_values
from padops.runtime.ort_values import from_ort_value as from_ort_value
from padops.runtime.ort_values import to_ort_value as to_ort_value
from padops.spec.dtypes import by_name, by_numpy, to_bytes
from padops.spec.dtypes import from_bytes as from_bytes

# What the installed runtime can have at all.
TYPES = tuple(dtype for dtype in (by_name(t["name"]) for t in padops.describe()["types"]) if dtype.since <= RUNTIME[1])


BINDABLE = frozenset("float uint8 int8 uint16 int16 int32 int64 bool float16 double uint32 uint64".split())
NONE: frozenset[int] = frozenset()
MARK = 0xA5  # each byte around memory that may be written


def session_options() -> onnxruntime.SessionOptions:
    """Options with the library registered, and the runtime's own log silenced: errors reach the tests as exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    # Idle threads of the hundreds of sessions that the tests keep would take the processor from the one that runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Memory of its own for every tensor: what is written beyond its end is not another tensor's, and sanitizers see it.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    padops.register(options)
    return options


def session(model: onnx.ModelProto, options: onnxruntime.SessionOptions | None = None) -> onnxruntime.InferenceSession:
    content = model.SerializeToString()
    return onnxruntime.InferenceSession(content, options or session_options(), providers=["CPUExecutionProvider"])


def run(
    op_type: str, attributes: dict, inputs: Sequence, node: str = "", constants: frozenset = NONE, static: bool = False
) -> np.ndarray:
    """Runs one node.

    ``constants`` are the positions of the inputs that become initializers instead of graph inputs; ``static`` says that
    the model declares the shapes of its inputs.
    """
    shapes = tuple(array.shape if static and array is not None else None for array in inputs)
    types = tuple(None if array is None else by_numpy(array.dtype).onnx for array in inputs)
    held = tuple(tensor(f"i{i}", inputs[i]).SerializeToString() for i in sorted(constants))
    frozen = tuple(sorted((name, tuple(v) if isinstance(v, list) else v) for name, v in attributes.items()))
    feeds = {f"i{i}": array for i, array in enumerate(inputs) if array is not None and i not in constants}
    return run_session(_session(op_type, frozen, types, shapes, node, tuple(sorted(constants)), held), feeds)


@lru_cache(maxsize=4096)
def _session(op_type, attributes, types, shapes, node, constants, held) -> onnxruntime.InferenceSession:
    names = ["" if dtype is None else f"i{i}" for i, dtype in enumerate(types)]
    inputs = {f"i{i}": (dtype, shapes[i]) for i, dtype in enumerate(types) if dtype is not None and i not in constants}
    tensors = [onnx.TensorProto.FromString(content) for content in held]
    opsets = {"": 18, "padops": 1}
    model = one_node_model(op_type, names, dict(attributes), inputs, (types[0], None), opsets, 9, tensors, "padops")
    model.graph.node[0].name = node
    return session(model)


def node(op: str, names: Sequence[str], output: str, attributes: Mapping[str, Any], name: str = "",
         domain: str = "padops") -> onnx.NodeProto:  # fmt: skip
    """One node; empty lists among its attributes are lists of integers, and one may be made already."""
    made = helper.make_node(op, names, [output], name=name, domain=domain)
    for key, value in attributes.items():
        kind = onnx.AttributeProto.INTS if isinstance(value, list) else None
        is_made = isinstance(value, onnx.AttributeProto)
        made.attribute.append(value if is_made else helper.make_attribute(key, value, attr_type=kind))
    return made


def run_session(session: onnxruntime.InferenceSession, feeds: Mapping[str, np.ndarray]) -> np.ndarray:
    """The first output of a session."""
    return ort_values.run_session(session, feeds)[0]


def of_x(nodes: list, dtype: int, held: Mapping[str, np.ndarray], options: Any = None) -> onnxruntime.InferenceSession:
    """A session of nodes that make y of x, both of unknown shape."""
    parts = {"inputs": [("x", dtype, None)], "outputs": [("y", dtype, None)]}
    tensors = [tensor(*row) for row in held.items()]
    made = small_models.model(nodes, 21, ir_version=10, imports=[("padops", 1)], tensors=tensors, **parts)
    return session(made, options)


def check_bound(built: onnxruntime.InferenceSession, data: np.ndarray, wanted: np.ndarray, before: int = 0) -> None:
    """Runs y of x, both in memory of the caller, so far behind an aligned address; what lies around y must stay."""
    held = np.full(data.nbytes + 128, MARK, np.uint8)
    source = held[before : before + data.nbytes]
    source[:] = np.frombuffer(data.tobytes(), np.uint8)
    room, begin = np.full(wanted.nbytes + 256, MARK, np.uint8), 64 + before
    kind, binding = by_numpy(data.dtype).onnx, built.io_binding()
    binding.bind_input("x", "cpu", 0, kind, data.shape, source.ctypes.data)
    binding.bind_output("y", "cpu", 0, kind, wanted.shape, room[begin:].ctypes.data)
    built.run_with_iobinding(binding)
    assert room[begin : begin + wanted.nbytes].tobytes() == wanted.tobytes()
    room[begin : begin + wanted.nbytes] = MARK
    assert (room == MARK).all(), "bytes outside the output have been written"


def bits(array: np.ndarray) -> tuple:
    """What must be equal for two results to be the same: type, shape and every bit."""
    if by_numpy(array.dtype).name == "string":
        return ("string", array.shape, array.reshape(-1).tolist())
    return (by_numpy(array.dtype).name, array.shape, to_bytes(array))


def outcome(run: Callable, *arguments: Any) -> tuple | str:
    """The bits of a result, or padops' text of its error."""
    try:
        return bits(run(*arguments))
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        text = error_text(error)
        assert text.startswith("padops::"), text
        return text


def error_text(error: Exception) -> str:
    """The part of a runtime's error that padops wrote."""
    text = str(error)
    return text[text.index("padops::") :].strip() if "padops::" in text else text
