"""Every kind of model that ``padops.InferenceSession`` converts in memory runs on the installed onnxruntime.

``scripts/matrix.py`` runs the tests on older ones. Each model gives the right bits where the extra ``convert`` is
installed; where it is not, an error names it, but for what the execution provider runs without converting anything.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser
from parsed_models import quiet, save_with_data

import padops
from padops.runtime.model_words import MISCOUNTING
from padops.runtime.provider import FIRST_MINOR, runtime_minor

PROVIDED = runtime_minor() >= FIRST_MINOR
ROWS = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
IMAGE = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
CORNER = np.outer([1, 1, 1, 0.5], [1, 1, 1, 0.5]).astype(np.float32)[None, None]  # averages of ones beside zeros
LINE = np.arange(8, dtype=np.float32).reshape(1, 1, 8)
FLAT = "(float[2, 3] x) => (float[2, 5] y)"
REFLECT = 'mode = "reflect"'


def model(text: str, opset: int = 18, ir_version: int = 8) -> onnx.ModelProto:
    domains = "".join(f', "{name}": 1' for name in ("com.microsoft", "tf", "ngraph", "ai.intel.openvino"))
    return parser.parse_model(f'<ir_version: {ir_version}, opset_import: ["": {opset}{domains}]> g {text}')


def tensorflows(operator: str, attributes: str, more: str = "") -> str:
    return f"{FLAT} <int64[2, 2] p = {{0, 0, 1, 1}}, float f = {{7}}> {{ y = tf.{operator} {attributes} (x, p{more}) }}"


def windows() -> np.ndarray:
    """The largest of 3 x 3 elements, each 3 from the next, around every element of the image."""
    around = np.pad(IMAGE[0, 0], 3, constant_values=-np.inf)
    return np.max([around[i : i + 8, j : j + 8] for i in (0, 3, 6) for j in (0, 3, 6)], axis=0)[None, None]


def pooled(auto_pad: str) -> str:
    return (
        "(float[1, 1, 8, 8] x) => (float[1, 1, n, m] y) "
        f'{{ y = MaxPool <auto_pad = "{auto_pad}", kernel_shape = [3, 3], dilations = [3, 3]> (x) }}'
    )


def strided(operator: str, window: int) -> str:
    attributes = f'auto_pad = "SAME_UPPER", kernel_shape = [{window}], strides = [4]'
    return f"(float[1, 1, 8] x) => (float[1, 1, n] y) {{ y = {operator} <{attributes}> (x) }}"


def padded(mode: str, data: np.ndarray = ROWS) -> np.ndarray:
    return np.pad(data, [(0, 0), (1, 1)], mode)  # type: ignore[call-overload]


HALF = ROWS.astype(np.int16)
# Each with what it takes and what it gives.
KINDS: dict[str, tuple[onnx.ModelProto, np.ndarray, np.ndarray]] = {
    "int32 axes": (
        model(f"{FLAT} <int64[2] p = {{1, 1}}, int32[1] a = {{1}}> {{ y = Pad <{REFLECT}> (x, p, , a) }}"),
        ROWS, padded("reflect"),
    ),
    "pads of [1, 2r]": (
        model(f"{FLAT} <int64[1, 4] p = {{0, 1, 0, 1}}> {{ y = Pad <{REFLECT}> (x, p) }}", 13), ROWS, padded("reflect")
    ),
    "pads in external data": (
        model(f"{FLAT} <int64[4] p = {{0, 1, 0, 1}}> {{ y = Pad <{REFLECT}> (x, p) }}"), ROWS, padded("reflect")
    ),
    "pads and weights in external data": (
        model(
            f"{FLAT} <int64[4] p = {{0, 1, 0, 1}}, float[2, 5] w = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}> "
            f"{{ z = Pad <{REFLECT}> (x, p)  y = Add (z, w) }}"
        ),
        ROWS, padded("reflect") + np.arange(1, 11, dtype=np.float32).reshape(2, 5),
    ),
    "MirrorPad, REFLECT": (model(tensorflows("MirrorPad", '<mode = "REFLECT">')), ROWS, padded("reflect")),
    "MirrorPad, SYMMETRIC": (model(tensorflows("MirrorPad", '<mode = "SYMMETRIC">')), ROWS, padded("symmetric")),
    "PadV2": (model(tensorflows("PadV2", "", ", f")), ROWS, np.pad(ROWS, [(0, 0), (1, 1)], constant_values=7)),
    "Microsoft's, of int16": (
        model(
            "(int16[2, 3] x) => (int16[2, 5] y) <int64[4] p = {0, 1, 0, 1}> "
            f"{{ y = com.microsoft.Pad <{REFLECT}> (x, p) }}"
        ),
        HALF, padded("reflect", HALF),
    ),
    "nGraph's, interior": (
        model(
            "(float[2, 3] x) => (float[2, 7] y) <float f = {9}> { y = ngraph.Pad <padding_below = [0, 1], "
            "padding_above = [0, 1], padding_interior = [0, 1]> (x, f) }"
        ),
        ROWS, np.array([[9, 1, 9, 2, 9, 3, 9], [9, 4, 9, 5, 9, 6, 9]], np.float32),
    ),
    "OpenVINO's, symmetric": (
        model(
            f"{FLAT} <int64[2] b = {{0, 1}}, int64[2] e = {{0, 1}}> "
            '{ y = ai.intel.openvino.Pad <pad_mode = "symmetric", version = "opset1"> (x, b, e) }'
        ),
        ROWS, padded("symmetric"),
    ),
    "LpPool, strides longer than windows": (model(strided("LpPool", 1)), LINE, np.array([[[0, 4]]], np.float32)),
    "AveragePool, strides longer than windows": (
        model(strided("AveragePool", 2), 13), LINE, np.array([[[0.5, 4.5]]], np.float32)
    ),
    "MaxPool, SAME_UPPER": (model(pooled("SAME_UPPER")), IMAGE, windows()),
    "MaxPool, SAME_LOWER": (model(pooled("SAME_LOWER")), IMAGE, windows()),
}  # fmt: skip
# What the provider runs, and what an older release needs converted: refused, wrong, and out of bounds.
OF_THE_PROVIDER: dict[str, tuple[onnx.ModelProto, np.ndarray, np.ndarray]] = {
    "opset 1": (
        model(f"{FLAT} {{ y = Pad <{REFLECT}, paddings = [0, 1, 0, 1]> (x) }}", 1, 3), ROWS, padded("reflect")
    ),
    "int16": (
        model(f"(int16[2, 3] x) => (int16[2, 5] y) <int64[4] p = {{0, 1, 0, 1}}> {{ y = Pad <{REFLECT}> (x, p) }}"),
        HALF, padded("reflect", HALF),
    ),
    "reflect, twice around": (
        model(f"(float[2, 3] x) => (float[2, 9] y) <int64[4] p = {{0, 3, 0, 3}}> {{ y = Pad <{REFLECT}> (x, p) }}"),
        ROWS, np.pad(ROWS, [(0, 0), (3, 3)], "reflect"),
    ),
    "wrap, of open size": (
        model('(float[2, n] x) => (float[2, m] y) <int64[4] p = {0, 7, 0, 7}> { y = Pad <mode = "wrap"> (x, p) }', 21,
              10),
        ROWS, np.pad(ROWS, [(0, 0), (7, 7)], "wrap"),
    ),
}  # fmt: skip


def pooled(nodes: str) -> tuple[onnx.ModelProto, np.ndarray, np.ndarray]:
    """Nodes of opset 19 that give the means of 2 x 2 ones, padded behind."""
    text = f"(float[1, 1, 4, 4] x) => (float[1, 1, 4, 4] y) {{ {nodes} }}"
    return model(text, 19), np.ones((1, 1, 4, 4), np.float32), CORNER


OF_THE_PROVIDER["in front of an AveragePool of opset 19"] = pooled(
    "p = Constant <value_ints = [0, 0, 0, 0, 0, 0, 1, 1]> ()  d = Pad (x, p) "
    "y = AveragePool <kernel_shape = [2, 2]> (d)"
)
if runtime_minor() in MISCOUNTING:
    KINDS["AveragePool, SAME_UPPER that counts"] = pooled(
        'y = AveragePool <auto_pad = "SAME_UPPER", count_include_pad = 1, kernel_shape = [2, 2]> (x)'
    )
EVERY = KINDS | OF_THE_PROVIDER


def save(kind: str, folder: Path) -> Path:
    """The model's file, and the inputs beside it."""
    made, data, _ = EVERY[kind]
    folder.mkdir()
    np.savez(folder / "inputs.npz", x=data)
    if "external" in kind:
        return save_with_data(made.SerializeToString(), folder)
    onnx.save(made, folder / "m.onnx")
    return folder / "m.onnx"


@pytest.mark.parametrize("kind", [*KINDS, "opset 1"])
def test_onnxruntime_alone_does_not_run_it(kind: str, tmp_path: Path) -> None:
    """Else the tests below would show nothing."""
    path = save(kind, tmp_path / "model")
    try:
        output = onnxruntime.InferenceSession(path, quiet()).run(None, {"x": EVERY[kind][1]})[0]
    except Exception:  # onnxruntime's exceptions have no base of their own
        return
    assert output.tobytes() != EVERY[kind][2].tobytes()


@pytest.mark.parametrize("kind", EVERY)
def test_the_right_bits(kind: str, tmp_path: Path) -> None:
    path, (_, data, expected) = save(kind, tmp_path / "model"), EVERY[kind]
    before = sorted(file.name for file in path.parent.iterdir())
    session = padops.InferenceSession(path, quiet())
    (output,) = session.run(None, {"x": data})
    assert (output.dtype, output.shape) == (expected.dtype, expected.shape)
    assert output.tobytes() == expected.tobytes()
    done = [] if kind in OF_THE_PROVIDER and PROVIDED else ["converted"]
    assert [record.status for record in session.padops_records] == done
    assert sorted(file.name for file in path.parent.iterdir()) == before


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "external" in kind])
def test_nothing_is_printed(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """onnxruntime warned of the folder of external data, which the session set twice in options of its own."""
    path = save(kind, tmp_path / "model")
    padops.InferenceSession(path).run(None, {"x": EVERY[kind][1]})
    printed = capfd.readouterr()
    assert "will be overwritten" not in printed.out + printed.err
