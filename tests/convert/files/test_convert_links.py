"""External data that are links: a model must not have files of this machine copied that are none of its own."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import external_data
import numpy as np
import onnx
import pytest
from command_lines import run
from external_data import refusal
from killed import contents
from small_models import convert, external, model, one_pad, pad

from padops.convert import PadopsError, lower
from padops.convert.model import document
from padops.convert.records import FileRecord

SECRET = np.arange(4, dtype=np.float32).tobytes()
TENSOR = "tensor 'w' (graph.initializer[0]): its data file"


def save(path: Path, location: str = "w.bin") -> Path:
    """A model of one Pad with a weight in a file."""
    return external_data.save(path.parent, [external("w", location, 4)], path.name)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / "secret").write_bytes(SECRET)
    return tmp_path / "system" / "secret"


@pytest.fixture
def linked(tmp_path: Path, secret: Path) -> Path:
    """A model whose data are a link to somewhere else."""
    source = save(tmp_path / "in" / "m.onnx")
    (tmp_path / "in" / "w.bin").symlink_to("../system/secret")
    (tmp_path / "out").mkdir()
    return source


def outside(data: Path, real: Path) -> str:
    return (
        f"{TENSOR} {data} is really {real}, outside the model's folder; give --follow-links (follow_links=True; for a "
        "session: convert={'follow_links': True}) if you mean it"
    )


def test_a_link_out_of_the_folder_is_refused(linked: Path, secret: Path, tmp_path: Path, capsys: Any) -> None:
    message = onnx.load(linked, load_external_data=False)
    base = {"base_dir": linked.parent}
    for source, options in [(linked, {}), (linked, {"dry_run": True}), (message, base)]:
        assert refusal(source, tmp_path / "out" / "m.onnx", **options) == outside(linked.parent / "w.bin", secret)
    for call in (lambda: convert(linked, in_place=True), lambda: convert(message, **base), lambda: lower(linked)):
        with pytest.raises(PadopsError, match="give --follow-links"):
            call()
    assert contents(tmp_path / "out") == {}
    for arguments, code in (((), 1), (("--follow-links",), 0)):
        assert run(capsys, "convert", linked, "-o", tmp_path / "out" / "m.onnx", *arguments)[0] == code
    assert (tmp_path / "out" / "w.bin").read_bytes() == SECRET


def test_a_folder_that_is_a_link(tmp_path: Path, secret: Path) -> None:
    source = save(tmp_path / "in" / "m.onnx", "deep/secret")
    (tmp_path / "in" / "deep").symlink_to("../system")
    assert refusal(source) == outside(tmp_path / "in" / "deep" / "secret", secret)


def test_constants_behind_a_link_are_not_read(tmp_path: Path) -> None:
    """Not even the few bytes of the amounts of a Pad."""
    (tmp_path / "amounts").write_bytes(np.array([1, 0, 2, 0], np.int64).tobytes())
    amounts = onnx.TensorProto(name="pads", data_type=7, dims=[4], data_location=onnx.TensorProto.EXTERNAL)
    amounts.external_data.add(key="location", value="p.bin")
    source = tmp_path / "in" / "m.onnx"
    source.parent.mkdir()
    message = model([pad()], 17, tensors=[amounts])
    source.write_bytes(message.SerializeToString())
    (tmp_path / "in" / "p.bin").symlink_to("../amounts")
    for given, options in [(source, {}), (message, {"base_dir": tmp_path / "in"})]:
        with pytest.raises(PadopsError, match="give --follow-links"):
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
def test_a_hugging_face_cache(folder: str, tmp_path: Path) -> None:
    source = make_cache(tmp_path, folder)
    out = tmp_path / "out"
    out.mkdir()
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
    model_file = blobs / "aaaa"
    source.unlink()
    source.write_bytes(model_file.read_bytes())
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
        assert refusal(source, follow_links=True) == f"{TENSOR} {data} is {kind}"
        data.rmdir() if data.is_dir() else data.unlink()
    save(source, "w\0.bin")
    with pytest.raises(PadopsError, match=r"the location 'w\\x00.bin' of its data is no name of a file"):
        convert(source)


def test_one_file_under_two_names(tmp_path: Path) -> None:
    """``w.bin`` and ``./w.bin`` are copied once."""
    external_data.save(tmp_path, [external("w", "w.bin", 4), external("v", "./w.bin", 4)], "m.onnx")
    (tmp_path / "w.bin").write_bytes(SECRET)
    (tmp_path / "out").mkdir()
    convert(tmp_path / "m.onnx", tmp_path / "out" / "m.onnx", verify=True, run=True)
    assert contents(tmp_path / "out").keys() == {"m.onnx", "w.bin"}


def test_the_report_does_not_take_the_place_of_data(tmp_path: Path) -> None:
    source = save(tmp_path / "in" / "m.onnx")
    (tmp_path / "in" / "w.bin").write_bytes(SECRET)
    (tmp_path / "out").mkdir()
    convert(source, tmp_path / "out" / "m.onnx", report=tmp_path / "out" / "w.bin")
    assert contents(tmp_path / "out").keys() == {"m.onnx", "m.w.bin", "w.bin"}
    assert onnx.load(tmp_path / "out" / "m.onnx").graph.initializer[0].raw_data == SECRET
    assert (
        refusal(source, tmp_path / "out" / "n.onnx", report=tmp_path / "in" / "w.bin")
        == f"{tmp_path / 'in' / 'w.bin'} holds data of the source; name another output"
    )


def test_data_are_not_written_through_a_link(tmp_path: Path) -> None:
    source = save(tmp_path / "in" / "m.onnx", "deep/w.bin")
    (tmp_path / "in" / "deep").mkdir()
    (tmp_path / "in" / "deep" / "w.bin").write_bytes(SECRET)
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "deep").symlink_to("../elsewhere")
    with pytest.raises(PadopsError) as caught:
        convert(source, tmp_path / "out" / "m.onnx")
    deep = tmp_path / "out" / "deep"
    assert str(caught.value) == (
        f"cannot write {deep / 'w.bin'}: {deep} is really {tmp_path / 'elsewhere'}, outside the output's folder"
    )
    assert contents(tmp_path / "elsewhere") == {}


def test_the_weights_of_another_format(tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``model.bin`` beside ``model.xml``; a reader stands in for OpenVINO's, which needs more than this test."""
    source = tmp_path / "in" / "m.xml"
    files = [FileRecord(str(file), 16) for file in (source, source.with_suffix(".bin"))]
    reader = SimpleNamespace(read=lambda path: (one_pad(), files, ""))
    monkeypatch.setattr(document, "import_module", lambda name: reader)
    source.parent.mkdir()
    source.touch()
    source.with_suffix(".bin").symlink_to("../system/secret")
    said = f"{source}: its data file {source.with_suffix('.bin')} is really {secret}, outside the model's folder; "
    assert refusal(source, tmp_path / "m.onnx").startswith(said)
    assert convert(source, tmp_path / "m.onnx", follow_links=True).output
