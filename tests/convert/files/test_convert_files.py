"""Models as files: what is read and written, data in files of their own, links, and what is refused."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import external_data
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from command_lines import Cli
from external_data import loads, names, refusal, write_floats
from killed import contents
from onnx import TensorProto, helper, numpy_helper
from small_irs import PAD_IR, PAD_IR_WEIGHTS
from small_models import FLOAT, convert, external, model, one_pad, pad, same_but_for_the_pads, tensor

from padops.convert import PadopsError, UsageError, files, lower
from padops.convert.model import document

SECRET = np.arange(4, dtype=np.float32).tobytes()
TENSOR = "tensor 'w' (graph.initializer[0]): its data "


def save(path: Path, location: str = "w.bin") -> Path:
    return external_data.save(path.parent, [external("w", location, 4)], path.name)


def heavy() -> onnx.ModelProto:
    weights = [tensor(f"w{i}", np.arange(4 + i), np.float32) for i in range(2)]
    nodes = [helper.make_node("Concat", ["x", "w0", "w1"], ["s"], axis=0), pad(["s", "two"])]
    weights.append(tensor("two", [1, 2]))
    return model(nodes, 17, inputs=[("x", FLOAT, [4])], outputs=[("y", FLOAT, None)], tensors=weights)


HELD = {"w0": [0, 1, 2, 3], "w1": [0, 1, 2, 3, 4], "two": [1, 2]}


def arrays_of(path: Path) -> dict[str, list[float]]:
    return {one.name: numpy_helper.to_array(one).tolist() for one in loads(path).graph.initializer}


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
    values = {name: value.const_value.numpy().tolist() for name, value in conversion.model.graph.initializers.items()}
    assert values == arrays_of(tmp_path / "m.onnx") == HELD


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
    assert arrays_of(tmp_path / "m.onnx") == HELD


def test_too_large_for_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_PROTO", 20)
    said = refusal(heavy(), tmp_path / "m.onnx")  # no initializer is worth moving
    assert "more than 20 bytes without its external data" in said
    assert "name an output, so that initializers can go to a data file" in refusal(heavy(), verify=True, run=True)
    assert names(tmp_path) == []
    monkeypatch.setattr(document, "LARGEST_PROTO", 20)
    path = tmp_path / "m.onnx"
    path.write_bytes(bytes(21))
    assert refusal(path) == f"{path} has 21 bytes; a protobuf message has at most 20"


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
    itself = "is the source itself; to replace it, use in_place=True"
    refused = [
        ({"output": two_files}, f"{two_files} {itself}"),
        ({"output": tmp_path / "linked.onnx"}, f"{tmp_path / 'linked.onnx'} {itself}"),
        ({"output": tmp_path / "soft.onnx"}, f"{two_files} {itself}"),
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


def test_places_where_nothing_can_be_written(two_files: Path, tmp_path: Path, out: Path) -> None:
    missing = tmp_path / "missing" / "m.onnx"
    assert refusal(two_files, missing) == f"cannot write {missing}: the folder {missing.parent} does not exist"
    said = refusal(two_files, tmp_path / "in")
    assert said == f"cannot write {tmp_path / 'in'}: it is a folder; only regular files are replaced"
    said = refusal(two_files, tmp_path / "m.onnx", report=missing)
    assert said == f"cannot write {missing}: the folder {missing.parent} does not exist"
    assert names(tmp_path) == ["in", "in/a.bin", "in/deep", "in/deep/b.bin", "in/model.onnx", "out"]
    (out / "deep").touch()  # a file where a data file's folder belongs
    with pytest.raises(PadopsError, match="nothing has been left behind"):
        convert(two_files, out / "m.onnx")
    assert names(out) == ["deep"]


def test_data_are_copied_beside_the_output(two_files: Path, tmp_path: Path, out: Path) -> None:
    original = loads(two_files)
    os.link(two_files.with_name("a.bin"), tmp_path / "elsewhere.bin")  # which onnx would not read; it is copied, too
    before = {path: path.read_bytes() for path in (tmp_path / "in").rglob("*") if path.is_file()}
    steps: list[tuple[str, int, int]] = []
    conversion = convert(two_files, out / "m.onnx", verify=True, run=True, progress=lambda *step: steps.append(step))
    assert conversion.verification.outcome == "equal"
    assert names(out) == ["a.bin", "deep", "deep/b.bin", "m.onnx"]
    assert (out / "a.bin").read_bytes() == before[two_files.parent / "a.bin"]
    assert not any(path.is_symlink() or path.stat().st_nlink > 1 for path in out.rglob("*.bin"))
    assert same_but_for_the_pads(original, loads(out / "m.onnx"))
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


def test_data_that_are_taken_get_another_name(two_files: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in ("a.bin", "deep/b.bin", "deep/m.b.bin"):
        write_floats(out / name, 9)
    convert(two_files, out / "m.onnx", verify=True, run=True)
    assert names(out) == ["a.bin", "deep", "deep/b.bin", "deep/m.2.b.bin", "deep/m.b.bin", "m.a.bin", "m.onnx"]
    assert same_but_for_the_pads(loads(two_files), loads(out / "m.onnx"))
    assert (out / "a.bin").stat().st_size == 4
    first = convert(two_files, out / "m.onnx")  # what the first one wrote is found again
    assert [file.written for file in first.outputs] == [True, False, False]


def test_in_the_same_folder_data_are_shared(two_files: Path) -> None:
    output = two_files.with_name("converted.onnx")
    conversion = convert(two_files, output, verify=True, run=True)
    assert names(two_files.parent) == ["a.bin", "converted.onnx", "deep", "deep/b.bin", "model.onnx"]
    assert [file.written for file in conversion.outputs] == [True, False, False]
    assert (two_files.parent / "a.bin").stat().st_nlink == 1
    assert same_but_for_the_pads(loads(two_files), loads(output))


NO_LOCATION = "its data are external, but no location is given"
OUTSIDE = ("../w.bin", "a/../../w.bin", "/etc/hostname", "C:\\w.bin", "..\\w.bin")
BROKEN = [
    ({"location": None}, NO_LOCATION),
    ({"location": ""}, NO_LOCATION),
    *(({"location": one}, f"the location {one!r} of its data leads out of the model's folder") for one in OUTSIDE),
    ({"location": "v.bin"}, "its data file {folder}/v.bin does not exist"),
    ({"offset": 4}, "its data end at byte 20 of {folder}/w.bin, which has only 16"),
    ({"length": 12}, "its data have 12 bytes, but dims [4] need 16"),
    ({"length": "9" * 5000}, f"offset '0' and length '{'9' * 39} of its data must be numbers of bytes"),
    ({"offset": "-1"}, "offset '-1' and length '16' of its data must be numbers of bytes"),
]


@pytest.mark.parametrize(("entries", "text"), BROKEN, ids=[text[:40] for _, text in BROKEN])
def test_broken_data(entries: dict[str, Any], text: str, tmp_path: Path, out: Path) -> None:
    made = external("w", "w.bin", 4)
    del made.external_data[:]
    for key, value in {"location": "w.bin", **entries}.items():
        if value is not None:
            made.external_data.add(key=key, value=str(value))
    write_floats(tmp_path / "in" / "w.bin", *range(4))
    source = external_data.save(tmp_path / "in", [made])
    for dry_run in (False, True):
        said = refusal(source, out / "m.onnx", dry_run=dry_run)
        assert said == "tensor 'w' (graph.initializer[0]): " + text.format(folder=tmp_path / "in")
    assert names(out) == []


def test_data_of_a_message_need_a_folder(two_files: Path, tmp_path: Path) -> None:
    message = onnx.load(two_files, load_external_data=False)
    assert convert(message).converted
    with pytest.raises(UsageError, match="external data in an unknown folder; name the folder as base_dir"):
        convert(message, tmp_path / "m.onnx")
    for given, options in ((message, {"base_dir": two_files.parent}), (ir.load(two_files), {})):
        conversion = convert(given, tmp_path / "m.onnx", verify=True, run=True, **options)
        assert conversion.verification.outcome == "equal"
        arrays = [[t.raw_data for t in loads(path).graph.initializer] for path in (two_files, tmp_path / "m.onnx")]
        assert arrays[0] == arrays[1]


def with_external_amounts(**attributes: str) -> onnx.ModelProto:
    amounts = TensorProto(name="pads", data_type=TensorProto.INT64, dims=[4], data_location=TensorProto.EXTERNAL)
    amounts.external_data.add(key="location", value="p.bin")
    return model([pad(**attributes)], 17, tensors=[amounts])


def test_amounts_in_a_data_file_are_read_where_they_matter(tmp_path: Path) -> None:
    (tmp_path / "p.bin").write_bytes(np.array([0, 3, 0, 0], np.int64).tobytes())
    source = tmp_path / "m.onnx"
    source.write_bytes(with_external_amounts(mode="reflect").SerializeToString())
    os.link(tmp_path / "p.bin", tmp_path / "link.bin")  # onnx_ir would not read it
    (record,) = convert(source, select="needed").records
    assert record.status == "converted"  # 3 of 3 elements is one too many for ONNX Runtime


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return write_floats(tmp_path / "system" / "secret", *range(4))


def outside(data: Path, real: Path) -> str:
    how = "pass --follow-links (follow_links=True; for a session: convert={'follow_links': True}) to allow this"
    return f"{TENSOR}file {data} resolves to {real}, outside the model's folder; {how}"


def test_a_link_out_of_the_folder_is_refused(secret: Path, tmp_path: Path, out: Path, cli: Cli) -> None:
    linked = save(tmp_path / "in" / "m.onnx")
    (tmp_path / "in" / "w.bin").symlink_to("../system/secret")
    message = onnx.load(linked, load_external_data=False)
    base = {"base_dir": linked.parent}
    for source, options in [(linked, {}), (linked, {"dry_run": True}), (message, base)]:
        assert refusal(source, out / "m.onnx", **options) == outside(linked.parent / "w.bin", secret)
    for call in (lambda: convert(linked, in_place=True), lambda: convert(message, **base), lambda: lower(linked)):
        with pytest.raises(PadopsError, match="pass --follow-links"):
            call()
    assert contents(out) == {}
    for arguments, code in (((), 1), (("--follow-links",), 0)):
        assert cli("convert", linked, "-o", out / "m.onnx", *arguments)[0] == code
    assert (out / "w.bin").read_bytes() == SECRET


def test_a_folder_that_is_a_link(tmp_path: Path, secret: Path) -> None:
    source = save(tmp_path / "in" / "m.onnx", "deep/secret")
    (tmp_path / "in" / "deep").symlink_to("../system")
    assert refusal(source) == outside(tmp_path / "in" / "deep" / "secret", secret)


def test_constants_behind_a_link_are_not_read(tmp_path: Path) -> None:
    """Not even the few bytes of the amounts of a Pad."""
    (tmp_path / "amounts").write_bytes(np.array([1, 0, 2, 0], np.int64).tobytes())
    source = tmp_path / "in" / "m.onnx"
    source.parent.mkdir()
    message = with_external_amounts()
    source.write_bytes(message.SerializeToString())
    (tmp_path / "in" / "p.bin").symlink_to("../amounts")
    for given, options in [(source, {}), (message, {"base_dir": tmp_path / "in"})]:
        with pytest.raises(PadopsError, match="pass --follow-links"):
            convert(given, fold=True, **options)


def make_cache(tmp_path: Path, folder: str) -> Path:
    """A Hugging Face cache: every file a link to a blob that is called by its hash."""
    place = tmp_path / "hub" / "models--a--b" / "snapshots" / "0123" / folder
    blobs = tmp_path / "hub" / "models--a--b" / "blobs"
    place.mkdir(parents=True)
    save(blobs / "aaaa", "model.onnx_data")
    (blobs / "bbbb").write_bytes(SECRET)
    for name, blob in (("model.onnx", "aaaa"), ("model.onnx_data", "bbbb")):
        (place / name).symlink_to(os.path.relpath(blobs / blob, place))
    return place / "model.onnx"


@pytest.mark.parametrize("folder", ["", "onnx/deep"])
def test_a_hugging_face_cache(folder: str, tmp_path: Path, out: Path) -> None:
    source = make_cache(tmp_path, folder)
    assert convert(source, out / "m.onnx", verify=True, run=True).verification.outcome == "equal"
    assert contents(out).keys() == {"m.onnx", "model.onnx_data"}
    message = onnx.load(source, load_external_data=False)
    assert convert(message, base_dir=source.parent).records
    # The link becomes a file; the blob, whose name is its hash, does not change. onnxruntime refuses linked data beside
    # a model that is no link, so the data become a file too, under a name of their own.
    blobs = contents(tmp_path / "hub" / "models--a--b" / "blobs")
    conversion = convert(source, in_place=True, verify=True, run=True)
    assert conversion.notes == (f"{source} was a symbolic link and is now a file of its own",)
    assert contents(source.parent).keys() == {"model.model.onnx_data", "model.onnx", "model.onnx_data"}
    assert not source.is_symlink() and source.with_name("model.onnx_data").is_symlink()
    assert contents(tmp_path / "hub" / "models--a--b" / "blobs") == blobs
    assert external_data.loads(source).graph.initializer[0].raw_data
    assert convert(source, verify=True, run=True).verification.outcome == "equal"


def test_a_cache_whose_blobs_are_elsewhere(tmp_path: Path, secret: Path) -> None:
    """A folder that looks like a cache does not let its links lead out of it."""
    source = make_cache(tmp_path, "")
    blobs = source.parents[2] / "blobs"
    source.unlink()
    source.write_bytes((blobs / "aaaa").read_bytes())
    blobs.rename(tmp_path / "moved")
    blobs.symlink_to(tmp_path / "moved")
    assert refusal(source) == outside(source.with_name("model.onnx_data"), tmp_path / "moved" / "bbbb")


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    source = save(tmp_path / "m.onnx")
    data = tmp_path / "w.bin"
    for make, kind in (
        (os.mkfifo, "a FIFO, a socket or a device"),
        (os.mkdir, "a folder"),
        (lambda path: path.symlink_to("gone"), "a symbolic link to gone, which does not exist"),
    ):
        make(data)
        assert refusal(source, follow_links=True) == f"{TENSOR}file {data} is {kind}"
        data.rmdir() if data.is_dir() else data.unlink()
    save(source, "w\0.bin")
    with pytest.raises(PadopsError, match=r"the location 'w\\x00.bin' of its data is not a file name"):
        convert(source)


def test_one_file_under_two_names(tmp_path: Path, out: Path) -> None:
    external_data.save(tmp_path, [external("w", "w.bin", 4), external("v", "./w.bin", 4)], "m.onnx")
    write_floats(tmp_path / "w.bin", *range(4))
    convert(tmp_path / "m.onnx", out / "m.onnx", verify=True, run=True)
    assert contents(out).keys() == {"m.onnx", "w.bin"}


def test_the_report_does_not_take_the_place_of_data(tmp_path: Path, out: Path) -> None:
    source = save(tmp_path / "in" / "m.onnx")
    write_floats(tmp_path / "in" / "w.bin", *range(4))
    convert(source, out / "m.onnx", report=out / "w.bin")
    assert contents(out).keys() == {"m.onnx", "m.w.bin", "w.bin"}
    assert onnx.load(out / "m.onnx").graph.initializer[0].raw_data == SECRET
    said = refusal(source, out / "n.onnx", report=tmp_path / "in" / "w.bin")
    assert said == f"{tmp_path / 'in' / 'w.bin'} holds data of the source; name another output"


def test_data_are_not_written_through_a_link(tmp_path: Path) -> None:
    source = save(tmp_path / "in" / "m.onnx", "deep/w.bin")
    write_floats(tmp_path / "in" / "deep" / "w.bin", *range(4))
    for name in ("out", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "out" / "deep").symlink_to("../elsewhere")
    deep = tmp_path / "out" / "deep"
    said = f"cannot write {deep / 'w.bin'}: {deep} resolves to {tmp_path / 'elsewhere'}, outside the output's folder"
    assert refusal(source, tmp_path / "out" / "m.onnx") == said
    assert contents(tmp_path / "elsewhere") == {}


def test_the_weights_of_another_format(tmp_path: Path, secret: Path) -> None:
    source = tmp_path / "in" / "m.xml"
    source.parent.mkdir()
    source.write_text(PAD_IR)
    secret.write_bytes(PAD_IR_WEIGHTS)
    source.with_suffix(".bin").symlink_to("../system/secret")
    said = f"{source}: its data file {source.with_suffix('.bin')} resolves to {secret}, outside the model's folder; "
    assert refusal(source, tmp_path / "m.onnx").startswith(said)
    assert convert(source, tmp_path / "m.onnx", follow_links=True).output
