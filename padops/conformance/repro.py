"""``padops conformance repro``: prints a script that shows one case on one peer, fit for a bug report upstream.

If a peer does not use padops, the script does not use padops either: the script contains the arguments, and the source
of the function ``pad`` in the peer's file.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from padops.conformance import cases, runner
from padops.conformance.divergences import KNOWN
from padops.conformance.features import expect
from padops.conformance.peers import PEERS, Peer
from padops.conformance.peers.parts import shown, value_of
from padops.conformance.peers.request import Request, Skipped, Unsupported
from padops.runtime.ort_values import PLAIN
from padops.spec.dtypes import dtype_of
from padops.terminal import fail


class NoScript(ValueError):
    """There is no script for this case and peer; the error text has the reason."""


def script(case: Request, peer: str, seen: Mapping[str, Any] | None = None, versions: str = "") -> str:
    """Return a script, in the peer's language, that runs a case on a peer; only the first comment names ``@PYTHON``."""
    name = peer.partition("@")[0]
    if name not in PEERS or not PEERS[name].has_script:
        names = ", ".join(name for name, row in PEERS.items() if row.has_script)
        raise NoScript(f"there is no script for the peer {name!r}, only for {names}")
    row, expected = PEERS[name], expect(case)
    request = row.prepared(case)
    try:
        if row.command:
            needs = (*value_of(row.file, "PACKAGES"), *(value_of(row.file, "NEEDS") or ()))
            head = _about(case, peer, seen, versions, needs)
            text: str = value_of(row.file, "script")(row.file, request, expected.output, head)
            return text
        # Only padops passes arrays of a type that NumPy lacks to onnxruntime.
        alone = row.stands_alone and (row.entry_point != "ort:run_case" or request.dtype.name in PLAIN)
        packages, imports, values, source = (_call if alone else _call_of_padops)(row, request)
    except (Skipped, Unsupported) as error:
        raise NoScript(f"{name} cannot run this case: {error}") from error
    values["expected"] = _source(expected.output)
    if expected.output is None:
        values["expected"] += f"  # an error: {expected.message}"
    assigned = "\n".join(f"{key} = {text}" for key, text in values.items())
    used = [package for package in ("ml_dtypes", "onnx") if f"{package}." in assigned]
    imports = sorted({*imports, "import sys", "import numpy as np", *(f"import {package}" for package in used)})
    about = "\n".join(_about(case, peer, seen, versions, ("numpy", *used, *packages))).replace("\\", "\\\\")
    bits = case.dtype.bits
    end = COMPARE.format(mask=f" & {(1 << bits) - 1}" if 0 < bits < 8 else "")
    future = "from __future__ import annotations"
    loaded = "\n".join([future, "", *(line for line in imports if line != future)])
    return f'"""{about}\n"""\n\n{loaded}\n\n{assigned}\n\n\n{source}\n{end}'


_Call = tuple[Sequence[str], list[str], dict[str, str], str]  # packages, imports, values by name, and the functions


def _call(row: Peer, request: Request) -> _Call:
    """Return the parts of a script that does not need padops; the script's function ``run`` calls the peer."""
    imports, sources = shown(row.file, ["pad", "REFUSALS"])
    (function,) = ast.parse(sources["pad"]).body
    assert isinstance(function, ast.FunctionDef)
    given = {
        row.arg: _source(value) for row, value in zip(function.args.args, value_of(row.file, "arguments")(request))
    }
    run = f"def run():\n    return pad({', '.join(given)})"
    return value_of(row.file, "PACKAGES")[:1], imports, given, "\n\n\n".join([*dict.fromkeys(sources.values()), run])


def _call_of_padops(row: Peer, request: Request) -> _Call:
    """Return the parts of a script that needs padops: the script calls the peer's function, as the suite does."""
    module, function = row.entry_point.split(":")
    imports = ["import os", "import padops", "from padops.conformance import cases"]
    imports += [f"from padops.conformance.peers import PEERS, {module}"]
    imports += ["from padops.conformance.peers.request import Refused"]
    source = f"""\
REFUSALS = (Refused, padops.PadError, *{module}.REFUSALS)
os.environ["PADOPS_LIBRARY"] = padops.get_library_path()


def run():
    return {module}.{function}(PEERS[{row.name!r}].prepared(cases.find_case({request.id!r})))"""
    return ("padops",), imports, {}, source


def _source(value: Any) -> str:
    """Return Python source of an argument; for a model, the bytes, and the model's text in a comment."""
    if isinstance(value, np.ndarray):
        return literal(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_source(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        items = "".join(f"{_source(item)}, " for item in value)
        return f"[{items}]" if isinstance(value, list) else f"({items})"
    if type(value).__name__ == "ModelProto":
        from onnx import printer

        text = printer.to_text(value).strip().replace("\n", "\n# ")
        return f'onnx.ModelProto.FromString(bytes.fromhex("{value.SerializeToString().hex()}"))\n# {text}'
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value)


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
    if kind.startswith("np.") and (array.dtype.kind != "f" or np.isfinite(array).all()):
        return f"np.array({array.tolist()!r}, {kind})"
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).tobytes().hex()
    return f'np.frombuffer(bytes.fromhex("{raw}"), {kind}).reshape({shape})'


def _about(
    case: Request, peer: str, seen: Mapping[str, Any] | None, versions: str, packages: Sequence[str]
) -> list[str]:
    """Describe what the script shows, the reason for the peer's result if known, and how to run the script."""
    name, _, python = peer.partition("@")
    where = ", ".join(filter(None, (versions, python)))
    opset = f" of opset {case.opset}" if case.opset else ""
    reason = []
    if seen:  # the reason of the known divergence that explains the result, else the peer's message
        known = [f"{row.reason} [{row.rule}]" for row in KNOWN if row.id == seen["divergence"]]
        detail = " ".join(seen["detail"].split())
        reason = [*known, f"{seen['outcome']}: {detail}" if detail else "It agrees with the rules."][:1] + [""]
    return [
        f"{name}: {case.op}{opset}, mode {case.mode or '(none)'}, {case.dtype.name}, rank {case.data.ndim}.",
        "",
        *reason,
        f"Needs {', '.join(dict.fromkeys(packages))}.",
        "Exits 1 if the output differs from the expected output, 0 if not.",
        f"Made by: padops conformance repro {case.id} --peer {PEERS[name].asked_as}",
        *([f"Seen in {where}."] if where else []),
    ]


# The end of a script: runs the peer, prints both results, and whether their bits are equal.
COMPARE = """

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
    """Print the script of a case on a peer, with the peer's result if the peer runs on this machine."""
    try:
        case, peer = cases.find_case(options.id), runner.parse_peers(options.name)[0]
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
