"""Sessions with a provider of a library that is none of padops', in a process of their own: it is never unregistered.

    python stand_in_sessions.py STAND_IN NAME WAY

registers the library STAND_IN under NAME, makes a session of Relu, Pad, Relu in one way for each of a few Pads, and
prints who ran what as a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
from provider_sessions import CPU, model, recording_options

import padops

PADS = {"edge": '<int64[4] p = {0, 1, 0, 2}> { a = Relu (x) [pad] b = Pad <mode = "edge"> (a, p) y = Relu (b) }',
        "to nothing": "<int64[4] p = {0, -4, 0, 0}> { a = Relu (x) [pad] b = Pad (a, p) y = Relu (b) }",
        "constant": "<int64[4] p = {0, 1, 0, 2}> { a = Relu (x) [pad] b = Pad (a, p) y = Relu (b) }",
        "no Pad": "{ a = Relu (x) y = Relu (a) }"}  # fmt: skip
GIVING = ("name", "device", "registered", "options", "untold options")  # ways that give the provider an option
DATA = np.arange(1, 9, dtype=np.float32).reshape(2, 4)


@cache
def stand_in() -> Path:
    """The library, built."""
    from cpp_builds import CHECKS, ROOT, build  # where the tests run, not this program

    folder = build(ROOT / "build" / "stand-in", "-DCMAKE_BUILD_TYPE=None", source=CHECKS, target="stand_in_provider")
    return next(folder.glob("*stand_in_provider.so"))


def in_a_process(name: str, way: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, __file__, str(stand_in()), name, way]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **variables})
    assert ran.returncode == 0, ran.stderr[-3_000:]
    return ran


def session_of(content: bytes, name: str, way: str) -> onnxruntime.InferenceSession:
    """A session with the provider before the CPU's, in one of the ways that callers have."""
    options = recording_options()
    options.add_session_config_entry("tests.entry", "kept")
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == name]
    if way in ("name", "device"):
        return padops.InferenceSession(content, options, [(name if way == "name" else devices[0], {"one": "1"}), CPU])
    if way == "registered":
        padops.register(options, provider=True, providers=[(devices, {"one": "1"})])
        return onnxruntime.InferenceSession(content, options)
    if way == "twice":  # the same options serve again
        padops.InferenceSession(content, options, [name, CPU])
        return padops.InferenceSession(content, options, [name, CPU])
    if way == "set_providers":
        session = padops.InferenceSession(content)
        session.set_providers([name, CPU])
        return session
    if way.startswith("rules "):
        return padops.InferenceSession(content, options, [name, CPU], rules=way.removeprefix("rules "))
    if way == "never":
        ours = ("PadopsExecutionProvider", {"in_front": "never"})
        return padops.InferenceSession(content, options, [name, ours, CPU])
    if way == "policy":
        options.set_provider_selection_policy_delegate(lambda found, *_: [row for row in found if row.ep_name == name])
    else:
        if way == "untold options":  # as onnxruntime 1.25 does
            told = lambda session: dict.fromkeys(session.get_providers(), {})
            onnxruntime.InferenceSession.get_provider_options = told
        options.add_provider_for_devices(devices, {"one": "1"})
    return padops.InferenceSession(content, options)


def tried(text: str, name: str, way: str) -> dict[str, object]:
    content = model(f"g (float[2, 4] x) => (float[a, b] y) {text}").SerializeToString()
    try:
        session = session_of(content, name, way)
        found = {"output": session.run(None, {"x": DATA})[0].tolist(), "providers": session.get_providers()}
    except Exception as error:
        return {"error": str(error)}
    if way != "set_providers":
        parts, options = session.get_provider_graph_assignment_info(), session.get_session_options()
        found["ran"] = sorted(f"{node.op_type} {part.ep_name}" for part in parts for node in part.get_nodes())
        found["entry"] = options.get_session_config_entry("tests.entry")
        found["one"] = options.get_session_config_entry(f"ep.{name.lower()}.one") if way in GIVING else ""
    return found | {"rules": getattr(session, "padops_rules", {})}


def main(library: str, name: str, way: str) -> None:
    onnxruntime.register_execution_provider_library(name, library)
    warnings.simplefilter("error")
    print(json.dumps({pad: tried(text, name, way) for pad, text in PADS.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
