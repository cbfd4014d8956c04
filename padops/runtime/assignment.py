"""The execution provider that the installed onnxruntime gives each Pad of a model to."""

from __future__ import annotations

import os
from collections.abc import Sequence

from padops.extras import NeedingOnnxruntime

with NeedingOnnxruntime("asking onnxruntime who runs each Pad"):
    import onnxruntime

    from padops.runtime.inference_session import InferenceSession

FIRST_MINOR_THAT_TELLS = 24  # the first onnxruntime 1.x that tells the provider of each node


def who_runs(model: str | os.PathLike[str], providers: Sequence[str]) -> dict[str, str]:
    """The provider of each Pad by the node's name, in a session that is created with these providers and padops.

    onnxruntime does not list the nodes of some providers, such as WebGPU's: the result lacks their Pads. It also lacks
    Pads that an optimizer has removed.

    Args:
        providers: Names, first choice first; by default the CPU's.

    Raises:
        Exception: onnxruntime creates no such session.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = InferenceSession(os.fspath(model), options, list(providers) or ["CPUExecutionProvider"])
    return {
        node.name: part.ep_name
        for part in session.get_provider_graph_assignment_info()
        for node in part.get_nodes()
        if node.op_type == "Pad"
    }
