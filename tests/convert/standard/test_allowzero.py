"""Lowering writes Reshape's allowzero, which onnx2torch refuses, only where cropping may leave an axis empty."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser

import padops
from padops.spec.plan import PadError

SHAPES = [(2, 4, 5), (0, 4, 5), (2, 0, 5), (2, 4, 0), (0, 0, 5), (0, 4, 0), (1, 1, 2)]
AMOUNTS = [(0, 2, 3, 0, 1, 2), (0, 0, 3, 0, 0, 0), (0, -1, 0, 0, -3, 1), (0, 0, -5, 0, 0, 0), (0, -4, -5, 0, 0, 0)]


def nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from nodes(attribute.g)


def lowered(mode: str, amounts: tuple[int, ...] | None) -> onnx.ModelProto:
    """Of open sizes; amounts of None are an input."""
    given = "" if amounts is None else f"<int64[6] p = {{{', '.join(map(str, amounts))}}}>"
    source = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 19]> g (float[a, b, c] x{", int64[6] p" if amounts is None else ""}) => '
        "(float[d, e, f] y) "
        f'{given} {{ y = Pad <mode = "{mode}"> (x, p) }}'
    )
    return padops.lower(source, without_pad=True).proto()


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize("amounts", [*AMOUNTS[:3], None], ids=str)
def test_only_where_something_may_be_cropped(mode: str, amounts: tuple[int, ...] | None) -> None:
    """The bits, and the error where there is nothing to extend from, of sizes that are 0 and of others."""
    made = lowered(mode, amounts)
    reshapes = [node for node in nodes(made.graph) if node.op_type == "Reshape"]
    may_crop = amounts is None or min(amounts) < 0
    assert reshapes and any(row.name == "allowzero" for node in reshapes for row in node.attribute) is may_crop
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    ran = refused = 0
    for shape in SHAPES:
        data = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        for pads in [amounts] if amounts is not None else AMOUNTS:
            feeds = {"x": data} | ({} if amounts is not None else {"p": np.array(pads)})
            try:
                expected = padops.run_reference("Pad_19", {"mode": mode}, [data, np.array(pads)])
            except PadError:
                with pytest.raises(Exception):  # noqa: B017  # it is whatever the operators say
                    session.run(None, feeds)
                refused += 1
                continue
            (output,) = session.run(None, feeds)
            assert (output.shape, output.tobytes()) == (expected.shape, expected.tobytes()), (shape, pads)
            ran += 1
    assert ran >= 4 and refused >= 1
