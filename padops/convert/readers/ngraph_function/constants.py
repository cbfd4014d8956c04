"""Constants: their elements as nGraph writes them, each as a text of its own, or one for all."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.readers.ngraph_function.fields import Fields, shown
from padops.spec.dtypes import DType

FLOATS = {"float", "double", "float16", "bfloat16"}
# Bytes of an initializer that is made of one value. More than that stay one value in the model too: a hundred bytes of
# the file could ask for all of the memory.
LARGEST_REPEATED = 1024


def read_elements(fields: Fields, texts: list[Any], kind: DType, what: str) -> np.ndarray:
    """The elements of a Constant's value: all of them, or one that stands for all.

    Args:
        fields: Of the file, for the error.
        texts: The elements as the JSON has them: texts or numbers.
        kind: The element type of the constant.
        what: The constant, for the error.

    Returns:
        As many elements as there are texts, of the NumPy type of ``kind``; rank 1.

    Raises:
        PadopsError: One of them is no element of that type.
    """
    if wrong := [text for text in texts if not isinstance(text, (str, int, float)) or isinstance(text, bool)]:
        raise fields.damaged(f"{what} has the value {shown(wrong[0])}")
    try:
        with np.errstate(over="ignore"):
            elements = np.array([_parse(str(text), kind) for text in texts], kind.numpy)
    except (ValueError, OverflowError) as error:
        reason = str(error)
        raise fields.damaged(f"{what}: {reason if len(reason) < 200 else reason[:200] + '…'}") from None
    if kind.name in FLOATS:
        for text, element in zip(texts, elements.astype(np.float64)):
            if np.isinf(element) and "inf" not in str(text).lower():
                raise fields.damaged(f"{what} has the value {shown(text)}, beyond {kind.numpy}")
    return elements


def _parse(text: str, kind: DType) -> float | int | bool:
    """One element of a constant; floats may be NAN, INFINITY or -INFINITY."""
    if kind.name in FLOATS:
        return float(text)
    number = int(text)
    if kind.name == "bool":
        return bool(number)
    info = np.iinfo(kind.numpy)
    if not info.min <= number <= info.max:
        raise ValueError(f"{shown(text)} is beyond {info.dtype}")
    return number


def add_constant(
    graph: onnx.GraphProto,
    name: str,
    kind: DType,
    dims: list[int],
    elements: np.ndarray,
    fresh: Callable[[str], str],
) -> list[str]:
    """Adds a constant to a graph: an initializer; for a large one of equal elements, nodes that repeat the element.

    Returns:
        The name, where a node gives the constant.
    """
    repeats = prod(dims) if len(elements) == 1 else 1
    if repeats > 1 and repeats * elements.itemsize > LARGEST_REPEATED:
        graph.initializer.append(numpy_helper.from_array(np.array(dims, np.int64), shape := fresh(f"{name}_shape")))
        graph.node.extend(_repeated(name, kind, shape, elements, fresh))
        return [name]
    graph.initializer.append(
        TensorProto(name=name, data_type=kind.onnx, dims=dims, raw_data=elements.tobytes() * repeats)
    )
    return []


def _repeated(
    name: str, kind: DType, shape: str, element: np.ndarray, fresh: Callable[[str], str]
) -> list[onnx.NodeProto]:
    """Nodes that give a tensor of equal elements, of the shape that another value says."""
    if kind.name != "bfloat16":
        return [helper.make_node("ConstantOfShape", [shape], [name], name, value=numpy_helper.from_array(element))]
    # ConstantOfShape has no bfloat16 in this opset, and a float holds each of them.
    wide, value = fresh(f"{name}_float"), numpy_helper.from_array(element.astype(np.float32))
    return [
        helper.make_node("ConstantOfShape", [shape], [wide], wide, value=value),
        helper.make_node("Cast", [wide], [name], name, to=kind.onnx),
    ]
