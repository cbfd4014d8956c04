"""Broken files of ``--inputs``, and arrays that the model does not take."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from broken_files import ran, refusal, short
from mutation.npz_inputs import archive, npy
from onnx import parser

import padops
from padops.convert.inputs.given import MOST_MEMBERS

TEXT = (
    '<ir_version: 8, opset_import: ["": 17]> g ({given} x) => ({given} y) <int64[4] pads = {{0, 0, 0, 0}}>'
    '{{ a = Pad <mode = "edge"> (x, pads) y = Identity(a) }}'
)


def model(given: str) -> bytes:
    return parser.parse_model(TEXT.format(given=given)).SerializeToString()


X = np.arange(6, dtype=np.float32).reshape(2, 3)
RIGHT = npy(X)


def pickled() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.array([None], object))
    return buffer.getvalue()


def corrupt() -> bytes:
    made = bytearray(archive([("x.npy", RIGHT)]))
    made[60:70] = b"\xff" * 10  # inside of what is compressed
    return bytes(made)


def of(**changes: Any) -> bytes:
    return archive([("x.npy", npy(X, **changes))])


def encrypted() -> bytes:
    made = bytearray(archive([("x.npy", RIGHT)]))
    made[6] |= 1
    made[made.index(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def given(content: bytes, kind: str = "float[2, 3]") -> tuple[dict[str, bytes], list[str]]:
    return {"m.onnx": model(kind), "in.npz": content}, ["m.onnx", "--verify", "--inputs", "in.npz"]


def test_the_inputs_themselves_are_taken() -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        files, arguments = given(archive([("x.npy", RIGHT)], method))
        assert ran(files, *arguments, "-o", "out.onnx").code == 0
    old = of(header=b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }")  # of Python 2
    files, arguments = given(old)
    assert ran(files, *arguments, "-o", "out.onnx").said == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (corrupt(), "'x' in the inputs in in.npz cannot be read: "),
        (of(header=b"{'descr': '<f4'"), "'x' in the inputs in in.npz cannot be read: "),
        (of(header=b"'''"), "'x' in the inputs in in.npz cannot be read: "),
        (of(header=b"(" * 9_000), "'x' in the inputs in in.npz cannot be read: "),
        (of(header=b"-" * 9_000 + b"1"), "'x' in the inputs in in.npz cannot be read: "),
        (of(descr="f99"), "'x' in the inputs in in.npz cannot be read: "),
        (of(version=2, length=0xFFFFFFFF), "expected 4294967295 bytes"),
        (of(version=7), "is of version 7 of NumPy's format, expected 1 or 2"),
        (of(magic=b"\x93NUMPZ"), "'x' in the inputs in in.npz cannot be read: the magic string"),
        (of(descr="|O"), "'x' in the inputs in in.npz holds Python objects, which are not loaded"),
        (pickled(), "holds Python objects, which are not loaded"),
        (of(descr=[("a", "<f4")]), "has elements of the structured type"),
        (of(descr=("<f4", (3,))), "has elements of the structured type"),
        (of(shape=(2**70,)), "'x' in the inputs in in.npz has a dim beyond"),
        (of(shape=(10**9, 10**9)), "'x' in the inputs in in.npz has more than"),
        (
            of(shape=(10**7, 10**7)),
            "is damaged: float32 of shape [10000000, 10000000] has 400000000000000 bytes, but 24 are there",
        ),
        (of(shape=(-1, 3)), "'x' in the inputs in in.npz has the shape [-1, 3]"),
        (of(shape=(1,) * 70), "70 dims, more than 32"),
        (of(elements=b""), "has 24 bytes, but 0 are there"),
        (of(elements=X.tobytes() + b"more"), "float32 of shape [2, 3] has 24 bytes, but 28 are there"),
        (archive([("x.npy", RIGHT), ("x.npy", RIGHT)]), "the inputs in in.npz have 'x' twice"),
        (archive([("x.npy", RIGHT), ("x", RIGHT)]), "the inputs in in.npz have 'x' twice"),
        (
            archive([("x.npy", RIGHT), ("x.txt", b"hello, world")]),
            "'x.txt' in the inputs in in.npz cannot be read: the magic string",
        ),
        (archive([("x.npy", RIGHT)])[:-30], 'in.npz is no .npz file; numpy.savez("in.npz", x=...) writes one'),
        (encrypted(), "is encrypted"),
        (b"", 'in.npz is no .npz file; numpy.savez("in.npz", x=...) writes one'),
        (RIGHT, "in.npz has one array without a name"),
        (archive([("x.npy", RIGHT)], method=12), "is compressed by method 12"),
    ],
    ids=short,
)
def test_a_broken_npz(content: bytes, reason: str) -> None:
    files, arguments = given(content)
    assert reason in refusal(files, *arguments, code=2)


def test_texts_that_there_is_no_memory_for() -> None:
    """They take no bytes in the file, and a pointer each in memory."""
    files, arguments = given(of(descr="<U0", shape=(10**12,), elements=b""), "string[N]")
    assert "need 8000000000000 bytes, for which there is no memory" in refusal(files, *arguments, code=2)


def test_too_many_arrays() -> None:
    """None of them is opened."""
    files, arguments = given(archive([(f"{i}.npy", b"") for i in range(MOST_MEMBERS + 1)]))
    assert refusal(files, *arguments, code=2) == "the inputs in in.npz have 4097 arrays, more than 4096"


def test_a_shape_that_the_model_does_not_take_is_found_before_the_elements_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*arguments: object, **options: object) -> None:
        raise AssertionError("the elements were read")

    monkeypatch.setattr(np.lib.format, "read_array", read)
    np.savez(tmp_path / "in.npz", x=np.zeros((2, 4), np.float32))
    source = parser.parse_model(TEXT.format(given="float[2, 3]"))
    with pytest.raises(padops.UsageError, match=r"input 'x' has the shape \[2, 4\]; the model takes x: float\[2, 3\]"):
        padops.convert(source, verify=True, run=True, inputs=tmp_path / "in.npz")


def test_a_zip_bomb_gets_no_memory() -> None:
    """NumPy gets memory for what the header says, here 3 GB, before it reads a byte."""
    files, arguments = given(bomb(3 << 30), "float[N, M]")
    assert "need 3221225472 bytes, for which there is no memory" in refusal(files, *arguments, code=2)


def bomb(size: int) -> bytes:
    """A member that says, in its header and in the directory, that it has so many bytes."""
    content = bytearray(archive([("x.npy", npy(X, shape=(size // 4, 1), elements=b""))]))
    header = len(npy(X, shape=(size // 4, 1), elements=b""))
    for sign, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = content.index(sign) + at
        content[place : place + 4] = (header + size).to_bytes(4, "little")
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (of(shape=(3, 2)), "input 'x' has the shape [3, 2]; the model takes x: float[2, 3]"),
        (of(shape=(6,)), "input 'x' has the shape [6]; the model takes x: float[2, 3]"),
        (of(descr=">f4"), "input 'x' is >f4, expected float"),
        (of(descr="<i4"), "input 'x' is int32, expected float"),
        (archive([("y.npy", RIGHT)]), "the inputs lack 'x'; in.npz has only 'y'; the model takes x: float[2, 3]"),
        (archive([]), "the inputs lack 'x'; in.npz has no array; the model takes x: float[2, 3]"),
    ],
    ids=short,
)
def test_an_npz_that_the_model_does_not_take(content: bytes, reason: str) -> None:
    files, arguments = given(content)
    assert reason in refusal(files, *arguments, code=2)
