"""padops beside onnxsim, onnxoptimizer and onnxconverter-common, as docs/converter.md says it."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import onnxoptimizer
import onnxsim
import pytest
from onnxconverter_common import float16
from tool_rows import network, outcome, row

import padops

TOOLS: dict[str, tuple[tuple[str, ...], Callable[[onnx.ModelProto], onnx.ModelProto]]] = {
    "onnxsim": (("onnxsim",), lambda model: onnxsim.simplify(model)[0]),
    "onnxoptimizer": (("onnxoptimizer",), onnxoptimizer.optimize),
    "float16": (
        ("float16", "onnxconverter-common"),
        lambda model: float16.convert_float_to_float16(model, keep_io_types=True),
    ),
}


@pytest.mark.parametrize("name", TOOLS)
def test_before_and_after(name: str) -> None:
    words, tool = TOOLS[name]
    assert outcome(tool(padops.convert(network()).proto())) == row(*words)
    assert outcome(tool(padops.convert(network(), fallback=False).proto())) == ("operators", "no")
    assert outcome(padops.convert(tool(network())).proto()) == ("operators and functions", "yes")
    assert outcome(tool(padops.lower(network()).proto())) == ("neither", "yes")
