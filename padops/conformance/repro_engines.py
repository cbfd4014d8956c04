"""How a script asks the peers that have environments of their own. onnxruntime-web gets one in JavaScript."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from padops.conformance.case import Expected
from padops.conformance.lines import tensor
from padops.conformance.model import behind_identity, feeds, make_model, one_node_model
from padops.conformance.peers.request import Request
from padops.conformance.repro_calls import Call, NoScript, feeds_source, model_lines, named_inputs
from padops.runtime.ort_values import PLAIN

OPENVINO, WEBGPU, QNN = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "QNNExecutionProvider"


def _engine(package: str, imports: Sequence[str], run: Sequence[str]) -> Callable[[Request], Call]:
    """A call of a library that reads a model of ONNX; ``FEEDS`` in its lines is what the model is fed with."""

    def call(request: Request) -> Call:
        lines, fed = model_lines(request, ranked=True)
        shown = [line.replace("FEEDS", feeds_source(fed)) for line in run]
        imported = [*imports, "from onnx import numpy_helper"]
        return Call(("onnx", package), shown, named_inputs(request), [one_node_model], imported, lines)

    return call


def _dask(request: Request) -> Call:
    fill = ", constant_values=fill[()]" if request.value is not None else ""
    arrays = {"data": request.data} | ({} if request.value is None else {"fill": request.value})
    run = [
        "array = dask.array.from_array(data, chunks=-1)",
        f'padded = dask.array.pad(array, {request.pairs("dask.array.pad")}, mode="{request.mode}"{fill})',
        "return np.asarray(padded.compute())",
    ]
    return Call(("dask",), run, arrays, imports=["import dask.array"])


def _provider(package: str, provider: str, imports: Sequence[str] = ()) -> Callable[[Request], Call]:
    """A call of onnxruntime with another execution provider first, which may be one of a library."""

    def call(request: Request) -> Call:
        if request.dtype.name not in PLAIN:
            raise NoScript(f"NumPy has no {request.dtype.name}")
        lines, fed = model_lines(request)
        functions: list[Callable[..., Any]] = [one_node_model]
        if provider == OPENVINO:  # which takes no node that stands alone
            lines, functions = [*lines, "model = behind_identity(model)"], [*functions, behind_identity]
        named = f'["{provider}", "CPUExecutionProvider"]'
        opened = 'session = onnxruntime.InferenceSession(model.SerializeToString(), providers=PROVIDERS, disabled_optimizers={"EliminateIdentity"})'
        opening = [opened.replace("PROVIDERS", named)]
        if provider == QNN:
            opening = [
                f'onnxruntime.register_execution_provider_library("{provider}", onnxruntime_qnn.get_library_path())',
                f'devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == "{provider}"]',
                "options = onnxruntime.SessionOptions()",
                'options.add_provider_for_devices(devices, {"backend_path": onnxruntime_qnn.get_qnn_htp_path()})',
                "session = onnxruntime.InferenceSession(model.SerializeToString(), options)",
            ]
        run = [*opening, f"return session.run(None, {feeds_source(fed)})[0]"]
        imported = ["import onnxruntime", *imports, "from onnx import numpy_helper"]
        return Call(("onnx", package), run, named_inputs(request), functions, imported, lines)

    return call


_SAVED = [
    'path = Path(tempfile.mkdtemp(), "case.onnx")',
    "path.write_bytes(model.SerializeToString())",
]

ENGINES: dict[str, Callable[[Request], Call]] = {
    "tract": _engine(
        "tract",
        ["import tempfile", "from pathlib import Path", "", "import tract"],
        [
            *_SAVED,
            "runnable = tract.onnx().load(path).into_model().into_runnable()",
            "return np.asarray(runnable.run(list(FEEDS.values()))[0].to_numpy())",
        ],
    ),
    "tinygrad": _engine(
        "tinygrad",
        ["import tempfile", "from pathlib import Path", "", "from tinygrad import Tensor",
         "from tinygrad.nn.onnx import OnnxRunner"],
        [
            *_SAVED,
            "fed = {name: Tensor(array) for name, array in FEEDS.items()}",
            'return np.asarray(OnnxRunner(path)(fed)["output"].numpy())',
        ],
    ),
    "tvm": _engine(
        "apache-tvm",
        ["import tvm", "from tvm import relax", "from tvm.relax.frontend.onnx import from_onnx"],
        [
            "module = relax.transform.LegalizeOps()(from_onnx(model, keep_params_in_input=False))",
            'machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())',
            'return machine["main"](*[tvm.runtime.tensor(array) for array in FEEDS.values()]).numpy()',
        ],
    ),
    "opencv": _engine(
        "opencv-python-headless",
        ["import cv2"],
        [
            "content = np.frombuffer(model.SerializeToString(), np.uint8)",
            "net = cv2.dnn.readNetFromONNX(content, cv2.dnn.ENGINE_NEW)",
            "for name, array in FEEDS.items():",
            "    net.setInput(array, name)",
            "return np.asarray(net.forward())",
        ],
    ),
    "dask": _dask,
    "ort-openvino": _provider("onnxruntime-openvino", OPENVINO),
    "ort-webgpu": _provider("onnxruntime-webgpu", WEBGPU),
    "ort-qnn": _provider("onnxruntime-qnn", QNN, ["import onnxruntime_qnn"]),
}  # fmt: skip


# Scripts for onnxruntime-web, with words in capitals for what differs; and what each needs.
NODE = {
    "onnxruntime-web": ("repro_web.mjs", ("onnxruntime-web",)),
    "onnxruntime-web-webgpu": (
        "repro_web_webgpu.mjs",
        ("onnxruntime-web", "Chromium (chromium, or what CHROMIUM names)"),
    ),
}


def node_script(peer: str, request: Request, expected: Expected, head: Sequence[str]) -> str:
    """The same for onnxruntime-web, as a module of Node.js.

    Args:
        peer: A key of ``NODE``.
        request: What to show, as the peer is asked it.
        expected: What the rules say of it.
        head: Lines about it.

    Raises:
        NoScript: ONNX has no such operator, or JavaScript no such type.
    """
    if not request.opset:
        raise NoScript(f"ONNX has no operator like {request.op}")
    given = {name: tensor(array) for name, array in feeds(request, request.inputs).items()}
    source = Path(__file__).with_name(NODE[peer][0]).read_text(encoding="utf-8")
    if any(f" {said['dtype']}: [" not in source for said in given.values()):
        raise NoScript(f"JavaScript has no array of {request.dtype.name}")
    model = make_model(request, request.inputs, standard=True).SerializeToString()
    texts = {
        "HEAD": "\n// ".join(head).replace("// \n", "//\n"),
        "MODEL": base64.b64encode(model).decode(),
        "FEEDS": json.dumps(given),
        "EXPECTED": json.dumps(None if expected.output is None else tensor(expected.output)),
    }
    return re.sub(r"\b(?:HEAD|MODEL|FEEDS|EXPECTED)\b", lambda found: texts[found[0]], source)
