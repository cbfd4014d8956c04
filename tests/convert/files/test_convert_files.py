"""A model as a file: what is read, what is written, and which arguments are refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from external_data import loads, names, refusal
from onnx import helper, numpy_helper
from small_models import FLOAT, convert, external, model, one_pad, pad, tensor

from padops.convert import PadopsError, files
from padops.convert.model import document

# --- One message holds at most 2 GiB ---------------------------------------------------------------------------------


def heavy() -> onnx.ModelProto:
    weights = [tensor(f"w{i}", np.arange(4 + i), np.float32) for i in range(2)]
    nodes = [helper.make_node("Concat", ["x", "w0", "w1"], ["s"], axis=0), pad(["s", "two"])]
    weights.append(tensor("two", [1, 2]))
    return model(nodes, 17, inputs=[("x", FLOAT, [4])], outputs=[("y", FLOAT, None)], tensors=weights)


@pytest.mark.parametrize("as_graph", [False, True])
def test_initializers_that_are_too_large_go_to_a_file(
    as_graph: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_PROTO", 40)
    monkeypatch.setattr(files, "WORTH_MOVING", 16)
    (tmp_path / "m.onnx.data").touch()
    source = ir.from_proto(heavy()) if as_graph else heavy()
    conversion = convert(source, tmp_path / "m.onnx")
    assert names(tmp_path) == ["m.onnx", "m.onnx.2.data", "m.onnx.data"]
    assert (tmp_path / "m.onnx.2.data").stat().st_size == 20
    assert [(f.name, f.bytes, f.written) for f in conversion.outputs[1:]] == [("m.onnx.2.data", 20, True)]
    arrays = {t.name: numpy_helper.to_array(t).tolist() for t in loads(tmp_path / "m.onnx").graph.initializer}
    assert arrays == {"w0": [0, 1, 2, 3], "w1": [0, 1, 2, 3, 4], "two": [1, 2]}
    values = {name: value.const_value.numpy().tolist() for name, value in conversion.model.graph.initializers.items()}
    assert values == arrays


def test_they_do_not_go_to_a_file_that_the_model_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """External data of that name are written beside the model, too."""
    source = heavy()
    source.graph.initializer[0].CopyFrom(external("w0", "m.onnx.data", 4))
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "m.onnx.data").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    onnx.save(source, tmp_path / "from" / "other.onnx")
    monkeypatch.setattr(files, "LARGEST_PROTO", 30)
    monkeypatch.setattr(files, "WORTH_MOVING", 16)
    convert(tmp_path / "from" / "other.onnx", tmp_path / "m.onnx")
    inputs = ["from", "from/m.onnx.data", "from/other.onnx"]
    assert names(tmp_path) == [*inputs, "m.onnx", "m.onnx.2.data", "m.onnx.data"]
    arrays = {t.name: numpy_helper.to_array(t).tolist() for t in loads(tmp_path / "m.onnx").graph.initializer}
    assert arrays == {"w0": [0, 1, 2, 3], "w1": [0, 1, 2, 3, 4], "two": [1, 2]}


def test_too_large_for_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_PROTO", 20)
    said = refusal(heavy(), tmp_path / "m.onnx")  # no initializer is worth moving
    assert "more than 20 bytes without its external data" in said
    assert "give an output, so that initializers can go to a data file" in refusal(heavy(), verify=True, run=True)
    assert names(tmp_path) == []
    monkeypatch.setattr(document, "LARGEST_PROTO", 20)
    path = tmp_path / "m.onnx"
    path.write_bytes(bytes(21))
    assert refusal(path) == f"{path} has 21 bytes; a protobuf message has at most 20"


# --- What cannot be converted at all --------------------------------------------------------------------------------


def test_a_model_without_a_pad_is_copied_byte_for_byte(tmp_path: Path) -> None:
    source = tmp_path / "in.onnx"
    message = model([helper.make_node("Identity", ["x"], ["y"])], 17)
    # The version twice, as serializing would not write it.
    source.write_bytes(onnx.ModelProto(ir_version=8).SerializeToString() + message.SerializeToString())
    conversion = convert(source, tmp_path / "out.onnx", verify=True, run=True)
    assert (conversion.records, conversion.notes) == ((), ("the model has no Pad",))
    assert (tmp_path / "out.onnx").read_bytes() == source.read_bytes()


def test_files_that_are_no_models(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"

    assert refusal(path) == f"{path} does not exist"
    for content, said in (
        (b"<?xml version='1.0'?><net/>", ": not an ONNX model: it cannot be parsed as a protobuf message"),
        (b"", ": not an ONNX model: it has no graph"),
        (b"\x20\0\0\0ORTM\0\0\0\0", " is in ORT format; convert the .onnx file that it was made from"),
    ):
        path.write_bytes(content)
        assert refusal(path, tmp_path / "out.onnx") == f"{path}{said}"
    assert refusal(tmp_path) == f"{tmp_path} is not a file"
    assert names(tmp_path) == ["m.onnx"]


def test_arguments_that_contradict_each_other(two_files: Path, tmp_path: Path) -> None:
    folder = two_files.parent
    os.link(two_files, tmp_path / "linked.onnx")
    (tmp_path / "soft.onnx").symlink_to(two_files)
    refused = [
        ({"output": two_files}, f"{two_files} is the source itself; to replace it, use in_place=True"),
        ({"output": tmp_path / "linked.onnx"},
         f"{tmp_path / 'linked.onnx'} is the source itself; to replace it, use in_place=True"),
        ({"output": tmp_path / "soft.onnx"},
         f"{two_files} is the source itself; to replace it, use in_place=True"),
        ({"output": folder / "a.bin"}, f"{folder / 'a.bin'} holds data of the source; name another output"),
        ({"output": tmp_path / "m.onnx", "in_place": True}, "in_place excludes output"),
        ({"select": "most"}, "select is 'most', expected 'all' or 'needed'"),
        ({"inputs": {}}, "inputs needs verify=True"),
        ({"seed": -1, "verify": True}, "seed is -1, expected 0 or more"),
        ({"base_dir": folder},
         "base_dir needs bytes, a file object or an onnx.ModelProto; other sources know their folder"),
        ({"report": two_files}, f"{two_files} is a model; name another file for the report"),
        ({"output": tmp_path / "m.onnx", "report": folder / ".." / "m.onnx"},
         f"{folder / '..' / 'm.onnx'} is a model; name another file for the report"),
    ]  # fmt: skip
    before = names(tmp_path)
    for arguments, text in refused:
        assert refusal(two_files, **arguments) == text
    assert "in_place needs a file" in refusal(one_pad(17), in_place=True)
    assert "source is an int, expected a path" in refusal(5)
    assert names(tmp_path) == before


def test_places_where_nothing_can_be_written(two_files: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "m.onnx"
    assert refusal(two_files, missing) == f"cannot write {missing}: the folder {missing.parent} does not exist"
    said = refusal(two_files, tmp_path / "in")
    assert said == f"cannot write {tmp_path / 'in'}: it is a folder; only regular files are replaced"
    said = refusal(two_files, tmp_path / "m.onnx", report=missing)
    assert said == f"cannot write {missing}: the folder {missing.parent} does not exist"
    assert names(tmp_path) == ["in", "in/a.bin", "in/deep", "in/deep/b.bin", "in/model.onnx"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").touch()  # a file where a data file's folder belongs
    with pytest.raises(PadopsError, match="nothing has been left behind"):
        convert(two_files, tmp_path / "out" / "m.onnx")
    assert names(tmp_path / "out") == ["deep"]
