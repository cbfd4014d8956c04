"""The process that runs a session with other execution providers for ``providers.py``.

The first question has a model file, the providers and the libraries to register; its answer has the session's providers
and the Pads of each. Further questions have arrays by input name; their answers have the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime

from padops.processes import serve
from padops.runtime.inference_session import InferenceSession
from padops.runtime.ort_values import run_session
from padops.spec.dialects import DOMAIN


def _answering() -> Callable[[Any], Any]:
    """The function that answers: the first question creates the session, each further one runs it."""
    sessions: list[Any] = []

    def answer(question: Any) -> Any:
        if sessions:
            return _run(sessions[0], question)
        session, seat = _open(*question)
        sessions.append(session)
        return seat

    return answer


def _open(path: str, providers: Sequence[Any], libraries: Mapping[str, str]) -> tuple[Any, tuple[Any, ...]]:
    """The session; its providers, first choice first, and the provider of each Pad that onnxruntime lists, by node."""
    for name, library in libraries.items():
        onnxruntime.register_execution_provider_library(name, library)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised and reported, not logged
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = InferenceSession(path, options, providers)
    parts = (
        session.get_provider_graph_assignment_info() if hasattr(session, "get_provider_graph_assignment_info") else []
    )
    nodes = [(node, part.ep_name) for part in parts for node in part.get_nodes()]
    runners = {node.name: name for node, name in nodes if node.op_type == "Pad" or node.domain == DOMAIN}
    return session, (tuple(session.get_providers()), runners)


def _run(session: Any, feeds: Mapping[str, np.ndarray]) -> dict[str, Any]:
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, run_session(session, feeds, names), strict=True))


if __name__ == "__main__":
    serve(_answering())
