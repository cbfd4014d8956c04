"""A model as files: external data, links, and nothing half-written."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_models import FLOAT, convert, external, model, one_pad, pad, same_but_for_the_pads, tensor

from padops.convert import PadopsError, UsageError
from padops.convert.files import writing
from padops.convert.model import reading
from padops.files import staging

PADS = tensor("pads", [1, 0, 2, 0])


def names(folder: Path) -> list[str]:
    """Every file and folder below ``folder``, hidden ones included."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def save(folder: Path, tensors: list[onnx.TensorProto], name: str = "model.onnx") -> Path:
    """A model that adds up external vectors of 4 elements and pads the sum, and the data files that it wants."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [helper.make_node("Sum", ["x", *(t.name for t in tensors)], ["s"]), pad(["s", "two"])]
    two = tensor("two", [1, 2])
    source = model(nodes, 17, inputs=[("x", FLOAT, [4])], outputs=[("y", FLOAT, [7])], tensors=[*tensors, two])
    path = folder / name
    path.write_bytes(source.SerializeToString())
    return path


def write_floats(path: Path, *values: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(np.array(values, np.float32).tobytes())
    return path


def loads(path: Path) -> onnx.ModelProto:
    """The model with its external data, as onnx itself reads it: links refused."""
    loaded = onnx.load(path)
    assert not any(t.data_location == TensorProto.EXTERNAL for t in loaded.graph.initializer)
    return loaded


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    """A model whose data lie in two files, one of them in a folder of its own, two tensors in one."""
    write_floats(tmp_path / "in" / "a.bin", *range(8))
    write_floats(tmp_path / "in" / "deep" / "b.bin", *range(4))
    tensors = [external("w0", "a.bin", 4), external("w1", "deep/b.bin", 4), external("w2", "a.bin", 4, offset=16)]
    return save(tmp_path / "in", tensors)


def test_data_are_copied_beside_the_output(two_files: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in (tmp_path / "in").rglob("*") if path.is_file()}
    out = tmp_path / "out"
    out.mkdir()
    steps: list[tuple[str, int, int]] = []
    conversion = convert(two_files, out / "m.onnx", verify=True, progress=lambda *step: steps.append(step))
    assert conversion.verification.outcome == "equal"
    assert names(out) == ["a.bin", "deep", "deep/b.bin", "m.onnx"]
    assert (out / "a.bin").read_bytes() == before[two_files.parent / "a.bin"]
    assert not any(path.is_symlink() or path.stat().st_nlink > 1 for path in out.rglob("*.bin"))
    assert same_but_for_the_pads(loads(two_files), loads(out / "m.onnx"))
    assert {path: path.read_bytes() for path in before} == before
    assert names(tmp_path / "in") == ["a.bin", "deep", "deep/b.bin", "model.onnx"]
    assert steps == [("copying external data", 32, 48), ("copying external data", 48, 48)]
    digest = hashlib.sha256((out / "m.onnx").read_bytes()).hexdigest()
    assert [(f.name, f.bytes, f.sha256, f.written) for f in conversion.outputs] == [
        (str(out / "m.onnx"), (out / "m.onnx").stat().st_size, digest, True),
        ("a.bin", 32, None, True),
        ("deep/b.bin", 16, None, True),
    ]
    assert [(f.name, f.bytes) for f in conversion.sources[1:]] == [("a.bin", 32), ("deep/b.bin", 16)]


def test_converting_again_copies_nothing(two_files: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    convert(two_files, out / "m.onnx")
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in out.rglob("*.bin")}
    conversion = convert(two_files, out / "m.onnx")
    assert [file.written for file in conversion.outputs] == [True, False, False]
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in out.rglob("*.bin")} == before


def test_data_that_are_taken_get_another_name(two_files: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_floats(out / "a.bin", 9)
    write_floats(out / "deep" / "b.bin", 9)
    write_floats(out / "deep" / "m.b.bin", 9)
    convert(two_files, out / "m.onnx", verify=True)
    assert names(out) == ["a.bin", "deep", "deep/b.bin", "deep/m.2.b.bin", "deep/m.b.bin", "m.a.bin", "m.onnx"]
    assert same_but_for_the_pads(loads(two_files), loads(out / "m.onnx"))
    assert (out / "a.bin").stat().st_size == 4
    first = convert(two_files, out / "m.onnx")  # what the first one wrote is found again
    assert [file.written for file in first.outputs] == [True, False, False]


def test_the_output_may_want_the_name_of_a_data_file(tmp_path: Path) -> None:
    write_floats(tmp_path / "in" / "m.onnx", *range(4))
    source = save(tmp_path / "in", [external("w", "m.onnx", 4)])
    (tmp_path / "out").mkdir()
    convert(source, tmp_path / "out" / "m.onnx")
    assert names(tmp_path / "out") == ["m.m.onnx", "m.onnx"]
    assert same_but_for_the_pads(loads(source), loads(tmp_path / "out" / "m.onnx"))


def test_in_the_same_folder_data_are_shared(two_files: Path) -> None:
    output = two_files.with_name("converted.onnx")
    conversion = convert(two_files, output, verify=True)
    assert names(two_files.parent) == ["a.bin", "converted.onnx", "deep", "deep/b.bin", "model.onnx"]
    assert [file.written for file in conversion.outputs] == [True, False, False]
    assert (two_files.parent / "a.bin").stat().st_nlink == 1
    assert same_but_for_the_pads(loads(two_files), loads(output))


def test_in_place_leaves_data_alone(two_files: Path) -> None:
    original = loads(two_files)
    data = two_files.parent / "a.bin"
    before = data.stat()
    two_files.chmod(0o640)
    conversion = convert(two_files, in_place=True, verify=True)
    assert conversion.output == two_files
    assert names(two_files.parent) == ["a.bin", "deep", "deep/b.bin", "model.onnx"]
    assert (data.stat().st_ino, data.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert stat.S_IMODE(two_files.stat().st_mode) == 0o640
    assert same_but_for_the_pads(original, loads(two_files))
    inode = two_files.stat().st_ino
    again = convert(two_files, in_place=True)
    assert (again.output, again.notes) == (None, ("nothing had to be changed",))
    assert two_files.stat().st_ino == inode


def cache(tmp_path: Path) -> Path:
    """A model as the Hugging Face cache lays it out: every name is a link to a blob that is called by its hash."""
    folder = tmp_path / "hub" / "snapshots" / "abc"
    blobs = tmp_path / "hub" / "blobs"
    write_floats(blobs / "d4", *range(4))
    save(blobs, [external("w", "model.onnx_data", 4)], "m0")
    folder.mkdir(parents=True)
    (folder / "model.onnx").symlink_to("../../blobs/m0")
    (folder / "model.onnx_data").symlink_to("../../blobs/d4")
    return folder / "model.onnx"


def test_a_hugging_face_cache(tmp_path: Path) -> None:
    source = cache(tmp_path)
    (tmp_path / "out").mkdir()
    conversion = convert(source, tmp_path / "out" / "model.onnx", verify=True)
    assert conversion.verification.outcome == "equal"
    assert names(tmp_path / "out") == ["model.onnx", "model.onnx_data"]
    assert not any(path.is_symlink() for path in (tmp_path / "out").iterdir())
    assert (tmp_path / "out" / "model.onnx_data").read_bytes() == np.arange(4, dtype=np.float32).tobytes()
    assert loads(tmp_path / "out" / "model.onnx").graph.initializer[0].raw_data


def test_a_hugging_face_cache_in_place(tmp_path: Path) -> None:
    """The link becomes a file; the blob, whose name is its hash, does not change. onnxruntime refuses linked data
    beside a model that is no link, so the data become a file too, under a name of their own."""
    source = cache(tmp_path)
    blobs = {path: path.read_bytes() for path in (tmp_path / "hub" / "blobs").iterdir()}
    conversion = convert(source, in_place=True, verify=True)
    assert conversion.notes == (f"{source} was a symbolic link and is now a file of its own",)
    assert names(source.parent) == ["model.model.onnx_data", "model.onnx", "model.onnx_data"]
    assert not source.is_symlink() and source.with_name("model.onnx_data").is_symlink()
    assert {path: path.read_bytes() for path in (tmp_path / "hub" / "blobs").iterdir()} == blobs
    assert loads(source).graph.initializer[0].raw_data
    assert convert(source, verify=True).verification.outcome == "equal"


def test_hard_links_are_copied(tmp_path: Path) -> None:
    write_floats(tmp_path / "elsewhere.bin", *range(4))
    (tmp_path / "in").mkdir()
    os.link(tmp_path / "elsewhere.bin", tmp_path / "in" / "w.bin")
    source = save(tmp_path / "in", [external("w", "w.bin", 4)])
    (tmp_path / "out").mkdir()
    convert(source, tmp_path / "out" / "m.onnx", verify=True)
    assert (tmp_path / "out" / "w.bin").stat().st_nlink == 1
    assert loads(tmp_path / "out" / "m.onnx")


def broken(folder: Path, **entries: Any) -> Path:
    made = external("w", "w.bin", 4)
    del made.external_data[:]
    for key, value in {"location": "w.bin", **entries}.items():
        if value is not None:
            made.external_data.add(key=key, value=str(value))
    write_floats(folder / "w.bin", *range(4))
    return save(folder, [made])


TENSOR = "tensor 'w' (graph.initializer[0]): "
BROKEN = {
    "no location": ({"location": None}, "its data are external, but no location is given"),
    "empty location": ({"location": ""}, "its data are external, but no location is given"),
    "climbs": ({"location": "../w.bin"}, "the location '../w.bin' of its data leads out of the model's folder"),
    "climbs later": ({"location": "a/../../w.bin"},
                     "the location 'a/../../w.bin' of its data leads out of the model's folder"),
    "absolute": ({"location": "/etc/hostname"},
                 "the location '/etc/hostname' of its data leads out of the model's folder"),
    "Windows": ({"location": "C:\\w.bin"}, "the location 'C:\\\\w.bin' of its data leads out of the model's folder"),
    "Windows climbs": ({"location": "..\\w.bin"},
                       "the location '..\\\\w.bin' of its data leads out of the model's folder"),
    "in memory": ({"location": "*/_ORT_MEM_ADDR_/*"},
                  "its data are in the memory of the process that saved the model; nothing can be read"),
    "missing": ({"location": "v.bin"}, "its data file {folder}/v.bin does not exist"),
    "too short": ({"offset": 4}, "its data end at byte 20 of {folder}/w.bin, which has only 16"),
    "length too small": ({"length": 12}, "its data have 12 bytes, but dims [4] need 16"),
    "no number": ({"offset": "-1"}, "offset '-1' and length '16' of its data must be numbers of bytes"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_data(kind: str, tmp_path: Path) -> None:
    entries, text = BROKEN[kind]
    source = broken(tmp_path / "in", **entries)
    (tmp_path / "out").mkdir()
    for dry_run in (False, True):
        with pytest.raises(PadopsError) as caught:
            convert(source, tmp_path / "out" / "m.onnx", dry_run=dry_run)
        assert str(caught.value) == TENSOR + text.format(folder=tmp_path / "in")
    assert names(tmp_path / "out") == []


def test_data_of_a_message_need_a_folder(two_files: Path, tmp_path: Path) -> None:
    message = onnx.load(two_files, load_external_data=False)
    assert convert(message).converted
    with pytest.raises(UsageError, match="say with base_dir which folder they are relative to"):
        convert(message, tmp_path / "m.onnx")
    conversion = convert(message, tmp_path / "m.onnx", base_dir=two_files.parent, verify=True)
    assert conversion.verification.outcome == "equal"
    assert same_but_for_the_pads(loads(two_files), loads(tmp_path / "m.onnx"))


def test_data_of_a_graph_are_where_it_says(two_files: Path, tmp_path: Path) -> None:
    conversion = convert(ir.load(two_files), tmp_path / "m.onnx", verify=True)
    assert conversion.verification.outcome == "equal"
    assert names(tmp_path)[:2] == ["a.bin", "deep"]
    loaded = loads(tmp_path / "m.onnx")
    assert [t.raw_data for t in loaded.graph.initializer] == [t.raw_data for t in loads(two_files).graph.initializer]


def test_amounts_in_a_data_file_are_read_where_they_matter(tmp_path: Path) -> None:
    (tmp_path / "p.bin").write_bytes(np.array([0, 3, 0, 0], np.int64).tobytes())
    amounts = TensorProto(name="pads", data_type=TensorProto.INT64, dims=[4], data_location=TensorProto.EXTERNAL)
    amounts.external_data.add(key="location", value="p.bin")
    source = tmp_path / "m.onnx"
    source.write_bytes(model([pad(mode="reflect")], 17, tensors=[amounts]).SerializeToString())
    os.link(tmp_path / "p.bin", tmp_path / "link.bin")  # onnx_ir would not read it
    (record,) = convert(source, select="needed").records
    assert record.status == "converted"  # 3 of 3 elements is one too many for ONNX Runtime


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
    monkeypatch.setattr(writing, "LARGEST_PROTO", 40)
    monkeypatch.setattr(writing, "WORTH_MOVING", 16)
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


def test_too_large_for_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "LARGEST_PROTO", 20)
    with pytest.raises(PadopsError, match="more than 20 bytes without its external data"):
        convert(heavy(), tmp_path / "m.onnx")  # no initializer is worth moving
    with pytest.raises(PadopsError, match="give an output, so that initializers can go to a data file"):
        convert(heavy(), verify=True)
    assert names(tmp_path) == []


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST_PROTO", 20)
    path = tmp_path / "m.onnx"
    path.write_bytes(bytes(21))
    with pytest.raises(PadopsError) as caught:
        convert(path)
    assert str(caught.value) == f"{path} has 21 bytes; a protobuf message has at most 20"


# --- Nothing half-written -------------------------------------------------------------------------------------------


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def on_call(count: int, real: Callable[..., Any], fail: Callable[..., Any]) -> Callable[..., Any]:
    """``real``, but ``fail`` at one of its calls."""
    calls = iter(range(1, 100))
    return lambda *args, **named: (fail if next(calls) == count else real)(*args, **named)


# Each of three files is brought to the disk; the data are linked to where nothing is, the model replaces another.
CALLS = [("fsync", 1), ("fsync", 2), ("fsync", 3), ("link", 1), ("link", 2), ("replace", 1)]
FAILURES = [(*call, fail) for call, fail in product(CALLS, (full_disk, interrupted))]


@pytest.mark.parametrize(("where", "count", "fail"), FAILURES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_failure_in_the_middle(where: str, count: int, fail: Callable[..., Any], two_files: Path, tmp_path: Path,
                                 monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    out = tmp_path / "out"
    out.mkdir()
    (out / "m.onnx").write_text("what was there")
    before = names(tmp_path)
    monkeypatch.setattr(staging.os, where, on_call(count, getattr(os, where), fail))
    with pytest.raises(PadopsError if fail is full_disk else KeyboardInterrupt) as caught:
        convert(two_files, out / "m.onnx", report=tmp_path / "report.json")
    if fail is full_disk:
        assert str(caught.value) == (
            f"cannot write {out / 'm.onnx'}: No space left on device; nothing has been left behind"
        )
    monkeypatch.undo()
    assert names(tmp_path) == before
    assert (out / "m.onnx").read_text() == "what was there"


def test_only_what_replaces_a_file_waits_for_the_disk(
    two_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a new model nothing is lost with the power: its source is still there."""
    waited: list[int] = []
    monkeypatch.setattr(staging.os, "fsync", waited.append)
    out = tmp_path / "out"
    out.mkdir()
    convert(two_files, out / "m.onnx")
    assert waited == []
    written = names(out)
    convert(two_files, out / "m.onnx")
    assert (len(waited), names(out)) == (1, written)  # the model; its data are there already


def test_a_failure_in_place(two_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, listed = two_files.read_bytes(), names(two_files.parent)
    monkeypatch.setattr(staging.os, "replace", full_disk)
    with pytest.raises(PadopsError):
        convert(two_files, in_place=True)
    assert (two_files.read_bytes(), names(two_files.parent)) == (before, listed)


def test_a_failed_verification_writes_nothing(two_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(UsageError):
        convert(two_files, out / "m.onnx", verify=True, inputs={"z": np.zeros(4, np.float32)})
    assert names(out) == []


def test_no_model_is_written_for_a_dry_run(two_files: Path, tmp_path: Path) -> None:
    before = names(tmp_path)
    conversion = convert(two_files, tmp_path / "m.onnx", dry_run=True, verify=True)
    assert (conversion.output, conversion.verification.outcome) == (None, "equal")
    assert names(tmp_path) == before


# --- What cannot be converted at all --------------------------------------------------------------------------------


def test_a_model_without_a_pad_is_copied_byte_for_byte(tmp_path: Path) -> None:
    source = tmp_path / "in.onnx"
    message = model([helper.make_node("Identity", ["x"], ["y"])], 17)
    # The version twice, as serializing would not write it.
    source.write_bytes(onnx.ModelProto(ir_version=8).SerializeToString() + message.SerializeToString())
    conversion = convert(source, tmp_path / "out.onnx", verify=True)
    assert (conversion.records, conversion.notes) == ((), ("the model has no Pad",))
    assert (tmp_path / "out.onnx").read_bytes() == source.read_bytes()


def test_files_that_are_no_models(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"

    def refusal(content: bytes | None = None) -> str:
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(PadopsError) as caught:
            convert(path, tmp_path / "out.onnx")
        return str(caught.value)

    assert refusal() == f"{path} does not exist"
    assert refusal(b"<?xml version='1.0'?><net/>") == (
        f"{path} is not an ONNX model: it cannot be parsed as a protobuf message"
    )
    assert refusal(b"") == f"{path} is not an ONNX model: it has no graph"
    assert refusal(b"\x20\0\0\0ORTM\0\0\0\0") == (
        f"{path} is in ORT format; convert the .onnx file that it was made from"
    )
    path.unlink()
    path.mkdir()
    assert refusal() == f"{path} is not a file"
    assert not (tmp_path / "out.onnx").exists()


def test_arguments_that_contradict_each_other(two_files: Path, tmp_path: Path) -> None:
    folder = two_files.parent
    os.link(two_files, tmp_path / "linked.onnx")
    (tmp_path / "soft.onnx").symlink_to(two_files)
    refused = [
        ({"output": two_files}, f"{two_files} is the source itself; to replace it, convert in place"),
        ({"output": tmp_path / "linked.onnx"},
         f"{tmp_path / 'linked.onnx'} is the source itself; to replace it, convert in place"),
        ({"output": tmp_path / "soft.onnx"},
         f"{tmp_path / 'soft.onnx'} is the source itself; to replace it, convert in place"),
        ({"output": folder / "a.bin"}, f"{folder / 'a.bin'} holds data of the source"),
        ({"output": tmp_path / "m.onnx", "in_place": True}, "in place means without an output; give one of them"),
        ({"select": "most"}, "select is 'most', expected 'all' or 'needed'"),
        ({"inputs": {}}, "inputs are for verifying; ask for that too"),
        ({"seed": -1, "verify": True}, "seed is -1, expected 0 or more"),
        ({"base_dir": folder},
         "base_dir is for a model that is no file; other sources know where their external data are"),
        ({"report": two_files}, f"the report cannot be written to {two_files}, which is the model"),
        ({"output": tmp_path / "m.onnx", "report": folder / ".." / "m.onnx"},
         f"the report cannot be written to {folder / '..' / 'm.onnx'}, which is the model"),
    ]  # fmt: skip
    before = names(tmp_path)
    for arguments, text in refused:
        with pytest.raises(UsageError) as caught:
            convert(two_files, **arguments)
        assert str(caught.value) == text
    with pytest.raises(UsageError, match="only a file can be converted in place"):
        convert(one_pad(17), in_place=True)
    with pytest.raises(UsageError, match="source is an int, expected a path"):
        convert(5)
    assert names(tmp_path) == before


def test_places_where_nothing_can_be_written(two_files: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "m.onnx"
    with pytest.raises(PadopsError) as caught:
        convert(two_files, missing)
    assert str(caught.value) == f"cannot write {missing}: the folder {missing.parent} does not exist"
    with pytest.raises(PadopsError) as caught:
        convert(two_files, tmp_path / "in")
    assert str(caught.value) == f"cannot write {tmp_path / 'in'}: it is a folder"
    with pytest.raises(PadopsError) as caught:
        convert(two_files, tmp_path / "m.onnx", report=missing)
    assert str(caught.value) == f"cannot write {missing}: the folder {missing.parent} does not exist"
    assert names(tmp_path) == ["in", "in/a.bin", "in/deep", "in/deep/b.bin", "in/model.onnx"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").touch()  # a file where a data file's folder belongs
    with pytest.raises(PadopsError, match="nothing has been left behind"):
        convert(two_files, tmp_path / "out" / "m.onnx")
    assert names(tmp_path / "out") == ["deep"]


def test_a_folder_whose_name_is_not_plain(two_files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "été [x] {y} %s"
    shutil.copytree(two_files.parent, folder)
    output = folder / "out put.onnx"
    assert convert(folder / "model.onnx", output, verify=True).verification.outcome == "equal"
    assert loads(output)
