"""The archive of the cases: its bytes, its runner, and ONNX's own runner of backend tests on what it holds."""

from __future__ import annotations

import hashlib
import json
import sys
import unittest
import warnings
import zipfile
from pathlib import Path

import export_cases
import numpy as np
import onnx
import pytest
from conformance_records import prepared, quick
from cpp_builds import said, well
from export_cases import ExportError, case_name, export
from onnx import numpy_helper
from onnx.backend.test import runner
from onnx.backend.test.loader import load_model_tests

from padops.conformance import cases
from padops.conformance.arrays import pack
from padops.conformance.divergences import KNOWN
from padops.conformance.features import BEYOND, expect
from padops.conformance.features import Prepared as Item
from padops.conformance.peers.request import Request

with warnings.catch_warnings():
    # onnxruntime's backend still asks for the version of onnx in a way that onnx warns of.
    warnings.filterwarnings("ignore", "onnx.version is deprecated", DeprecationWarning)
    from onnxruntime.backend.backend import OnnxRuntimeBackend

SAMPLE = 10  # every so many of the cases that onnxruntime should run
ORT_TYPES = ("float", "double", "int32", "int64")  # that its Pad has had from opset 11 on
FAR = cases.find_case("specification/Pad_11/example-2/float")
MUST_FAIL = cases.find_case("table/Pad_18/reflect/int32/3/negative/one/matrix/repeated.row/fixed/0")
TABLE = "table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0"

# A backend by padops' own rules, which is wrong, refuses, and ends the process.
BACKEND = """
import os
import time

import onnx
from padops.spec import reference

class Prepared:
    def __init__(self, model):
        self.model = model

    def run(self, inputs):
        (node,) = self.model.graph.node
        row = next(row.version for row in self.model.opset_import)
        given = dict(zip((info.name for info in self.model.graph.input), inputs))
        given |= {row.name: onnx.numpy_helper.to_array(row) for row in self.model.graph.initializer}
        attributes = {row.name: onnx.helper.get_attribute_value(row) for row in node.attribute}
        attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in attributes.items()}
        mode = attributes.get("mode", "constant")
        print("what a backend prints")
        if mode == "wrap":
            os.fork() or time.sleep(600)  # a process that holds the pipe of the answers
            os._exit(7)
        version = max(v for v in (1, 2, 11, 13, 18, 19, 21, 23, 24, 25) if v <= row)
        output = reference.run(f"Pad_{version}", attributes, [given.get(name) for name in node.input])
        if mode == "reflect":
            raise ValueError("no reflection here")
        return [output[::-1] if mode == "edge" else output]

def prepare(model, device="CPU"):
    return Prepared(model)
"""


class BitRunner(runner.Runner):
    """The runner of onnx, but outputs must be equal to the last bit."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None) -> None:
        assert len(ref_outputs) == len(outputs) == 1
        assert pack(np.asarray(outputs[0])) == pack(np.asarray(ref_outputs[0])), model_dir


def extracted(chosen: list[Request], folder: Path) -> Path:
    export(chosen, folder / "cases.zip")
    zipfile.ZipFile(folder / "cases.zip").extractall(folder / "all")
    return folder / "all"


def test_onnx_runner_on_onnxruntime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ort = [row for row in KNOWN if row.peer == "ort-builtin"]
    chosen = [
        one.case
        for one in prepared()
        if one.case.opset >= 11 and one.case.dtype.name in ORT_TYPES and one.packed and one.of_class != BEYOND
        if not any(row.matches(one) for row in ort)
    ][::SAMPLE]
    found = load_model_tests(data_dir=str(extracted(chosen, tmp_path)), kind="cases")
    monkeypatch.setattr(runner, "load_model_tests", lambda kind: found if kind == "node" else [])
    result = unittest.TestResult()
    BitRunner(OnnxRuntimeBackend, __name__).include("_cpu$").test_suite.run(result)
    assert [f"{test}: {text[-600:]}" for test, text in result.failures + result.errors] == []
    assert result.testsRun - len(result.skipped) == len(chosen) > 20


def test_every_exported_case_is_the_case(tmp_path: Path) -> None:
    chosen = list(quick()[::16])
    place = extracted(chosen, tmp_path)
    export(chosen[::-1], tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "cases.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "again.zip") as archive:
        assert {row.date_time for row in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    manifest = json.loads((place / "manifest.json").read_bytes())
    standard = [case for case in chosen if case.opset and expect(case).output is not None]
    assert sorted(manifest["cases"]) == sorted(map(case_name, standard))
    assert sum(manifest["left_out"].values()) == len(chosen) - len(standard)
    files = {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert files.pop("manifest.json")
    assert manifest["sha256"] == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    for case in standard:
        row, item, folder = manifest["cases"][case_name(case)], Item.of(case), place / "cases" / case_name(case)
        assert (row["case"], row["opset"], row["type"]) == (case.id, case.opset, case.dtype.name)
        assert (tuple(row["rules"]), row["class"]) == (item.rules, item.of_class)
        model = onnx.load(folder / "model.onnx")
        assert [(node.op_type, node.domain) for node in model.graph.node] == [("Pad", "")]
        assert [(row.domain, row.version) for row in model.opset_import] == [("", case.opset)]
        fed = [array for i, array in enumerate(case.inputs) if array is not None and i not in case.constant_inputs]
        stored = [onnx.load_tensor(path) for path in sorted(folder.glob("test_data_set_0/*put_*.pb"))]
        assert [tensor.name for tensor in stored[:-1]] == [value.name for value in model.graph.input]
        assert row["inputs"] == len(fed)
        assert [pack(numpy_helper.to_array(tensor)) for tensor in stored] == [*map(pack, (*fed, expect(case).output))]


MODES = ("constant", "edge", "reflect", "wrap")


def test_the_runner_tells_right_from_wrong(tmp_path: Path) -> None:
    """A crash is one case's, whatever comes behind it runs; a refusal beyond the standard is right."""
    of_mode = {mode: cases.find_case(TABLE.replace("Pad_18/reflect", f"Pad_19/{mode}")) for mode in MODES}
    four = cases.find_case("table/Pad_21/constant/int4/1/end/plain/vector/absent.flat/dynamic/2")
    words = cases.find_case("table/Pad_13/constant/string/6/far/one/scalar/absent.flat/fixed/0")
    place = extracted([*of_mode.values(), four, words, FAR, MUST_FAIL], tmp_path)
    (backend := tmp_path / "backend.py").write_text(BACKEND)
    ended = said(sys.executable, tmp_path / "cases.zip", backend, "--out", tmp_path / "out.json")
    assert (ended.returncode, ended.stderr.replace("what a backend prints\n", "")) == (1, "")
    found = {row["case"]: row["outcome"] for row in json.loads((tmp_path / "out.json").read_text()).values()}
    outcomes = dict(zip(MODES, ("agree", "differ", "refused", "crash")))
    wanted = {case.id: outcomes[mode] for mode, case in of_mode.items()}
    assert found == {**wanted, four.id: "agree", words.id: "agree", FAR.id: "refused"}
    table = [line.split() for line in ended.stdout.splitlines()]
    assert ["standard", "6", "3", "1", "1", "1", "0"] in table
    assert ["beyond", "the", "standard", "1", "0", "0", "1", "0", "0"] in table
    well(sys.executable, place, backend, "--only", "example")  # FAR alone, from the folder


def test_a_changed_file_and_a_missing_backend_end_with_2(tmp_path: Path) -> None:
    place = extracted([FAR], tmp_path)
    ended = said(sys.executable, place, "no_such_backend")
    assert ended.returncode == 2 and ended.stderr.endswith("error: the backend no_such_backend cannot be used\n")
    file = place / "cases" / case_name(FAR) / "model.onnx"
    file.write_bytes(file.read_bytes() + b"\0")
    (tmp_path / "backend.py").write_text(BACKEND)
    ended = said(sys.executable, place, tmp_path / "backend.py")
    assert ended.returncode == 2 and "is not the file of the manifest: its SHA-256 differs" in ended.stderr


def test_the_export_is_of_the_level_and_the_seed(tmp_path: Path, monkeypatch, capsys) -> None:
    asked = []
    few = quick()[::40]
    monkeypatch.setattr(cases, "collect", lambda level, seed=0: asked.append((level, seed)) or few)
    file = tmp_path / "new" / "cases.zip"
    for options in (["--quick"], ["--quick", "--seed", "3"], []):
        assert export_cases.main([str(file), *options]) == 0
    assert asked == [("quick", 0), ("quick", 3), ("default", 0)]
    names = json.loads(zipfile.ZipFile(file).read("manifest.json"))["cases"].keys()
    assert names == {case_name(case) for case in few if case.opset and expect(case).output is not None}
    count, left = len(names), len(few) - len(names)
    wrote = f"wrote {count:,} cases to {file}, without {left:,} cases that must fail or that ONNX has no operator for\n"
    assert capsys.readouterr().out == wrote * 3
    with pytest.raises(ExportError, match="two cases are called test_specification_Pad_11"):
        export([FAR, FAR], file)
    assert zipfile.ZipFile(file).namelist(), "it stays as it was"
