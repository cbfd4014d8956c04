"""Archives for ``--inputs`` with damaged members, false headers, or arrays that the model does not take."""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import parser

from .runner import Mutant

OPTIONS = ("-o", "out.onnx", "--verify", "--inputs", "in.npz")
MODELS = {"<f4": "float[2, 3]", ">f4": "float[N, M]", "<f2": "float16", "<U3": "string[N, 3]"}  # by their arrays' types
DESCRIPTIONS: tuple[Any, ...] = (
    *("<f4", ">f4", "<f8", "<f2", "|i1", "<i8", "|b1", "<c8", "|S3", "<U3", "<U0", "|V2", "|O", "<M8[D]", "f99"),
    [("a", "<f4"), ("b", "|O")], [("a", "<f4", (2, 3))], ("<f4", (3,)), [], None, 4, "float32, (1000,)f8",
)  # fmt: skip
SHAPES: tuple[Any, ...] = (
    *((), (0,), (2, 3), (3, 2), (6,), (-1, 3), (2**70,), (2**63,), (10**14, 0), (10**9, 10**9), (1,) * 70, (1,) * 40),
    *((2.0, 3), (True, 3), (None,), "x", [2, 3], 6, (10**4, 10**6), (2**31, 2**31)),
)  # fmt: skip
HEADERS = (b"", b"{}", b"[" * 9_000, b"(" * 150, b"-" * 9_000 + b"1", b"{'descr': '<f4'", b"\xff\xfe", b"1L", b"'''",
           b"{1: 2" * 999, b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }")  # fmt: skip
CHANGES: dict[str, tuple[Any, ...]] = {
    "descr": DESCRIPTIONS, "shape": SHAPES, "fortran_order": (True, None, 2, "x"), "header": HEADERS,
    "version": (0, 1, 2, 3, 9, 255), "length": (0, 1, 10, 0x7FFF, 0xFFFF, 0xFFFFFFFF),
    "magic": (b"", b"\x93NUMPZ", b"\x80\x04.", b"PK\x03\x04"),
    "elements": (b"", b"\xff" * 24, b"\xff\xff\x10\x00" * 18, b"\0\xd8\0\0" * 18, bytes(72), bytes(10**6)),
}  # fmt: skip
NAMES = ("", ".npy", "y.npy", "x", "x.npy.npy", "x/", "../x.npy", "é.npy")
BOMB = 24_000_000  # bytes that are a few kilobytes in the archive
OTHERS = (b"", b"x = 1\n", b"\x80\x04]\x94.", bytes(3_000), b"PK\x05\x06" + bytes(18), b"PK\x05\x06" + b"\xff" * 18,
          b"PK\x06\x06" + b"\xff" * 52 + b"PK\x06\x07" + bytes(16) + b"PK\x05\x06" + b"\xff" * 16 + bytes(2)
          )  # fmt: skip


def model(given: str) -> bytes:
    text = (
        f'<ir_version: 8, opset_import: ["": 17]> g ({given} x) => ({given} y) <int64[4] pads = {{0, 0, 0, 0}}>'
        '{ a = Pad <mode = "edge"> (x, pads) y = Identity(a) }'
    )
    return parser.parse_model(text).SerializeToString()


def npy(array: np.ndarray, **changes: Any) -> bytes:
    """An array as NumPy writes it, or with another header or other elements."""
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    header |= {name: changes[name] for name in header if name in changes}
    text = changes.get("header", repr(header).encode("latin-1", "replace"))
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    version, length = changes.get("version", 1), changes.get("length", len(text))
    size = struct.pack("<I", length) if version > 1 else struct.pack("<H", length & 0xFFFF)
    rest = text + changes.get("elements", array.tobytes())
    return changes.get("magic", b"\x93NUMPY") + bytes([version, 0]) + size + rest


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive; names may be there twice."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as made:
        warnings.simplefilter("ignore")  # about a name that is there twice
        for name, content in members:
            made.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, the same for the same seed."""
    rng = random.Random(seed)
    while True:
        type, given = rng.choice(sorted(MODELS.items()))
        act, array = rng.choice(("bytes", "bytes", "header", "header", "members", "other")), np.arange(6).reshape(2, 3)
        done, content = _changed(act, array.astype(type), rng)
        yield Mutant(f"{given}: {done}", {"m.onnx": model(given), "in.npz": content}, ("convert", "m.onnx", *OPTIONS))


def _changed(act: str, array: np.ndarray, rng: random.Random) -> tuple[str, bytes]:
    """Another file in place of a right archive, and what was done."""
    right, method = npy(array), rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    if act == "header":
        changes = {name: rng.choice(CHANGES[name]) for name in rng.sample(sorted(CHANGES), rng.choice((1, 1, 2)))}
        return ascii(changes)[:80], archive(("x.npy", npy(array, **changes)), method=method)
    if act == "bytes":  # those of the directory at its end above all
        made = bytearray(archive(("x.npy", right), method=method))
        if rng.random() < 0.2:
            end = rng.randrange(len(made))
            return f"cut off at byte {end}", bytes(made[:end])
        first = rng.choice((0, len(made) - 75))
        places = [rng.randrange(first, len(made)) for _ in range(rng.choice((1, 1, 2, 4, 9)))]
        for place in places:
            made[place] = rng.choice((0, 1, 8, 12, 14, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        return f"bytes at {places} changed", bytes(made)
    if act == "other":
        content = rng.choice((*OTHERS, right))
        return f"no archive: {content[:20]!r}", content
    if rng.random() < 0.1:
        count = BOMB // 3 // array.itemsize
        return f"{BOMB} zeros", archive(("x.npy", npy(array, shape=(count, 3), elements=bytes(BOMB))))
    names = rng.choice(((rng.choice(NAMES),), ("x.npy", "x.npy"), ("x.npy", "z.npy"), (), ("x.npy", "x.txt")))
    return f"members {names}", archive(*((name, right) for name in names), method=method)
