"""How a script asks each peer: a direct call with the numbers in place, for whoever maintains the peer.

The functions that the script calls are those that the suite itself runs, printed from their source.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.conformance import adapters
from padops.conformance.model import attributes_of, ir_version, one_node_model
from padops.conformance.peers.ort_tensors import from_onnxruntime, to_onnxruntime
from padops.conformance.peers.request import Request
from padops.runtime.ort_values import PLAIN
from padops.spec.bits import dtype_of

if TYPE_CHECKING:
    from padops.spec.dtypes import DType


class NoScript(ValueError):
    """There is no script for this case and peer; says why."""


@dataclass
class Call:
    """What one peer needs in a script.

    Attributes:
        packages: What has to be installed, beside NumPy.
        run: The lines of the function ``run``.
        arrays: Names and values that the script defines.
        functions: Those that the script shows.
        imports: Lines at its top.
        setup: Lines before ``run``.
        refusals: Source of the exceptions by which the peer says that a case is wrong.
    """

    packages: tuple[str, ...]
    run: list[str]
    arrays: dict[str, np.ndarray]
    functions: Sequence[Callable[..., Any]] = ()
    imports: Sequence[str] = ()
    setup: Sequence[str] = ()
    refusals: str = "()"

    def lines(self) -> list[str]:
        """What stands between the values and the comparison."""
        shown = [line for function in self.functions for line in [*inspect.getsource(function).splitlines(), "", ""]]
        setup = [*self.setup, "", ""] if self.setup else []
        return [*shown, *setup, "def run():", *("    " + line for line in self.run)]


def named_inputs(request: Request) -> dict[str, np.ndarray]:
    """The inputs by their names in the specification, without absent ones."""
    rows = zip(request.row.inputs, request.inputs)
    return {row.name: array for row, array in rows if array is not None}


# ---- a model of ONNX


def model_lines(request: Request, ranked: bool = False) -> tuple[list[str], list[str]]:
    """Lines that make ``model``, and the names of the arrays that it is fed with.

    Args:
        request: Says which inputs are constants.
        ranked: Whether the output declares its rank.

    Raises:
        NoScript: ONNX has no such operator.
    """
    if not request.opset:
        raise NoScript(f"ONNX has no operator like {request.op}")
    names = [row.name if array is not None else "" for row, array in zip(request.row.inputs, request.inputs)]
    while names and not names[-1]:
        names.pop()
    arrays = named_inputs(request)
    constants = [name for i, name in enumerate(names) if name and i in request.constant_inputs]
    fed = [name for name in names if name and name not in constants]
    declared = {n: (dtype_of(arrays[n]).onnx, list(arrays[n].shape) if request.static else None) for n in fed}
    shape = [f"d{i}" for i in range(request.data.ndim)] if ranked else None
    made = ", ".join(f'numpy_helper.from_array({name}, "{name}")' for name in constants)
    return [
        "model = one_node_model(",
        '    "Pad",',
        f"    {_literal(names)},",
        f"    {_literal(attributes_of(request))},",
        f"    inputs={_literal(declared)},  # element type and shape",
        f"    output={_literal((request.dtype.onnx, shape))},",
        f'    opsets={{"": {request.opset}}},',
        f"    ir_version={ir_version(request.opset)},",
        f"    constants=[{made}],",
        ")",
    ], fed


def _literal(value: Any) -> str:
    """Python source of a plain value, floats without a literal included."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value).replace("'", '"')


def feeds_source(names: Sequence[str]) -> str:
    return "{" + ", ".join(f'"{name}": {name}' for name in names) + "}"


def _ort(request: Request) -> Call:
    lines, fed = model_lines(request)
    arrays = named_inputs(request)
    functions: list[Callable[..., Any]] = [one_node_model]
    session = 'session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])'
    run = [session, f"return session.run(None, {feeds_source(fed)})[0]"]
    if request.dtype.name not in PLAIN:  # what NumPy lacks has no other way there and back
        rows = {name: dtype_of(arrays[name]) for name in fed}
        given = ", ".join(f'"{name}": to_onnxruntime({name}, {row.onnx}, {row.bits})' for name, row in rows.items())
        run = [
            session,
            f"(value,) = session.run_with_ort_values(None, {{{given}}})",
            f"return from_onnxruntime(value, data.dtype, {request.dtype.bits})",
        ]
        functions = [one_node_model, to_onnxruntime, from_onnxruntime]
    imports = ["import onnxruntime", "from onnx import numpy_helper"]
    return Call(("onnx", "onnxruntime"), run, arrays, functions, imports, lines)


def _onnx_reference(request: Request) -> Call:
    lines, fed = model_lines(request)
    run = [f"return np.asarray(ReferenceEvaluator(model).run(None, {feeds_source(fed)})[0])"]
    imports = ["from onnx import numpy_helper", "from onnx.reference import ReferenceEvaluator"]
    return Call(("onnx",), run, named_inputs(request), [one_node_model], imports, lines)


# ---- OpenVINO


OPENVINO = (adapters.to_openvino, adapters.from_openvino, adapters.infer_with_openvino)
CORE = ["core = openvino.Core()", f'core.set_property("CPU", {_literal(adapters.OPENVINO_SETTINGS)})']


def _openvino_onnx(request: Request) -> Call:
    lines, fed = model_lines(request)
    arrays, element = named_inputs(request), _element(request.dtype)
    run = [
        "read = core.read_model(model.SerializeToString())",
        f"tensor = infer_with_openvino(core, read, [{_tensors(arrays, fed)}])",
        f'return from_openvino(tensor, "{element}", data.dtype)',
    ]
    imports = ["import openvino", "from onnx import numpy_helper"]
    return Call(("onnx", "openvino"), run, arrays, [one_node_model, *OPENVINO], imports, [*lines, *CORE])


def _openvino(request: Request) -> Call:
    if not request.op.startswith("OpenVINOPad_"):
        raise NoScript(f"OpenVINO has no operator like {request.op}")
    arrays, element = named_inputs(request), _element(request.dtype)
    version = int(request.op.split("_")[1])
    run = [
        f"tensors = [{_tensors(arrays, list(arrays))}]",
        f"model, fed = openvino_pad_model(tensors, {_literal(request.attributes['pad_mode'])}, {version}, "
        f"constants={list(request.constant_inputs)}, static={request.static})",
        "tensor = infer_with_openvino(core, model, fed)",
        f'return from_openvino(tensor, "{element}", data.dtype)',
    ]
    functions: list[Callable[..., Any]] = [*OPENVINO, adapters.openvino_pad_model]
    return Call(("openvino",), run, arrays, functions, ["import openvino"], CORE)


def _tensors(arrays: dict[str, np.ndarray], names: Sequence[str]) -> str:
    """Source of the tensors of some arrays, in a row."""
    return ", ".join(f'to_openvino({name}, "{_element(dtype_of(arrays[name]))}")' for name in names)


def _element(dtype: DType) -> str:
    if dtype.name not in adapters.OPENVINO_ELEMENTS:
        raise NoScript(f"OpenVINO has no {dtype.name}")
    return adapters.OPENVINO_ELEMENTS[dtype.name]


# ---- functions of arrays


def _with_fill(request: Request) -> dict[str, np.ndarray]:
    return {"data": request.data} | ({} if request.value is None else {"fill": request.value})


def _numpy(request: Request) -> Call:
    run = [f"return prepare_numpy_pad(data, {request.pairs('numpy.pad')}, {_mode_and_fill(request)})()"]
    return Call((), run, _with_fill(request), [adapters.prepare_numpy_pad])


def _mode_and_fill(request: Request, fill: str = "fill") -> str:
    return f'"{request.mode}"' + (f", {fill}" if request.mode == "constant" else "")


def _torch(request: Request) -> Call:
    pairs = request.pairs("torch.nn.functional.pad")
    if request.mode not in adapters.TORCH_MODES:
        raise NoScript(f"torch.nn.functional.pad has no mode {request.mode}")
    given = f"torch.from_numpy(data), {pairs}, {_mode_and_fill(request, 'fill.item()')}"
    modes = f"TORCH_MODES = {_literal(adapters.TORCH_MODES)}"
    run = [f"return prepare_torch_pad({given})().numpy()"]
    return Call(("torch",), run, _with_fill(request), [adapters.prepare_torch_pad], ["import torch"], [modes])


def _jax(request: Request) -> Call:
    amounts = [(a.begin, a.end, a.interior) for a in request.amounts()]
    if request.mode != "constant":
        request.pairs("jax.numpy.pad")
    fill = "fill" if request.mode == "constant" else "None"
    run = [f'return pad_with_jax(data, {amounts}, "{request.mode}", {fill})']
    return Call(("jax",), run, _with_fill(request), [adapters.pad_with_jax])


def _tensorflow(request: Request) -> Call:
    pairs = request.pairs("tf.pad")
    if request.mode not in adapters.TENSORFLOW_MODES:
        raise NoScript(f"tf.pad has no mode {request.mode}")
    modes = f"TENSORFLOW_MODES = {_literal(adapters.TENSORFLOW_MODES)}"
    run = [
        f"paddings = np.array({pairs}, np.int64).reshape(-1, 2)",
        f"return from_tensorflow(prepare_tensorflow_pad(data, paddings, {_mode_and_fill(request)})())",
    ]
    functions: list[Callable[..., Any]] = [adapters.prepare_tensorflow_pad, adapters.from_tensorflow]
    return Call(("tensorflow",), run, _with_fill(request), functions, setup=[modes])


CALLS: dict[str, Callable[[Request], Call]] = {
    "ort-builtin": _ort,
    "onnx-reference": _onnx_reference,
    "openvino-1": _openvino,
    "openvino-12": _openvino,
    "openvino-onnx": _openvino_onnx,
    "numpy": _numpy,
    "torch": _torch,
    "jax": _jax,
    "tensorflow": _tensorflow,
}
