"""Infers types and dims from a model's inputs with onnx's inference, ignoring declarations of inner values.

A wrong declaration could prove anything. The proof trusts the inferred dims of a value only if operators of
``BELIEVED``, in versions up to ``NEWEST``, compute the value from the inputs. For other values, the proof trusts only
the element type, or only the type and the rank. The elements of shapes (``data_prop``) are never inferred: onnx treats
every Cast as a Cast of integers and assumes that no sum overflows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from padops.convert.model.document import name_default_domain
from padops.convert.model.inference import UNKNOWN, arrange, declarations, infer_graph, order_of
from padops.convert.model.nesting import graphs_of, nodes_of
from padops.convert.verify.terms import Shape

BELIEVED = frozenset(
    """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization BitShift BitwiseAnd
    BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Compress Concat Constant ConstantOfShape Conv
    ConvInteger ConvTranspose Cos Cosh CumSum DepthToSpace DequantizeLinear Div Dropout Elu Equal Erf Exp Expand
    EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater
    GreaterOrEqual HardSigmoid HardSwish Hardmax Identity If InstanceNormalization IsInf IsNaN LRN LSTM
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Loop LpNormalization LpPool MatMul MatMulInteger
    Max MaxPool Mean Min Mish Mod Mul Neg NonZero Not OneHot Or PRelu Pad Pow QLinearConv QLinearMatMul
    QuantizeLinear RMSNormalization RNN Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax
    ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize ReverseSequence Round Scan Scatter
    ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign
    SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze
    Upsample Where Xor
    """.split()
)
NEWEST = 28  # the newest opset whose dims are trusted
NOTHING, RANK, DIMS = range(3)  # the trusted part of a value's inferred dims; RANK where runtimes disagree
POOLS = ("AveragePool", "LpPool", "MaxPool")
# Inference may raise these errors for a model that it cannot handle: then no type is known.
INFERENCE_ERRORS = (onnx.shape_inference.InferenceError, RuntimeError, ValueError)


def inferred(model: onnx.ModelProto) -> tuple[onnx.GraphProto, bool]:
    """Returns a copy of the main graph with types and dims, and whether onnx accepts all nodes except Constants."""
    light = declarations(model)
    name_default_domain(light)
    del light.functions[:]  # their declared dims are never checked
    for graph in graphs_of(light.graph):
        del graph.value_info[:]
        for value in (*graph.output, *(graph.input if graph is not light.graph else ())):
            forget_dims(value.type)
    for value in light.graph.input:
        if value.type.WhichOneof("value") != "tensor_type":  # no runtime checks the dims in a sequence or an optional
            forget_dims(value.type)
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value < 0:  # some exporters write a dynamic dim so; inference would use the number
                dim.Clear()
    calls = {(row.domain, row.name) for row in model.functions}
    for _, node in nodes_of(light.graph.node):
        if (node.domain, node.op_type) in calls:  # onnx may have another operator of that name
            node.domain = UNKNOWN
    light.opset_import.add(domain=UNKNOWN, version=1)
    order = order_of(light.graph.node)
    arrange(light.graph, order)
    is_right = True
    try:
        onnx.shape_inference.infer_shapes(light, check_type=True, strict_mode=True)
    except INFERENCE_ERRORS as error:
        is_right = "op_type:Constant" in str(error)
    try:
        graph = infer_graph(light)
    except INFERENCE_ERRORS:
        graph = light.graph
    arrange(graph, sorted(range(len(order)), key=order.__getitem__))
    return graph, is_right


def belief(node: onnx.NodeProto, opset: int, known: Callable[[int], np.ndarray | None]) -> int:
    """Returns how far to trust a node's inferred dims, given trusted input dims; ``known`` returns constant inputs."""
    op, rows = node.op_type, {row.name: row for row in node.attribute}
    is_new = opset > NEWEST and onnx.defs.has(op) and onnx.defs.get_schema(op, opset).since_version > NEWEST
    if node.domain not in ("", "ai.onnx") or op not in BELIEVED or is_new:
        return NOTHING
    is_same = "auto_pad" in rows and rows["auto_pad"].s.startswith(b"SAME")
    if op in POOLS and ("ceil_mode" in rows and rows["ceil_mode"].i or (is_same and "dilations" in rows)):
        return RANK
    if op in ("Resize", "Upsample") or (op == "ConvTranspose" and is_same):  # they round scales, or pad the output
        return RANK
    if op == "Squeeze":  # with an empty list of axes, runtimes squeeze all axes of one element, or none
        listed = rows["axes"].ints if "axes" in rows else known(1)
        return DIMS if listed is not None and len(listed) else NOTHING
    return DIMS


def forget_dims(kind: onnx.TypeProto) -> None:
    """Removes the dims from a tensor type, or from the tensor type within a sequence, optional or map type."""
    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        getattr(kind, which).ClearField("shape")
    elif which is not None:
        forget_dims(kind.map_type.value_type if which == "map_type" else getattr(kind, which).elem_type)


def dims_of(kind: onnx.TypeProto) -> Shape | None:
    """Returns the dims of a tensor type; None if the type has no dims, or is not a tensor type."""
    tensor = kind.tensor_type
    if kind.WhichOneof("value") != "tensor_type" or not tensor.HasField("shape"):
        return None
    # Some exporters write a dynamic dim as a negative number.
    dims = (dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in tensor.shape.dim)
    return tuple(None if isinstance(dim, int) and dim < 0 else dim for dim in dims)
