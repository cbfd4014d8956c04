"""nGraph's Pads in the JSON that nGraph's serializer wrote."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from native import bits, random_array, session
from ngraph_pads import EXAMPLE, FILL, X, expected, run

import padops
from padops.convert import PadopsError
from padops.spec.dtypes import by_name

# What the serializer writes for each generation of nGraph. Every node of a generation has the keys of that time.


def first_generation(name: str, op: str, inputs: list[str], **more) -> dict:
    """2017 and 2018: no version, inputs even where there are none, interior padding."""
    return {"name": name, "op": op, "inputs": inputs, "outputs": [f"{name}_0"], **more}


def last_generation(name: str, op: str, inputs: list[str], version: int = 0, **more) -> dict:
    """2020: versions, friendly names, and keys only where there is something to say."""
    node = {"name": name, "op": op, "op_version": version, "friendly_name": f"my {name}", "outputs": [f"{name}_0"]}
    node["type_info"] = {"name": op, "version": version}
    return {**node, **({"inputs": inputs} if inputs else {}), **more}


def write(path: Path, ops: list[dict], parameters: list[str], result: list[str]) -> Path:
    function = {"name": "Function_0", "ops": ops, "parameters": parameters, "result": result}
    path.write_text(json.dumps([function], indent=4))
    return path


def old_example(path: Path, **pad) -> Path:
    ops = [
        first_generation("Constant_1", "Constant", [], element_type="float", shape=[], value=["42"]),
        first_generation("Parameter_0", "Parameter", [], element_type="float", shape=[3, 3]),
        first_generation("Pad_2", "Pad", ["Parameter_0", "Constant_1"], **(pad or EXAMPLE)),
    ]
    return write(path, ops, ["Parameter_0"], ["Pad_2"])


def test_a_file_of_the_first_generation_with_interior_padding(tmp_path):
    source, target = old_example(tmp_path / "pad.json"), tmp_path / "pad.onnx"
    converted = padops.convert(source, target, verify=True, run=True)
    (record,) = converted.records
    assert (record.path, record.form, record.op_type) == (
        "graph/Pad_2",
        "nGraph Pad in the domain 'ngraph'",
        "NGraphPad_0",
    )
    assert converted.verification.verdict == "proved"
    assert [file.name for file in converted.sources] == [str(source)] and converted.sources[0].sha256
    model = onnx.load(target)
    onnx.checker.check_model(model)
    assert {row.domain for row in model.opset_import} == {"", "padops"}
    assert [dim.dim_value for dim in model.graph.output[0].type.tensor_type.shape.dim] == [7, 9]
    assert bits(run(model, {"Parameter_0": X})) == bits(expected(EXAMPLE, X, FILL))


def test_a_file_of_the_last_generation(tmp_path):
    ops = [
        last_generation("Parameter_1", "Parameter", [], cacheable=False, element_type="int16_t", shape=[None, 4]),
        last_generation("Parameter_0", "Parameter", [], cacheable=False, element_type="int16_t", shape=[]),
        last_generation(
            "Pad_2", "Pad", ["Parameter_1", "Parameter_0"], padding_below=[1, 3], padding_above=[0, -1], pad_mode=2
        ),
        last_generation("Result_3", "Result", ["Pad_2"], needs_default_layout=False),
        last_generation("Result_4", "Result", [{"node": "Pad_2", "index": 0}], needs_default_layout=True),
    ]
    source = write(tmp_path / "pad.json", ops, ["Parameter_0", "Parameter_1"], ["Result_3", "Result_4"])
    model = padops.convert(source).proto()
    assert [value.name for value in model.graph.input] == ["Parameter_0", "Parameter_1"]
    assert [value.name for value in model.graph.output] == ["Result_3", "Result_4"]
    data = random_array(np.random.default_rng(0), by_name("int16"), (3, 4))
    attributes = {"padding_below": [1, 3], "padding_above": [0, -1], "pad_mode": "REFLECT"}
    found = session(model).run(None, {"Parameter_1": data, "Parameter_0": np.array(7, np.int16)})
    for output in found:
        assert bits(output) == bits(expected(attributes, data, np.array(7, np.int16)))


def test_pad_of_version_1_is_openvinos(tmp_path):
    ops = [
        last_generation("X", "Parameter", [], element_type="uint8_t", shape=[2, 3]),
        last_generation("B", "Constant", [], element_type="int64_t", shape=[2], value=["1", "-1"]),
        last_generation("E", "Constant", [], element_type="int64_t", shape=[2], value=["2"]),
        last_generation("P", "Pad", ["X", "B", "E"], version=1, attribute_visitor=True, pad_mode="symmetric"),
        last_generation("R", "Result", ["P"]),
    ]
    converted = padops.convert(write(tmp_path / "pad.json", ops, ["X"], ["R"]))
    assert [record.op_type for record in converted.records] == ["OpenVINOPad_1"]
    data = np.arange(6, dtype=np.uint8).reshape(2, 3)
    pads = [np.array([1, -1]), np.array([2, 2])]
    wanted = padops.run_reference("OpenVINOPad_1", {"pad_mode": "symmetric"}, [data, *pads])
    assert bits(run(converted.proto(), {"X": data})) == bits(wanted)


@pytest.mark.parametrize(
    ("element_type", "name", "texts", "values"),
    [
        ("float", "float", ["NAN", "-INFINITY", "1.5e-3"], [np.nan, -np.inf, 1.5e-3]),
        ("double", "double", ["0.1", "INFINITY", "-0"], [0.1, np.inf, -0.0]),
        ("float16", "float16", ["65504", "0.5", "1"], [65504, 0.5, 1]),
        ("bfloat16", "bfloat16", ["1", "2", "3"], [1, 2, 3]),
        ("char", "bool", ["1", "0", "1"], [True, False, True]),
        ("int8_t", "int8", ["-128", "127", "0"], [-128, 127, 0]),
        ("uint64_t", "uint64", ["18446744073709551615", "0", "1"], [2**64 - 1, 0, 1]),
    ],
)
def test_constants_of_every_kind(tmp_path, element_type, name, texts, values):
    ops = [
        first_generation("C", "Constant", [], element_type=element_type, shape=[3], value=texts),
        first_generation("V", "Constant", [], element_type=element_type, shape=[], value=texts[:1]),
        first_generation("P", "Pad", ["C", "V"], padding_below=[1], padding_above=[0], padding_interior=[0]),
    ]
    model = padops.convert(write(tmp_path / "pad.json", ops, [], ["P"])).proto()
    data = np.array(values, by_name(name).numpy)
    assert bits(run(model, {})) == bits(np.concatenate([data[:1], data]))


def test_a_constant_of_equal_elements_has_one_value_for_all(tmp_path):
    ops = [
        last_generation("C", "Constant", [], element_type="int32_t", shape=[2, 2], value=["7"]),
        last_generation("V", "Constant", [], element_type="int32_t", shape=[], value=["1"]),
        last_generation("P", "Pad", ["C", "V"], padding_below=[0, 0], padding_above=[0, 1]),
    ]
    model = padops.convert(write(tmp_path / "pad.json", ops, [], ["P"])).proto()
    assert run(model, {}).tolist() == [[7, 7, 1], [7, 7, 1]]


def test_other_operators_are_listed_and_nothing_is_written(tmp_path):
    ops = [
        first_generation("X", "Parameter", [], element_type="float", shape=[2]),
        first_generation("A", "Abs", ["X"]),
        first_generation("D", "DynPad", ["A", "X", "X", "X"]),
        last_generation("P", "Pad", ["X"], version=12),
    ]
    source = write(tmp_path / "model.json", ops, ["X"], ["D"])
    with pytest.raises(PadopsError) as error:
        padops.convert(source, tmp_path / "model.onnx")
    for line in ("3 of its 4 operators cannot be converted", "Abs 'A'", "DynPad 'D'", "Pad 'P' of version 12"):
        assert line in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


PARAMETER = first_generation("X", "Parameter", [], element_type="float", shape=[1])
PAD = first_generation("P", "Pad", ["X", "X"], padding_below=[1], padding_above=[1])


@pytest.mark.parametrize(
    ("ops", "parameters", "result", "reason"),
    [
        (
            [PARAMETER, {**PAD, "inputs": ["X", "Y"]}],
            ["X"],
            ["P"],
            "Pad 'P' reads 'Y', which no operator before it gives",
        ),
        ([PARAMETER, PAD], ["X", "Y"], ["P"], "its parameters are ['X', 'Y'], but its operators have ['X']"),
        ([PARAMETER, PAD], ["X"], ["Q"], "its result 'Q' is no operator"),
        ([PARAMETER, PARAMETER], ["X"], ["X"], "two operators have the name 'X'"),
        ([{**PARAMETER, "element_type": "quad"}], ["X"], ["X"], "Parameter 'X' has the element type 'quad'"),
        ([{**PARAMETER, "shape": [-1]}], ["X"], ["X"], "Parameter 'X' has the shape [-1]"),
        (
            [{key: PARAMETER[key] for key in ("name", "op", "inputs")}],
            ["X"],
            ["X"],
            "Parameter 'X' has the element type None",
        ),
        ([PARAMETER, {**PAD, "padding_below": "1"}], ["X"], ["P"], "padding_below of Pad 'P' is '1'"),
        ([PARAMETER, {"name": "P"}], ["X"], ["P"], "one of the ops has no op"),
        (
            [{**PARAMETER, "op": "Constant", "shape": [2], "value": ["1", "x"]}],
            [],
            ["X"],
            "Constant 'X': could not convert string",
        ),
        (
            [{**PARAMETER, "op": "Constant", "shape": [2], "value": ["1"] * 3}],
            [],
            ["X"],
            "Constant 'X' of shape [2] has 3 values",
        ),
    ],
)
def test_a_damaged_file_says_what_is_wrong(tmp_path, ops, parameters, result, reason):
    with pytest.raises(PadopsError, match="is not what nGraph's serializer writes, or is damaged") as error:
        padops.convert(write(tmp_path / "model.json", ops, parameters, result))
    assert reason in str(error.value)


def test_amounts_that_no_shape_takes_are_an_error_of_the_conversion(tmp_path):
    with pytest.raises(PadopsError, match=r"Pad_2.*axis 0 would have -4 elements .*\[P1\]"):
        padops.convert(old_example(tmp_path / "pad.json", padding_below=[-5, 0], padding_above=[-2, 0]))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[{", "is not JSON"),
        (b"{}", "expected a list of functions"),
        (b"[]", "expected a list of functions"),
        (b"070707000000", "is nGraph's binary form, a cpio archive"),
    ],
)
def test_another_file(tmp_path, content, reason):
    (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(PadopsError, match=reason):
        padops.convert(tmp_path / "model.json")


def test_the_source_is_not_written_over(tmp_path):
    source = old_example(tmp_path / "pad.json")
    before = source.read_bytes()
    for options in ({"output": source}, {"in_place": True}):
        with pytest.raises(PadopsError, match="belongs to the source, which is not an ONNX model"):
            padops.convert(source, **options)
    assert source.read_bytes() == before
