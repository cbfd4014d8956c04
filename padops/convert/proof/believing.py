"""How far onnx's shape inference is believed: the dims of the operators listed here, and never the elements of shapes.

For other operators, and for newer versions, only the element type is believed: onnx may infer other dims than a runtime
gives. ``tests/convert/proof/test_believed_dims.py`` compares the listed operators with onnx's own examples. onnx can
also propagate the elements of shapes (``data_prop``), but takes every Cast for one of integers and assumes that no sum
overflows. So ``data_prop`` is never used: the proof rules compute with shapes themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.proof.schemas import PADOPS

# Runtimes disagree on two dims of pools: with ceil_mode, whether the last window may begin in the padding; with
# auto_pad SAME, whether dilations count. ONNX Runtime 1.32 ignores such windows and dilations.
_POOLS = {"AveragePool", "LpPool", "MaxPool"}
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

    AveragePool BatchNormalization Conv ConvInteger ConvTranspose DFT Gemm GlobalAveragePool GlobalMaxPool GRU
    InstanceNormalization LayerNormalization LpPool LSTM MatMul MatMulInteger MaxPool QLinearConv
    QLinearMatMul RMSNormalization RNN

    Concat Constant ConstantOfShape DepthToSpace Expand EyeLike Flatten Gather GatherElements GatherND NonZero OneHot
        Pad Range Reshape Resize ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice SpaceToDepth Split
    Squeeze Tile TopK Transpose Unsqueeze Upsample Compress Optional OptionalGetElement OptionalHasElement SequenceAt
    SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength

    If Loop Scan
    """.split()
)
LONGEST = 8  # the most elements of a list that is read: one for each axis
_OF_INTEGERS = {"value_int", "value_ints"}
_INTEGERS = {onnx.TensorProto.INT16, onnx.TensorProto.INT32, onnx.TensorProto.INT64}
_NUMBERS = {onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.INT32}
# Ends of a backward Slice: by ONNX it is empty; ONNX Runtime gives everything before the start.
ENDLESS = (2**31 - 1, 2**63 - 1)
NEWEST = 28  # the newest opset whose operators are believed
_UNKNOWN = "padops.unknown"  # a domain that onnx does not know
_Part = onnx.ModelProto | onnx.FunctionProto
_NOWHERE = "a value that is nowhere"  # an undefined name: inference cannot know its elements


def infer(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of the model with the believed types and dims that follow from its inputs and constants.

    Another operator replaces each node whose dims are not believed: it tells the type alone, or also the rank.

    Raises:
        onnx.shape_inference.InferenceError: onnx does not understand the model.
    """
    copy = deepcopy(model)
    parts: list[tuple[_Part, Sequence[onnx.NodeProto]]] = [(copy, copy.graph.node)]
    parts += [(function, function.node) for function in copy.functions]
    if not all(_is_believed(node, opset_of(part)) for part, nodes in parts for node in every_node(nodes)):
        typed = onnx.shape_inference.infer_shapes(copy, check_type=False, strict_mode=False)
        calls = {(function.domain, function.name) for function in copy.functions}
        _keep_types(copy.graph, typed.graph, opset_of(copy), calls)
        for part, _ in parts:
            part.opset_import.add(domain=_UNKNOWN, version=1)
    lists = _Lists.of(copy)
    for part, nodes in parts:
        _veil(nodes, lists, opset_of(part))
    return onnx.shape_inference.infer_shapes(copy, check_type=False, strict_mode=False)


def opset_of(part: _Part) -> int:
    """The opset of ONNX's own domain that a model or function imports."""
    return next((int(row.version) for row in part.opset_import if row.domain in ("", "ai.onnx")), 0)


def every_node(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """The nodes and those of their bodies."""
    for node in nodes:
        yield node
        for row in node.attribute:
            yield from every_node(row.g.node)


def _is_believed(node: onnx.NodeProto, opset: int) -> bool:
    """Whether the dims that onnx infers for a node are believed. For operators that onnx does not know, it infers none.

    onnx knows the operators of padops once their schemas are registered; a conversion registers them.
    """
    if node.domain not in ("", "ai.onnx"):
        return node.domain == PADOPS or not onnx.defs.has(node.op_type, node.domain)
    if node.op_type not in BELIEVED:
        return not onnx.defs.has(node.op_type)
    return opset <= NEWEST or onnx.defs.get_schema(node.op_type, opset).since_version <= NEWEST


def _keep_types(graph: onnx.GraphProto, typed: onnx.GraphProto, opset: int, calls: set[tuple[str, str]]) -> None:
    """Declares the inferred types, without dims, of the outputs of calls and of nodes whose dims are not believed."""
    known = {value.name: value.type for value in typed.value_info}
    declared = {value.name for value in (*graph.value_info, *graph.output)}
    for node, other in zip(graph.node, typed.node, strict=True):
        if (node.domain, node.op_type) in calls or not _is_believed(node, opset):
            for name in (name for name in node.output if name in known and name not in declared):
                forget_dims(graph.value_info.add(name=name, type=known[name]).type)
        for row, inferred in zip(node.attribute, other.attribute, strict=True):
            if row.HasField("g"):
                _keep_types(row.g, inferred.g, opset, calls)


def forget_dims(kind: onnx.TypeProto) -> None:
    """Removes the dims from a type: a tensor's, or those within a sequence, an optional or a map."""
    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        getattr(kind, which).ClearField("shape")
    elif which == "map_type":
        forget_dims(kind.map_type.value_type)
    elif which in ("sequence_type", "optional_type"):
        forget_dims(getattr(kind, which).elem_type)


@dataclass(frozen=True)
class _Lists:
    """The names of constants, in any graph, by what their elements are. One name may stand for several values."""

    empty: set[str]  # at least one is empty
    whole: set[str]  # all are short lists of whole numbers
    floats: set[str]  # at least one is of floats, or it is a function's input
    endless: set[str]  # at least one has an element of ``ENDLESS``
    forward: set[str]  # all are short lists of positive numbers

    @classmethod
    def of(cls, model: onnx.ModelProto) -> _Lists:
        """Reads the constants of a model, its functions and all bodies."""
        rows = [*_defined(model.graph)]
        for function in model.functions:
            rows += [(name, None, False) for name in function.input]
            rows += [row for node in function.node for row in _defined_by(node)]
        known = [(name, elements) for name, elements, _ in rows if elements is not None]
        unknown = {name for name, elements, _ in rows if elements is None}
        return cls(
            {name for name, elements in known if not elements.size},
            {name for name, _ in known} - unknown - {name for name, one in known if (one != np.rint(one)).any()},
            {name for name, _, is_integer in rows if not is_integer},
            {name for name, elements in known if np.isin(elements, ENDLESS).any()},
            {name for name, _ in known} - unknown - {name for name, one in known if not (one > 0).all()},
        )


_Row = tuple[str, np.ndarray | None, bool]  # a name, its elements, and whether these are integers if it is a constant


def _defined(graph: onnx.GraphProto) -> Iterator[_Row]:
    """Every name that a graph and its bodies define, with the elements of a short list of numbers; else None."""
    yield from ((value.name, None, True) for value in graph.input)
    yield from ((sparse.values.name, None, True) for sparse in graph.sparse_initializer)
    yield from ((tensor.name, _elements(tensor), tensor.data_type in _INTEGERS) for tensor in graph.initializer)
    for node in graph.node:
        yield from _defined_by(node)


def _defined_by(node: onnx.NodeProto) -> Iterator[_Row]:
    rows = list(node.attribute) if node.op_type == "Constant" else []
    elements = _constant(rows[0]) if len(rows) == 1 else None
    are_integers = all(row.name in _OF_INTEGERS or row.t.data_type in _INTEGERS for row in rows)
    yield from ((name, elements, are_integers) for name in node.output)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield from _defined(attribute.g)


def _constant(row: onnx.AttributeProto) -> np.ndarray | None:
    if row.name == "value" and row.HasField("t"):
        return _elements(row.t)
    if row.name == "value_ints" and not row.ref_attr_name:
        return np.array(row.ints)
    return np.array(row.floats) if row.name == "value_floats" and not row.ref_attr_name else None


def _elements(tensor: onnx.TensorProto) -> np.ndarray | None:
    """The elements of a short list of numbers; else None."""
    if 0 in tensor.dims:
        return np.empty(0)
    is_short = len(tensor.dims) == 1 and tensor.dims[0] <= LONGEST and tensor.data_type in _NUMBERS
    return numpy_helper.to_array(tensor) if is_short and tensor.data_location != onnx.TensorProto.EXTERNAL else None


def _veil(nodes: Iterable[onnx.NodeProto], lists: _Lists, opset: int) -> None:
    """Replaces the nodes whose dims are not believed by nodes that infer only what is."""
    for node in nodes:
        if not _is_believed(node, opset):
            node.domain = _UNKNOWN
        elif node.domain in ("", "ai.onnx") and node.input and (instead := _instead(node, lists)):
            data, node.op_type = node.input[0], instead
            del node.input[:], node.attribute[:]
            node.input.extend([data, _NOWHERE, _NOWHERE] if instead == "Slice" else [data, _NOWHERE])
        for row in node.attribute:
            _veil(row.g.node, lists, opset)


def _instead(node: onnx.NodeProto, lists: _Lists) -> str:
    """The op_type that infers only what is believed of a node; "" if all is.

    Slice and TopK (two outputs) tell the rank of the data; Reshape does not.
    """
    rows = {row.name: row for row in node.attribute}
    is_same = "auto_pad" in rows and (rows["auto_pad"].s.startswith(b"SAME") or bool(rows["auto_pad"].ref_attr_name))
    if node.op_type in _POOLS:
        ceils = "ceil_mode" in rows and bool(rows["ceil_mode"].i or rows["ceil_mode"].ref_attr_name)
        if ceils or (is_same and "dilations" in rows):
            return "Slice" if len(node.output) == 1 else "TopK"
    if node.op_type == "ConvTranspose" and is_same:  # runtimes disagree on output_padding
        return "Slice"
    if node.op_type == "Squeeze":  # with an empty list of axes, runtimes squeeze all axes of one element, or none
        no_axes = "axes" in rows and not rows["axes"].ints
        return "Reshape" if no_axes or lists.empty.intersection(node.input[1:]) else ""
    if node.op_type == "Slice" and len(node.input) > 4 and node.input[2] in lists.endless:
        return "" if not node.input[4] or node.input[4] in lists.forward else "Slice"
    if node.op_type == "Range" and lists.floats.intersection(node.input):  # the quotient of floats may be rounded
        return "Reshape"
    # Floats of another width may round dim times scale to another whole number.
    if node.op_type == "Upsample" and not (len(node.input) > 1 and node.input[1] in lists.whole):
        return "Slice"
    if node.op_type == "Resize":
        scales = node.input[2] if len(node.input) > 2 else node.input[1] if len(node.input) == 2 else ""
        how = rows.get("coordinate_transformation_mode")
        is_cropped = how is not None and (how.s == b"tf_crop_and_resize" or bool(how.ref_attr_name))
        if scales and (is_cropped or scales not in lists.whole):
            return "Slice"
    return ""
