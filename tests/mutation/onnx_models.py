"""ONNX models with wrong parts: fields with odd values, broken references, bytes that have changed in the file."""

from __future__ import annotations

import random
from collections.abc import Iterator

import onnx

from .mutant import Mutant
from .onnx_bases import DATA, Base, bases
from .onnx_breaks import BREAKS, deep, serialize
from .onnx_changes import change

COMMANDS = [
    ("-o", "out.onnx"),
    ("-o", "out.onnx", "--no-fold"),
    ("-o", "out.onnx", "--no-fallback"),
    ("-o", "out.onnx", "--target", "onnx"),
    ("-o", "out.onnx", "--target", "onnx", "--no-fold"),
    ("-o", "out.onnx", "--target", "pyop", "--no-fold"),
    ("-o", "out.onnx", "--select", "needed", "--report", "report.json"),
    ("-o", "out.onnx", "--auto-pad", "explicit"),
    ("-o", "out.onnx", "--auto-pad", "explicit", "--target", "onnx"),
    ("--dry-run", "--report", "report.json"),
    ("--in-place", "--strict"),
]
VERIFY = ("-o", "out.onnx", "--verify", "--run")  # which starts sessions, and takes ten times as long
VERIFIED = 0.04  # of all


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, the same for the same seed."""
    rng = random.Random(seed)
    right = bases()
    while True:
        yield _mutant(rng.choice(right), rng)


def _mutant(base: Base, rng: random.Random) -> Mutant:
    files = dict(base.files)
    message = onnx.ModelProto()
    message.CopyFrom(base.message)
    if rng.random() < 0.12:
        done, content = _change_bytes(message.SerializeToString(deterministic=True), rng)
    else:
        done = "; ".join(_change(message, rng) for _ in range(rng.choice([1, 1, 1, 1, 2, 3])))
        content = serialize(message)
    if files and rng.random() < 0.2:
        done += f"; {_change_data(files, rng)}"
    options = VERIFY if rng.random() < VERIFIED else rng.choice(COMMANDS)
    return Mutant(f"{base.name}: {done}", {"m.onnx": content, **files}, ("convert", "m.onnx", *options))


def _change(message: onnx.ModelProto, rng: random.Random) -> str:
    if rng.random() < 0.6 or not message.graph.node:
        return change(message, rng)
    return rng.choice(BREAKS)(message, rng)


def _change_bytes(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Changes what is in the file, which may be no message any more."""
    act = rng.choice(["flip", "flip", "cut", "insert", "append", "remove", "deep"])
    made = bytearray(content)
    if act == "flip":
        places = [rng.randrange(len(made)) for _ in range(rng.choice([1, 1, 2, 8]))]
        for place in places:
            made[place] = rng.randrange(256)
        return f"bytes {places} changed", bytes(made)
    if act == "cut":
        end = rng.randrange(len(made))
        return f"cut off at byte {end}", bytes(made[:end])
    if act == "append":
        return "the file twice", bytes(made * 2)
    if act == "deep":
        levels = rng.choice([2, 8, 24, 30, 31, 32, 33, 48, 1000])
        return f"its graph inside {levels} Ifs", deep(content, levels)
    first = rng.randrange(len(made))
    count = rng.choice([1, 2, 9])
    if act == "remove":
        del made[first : first + count]
        return f"{count} bytes at {first} removed", bytes(made)
    made[first:first] = rng.randbytes(count)
    return f"{count} bytes at {first} inserted", bytes(made)


def _change_data(files: dict[str, bytes], rng: random.Random) -> str:
    """Changes the file beside the model."""
    if rng.random() < 0.3:
        del files[DATA]
        return "its data file is missing"
    files[DATA] = files[DATA][: rng.randrange(len(files[DATA]))]
    return f"its data file has {len(files[DATA])} bytes"
