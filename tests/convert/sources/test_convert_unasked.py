"""What a conversion says of SAME that it was not asked to write out, and that ONNX Runtime does not run."""

from __future__ import annotations

import pytest
from auto_pad_models import WF, explicit, node_model
from onnx import helper
from small_models import FLOAT, convert, model, tensor

ASK = " --auto-pad explicit (in Python auto_pad='explicit') writes its amounts out"
DILATED = {"auto_pad": "SAME_UPPER", "dilations": (2, 2), "kernel_shape": (3, 3)}
REFUSED = "(Conv auto_pad=SAME_UPPER): ONNX Runtime refuses SAME with a dilation"
WRONG = ("(MaxPool auto_pad=SAME_UPPER): ONNX Runtime computes SAME as if there were no dilation: "
         "its output has 7 elements "
         "instead of 9")  # fmt: skip


def said(conversion: object) -> list[str]:
    return [note for note in conversion.notes if "SAME" in note]


@pytest.mark.parametrize(("op", "tensors", "why"), [("Conv", {"w": WF}, REFUSED), ("MaxPool", {}, WRONG)])
def test_it_is_told_what_to_ask_for(op: str, tensors: dict, why: str) -> None:
    message = node_model(op, (1, 3, 9, 9), DILATED, tensors)
    assert said(convert(message)) == [f"SAME of 1 node is refused or wrong in ONNX Runtime: graph/same {why}.{ASK}"]
    assert said(explicit(message)) == []


def test_what_runs_is_not_told() -> None:
    assert said(convert(node_model("Conv", (1, 3, 9, 9), {"auto_pad": "SAME_UPPER"}, {"w": WF}))) == []


def test_what_cannot_be_written_out_is_not_told() -> None:
    """Asking would not help: there is nothing that does the same."""
    attributes = {"auto_pad": "SAME_UPPER", "kernel_shape": (3,), "dilations": (3,)}
    message = node_model("AveragePool", (1, 1, 10), attributes)
    (record,) = explicit(message).records
    assert (record.status, said(convert(message))) == ("unconverted", [])


def test_of_many_three_are_named() -> None:
    nodes = [helper.make_node("Conv", ["x", "w"], [f"y{i}"], name=f"conv{i}", **DILATED) for i in range(5)]
    outputs = [(f"y{i}", FLOAT, None) for i in range(5)]
    message = model(nodes, 22, inputs=[("x", FLOAT, (1, 3, 9, 9))], outputs=outputs, tensors=[tensor("w", WF)])
    (note,) = said(convert(message))
    assert note.startswith("SAME of 5 nodes is refused or wrong in ONNX Runtime: graph/conv0 (Conv")
    assert note.endswith(f"graph/conv2 {REFUSED}; and 2 more.{ASK}")
