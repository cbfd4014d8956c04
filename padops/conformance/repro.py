"""``padops conformance repro``: prints a script that shows one case on one peer, fit for a bug report upstream.

A script needs only NumPy, onnx and the peer: it contains the source of ``pad`` in the peer's file, and the arguments.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from padops.conformance import cases, runner
from padops.conformance.arrays import pack
from padops.conformance.case import Case, expect
from padops.conformance.divergences import KNOWN
from padops.conformance.model import attributes_of, input_names, ir_version
from padops.conformance.peers import PEERS, PeerRow, has_script
from padops.conformance.peers.parts import PEERS_FOLDER, shown, value_of
from padops.conformance.peers.request import Request, Skipped, Unsupported
from padops.spec.bits import dtype_of
from padops.spec.dtypes import by_name
from padops.terminal import fail


class NoScript(ValueError):
    """This case and peer have no script; the message has the reason."""


@dataclass
class _Call:
    """The lines of a script that call one peer, by their place in the script."""

    packages: tuple[str, ...]  # to install, beside NumPy
    run: list[str]  # the function
    refusals: str  # source of the exceptions that mean a refusal
    imports: list[str]
    shown: list[str] = field(default_factory=list)  # the source of padops' own functions and constants
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    setup: list[str] = field(default_factory=list)  # before the function

    def lines(self) -> list[str]:
        """Return the lines between the values and the comparison."""
        source = [line for text in self.shown for line in [*text.splitlines(), "", ""]]
        setup = [*self.setup, "", ""] if self.setup else []
        return [*source, *setup, "def run():", *("    " + line for line in self.run)]


def script(case: Case, peer: str, seen: Mapping[str, Any] | None = None, versions: str = "") -> str:
    """Return the script that shows a case on a peer of ``peers.PEERS``; it only names an interpreter after ``@``.

    Returns:
        Python source, or JavaScript for a JavaScript peer. The script exits with 1 if the peer differs from the rules,
        else with 0; a crash of the peer also ends the script.

    Raises:
        NoScript: The peer cannot express this case.
    """
    name = peer.partition("@")[0]
    if name not in PEERS or not has_script(PEERS[name]):
        names = ", ".join(name for name, row in PEERS.items() if has_script(row))
        raise NoScript(f"there is no script for the peer {name!r}, only for {names}")
    row, expected = PEERS[name], expect(case)
    request = Request.of(row.prepared(case.request()))
    try:
        if row.command:
            needs = (*value_of(row.file, "PACKAGES"), *(value_of(row.file, "NEEDS") or ()))
            head = _about(case, peer, seen, versions, needs)
            text: str = value_of(row.file, "script")(row.file, request, expected.output, head)
            return text
        call = _call_of(row, request) if row.stands_alone else _call_of_padops(row, request)
    except (Skipped, Unsupported) as error:
        raise NoScript(f"{name} cannot be asked: {error}") from error
    arrays = dict(call.arrays) | ({} if expected.output is None else {"expected": expected.output})
    values = [f"{key} = {literal(array)}" for key, array in arrays.items()]
    if expected.output is None:
        values.append(f"expected = None  # an error: {expected.message}")
    imports = ["from __future__ import annotations", "", "import sys", "", "import numpy as np"]
    if any("ml_dtypes." in value for value in values):
        imports.append("import ml_dtypes")
    about = _about(case, peer, seen, versions, ("numpy", *call.packages))
    head = [line.replace("\\", "\\\\") for line in ('"""' + about[0], *about[1:], '"""', "")]
    imports += sorted({*call.imports} - {*imports}, key=lambda line: (line.startswith("from"), line))
    bits = by_name(case.dtype).bits
    end = COMPARE.format(refusals=call.refusals, mask=f" & {(1 << bits) - 1}" if 0 < bits < 8 else "")
    return "\n".join([*head, *imports, "", *values, "", "", *call.lines(), end])


def _call_of(row: PeerRow, request: Request) -> _Call:
    """Return the call of a peer whose script does not need padops."""
    imports, sources = shown(row.file, ["pad", "REFUSALS"])
    (stated,), (function,) = (ast.parse(sources[name]).body for name in ("REFUSALS", "pad"))
    assert isinstance(stated, ast.Assign) and isinstance(function, ast.FunctionDef)
    del sources["REFUSALS"]
    texts = [*dict.fromkeys(sources.values())]
    call = _Call(value_of(row.file, "PACKAGES")[:1], [], ast.unparse(stated.value), imports, texts)
    arguments = zip(function.args.args, value_of(row.file, "arguments")(request))
    call.run = [
        f"return pad({', '.join(_argument(parameter.arg, value, request, call) for parameter, value in arguments)})"
    ]
    return call


def _call_of_padops(row: PeerRow, request: Request) -> _Call:
    """Return the call of padops or its models; the script needs padops, and calls the peer as the suite does."""
    module, function = row.entry_point.split(":")
    imports = f"""\
import os

import padops
from padops.conformance import cases
from padops.conformance.peers import PEERS, {module}
from padops.conformance.peers.request import Refused, Request"""
    run = f"""\
os.environ["PADOPS_LIBRARY"] = padops.get_library_path()
asked = PEERS[{row.name!r}].prepared(cases.find_case({request.id!r}).request())
return {module}.{function}(Request.of(asked))"""
    refusals = f"(Refused, padops.PadError, *{module}.REFUSALS)"
    return _Call(("padops",), run.splitlines(), refusals, imports.splitlines())


def _argument(name: str, value: Any, request: Request, call: _Call) -> str:
    """Return the source of an argument; add arrays and models to the script."""
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


def _make_model(request: Request, call: _Call, ranked: bool) -> None:
    """Add the ONNX model to a script, with the inputs as ``arrays``; ``ranked``: whether its output has a rank."""
    roles = [row.name for row in request.row.inputs]
    names = [role if name else "" for role, name in zip(roles, input_names(request.inputs))]
    arrays = {role: array for role, array in zip(roles, request.inputs) if array is not None}
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
    """Return Python source of a plain value, including floats without a literal."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value).replace("'", '"')


def literal(array: np.ndarray) -> str:
    """Return Python source of an array, exact to the last bit: numbers if they suffice, else bytes."""
    dtype = dtype_of(array)
    shape = list(array.shape)
    if dtype.name == "string":
        return f"np.array({array.reshape(-1).tolist()!r}, object).reshape({shape})"
    kind = "np.bool_" if dtype.name == "bool" else f"np.{array.dtype}"
    if not hasattr(np, str(array.dtype)):
        kind = f"ml_dtypes.{array.dtype}"
    if not array.size:
        return f"np.zeros({shape}, {kind})"
    if kind.startswith("np.") and not (array.dtype.kind == "f" and not np.isfinite(array).all()):
        text = f"np.array({_numbers(array)}, {kind})"
        if pack(eval(text, {"np": np})) == pack(array):  # the text has only our numbers; decimals may round twice
            return text
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).tobytes().hex()
    return f'np.frombuffer(bytes.fromhex("{raw}"), {kind}).reshape({shape})'


def _numbers(array: np.ndarray) -> str:
    if array.ndim:
        return "[" + ", ".join(_numbers(row) for row in array) + "]"
    return str(array.item()) if array.dtype.kind != "f" else str(array)


def _about(case: Case, peer: str, seen: Mapping[str, Any] | None, versions: str, packages: Sequence[str]) -> list[str]:
    """Describe what the script shows, the reason for the peer's result if known, and how to run the script."""
    name, _, python = peer.partition("@")
    where = ", ".join(filter(None, (versions, python)))
    opset = f" of opset {case.opset}" if case.opset else ""
    return [
        f"{name}: {case.op}{opset}, mode {case.mode or '(none)'}, {case.dtype}, rank {case.rank}.",
        "",
        *([_reason(seen), ""] if seen else []),
        f"Needs {', '.join(dict.fromkeys(packages))}.",
        "Exits 1 where the output is not the expected one, 0 where it is.",
        f"Made by: padops conformance repro {case.id} --peer {PEERS[name].asked_as}",
        *([f"Seen in {where}."] if where else []),
    ]


def _reason(seen: Mapping[str, Any]) -> str:
    """Return the reason for a peer's result: from the known divergence that explains it, else the peer's message."""
    for row in KNOWN:
        if row.id == seen["divergence"]:
            return f"{row.reason} [{row.rule}]"
    return f"{seen['outcome']}: {' '.join(seen['detail'].split())}" if seen["detail"] else "It agrees with the rules."


# The end of a script: runs the peer, prints both results, and whether their bits are equal.
COMPARE = """

REFUSALS = {refusals}  # the errors that say that a case is wrong


def bits(array):
    if array.dtype.kind in "OUT":
        return "string", array.shape, array.tolist()
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8){mask}
    return array.dtype, array.shape, raw.tobytes().hex()


print("expected:", "an error" if expected is None else f"{{expected.dtype}}{{list(expected.shape)}}")
if expected is not None:
    print(expected)
sys.stdout.flush()
try:
    got = run()
except Exception as error:
    print(f"got an error: {{type(error).__name__}}: {{error}}")
    sys.exit(expected is not None or not isinstance(error, REFUSALS))
print(f"got: {{got.dtype}}{{list(got.shape)}}")
print(got)
same = expected is not None and bits(got) == bits(expected)
print("the same bits" if same else "different")
if not same and str(got) == str(expected):  # NaNs of different bits print alike
    print("expected bits:", bits(expected)[-1])
    print("got bits:     ", bits(got)[-1])
sys.exit(not same)
"""


def repro(options: argparse.Namespace) -> int:
    """Print the script of a case on a peer, with the peer's result if it runs on this machine."""
    try:
        case, peer = cases.find_case(options.id), runner.parse_peer(options.name)
        script(case, peer.name)  # checks that there is a script, before the peer starts
        (ran,) = runner.run_cases([case], [peer], KNOWN, "exhaustive")
        seen, versions = None, ""  # if the peer is absent on this machine, or does not run such cases
        if ran.handshake and ran.results:
            seen, versions = ran.results[0], ", ".join(map(" ".join, ran.handshake["versions"].items()))
        text = script(case, peer.name, seen, versions)
    except ValueError as error:  # no such case or peer, or NoScript
        return fail(error)
    sys.stdout.write(text)
    return 0
