"""Prints which provider runs which nodes, for each order of padops and OpenVINO's own provider, in its own process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))

import numpy as np
from provider_sessions import CPU, EP_NAME, model, recording_options

import padops

OPENVINO = "OpenVINOExecutionProvider"
# OpenVINO's provider leaves graphs of fewer nodes to the processor.
MODEL = model(
    "g (float[1, 1, 4, 4] x, int16[4] s) => (float[a, b, c, d] y, int16[k] t)"
    " <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, int64[2] q = {1, 1}, float[1, 1, 3, 3] w = {0, 0, 0, 0, 1, 0, 0, 0, 0}> {"
    ' z = Pad <mode = "reflect"> (x, p) v = Conv (z, w) y = Relu (v) t = Pad <mode = "reflect"> (s, q) }'
)


def main() -> None:
    rows = []
    for providers in (None, [OPENVINO, CPU], [EP_NAME, OPENVINO, CPU]):
        session = padops.InferenceSession(MODEL.SerializeToString(), recording_options(), providers)
        parts = session.get_provider_graph_assignment_info()
        runs = sorted((part.ep_name, node.op_type) for part in parts for node in part.get_nodes())
        data = {"x": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4), "s": np.arange(4, dtype=np.int16)}
        rows.append({"runs": runs, "outputs": [output.ravel().tolist() for output in session.run(None, data)]})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
