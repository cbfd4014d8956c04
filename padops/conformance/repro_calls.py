"""How a script asks each peer: the lines of its function ``run``, from a case.

These are written for whoever maintains the peer: a direct call with the numbers in place, not the suite's own code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.conformance.model import ir_version
from padops.conformance.peers import PEERS
from padops.conformance.peers.request import Request, Skipped
from padops.spec.dtypes import by_numpy

if TYPE_CHECKING:
    from padops.spec.plan import Amounts

# Types that onnxruntime's Python API takes as NumPy arrays.
PLAIN = frozenset((
    "float", "double", "float16", "bool", "string",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
))  # fmt: skip


class NoScript(ValueError):
    """There is no script for this case and peer; says why."""


@dataclass
class Call:
    """What one peer needs in a script.

    Attributes:
        packages: What has to be installed, beside NumPy.
        imports: Lines at the top.
        arrays: Names and values that the script defines.
        lines: What stands between the values and the comparison: at least a function ``run``.
    """

    packages: tuple[str, ...]
    imports: list[str]
    arrays: dict[str, np.ndarray]
    lines: list[str] = field(default_factory=list)


def call_of(peer: str, request: Request) -> Call:
    """The call of a peer, without an interpreter in its name.

    Raises:
        NoScript: There is none.
    """
    if peer in PEERS and PEERS[peer].ours:
        return _padops(peer, request)
    if peer not in CALLS:
        raise NoScript(f"there is no script for the peer {peer!r}, only for {', '.join([*CALLS, *_OURS])}")
    try:
        return CALLS[peer](request)
    except Skipped as error:
        raise NoScript(f"{peer} cannot be asked: {error}") from error


_OURS = tuple(name for name, row in PEERS.items() if row.ours)


def named_inputs(request: Request) -> dict[str, np.ndarray]:
    """The inputs by their names in the specification, without absent ones."""
    rows = zip(request.row.inputs, request.inputs)
    return {row.name: array for row, array in rows if array is not None}


# ---- a model of ONNX


def _model(request: Request, fed: frozenset[str] | None = None) -> tuple[list[str], dict[str, str], list[str]]:
    """Lines that make ``model``; what it is fed with, by name; and the imports for both.

    Inputs of types that are not among ``fed`` become constants too.
    """
    if not request.opset:
        raise NoScript(f"ONNX has no operator like {request.op}")
    names = [row.name if array is not None else "" for row, array in zip(request.row.inputs, request.inputs)]
    while names and not names[-1]:
        names.pop()
    arrays = named_inputs(request)
    feedable = fed is None or request.dtype.name in fed
    held = [name for i, name in enumerate(names) if name and (i in request.held or not feedable)]
    texts = {name: value for name, value in request.attributes.items() if value != []}
    given = "".join(f", {name}={_literal(value)}" for name, value in texts.items())
    lines = [f'node = helper.make_node("Pad", {names!r}, ["output"], name="pad"{given})'.replace("'", '"')]
    lines += [
        f'node.attribute.append(helper.make_attribute("{name}", [], attr_type=onnx.AttributeProto.INTS))'
        for name, value in request.attributes.items()
        if value == []
    ]
    lines.append("inputs = [")
    for name in (name for name in names if name and name not in held):
        shape = list(arrays[name].shape) if request.static else None
        lines.append(f'    helper.make_tensor_value_info("{name}", {by_numpy(arrays[name].dtype).onnx}, {shape}),')
    lines.append("]")
    lines.append(f'output = helper.make_tensor_value_info("output", {request.dtype.onnx}, None)')
    constants = ", ".join(f'numpy_helper.from_array({name}, "{name}")' for name in held)
    lines.append(f'graph = helper.make_graph([node], "case", inputs, [output], [{constants}])')
    lines.append(
        f'model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", {request.opset})], '
        f"ir_version={ir_version(request.opset)})"
    )
    feeds = {name: name for name in names if name and name not in held}
    return lines, feeds, ["import onnx", "from onnx import helper, numpy_helper"]


def _literal(value: Any) -> str:
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _feeds(feeds: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{name}": {value}' for name, value in feeds.items()) + "}"


def _ort(request: Request) -> Call:
    lines, feeds, imports = _model(request, PLAIN)
    run = [
        'session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])',
        f"return session.run(None, {_feeds(feeds)})[0]",
    ]
    arrays = named_inputs(request)
    return Call(("onnx", "onnxruntime"), [*imports, "import onnxruntime"], arrays, lines + _function(run))


def _onnx_reference(request: Request) -> Call:
    lines, feeds, imports = _model(request)
    run = [f"return np.asarray(ReferenceEvaluator(model).run(None, {_feeds(feeds)})[0])"]
    imports = [*imports, "from onnx.reference import ReferenceEvaluator"]
    return Call(("onnx",), imports, named_inputs(request), lines + _function(run))


def _function(lines: list[str]) -> list[str]:
    return ["", "", "def run():", *("    " + line for line in lines)]


# ---- OpenVINO


def _openvino_onnx(request: Request) -> Call:
    # The CPU device takes no inputs of unknown rank.
    request = replace(request, static=True)
    lines, feeds, imports = _model(request)
    ported = "[" + ", ".join(f"tensor({name})" for name in feeds) + "]"
    run = ["read = core.read_model(model.SerializeToString())", *_infer("read", ported)]
    imports = [*imports, "import openvino"]
    return Call(
        ("onnx", "openvino"), imports, named_inputs(request), [*lines, *_openvino_tensors(request), *_function(run)]
    )


def _openvino(request: Request) -> Call:
    arrays, version = named_inputs(request), int(request.op.split("_")[1])
    names, run, fed = list(arrays), [], []
    for i, name in enumerate(row.name for row in request.row.inputs):
        if name not in arrays:
            continue
        shape = list(arrays[name].shape)
        if not i and not request.static:
            shape = [-1] * len(shape)
        if i in request.held:
            run.append(f"{name}_node = openvino.op.Constant(tensor({name}))")
        else:
            fed.append(name)
            run.append(f"{name}_node = opset.parameter(openvino.PartialShape({shape}), tensor({name}).element_type)")
    nodes = [f"{name}_node" for name in names]
    call = ", ".join([*nodes[:3], repr(request.attributes["pad_mode"]), *nodes[3:]])
    parameters = ", ".join(f"{name}_node" for name in fed)
    run.append(f'model = openvino.Model([opset.pad({call})], [{parameters}], "case")')
    run += _infer("model", "[" + ", ".join(f"tensor({name})" for name in fed) + "]")
    imports = ["import openvino", f"from openvino import opset{version} as opset"]
    return Call(("openvino",), imports, arrays, [*_openvino_tensors(request), *_function(run)])


def _infer(model: str, tensors: str) -> list[str]:
    return [
        f'request = core.compile_model({model}, "CPU").create_infer_request()',
        f"request.infer({tensors})",
        "return array(request.get_output_tensor(0))",
    ]


def _openvino_tensors(request: Request) -> list[str]:
    """Functions between NumPy arrays and OpenVINO's tensors, for the types of this case."""
    from padops.convert.readers.openvino_ir.reader import ELEMENT_TYPES

    elements = {onnx: name for name, onnx in ELEMENT_TYPES.items()}
    if request.dtype.onnx not in elements:
        raise NoScript(f"OpenVINO has no {request.dtype.name}")
    rows = [by_numpy(array.dtype) for array in request.inputs if array is not None]
    used = {row.name for row in rows}
    table = {str(row.numpy): elements[row.onnx] for row in rows}
    # With the settings of the suite: with a thread of its own the plugin reports errors that are lost with one.
    settings = '{"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}'
    lines = ["core = openvino.Core()", f'core.set_property("CPU", {settings})', f"TYPES = {table}"]
    lines += ["", "", "def tensor(array):"]
    if "string" in used:
        lines += ["    if array.dtype == object:", "        return openvino.Tensor(array.astype(str))"]
    lines += [
        "    made = openvino.Tensor(getattr(openvino.Type, TYPES[str(array.dtype)]), openvino.Shape(array.shape))",
        "    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)",
    ]
    small = request.dtype.bits and request.dtype.bits < 8
    if small:
        lines += [
            "    if array.dtype == data.dtype:  # two elements a byte, the first in the low bits",
            "        raw = np.append(raw & 15, np.zeros(raw.size % 2, np.uint8))",
            "        raw = raw[::2] | raw[1::2] << 4",
        ]
    lines += ["    if raw.size:", "        made.data.reshape(-1).view(np.uint8)[:] = raw", "    return made", "", ""]
    lines.append("def array(tensor):")
    if "string" in used:
        return [*lines, "    return tensor.str_data.astype(object)"]
    lines.append(
        "    raw = np.frombuffer(tensor.data.tobytes() if tensor.byte_size else b'', np.uint8)".replace("'", '"')
    )
    if small:
        lines.append(
            "    raw = np.stack([raw & 15, raw >> 4], 1).reshape(-1)[: np.prod(list(tensor.shape), dtype=int)]"
        )
    return [*lines, "    return raw.view(data.dtype).reshape(list(tensor.shape))"]


# ---- functions of arrays


def _numbers(amounts: list[Amounts], interior: bool = False) -> str:
    return repr([(a.begin, a.end, a.interior) if interior else (a.begin, a.end) for a in amounts])


def _with_fill(request: Request) -> dict[str, np.ndarray]:
    return {"data": request.data} | ({"fill": request.fill} if request.mode == "constant" else {})


def _no_interior(peer: str, amounts: list[Amounts]) -> None:
    if any(a.interior for a in amounts):
        raise NoScript(f"{peer} has no interior padding")


def _numpy(request: Request) -> Call:
    amounts = request.amounts()
    _no_interior("numpy.pad", amounts)
    given = "constant_values=fill" if request.mode == "constant" else f'mode="{request.mode}"'
    run = [f"return np.pad(data, {_numbers(amounts)}, {given})"]
    return Call((), [], _with_fill(request), _function(run))


TORCH_MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}


def _torch(request: Request) -> Call:
    amounts = request.amounts()
    _no_interior("torch.nn.functional.pad", amounts)
    if request.mode not in TORCH_MODES:
        raise NoScript(f"torch.nn.functional.pad has no mode {request.mode}")
    flat = [amount for a in reversed(amounts) for amount in (a.begin, a.end)]
    run = ["tensor = torch.from_numpy(data)"]
    if request.mode == "constant":
        run.append(f"return torch.nn.functional.pad(tensor, {flat}, value=fill.item()).numpy()")
    else:
        # The modes that extend want a batch and a channel in front of the axes that are padded.
        touched = max((i + 1 for i, a in enumerate(reversed(amounts)) if (a.begin, a.end) != (0, 0)), default=0)
        shape = request.data.shape
        lead, rest = shape[: len(shape) - touched], shape[len(shape) - touched :]
        batch = (1, int(np.prod(lead, dtype=np.int64)), *rest)
        mode = TORCH_MODES[request.mode]
        call = f'torch.nn.functional.pad(tensor.reshape({batch}), {flat[: 2 * touched]}, mode="{mode}")'
        run.append(f"padded = {call}" if touched else f"padded = tensor.reshape({batch})")
        run.append(f"return padded.reshape({list(lead)} + list(padded.shape[2:])).numpy()")
    return Call(("torch",), ["import torch"], _with_fill(request), _function(run))


def _jax(request: Request) -> Call:
    amounts = request.amounts()
    imports = ["import jax", "import jax.numpy as jnp"]
    lines = ['jax.config.update("jax_enable_x64", True)']
    if request.mode == "constant":
        numbers = _numbers(amounts, interior=True)
        run = [f"return np.asarray(jax.lax.pad(jnp.asarray(data), jnp.asarray(fill), {numbers}))"]
    else:
        _no_interior("jax.numpy.pad", amounts)
        run = [f'return np.asarray(jnp.pad(jnp.asarray(data), {_numbers(amounts)}, mode="{request.mode}"))']
    return Call(("jax",), imports, _with_fill(request), lines + _function(run))


def _tensorflow(request: Request) -> Call:
    amounts = request.amounts()
    _no_interior("tf.pad", amounts)
    fill = ", constant_values=tf.constant(fill)" if request.mode == "constant" else ""
    pairs = f"np.array({_numbers(amounts)}, np.int64).reshape(-1, 2)"
    run = [f'return tf.pad(tf.constant(data), {pairs}, mode="{request.mode.upper()}"{fill}).numpy()']
    return Call(("tensorflow",), ["import tensorflow as tf"], _with_fill(request), _function(run))


def _padops(peer: str, request: Request) -> Call:
    """padops itself: as the suite asks it, since there is nobody else to tell."""
    module, function = PEERS[peer].home.split(":")
    imports = [
        "import os",
        "",
        "import padops",
        "from padops.conformance import cases",
        "from padops.conformance.peers.request import Request",
    ]
    run = [
        'os.environ["PADOPS_LIBRARY"] = padops.get_library_path()',
        f"from padops.conformance.peers import {module}",
        "",
        f"return {module}.{function}(Request.of(cases.find({request.id!r}).request()))".replace("'", '"'),
    ]
    return Call(("padops",), imports, {}, _function(run))


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
