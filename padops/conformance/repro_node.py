"""The script of a peer in JavaScript: a file beside its program, with words in capitals for what differs."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path

from padops.conformance.case import Expected
from padops.conformance.lines import tensor
from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request
from padops.conformance.peers.row import PeerRow
from padops.conformance.repro_calls import NoScript


def template_of(row: PeerRow) -> Path | None:
    """The file of a peer's scripts; None where it has none, as one in Python, or one that runs lowered models."""
    if not row.command or row.lowered:
        return None
    program = Path(row.command[1])
    return program.with_name(f"{program.stem}_repro.mjs")


def node_script(template: Path, request: Request, expected: Expected, head: Sequence[str]) -> str:
    """A module of Node.js that asks the peer the case; ``head`` are lines about it.

    Raises:
        NoScript: ONNX has no such operator, or JavaScript no such type.
    """
    if not request.opset:
        raise NoScript(f"ONNX has no operator like {request.op}")
    given = {name: tensor(array) for name, array in feeds(request, request.inputs).items()}
    source = template.read_text(encoding="utf-8")
    if any(f" {said['dtype']}: [" not in source for said in given.values()):
        raise NoScript(f"JavaScript has no array of {request.dtype.name}")
    model = make_model(request, request.inputs, standard=True).SerializeToString()
    texts = {
        "HEAD": "\n// ".join(head).replace("// \n", "//\n"),
        "MODEL": base64.b64encode(model).decode(),
        "FEEDS": json.dumps(given),
        "EXPECTED": json.dumps(None if expected.output is None else tensor(expected.output)),
    }
    return re.sub(r"\b(?:HEAD|MODEL|FEEDS|EXPECTED)\b", lambda found: texts[found[0]], source)
