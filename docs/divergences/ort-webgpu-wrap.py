"""ort-webgpu: Pad_23 of opset 23, mode wrap, int32, rank 2.

beyond n, and behind a crop, other elements are taken [P2]

Needs numpy, onnx, onnxruntime-webgpu.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_23/wrap/int32/2/mixed/one/vector/absent.flat/static/0 --peer ort-webgpu
Seen in onnxruntime-webgpu 1.27.0.
"""

from __future__ import annotations

import sys

import numpy as np
import ctypes
import onnxruntime
import os
from functools import cache
from onnx import numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as states
from pathlib import Path

data = np.array([[-538554800], [418926308], [-1682083595], [682739246]], np.int32)
pads = np.array([-3, 0, 1, 0], np.int64)
constant_value = np.array([544834665], np.int32)
expected = np.array([[682739246], [682739246]], np.int32)


def one_node_model(
    op_type: str,
    names: Sequence[str],
    attributes: Mapping[str, Any],
    inputs: Mapping[str, tuple[int, Sequence[int | str] | None]],
    output: tuple[int, Sequence[int | str] | None],
    opsets: Mapping[str, int],
    ir_version: int,
    constants: Sequence[onnx.TensorProto] = (),
    domain: str = "",
    name: str = "pad",
) -> onnx.ModelProto:
    """A model of one node, whose output is called ``output``.

    ``inputs`` and ``output`` have an element type and a shape each, None for one that is not declared. ``constants``
    are the inputs of the node that the model holds itself; an absent input has an empty name.
    """
    import onnx
    from onnx import helper

    node = helper.make_node(op_type, names, ["output"], name=name, domain=domain)
    for key, value in attributes.items():
        kind = onnx.AttributeProto.INTS if isinstance(value, (list, tuple)) and not value else None
        node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    infos = [helper.make_tensor_value_info(key, *declared) for key, declared in inputs.items()]
    given = helper.make_tensor_value_info("output", *output)
    graph = helper.make_graph([node], "case", infos, [given], constants)
    imports = [helper.make_opsetid(*row) for row in opsets.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version)


def vulkan(prefix: Path) -> tuple[Path, Path]:
    """The folder of the Vulkan in software in WebGPU's environment, and the file that describes it."""
    folder = prefix / "debian" / "usr" / "lib" / "chromium"
    return folder, folder / "vk_swiftshader_icd.json"


def session_options() -> onnxruntime.SessionOptions:
    """Options of one thread and without a log: errors reach the caller as exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return options


OPENVINO, WEBGPU, QNN = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "QNNExecutionProvider"


@cache
def prepare(provider: str) -> None:
    """Makes a provider ready in this process: the Vulkan in software of WebGPU's environment, the library of QNN."""
    folder, icd = vulkan(Path(sys.prefix))
    if provider == WEBGPU and icd.is_file():
        os.environ["VK_ICD_FILENAMES"] = str(icd)
        ctypes.CDLL(str(folder / "libvulkan.so.1"), ctypes.RTLD_GLOBAL)  # found by its name from now on
    if provider == QNN:
        import onnxruntime_qnn

        onnxruntime.register_execution_provider_library(QNN, onnxruntime_qnn.get_library_path())


def options_of(provider: str) -> dict[str, str]:
    """Options of a provider, as its users give them."""
    if provider != QNN:
        return {}
    import onnxruntime_qnn

    return {"backend_path": onnxruntime_qnn.get_qnn_htp_path()}


def add_provider(options: onnxruntime.SessionOptions, provider: str) -> None:
    """Puts a provider into a session's options: by its devices, or by its name if this onnxruntime has it built in."""
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == provider]
    if devices:
        options.add_provider_for_devices(devices, options_of(provider))
    else:
        options.add_provider(provider, options_of(provider))


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray], provider: str) -> np.ndarray:
    """The first output of a model in a stock session with a provider, fed by name.

    Raises:
        RuntimeError: The session has dropped the provider.
    """
    prepare(provider)
    options = session_options()
    add_provider(options, provider)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(),
        options,
        enable_fallback=0,
        disabled_optimizers={"EliminateIdentity"},  # it would remove the node before the Pad
    )
    if provider not in session.get_providers():
        raise RuntimeError(f"the session has {', '.join(session.get_providers())}, and not {provider}")
    output: np.ndarray = session.run(None, dict(fed))[0]
    return output


model = one_node_model(
    "Pad",
    ["data", "pads", "constant_value"],
    {"mode": "wrap"},
    inputs={"data": (6, [4, 1]), "pads": (7, [4]), "constant_value": (6, [1])},  # element type and shape
    output=(6, None),
    opsets={"": 23},
    ir_version=11,
    constants=[],
)


def run():
    return pad(model, {"data": data, "pads": pads, "constant_value": constant_value}, "WebGpuExecutionProvider")


REFUSALS = (states.Fail, states.InvalidArgument, states.InvalidGraph, states.RuntimeException, states.EPFail)  # the errors that say that a case is wrong


def bits(array):
    if array.dtype.kind in "OUT":
        return "string", array.shape, array.tolist()
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return array.dtype, array.shape, raw.tobytes().hex()


print("expected:", "an error" if expected is None else f"{expected.dtype}{list(expected.shape)}")
if expected is not None:
    print(expected)
sys.stdout.flush()
try:
    got = run()
except Exception as error:
    print(f"got an error: {type(error).__name__}: {error}")
    sys.exit(expected is not None or not isinstance(error, REFUSALS))
print(f"got: {got.dtype}{list(got.shape)}")
print(got)
same = expected is not None and bits(got) == bits(expected)
print("the same bits" if same else "different")
if not same and str(got) == str(expected):  # NaNs of different bits print alike
    print("expected bits:", bits(expected)[-1])
    print("got bits:     ", bits(got)[-1])
sys.exit(not same)
