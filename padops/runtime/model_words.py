"""Searches the bytes of an ONNX model for operators, dim names and suspect nodes, without the package onnx."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

from padops.runtime.provider import FIRST_MINOR
from padops.spec import pyop_node
from padops.spec.dialects import OPS

Content = bytes | mmap.mmap
Found = TypeVar("Found")

AXES = b"a Pad with axes"  # not a word of the model, but a mark for a Pad with the input axes

FOLDING = "ConstantFolding"
# Optimizers that change Pads wrongly before onnxruntime asks a provider, the words of a model that they may affect, and
# the first onnxruntime 1.x with a correct optimizer (None: none yet). See tests/convert/standard/test_fusions.py.
WRONG_OPTIMIZERS: tuple[tuple[str, tuple[bytes, ...], int | None], ...] = (
    # A Pad with the constant 0 becomes the padding of a MaxPool, which pads with minus infinity.
    ("Pad_Fusion", (b"Pad", b"MaxPool"), 32),
    # A Pad becomes the padding of an AveragePool. ceil_mode counts this padding differently, and the padding must be
    # smaller than the kernel.
    ("Pad_Fusion", (b"Pad", b"AveragePool"), 32),
    # onnxruntime's own kernel runs a Pad of constant data. If reflect turns more than once, the kernel reads past the
    # data or refuses the model; with wrap, it leaves zeros after the first period.
    (FOLDING, (b"Pad", b"reflect"), 27),
    (FOLDING, (b"Pad", b"wrap"), 31),
    # The optimizer moves a Transpose through a Pad, and reorders the amounts as if they covered all axes.
    ("TransposeOptimizer", (AXES, b"Transpose"), None),
    ("TransposeOptimizer_CPUExecutionProvider", (AXES, b"Transpose"), None),
    # NhwcTransformer does the same with Transposes that it puts around quantized convolutions.
    ("NhwcTransformer", (AXES, b"QLinearConv"), None),
    ("NhwcTransformer", (AXES, b"QuantizeLinear"), None),
)

# A mark like AXES, for models that onnxruntime loads but runs wrong. With SAME and dilations, a MaxPool returns a
# smaller output without an error, and a convolution fails in its first run. With SAME and strides longer than the
# window, a pooling uses wrong windows or fails in its first run; a convolution uses wrong windows if the stride is at
# least three elements longer.
WRONG_SAME = b"a window with SAME, and dilations or long strides"
MISCOUNTED = (b"SAME_", b"count_include_pad")  # AveragePools that the releases 1.x of MISCOUNTING run wrong
MISCOUNTING = range(21, 25)
CONVOLUTIONS = (b"Conv", b"ConvInteger", b"QLinearConv", b"FusedConv")
BY_REFERENCE = b"\xaa\x01"  # the key of an attribute whose value is in the call of the function

DOMAIN = b"padops"  # the domain of the operators
PYTHON_DOMAIN = pyop_node.DOMAIN.encode()  # the domain of the kernel in Python
PADS = (b"Pad", b"ATen", b"aten")  # a model with an operator named Pad, or with a PyTorch pad, has one of these
FIRST = (DOMAIN, *PADS, b"SAME_")  # words searched in every model; most models have none
FURTHER = (  # words that matter only in a model with a word of FIRST
    *(PYTHON_DOMAIN, *map(str.encode, OPS), *MISCOUNTED),
    *({word for _, words, _ in WRONG_OPTIMIZERS for word in words} - {AXES}),
)
WORDS = {*FIRST, *FURTHER}

# The numbers of the fields that lead to nodes in a model; and the other fields of a node that padops reads.
WITHIN = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {6: "graph", 11: "graph"},
}
INPUT, OUTPUT, OPERATOR = 1, 2, 4
INPUTS, INITIALIZERS = 11, 5  # fields of a graph
VALUE_NAME, TENSOR_NAME = 1, 8
OF_SHAPES = (b"Shape", b"Size")  # operators with a constant output if the dims of the input are constant
TENSOR = {"graph": 5, "attribute": 5}  # the fields of an initializer, and of a Constant's value
SMALL = 1 << 14  # bytes; a smaller part is searched as a whole, which takes less time
UNREAD = (IndexError, KeyError, RecursionError)  # errors for bytes that are no model


def content_of(model: Any) -> Any:
    """Return a model in memory as bytes for onnxruntime; return anything else, such as a path, unchanged."""
    if isinstance(model, (bytearray, memoryview)):
        return bytes(model)
    return model.SerializeToString() if hasattr(model, "SerializeToString") else model  # an onnx.ModelProto


def words_of(model: str | bytes | os.PathLike[str]) -> frozenset[bytes]:
    """Return the ``WORDS`` and the marks that a model has; if the model cannot be read, all except ``PYTHON_DOMAIN``.

    A model stores the operator, domain and mode of a node as plain bytes. So a model without a word has no node with
    this word, and a model with the word may have one.
    """
    # Without PYTHON_DOMAIN: the Python kernel needs an extra package.
    return _read(model, _words_in, frozenset({*WORDS, AXES, WRONG_SAME} - {PYTHON_DOMAIN}))


def dim_names(model: str | bytes | os.PathLike[str]) -> tuple[str, ...]:
    """Return the names of the dims of a model's inputs, each once; none if the model cannot be read."""

    def look(content: Content) -> tuple[str, ...]:
        parts = [(0, len(content))]
        for wanted in (7, 11, 2, 1, 2, 1, 2):  # graph, input, type, tensor type, shape, dim, name
            rows = [row for at, end in parts for row in fields(content, at, end)]
            parts = [(first, last) for number, first, last in rows if number == wanted]
        return tuple(dict.fromkeys(content[first:last].decode() for first, last in parts if last > first))

    return _read(model, look, ())


def pads_constants(model: str | bytes | os.PathLike[str]) -> bool:
    """Return whether a model may have a Pad of constant data: onnxruntime runs such a Pad while it loads the model.

    A graph input without an initializer is not constant. A value that depends on this input is not constant either, but
    the value's shape and size may be. An input of a function may be constant. If the model cannot be read, the result
    is True.
    """

    def look(content: Content) -> bool:
        parts = [(WITHIN["model"].get(number), at, end) for number, at, end in fields(content, 0, len(content))]
        return any(_in_graph(content, at, end, kind, ()) for kind, at, end in parts if kind is not None)

    return _read(model, look, True)


def _read(model: str | bytes | os.PathLike[str], look: Callable[[Content], Found], unread: Found) -> Found:
    """Return the result of ``look`` for the bytes of a model; ``unread`` if the model cannot be read."""
    try:
        if isinstance(model, bytes):
            return look(model)
        with open(os.fspath(model), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return look(content)
    except (OSError, ValueError, TypeError, *UNREAD):  # onnxruntime reports the error
        return unread


def _words_in(content: Content) -> frozenset[bytes]:
    text: Content
    try:
        text = b"".join([content[first:last] for first, last in _parts(content, 0, len(content))])
    except UNREAD:  # such as a model in onnxruntime's own format
        text = content
    found = {word for word in FIRST if text.find(word) >= 0}
    if found:
        found |= {word for word in FURTHER if text.find(word) >= 0}
    same = b"SAME_" in found
    if same or (
        b"Pad" in found
        and any(AXES in words and found.issuperset({*words} - {AXES}) for _, words, _ in WRONG_OPTIMIZERS)
    ):
        try:
            found.update(*(_marks(content, *node) for node in _nodes(content, 0, len(content))))
        except UNREAD:
            found |= {AXES, WRONG_SAME} if same else {AXES}
    return frozenset(found)


def _parts(content: Content, start: int, end: int, kind: str = "model") -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each part of a model; in large graphs and nodes, leave out the weights."""
    for number, first, last in fields(content, start, end):
        inner = WITHIN[kind].get(number)
        if number == TENSOR.get(kind) or inner is not None and last - first >= SMALL:
            yield start, first
            start = last
            if inner is not None:
                yield from _parts(content, first, last, inner)
    yield start, end


def _nodes(content: Content, start: int, end: int, kind: str = "model") -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each node that is large or may have a "Pad" or an "auto_pad", at any depth."""
    for number, first, last in fields(content, start, end):
        inner = WITHIN[kind].get(number)
        if inner is not None and (last - first >= SMALL or content.find(b"ad", first, last) >= 0):
            if inner == "node":
                yield first, last
            yield from _nodes(content, first, last, inner)


def _texts(content: Content, start: int, end: int, *numbers: int) -> list[list[bytes]]:
    """Return, for each of ``numbers``, the values of all fields with this number in a part of a model."""
    rows = [row for row in fields(content, start, end) if row[0] in numbers]
    return [[content[first:last] for number, first, last in rows if number == wanted] for wanted in numbers]


def _marks(content: Content, start: int, end: int) -> set[bytes]:
    """Return the marks of a node; without ``kernel_shape``, assume a window of one element, to miss no long stride."""
    inputs, operators = _texts(content, start, end, INPUT, OPERATOR)
    operator = b"".join(operators)
    if operator == b"Pad" and len(inputs) > 3:
        return {AXES}
    is_pooling = operator.endswith(b"Pool")
    if not is_pooling and operator not in CONVOLUTIONS or content.find(b"auto_pad", start, end) < 0:
        return set()
    if content.find(BY_REFERENCE, start, end) >= 0:
        return {WRONG_SAME}
    if content.find(b"SAME_", start, end) < 0:
        return set()
    strides = _integers(content, start, end, b"\x07strides")
    windows = _integers(content, start, end, b"\x0ckernel_shape") or [1] * len(strides)
    beyond, dilations = 1 if is_pooling else 3, _integers(content, start, end, b"\tdilations")
    is_wrong = any(n != 1 for n in dilations) or any(n >= window + beyond for n, window in zip(strides, windows))
    return {WRONG_SAME} if is_wrong else set()


def _integers(content: Content, start: int, end: int, name: bytes) -> list[int]:
    """Return the integers of a node's attribute ``name``; after the name, each has a key, or one key packs all."""
    numbers: list[int] = []
    at = content.find(name, start, end) + len(name)
    if at < len(name):
        return numbers
    packed = content[at] == ord("B")
    if packed:
        size, at = _varint(content, at + 1)
        end = at + size
    while at < end and (packed or content[at] == ord("@")):
        number, at = _varint(content, at if packed else at + 1)
        numbers.append(number)
    return numbers


def _in_graph(content: Content, start: int, end: int, kind: str, outer: Collection[bytes]) -> bool:
    """Return whether a graph or function may pad constant data; ``outer`` names outer values that are not constant."""
    rows, given = list(fields(content, start, end)), {*outer}
    if kind == "graph":
        given.update(*(_texts(content, at, last, VALUE_NAME)[0] for number, at, last in rows if number == INPUTS))
        for number, at, last in rows:
            given.difference_update(_texts(content, at, last, TENSOR_NAME)[0] if number == INITIALIZERS else ())
    for number, at, last in rows:
        if WITHIN[kind].get(number) != "node":
            continue
        inputs, outputs, operator = _texts(content, at, last, INPUT, OUTPUT, OPERATOR)
        if operator == [b"Pad"] and inputs and inputs[0] not in given:
            return True
        attributes = [row for row in fields(content, at, last) if WITHIN["node"].get(row[0]) == "attribute"]
        bodies = [row for _, *part in attributes for row in fields(content, *part) if row[0] in WITHIN["attribute"]]
        if any(_in_graph(content, first, stop, "graph", given) for _, first, stop in bodies):
            return True
        if not given.isdisjoint(inputs) and b"".join(operator) not in OF_SHAPES:
            given.update(outputs)
    return False


def fields(content: Content, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, begin and end of each length-delimited field of the protobuf message from ``at`` to ``end``."""
    while at < end:
        key, at = content[at], at + 1  # most numbers have one byte
        if key & 128:
            key, at = _varint(content, at - 1)
        if key & 7 == 2:
            size, at = content[at], at + 1
            if size & 128:
                size, at = _varint(content, at - 1)
            yield key >> 3, at, at + size
            at += size
        elif key & 7 == 0:
            _, at = _varint(content, at)
        else:
            at += {1: 8, 5: 4}[key & 7]


def _varint(content: Content, at: int) -> tuple[int, int]:
    """Read the varint at ``at``; return its value and its end."""
    number = shift = 0
    while content[at] & 128:
        number |= (content[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return number | content[at] << shift, at + 1


def wrong_optimizers(words: frozenset[bytes], minor: int) -> set[str]:
    """Return the optimizers of onnxruntime 1.``minor`` that may change Pads wrongly in a model with these words."""
    suspects = [row for row in WRONG_OPTIMIZERS if row[2] is None or minor < row[2]]
    return {name for name, needed, _ in suspects if words.issuperset(needed)}


def is_silent(words: frozenset[bytes], minor: int) -> bool:
    """Return whether onnxruntime 1.``minor`` may load a model with these words and run it wrong."""
    if minor < FIRST_MINOR and b"Pad" in words and DOMAIN not in words:
        return True
    return WRONG_SAME in words or (minor in MISCOUNTING and words.issuperset(MISCOUNTED))
