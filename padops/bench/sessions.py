"""Implementations that are nodes in an onnxruntime session, all with the same options and the same bound memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from padops.bench.workloads import Memory, Workload
from padops.conformance.model import one_node_model, tensor
from padops.spec.dialects import DOMAIN, VERSION
from padops.spec.dtypes import by_name

Call = Callable[[], Any]


def session(model: bytes | str, threads: int, registered: bool) -> Any:
    """A session as the benchmark times it."""
    import onnxruntime

    from padops import register

    options = _options(threads)
    if registered:
        register(options)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def provided(model: bytes | str, threads: int) -> Any:
    """A session with padops' execution provider and without its operators."""
    import onnxruntime

    from padops.runtime.provider import add_provider

    options = _options(threads)
    add_provider(options)
    return onnxruntime.InferenceSession(model, options)


def inference_session(model: bytes | str, threads: int, provider_options: Mapping[str, str] | None = None) -> Any:
    """A ``padops.InferenceSession``."""
    from padops import InferenceSession, get_ep_name

    chosen = [(get_ep_name(), provider_options)] if provider_options else None
    return InferenceSession(model, _options(threads), chosen)


def _options(threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # refusals are exceptions
    return options


def padops(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The native kernel."""
    return _call(workload, memory, session(_model(workload, DOMAIN), threads, registered=True))


def as_float(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The native kernel on as many bytes in float."""
    alike = workload.as_float
    return padops(alike, Memory.of(alike), threads) if alike else None


def built_in(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """ONNX Runtime's own Pad."""
    from padops.convert.runtimes.builtin_support import KERNELS

    has_type = workload.dtype == "float16" or workload.dtype in KERNELS[""]  # float16 is cast
    if workload.interior or workload.mode == "symmetric" or not has_type:
        return None
    return _call(workload, memory, session(_model(workload), threads, registered=False))


def identity(workload: Workload, memory: Memory, threads: int) -> Call:
    """ONNX Runtime's Identity on a tensor of the workload's output: its own copy, of strings for instance."""
    nothing = (0,) * len(workload.shape)
    alike = replace(workload, shape=workload.output_shape, begin=nothing, end=nothing)
    return _call(alike, memory, session(_one_node(alike, "Identity", {}, {}), threads, registered=False))


def _model(workload: Workload, domain: str = "") -> bytes:
    """The workload as a standard Pad, or as one of the domain padops."""
    begin, end = (np.array(side, np.int64) for side in (workload.begin, workload.end))
    if workload.interior:
        attributes = {"padding_below": workload.begin, "padding_above": workload.end}
        fill = np.zeros((), by_name(workload.dtype).numpy)
        interior = {"padding_interior": workload.interior}
        return _one_node(workload, "NGraphPad_0", attributes | interior, {"fill": fill}, domain)
    if workload.mode == "symmetric":  # which ONNX lacks
        constants = {"begin": begin, "end": end}
        return _one_node(workload, "OpenVINOPad_12", {"pad_mode": "symmetric"}, constants, domain)
    op_type = "Pad" if domain == "" else f"Pad_{max(19, by_name(workload.dtype).pad)}"
    pads = {"pads": np.concatenate([begin, end])}
    return _one_node(workload, op_type, {"mode": workload.mode}, pads, domain)


def _one_node(
    workload: Workload,
    op_type: str,
    attributes: Mapping[str, Any],
    constants: Mapping[str, np.ndarray],
    domain: str = "",
) -> bytes:
    """A node on a workload's data, whose other inputs are constants."""
    dtype = by_name(workload.dtype).onnx
    tensors = [tensor(name, array) for name, array in constants.items()]
    opsets = {"": 19, DOMAIN: VERSION}
    inputs, output = {"x": (dtype, workload.shape)}, (dtype, workload.output_shape)
    model = one_node_model(op_type, ["x", *constants], attributes, inputs, output, opsets, 9, tensors, domain)
    return model.SerializeToString()


def _call(workload: Workload, memory: Memory, made: Any) -> Call:
    """A run with bound memory on both sides; strings, which cannot be bound, come from Python and go back to it."""
    dtype = by_name(workload.dtype)
    if dtype.name == "string":
        data = workload.data()
        return lambda: made.run(None, {"x": data})[0]
    binding = made.io_binding()
    binding.bind_input("x", "cpu", 0, dtype.onnx, workload.shape, memory.source.ctypes.data)
    binding.bind_output("output", "cpu", 0, dtype.onnx, workload.output_shape, memory.target.ctypes.data)

    def call() -> Any:
        made.run_with_iobinding(binding)
        return memory.target

    return call
