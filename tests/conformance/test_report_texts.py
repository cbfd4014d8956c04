"""What the report says of a case: one sentence, data as small numbers, the rules, and which rows must be refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from padops.conformance import cases, features
from padops.conformance.arrays import describe
from padops.conformance.case import expect
from padops.conformance.render.html import RULES, Figures, page_data, sentence, shown_modes
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
    "specification/Pad_18/example-2/float": "ONNX Pad 18 in mode reflect pads float [3, 2] by "
                                            "begin 2, end 0 on axis 1.",
    "specification/Pad_2/example/float": "ONNX Pad 2 in mode constant pads float [3, 2] by begin 2, end 0 on axis 1.",
    "specification/OpenVINOPad_12/mixed-edge/int32": "OpenVINO Pad 12 in mode edge pads int32 [3, 4] "
    "by begin 2, end -1 on axis 0 and begin -1, end 3 on axis 1.",
    "specification/NGraphPad_0/example/float": "nGraph Pad in mode constant pads float [3, 3] "
    "by begin 1, end 1, interior 1 on axis 0 and begin 2, end 0, interior 2 on axis 1.",
    "specification/SamePad_1/drawing-same/float": "SAME padding in mode constant pads float [1, 1, 13] "
    "for auto_pad SAME_UPPER, kernel_shape [6], strides [5].",
    "table/Pad_25/constant/int32/3/to-nothing/plain/scalar/repeated.flat/static/0": "ONNX Pad 25 in mode constant "
    "pads int32 [2, 4, 4] by begin -1, end -1 on axis 0 and begin 0, end 1 on axis 0.",
    "table/Pad_11/reflect/int32/3/both/plain/two/absent.row/static/0": "ONNX Pad 11 in mode reflect "
    "pads int32 [3, 3, 3] by begin 2, end 2 on axis 1, with a fill of shape [2].",
    "table/Pad_18/-/float/2/both/plain/none/absent.flat/dynamic/0": "ONNX Pad 18 in an empty mode "
    "pads float [3, 4] by begin 1, end 2 on axis 1.",
}  # fmt: skip


@pytest.mark.parametrize("id", SENTENCES)
def test_a_sentence_says_what_a_case_is(id: str) -> None:
    assert sentence(record(id)) == SENTENCES[id]


def test_amounts_that_do_not_fit_are_named() -> None:
    found = record("specification/Pad_18/example-2/float")
    found["inputs"][1]["values"] = [0, 2, 0]
    assert sentence(found).endswith("by [0, 2, 0], which does not fit 2 axes.")
    found["inputs"][1]["values"], found["inputs"][3] = [1, 2, 3], {"dtype": "int64", "shape": [1], "values": [1]}
    assert sentence(found).endswith("by [1, 2, 3] of axes [1], which does not fit 2 axes.")
    found["inputs"][1]["values"] = [0, 0]
    assert sentence(found).endswith(" by nothing.")


def test_a_sentence_without_inputs() -> None:
    found = record("specification/Pad_18/example-2/float")
    del found["inputs"], found["attributes"]
    assert sentence(found) == "ONNX Pad 18 in mode reflect pads float data of rank 2."
    assert sentence({**found, "op": "Pad_99"}) == "ONNX Pad 99 in mode reflect pads float data of rank 2."


# ---- data as small numbers


def figures(data: Any, expected: Any, fill: Any = None, dtype: type = np.float32) -> tuple[Figures, dict[str, Any]]:
    found = record("specification/Pad_18/example-2/float")
    arrays = [None if value is None else np.asarray(value, dtype) for value in (data, fill, expected)]
    found["inputs"][0], found["inputs"][2], found["expected"] = map(describe, arrays)
    found["dtype"] = found["inputs"][0]["dtype"]
    return Figures.of(found), found


def lines(figures: Figures, array: Any, dtype: type = np.float32) -> list[str]:
    return figures.text(describe(np.asarray(array, dtype))).split("\n")


LONG = [-3.0097295e35, 0.016028883, 1.2345e-20]


def test_long_values_are_numbered_in_the_order_of_the_data() -> None:
    made, found = figures([LONG], [[7.25e-11, *LONG, 0.016028883]], 7.25e-11)
    assert lines(made, [LONG]) == ["float [1, 3]", "1 2 3"]
    assert made.text(found["expected"]) == "float [1, 5]\nf 1 2 3 2"
    assert lines(made, [[[LONG[2]]], [[LONG[0]]]]) == ["float [2, 1, 1]", "3", "", "1"]
    assert [name for name, _ in made.legend()] == ["1", "2", "3", "f"]


def test_the_default_fill_is_0() -> None:
    made, found = figures([LONG], [[0, *LONG]])
    assert made.text(found["expected"]) == "float [1, 4]\n0 1 2 3"


def test_what_a_peer_made_up_is_a_letter() -> None:
    made, _ = figures([[*LONG, np.nan]], [[*LONG, np.nan]])
    wrong = np.array([[LONG[0], 1234.5, 99999.5, 0]], np.float32)
    wrong.view(np.uint32)[0, 3] = 0x7F800001  # another NaN is another value
    own = made.with_own(describe(wrong))
    assert own.text(describe(wrong)) == "float [1, 4]\n1 a b c"
    assert own.legend(beyond=made) == [["a", "1234.5"], ["b", "99999.5"], ["c", "nan (0x7f800001)"]]
    many = made.with_own(describe(np.arange(60, dtype=np.float32) + 0.5))
    names = [name for name, _ in many.legend(beyond=made)]
    assert len(set(names)) == len(names) == 60 and not {"f", "F"} & set(names) and "a1" in names


def test_short_values_stay() -> None:
    made, found = figures([[1, 2], [-3, 127]], [[0, 1, 2], [0, -3, 127]], dtype=np.int8)
    assert made.short and made.legend() == []
    assert made.text(found["expected"]) == "int8 [2, 3]\n  0   1   2\n  0  -3 127"


def test_strings_and_what_has_no_elements() -> None:
    made, _ = figures(["a b", "\n", ""], ["a b", "\n", "", ""], dtype=object)
    assert lines(made, ["", "\n", "a b"], object) == ["string [3]", "3 2 1"]
    assert made.legend() == [["1", "a b"], ["2", "\\n"], ["3", "''"]]
    assert lines(made, np.empty((2, 0))) == ["float [2, 0], no elements"]
    assert figures(LONG[0], LONG[0])[0].text(describe(np.array(LONG[0], np.float32))) == "float []\n1"
    assert made.text({"error": "too far [P4]"}) == "an error: too far [P4]"
    assert made.text({"dtype": "float", "shape": [99]}) == "float[99] (too large to show)"
    assert made.text(None) == ""


# ---- rules and rows


def test_the_rules_are_those_that_cases_exercise() -> None:
    source = Path(features.__file__).read_text(encoding="utf-8")
    assert list(RULES) == re.findall(r'^        "(\w+)": ', source.split("def rules_of")[1], re.MULTILINE)


def test_modes_are_shown_as_numpy_pads() -> None:
    shown = dict(shown_modes())
    for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
        assert [int(text) for text, _ in shown[mode]] == np.pad([1, 2, 3, 4], 3, mode).tolist()
        assert [own for _, own in shown[mode]] == [False] * 3 + [True] * 4 + [False] * 3
    assert "".join(text for text, _ in shown["reflect, begin -2, crop first"]) == "3434343"
    assert "".join(text for text, _ in shown["reflect, begin -2, crop last"]) == "3432123"
    assert [text for text, own in shown["constant, interior 1"] if own] == ["1", "2", "3", "4"]


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
