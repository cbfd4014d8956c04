"""Who pads: one function each, which prepares a workload and returns a call without arguments that writes the output.

A contestant that cannot do a workload returns None. All write into memory that they have touched before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from padops.bench.workloads import Workload
from padops.dtypes import by_name

Call = Callable[[], Any]

# What NumPy can hold and onnxruntime's Python API can bind.
_BINDABLE = frozenset("float double float16 bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())


def _options(threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return options


def _model(workload: Workload, domain: str) -> bytes:
    """The workload as a model: a standard Pad, or one of the domain padops."""
    import onnx
    from onnx import helper

    dtype = by_name(workload.dtype)
    inputs, initializers = ["x", "pads"], []
    if workload.interior:
        attributes = {"padding_below": workload.begin, "padding_above": workload.end}
        attributes |= {"padding_interior": workload.interior}
        node = helper.make_node("NGraphPad_0", ["x", "fill"], ["y"], domain=domain, **attributes)
        zeros = bytes((dtype.bits + 7) // 8)
        initializers.append(helper.make_tensor("fill", dtype.onnx, [], zeros, raw=True))
    else:
        op_type = "Pad" if domain == "" else f"Pad_{max(19, dtype.pad)}"
        node = helper.make_node(op_type, inputs, ["y"], domain=domain, mode=workload.mode)
        initializers.append(onnx.numpy_helper.from_array(np.array(workload.begin + workload.end, np.int64), "pads"))
    infos = [
        helper.make_tensor_value_info(name, dtype.onnx, shape)
        for name, shape in (("x", workload.shape), ("y", workload.output_shape))
    ]
    graph = helper.make_graph([node], "bench", infos[:1], infos[1:], initializers)
    imports = [helper.make_opsetid("", 19), helper.make_opsetid("padops", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()


def _session_call(workload: Workload, session: Any) -> Call:
    """A run with bound memory on both sides."""
    import onnxruntime

    dtype = by_name(workload.dtype)
    if dtype.name == "string":
        data = workload.data()
        return lambda: session.run(None, {"x": data})[0]
    binding = session.io_binding()
    if dtype.name in _BINDABLE:
        source = onnxruntime.OrtValue.ortvalue_from_numpy(workload.data())
        target = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(workload.output_shape, dtype.numpy))
    else:
        source = onnxruntime.OrtValue.ortvalue_from_shape_and_type(workload.shape, dtype.onnx, "cpu")
        target = onnxruntime.OrtValue.ortvalue_from_shape_and_type(workload.output_shape, dtype.onnx, "cpu")
    binding.bind_ortvalue_input("x", source)
    binding.bind_ortvalue_output("y", target)

    def call() -> Any:
        session.run_with_iobinding(binding)
        return target

    return call


def padops(workload: Workload, threads: int) -> Call | None:
    """The native kernel."""
    import onnxruntime

    from padops import register

    options = _options(threads)
    register(options)
    session = onnxruntime.InferenceSession(_model(workload, "padops"), options, providers=["CPUExecutionProvider"])
    return _session_call(workload, session)


def built_in(workload: Workload, threads: int) -> Call | None:
    """ONNX Runtime's own Pad."""
    import onnxruntime

    if workload.interior:
        return None
    try:
        session = onnxruntime.InferenceSession(
            _model(workload, ""), _options(threads), providers=["CPUExecutionProvider"]
        )
    except Exception:  # no kernel for the type: onnxruntime's errors have no common base
        return None
    return _session_call(workload, session)


def copy(workload: Workload, threads: int) -> Call | None:
    """The best plain copy of as many bytes as the output has; see ``csrc/copies.h``."""
    from padops.bench.copies import best_copy

    return best_copy(workload.output_bytes, threads) if workload.dtype != "string" else None


def numpy_pad(workload: Workload, threads: int) -> Call | None:
    """``numpy.pad``, which allocates its result; slices where nothing is added."""
    if workload.interior or by_name(workload.dtype).bits < 8:
        return None
    data = workload.data()
    pairs = list(zip(workload.begin, workload.end))
    if min(workload.begin + workload.end) < 0:
        part = data[tuple(slice(-b, n + e) for n, (b, e) in zip(workload.shape, pairs))]
        return lambda: np.ascontiguousarray(part)
    return lambda: np.pad(data, pairs, mode=workload.mode)


def torch_pad(workload: Workload, threads: int) -> Call | None:
    """``torch.nn.functional.pad``."""
    try:
        import torch
    except ImportError:
        return None
    if workload.interior or workload.dtype not in _BINDABLE - {"uint16", "uint32", "uint64"}:
        return None
    mode = {"edge": "replicate", "wrap": "circular"}.get(workload.mode, workload.mode)
    data = torch.from_numpy(workload.data())
    pads = [amount for pair in list(zip(workload.begin, workload.end))[::-1] for amount in pair]
    while mode != "constant" and pads[-2:] == [0, 0] and len(pads) > 2:
        pads = pads[:-2]

    def call() -> Any:
        torch.set_num_threads(threads)
        with torch.inference_mode():
            return torch.nn.functional.pad(data, pads, mode=mode)

    try:
        call()
    except (RuntimeError, NotImplementedError):
        return None
    return call


def openvino_pad(workload: Workload, threads: int) -> Call | None:
    """OpenVINO's Pad-12 on its CPU device."""
    try:
        import openvino
        from openvino import opset12
    except ImportError:
        return None
    if workload.interior or workload.mode == "wrap" or workload.dtype not in _BINDABLE:
        return None
    data = workload.data()
    parameter = opset12.parameter(list(workload.shape), data.dtype)
    begin, end = (opset12.constant(np.array(amounts, np.int64)) for amounts in (workload.begin, workload.end))
    fill = opset12.constant(np.zeros((), data.dtype))
    node = opset12.pad(parameter, begin, end, workload.mode, arg_pad_value=fill)
    model = openvino.Model([node], [parameter])
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    source = openvino.Tensor(data, shared_memory=True)
    request.set_input_tensor(source)

    def call(kept: Any = (data, source)) -> Any:  # shared: it must live as long as the call
        request.infer()
        return request.get_output_tensor().data

    return call


CONTESTANTS: dict[str, Callable[[Workload, int], Call | None]] = {
    "padops": padops,
    "built-in": built_in,
    "copy": copy,
    "numpy": numpy_pad,
    "torch": torch_pad,
    "openvino": openvino_pad,
}
