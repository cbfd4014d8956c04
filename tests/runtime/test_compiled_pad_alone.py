"""A Pad compiled before a provider with threads of its own never starts the runtime's, which would disturb them."""

from __future__ import annotations

import os
import time

import numpy as np
import onnxruntime
import pytest
from provider_sessions import CPU, pad, recording_options

from padops.runtime.placing import register_provider_library
from padops.runtime.provider import FIRST_NAME

LENGTH = 1 << 20  # of floats: as much as is surely shared
RUNS = 100
SETTLED = 0.3  # seconds after which threads that have been started wait without a processor


def others_share(before: str) -> float:
    """The time of the processors that other threads than this one take for runs of a Pad, as a part of all of it."""
    options = recording_options()
    options.intra_op_num_threads = 2
    devices = register_provider_library()
    options.add_provider_for_devices([devices[FIRST_NAME]], {"before": before})
    options.add_provider_for_devices([devices[CPU]], {})
    # Pads that both kinds of providers get wrong or refuse.
    content = pad([LENGTH, LENGTH + 1], "wrap", 19, f"float[{LENGTH}]")
    session = onnxruntime.InferenceSession(content.SerializeToString(), options, enable_fallback=0)
    data = {"x": np.ones(LENGTH, np.float32)}
    session.run(None, data)
    time.sleep(SETTLED)
    all_before, own_before = time.process_time(), time.thread_time()
    for _ in range(RUNS):
        session.run(None, data)
    taken, own = time.process_time() - all_before, time.thread_time() - own_before
    return (taken - own) / taken


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor, and so no other threads")
def test_a_compiled_pad_works_alone() -> None:
    tries = 5  # of a busy machine, where the others may come too late
    assert any(others_share("WebGpuExecutionProvider") > 0.2 for _ in range(tries)), "where it is a kernel, they share"
    assert others_share("OpenVINOExecutionProvider") < 0.05
