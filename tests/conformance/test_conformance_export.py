"""The exported cases, run by ONNX's own backend-test runner on onnxruntime; and what an export leaves on the disk."""

from __future__ import annotations

import unittest
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test import runner
from onnx.backend.test.loader import load_model_tests

from padops.conformance import cases
from padops.conformance.arrays import pack
from padops.conformance.case import Case, expect
from padops.conformance.export import ExportError, export, folder_name
from padops.conformance.features import features_of
from padops.conformance.known import KNOWN

with warnings.catch_warnings():
    # onnxruntime's backend still asks for the version of onnx in a way that onnx warns of.
    warnings.filterwarnings("ignore", "onnx.version is deprecated", DeprecationWarning)
    from onnxruntime.backend.backend import OnnxRuntimeBackend

SAMPLE = 7  # every so many of the cases that onnxruntime should run
ORT_TYPES = ("float", "double", "int32", "int64")  # that its Pad has had from opset 11 on


def sample() -> list[Case]:
    """Cases that the divergence file does not list for onnxruntime's own Pad."""
    ort = [row for row in KNOWN if row.peer == "ort-builtin"]
    chosen = [
        case
        for case in cases.collect("quick")
        if case.opset >= 11
        and case.dtype in ORT_TYPES
        and (expected := expect(case)).output is not None
        and not any(row.matches(features_of(case, expected)) for row in ort)
    ]
    return chosen[::SAMPLE]


class BitRunner(runner.Runner):
    """The runner of onnx, but outputs must be equal to the last bit."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol, model_dir=None) -> None:
        assert len(ref_outputs) == len(outputs) == 1
        assert pack(np.asarray(outputs[0])) == pack(np.asarray(ref_outputs[0])), model_dir


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> unittest.TestResult:
    found = load_model_tests(data_dir=str(folder.parent), kind=folder.name)
    monkeypatch.setattr(runner, "load_model_tests", lambda kind: found if kind == "node" else [])
    result = unittest.TestResult()
    suite = BitRunner(OnnxRuntimeBackend, __name__).include("_cpu$").test_suite
    suite.run(result)
    return result


def test_onnx_runner_on_onnxruntime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = export(sample(), tmp_path / "cases")
    result = run(tmp_path / "cases", monkeypatch)
    assert [f"{test}: {text[-600:]}" for test, text in result.failures + result.errors] == []
    assert {str(test).split(" ")[0].rpartition("_")[2] for test, _ in result.skipped} == {"cuda"}
    assert result.testsRun - len(result.skipped) == len(written) > 30


def test_runner_notices_a_wrong_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases.find_case("table/Pad_18/constant/float/2/both/plain/scalar/absent.flat/dynamic/0")
    (place,) = export([case], tmp_path / "cases")
    file = place / "test_data_set_0" / "output_0.pb"
    output = numpy_helper.to_array(onnx.load_tensor(file)).copy()
    output.reshape(-1).view(np.uint8)[0] ^= 1
    file.write_bytes(numpy_helper.from_array(output, "output").SerializeToString())
    assert len(run(tmp_path / "cases", monkeypatch).failures) == 1


def test_every_exported_case_is_the_case(tmp_path: Path) -> None:
    chosen = cases.collect("quick")[::2]
    written = {place.name: place for place in export(chosen, tmp_path / "cases")}
    standard = [case for case in chosen if case.opset and expect(case).output is not None]
    assert sorted(written) == sorted(map(folder_name, standard))
    for case in standard[::5]:
        place, arrays = written[folder_name(case)], case.arrays()
        model = onnx.load(place / "model.onnx")
        assert [(node.op_type, node.domain) for node in model.graph.node] == [("Pad", "")]
        assert [(row.domain, row.version) for row in model.opset_import] == [("", case.opset)]
        data = place / "test_data_set_0"
        fed = [array for i, array in enumerate(arrays) if array is not None and i not in case.constant_inputs]
        assert len(list(data.glob("input_*.pb"))) == len(fed) == len(model.graph.input)
        for i, array in enumerate(fed):
            stored = onnx.load_tensor(data / f"input_{i}.pb")
            assert stored.name == model.graph.input[i].name
            assert pack(numpy_helper.to_array(stored)) == pack(array)
        assert pack(numpy_helper.to_array(onnx.load_tensor(data / "output_0.pb"))) == pack(expect(case).output)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(ExportError) as caught:
        export([], tmp_path)
    assert str(caught.value) == f"{tmp_path} is not empty"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    case = cases.find_case("table/Pad_18/constant/float/2/both/plain/scalar/absent.flat/dynamic/0")
    with pytest.raises(ExportError, match="two cases are called test_table_Pad_18"):
        export([case, case], tmp_path / "cases")
    assert list(tmp_path.iterdir()) == []
