"""onnxruntime-web in Node.js: ONNX Runtime as WebAssembly.

The program beside this file is the example of docs/conformance.md.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from padops.conformance.lines import tensor
from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, Unsupported

ENVIRONMENT = {
    "name": "onnxruntime-web",
    "families": ("onnx",),
    "node": {"onnxruntime-web": "1.30.0"},
    "program": "onnxruntime_web.mjs",
    "without_pad": {"name": "without-pad-web", "max_cases": 400, "lowered": True},
}

PACKAGES = ("onnxruntime-web",)


def script(file: Path, request: Request, expected: np.ndarray | None, head: Sequence[str]) -> str:
    """Returns a module of Node.js that runs the case on a peer: ``…_repro.mjs`` beside the peer's file, with its words
    in capitals replaced.

    Raises:
        Unsupported: ONNX has no such operator, or JavaScript no such type.
    """
    model = make_model(request, standard=True).SerializeToString()
    given = {name: tensor(array) for name, array in feeds(request).items()}
    source = file.with_name(f"{file.stem}_repro.mjs").read_text(encoding="utf-8")
    if any(f" {said['dtype']}: [" not in source for said in given.values()):
        raise Unsupported(f"JavaScript has no array of {request.dtype.name}")
    texts = {
        "HEAD": "\n// ".join(head).replace("// \n", "//\n"),
        "MODEL": base64.b64encode(model).decode(),
        "FEEDS": json.dumps(given),
        "EXPECTED": json.dumps(None if expected is None else tensor(expected)),
    }
    return re.sub(r"\b(?:HEAD|MODEL|FEEDS|EXPECTED)\b", lambda found: texts[found[0]], source)
