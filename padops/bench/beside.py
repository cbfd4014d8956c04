"""Times networks on other execution providers: stock, with padops beside them, lowered for them; and on the CPU."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.bench.models import feeds_for, short_name
from padops.bench.networks import ALL
from padops.bench.runner import Measurement, OutputsDiffer, Placed, measure
from padops.bench.session_tables import PROCESSOR
from padops.runtime.provider import CPU, EP_NAMES
from padops.terminal import shown

if TYPE_CHECKING:
    from padops.convert.model.reading import Source

ON_PROCESSOR = (CPU, *EP_NAMES)
_COPY = "Memcpy"  # its operators are MemcpyFromHost and MemcpyToHost
_COMPILED = re.compile(r"_\d+$")  # the end of the name of a node that a provider compiled from several
AGAIN = "processor, again"  # a second run of the baseline: its ratio's distance from 1 is the noise
STOCK, BESIDE, LOWERED = "stock", "padops beside it", "lowered for it"
TWIN = "constant Pads"  # stock, and another network
TOLERANCE = 1e-2  # of an output's largest number: above the error of float16 in a provider, below that of a wrong Pad

Model = bytes | str  # serialized, or its file
Make = Callable[[Any], Any]  # makes a session from options; timed sessions are made from None, as most users do


@dataclass(frozen=True)
class NodePlacement:
    """The providers that ran the nodes of a network."""

    # Nodes that a provider compiled from several nodes; for providers that run node by node, such as WebGPU's, the
    # stretches of the run without another provider's node.
    parts: int
    copies: int  # Memcpys between a device and the CPU
    elsewhere: int  # nodes that the CPU's provider and padops' providers ran


def placement_of(profile: Path) -> NodePlacement:
    """The placement in a profile of onnxruntime. A node that ran several times counts once."""
    events = json.loads(profile.read_text(encoding="utf-8"))
    nodes = {
        (event["name"], event["args"].get("node_index")): (event["args"]["op_name"], event["args"]["provider"])
        for event in events
        if event.get("args", {}).get("provider")
    }
    return placement_among(nodes.values())


def placement_among(nodes: Iterable[tuple[str, str]]) -> NodePlacement:
    """The placement of nodes, each an operator and its provider, in the order of the run."""
    ran = list(nodes)
    computing = [row for row in ran if not row[0].startswith(_COPY)]  # a Memcpy belongs to no part
    elsewhere = sum(provider in ON_PROCESSOR for _, provider in computing)
    parts = 0
    for provider, stretch in groupby(computing, key=lambda row: row[1]):
        if provider in ON_PROCESSOR:
            continue
        compiled = [bool(_COMPILED.search(operator)) for operator, _ in stretch]
        parts += sum(compiled) + sum(not is_compiled for is_compiled, _ in groupby(compiled))
    return NodePlacement(parts, len(ran) - len(computing), elsewhere)


def measure_network(providers: Sequence[str], name: str, threads: int, seconds: float) -> list[Placed]:
    """Times a network of ``networks.ALL``; see ``measure_model``.

    Raises:
        OutputsDiffer: With padops, or lowered, the outputs are not those of the CPU.
        padops.PadopsError: onnxruntime lacks one of the providers.
    """
    network = ALL[name]
    _prepare(providers)
    model = network.made()
    made = _sessions(model, model, providers) | {TWIN: partial(_stock, network.twin(), providers)}
    return _measured(name, made, network.feeds(), threads, seconds)


def measure_model(providers: Sequence[str], path: Path, threads: int, seconds: float) -> list[Placed]:
    """Times a model: stock, with padops beside the providers, lowered for the first of them, and on the CPU.

    Providers choose how many threads they use: ``threads`` is for the record only. ``seconds`` are for the whole model.

    Raises:
        OutputsDiffer: With padops, or lowered, the outputs are not those of the CPU.
        padops.PadopsError: The model cannot be read or fed, or onnxruntime lacks one of the providers.
    """
    _prepare(providers)
    feeds = feeds_for(path, _beside(str(path), (CPU,), None))
    return _measured(short_name(path), _sessions(str(path), path, providers), feeds, threads, seconds)


def _prepare(providers: Sequence[str]) -> None:
    """Raises a ``padops.PadopsError`` if this onnxruntime lacks a provider: it would silently continue without it."""
    import onnxruntime

    from padops.convert import PadopsError
    from padops.runtime.chosen import AZURE, available

    onnxruntime.set_default_logger_severity(4)  # refusals are exceptions
    there = [*sorted(available() - {*ON_PROCESSOR, AZURE}), CPU]
    if missing := [name for name in providers if name not in (*there, *ON_PROCESSOR)]:
        raise PadopsError(f"onnxruntime {onnxruntime.__version__} has no {missing[0]}; there are {', '.join(there)}")


def _sessions(model: Model, source: Source, providers: Sequence[str]) -> dict[str, Make]:
    return {
        PROCESSOR: partial(_beside, model, (CPU,)),
        AGAIN: partial(_beside, model, (CPU,)),
        STOCK: partial(_stock, model, providers),
        BESIDE: partial(_beside, model, providers),
        LOWERED: partial(_lowered, source, providers),
    }


def _stock(model: Model, providers: Sequence[str], options: Any) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(model, options, list(providers), enable_fallback=0)


def _beside(model: Model, providers: Sequence[str], options: Any) -> Any:
    from padops import InferenceSession

    return InferenceSession(model, options, list(providers))


def _lowered(source: Source, providers: Sequence[str], options: Any) -> Any:
    """A stock session of the model, lowered for the first provider that is not the CPU's."""
    import padops

    device = next((name for name in providers if name not in ON_PROCESSOR), None)
    # A model of 2 GB or more has its data in a file beside it, which the session may keep open.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder, "lowered.onnx")
        padops.lower(source, path, provider=device)
        return _stock(str(path), providers, options)


def _measured(
    name: str, made: Mapping[str, Make], feeds: Mapping[str, np.ndarray], threads: int, seconds: float
) -> list[Placed]:
    """Times, in turns, all sessions whose outputs are those of the CPU; for the others, the failure."""
    calls, placements, failures = {}, {}, {}
    expected: list[np.ndarray] = []
    for by, make in made.items():
        try:
            placements[by], given = _look_at(make, feeds)
        except Exception as error:  # onnxruntime's errors have no common base
            why = shown(" ".join(str(error).split()))
            if by in (PROCESSOR, AGAIN) or isinstance(error, TypeError):
                raise RuntimeError(f"the model {name} does not run with {by}: {why}") from error
            failures[by] = f"refused: {why}"
            continue
        expected = expected or given
        why = "" if by == TWIN else _difference(given, expected)
        if why and by != STOCK:
            raise OutputsDiffer(f"{name}: {by} does not give what the processor gives: {why}")
        if why:
            failures[by] = f"wrong: {why}"
        else:
            calls[by] = partial(make(None).run, None, feeds)
    taken = measure(name, sum(output.nbytes for output in expected), threads, calls, seconds)
    times = {one.implementation: one for one in taken}
    nothing = Measurement(name, "", threads, 0, 0.0, 0.0, 0)
    return [
        Placed(
            **{**vars(times.get(by, nothing)), "implementation": by},
            **vars(placements[by] if by in times else NodePlacement(0, 0, 0)),
            failure=failures.get(by, ""),
        )
        for by in made
    ]


def _look_at(make: Make, feeds: Mapping[str, np.ndarray]) -> tuple[NodePlacement, list[np.ndarray]]:
    """The placement of a session's nodes, and its outputs; not its times, which profiling would distort."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder, "profile"))
        session = make(options)
        given = [np.asarray(output) for output in session.run(None, feeds)]
        return placement_of(Path(session.end_profiling())), given


def _difference(given: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> str:
    """How far outputs are from the CPU's, if beyond the tolerance; else ""."""
    for at, (one, other) in enumerate(zip(given, expected, strict=True)):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"output {at} is {one.dtype}{list(one.shape)}, expected {other.dtype}{list(other.shape)}"
        if other.dtype.kind not in "fc":
            if not np.array_equal(one, other):
                return f"output {at} has other values"
            continue
        bound = TOLERANCE * float(np.max(np.abs(other), initial=0))
        if not np.allclose(one, other, rtol=0, atol=bound, equal_nan=True):
            return f"output {at} is up to {np.nanmax(np.abs(one - other)):.3g} away, of {bound / TOLERANCE:.3g}"
    return ""
