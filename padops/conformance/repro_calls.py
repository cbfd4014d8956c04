"""How a script asks each peer: ``pad`` of the peer's file, printed from its source, and the arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from padops.conformance.model import attributes_of, ir_version
from padops.conformance.peers.environments import file_of
from padops.conformance.peers.parts import PEERS_FOLDER, shown, value_of
from padops.conformance.peers.request import Request
from padops.conformance.peers.row import PeerRow
from padops.spec.bits import dtype_of


class NoScript(ValueError):
    """There is no script for this case and peer; says why."""


@dataclass
class Call:
    """What one peer needs in a script.

    Attributes:
        packages: The packages to install, beside NumPy.
        run: The lines of the function ``run``.
        refusals: Source of the exceptions by which the peer refuses a case.
        shown: The source of padops' own functions and constants.
        setup: Lines before ``run``.
    """

    packages: tuple[str, ...]
    run: list[str]
    refusals: str
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    setup: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """What stands between the values and the comparison."""
        source = [line for text in self.shown for line in [*text.splitlines(), "", ""]]
        setup = [*self.setup, "", ""] if self.setup else []
        return [*source, *setup, "def run():", *("    " + line for line in self.run)]


def call_of(row: PeerRow, request: Request) -> Call:
    """The call of a peer whose script stands alone.

    Raises:
        NoScript: There is no such operator or type.
        Skipped: The peer cannot be asked.
        Unsupported: The peer says that it has no such type, mode or amounts.
    """
    file = file_of(row)
    imports, sources = shown(file, ["pad", "REFUSALS"])
    (stated,) = ast.parse(sources.pop("REFUSALS")).body
    assert isinstance(stated, ast.Assign)
    refusals, texts = ast.unparse(stated.value), [*dict.fromkeys(sources.values())]
    call = Call(value_of(file, "PACKAGES")[:1], [], refusals, imports=imports, shown=texts)
    (function,) = ast.parse(sources["pad"]).body
    assert isinstance(function, ast.FunctionDef)
    arguments = zip(function.args.args, value_of(file, "arguments")(request))
    call.run = [
        f"return pad({', '.join(_argument(parameter.arg, value, request, call) for parameter, value in arguments)})"
    ]
    return call


def _argument(name: str, value: Any, request: Request, call: Call) -> str:
    """Source of an argument; arrays and models get their place in the script."""
    names = {id(array): row.name for row, array in zip(request.row.inputs, request.inputs)}
    if isinstance(value, np.ndarray):
        call.arrays[name] = value
        return name
    if type(value).__name__ == "ModelProto":
        _make_model(request, call, ranked=value.graph.output[0].type.tensor_type.HasField("shape"))
        if len(value.graph.node) > 1:
            call.shown += shown(PEERS_FOLDER.with_name("model.py"), ["behind_identity"])[1].values()
            call.setup.append("model = behind_identity(model)")
        return "model"
    if isinstance(value, Mapping):
        keys = {f"input_{i}": row.name for i, row in enumerate(request.row.inputs)}
        items = ((keys[key], item) for key, item in value.items())
        return "{" + ", ".join(f'"{key}": {_argument(key, item, request, call)}' for key, item in items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_argument(names.get(id(item), ""), item, request, call) for item in value) + "]"
    return _literal(value)


def _make_model(request: Request, call: Call, ranked: bool) -> None:
    """Adds the model of ONNX to a script, with the inputs as ``arrays``; ``ranked``: its output has a rank.

    Raises:
        NoScript: ONNX has no such operator.
    """
    if not request.opset:
        raise NoScript(f"ONNX has no operator like {request.op}")
    names = [row.name if array is not None else "" for row, array in zip(request.row.inputs, request.inputs)]
    while names and not names[-1]:
        names.pop()
    arrays = {row.name: array for row, array in zip(request.row.inputs, request.inputs) if array is not None}
    constants = [name for i, name in enumerate(names) if name and i in request.constant_inputs]
    fed = [name for name in names if name and name not in constants]
    declared = {n: (dtype_of(arrays[n]).onnx, list(arrays[n].shape) if request.static else None) for n in fed}
    shape = [f"d{i}" for i in range(request.data.ndim)] if ranked else None
    made = ", ".join(f'numpy_helper.from_array({name}, "{name}")' for name in constants)
    call.arrays |= arrays
    call.packages = ("onnx", *call.packages)
    call.imports.append("from onnx import numpy_helper")
    call.shown[:0] = shown(PEERS_FOLDER.with_name("model.py"), ["one_node_model"])[1].values()
    call.setup += [
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
    ]


def _literal(value: Any) -> str:
    """Python source of a plain value, floats without a literal included."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value).replace("'", '"')
