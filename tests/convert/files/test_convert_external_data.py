"""External data: copied, shared or linked, and refused where they are broken."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from external_data import loads, names, refusal, save, write_floats
from onnx import TensorProto
from small_models import convert, external, model, pad, same_but_for_the_pads

from padops.convert import UsageError


def test_data_are_copied_beside_the_output(two_files: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in (tmp_path / "in").rglob("*") if path.is_file()}
    out = tmp_path / "out"
    out.mkdir()
    steps: list[tuple[str, int, int]] = []
    conversion = convert(two_files, out / "m.onnx", verify=True, run=True, progress=lambda *step: steps.append(step))
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


def test_data_that_are_taken_get_another_name(two_files: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_floats(out / "a.bin", 9)
    write_floats(out / "deep" / "b.bin", 9)
    write_floats(out / "deep" / "m.b.bin", 9)
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


def test_hard_links_are_copied(tmp_path: Path) -> None:
    write_floats(tmp_path / "elsewhere.bin", *range(4))
    (tmp_path / "in").mkdir()
    os.link(tmp_path / "elsewhere.bin", tmp_path / "in" / "w.bin")
    source = save(tmp_path / "in", [external("w", "w.bin", 4)])
    (tmp_path / "out").mkdir()
    convert(source, tmp_path / "out" / "m.onnx", verify=True, run=True)
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
    "missing": ({"location": "v.bin"}, "its data file {folder}/v.bin does not exist"),
    "too short": ({"offset": 4}, "its data end at byte 20 of {folder}/w.bin, which has only 16"),
    "length too small": ({"length": 12}, "its data have 12 bytes, but dims [4] need 16"),
    "many digits": ({"length": "9" * 5000},
                    f"offset '0' and length '{'9' * 39} of its data must be numbers of bytes"),
    "no number": ({"offset": "-1"}, "offset '-1' and length '16' of its data must be numbers of bytes"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_data(kind: str, tmp_path: Path) -> None:
    entries, text = BROKEN[kind]
    source = broken(tmp_path / "in", **entries)
    (tmp_path / "out").mkdir()
    for dry_run in (False, True):
        assert refusal(source, tmp_path / "out" / "m.onnx", dry_run=dry_run) == TENSOR + text.format(
            folder=tmp_path / "in"
        )
    assert names(tmp_path / "out") == []


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


def test_amounts_in_a_data_file_are_read_where_they_matter(tmp_path: Path) -> None:
    (tmp_path / "p.bin").write_bytes(np.array([0, 3, 0, 0], np.int64).tobytes())
    amounts = TensorProto(name="pads", data_type=TensorProto.INT64, dims=[4], data_location=TensorProto.EXTERNAL)
    amounts.external_data.add(key="location", value="p.bin")
    source = tmp_path / "m.onnx"
    source.write_bytes(model([pad(mode="reflect")], 17, tensors=[amounts]).SerializeToString())
    os.link(tmp_path / "p.bin", tmp_path / "link.bin")  # onnx_ir would not read it
    (record,) = convert(source, select="needed").records
    assert record.status == "converted"  # 3 of 3 elements is one too many for ONNX Runtime
