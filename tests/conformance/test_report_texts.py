"""What the page has of a case: one sentence, its arrays, the rules, and which rows must be refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from padops.conformance import cases, features
from padops.conformance.arrays import describe
from padops.conformance.case import expect
from padops.conformance.render.html import RULES, page_data, sentence
from padops.conformance.render.summary import summarise


def record(id: str, got: np.ndarray | None = None, **more: Any) -> dict[str, Any]:
    """A result of a case that did not agree."""
    case = cases.find_case(id)
    output = expect(case).output
    return {
        "case": id, "op": case.op, "mode": case.mode, "dtype": case.dtype, "rank": case.rank, "rules": ["P2"],
        "peer": "numpy", "outcome": "differ", "divergence": None, "unexpected": True, "new": False, "detail": "",
        "repro": "",
        "inputs": [describe(array) for array in case.arrays()], "attributes": dict(case.attributes),
        "expected": {"error": expect(case).message} if output is None else describe(output), "got": describe(got),
        **more,
    }  # fmt: skip


SENTENCES = {
    "specification/Pad_18/example-2/float": "ONNX Pad 18 in mode reflect pads float [3, 2].",
    "specification/OpenVINOPad_12/mixed-edge/int32": "OpenVINO Pad 12 in mode edge pads int32 [3, 4].",
    "specification/NGraphPad_0/example/float": "nGraph Pad in mode constant pads float [3, 3].",
    "specification/SamePad_1/drawing-same/float": "SAME padding in mode constant pads float [1, 1, 13].",
    "table/Pad_18/-/float/2/both/plain/none/absent.flat/dynamic/0": "ONNX Pad 18 in an empty mode pads float [3, 4].",
}


@pytest.mark.parametrize("id", SENTENCES)
def test_a_sentence_says_what_a_case_is(id: str) -> None:
    assert sentence(record(id)) == SENTENCES[id]


def test_a_sentence_without_inputs() -> None:
    found = record("specification/Pad_18/example-2/float")
    del found["inputs"], found["attributes"]
    assert sentence(found) == "ONNX Pad 18 in mode reflect pads float data of rank 2."
    assert sentence({**found, "op": "Pad_99"}) == "ONNX Pad 99 in mode reflect pads float data of rank 2."


ARRAYS = [
    ([[1, 2], [-3, 127]], np.int8, "int8 [2, 2]\n  1   2\n -3 127"),
    ([[[0.5]], [[2]]], np.float32, "float [2, 1, 1]\n0.5\n2.0"),
    (7, np.int64, "int64 []\n7"),
    (np.empty((2, 0)), np.float32, "float [2, 0]"),
    (["a b", "", "\n"], object, "string [3]\n a b   '' '\\n'"),
]


@pytest.mark.parametrize(("values", "dtype", "text"), ARRAYS, ids=lambda value: str(value)[:20])
def test_an_array_is_a_line_for_each_row(values: Any, dtype: Any, text: str) -> None:
    found = record("specification/Pad_18/example-2/float", got=np.asarray(values, dtype))
    made = page_data(summarise({"peers": [], "absent": []}, [found], {}, []))
    assert made["texts"][made["examples"][0]["got"]] == text


# ---- rules and rows


def test_the_rules_are_those_that_cases_exercise() -> None:
    source = Path(features.__file__).read_text(encoding="utf-8")
    assert list(RULES) == re.findall(r'^        "(\w+)": ', source.split("def rules_of")[1], re.MULTILINE)


def test_modes_that_an_operator_does_not_have_are_one_row() -> None:
    header = {"peers": [{"name": "numpy", "versions": {}}], "absent": []}
    ids = [
        f"table/Pad_2/{mode}/float/2/both/plain/none/absent.flat/dynamic/0" for mode in ("wrap", "edge", "symmetric")
    ]
    ids += [ids[0].replace("Pad_2", "Pad_19"), ids[2].replace("symmetric", "-")]
    summary = summarise(header, [record(id) for id in ids], {}, [])
    made = page_data(summary)
    assert made["rows"] == [
        {"op": "Pad_2", "mode": "edge", "refused": []},
        {"op": "Pad_19", "mode": "wrap", "refused": []},
        {"op": "Pad_2", "mode": None, "refused": ["symmetric", "wrap", ""]},
    ]
    assert [cell["row"] for cell in made["cells"]] == [2, 0, 2, 1, 2]
