"""What the page has of a case: its arrays, and which rows must be refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from padops.conformance import cases
from padops.conformance.arrays import describe
from padops.conformance.case import expect
from padops.conformance.render.html import OTHERS, page_data
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


ARRAYS = [
    ([[1, 2], [-3, 127]], np.int8, "int8 [2, 2]\n[[1 2]\n [-3 127]]"),
    ([[[0.5]], [[2]]], np.float32, "float [2, 1, 1]\n[[[0.5]]\n\n [[2.0]]]"),
    (7, np.int64, "int64 []\n7"),
    (np.empty((2, 0)), np.float32, "float [2, 0]"),
    (["a b", "", "\n"], object, "string [3]\n['a b' '' '\\n']"),
]


@pytest.mark.parametrize(("values", "dtype", "text"), ARRAYS, ids=lambda value: str(value)[:20])
def test_an_array_is_a_line_for_each_row(values: Any, dtype: Any, text: str) -> None:
    found = record("specification/Pad_18/example-2/float", got=np.asarray(values, dtype))
    header = {"peers": [{"name": "numpy", "versions": {}}], "absent": []}
    made = page_data(summarise(header, [found], {}, []))
    assert made["cells"][0]["examples"][0]["got"] == text


# ---- rules and rows


def test_modes_that_an_operator_does_not_have_are_one_row() -> None:
    header = {"peers": [{"name": "numpy", "versions": {}}], "absent": []}
    ids = [
        f"table/Pad_2/{mode}/float/2/both/plain/none/absent.flat/dynamic/0" for mode in ("wrap", "edge", "symmetric")
    ]
    ids += [ids[0].replace("Pad_2", "Pad_19"), ids[2].replace("symmetric", "-")]
    summary = summarise(header, [record(id) for id in ids], {}, [])
    made = page_data(summary)
    assert made["rows"] == [
        {"op": "Pad_2", "mode": OTHERS, "refused": True},
        {"op": "Pad_2", "mode": "edge", "refused": False},
        {"op": "Pad_19", "mode": "wrap", "refused": False},
    ]
    assert [cell["row"] for cell in made["cells"]] == [0, 1, 0, 2, 0]
