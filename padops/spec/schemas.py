"""The operators of padops for ``onnx``: schemas and shape inference, so that onnx's checker knows the domain.

After :func:`register_schemas`, ``onnx.checker.check_model`` validates padops nodes. ``onnx.shape_inference``, which
onnx_ir's passes use, infers the type of each output, and the dims as far as the amounts are known.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from functools import partial

import numpy as np
import onnx
from onnx import defs

from padops.spec.dialects import DOMAIN, INTEGER_KINDS, OPS, VERSION, Node, Op
from padops.spec.plan import Amounts, Limit, Mode, PadError, make_plan


def register_schemas() -> None:
    """Register the schema of every operator of the domain ``padops`` with ``onnx``; a second call does nothing.

    If every run of a node would break a rule, ``onnx.shape_inference`` raises ``InferenceError`` with the rule's text,
    even outside strict mode: a schema in Python cannot see whether inference is strict.
    """
    # At its first import, onnx.reference lists all schemas by bare names, and fails if two domains share a name. Its
    # own names include "Pad_18", for version 18 of Pad. So padops imports onnx.reference before it registers schemas.
    import onnx.reference  # noqa: F401

    for op in OPS.values():
        if not defs.has(op.name, DOMAIN):
            schema = _schema(op)
            schema.set_type_and_shape_inference_function(partial(_infer, op))
            defs.register_schema(schema)
            # onnx keeps the schemas beyond the end of Python. Before 1.23, it then frees a Python callback: the
            # segmentation fault comes after all work is done, but loses the exit code.
            atexit.register(_deregister, op.name)


def _deregister(name: str) -> None:
    if defs.has(name, DOMAIN):
        defs.deregister_schema(name, VERSION, DOMAIN)


def _schema(op: Op) -> defs.OpSchema:
    option = defs.OpSchema.FormalParameterOption
    kinds = {"T": tuple(op.types), **INTEGER_KINDS}
    attributes = []
    for row in op.attributes:
        kind = getattr(defs.OpSchema.AttrType, row.type.upper())
        if row.required:
            attributes.append(defs.OpSchema.Attribute(row.name, kind, "", required=True))
        else:
            default = onnx.helper.make_attribute(row.name, row.default, attr_type=kind.value)
            attributes.append(defs.OpSchema.Attribute(row.name, default, ""))
    return defs.OpSchema(
        op.name,
        DOMAIN,
        VERSION,
        doc=f"{op.name} of padops; modes {', '.join(op.modes)}.",
        inputs=[
            defs.OpSchema.FormalParameter(
                given.name, given.kind, param_option=option.Optional if given.optional else option.Single
            )
            for given in op.inputs
        ],
        outputs=[defs.OpSchema.FormalParameter("output", "T")],
        type_constraints=[
            (kind, [f"tensor({name})" for name in kinds[kind]], "")
            for kind in dict.fromkeys(given.kind for given in op.inputs)
        ],
        attributes=attributes,
    )


def _infer(op: Op, context: onnx.shape_inference.InferenceContext) -> None:
    """Infer the output's type and shape; raise onnx.shape_inference.InferenceError if every run breaks a rule."""
    data = context.get_input_type(0)
    if data is None or not data.HasField("tensor_type"):
        return  # not known yet; or not a tensor, which the type constraint refuses
    output = onnx.TypeProto()
    output.tensor_type.elem_type = data.tensor_type.elem_type
    if data.tensor_type.HasField("shape"):
        unknown = onnx.TensorShapeProto.Dimension()
        # Some exporters write -1 for an open dim.
        dims = [unknown if dim.dim_value < 0 else dim for dim in data.tensor_type.shape.dim]
        try:
            inferred = _output_dims(op, context, dims)
        except PadError as error:
            raise onnx.shape_inference.InferenceError(str(error)) from error
        output.tensor_type.shape.SetInParent()
        output.tensor_type.shape.dim.extend(inferred)
    context.set_output_type(0, output)


def _output_dims(
    op: Op, context: onnx.shape_inference.InferenceContext, dims: Sequence[onnx.TensorShapeProto.Dimension]
) -> list[onnx.TensorShapeProto.Dimension]:
    """Return the output dims, one for each of ``dims``; if an input with amounts is unknown, all dims are unknown."""
    unknown = onnx.TensorShapeProto.Dimension()
    node, is_known = _node(op, context)
    mode, limit = node.mode(), op.limit
    if not is_known:
        return [unknown] * len(dims)
    fixed = [dim.HasField("dim_value") for dim in dims]
    # An unknown dim counts as size 1: only whether its axis grows matters. If SAME pads any size, it pads size 1.
    amounts = op.amounts(node, [dim.dim_value if is_fixed else 1 for dim, is_fixed in zip(dims, fixed)])
    if not all(fixed):
        # The output may be empty, which every mode allows (P5): only P1 and P10 can be checked.
        mode, limit = Mode.CONSTANT, Limit.NONE
    counted = [pads if is_fixed else Amounts(0, 0) for pads, is_fixed in zip(amounts, fixed)]
    try:
        plan = make_plan([dim.dim_value for dim in dims], counted, mode, op.crop, limit, op.clamp)
    except PadError as error:
        raise node.error(error.rule, error.detail) from None
    dynamic = [dim if pads.begin + pads.end == 0 and not pads.interior else unknown for dim, pads in zip(dims, amounts)]
    return [
        onnx.TensorShapeProto.Dimension(dim_value=size) if is_fixed else other
        for size, other, is_fixed in zip(plan.shape, dynamic, fixed)
    ]


def _node(op: Op, context: onnx.shape_inference.InferenceContext) -> tuple[Node, bool]:
    """Return the node with its known integer inputs, and whether all are known; external data count as unknown."""
    given = {row.name: context.get_attribute(row.name) for row in op.attributes}
    values = {name: onnx.helper.get_attribute_value(value) for name, value in given.items() if value is not None}
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}
    arrays: list[np.ndarray | None] = []
    is_known = True
    for i, row in enumerate(op.inputs):
        is_there = row.kind != "T" and i < context.get_num_inputs()
        tensor = context.get_input_data(i) if is_there else None
        if tensor is None or tensor.data_location == onnx.TensorProto.EXTERNAL:
            arrays.append(None)
            is_known = is_known and not (is_there and context.get_input_type(i) is not None and context.has_input(i))
        else:
            arrays.append(onnx.numpy_helper.to_array(tensor))
    return Node(op, "", attributes, arrays), is_known
