"""Runs one model in a session with one execution provider, and returns the result.

``outcome.py`` runs this file as a separate process, because a provider may crash. A question is a mapping with
``provider``, ``library`` ("" for a provider that this onnxruntime already has) and ``options``. A question about a
model also has ``model``, ``feeds``, ``expected`` and ``rules``: the file of rules for a session with padops, or None
for a session without padops.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from padops.extras import needing_onnxruntime
from padops.processes import serve
from padops.runtime.chosen import Chosen, available, described, devices_of
from padops.runtime.provider import CPU

with needing_onnxruntime("padops probe"):
    import onnxruntime

LONGEST = 240  # the number of last characters to keep of an onnxruntime error; they have the reason
SILENT = 4  # the lowest severity that onnxruntime's log prints


@dataclass(frozen=True)
class Ran:
    """The result of a model that ran."""

    output: np.ndarray
    providers: list[str]  # the providers of the session
    # The number of nodes that ran, by operator and provider; compiled nodes have their own names.
    nodes: Counter[tuple[str, str]]


def run_model(create: Callable[[onnxruntime.SessionOptions], Any], feeds: Mapping[str, np.ndarray]) -> Ran:
    """Creates a session, and runs its model once."""
    onnxruntime.set_default_logger_severity(SILENT)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = SILENT
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder, "profile"))
        session = create(options)
        output = session.run(None, dict(feeds))[0]
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    rows = [row["args"] for row in events if "provider" in row.get("args", {})]
    return Ran(output, session.get_providers(), Counter((row["op_name"], row["provider"]) for row in rows))


def difference(output: np.ndarray, expected: np.ndarray) -> str:
    """Describes how two arrays differ; "" if they have the same bits, where any NaN equals any NaN."""
    if output.dtype != expected.dtype or output.shape != expected.shape:
        return f"{output.dtype}{list(output.shape)} in the place of {expected.dtype}{list(expected.shape)}"
    same = (output == expected) | ((output != output) & (expected != expected))
    if not same.all():
        return f"{int((~same).sum())} of {expected.size} elements differ"
    signs = output.dtype.kind == "f" and ((np.signbit(output) != np.signbit(expected)) & (output == expected)).any()
    return "the sign of a zero differs" if signs else ""


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a model on a provider; returns ``does`` (``"right"``, or a value as in a rule) and ``why`` (an explanation).

    If the provider leaves the Pad, ``does`` is ``"leaves"``, even if onnxruntime's CPU provider then refuses the Pad.
    ``is_shared`` tells whether the provider ran any node. For a question without a model, the answer describes the
    provider, and lists all providers of onnxruntime.
    """
    provider, library, feeds = question["provider"], question["library"], question.get("feeds", {})
    _register(provider, library)
    if "model" not in question:
        return described(Chosen(provider, {})) | {"providers": sorted(available())}
    created: list[Any] = []

    def create(options: onnxruntime.SessionOptions) -> Any:
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        created.append(_session_of(question, options))
        return created[0]

    try:
        ran = run_model(create, feeds)
    except Exception as error:  # onnxruntime's exceptions have no base of their own
        said = _said(error)
        left = question["rules"] is None and all(map(_leaves_pad, created))
        left = left and said == _said_by_cpu(question["model"], feeds)
        return {"does": "leaves" if left else "refuses", "why": said[-LONGEST:], "is_shared": False}
    if provider not in ran.providers:
        raise RuntimeError(f"onnxruntime has left {provider} out of a session that has {', '.join(ran.providers)}")
    used = {by for _, by in ran.nodes}
    told = {"why": "", "is_shared": provider in used}
    # A provider runs the Pad as a node, or in a group of nodes that it compiled.
    if question["rules"] is None and provider not in ({by for operator, by in ran.nodes if operator == "Pad"} or used):
        return told | {"does": "leaves"}
    why = difference(ran.output, question["expected"])
    return told | {"does": "wrong" if why else "right", "why": why}


@cache
def _register(provider: str, library: str) -> None:
    if library:
        onnxruntime.register_execution_provider_library(provider, library)


def _session_of(question: Mapping[str, Any], options: onnxruntime.SessionOptions) -> Any:
    provider, own = question["provider"], dict(question["options"])
    if question["rules"] is not None:
        import padops

        given = [(provider, own), CPU]
        return padops.InferenceSession(question["model"], options, given, rules=question["rules"])
    if devices := devices_of(Chosen(provider, {})):
        options.add_provider_for_devices(list(devices), own)
    else:
        options.add_provider(provider, own)
    return onnxruntime.InferenceSession(question["model"], options, enable_fallback=0)


def _leaves_pad(session: Any) -> bool:
    """Returns whether onnxruntime has assigned a Pad to the CPU provider.

    An error does not tell which provider refused a Pad: WebGPU's error and the CPU's have the same text.
    """
    parts = session.get_provider_graph_assignment_info()
    return any(part.ep_name == CPU and node.op_type == "Pad" for part in parts for node in part.get_nodes())


def _said_by_cpu(model: bytes, feeds: Mapping[str, np.ndarray]) -> str:
    """Returns onnxruntime's error for a model on the CPU provider alone; "" if the model runs."""
    try:
        run_model(lambda options: onnxruntime.InferenceSession(model, options, [CPU]), feeds)
    except Exception as error:  # onnxruntime's exceptions have no base of their own
        return _said(error)
    return ""


def _said(error: Exception) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    serve(answer)
