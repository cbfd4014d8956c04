"""Archives for ``--inputs`` with damaged members, false headers, or arrays that the model does not take."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from onnx import parser

from .mutant import Mutant
from .texts import NUMBERS

OPTIONS = ("-o", "out.onnx", "--verify", "--inputs", "in.npz")
MODELS = {
    "static": ("float[2, 3] x", "float[2, 3] y"),
    "open": ("float[N, M] x", "float[N, M] y"),
    "rank": ("float16 x", "float16 y"),
    "text": ("string[N, 3] x", "string[N, 3] y"),
}
TYPES = (
    "<f4",
    ">f4",
    "<f8",
    "<f2",
    "|i1",
    "<i8",
    "|b1",
    "<c8",
    "|S3",
    "<U3",
    "<U0",
    "|V2",
    "|O",
    "<M8[D]",
    "<f16",
    "f99",
)
DESCRIPTIONS: tuple[Any, ...] = (
    *TYPES, [("a", "<f4"), ("b", "|O")], [("a", "<f4", (2, 3))], [("é", "<i4")], ("<f4", (3,)), [], None, 4,
    "float32, (1000,)f8",
)  # fmt: skip
SHAPES: tuple[Any, ...] = (
    *((), (0,), (2, 3), (3, 2), (2, 3, 1), (6,), (-1, 3), (2**70,), (2**63,), (10**14, 0), (10**9, 10**9), (1,) * 70,
      (1,) * 40),
    *((2.0, 3), (True, 3), (None,), "x", [2, 3], 6, (10**4, 10**6), (2**31, 2**31)),
)  # fmt: skip
HEADERS = (b"", b"{}", b"[" * 9_000, b"(" * 150, b"-" * 9_000 + b"1", b"{'descr': '<f4'", b"\xff\xfe", b"1L", b"'''",
           b"{1: 2" * 999,
           b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }")  # fmt: skip

BOMB = 24_000_000  # bytes that are a few kilobytes in the archive


@cache
def _bases() -> dict[str, tuple[bytes, np.ndarray]]:
    """Models, each with an array that it takes."""
    made = {}
    for name, (given, padded) in MODELS.items():
        text = (
            f'<ir_version: 8, opset_import: ["": 17]> g ({given}) => ({padded}) '
            "<int64[4] pads = {0, 0, 0, 0}> { a = Pad <mode = \"edge\"> (x, pads) y = Identity(a) }"
        )  # fmt: skip
        array = np.arange(6).reshape(2, 3).astype({"rank": "<f2", "text": "<U3"}.get(name, "<f4"))
        made[name] = parser.parse_model(text).SerializeToString(), array
    return made


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, the same for the same seed."""
    rng = random.Random(seed)
    while True:
        name = rng.choice(sorted(_bases()))
        model, array = _bases()[name]
        done, content = rng.choice((_bytes, _bytes, _bytes, _member, _member, _member, _member, _members, _other))(
            array, rng
        )
        yield Mutant(f"{name}: {done}", {"m.onnx": model, "in.npz": content}, ("convert", "m.onnx", *OPTIONS))


def npy(array: np.ndarray, **changes: Any) -> bytes:
    """An array as NumPy writes it, or with another header or other elements."""
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    header |= {name: changes[name] for name in header if name in changes}
    text = changes.get("header", repr(header).encode("latin-1", "replace"))
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    version = changes.get("version", 1)
    length = struct.pack(
        "<I" if version > 1 else "<H", changes.get("length", len(text)) & (0xFFFFFFFF if version > 1 else 0xFFFF)
    )
    return (
        changes.get("magic", b"\x93NUMPY")
        + bytes([version, 0])
        + length
        + text
        + changes.get("elements", array.tobytes())
    )


def archive(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive; names may be there twice."""
    made, places, ends = bytearray(), [], []
    for name, content in members:
        packed = content
        if method == zipfile.ZIP_DEFLATED:
            packer = zlib.compressobj(1, zlib.DEFLATED, -15)
            packed = packer.compress(content) + packer.flush()
        places.append(len(made))
        row = struct.pack("<HHHHHIII", 20, 0, method, 0, 33, zlib.crc32(content), len(packed), len(content))
        encoded = name.encode("utf-8", "surrogatepass")
        made += b"PK\x03\x04" + row + struct.pack("<HH", len(encoded), 0) + encoded + packed
        ends.append(
            b"PK\x01\x02\x14\0" + row + struct.pack("<HHHHHII", len(encoded), 0, 0, 0, 0, 0, places[-1]) + encoded
        )
    directory = b"".join(ends)
    last = struct.pack("<HHHHIIH", 0, 0, len(ends), len(ends), len(directory), len(made), 0)
    return bytes(made) + directory + b"PK\x05\x06" + last


def _method(rng: random.Random) -> int:
    return rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))


def _bytes(array: np.ndarray, rng: random.Random) -> tuple[str, bytes]:
    """Bytes of a right archive, those of the directory at its end above all."""
    made = bytearray(archive([("x.npy", npy(array))], _method(rng)))
    if rng.random() < 0.2:
        end = rng.randrange(len(made))
        return f"cut off at byte {end}", bytes(made[:end])
    first = rng.choice((0, len(made) - 75))
    places = [rng.randrange(first, len(made)) for _ in range(rng.choice((1, 1, 2, 4, 9)))]
    for place in places:
        made[place] = rng.choice((0, 1, 8, 12, 14, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return f"bytes at {places} changed", bytes(made)


def _member(array: np.ndarray, rng: random.Random) -> tuple[str, bytes]:
    """A right archive of an array whose header is wrong."""
    changes: dict[str, Any] = {}
    for name in rng.sample(
        ("descr", "shape", "fortran_order", "version", "length", "header", "magic", "elements"), rng.choice((1, 1, 2))
    ):
        changes[name] = {
            "descr": lambda: rng.choice(DESCRIPTIONS),
            "shape": lambda: rng.choice(SHAPES),
            "fortran_order": lambda: rng.choice((True, None, 2, "x")),
            "version": lambda: rng.choice((0, 1, 2, 3, 9, 255)),
            "length": lambda: rng.choice((0, 1, 10, 0x7FFF, 0xFFFF, 0xFFFFFFFF)),
            "header": lambda: rng.choice((*HEADERS, rng.choice(NUMBERS).encode())),
            "magic": lambda: rng.choice((b"", b"\x93NUMPZ", b"\x80\x04.", b"PK\x03\x04")),
            "elements": lambda: rng.choice((b"", b"\xff" * 24, b"\xff\xff\x10\x00" * 18, b"\0\xd8\0\0" * 18, bytes(72),
                                            bytes(10**6))),
        }[name]()  # fmt: skip
    done = ", ".join(f"{name} -> {ascii(value)[:50]}" for name, value in changes.items())
    return done, archive([("x.npy", npy(array, **changes))], _method(rng))


def _members(array: np.ndarray, rng: random.Random) -> tuple[str, bytes]:
    """A right array under another name, with others, or with much of nothing."""
    right, act = npy(array), rng.choice(("name", "twice", "more", "none", "bomb", "text", "python"))
    if act == "name":
        name = rng.choice(("", ".npy", "y.npy", "x", "x.npy.npy", "x/", "../x.npy", "\ud800.npy", "x\0.npy", "é.npy"))
        return f"named {name!a}", archive([(name, right)], _method(rng))
    if act == "bomb":
        return f"{BOMB} zeros", _bomb(array.dtype.str)
    if act == "python":
        return "Python objects", _saved(np.array([None, {}], object))
    members = {
        "twice": [("x.npy", right), ("x.npy", right)],
        "more": [("x.npy", right), ("z.npy", right)],
        "none": [],
        "text": [("x.npy", right), ("x.txt", b"hello")],
    }[act]
    return act, archive(members, _method(rng))


@cache
def _bomb(kind: str) -> bytes:
    count = BOMB // 3 // np.dtype(kind).itemsize
    return archive([("x.npy", npy(np.zeros(0, kind), shape=(count, 3), elements=bytes(BOMB)))])


def _saved(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=array)
    return buffer.getvalue()


def _other(array: np.ndarray, rng: random.Random) -> tuple[str, bytes]:
    """No archive at all."""
    others = {"empty": b"", "text": b"x = 1\n", "an array": npy(array), "a pickle": b"\x80\x04]\x94.",
              "zeros": bytes(3_000),
              "an end": b"PK\x05\x06" + bytes(18), "an end that lies": b"PK\x05\x06" + b"\xff" * 18,
              "64 bits": b"PK\x06\x06" + b"\xff" * 52 + b"PK\x06\x07" + bytes(16)
                         + b"PK\x05\x06" + b"\xff" * 16 + bytes(2)}  # fmt: skip
    name = rng.choice(sorted(others))
    return name, others[name]
