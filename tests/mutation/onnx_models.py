"""ONNX models with wrong parts: fields with odd values, broken references, bytes that have changed in the file."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import onnx
from onnx import numpy_helper, parser

import padops

from .onnx_changes import CHANGES, deep, serialize
from .runner import Mutant

MODELS = Path(__file__).resolve().parents[2] / "models"
DATA = "weights.bin"
TEXTS = {
    "calls": """
        <ir_version: 9, opset_import: ["": 18, "local": 1]>
        g (float[2, 3] x, int64[4] p) => (float[N, M] y, float[K, L] z) {
            a = local.Twice <mode = "edge"> (x, p)
            y = local.Once <mode: string = "reflect"> (a, p)
            z = local.Twice (y, p)
        }
        <domain: "local", opset_import: ["": 18]>
        Once <mode: string = "constant"> (x, p) => (y) { y = Pad <mode: string = @mode> (x, p) }
        <domain: "local", opset_import: ["": 18, "local": 1]>
        Twice <mode: string = "reflect"> (x, p) => (y) {
            a = local.Once <mode: string = @mode> (x, p)
            y = local.Once <mode = "wrap"> (a, p)
        }""",
    "chain": """
        <ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
        g (float[2, N, 4] x) => (float[K, M, L] y)
        <int64 zero = {0}, int64 six = {6}, int64 one = {1}, int64[1] two = {2}, int64[1] count = {6}> {
            steps = Range (zero, six, one)
            halves = Div (steps, two)
            none = ConstantOfShape <value = int64[1] {0}> (count)
            some = Greater (steps, two)
            pads = Where (some, halves, none)
            a = Pad <mode = "edge"> (x, pads)
            y = com.microsoft.Pad <mode = "reflect"> (a, pads)
        }""",
    "folding": """
        <ir_version: 8, opset_import: ["": 17]>
        g (float[1, 1, 6, W] x) => (float[N, C, H, V] y, int8[2] b)
        <int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}, int64[8] none = {0, 0, 0, 0, 0, 0, 0, 0},
         float[1, 1, 2, 3] w = {0, 1, 2, 3, 4, 5}, int8[1] q = {3}, int64[2] behind = {0, 1}> {
            a = Pad (x, none)
            c = Pad (a, pads)
            d = Conv <auto_pad = "SAME_LOWER", dilations = [2, 2], kernel_shape = [2, 3]> (c, w)
            e = Pad (d, pads)
            f = Pad (e, pads)
            y = AveragePool <kernel_shape = [2, 2], auto_pad = "SAME_UPPER", strides = [2, 2]> (f)
            r = Cast <to = 1> (q)
            s = Pad (r, behind)
            b = Cast <to = 3> (s)
        }""",
    "optional": """
        <ir_version: 9, opset_import: ["": 19]>
        g (float[2, 3] x, seq(float[N]) s, optional(float[2]) o, bool c) => (float[M] y, float[K, 3] z)
        <int64[2] pads = {1, 1}, int64[1] at = {0}, int32[1] axes = {0}> {
            item = SequenceAt (s, at)
            y = Pad <mode = "wrap"> (item, pads)
            z = If (c) <
                then_branch = t () => (float[K, 3] a) { a = Pad (x, pads, , axes) },
                else_branch = e () => (float[K, 3] b) { b = Pad <mode = "edge"> (x, pads, , axes) }>
        }""",
}
EXTERNAL = """
    <ir_version: 8, opset_import: ["": 18]> g (float[2, 3] x) => (float[4, 7] y, float[6, 3] z)
    <int64[4] pads = {1, 2, 1, 2}, float[3, 2] w = {0, 1, 2, 3, 4, 5}> {
        y = Pad (x, pads) z = Pad <mode = "edge"> (w, pads)
    }"""
COMMANDS = [("-o", "out.onnx", *options.split()) for options in (
    "", "--no-fold", "--no-fallback", "--target onnx", "--target onnx --no-fold", "--target pyop --no-fold",
    "--select needed --report report.json", "--auto-pad explicit", "--auto-pad explicit --target onnx",
)]  # fmt: skip
COMMANDS += [("--dry-run", "--report", "report.json"), ("--in-place", "--strict")]
VERIFY = ("-o", "out.onnx", "--verify", "--run")  # which starts sessions, and takes ten times as long
VERIFIED = 0.04  # of all

Base = tuple[str, onnx.ModelProto, dict[str, bytes]]  # a right model, with its name and the files beside it


def bases() -> Iterator[Base]:
    """The samples, small models of what those lack, and what padops made itself."""
    for path in sorted(MODELS.glob("*.onnx")):
        yield path.name, onnx.load(path), {}
    for name, text in TEXTS.items():
        yield name, parser.parse_model(text), {}
    message = parser.parse_model(EXTERNAL)
    for tensor in message.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.onnx")
        onnx.save(message, path, save_as_external_data=True, location=DATA, size_threshold=0)
        yield "external", onnx.load(path, load_external_data=False), {DATA: Path(folder, DATA).read_bytes()}
    for target in ("padops", "pyop"):
        yield f"pad_18 as {target}", padops.convert(MODELS / "pad_18.onnx", target=target).proto(), {}


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, the same for the same seed."""
    rng, right = random.Random(seed), list(bases())
    while True:
        name, message, files = rng.choice(right)
        message, files = onnx.ModelProto.FromString(message.SerializeToString()), dict(files)
        if rng.random() < 0.12:
            done, content = _change_bytes(message.SerializeToString(deterministic=True), rng)
        else:
            done = "; ".join(rng.choice(CHANGES)(message, rng) for _ in range(rng.choice([1, 1, 1, 1, 2, 3])))
            content = serialize(message)
        if files and rng.random() < 0.2:
            end = rng.randrange(len(files[DATA]))
            files = {DATA: files[DATA][:end]} if end % 3 else {}
            done += "; its data file is cut off, or missing"
        options = VERIFY if rng.random() < VERIFIED else rng.choice(COMMANDS)
        yield Mutant(f"{name}: {done}", {"m.onnx": content, **files}, ("convert", "m.onnx", *options))


def _change_bytes(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Changes what is in the file, which may be no message any more."""
    act, at, count = rng.choice(["flip", "cut", "insert", "append", "remove", "deep"]), rng.randrange(len(content)), 1
    if act in ("insert", "remove", "flip"):
        count = rng.choice([1, 2, 9])
    if act == "deep":
        levels = rng.choice([2, 8, 24, 30, 31, 32, 33, 48, 1000])
        return f"its graph inside {levels} Ifs", deep(content, levels)
    made = {
        "flip": content[:at] + rng.randbytes(count) + content[at + count :],
        "cut": content[:at],
        "append": content * 2,
        "remove": content[:at] + content[at + count :],
        "insert": content[:at] + rng.randbytes(count) + content[at:],
    }
    return f"{act} of {count} at byte {at}", made[act]
