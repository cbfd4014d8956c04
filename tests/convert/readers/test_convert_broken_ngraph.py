"""Broken files of nGraph: one error that says what and where, without much memory or time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from broken_files import ran, refusal, short

import padops
from padops.convert import PadopsError

PARAMETER = {"name": "X", "op": "Parameter", "inputs": [], "element_type": "float", "shape": [2]}
FILL = {"name": "V", "op": "Constant", "inputs": [], "element_type": "float", "shape": [], "value": ["7"]}
PAD = {"name": "P", "op": "Pad", "inputs": ["X", "V"], "padding_below": [1], "padding_above": [1]}


def function(**changes: dict[str, Any]) -> list[dict[str, Any]]:
    """A function with a Pad; changes of its operators by their names, and of its other values."""
    ops = [{**op, **changes.pop(op["name"], {})} for op in (PARAMETER, FILL, PAD)]
    return [{"name": "f", "ops": ops, "parameters": ["X"], "result": ["P"], **changes}]


def written(tree: Any) -> bytes:
    return json.dumps(tree).encode()


def test_the_function_itself_is_converted() -> None:
    assert ran({"m.json": written(function())}, "m.json", "-o", "out.onnx", "--verify").code == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "its lists are nested too deep"),
        (b'[{"ops":' * 50_000, "its lists are nested too deep"),
        (b'[{"name": "\xff"}]', "m.json is not JSON: 'utf-8' codec can't decode"),
        (b"[" + b"9" * 5_000 + b"]", "m.json is not JSON: Exceeds the limit"),
        (b"[NaN]", "expected a list of functions"),
        (b"[null]", "expected a list of functions"),
        (b"", "m.json is not JSON: "),
    ],
    ids=["brackets", "braces", "not UTF-8", "digits", "NaN", "null", "empty"],
)
def test_json_that_is_no_function(content: bytes, reason: str) -> None:
    assert reason in refusal({"m.json": content}, "m.json")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ops": None}, "the function has no ops"),
        ({"ops": {"a": 1}}, "ops of the function is {'a': 1}"),
        ({"ops": [1]}, "one of the ops has no op"),
        ({"parameters": "X"}, "parameters of the function is 'X'"),
        ({"parameters": [1]}, "one of the parameters of the function is 1, which is no name"),
        ({"parameters": [["X"]]}, "one of the parameters of the function is ['X'], which is no name"),
        ({"result": [{}]}, "one of the result of the function is {}, which is no name"),
        ({"result": []}, "the function has no result"),
        ({"name": "\ud800"}, r"the name of the function is '\ud800', which is no name"),
        ({"X": {"name": "\udfff"}}, r"the name of a Parameter is '\udfff', which is no name"),
        ({"X": {"name": ""}}, "the name of a Parameter is '', which is no name"),
        ({"X": {"name": None}}, "the name of a Parameter is None, which is no name"),
        ({"X": {"element_type": ["float"]}}, "Parameter 'X' has the element type ['float']"),
        ({"X": {"element_type": {}}}, "Parameter 'X' has the element type None"),
        ({"X": {"shape": [True]}}, "Parameter 'X' has the shape [True]"),
        ({"X": {"shape": [2.0]}}, "Parameter 'X' has the shape [2.0]"),
        ({"X": {"shape": [float("nan")]}}, "Parameter 'X' has the shape [nan]"),
        ({"X": {"shape": 2}}, "Parameter 'X' has the shape 2"),
        ({"X": {"shape": [2**70]}}, "a dim beyond 576460752303423487 [P10]"),
        ({"X": {"shape": [2**40, 2**40]}}, "more than 576460752303423487 elements [P10]"),
        ({"X": {"shape": [1] * 100_000}}, "100000 dims, more than 32"),
        ({"V": {"value": [[7]]}}, "Constant 'V' has the value [7]"),
        ({"V": {"value": [None]}}, "Constant 'V' has the value None"),
        ({"V": {"value": [True]}}, "Constant 'V' has the value True"),
        ({"V": {"value": "7"}}, "value of Constant 'V' is '7'"),
        ({"V": {"value": ["9" * 100_000]}}, "Constant 'V' has the value '99"),
        ({"V": {"value": ["1e39"]}}, "Constant 'V' has the value '1e39', beyond float32"),
        ({"V": {"value": ["x" * 100_000]}}, "Constant 'V': could not convert string to float: 'xxx"),
        ({"V": {"element_type": "int8_t", "value": ["300"]}}, "Constant 'V': '300' is beyond int8"),
        ({"V": {"element_type": "int64_t", "value": ["9" * 5_000]}}, "Constant 'V': Exceeds the limit"),
        ({"P": {"inputs": "XV"}}, "inputs of Pad 'P' is 'XV'"),
        ({"P": {"inputs": 5}}, "inputs of Pad 'P' is 5"),
        ({"P": {"inputs": [["X"], "V"]}}, "Pad 'P' reads ['X'], which no operator before it gives"),
        ({"P": {"inputs": ["P", "V"]}}, "Pad 'P' reads 'P', which no operator before it gives"),
        ({"P": {"padding_below": [2**70]}}, "padding_below of Pad 'P' has 1180591620717411303424, beyond"),
        ({"P": {"padding_above": [1, 1]}}, "padding_above of Pad 'P' has 2 values, expected 1 (1 per axis) [P8]"),
        ({"P": {"pad_mode": 2**70}}, "pad_mode of Pad 'P' is 1180591620717411303424, expected 0 to 3 [P9]"),
        ({"P": {"pad_mode": True}}, "pad_mode of Pad 'P' is True, which is no name"),
        ({"P": {"pad_mode": "\ud83d"}}, r"pad_mode of Pad 'P' is '\ud83d', which is no name"),
        ({"V": {"shape": [10**9]}}, "the fill 'V' of Pad 'P' has the shape [1000000000], expected one element [P7]"),
        ({"V": {"element_type": "double"}}, "the fill 'V' of Pad 'P' is double, the data float"),
        ({"P": {"op_version": 1, "inputs": ["X", "V", "V"]}}, "the amounts 'V' of Pad 'P' are float"),
        (
            {
                "X": {"element_type": "int64_t"},
                "V": {"element_type": "int64_t", "shape": [10**9]},
                "P": {"op_version": 1, "inputs": ["X", "V", "V"]},
            },
            "the amounts 'V' of Pad 'P' have the shape [1000000000], expected the shape [1] [P8]",
        ),
        ({"P": {"op_version": [0]}}, "Pad 'P' of version [0]"),
    ],
    ids=short,
)
def test_a_value_of_a_function_that_is_wrong(changes: dict[str, Any], reason: str) -> None:
    assert reason in refusal({"m.json": written(function(**changes))}, "m.json")


@pytest.mark.parametrize("element_type", ["float", "bfloat16", "int8_t", "char"])
def test_one_value_for_a_thousand_million_stays_one(element_type: str) -> None:
    """It took 3.9 GB, and then the process."""
    changes = {
        "X": {"element_type": element_type, "shape": []},
        "V": {"element_type": element_type, "value": ["1"], "shape": [10**9]},
    }
    changes["P"] = {"inputs": ["V", "X"]}
    outcome = ran({"m.json": written(function(**changes))}, "m.json", "-o", "out.onnx")
    assert outcome.code == 0, outcome.said


@pytest.mark.parametrize("name", ["m.json", "m.xml"])
def test_a_large_file_of_text_is_not_read(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(PadopsError, match="has 3221225472 bytes; files of text are read up to 2147483648"):
        padops.convert(tmp_path / name)


@pytest.mark.parametrize("shape", [[2], [1000]], ids=str)
@pytest.mark.parametrize("mode", [1, 2, 3], ids=["edge", "reflect", "symmetric"])
def test_amounts_of_thousands_of_millions_are_not_listed(mode: int, shape: list[int]) -> None:
    """In standard operators, each position had a number of its own in the model."""
    changes = {"X": {"element_type": "bfloat16", "shape": shape}, "V": {"element_type": "bfloat16"}}
    changes["P"] = {"pad_mode": mode, "padding_below": [2**31], "padding_above": [2**40]}
    files = {"m.json": written(function(**changes))}
    outcome = ran(files, "m.json", "-o", "out.onnx", "--target", "onnx")
    assert outcome.code == 0, outcome.said
