"""A script that shows one case on one peer: NumPy, onnx and the peer alone, fit for a bug report upstream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from padops.conformance.arrays import pack
from padops.conformance.case import Case, expect
from padops.conformance.peers import PEERS, PeerRow
from padops.conformance.peers.environments import file_of
from padops.conformance.peers.parts import has, value_of
from padops.conformance.peers.request import Request, Skipped, Unsupported
from padops.conformance.repro_calls import Call, NoScript, call_of
from padops.conformance.repro_node import node_script, template_of
from padops.spec.bits import dtype_of
from padops.spec.dtypes import by_name


@dataclass(frozen=True)
class Seen:
    """What a peer did with a case in a run of the suite.

    Attributes:
        versions: Of the peer, as in ``"onnxruntime 1.32.0"``.
        outcome: One of ``record.OUTCOMES``.
        divergence: The known divergence that explains it, or None.
        detail: What there was to say of it.
    """

    versions: str
    outcome: str
    divergence: str | None = None
    detail: str = ""

    @classmethod
    def of(cls, result: Mapping[str, Any], versions: Mapping[str, str]) -> Seen:
        """From a result of a report, and the versions of its peer."""
        text = ", ".join(f"{name} {version}" for name, version in versions.items())
        return cls(text, result["outcome"], result["divergence"], result["detail"])


def script(case: Case, peer: str, seen: Seen | None = None) -> str:
    """The script that shows a case on a peer of ``peers.PEERS``; an interpreter after ``@`` is only named.

    Returns:
        Python source, or JavaScript for a peer that is one. It exits 1 where the peer differs from the rules, 0 where
        it does not; a crash of the peer ends it as crashes do.

    Raises:
        NoScript: The peer has no way to say this case.
    """
    name = peer.partition("@")[0]
    expected = expect(case)
    if name in PEERS and (template := template_of(PEERS[name])):
        file = file_of(PEERS[name])
        request = Request.of(PEERS[name].prepared(case.request()))
        needs = (*value_of(file, "PACKAGES"), *(value_of(file, "NEEDS") or ()))
        return node_script(template, request, expected, _about(case, peer, seen, needs))
    call = _call_of(name, case)
    arrays = dict(call.arrays) | ({} if expected.output is None else {"expected": expected.output})
    values = [f"{key} = {literal(array)}" for key, array in arrays.items()]
    if expected.output is None:
        values.append(f"expected = None  # an error: {expected.message}")
    imports = ["from __future__ import annotations", "", "import sys", "", "import numpy as np"]
    if any("ml_dtypes." in value for value in values):
        imports.append("import ml_dtypes")
    about = _about(case, peer, seen, ("numpy", *call.packages))
    head = [line.replace("\\", "\\\\") for line in ('"""' + about[0], *about[1:], '"""', "")]
    imports += sorted({*call.imports} - {*imports}, key=lambda line: (line.startswith("from"), line))
    return "\n".join([*head, *imports, "", *values, "", "", *call.lines(), *_compare(case, call.refusals)]) + "\n"


def stands_alone(peer: str) -> bool:
    """Whether a peer's script needs no padops."""
    row = PEERS[peer]
    if row.command:
        return template_of(row) is not None
    return row.entry_point.endswith(":run_case") and has(file_of(row), "pad")


def has_script(row: PeerRow) -> bool:
    """Whether a peer has scripts at all: not one of the user's own, even where it takes the name of another."""
    known = PEERS.get(row.name)
    same = known is not None and known.entry_point == row.entry_point
    return same and (stands_alone(row.name) or not row.isolated)


def _call_of(peer: str, case: Case) -> Call:
    """The call of a peer on the case, as the suite asks it; ``NoScript`` where there is none."""
    if peer not in PEERS or not has_script(PEERS[peer]):
        names = ", ".join(name for name, row in PEERS.items() if has_script(row))
        raise NoScript(f"there is no script for the peer {peer!r}, only for {names}")
    request = Request.of(PEERS[peer].prepared(case.request()))
    if not stands_alone(peer):
        return _padops(peer, request)
    try:
        return call_of(PEERS[peer], request)
    except (Skipped, Unsupported) as error:
        raise NoScript(f"{peer} cannot be asked: {error}") from error


def _padops(peer: str, request: Request) -> Call:
    """padops itself, and its models elsewhere: as the suite asks them, since there is nobody else to tell."""
    module, function = PEERS[peer].entry_point.split(":")
    imports = [
        "import os",
        "",
        "import padops",
        "from padops.conformance import cases",
        f"from padops.conformance.peers import PEERS, {module}",
        "from padops.conformance.peers.request import Refused, Request",
    ]
    run = [
        'os.environ["PADOPS_LIBRARY"] = padops.get_library_path()',
        f"asked = PEERS[{peer!r}].prepared(cases.find_case({request.id!r}).request())",
        f"return {module}.{function}(Request.of(asked))",
    ]
    return Call(("padops",), run, f"(Refused, padops.PadError, *{module}.REFUSALS)", imports=imports)


def literal(array: np.ndarray) -> str:
    """Python source of an array, the same to the last bit: numbers where they can say it, else bytes."""
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
        if pack(eval(text, {"np": np})) == pack(array):  # our own text of numbers; decimals may round twice
            return text
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).tobytes().hex()
    return f'np.frombuffer(bytes.fromhex("{raw}"), {kind}).reshape({shape})'


def _numbers(array: np.ndarray) -> str:
    if array.ndim:
        return "[" + ", ".join(_numbers(row) for row in array) + "]"
    return str(array.item()) if array.dtype.kind != "f" else str(array)


def _about(case: Case, peer: str, seen: Seen | None, packages: Sequence[str]) -> list[str]:
    """What the script shows, why the peer did so where it has been seen, and how to run it."""
    name, _, python = peer.partition("@")
    where = ", ".join(filter(None, (seen.versions if seen else "", python)))
    reasons = [_reason(seen)] if seen else []
    opset = f" of opset {case.opset}" if case.opset else ""
    return [
        f"{name}: {case.op}{opset}, mode {case.mode or '(none)'}, {case.dtype}, rank {case.rank}.",
        "",
        *reasons,
        *([""] if reasons else []),
        f"Needs {', '.join(dict.fromkeys(packages))}.",
        "Exits 1 where the output is not the expected one, 0 where it is.",
        f"Made by: padops conformance repro {case.id} --peer {name}",
        *([f"Seen in {where}."] if where else []),
    ]


def _reason(seen: Seen) -> str:
    """Why a peer did what it did: of a known divergence the reason that explains this result, else what it said."""
    from padops.conformance.known import KNOWN

    for row in KNOWN:
        if row.id == seen.divergence:
            return f"{row.reason} [{row.rule}]"
    return f"{seen.outcome}: {' '.join(seen.detail.split())}" if seen.detail else "It agrees with the rules."


def _compare(case: Case, refusals: str) -> list[str]:
    """The end of the script: runs the peer, prints both sides, and says whether they are the same bits."""
    bits = by_name(case.dtype).bits
    mask = f" & {(1 << bits) - 1}" if 0 < bits < 8 else ""
    return [
        "",
        "",
        f"REFUSALS = {refusals}  # the errors that say that a case is wrong",
        "",
        "",
        "def bits(array):",
        '    if array.dtype.kind in "OUT":',
        '        return "string", array.shape, array.tolist()',
        f"    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8){mask}",
        "    return array.dtype, array.shape, raw.tobytes().hex()",
        "",
        "",
        'print("expected:", "an error" if expected is None else f"{expected.dtype}{list(expected.shape)}")',
        "if expected is not None:",
        "    print(expected)",
        "sys.stdout.flush()",
        "try:",
        "    got = run()",
        "except Exception as error:",
        '    print(f"got an error: {type(error).__name__}: {error}")',
        "    sys.exit(expected is not None or not isinstance(error, REFUSALS))",
        'print(f"got: {got.dtype}{list(got.shape)}")',
        "print(got)",
        "same = expected is not None and bits(got) == bits(expected)",
        'print("the same bits" if same else "different")',
        "if not same and str(got) == str(expected):  # NaNs of different bits print alike",
        '    print("expected bits:", bits(expected)[-1])',
        '    print("got bits:     ", bits(got)[-1])',
        "sys.exit(not same)",
    ]


__all__ = ["NoScript", "Seen", "literal", "script"]
