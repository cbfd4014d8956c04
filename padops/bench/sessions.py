"""Contestants that are nodes in an onnxruntime session, all with the same options and the same bound memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from padops.bench.workloads import Memory, Workload
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import by_name

Call = Callable[[], Any]


def session(model: bytes | str, threads: int, registered: bool) -> Any:
    """A session as the benchmark times it; ``registered``: with padops' library."""
    import onnxruntime

    from padops import register

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # refusals are exceptions
    if registered:
        register(options)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def padops(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The native kernel."""
    return _call(workload, memory, session(_model(workload, _node(workload, DOMAIN)), threads, registered=True))


def as_float(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """The native kernel on as many bytes in float."""
    alike = workload.as_float
    return padops(alike, Memory.of(alike), threads) if alike else None


def built_in(workload: Workload, memory: Memory, threads: int) -> Call | None:
    """ONNX Runtime's own Pad."""
    from padops.convert.sources.builtin_support import KERNELS

    has_type = workload.dtype == "float16" or workload.dtype in KERNELS[""][max(KERNELS[""])]  # float16 is cast
    if workload.interior or workload.mode == "symmetric" or not has_type:
        return None
    return _call(workload, memory, session(_model(workload, _node(workload, "")), threads, registered=False))


def identity(workload: Workload, memory: Memory, threads: int) -> Call:
    """ONNX Runtime's Identity on a tensor of the workload's output: its own copy, of strings for instance."""
    alike = replace(
        workload, shape=workload.output_shape, begin=(0,) * len(workload.shape), end=(0,) * len(workload.shape)
    )
    return _call(alike, memory, session(_model(alike, ("Identity", "", ["x"], {})), threads, registered=False))


Node = tuple[str, str, list[str], dict[str, Any]]  # type, domain, inputs, attributes


def _node(workload: Workload, domain: str) -> Node:
    """The workload as a standard Pad, or as one of the domain padops."""
    if workload.interior:
        attributes = {"padding_below": workload.begin, "padding_above": workload.end}
        return "NGraphPad_0", domain, ["x", "fill"], attributes | {"padding_interior": workload.interior}
    if workload.mode == "symmetric":  # which ONNX lacks
        return "OpenVINOPad_12", domain, ["x", "begin", "end"], {"pad_mode": "symmetric"}
    op_type = "Pad" if domain == "" else f"Pad_{max(19, by_name(workload.dtype).pad)}"
    return op_type, domain, ["x", "pads"], {"mode": workload.mode}


def _model(workload: Workload, node: Node) -> bytes:
    from onnx import helper, numpy_helper

    op_type, domain, inputs, attributes = node
    dtype = by_name(workload.dtype)
    held = {"pads": workload.begin + workload.end, "begin": workload.begin, "end": workload.end}
    initializers = [
        numpy_helper.from_array(np.array(held[name], np.int64), name) for name in inputs if name in held
    ]  # fmt: skip
    if "fill" in inputs:
        initializers.append(helper.make_tensor("fill", dtype.onnx, [], bytes((dtype.bits + 7) // 8), raw=True))
    infos = [
        helper.make_tensor_value_info(name, dtype.onnx, shape)
        for name, shape in (("x", workload.shape), ("y", workload.output_shape))
    ]
    made = helper.make_node(op_type, inputs, ["y"], domain=domain, **attributes)
    graph = helper.make_graph([made], "bench", infos[:1], infos[1:], initializers)
    imports = [helper.make_opsetid("", 19), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()


def _call(workload: Workload, memory: Memory, made: Any) -> Call:
    """A run with bound memory on both sides; strings, which cannot be bound, come from Python and go back to it."""
    dtype = by_name(workload.dtype)
    if dtype.name == "string":
        data = workload.data()
        return lambda: made.run(None, {"x": data})[0]
    binding = made.io_binding()
    binding.bind_input("x", "cpu", 0, dtype.onnx, workload.shape, memory.source.ctypes.data)
    binding.bind_output("y", "cpu", 0, dtype.onnx, workload.output_shape, memory.target.ctypes.data)

    def call() -> Any:
        made.run_with_iobinding(binding)
        return memory.target

    return call
