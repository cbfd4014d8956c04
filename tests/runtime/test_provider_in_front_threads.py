"""Sessions with both of padops' providers that many threads create at once; the sanitizers see them, too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime
from provider_sessions import CPU, EP_NAME, pad, providers_of_pads, recording_options

from padops.runtime.placing import register_provider_library
from padops.runtime.provider import FIRST_NAME

OPENVINO, WEBGPU = "OpenVINOExecutionProvider", "WebGpuExecutionProvider"


def test_sessions_of_both_that_many_threads_create() -> None:
    """Each with providers, kernels and compiled Pads of its own."""
    content, data = pad([1, 5], "wrap", 19, "float[4]"), np.arange(4, dtype=np.float32)
    devices = register_provider_library()

    def create(before: str) -> None:
        for _ in range(5):
            options = recording_options()
            for name, given in ((FIRST_NAME, {"before": before}), (EP_NAME, {}), (CPU, {})):
                options.add_provider_for_devices([devices[name]], given)
            built = onnxruntime.InferenceSession(content.SerializeToString(), options, enable_fallback=0)
            assert providers_of_pads(built) == [FIRST_NAME if before else EP_NAME]
            assert built.run(None, {"x": data})[0].tolist() == np.pad(data, (1, 5), "wrap").tolist()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(create, [OPENVINO, WEBGPU, ""] * 2))
