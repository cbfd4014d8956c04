"""Every known divergence of a real Pad from the rules of docs/semantics.md, a file for each implementation.

Of several that match, the first one that the outcome fits counts. ``divergences.py`` says what the fields mean.
"""

from __future__ import annotations

import json
from pathlib import Path

from padops.conformance.divergences import Divergence
from padops.conformance.known import (
    dask_pads,
    engines,
    frameworks,
    lowered_for,
    numpy_pads,
    onnxruntime,
    openvino,
    other_providers,
    provider,
    standard,
    web_webgpu,
    without_pad,
)

# A case that shows each known divergence: it is part of every run, so that one that has gone is noticed.
EXAMPLES: dict[str, str] = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))

KNOWN: tuple[Divergence, ...] = (
    *standard.KNOWN,
    *without_pad.KNOWN,
    *onnxruntime.KNOWN,
    *provider.KNOWN,
    *numpy_pads.KNOWN,
    *openvino.KNOWN,
    *frameworks.KNOWN,
    *engines.KNOWN,
    *dask_pads.KNOWN,
    *other_providers.KNOWN,
    *lowered_for.KNOWN,
    *web_webgpu.KNOWN,
)
