"""The parts of make_models.py's sample models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

Value = tuple[str, int, Sequence[int | str | None]]


def build(
    about: str,
    opset: int,
    ir_version: int,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    tensors: Sequence[onnx.TensorProto] = (),
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """Return one model, checked by onnx itself (with shape inference, which Pad-1 does not have)."""
    graph = helper.make_graph(
        list(nodes),
        "padding",
        [helper.make_tensor_value_info(*value) for value in inputs],
        [helper.make_tensor_value_info(*value) for value in outputs],
        list(tensors),
    )
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain, 1) for domain in (*(f.domain for f in functions), *domains)]
    model = helper.make_model(
        graph,
        producer_name="padops",
        doc_string=about,
        ir_version=ir_version,
        opset_imports=imports,
        functions=list(functions),
    )
    if ir_version < 4:  # before IR 4 every initializer is a graph input as well: use Constant nodes
        assert not tensors
    onnx.checker.check_model(model, full_check=opset > 1)
    return model


def pad(name: str, inputs: Sequence[str], **attributes: object) -> onnx.NodeProto:
    """Return a Pad node whose only output is ``name``."""
    return helper.make_node("Pad", list(inputs), [name], name=f"{name}_pad", **attributes)


def tensor(name: str, values: object, dtype: object = np.int64) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, dtype), name)


def constant(name: str, values: object, dtype: object = np.int64) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], name=f"{name}_constant", value=tensor(name, values, dtype))
