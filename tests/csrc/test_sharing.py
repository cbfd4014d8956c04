"""Outputs between the sizes that one thread and several surely do better: sessions try both ways, and stay with one."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import native
import numpy as np
import onnxruntime
import pytest
from onnx import helper
from small_models import FLOAT, model, tensor

from padops.spec import reference

TRIAL = 0.4  # seconds: of these the kernel itself has more than the 20 ms that shared runs are tried for


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [400, 512])  # outputs of 136 and 174 KB
def test_both_ways_give_the_same_bits(width: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((4, 20, width)).astype(np.float32)
    pads = np.array([0, 1, 3, 0, 0, 2])
    expected = reference.run("Pad_25", {"mode": "reflect"}, [data, pads]).view(np.int32)
    session = _session(data, pads, threads)
    begin, runs = time.perf_counter(), 0
    while time.perf_counter() - begin < TRIAL or runs < 50:
        (output,) = session.run(None, {"data": data})
        assert np.array_equal(output.view(np.int32), expected), runs
        runs += 1


def _session(data: np.ndarray, pads: np.ndarray, threads: int) -> onnxruntime.InferenceSession:
    node = helper.make_node("Pad_25", ["data", "pads"], ["output"], domain="padops", mode="reflect")
    parts = {"inputs": [("data", FLOAT, data.shape)], "outputs": [("output", FLOAT, None)]}
    made = model([node], 18, ir_version=9, imports=[("padops", 1)], tensors=[tensor("pads", pads)], **parts)
    options = native.session_options()
    options.intra_op_num_threads = threads
    return native.session(made, options)


@pytest.mark.skipif(sys.platform != "linux", reason="open files are read from /proc")
def test_what_the_system_says_of_its_caches_is_read_and_closed() -> None:
    """The library asks once, before its first run."""
    native.run("Pad_18", {}, [np.zeros(3, np.float32), np.array([1, 1])])
    opened = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    assert opened and not [name for name in opened if name.startswith("/sys/")]
