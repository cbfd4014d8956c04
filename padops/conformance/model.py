"""Makes the model of a case: one node (an operator of padops or the Pad of ONNX), or the converted model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.conformance.peers.request import Refused, Request, Unsupported
from padops.spec.dialects import DOMAIN, OPS, VERSION, VERSIONS
from padops.spec.dtypes import dtype_of, to_bytes

if TYPE_CHECKING:
    import onnx


def one_node_model(
    op_type: str,
    names: Sequence[str],
    attributes: Mapping[str, Any],
    inputs: Mapping[str, tuple[int, Sequence[int | str] | None]],
    output: tuple[int, Sequence[int | str] | None],
    opsets: Mapping[str, int],
    ir_version: int,
    constants: Sequence[onnx.TensorProto],
    domain: str,
) -> onnx.ModelProto:
    """Make a model of one node, whose output is called ``output``.

    ``output`` and each value of ``inputs`` are an element type and a shape; None leaves the shape undeclared. The model
    stores ``constants``, the constant inputs of the node. In ``names``, an absent input is an empty name.
    """
    import onnx
    from onnx import helper

    node = helper.make_node(op_type, names, ["output"], name="pad", domain=domain)
    for key, value in attributes.items():
        kind = onnx.AttributeProto.INTS if isinstance(value, (list, tuple)) and not value else None
        node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    infos = [helper.make_tensor_value_info(key, *declared) for key, declared in inputs.items()]
    given = helper.make_tensor_value_info("output", *output)
    graph = helper.make_graph([node], "case", infos, [given], constants)
    imports = [helper.make_opsetid(*row) for row in opsets.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version)


def make_model(case: Request, standard: bool = False) -> onnx.ModelProto:
    """Make a case's model; with ``standard``, use ONNX's Pad, and raise Unsupported if ONNX lacks the operator."""
    if standard and not case.opset:
        raise Unsupported(f"ONNX has no operator like {case.op}")
    # Without ``standard``, use the oldest opset in which standard operators support the element type.
    oldest = (row for row in VERSIONS if row >= 18 and case.dtype.name in OPS[f"Pad_{row}"].types)
    opset = case.opset if standard else next(oldest)
    names = ["" if array is None else f"input_{i}" for i, array in enumerate(case.inputs)]
    while not names[-1]:
        names.pop()
    lists = {row.name for row in case.row.attributes if row.type == "ints"}
    declared = {name: (dtype_of(x).onnx, x.shape if case.static else None) for name, x in feeds(case).items()}
    return one_node_model(
        "Pad" if standard else case.op,
        names,
        {name: list(value) if name in lists else value for name, value in case.attributes.items()},
        declared,
        (case.dtype.onnx, None),
        {"": opset} | ({} if standard else {DOMAIN: VERSION}),
        ir_version(opset),
        [tensor(f"input_{i}", array) for i in case.constant_inputs if (array := case.inputs[i]) is not None],
        "" if standard else DOMAIN,
    )


def ir_version(opset: int) -> int:
    """Return an IR version that allows functions and that every runtime with this opset reads."""
    return next((ir for newest, ir in ((17, 8), (20, 9), (22, 10), (23, 11), (24, 12)) if opset <= newest), 13)


def tensor(name: str, array: np.ndarray) -> onnx.TensorProto:
    from onnx import helper

    dtype = dtype_of(array)
    if dtype.name == "string":
        return helper.make_tensor(name, dtype.onnx, array.shape, [text.encode() for text in array.reshape(-1).tolist()])
    return helper.make_tensor(name, dtype.onnx, array.shape, to_bytes(array), raw=True)


def feeds(case: Request) -> dict[str, np.ndarray]:
    given = enumerate(case.inputs)
    return {f"input_{i}": array for i, array in given if array is not None and i not in case.constant_inputs}


class RuleBroken(Refused):
    """The conversion reports that the case breaks a rule."""


def without_pad(request: Request) -> onnx.ModelProto:
    """Make the model of a case, and convert it with ``--target onnx --without-pad``; raise as ``converted`` does."""
    return converted(make_model(request), target="onnx", without_pad=True)


def converted(model: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    """Convert a model; raise RuleBroken if its Pad breaks a rule, or Unsupported if padops cannot convert it."""
    from padops.convert import convert

    conversion = convert(model, fold=False, **options)
    for why in (*(record.reason for record in conversion.unconverted), *conversion.no_fallback.values()):
        if why:
            raise (RuleBroken if re.search(r"\[[PS]\d+](;|$)", why) else Unsupported)(why)
    return conversion.proto()
