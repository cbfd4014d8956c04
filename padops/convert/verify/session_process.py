"""The process that runs a session with other execution providers for ``providers.py``.

Requests and answers are pickled. The first request has a model file, the providers and the libraries to register; its
answer has the session's providers and the Pads of each. Further requests have arrays by input name; their answers have
the outputs. Each answer also has an error text, or "".
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
import onnxruntime

from padops.processes import own_pipes
from padops.runtime.inference_session import InferenceSession
from padops.runtime.ort_values import run_session
from padops.spec.dialects import DOMAIN


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Creates a session for the first request, and runs it for each further one."""
    session: Any = None
    while True:
        try:
            question = pickle.load(requests)
        except EOFError:
            return
        answer: Any = None
        refusal = ""
        try:
            if session is None:
                session, answer = _open(*question)
            else:
                answer = _run(session, question)
        except Exception as error:  # whatever onnxruntime or a provider raises
            refusal = " ".join(str(error).split())
        pickle.dump((answer, refusal), answers)
        answers.flush()


def _open(path: str, providers: Sequence[Any], libraries: Mapping[str, str]) -> tuple[Any, tuple[Any, ...]]:
    """The session, and the fields of its ``providers.Seat``."""
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
    _serve(*own_pipes())
