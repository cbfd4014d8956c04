"""A session of a model with gigabytes of external data, converted in memory: the data stay in their file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, parser

from padops.runtime.provider import runtime_minor
from padops.session import FIRST_MINOR_OF_DATA_FOLDER

ROWS, COLUMNS = 640_000, 1_000  # of float: 2.56 GB
MOST = 400  # MB that the process may ever hold, of which Python, NumPy, onnx and onnxruntime take most
SESSION = """
import json, resource, sys
import numpy as np, padops
session = padops.InferenceSession(sys.argv[1])
(row,) = session.run(None, {"i": np.array([int(sys.argv[2])])})
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
statuses = [record.status for record in session.padops_records]
print(json.dumps({"row": row.tolist(), "statuses": statuses, "MB": peak // 1024}))
"""


@pytest.mark.skipif(runtime_minor() < FIRST_MINOR_OF_DATA_FOLDER, reason="it takes no folder of external data")
def test_gigabytes_stay_in_their_file(tally, tmp_path: Path) -> None:
    source = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (int64[1] i) => (float[1, m] y) '
        "<int64[2] p = {1, 2}, int32[1] a = {1}> "
        "{ r = Gather (w, i)  y = Pad (r, p, , a) }"
    )
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS])
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="w.bin")
    source.graph.initializer.append(weights)
    onnx.save(source, tmp_path / "m.onnx")
    last = np.arange(1, COLUMNS + 1, dtype=np.float32)
    with (tmp_path / "w.bin").open("wb") as file:  # with a hole in it, which takes no room on the disk
        file.truncate(4 * ROWS * COLUMNS)
        file.seek(4 * (ROWS - 1) * COLUMNS)
        file.write(last.tobytes())
    command = [sys.executable, "-c", SESSION, tmp_path / "m.onnx", str(ROWS - 1)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    print(f"{told['MB']} MB at most")
    assert told["row"] == [[0, *last.tolist(), 0, 0]]
    assert told["statuses"] == ["converted"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "w.bin"]
    tally("sessions that convert a model with 2.5 GB of external data, in 400 MB of memory", 1, int(told["MB"] > MOST))
