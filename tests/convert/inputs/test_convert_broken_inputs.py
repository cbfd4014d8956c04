"""Broken files of --inputs, and arrays that the model does not take; a few damaged files of each kind that is read."""

from __future__ import annotations

import os
import zipfile
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
import pytest
from broken_files import ran, refusal, server, short
from mutation import npz_inputs, onnx_models
from mutation.npz_inputs import archive, model, npy
from mutation.runner import tried
from slow import MORE

X = np.arange(6, dtype=np.float32).reshape(2, 3)
RIGHT = npy(X)


def of(**changes: Any) -> bytes:
    return archive(("x.npy", npy(X, **changes)))


def corrupt() -> bytes:
    made = bytearray(of())
    made[60:70] = b"\xff" * 10  # inside of what is compressed
    return bytes(made)


def encrypted() -> bytes:
    made = bytearray(of())
    made[6] |= 1
    made[made.index(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def given(content: bytes) -> tuple[dict[str, bytes], list[str]]:
    return {"m.onnx": model("float[2, 3]"), "in.npz": content}, ["m.onnx", "--verify", "--inputs", "in.npz"]


def test_the_inputs_themselves_are_taken() -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        files, arguments = given(archive(("x.npy", RIGHT), method=method))
        assert ran(files, *arguments, "-o", "out.onnx").code == 0
    old = of(header=b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }")  # of Python 2
    files, arguments = given(old)
    assert ran(files, *arguments, "-o", "out.onnx").said == ""


UNREADABLE = [
    corrupt(), of(header=b"{'descr': '<f4'"), of(header=b"'''"), of(header=b"(" * 9_000),
    of(header=b"-" * 9_000 + b"1"), of(descr="f99"), of(version=2, length=0xFFFFFFFF), of(version=7),
    of(descr=("<f4", (3,))), of(shape=(2**70,)), of(shape=(10**9, 10**9)), of(shape=(10**7, 10**7)), of(shape=(-1, 3)),
    of(shape=(1,) * 70), of(elements=b""),
]  # fmt: skip
NO_NPZ = 'in.npz is not an .npz file; numpy.savez("in.npz", x=...) writes one'
OTHERS = "'x.txt' is not an input of the model, which takes x: float[2, 3]"


@pytest.mark.parametrize(("content", "reason"), [
    *((content, "'x' in the inputs in in.npz cannot be read: ") for content in UNREADABLE),
    (of(magic=b"\x93NUMPZ"), "input 'x' is |S"),
    (of(descr="|O"), "Object arrays cannot be loaded when allow_pickle=False"),
    (of(descr=[("a", "<f4")]), "input 'x' is [('a', '<f4')], expected float"),
    (archive(("x.npy", RIGHT), ("x.txt", b"hello, world")), OTHERS),
    (of()[:-30], NO_NPZ),
    (encrypted(), "is encrypted"),
    (b"", NO_NPZ),
    (RIGHT, NO_NPZ),
    (of(shape=(3, 2)), "input 'x' has the shape [3, 2]; the model takes x: float[2, 3]"),
    (of(shape=(6,)), "input 'x' has the shape [6]; the model takes x: float[2, 3]"),
    (of(descr=">f4"), "input 'x' is >f4, expected float"),
    (of(descr="<i4"), "input 'x' is int32, expected float"),
    (archive(("y.npy", RIGHT)), "the inputs lack 'x'; in.npz has only 'y'; the model takes x: float[2, 3]"),
    (archive(), "the inputs lack 'x'; in.npz has no array; the model takes x: float[2, 3]"),
], ids=short)  # fmt: skip
def test_a_broken_npz(content: bytes, reason: str) -> None:
    files, arguments = given(content)
    assert reason in refusal(files, *arguments, code=2)


KINDS = {"onnx": onnx_models.mutants, "npz": npz_inputs.mutants}
if find_spec("openvino") or os.environ.get("PADOPS_PEERS"):
    from mutation import openvino_ir

    KINDS["openvino"] = openvino_ir.mutants
SEED, COUNT = 11, 2_000 if MORE else 25  # of each kind; ``tests/long/long_counts.py`` tries thousands


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_file_is_refused_or_converted(kind: str) -> None:
    found = [tried(server(), mutant) for mutant in islice(KINDS[kind](SEED), COUNT)]
    harm = "\n".join(str(outcome) for outcome in found if outcome.harm)
    assert not harm, harm
    refused = sum(outcome.code in (1, 2) for outcome in found)  # 2: what --inputs names is wrong
    assert refused, "none of the files was wrong enough"
