"""Run real networks on an execution provider: stock, with padops beside it, and lowered for it.

It prints the provider of each node, and how far each result is from the right result.

    python3 scripts/provider_networks.py NAME [PACKAGE ...]            # one of the names of scripts/providers.py
    python provider_networks.py --one PROVIDER WAY MODEL FEEDS         # in the provider's environment: a line of JSON

scripts/models.json has the networks. Each one runs in a process that may die or take too long. Exit codes: 0 done;
1 a network lowered for the provider is wrong, refused for its Pads, or in part on the processor; or with padops beside
the provider, a network is wrong, or does not run although it runs without padops.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import help_first  # noqa: F401
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the tests call this as a module
import fetch_models
import providers
from bench_providers import placement_of
from provider_cases import CPU, QNN, STOCK

WAYS = ("stock", "name", "lowered")
SECONDS = 60  # for one network in one way


def ask(
    name: str, packages: list[str] | None = None, ways: tuple[str, ...] = WAYS
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the outcome of each network in each way.

    Args:
        name: The name of an environment, or of a provider.
        packages: Packages of scripts/models.json; if None, all packages with ONNX models.
        ways: The ways, as in ``provider_cases.run``.

    Returns:
        By network and way: ``outcome``: ``"right"``, ``"wrong"``, ``"refused"``, ``"dead"`` or ``"late"``, with
        ``why``; ``nodes``: how many nodes each provider has run; ``copies`` and ``parts``; ``away``: the largest
        difference from the processor, as a part of the largest number of the output; ``written``: the nodes of the
        lowering that ran elsewhere; ``left``: whether the lowering reports that it leaves a Pad.
    """
    provider, told = providers.provider_of(name), {}
    for network, path in fetch_models.fetch(packages).items():
        with tempfile.TemporaryDirectory() as folder:
            model, feeds = Path(folder, "model.onnx"), Path(folder, "feeds.npz")
            _prepare(path, model, feeds, provider)
            told[network] = {way: _ask_one(name, provider, way, model, feeds) for way in ways}
    return told


def _prepare(path: Path, model: Path, feeds: Path, provider: str) -> None:
    """Write the model, inputs for it, and the outputs that the CPU computes.

    QNN accepts no open dims, so its model gets the dims of the inputs.
    """
    import onnx
    import onnxruntime

    import padops
    from padops.bench.timing import feeds_for

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # onnxruntime refuses some tried inputs
    session = padops.InferenceSession(path, options, [CPU])
    fed = feeds_for(path, session)
    message = onnx.load(path)
    if provider == QNN:
        for value in message.graph.input:
            if value.name in fed:
                dims = [onnx.TensorShapeProto.Dimension(dim_value=size) for size in fed[value.name].shape]
                del value.type.tensor_type.shape.dim[:]
                value.type.tensor_type.shape.dim.extend(dims)
        del message.graph.value_info[:]
    onnx.save(message, model)
    given = session.run(None, fed)
    np.savez(
        feeds, **{f"in {key}": value for key, value in fed.items()}, **{f"out {i}": one for i, one in enumerate(given)}
    )


def _ask_one(name: str, provider: str, way: str, model: Path, feeds: Path) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if way == "lowered":
        import padops

        conversion = padops.lower(model, model.with_name("lowered.onnx"), provider=provider)
        told["left"] = any("leaves it" in f"{one.reason} {one.notes}" for one in conversion.records)
        told["new"] = sorted(_names(model.with_name("lowered.onnx")) - _names(model))
        model = model.with_name("lowered.onnx")
    command = [providers.python_of(name), __file__, "--one", provider, way, str(model), str(feeds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=providers.variables())
    except subprocess.TimeoutExpired:
        return told | {"outcome": "late", "why": f"it takes more than {SECONDS} seconds"}
    if done.returncode:
        return told | {"outcome": "dead", "why": f"exit code {done.returncode}: {done.stderr[-300:]}"}
    told |= json.loads(done.stdout.splitlines()[-1])
    told["written"] = sorted({*told.pop("elsewhere", ())} & {*told.pop("new", ())})
    return told


def _names(path: Path) -> set[str]:
    """Return the names of all nodes of a model, including nodes in bodies and functions."""
    import onnx_ir as ir

    model = ir.load(path)
    graphs = (model.graph, *model.functions.values())
    return {node.name or "" for graph in graphs for node in ir.traversal.RecursiveGraphIterator(graph)} - {""}


def run_one(provider: str, way: str, model: str, feeds: str) -> dict[str, Any]:
    """Runs one network in this process; see ``ask``.

    Args:
        provider: The provider's name.
        way: The way, as in ``provider_cases.run``.
        model: The network's file.
        feeds: The file of the network's inputs and outputs.
    """
    import onnxruntime
    from isolated import other_providers

    other_providers.prepare(provider)
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.enable_profiling = 4, True
    data = np.load(feeds)
    fed = {key.removeprefix("in "): data[key] for key in data.files if key.startswith("in ")}
    expected = [data[f"out {i}"] for i in range(len(data.files) - len(fed))]
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder, "profile"))
        try:
            session = other_providers.session_of(Path(model).read_bytes(), provider, STOCK.get(way, way), options)
            given = session.run(None, fed)
        except Exception as error:  # onnxruntime's errors have no common base
            return {"outcome": "refused", "why": " ".join(str(error).split())[:3000]}
        profile = Path(session.end_profiling())
        parts, copies, _ = placement_of(profile)
        events = [event for event in json.loads(profile.read_text()) if event.get("args", {}).get("provider")]
    ran = {
        (event["name"].removesuffix("_kernel_time"), event["args"]["provider"], event["args"]["op_name"])
        for event in events
    }
    away = max((_away(one, other) for one, other in zip(given, expected, strict=True)), default=0.0)
    return {
        "outcome": "right" if away <= TOLERANCE else "wrong",
        "why": "" if provider in session.get_providers() else f"{provider} has been dropped",
        "away": away,
        "parts": parts,
        "copies": copies,
        "nodes": Counter(by for _, by, operator in ran if not operator.startswith("Memcpy")),
        "elsewhere": [node for node, by, operator in ran if by != provider and not operator.startswith("Memcpy")],
    }


# Errors of providers that no Pad causes.
REFUSED_ANYWAY = (
    "doesn't support Parameter operation with dynamic rank",  # OpenVINO: the output of an If or a Loop
    "to_shape was called on a dynamic shape",  # OpenVINO: of a Range
)

TOLERANCE = 1e-2  # of the largest number of an output: providers compute convolutions differently, QNN in float16


def _away(one: Any, other: np.ndarray) -> float:
    """Return the distance of an output from the CPU's, as a fraction of the CPU's largest number."""
    one = np.asarray(one)
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return float("inf")
    if not other.size or np.array_equal(one, other, equal_nan=other.dtype.kind == "f"):
        return 0.0
    if other.dtype.kind != "f":
        return float("inf")
    away = np.abs(one.astype(np.float64) - other)
    return float(np.max(away)) / max(float(np.max(np.abs(other))), 1e-30) if np.isfinite(away).all() else float("inf")


def faults(provider: str, told: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Return, in words, the faults of networks lowered for the provider or run with padops beside it.

    Refusals and crashes that no Pad causes are skipped, and so are timeouts.
    """
    found = []
    for network, ways in told.items():
        lowered, stock = ways["lowered"], ways["stock"]
        if lowered["outcome"] == "wrong" and not _is_as_wrong(lowered, stock):
            found.append(f"{network}, lowered: wrong, {lowered['away']:.3g} away")
        if lowered["outcome"] in ("refused", "dead") and not is_refused_anyway(lowered):
            found.append(f"{network}, lowered: {lowered['outcome']}: {lowered['why']}")
        if lowered.get("written") and not lowered["left"]:
            found.append(f"{network}, lowered: {', '.join(lowered['written'])} ran elsewhere")
        beside = ways["name"]
        if beside["outcome"] == "wrong" and not _is_as_wrong(beside, stock):
            found.append(f"{network}, beside: wrong, {beside['away']:.3g} away")
        if beside["outcome"] in ("refused", "dead") and stock["outcome"] == "right":
            found.append(f"{network}, beside: {beside['outcome']}, and it is right without padops: {beside['why']}")
        found += [
            f"{network}, {way}: {one['why']}" for way, one in ways.items() if "been dropped" in one.get("why", "")
        ]
    return found


def _is_as_wrong(one: dict[str, Any], stock: dict[str, Any]) -> bool:
    """Return whether the provider is as far off without padops, so that no Pad is the reason."""
    return stock["outcome"] == "wrong" and one["away"] <= 2 * stock["away"]


def is_refused_anyway(told: dict[str, Any]) -> bool:
    """Return whether the provider refuses a network in every form of its Pads."""
    return told["outcome"] in ("refused", "dead") and any(text in told["why"] for text in REFUSED_ANYWAY)


def table(told: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return a Markdown table of networks and ways."""
    head = "| network | stock | with padops | lowered for it |\n|---|---|---|---|\n"
    return head + "".join(
        f"| {network} | {' | '.join(_cell(ways[way]) for way in WAYS)} |\n" for network, ways in told.items()
    )


def _cell(told: dict[str, Any]) -> str:
    if "away" not in told:
        return f"**{told['outcome']}**"
    nodes = ", ".join(
        f"{by.replace('ExecutionProvider', '').replace('PadopsFirst', 'Padops')} {count}"
        for by, count in sorted(told["nodes"].items())
    )
    away = "same bits" if told["away"] == 0 else f"{told['away']:.0e}"
    copies = f", {told['copies']} Memcpys" if told["copies"] else ""
    parts = f"{told['parts']} part{'' if told['parts'] == 1 else 's'}"
    return f"{'**wrong** ' if told['outcome'] == 'wrong' else ''}{away}; {nodes}; {parts}{copies}"


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--one"]:
        answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # libraries print
        print(json.dumps(run_one(*arguments[1:])), file=answers, flush=True)
        return 0
    name, *packages = arguments
    told = ask(name, packages or None)
    print(table(told), end="")
    found = faults(providers.provider_of(name), told)
    for fault in found:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
