"""SAME that nobody asked to write out: what is told of it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from auto_pad_models import WF, explicit, node_model
from small_models import (
    convert,
)

import padops

ASK = "; --auto-pad explicit (in Python auto_pad='explicit') writes its amounts out"
DILATED = {"auto_pad": "SAME_UPPER", "dilations": (2, 2), "kernel_shape": (3, 3)}
REFUSED = "(Conv auto_pad=SAME_UPPER): ONNX Runtime refuses SAME with a dilation"
WRONG = ("(MaxPool auto_pad=SAME_UPPER): ONNX Runtime computes SAME as if there were no dilation: "
         "its output has 7 elements "
         "instead of 9")  # fmt: skip


def said(conversion: object) -> list[str]:
    return [record.why() for record in conversion.records if record.status == "unconverted"]


@pytest.mark.parametrize(("op", "tensors", "why"), [("Conv", {"w": WF}, REFUSED), ("MaxPool", {}, WRONG)])
def test_it_is_told_what_to_ask_for(op: str, tensors: dict, why: str) -> None:
    message = node_model(op, (1, 3, 9, 9), DILATED, tensors)
    assert said(convert(message)) == [f"graph/same {why}{ASK}"]
    assert said(explicit(message)) == []


LEFT = (
    "ONNX Runtime computes SAME as if there were no dilation: its output has 5 elements instead of 9; it counts only "
    "data, and ONNX Runtime takes no pads (3) that reach the size of the kernel (3)"
)
WHERE = "graph/same (AveragePool auto_pad=SAME_UPPER)"


def wide_average(size: int | str = 9) -> onnx.ModelProto:
    attributes = {"auto_pad": "SAME_UPPER", "kernel_shape": (3, 3), "dilations": (3, 3)}
    return node_model("AveragePool", (1, 1, size, size), attributes)


def test_what_cannot_be_written_out_is_told(tmp_path: Path) -> None:
    message = wide_average()
    assert said(convert(message)) == [f"{WHERE}: {LEFT}"]
    with pytest.raises(padops.PadsLeftError) as error:
        padops.convert(message, tmp_path / "o.onnx", auto_pad="explicit", verify=True)
    assert str(error.value).startswith(
        f"1 of 1 Pad stays unconverted, and ONNX Runtime gets the model wrong as it is: {WHERE}"
    )
    assert not list(tmp_path.iterdir())
    (pad,) = padops.inspect(message).pads
    assert (pad.verdict, pad.why, pad.roads) == ("wrong", LEFT, ())
    (open_size,) = padops.inspect(wide_average("n")).pads
    assert open_size.verdict == "may be wrong"


@pytest.mark.parametrize(("size", "gets"), [(9, "gets"), ("n", "may get")])
def test_a_session_warns_of_it_once_and_has_it_in_its_records(size: int | str, gets: str) -> None:
    content = wide_average(size).SerializeToString()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        session = padops.InferenceSession(content)
    (warning,) = said
    assert warning.filename == __file__
    assert f"{gets} {WHERE} wrong: ONNX Runtime computes SAME as if there were no dilation" in str(warning.message)
    (record,) = session.padops_records
    assert record.status == "unconverted"
    assert session.run(None, {"x": np.ones((1, 1, 9, 9), np.float32)})[0].shape == (1, 1, 5, 5)
