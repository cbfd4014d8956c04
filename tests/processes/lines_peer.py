"""A peer in the protocol of docs/conformance.md, as a stranger would write it: it imports nothing of padops.

Its argument says how it behaves: right (it copies what needs no work), wrong, crash, garbled, absent, silent.
"""

from __future__ import annotations

import base64
import json
import os
import sys

GARBLED = [
    "no JSON",
    "[]",
    "{}",
    '{"output": 3}',
    '{"output": {"dtype": "float", "shape": [2], "data": "AAAA"}}',
    '{"output": {"dtype": "none", "shape": [0], "data": ""}}',
    '{"output": {"dtype": "float", "shape": [-1, -1], "data": "AAAAAA=="}}',
    '{"output": {"dtype": "string", "shape": [2], "data": ["one"]}}',
    '{"refused": 3}',
]


def main(behaviour: str) -> None:
    if behaviour == "silent":
        return
    if behaviour == "absent":
        print(json.dumps({"absent": "no such library"}), flush=True)
        return
    print(json.dumps({"padops": 1, "name": "lines", "versions": {"lines": "1.0"}, "families": ["onnx"]}), flush=True)
    for count, line in enumerate(sys.stdin):
        asked = json.loads(line)
        if behaviour == "crash" and asked["operator"] == "Pad_19":
            sys.stderr.write("out of luck\n")
            os.abort()
        if behaviour == "garbled":
            print(GARBLED[count % len(GARBLED)], flush=True)
            continue
        print(json.dumps(answer(asked, behaviour)), flush=True)


def answer(asked: dict, behaviour: str) -> dict:
    assert base64.b64decode(asked["model"])
    data = next(given for given in asked["inputs"] if given["role"] == "data")
    if asked["amounts"] is None:
        return {"refused": "amounts that break a rule"}
    if any(any(amount) for amount in asked["amounts"]):
        return {"unsupported": "work"}
    shape = data["shape"] if behaviour == "right" else [*data["shape"], 1]
    return {"output": {"dtype": data["dtype"], "shape": shape, "data": data["data"]}}


if __name__ == "__main__":
    main(sys.argv[1])
