"""The protocol of a peer in another language: one JSON object per line. docs/conformance.md describes the protocol."""

from __future__ import annotations

import base64
import contextlib
import json
import math
from typing import IO, Any

import numpy as np

from padops.conformance.arrays import Packed, pack, unpack
from padops.conformance.features import FAMILIES
from padops.conformance.model import converted, make_model, without_pad
from padops.conformance.peers.request import Request, Skipped, Unsupported
from padops.spec.dtypes import by_name

PROTOCOL = 1
WORDS = ("refused", "unsupported", "skipped", "broken")  # answers with a text


class GarbledAnswer(Exception):
    """The peer has sent an invalid answer."""


def receive_hello(stream: IO[bytes]) -> dict[str, Any]:
    """Read the first line: the peer's ``name``, ``versions`` and ``families``, or ``absent`` with the reason."""
    hello = _object(stream)
    if "absent" in hello:
        return {"absent": str(hello["absent"])}
    name, versions, families = hello.get("name"), hello.get("versions"), hello.get("families", ["onnx"])
    known = sorted(FAMILIES.values())
    right = (
        hello.get("padops") == PROTOCOL
        and (isinstance(name, str) and name)
        and (isinstance(versions, dict) and versions and all(isinstance(text, str) for text in versions.values()))
        and (isinstance(families, list) and families and all(family in known for family in families))
    )
    if not right:
        wanted = f"padops {PROTOCOL}, a name, versions as texts, and families among {', '.join(known)}"
        raise GarbledAnswer(f"the first line has {hello!r:.300}, expected {wanted}")
    return {"name": name, "versions": versions, "families": families}


def question(request: Request, lowered: bool = False, provider: str = "") -> bytes:
    """Encode a case as a line; ``lowered`` and ``provider`` are fields of the peer."""
    inputs = [
        {"name": f"input_{i}", "role": row.name, "constant": i in request.constant_inputs, **tensor(array)}
        for i, (row, array) in enumerate(zip(request.row.inputs, request.inputs))
        if array is not None
    ]
    amounts = fill = model = None
    with contextlib.suppress(Skipped, Unsupported):  # no numbers can express some cases
        amounts = [[a.begin, a.end, a.interior] for a in request.amounts()]
        fill = tensor(request.fill)
    if lowered and not provider:
        model = without_pad(request)
    elif lowered or request.opset:
        model = make_model(request, standard=bool(request.opset))
        model = converted(model, target="onnx", provider=provider) if lowered else model
    asked = {
        "case": request.id,
        "operator": request.op,
        "opset": request.opset,
        "mode": request.mode,
        "attributes": {name: plain(value) for name, value in request.attributes.items()},
        "inputs": inputs,
        "amounts": amounts,
        "fill": fill,
        "model": None if model is None else base64.b64encode(model.SerializeToString()).decode(),
    }
    return json.dumps(asked, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def plain(value: Any) -> Any:
    """Convert an attribute for JSON; a float without a JSON number becomes a string."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return list(value) if isinstance(value, (list, tuple)) else value


def tensor(array: np.ndarray) -> dict[str, Any]:
    """Encode an array: type, shape, and data (the bytes in base64, or a list of strings)."""
    name, shape, content = pack(array)
    data = content if name == "string" else base64.b64encode(content).decode()
    return {"dtype": name, "shape": list(shape), "data": data}


def receive_answer(stream: IO[bytes]) -> tuple[str, Any]:
    """Read an answer, and return it in the form of ``worker.py``."""
    said = _object(stream)
    if "output" in said:
        return "output", _packed(said["output"])
    for word in WORDS:
        if isinstance(said.get(word), str):
            return word, said[word]
    raise GarbledAnswer(
        f"the answer has {', '.join(map(repr, said)) or 'nothing'}; expected one of: output, {', '.join(WORDS)}"
    )


def _object(stream: IO[bytes]) -> dict[str, Any]:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    try:
        said = json.loads(line)
    except ValueError as error:
        raise GarbledAnswer(f"a line that is not JSON: {line[:80]!r}") from error
    if not isinstance(said, dict):
        raise GarbledAnswer(f"a line that is not an object: {line[:80]!r}")
    return said


def _packed(said: Any) -> Packed:
    """Decode a tensor of an answer."""
    try:
        name, shape, data = said["dtype"], tuple(said["shape"]), said["data"]
        by_name(name)
        if not all(type(dim) is int and dim >= 0 for dim in shape):
            raise ValueError(f"a shape of {list(shape)}")
        if name == "string" and not all(isinstance(text, str) for text in data):
            raise ValueError("elements that are not strings")
        content = data if name == "string" else base64.b64decode(data, validate=True)
        return pack(unpack((name, shape, content)))  # bits after the last element do not count
    except (KeyError, TypeError, ValueError) as error:
        raise GarbledAnswer(f"an output that is not a tensor: {type(error).__name__}: {error}") from error
