"""Time networks on execution providers: stock, with padops beside them, lowered for them, and on the processor.

    python3 scripts/bench_providers.py [NAME ...] [--quick] [--only TEXT] [--model FILE] [--json FILE]

NAME is a name of scripts/providers.py, whose environment the first call makes, or a provider of this Python, such as
CUDAExecutionProvider. The default is OpenVINO (ort-openvino) and WebGPU (ort-webgpu, with --quick: its Vulkan is
software). {} in FILE.json stands for the name. QNN's processor is emulated, so its times mean nothing.

All ways take turns in one process, with onnxruntime's default options. The script first compares their outputs with the
processor's; a way that is refused or wrong has no time. Exit codes: 0 done, 1 padops returns a wrong output.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the tests call this as a module
import environment
import help_first  # noqa: F401

TIMED = ("ort-openvino", "ort-webgpu")
CPU, WEBGPU = "CPUExecutionProvider", "WebGpuExecutionProvider"
ON_PROCESSOR = (CPU, "PadopsExecutionProvider", "PadopsFirstExecutionProvider", "PadopsOperatorsExecutionProvider")
PROCESSOR, AGAIN = "processor", "processor, again"  # timed twice: the ratio's distance from 1 is the noise
STOCK, BESIDE, LOWERED, TWIN = "stock", "padops beside it", "lowered for it", "constant Pads"
COLUMNS = ("parts", "Memcpys", "nodes elsewhere", "time", "±", "× processor")
TOLERANCE = 1e-2  # of an output's largest number: above a provider's float16 error, below a wrong Pad's
SECONDS, QUICK_SECONDS = 8.0, 2.0  # for one network
_COMPILED = re.compile(r"_\d+$")  # the end of the name of a node that a provider compiled from several

Make = Callable[[Any], Any]  # makes a session from options
Row = dict[str, Any]


def placement_of(profile: Path) -> tuple[int, int, int]:
    """Returns ``placement_among`` of the nodes in onnxruntime's profile. A node that ran several times counts once."""
    nodes = {
        (event["name"], event["args"].get("node_index")): (event["args"]["op_name"], event["args"]["provider"])
        for event in json.loads(profile.read_text(encoding="utf-8"))
        if event.get("args", {}).get("provider")
    }
    return placement_among(nodes.values())


def placement_among(nodes: Iterable[tuple[str, str]]) -> tuple[int, int, int]:
    """Counts the parts, the Memcpys, and the processor's nodes in a run, a sequence of (operator, provider).

    A part is a node that a provider compiled from several nodes. For providers that run node by node, a part is a
    stretch of the run without another provider's node. A Memcpy belongs to no part.
    """
    ran = list(nodes)
    computing = [row for row in ran if not row[0].startswith("Memcpy")]
    parts = 0
    for provider, stretch in groupby(computing, key=lambda row: row[1]):
        if provider not in ON_PROCESSOR:
            compiled = [bool(_COMPILED.search(operator)) for operator, _ in stretch]
            parts += sum(compiled) + sum(not is_compiled for is_compiled, _ in groupby(compiled))
    return parts, len(ran) - len(computing), sum(provider in ON_PROCESSOR for _, provider in computing)


def sessions(model: Any, provider: str) -> dict[str, Make]:
    """Returns the functions that make a session of a model (bytes or file), by way."""
    from isolated.other_providers import session_of

    import padops

    def lowered(options: Any) -> Any:
        lowered = padops.lower(model, provider=None if provider == CPU else provider)
        return session_of(lowered.proto().SerializeToString(), provider, "stock", options)

    on_processor = lambda options: padops.InferenceSession(model, options, [CPU])
    return {
        PROCESSOR: on_processor,
        AGAIN: on_processor,
        STOCK: partial(session_of, model, provider, "stock"),
        BESIDE: on_processor if provider == CPU else partial(session_of, model, provider, "name"),
        LOWERED: lowered,
    }


def measured(name: str, made: Mapping[str, Make], feeds: Mapping[str, Any], seconds: float) -> list[Row]:
    """Times, in turns, all sessions whose outputs equal the processor's; for other sessions, returns the failure.

    Raises:
        RuntimeError: The outputs with padops, or of a lowered model, differ from the processor's.
    """
    import onnxruntime

    from padops.bench.timing import time_calls

    calls, rows, expected = {}, {}, []
    for by, make in made.items():
        rows[by] = {"network": name, "by": by, "failure": "", "median": 0.0}
        try:
            placement, given = _look_at(make, feeds)
        except Exception as error:  # onnxruntime's errors have no common base
            if by in (PROCESSOR, AGAIN):
                raise
            rows[by]["failure"] = f"refused: {' '.join(str(error).split())}"
            continue
        expected = expected or given
        why = "" if by == TWIN else difference(given, expected)
        if why and by != STOCK:
            raise RuntimeError(f"{name}: {by} does not return what the processor returns: {why}")
        if why:
            rows[by]["failure"] = f"wrong: {why}"
        else:
            rows[by] |= dict(zip(("parts", "copies", "elsewhere"), placement))
            calls[by] = partial(make(onnxruntime.SessionOptions()).run, None, feeds)
    for taken in time_calls(name, sum(output.nbytes for output in expected), 1, calls, seconds):
        rows[taken.implementation] |= {"median": taken.median, "spread": taken.spread}
    return list(rows.values())


def _look_at(make: Make, feeds: Mapping[str, Any]) -> tuple[tuple[int, int, int], list[Any]]:
    """Returns the placement of a session's nodes, and its outputs. Times come from other runs, without a profile."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder, "profile"))
        session = make(options)
        given = [np.asarray(output) for output in session.run(None, feeds)]
        return placement_of(Path(session.end_profiling())), given


def difference(given: Sequence[Any], expected: Sequence[Any]) -> str:
    """Describes how far outputs are from the processor's, if beyond the tolerance; else ""."""
    import numpy as np

    for at, (one, other) in enumerate(zip(given, expected, strict=True)):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"output {at} is {one.dtype}{list(one.shape)}, expected {other.dtype}{list(other.shape)}"
        most = TOLERANCE * float(np.max(np.abs(other), initial=0)) if other.dtype.kind in "fc" else 0
        if not np.allclose(one, other, rtol=0, atol=most, equal_nan=other.dtype.kind in "fc"):
            return f"output {at} is more than {most:.3g} away"
    return ""


def table(rows: Sequence[Row]) -> str:
    """Returns the rows as a Markdown table."""
    lines = ["| network | by | " + " | ".join(COLUMNS) + " |", "|---|---" + "|--:" * len(COLUMNS) + "|"]
    base = {row["network"]: row["median"] for row in rows if row["by"] == PROCESSOR}
    for row in rows:
        cells = ["", "", "", row["failure"].partition(":")[0], "", ""]
        if not row["failure"]:
            times = [f"{row[name] * 1e3:.2f} ms" for name in ("median", "spread")]
            counts = [str(row[name]) for name in ("parts", "copies", "elsewhere")]
            cells = [*counts, *times, f"{row['median'] / base[row['network']]:.2f}"]
        lines.append(f"| {row['network']} | {row['by']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def measure_here(provider: str, options: argparse.Namespace) -> list[Row]:
    """Returns the rows of the networks, or of the models in ``--model``, on a provider of this Python."""
    import numpy as np
    import onnxruntime
    from isolated.other_providers import prepare
    from networks import NETWORKS, SMALL

    import padops
    from padops.bench.timing import feeds_for

    prepare(provider)
    onnxruntime.set_default_logger_severity(4)  # refusals are exceptions
    seconds, rows = QUICK_SECONDS if options.quick else SECONDS, []
    for path in options.model:
        feeds = feeds_for(Path(path), padops.InferenceSession(path, None, [CPU]))
        rows += measured(path, sessions(path, provider), feeds, seconds)
    for name, (made, twin, shape) in () if options.model else (SMALL if options.quick else NETWORKS).items():
        if not options.only or any(text in name for text in options.only):
            model = made()
            ways = sessions(model, provider) | {TWIN: sessions(twin(), provider)[STOCK]}
            feeds = {"x": np.random.default_rng(1).standard_normal(shape).astype(np.float32)}
            rows += measured(name, ways, feeds, seconds)
    return rows


def command(name: str, options: list[str]) -> list[str]:
    """Returns the command that measures in one environment; creates the environment if it is missing."""
    import providers

    provider = providers.provider_of(name)
    quick = ["--quick"] if provider == WEBGPU and "--quick" not in options else []
    told = [option.replace("{}", name) for option in options]
    return [providers.python_of(name), str(Path(__file__).resolve()), "--here", provider, *quick, *told]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--here", metavar="PROVIDER")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json")
    for option in ("--only", "--model"):
        parser.add_argument(option, action="append", default=[])
    options = parser.parse_args(arguments)
    if options.here:
        rows = measure_here(options.here, options)
        print(table(rows), end="", flush=True)
        for row in rows:
            if row["failure"]:
                print(f"{row['network']}, {row['by']}: {row['failure']}", file=sys.stderr)
        if options.json:
            Path(options.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")
        return 0
    import providers

    rest = [argument for argument in arguments if argument not in options.names]
    return max(
        subprocess.run(command(name, rest), env=providers.variables(), cwd=environment.ROOT).returncode
        for name in options.names or TIMED
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
