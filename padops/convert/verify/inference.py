"""The types and dims that follow from a model's inputs, by onnx's inference on a copy without declarations.

Declared dims of inner values are removed first: with a wrong declaration, anything could be proved. onnx's inference is
believed for the operators listed here. Of other operators, of newer versions, of calls and of padops' operators, only
element types are known. Elements of shapes (``data_prop``) are never inferred: onnx takes every Cast for one of
integers and assumes that no sum overflows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from padops.convert.errors import os_errors_as
from padops.convert.model.external import check_entries
from padops.convert.model.inference import arrange
from padops.convert.verify.functions import in_order
from padops.convert.verify.schemas import PADOPS
from padops.convert.verify.terms import Dim, Shape

SMALL = 1 << 12  # bytes up to which a constant keeps its elements in the copy: amounts, axes, shapes
BELIEVED = frozenset(
    """
        Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh CumSum DequantizeLinear
    Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax Identity IsInf IsNaN LeakyRelu Log LogSoftmax
    LpNormalization LRN Mish Neg Not QuantizeLinear Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softmax
    Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Trilu

    Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod
    Mul Or Pow PRelu Sub Sum Where Xor

    ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare

    AveragePool BatchNormalization Conv ConvInteger ConvTranspose Gemm GlobalAveragePool GlobalMaxPool GRU
    InstanceNormalization LayerNormalization LpPool LSTM MatMul MatMulInteger MaxPool QLinearConv
    QLinearMatMul RMSNormalization RNN

    Concat Constant ConstantOfShape DepthToSpace Expand EyeLike Flatten Gather GatherElements GatherND NonZero OneHot
    Pad Reshape Resize ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice SpaceToDepth Split
    Squeeze Tile TopK Transpose Unsqueeze Upsample Compress If Loop Scan
    """.split()
)
NEWEST = 28  # the newest opset whose operators are believed
POOLS = ("AveragePool", "LpPool", "MaxPool")
# Ends of a backward Slice: by ONNX it is empty; ONNX Runtime gives everything before the start.
ENDLESS = (2**31 - 1, 2**63 - 1)
UNKNOWN = "padops.unknown"  # a domain that onnx does not know
NOWHERE = "a value that is nowhere"  # an undefined name: inference cannot know its elements
# Inference may raise these for a model that it does not understand: then nothing is known.
INFERENCE_ERRORS = (onnx.shape_inference.InferenceError, RuntimeError, ValueError)


def inferred(model: onnx.ModelProto, folder: Path | None, overridable: set[str]) -> tuple[onnx.GraphProto, bool]:
    """A copy of the main graph, node for node, with types and dims; no large constants, and none of ``overridable``.

    And whether its nodes have the types and dims that their operators take, by onnx; runtimes take Constants of any.
    """
    copy = onnx.ModelProto(ir_version=model.ir_version)
    copy.opset_import.extend(model.opset_import)
    _copy_graph(model.graph, copy.graph, folder, overridable)
    for value in model.graph.input:
        made = copy.graph.input.add()
        made.CopyFrom(value)
        if made.type.WhichOneof("value") != "tensor_type":  # no runtime checks the dims in a sequence or an optional
            forget_dims(made.type)
        for dim in made.type.tensor_type.shape.dim:
            if dim.dim_value < 0:  # some exporters' dynamic dim: inference would compute with it
                dim.Clear()
    order = in_order(copy.graph.node)
    arrange(copy.graph, order)
    is_right = True
    try:
        onnx.shape_inference.infer_shapes(copy, check_type=True, strict_mode=True)
    except INFERENCE_ERRORS as error:
        is_right = "op_type:Constant" in str(error)
    try:
        graph = _infer(copy, {(row.domain, row.name) for row in model.functions}).graph
    except INFERENCE_ERRORS:
        graph = copy.graph
    arrange(graph, sorted(range(len(order)), key=order.__getitem__))
    return graph, is_right


def types_of(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    """The types of a graph's values, by name."""
    return {value.name: value.type for values in (graph.input, graph.value_info, graph.output) for value in values}


def forget_dims(kind: onnx.TypeProto) -> None:
    """Removes the dims from a type: a tensor's, or those within a sequence, an optional or a map."""
    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        getattr(kind, which).ClearField("shape")
    elif which == "map_type":
        forget_dims(kind.map_type.value_type)
    elif which in ("sequence_type", "optional_type"):
        forget_dims(getattr(kind, which).elem_type)


def bare_type(kind: onnx.TypeProto) -> bytes:
    """A type without a tensor's dims, serialized."""
    bare = deepcopy(kind)
    if bare.WhichOneof("value") == "tensor_type":
        bare.tensor_type.ClearField("shape")
    return bare.SerializeToString(deterministic=True)


def dims_of(kind: onnx.TypeProto) -> Shape | None:
    """The dims of a tensor type; None if the type has none, or is no tensor type."""
    tensor = kind.tensor_type
    if kind.WhichOneof("value") != "tensor_type" or not tensor.HasField("shape"):
        return None
    return tuple(_dim(dim) for dim in tensor.shape.dim)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    """One dim; some exporters write a dynamic dim as a negative number."""
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) or None


def _copy_graph(graph: onnx.GraphProto, copy: onnx.GraphProto, folder: Path | None, skipped: set[str]) -> None:
    copy.name = graph.name or "graph"
    for node in graph.node:
        _copy_node(node, copy.node.add(), folder)
    for tensor in graph.initializer:
        if tensor.name not in skipped:
            _copy_tensor(tensor, copy.initializer.add(), folder)
    for value in graph.output:
        made = copy.output.add()
        made.CopyFrom(value)
        forget_dims(made.type)


def _copy_node(node: onnx.NodeProto, copy: onnx.NodeProto, folder: Path | None) -> None:
    copy.op_type, copy.domain, copy.name = node.op_type, node.domain, node.name
    copy.input.extend(node.input)
    copy.output.extend(node.output)
    for attribute in node.attribute:
        made = copy.attribute.add()
        if attribute.HasField("g"):
            made.name, made.type = attribute.name, attribute.type
            _copy_graph(attribute.g, made.g, folder, set())
            for value in attribute.g.input:
                formal = made.g.input.add()
                formal.CopyFrom(value)
                forget_dims(formal.type)
        elif attribute.HasField("t"):
            made.name, made.type = attribute.name, attribute.type
            _copy_tensor(attribute.t, made.t, folder)
        else:
            made.CopyFrom(attribute)
            if made.HasField("tp"):
                forget_dims(made.tp)


def _copy_tensor(tensor: onnx.TensorProto, copy: onnx.TensorProto, folder: Path | None) -> None:
    """Copies a tensor: a small one with its elements, a large one as external data without a file."""
    is_external = tensor.data_location == TensorProto.EXTERNAL
    if not is_external and tensor.ByteSize() <= SMALL:
        copy.CopyFrom(tensor)
        return
    copy.name, copy.data_type = tensor.name, tensor.data_type
    copy.dims.extend(tensor.dims)
    if is_external and folder is not None:
        location, offset, length = check_entries(tensor, "a constant")
        if length <= SMALL:
            with os_errors_as("cannot read", folder / location), open(folder / location, "rb") as file:
                file.seek(offset)
                copy.raw_data = file.read(length)
            return
    copy.data_location = TensorProto.EXTERNAL


def _infer(copy: onnx.ModelProto, calls: set[tuple[str, str]]) -> onnx.ModelProto:
    """Infers what is believed: another operator replaces each node whose dims are not."""
    opset = next((int(row.version) for row in copy.opset_import if row.domain in ("", "ai.onnx")), 0)
    known = _known_constants(copy.graph)
    nodes = list(every_node(copy.graph.node))
    kept = [_kept(node, opset, calls, known) for node in nodes]
    if any(instead != node.op_type for instead, node in zip(kept, nodes)):
        typed = onnx.shape_inference.infer_shapes(copy, check_type=False, strict_mode=False)
        _declare_types(copy.graph, typed.graph, iter(kept))
        copy.opset_import.add(domain=UNKNOWN, version=1)
        for instead, node in zip(kept, nodes):
            if not instead:
                node.domain = UNKNOWN
            elif instead != node.op_type:
                data, node.op_type = node.input[0], instead.strip("_")
                del node.input[:], node.attribute[:]
                node.input.extend([data, NOWHERE, NOWHERE] if "Slice" in instead else [data, NOWHERE])
    return onnx.shape_inference.infer_shapes(copy, check_type=False, strict_mode=False)


def every_node(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """The nodes and those of their bodies."""
    for node in nodes:
        yield node
        for row in node.attribute:
            yield from every_node(row.g.node)


def _declare_types(graph: onnx.GraphProto, typed: onnx.GraphProto, kept: Iterator[str]) -> None:
    """Declares the inferred element types of the outputs of nodes that are replaced; ``kept`` is as ``every_node``."""
    known = {value.name: value.type for value in typed.value_info}
    declared = {value.name for value in graph.output}
    for node, other in zip(graph.node, typed.node, strict=True):
        if next(kept) != node.op_type and node.domain != PADOPS:
            for name in (name for name in node.output if name in known and name not in declared):
                forget_dims(graph.value_info.add(name=name, type=known[name]).type)
        for row, one in zip(node.attribute, other.attribute, strict=True):
            if row.HasField("g"):
                _declare_types(row.g, one.g, kept)


def _known_constants(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """The elements of short lists of integers or floats that have a name of their own."""
    rows = [(tensor.name, tensor) for tensor in graph.initializer]
    for node in every_node(graph.node):
        rows += [(node.output[0], row.t) for row in node.attribute if node.op_type == "Constant" and row.HasField("t")]
    counts = Counter(name for name, _ in rows)
    numbers = (TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32)
    return {
        name: numpy_helper.to_array(tensor)
        for name, tensor in rows
        if len(tensor.dims) == 1 and tensor.dims[0] <= 8 and tensor.data_type in numbers
        and tensor.data_location != TensorProto.EXTERNAL and counts[name] == 1
    }  # fmt: skip


def _kept(node: onnx.NodeProto, opset: int, calls: set[tuple[str, str]], known: dict[str, np.ndarray]) -> str:
    """The op_type that infers only what is believed of a node; "" for nothing.

    Slice and TopK (two outputs) tell the rank of the data alone: runtimes disagree on the dims that they stand for. A
    Slice in place of another Slice is written "Slice_".
    """
    op = node.op_type
    if (node.domain, op) in calls or node.domain not in ("", "ai.onnx"):
        is_known = onnx.defs.has(op, node.domain) or (node.domain, op) in calls
        return "" if is_known else op
    if op not in BELIEVED or opset > NEWEST and onnx.defs.get_schema(op, opset).since_version > NEWEST:
        return "" if onnx.defs.has(op) else op
    rows = {row.name: row for row in node.attribute}
    is_same = "auto_pad" in rows and rows["auto_pad"].s.startswith(b"SAME")
    given = [known.get(name) for name in node.input]
    if op in POOLS and ("ceil_mode" in rows and rows["ceil_mode"].i or (is_same and "dilations" in rows)):
        return "Slice" if len(node.output) == 1 else "TopK"
    if op == "ConvTranspose" and is_same:  # runtimes disagree on output_padding
        return "Slice"
    if op == "Squeeze":  # with an empty list of axes, runtimes squeeze all axes of one element, or none
        listed = rows["axes"].ints if "axes" in rows else given[1] if len(given) > 1 else [0]
        return op if listed is not None and len(listed) else ""
    if op == "Slice" and len(given) > 4 and node.input[4] and (given[2] is None or np.isin(given[2], ENDLESS).any()):
        return op if given[4] is not None and (given[4] > 0).all() else "Slice_"
    if op in ("Resize", "Upsample"):  # floats of another width may round dim times scale to another whole number
        at = 2 if len(given) > 2 else 1
        scales = given[at] if at < len(given) and node.input[at] else np.ones(1) if op == "Resize" else None
        cropped = "coordinate_transformation_mode" in rows and b"crop" in rows["coordinate_transformation_mode"].s
        return op if scales is not None and (scales == np.rint(scales)).all() and not cropped else "Slice"
    return op
