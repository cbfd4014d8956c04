"""Other execution providers of onnxruntime: stock, with padops beside them, and with models lowered for them.

The peers of ``ort_*.py`` share this file, and ``scripts/providers.py`` runs the same providers. Each has its own
environment, with the onnxruntime that it needs.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as states

from padops.conformance.model import converted, feeds, make_model
from padops.conformance.peers.ort import UNKNOWN, require_type, session_options
from padops.conformance.peers.request import Refused, Request, unsupported_where
from padops.runtime.ort_values import PLAIN, run_session
from padops.runtime.provider import CPU

if TYPE_CHECKING:
    import onnx


# EPFail: a provider cannot compile a node that it has claimed.
REFUSALS = (states.Fail, states.InvalidArgument, states.InvalidGraph, states.RuntimeException, states.EPFail)

OPENVINO, WEBGPU, QNN = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "QNNExecutionProvider"

# onnxruntime's errors for a type without a kernel; UNSUPPORTED also has those for an unknown opset or type.
NO_KERNEL = (
    "Could not find an implementation for",
    "Provider type for Pad node with name 'pad' is not set",  # WebGPU's build prints this
)
UNSUPPORTED = (*NO_KERNEL, *UNKNOWN)


def vulkan(prefix: Path) -> tuple[Path, Path]:
    """Returns the folder of the software Vulkan in WebGPU's environment, and the file that describes it."""
    folder = prefix / "debian" / "usr" / "lib" / "chromium"
    return folder, folder / "vk_swiftshader_icd.json"


@cache
def prepare(provider: str) -> None:
    """Prepares a provider in this process: loads WebGPU's software Vulkan, or QNN's library."""
    folder, icd = vulkan(Path(sys.prefix))
    if provider == WEBGPU and icd.is_file():
        os.environ["VK_ICD_FILENAMES"] = str(icd)
        ctypes.CDLL(str(folder / "libvulkan.so.1"), ctypes.RTLD_GLOBAL)  # then its name suffices to load it
    if provider == QNN:
        import onnxruntime_qnn

        onnxruntime.register_execution_provider_library(QNN, onnxruntime_qnn.get_library_path())


def options_of(provider: str) -> dict[str, str]:
    """Returns a provider's options, as users pass them."""
    if provider != QNN:
        return {}
    import onnxruntime_qnn

    return {"backend_path": onnxruntime_qnn.get_qnn_htp_path()}


def add_provider(options: onnxruntime.SessionOptions, provider: str) -> None:
    """Adds a provider to a session's options: by its devices, or by its name if it is built into this onnxruntime."""
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == provider]
    if devices:
        options.add_provider_for_devices(devices, options_of(provider))
    else:
        options.add_provider(provider, options_of(provider))


def session_of(model: bytes, provider: str, way: str, options: onnxruntime.SessionOptions, **more: Any) -> Any:
    """Creates a session with a provider before the CPU's. Call ``prepare`` with the provider first.

    ``way`` is ``"stock"``; or with padops ``"name"``, named in ``providers=``, or ``"device"``, put into the options,
    which then serve only one session.
    """
    if way == "stock":
        add_provider(options, provider)
        return onnxruntime.InferenceSession(model, options, enable_fallback=0, **more)
    import padops

    if way == "name":
        return padops.InferenceSession(model, options, [(provider, options_of(provider)), CPU], **more)
    add_provider(options, provider)
    return padops.InferenceSession(model, options, **more)


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray], provider: str) -> np.ndarray:
    """Returns the first output of a model, fed by name, in a stock session with a provider.

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


def arguments_of(provider: str, request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray], str]:
    """Returns the arguments of ``pad``.

    Raises:
        Unsupported: NumPy lacks the type.
    """
    request.require_type(PLAIN)
    return model_of(request, provider), feeds(request), provider


def runs_on(provider: str) -> Iterator[Callable[[Request], np.ndarray]]:
    """Returns ``run_case``, ``run_beside`` and ``run_lowered_for`` for a provider's file.

    The ONNX node runs in a session with the provider and the CPU's behind it, and in a ``padops.InferenceSession``; its
    conversion by ``padops convert --target onnx --for`` runs in a session of the first kind.
    """
    same = partial(model_of, provider=provider)
    lowered = lambda request: converted(same(request), target="onnx", provider=provider)
    return (partial(_run, provider, *row) for row in (("stock", same), ("name", same), ("stock", lowered)))


def _run(provider: str, way: str, make: Callable[[Request], onnx.ModelProto], request: Request) -> np.ndarray:
    require_type(request.dtype.name)
    model = make(request)
    with unsupported_where(UNSUPPORTED):
        if way == "stock" and request.dtype.name in PLAIN:
            return pad(model, feeds(request), provider)
        session = open_session(model, provider, way)
    return run_once(session, request)


def behind_identity(model: onnx.ModelProto) -> onnx.ModelProto:
    """Insert an Identity before the only node, for providers that run no single node; return the same model."""
    from onnx import helper

    (node,) = model.graph.node
    before = helper.make_node("Identity", [node.input[0]], ["before"], name="before")
    node.input[0] = "before"
    model.graph.node.insert(0, before)
    return model


def model_of(request: Request, provider: str) -> onnx.ModelProto:
    """Returns the case as a model with ONNX's Pad; the Pad is the only node if the provider claims single nodes."""
    model = make_model(request, standard=bool(request.opset))
    return behind_identity(model) if provider == OPENVINO else model


def open_session(model: onnx.ModelProto, provider: str, way: str) -> Any:
    """Creates a session of a model of ``model_of`` that records the provider of each node; ``way`` as in
    ``session_of``.

    Raises:
        RuntimeError: The session has dropped the provider.
        Refused: A session of padops finds a Pad that breaks a rule.
        Exception: The session refuses the model, with onnxruntime's own exceptions.
    """
    import padops

    prepare(provider)
    options = session_options()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    eliminated = {"EliminateIdentity"}  # it would remove the node before the Pad
    try:
        session = session_of(model.SerializeToString(), provider, way, options, disabled_optimizers=eliminated)
    except padops.PadsLeftError as error:
        raise Refused(str(error)) from error
    if provider not in session.get_providers():
        raise RuntimeError(f"the session has {', '.join(session.get_providers())}, and not {provider}")
    return session


def run_once(session: Any, request: Request) -> np.ndarray:
    """Returns the output of a session for a case."""
    output: np.ndarray = run_session(session, feeds(request))[0]
    return output
