"""Finds Pads of constant data in a model, without onnx.

onnxruntime runs such a Pad with its own kernel, while it loads the model.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Collection

from padops.runtime.model_words import OPERATOR, WITHIN, fields

Content = bytes | mmap.mmap
NODE_INPUT, NODE_OUTPUT = 1, 2
INPUTS, INITIALIZERS = 11, 5  # fields of a graph
VALUE_NAME, TENSOR_NAME = 1, 8
OF_SHAPES = (b"Shape", b"Size")  # constant if the dims of their input are


def pads_constants(model: str | bytes | os.PathLike[str]) -> bool:
    """Whether a model may have a Pad of constant data; True if the model cannot be read.

    A value is not constant if it is a graph input or computed from one. Inputs of a function may be constant.
    """
    try:
        if isinstance(model, bytes):
            return _in_model(model)
        with open(os.fspath(model), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _in_model(content)
    except (OSError, ValueError, TypeError, IndexError, KeyError, RecursionError):  # onnxruntime reports what is wrong
        return True


def _in_model(content: Content) -> bool:
    parts = [(WITHIN["model"].get(number), at, end) for number, at, end in fields(content, 0, len(content))]
    return any(_in_graph(content, at, end, kind, ()) for kind, at, end in parts if kind is not None)


def _in_graph(content: Content, start: int, end: int, kind: str, outer: Collection[bytes]) -> bool:
    """Whether a graph or function may have such a Pad; ``outer`` are the outer values that are not constant."""
    rows = list(fields(content, start, end))
    given = {*outer}
    if kind == "graph":
        given |= {_name(content, at, last, VALUE_NAME) for number, at, last in rows if number == INPUTS}
        given -= {_name(content, at, last, TENSOR_NAME) for number, at, last in rows if number == INITIALIZERS}
    return any(
        _is_of_constants(content, at, last, given) for number, at, last in rows if WITHIN[kind].get(number) == "node"
    )


def _is_of_constants(content: Content, start: int, end: int, given: set[bytes]) -> bool:
    """Whether a node is, or holds, a Pad of data that may be constant.

    If not, and if the node depends on a ``given`` value, its outputs join ``given``.
    """
    inputs, outputs, operator, bodies = [], [], b"", []
    for number, at, last in fields(content, start, end):
        if number == NODE_INPUT:
            inputs.append(content[at:last])
        elif number == NODE_OUTPUT:
            outputs.append(content[at:last])
        elif number == OPERATOR:
            operator = content[at:last]
        elif WITHIN["node"].get(number) == "attribute":
            bodies += [row for row in fields(content, at, last) if WITHIN["attribute"].get(row[0]) == "graph"]
    if operator == b"Pad" and inputs and inputs[0] not in given:
        return True
    if any(_in_graph(content, at, last, "graph", given) for _, at, last in bodies):
        return True
    if operator not in OF_SHAPES and not given.isdisjoint(inputs):
        given.update(outputs)
    return False


def _name(content: Content, start: int, end: int, wanted: int) -> bytes:
    return next((content[at:last] for number, at, last in fields(content, start, end) if number == wanted), b"")
