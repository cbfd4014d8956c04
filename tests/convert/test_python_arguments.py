"""``padops.convert`` and its kin in Python: what they take, what they say of what they do not, what they give back."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from external_data import save, write_floats
from small_models import external, one_pad

import padops

WEIGHTS = np.arange(4, dtype=np.float32).tobytes()


@pytest.fixture
def with_data(tmp_path: Path) -> Path:
    """A model with external data, beside two empty folders."""
    for name in "ab":
        (tmp_path / name).mkdir()
    write_floats(tmp_path / "w.bin", *range(4))
    return save(tmp_path, [external("w", "w.bin", 4)], "m.onnx")


def test_bytes_and_file_objects(tmp_path: Path) -> None:
    content = one_pad(13).SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    expected = padops.convert(path).proto()
    with path.open("rb") as file:
        for source in (content, bytearray(content), memoryview(content), io.BytesIO(content), file):
            conversion = padops.convert(source, verify=True, run=True)
            assert conversion.proto() == expected
            assert conversion.verification.outcome == "equal"
    assert padops.lower(io.BytesIO(content)).records[0].status == "not needed"
    assert padops.inspect(content).pads == padops.inspect(path).pads
    assert padops.verify(content, io.BytesIO(expected.SerializeToString()), run=True).outcome == "equal"


@pytest.mark.parametrize(("source", "error", "why"), [
    (b"no model", padops.PadopsError, "the model: not an ONNX model: it cannot be parsed"),
    (io.StringIO("text"), padops.UsageError, "does not give bytes when it is read: open it as 'rb'"),
    (io.TextIOWrapper(io.BytesIO(b"\xff")), padops.UsageError, "open it as 'rb'"),
], ids=["bytes", "text", "text file"])  # fmt: skip
def test_what_is_no_model(source: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        padops.convert(source)


KINDS = "expected a path, bytes, a binary file, an onnx.ModelProto or an onnx_ir.Model"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"source": 3}, f"source is an int, {KINDS}"),
    ({"output": 3}, "output is an int, expected a path"),
    ({"report": ["r.json"]}, "report is a list, expected a path"),
    ({"fallback": "no"}, "fallback is 'no', expected True or False"),
    ({"fold": 0}, "fold is 0, expected True or False"),
    ({"verify": "yes"}, "verify is 'yes', expected True or False"),
    ({"verify": True, "inputs": [1]},
     "inputs is a list, expected arrays by input name, or the path of an .npz"),
    ({"seed": "1"}, "seed is '1', expected an integer"),
    ({"custom_domains": "tf"}, "custom_domains is 'tf', expected a list of names"),
    ({"custom_domains": [1]}, "custom_domains is [1], expected a list of names"),
    ({"target": "onx"}, "target is 'onx', expected one of padops, onnx, pyop"),
    ({"without_pad": True}, "without_pad needs target='onnx'"),
    ({"target": "onnx", "without_pad": True, "select": "needed"}, "without_pad needs select='all'"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "text"), WRONG, ids=[next(reversed(row[0])) for row in WRONG])
def test_wrong_arguments_are_named(given: dict[str, Any], text: str) -> None:
    with pytest.raises(padops.UsageError) as error:
        padops.convert(**{"source": one_pad(13), **given})
    assert str(error.value) == text


def test_wrong_arguments_of_the_others() -> None:
    source, options = one_pad(13), onnxruntime.SessionOptions()
    session = onnxruntime.InferenceSession(source.SerializeToString())
    expected = "expected onnxruntime.SessionOptions$"
    for call, error, why in (
        (lambda: padops.lower("m.onnx", target="padops"), padops.UsageError, "is not an argument of padops.lower"),
        (lambda: padops.verify(source, source, inputs=[1], run=True), padops.UsageError, "inputs is a list"),
        (lambda: padops.inspect(source, select="x"), padops.UsageError, "select is 'x', expected 'all' or 'needed'"),
        (lambda: padops.inspect([]), padops.UsageError, "source is a list"),
        (lambda: padops.register(session), TypeError, f"session_options is InferenceSession, {expected}"),
        (lambda: padops.register({}), TypeError, f"session_options is dict, {expected}"),
        (lambda: padops.register(options, provider="no"), TypeError, "provider is 'no', expected True or False"),
    ):
        with pytest.raises(error, match=why):
            call()


def test_a_short_repr(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(one_pad(13).SerializeToString())
    assert repr(padops.convert(path)) == f"<Conversion of {path}: 1 Pad: 1 converted>"
    conversion = padops.convert(path, tmp_path / "out.onnx")
    assert repr(conversion) == f"<Conversion of {path}: 1 Pad: 1 converted, written to {tmp_path / 'out.onnx'}>"
    assert repr(padops.inspect(path)) == f"<Inspection of {path}: 1 Pad: 1 run>"


@pytest.mark.parametrize("written", [False, True])
def test_pickling(written: bool, with_data: Path) -> None:
    out = with_data.parent / "a" / "m.onnx"
    conversion = padops.convert(with_data, out if written else None, verify=True, run=True)
    again = pickle.loads(pickle.dumps(conversion))
    assert (again.proto(), again.to_json(), repr(again)) == (conversion.proto(), conversion.to_json(), repr(conversion))
    weights = again.model.graph.initializers["w"].const_value
    assert weights.tobytes() == conversion.model.graph.initializers["w"].const_value.tobytes() == WEIGHTS
    assert pickle.loads(pickle.dumps(padops.inspect(with_data))) == padops.inspect(with_data)
    again.save(with_data.parent / "b" / "m.onnx")
    assert (with_data.parent / "b" / "w.bin").read_bytes() == WEIGHTS


def test_saving(with_data: Path, tmp_path: Path) -> None:
    conversion = padops.convert(with_data)
    saved = conversion.save(tmp_path / "a" / "m.onnx")
    assert saved.output == tmp_path / "a" / "m.onnx"
    assert [Path(file.name).name for file in saved.outputs] == ["m.onnx", "w.bin"]
    padops.convert(with_data, tmp_path / "b" / "m.onnx")
    for name in ("m.onnx", "w.bin"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert onnx.load(tmp_path / "a" / "m.onnx", load_external_data=False) == conversion.proto()
    with pytest.raises(padops.PadopsError, match="cannot write"):
        conversion.save(tmp_path / "missing" / "m.onnx")
