"""padops beside onnxsim, onnxoptimizer and onnxconverter-common, as docs/converter.md says it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import onnx
import onnxoptimizer
import onnxsim
import pytest
from onnxconverter_common import float16
from tool_rows import network, outcome, row

import padops

TOOLS: dict[tuple[str, ...], Callable[[onnx.ModelProto], onnx.ModelProto]] = {  # by the words of their rows
    ("onnxsim",): lambda model: onnxsim.simplify(model)[0],
    ("onnxoptimizer",): onnxoptimizer.optimize,
    ("float16", "onnxconverter-common"): partial(float16.convert_float_to_float16, keep_io_types=True),
}


@pytest.mark.parametrize("words", TOOLS)
def test_before_and_after(words: tuple[str, ...]) -> None:
    tool = TOOLS[words]
    assert outcome(tool(padops.convert(network()).proto())) == row(*words)
    assert outcome(tool(padops.convert(network(), fallback=False).proto())) == ("operators", "no")
    assert outcome(padops.convert(tool(network())).proto()) == ("operators and functions", "yes")
    assert outcome(tool(padops.lower(network()).proto())) == ("neither", "yes")
