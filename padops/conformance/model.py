"""A case as a model: of the domain padops, or with the Pad of ONNX itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.conformance.arrays import to_bytes
from padops.spec.dialects import DOMAIN, OPS, VERSION
from padops.spec.dialects.onnx_pad import VERSIONS
from padops.spec.dtypes import by_numpy

if TYPE_CHECKING:
    import onnx

    from padops.conformance.case import Case
    from padops.conformance.peers.request import Request


def input_names(inputs: Sequence[np.ndarray | None]) -> list[str]:
    """Names of a model's inputs; empty where one is absent, with none at the end."""
    names = ["" if array is None else f"input_{i}" for i, array in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    return names


def make_model(case: Case | Request, inputs: Sequence[np.ndarray | None], standard: bool = False) -> onnx.ModelProto:
    """The model of a case: one node, inputs ``input_0`` on, output ``output``.

    Args:
        case: Inputs that it holds become constants, and static ones declare their shape.
        inputs: Its arrays.
        standard: Whether the node is the Pad of ``ai.onnx`` instead of the operator of padops.

    Raises:
        ValueError: ONNX has no such operator.
    """
    from onnx import helper

    if standard and not case.opset:
        raise ValueError(f"ONNX has no operator like {case.op}")
    op_type, domain = ("Pad", "") if standard else (case.op, DOMAIN)
    node = helper.make_node(op_type, input_names(inputs), ["output"], name="pad", domain=domain)
    node.attribute.extend(_attribute(case.op, name, value) for name, value in case.attributes.items())
    given = [i for i, array in enumerate(inputs) if array is not None]
    infos = [
        helper.make_tensor_value_info(
            f"input_{i}", by_numpy(inputs[i].dtype).onnx, inputs[i].shape if case.static else None
        )
        for i in given
        if i not in case.held
    ]
    output = helper.make_tensor_value_info("output", by_numpy(inputs[0].dtype).onnx, None)
    constants = [tensor(f"input_{i}", inputs[i]) for i in given if i in case.held]
    graph = helper.make_graph([node], "case", infos, [output], constants)
    opset = case.opset if standard else _opset_with(by_numpy(inputs[0].dtype).name)
    imports = [helper.make_opsetid("", opset)] + ([] if standard else [helper.make_opsetid(DOMAIN, VERSION)])
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version(opset))


def _opset_with(dtype: str) -> int:
    """An opset with everything that standard operators need for an element type, and no newer than that."""
    return next(version for version in VERSIONS if version >= 18 and dtype in OPS[f"Pad_{version}"].types)


def ir_version(opset: int) -> int:
    """The oldest format that every runtime with this opset reads, and no older than functions need."""
    return next((ir for newest, ir in ((17, 8), (20, 9), (22, 10), (23, 11), (24, 12)) if opset <= newest), 13)


def _attribute(op: str, name: str, value: Any) -> onnx.AttributeProto:
    import onnx
    from onnx import helper

    row = next((row for row in OPS[op].attributes if row.name == name), None)
    if row is not None and row.type == "ints":
        return helper.make_attribute(name, list(value), attr_type=onnx.AttributeProto.INTS)
    return helper.make_attribute(name, value)


def tensor(name: str, array: np.ndarray) -> onnx.TensorProto:
    """A tensor of any element type."""
    from onnx import helper

    dtype = by_numpy(array.dtype)
    if dtype.name == "string":
        return helper.make_tensor(name, dtype.onnx, array.shape, [text.encode() for text in array.reshape(-1).tolist()])
    return helper.make_tensor(name, dtype.onnx, array.shape, to_bytes(array), raw=True)


def feeds(case: Case | Request, inputs: Sequence[np.ndarray | None]) -> dict[str, np.ndarray]:
    """What the model of :func:`make_model` is run with."""
    return {f"input_{i}": array for i, array in enumerate(inputs) if array is not None and i not in case.held}
