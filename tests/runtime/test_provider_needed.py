"""The execution provider with ``needed``: which Pads it claims, and which it leaves to ONNX Runtime."""

from __future__ import annotations

import re

import numpy as np
import onnx
import onnxruntime
import pytest
from provider_sessions import EP_NAME, ROW, model, onnxruntime_minor, pad, providers_of_pads, session

import padops
from padops.convert.runtimes import KERNELS
from padops.spec import reference
from padops.spec.dtypes import DTYPES

NEEDED = {"claim": "needed"}


def claimed(built: onnxruntime.InferenceSession) -> bool:
    """Return whether the provider has the one Pad; onnxruntime before 1.27 lists none that it runs between casts."""
    names = providers_of_pads(built)
    assert len(names) == 1 or (not names and onnxruntime_minor() < 27)
    return names == [EP_NAME]


@pytest.mark.parametrize("opset", [2, 10, 11, 13, 18, 21, 24])
def test_needed_claims_the_types_that_the_runtime_lacks(opset: int) -> None:
    """The provider's table of them is that of the converter."""
    first = next(op for op in sorted(padops.OPS.values(), key=version_of) if version_of(op) == pad_of(opset))
    for name in first.types:
        if name == "float16" or next(row for row in DTYPES if row.name == name).since > onnxruntime_minor():
            continue
        built = session_or_none(pad([1, 1], "edge", opset, f"{name}[4]"))
        assert built is None or claimed(built) is (KERNELS[""].get(name, opset + 1) > opset), name


def version_of(op) -> int:
    return int(op.name.removeprefix("Pad_")) if op.name.startswith("Pad_") else 0


def pad_of(opset: int) -> int:
    return max(version for version in map(version_of, padops.OPS.values()) if version <= opset)


def session_or_none(built: onnx.ModelProto) -> onnxruntime.InferenceSession | None:
    """None where the model's opset does not have its type."""
    try:
        onnx.checker.check_model(built, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return None
    return session(built, NEEDED)


NEEDS = [
    ("constant", [1, 1], "float[n]", False),
    ("constant", [-9, 9], "float[n]", False),
    ("edge", [9, 9], "float[4]", False),
    ("edge", [1, 1], "float[n]", True),
    ("edge", [-1, 1], "float[4]", True),
    ("edge", [1, -1], "float[4]", True),
    ("edge", [-1, 0], "float[4]", True),
    ("edge", [0, -1], "float[4]", True),
    ("reflect", [3, 3], "float[4]", False),
    ("reflect", [4, 0], "float[4]", True),
    ("reflect", [1, 1], "float[n]", True),
    ("wrap", [4, 4], "float[4]", False),
    ("wrap", [5, 0], "float[4]", True),
    ("reflect", [0, 1, 0, 1], "float[n, 4]", False),
    ("reflect", [0, 1, 0, 1], "float[0, 4]", True),
    ("edge", [0, 0], "float[0]", True),
    ("mirror", [1, 1], "float[4]", None),
]


@pytest.mark.parametrize(("mode", "pads", "data", "needed"), NEEDS, ids=lambda value: str(value))
def test_needed(mode: str, pads: list[int], data: str, needed: bool | None) -> None:
    """A Pad that the graph leaves open counts as needed."""
    for opset in (10, 18):
        built = pad(pads, mode, opset, data)
        if needed is None:
            with pytest.raises(Exception, match=r"\[P9\]"):
                session(built, NEEDED)
        else:
            assert claimed(session(built, NEEDED)) is needed, opset
        if needed is False:
            assert claimed(session(built)), "all are claimed by default"


@pytest.mark.parametrize(
    ("inputs", "initializers", "needed"),
    [
        ("x, p", "", True),
        ("x, q, , a", "int64[2] q = {1, 1}, int64[1] a = {1}", False),
        ("x, q, , a", "int64[2] q = {1, 9}, int64[1] a = {1}", True),
        ("x, q, , p", "int64[2] q = {1, 1}", True),
        ("x, q, , p", "int64[4] q = {0, 1, 0, 1}", True),
        ("x, q, , a", "int64[2] q = {1, 1}, int64[1] a = {5}", None),
    ],
)
def test_needed_reads_constant_amounts_and_axes(inputs: str, initializers: str, needed: bool | None) -> None:
    built = model(
        f"g (float[n, 4] x, int64[k] p) => (float[a, b] y) <{initializers}> "
        f'{{ [p] y = Pad <mode = "reflect"> ({inputs}) }}'
    )
    if needed is None:
        with pytest.raises(Exception, match="axes|axis"):
            session(built, NEEDED)
    else:
        assert claimed(session(built, NEEDED)) is needed


def test_needed_claims_pads_without_known_dims() -> None:
    """Data of no known rank, and data of rank 0, on which the runtime's own Pad has no say."""
    for mode in ("constant", "edge"):
        assert claimed(session(pad([1, 1], mode, 18, "float[]"), NEEDED)), mode
        text = f'g (float x) => (float y) <int64[0] p = {{}}> {{ y = Pad <mode = "{mode}"> (x, p) }}'
        scalar = session(model(text), NEEDED)
        assert claimed(scalar), mode
        assert scalar.run(None, {"x": np.array(3, np.float32)})[0].tolist() == 3


@pytest.mark.parametrize(
    ("op", "amounts", "error"),
    [
        ("Pad <mode = 'edge'> (x, p, , a)", "int64[2] p = {1, 1}, int64[1, 1] a = {1}",
         "axes has shape [1, 1], expected one"),
        ("com.microsoft.Pad <mode = 'edge'> (x, p)", "int64[3] p = {1, 1, 1}",
         "pads has 3 values, expected 4 (2 per axis"),
    ],
)  # fmt: skip
def test_needed_claims_amounts_that_break_a_rule(op: str, amounts: str, error: str) -> None:
    """P8: where the runtime loads them, padops says what is wrong."""
    text = f"g (float[3, 4] x) => (float[a, b] y) <{amounts}> {{ [p] y = {op} }}".replace("'", '"')
    built = session(model(text), NEEDED)
    assert claimed(built)
    with pytest.raises(Exception, match=re.escape(error) + r".*\[P8\]"):
        built.run(None, {"x": np.ones((3, 4), np.float32)})


def test_float16() -> None:
    """A float16 Pad stays where the runtime's own, between casts, is surely right; ``native`` takes all."""
    for mode, pads, data, left in (
        ("reflect", [1, 1], "float16[4]", True),
        ("reflect", [4, 1], "float16[4]", False),
        ("reflect", [1, 1], "float16[n]", False),
        ("constant", [1, 1], "float16[n]", True),
    ):
        built = pad(pads, mode, 18, data)
        by_default, native = session(built), session(built, {"float16": "native"})
        assert (claimed(by_default), claimed(native)) == (not left, True), (mode, pads, data)
        values = ROW.astype(np.float16)
        expected = reference.run("Pad_18", {"mode": mode}, [values, np.array(pads)])
        for made in (by_default, native):
            assert made.run(None, {"x": values})[0].tobytes() == expected.tobytes()
    assert claimed(session(pad([1, 1], "constant", 10, "float16[4]"))), "the casts begin with Pad 11"
    assert not claimed(session(pad([1, 1], "reflect", 18, "float16[4]"), NEEDED))
    assert claimed(session(pad([1, 1], "reflect", 18, "float16[4]"), {**NEEDED, "float16": "native"}))
