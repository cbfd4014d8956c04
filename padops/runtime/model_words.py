"""Searches an ONNX model without onnx for words such as operators, Pads with axes or constant data, and dim names."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np

from padops.runtime.library import get_library_path
from padops.spec import pyop_node
from padops.spec.dialects import OPS

Content = bytes | mmap.mmap
FEW = 64  # parts: a model has a few, because fields of one kind are stored together


class Parts:
    """The parts of a model that are not weights, by ``csrc/core/model_parts.h``; the whole content if it is no model.

    Args:
        content: The model. A mapped file stays open as long as this object exists.
        small: A size in bytes; the parts include the weights of smaller graphs and nodes.
    """

    def __init__(self, content: Content, small: int) -> None:
        self._content = content
        self._library = _library()
        self._parts = (ctypes.c_int64 * 2)(0, len(content))
        self._count = 1
        if self._library is None or not content:
            return
        # Keep only the address: an array would keep the mapped file open.
        self._address = np.frombuffer(content, np.uint8).__array_interface__["data"][0]
        count, capacity = FEW, 0
        while count > capacity:  # a second time for a model with more parts
            capacity = count
            parts = (ctypes.c_int64 * (2 * capacity))()
            count = self._library.padops_model_parts(self._address, len(content), small, parts, capacity)
        if count >= 0:
            self._parts, self._count = parts, count

    def pairs(self) -> list[tuple[int, int]]:
        """Return the begin and the end of each part."""
        return [(self._parts[2 * i], self._parts[2 * i + 1]) for i in range(self._count)]

    def found(self, words: Iterable[bytes]) -> set[bytes]:
        """Return the words that occur in any part."""
        if self._library is None or not self._content:
            return {word for word in words if self._content.find(word) >= 0}
        find, rest = self._library.padops_has_word, (self._address, self._parts, self._count)
        return {word for word in words if find(*rest, word, len(word))}


@cache
def _library() -> ctypes.CDLL | None:
    """Load the library; return None if it is missing (the Python kernel needs none) or not padops'.

    A session that needs the library reports the fault.
    """
    try:
        library = ctypes.CDLL(get_library_path())
        parts, word = library.padops_model_parts, library.padops_has_word
    except (AttributeError, OSError):
        return None
    number, address = ctypes.c_int64, ctypes.c_void_p
    parts.argtypes, parts.restype = [address, number, number, address, number], number
    word.argtypes, word.restype = [address, address, number, ctypes.c_char_p, number], ctypes.c_int
    return library


Found = TypeVar("Found")

AXES = b"a Pad with axes"  # not a word of the model, but a mark for a Pad with the input axes

FOLDING = "ConstantFolding"
# Optimizers that change Pads wrongly before onnxruntime asks a provider, the words of a model that they may affect, and
# the first onnxruntime 1.x with a correct optimizer (None: none yet). See tests/convert/standard/fusions.md.
WRONG_OPTIMIZERS: tuple[tuple[str, tuple[bytes, ...], int | None], ...] = (
    # A Pad with the constant 0 becomes the padding of a MaxPool, which pads with minus infinity.
    ("Pad_Fusion", (b"Pad", b"MaxPool"), 32),
    # A Pad becomes the padding of an AveragePool, which ceil_mode counts differently, and which must be smaller than
    # the kernel.
    ("Pad_Fusion", (b"Pad", b"AveragePool"), 32),
    # onnxruntime's own kernel runs a Pad of constant data. If reflect turns more than once, the kernel reads past the
    # data or refuses the model; with wrap, it leaves zeros after the first period.
    (FOLDING, (b"Pad", b"reflect"), 27),
    (FOLDING, (b"Pad", b"wrap"), 31),
    # The optimizer moves a Transpose through a Pad, and reorders the amounts as if they covered all axes.
    ("TransposeOptimizer", (AXES, b"Transpose"), None),
    ("TransposeOptimizer_CPUExecutionProvider", (AXES, b"Transpose"), None),
    # The same, with Transposes that the optimizer puts around quantized convolutions.
    ("NhwcTransformer", (AXES, b"QLinearConv"), None),
    ("NhwcTransformer", (AXES, b"QuantizeLinear"), None),
)

DILATED = b"dilations of more than 1"  # a mark like AXES
STRIDED = b"windows with SAME and strides that are longer"  # a mark like AXES
# Models that onnxruntime loads but runs wrong. With SAME and dilations, a MaxPool returns a smaller output without an
# error, and a convolution fails in its first run. With SAME and strides longer than the window, a pooling uses wrong
# windows or fails in its first run; a convolution uses wrong windows if the stride is at least three elements longer.
SILENT = ((b"SAME_", DILATED), (STRIDED,))
MISCOUNTED = (b"SAME_", b"count_include_pad")  # AveragePool, in the releases 1.x of MISCOUNTING
MISCOUNTING = range(21, 25)
# Attributes as a model encodes them, unpacked or packed, then their type: dilations that are not all 1, and strides
# that may be BEYOND longer than the window of a convolution. One search for all is faster than reading each.
DILATIONS = re.compile(rb"\tdilations(?!(?:(?:@\x01)+|B[\x01-\x10]\x01+)\xa0\x01\x07)")
LONG_STRIDES = re.compile(rb"\x07strides(?!(?:(?:@[\x01-\x03])+|B[\x01-\x10][\x01-\x03]+)\xa0\x01\x07)")

# The operators with windows, as a node encodes them; and a number of bytes beyond the size of their attributes.
POOLS = re.compile(rb'"(?:\x07MaxPool|\x0bAveragePool|\x06LpPool)')
WINDOWS = re.compile(POOLS.pattern + rb'|"(?:\x04Conv|\x0bConvInteger|\x0bQLinearConv|\x09FusedConv)')
OF_WINDOWS = 512
CONVOLUTIONS = (b"Conv", b"ConvInteger", b"QLinearConv", b"FusedConv")
BEYOND = 3  # a convolution uses wrong windows if its stride exceeds its window by this number

DOMAIN = b"padops"  # the domain of the operators
PYTHON_DOMAIN = pyop_node.DOMAIN.encode()  # the domain of the kernel in Python
OPERATORS = {name.encode(): name for name in OPS}
PADS = (b"Pad", b"ATen", b"aten")  # a model with an operator named Pad, or with a PyTorch pad, has one of these
FIRST = (DOMAIN, *PADS, b"SAME_")  # words searched in every model; most models have none
FURTHER = {  # words that matter only beside one of the first
    MISCOUNTED[0]: MISCOUNTED[1:],
    DOMAIN: (PYTHON_DOMAIN, *OPERATORS),
    PADS[0]: tuple(sorted({word for _, words, _ in WRONG_OPTIMIZERS for word in words} - {AXES, PADS[0]})),
}
WORDS = (*FIRST, *(word for words in FURTHER.values() for word in words))

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
OF_SHAPES = (b"Shape", b"Size")  # their outputs are constant if the dims of their input are
TENSOR = {"graph": 5, "attribute": 5}  # the fields of an initializer, and of a Constant's value
SMALL = 1 << 14  # bytes; searching a smaller part whole takes less time


def content_of(model: Any) -> Any:
    """Return a model in memory as bytes for onnxruntime; return anything else, such as a path, unchanged."""
    if isinstance(model, (bytearray, memoryview)):
        return bytes(model)
    return model.SerializeToString() if hasattr(model, "SerializeToString") else model  # an onnx.ModelProto


def words_of(model: str | bytes | os.PathLike[str]) -> frozenset[bytes]:
    """Return a model's words of ``FIRST``, with further words and marks; all ``WORDS`` if the model cannot be read.

    A model stores the operator, domain and mode of a node as plain bytes. So a model without a word has no such node,
    and a model with the word may have one.
    """
    # Without PYTHON_DOMAIN: the Python kernel needs an extra package.
    return _read(model, _words_in, frozenset({*WORDS, AXES, DILATED, STRIDED} - {PYTHON_DOMAIN}))


def dim_names(model: str | bytes | os.PathLike[str]) -> tuple[str, ...]:
    """Return the names of the dims of a model's inputs, each once; none if the model cannot be read."""
    return _read(model, _dim_names, ())


def pads_constants(model: str | bytes | os.PathLike[str]) -> bool:
    """Return whether a model may have a Pad of constant data, which onnxruntime's own kernel runs during loading.

    A value is not constant if it is, or depends on, a graph input. Inputs of a function may be constant. True if the
    model cannot be read.
    """
    return _read(model, _pads_constants, True)


def _read(model: str | bytes | os.PathLike[str], look: Callable[[Content], Found], unread: Found) -> Found:
    """Return the result of ``look`` for the bytes of a model; ``unread`` if the model cannot be read."""
    try:
        if isinstance(model, bytes):
            return look(model)
        with open(os.fspath(model), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return look(content)
    except (OSError, ValueError, TypeError, IndexError, KeyError, RecursionError):  # onnxruntime reports the error
        return unread


# From a model to the name of a dim: graph, input, type, tensor type, shape, dim, name.
TO_DIM_NAME = (7, 11, 2, 1, 2, 1, 2)


def _dim_names(content: Content) -> tuple[str, ...]:
    parts = [(0, len(content))]
    for wanted in TO_DIM_NAME:
        parts = [
            (first, last) for at, end in parts for number, first, last in fields(content, at, end) if number == wanted
        ]
    return tuple(dict.fromkeys(content[first:last].decode() for first, last in parts if last > first))


def _words_in(content: Content) -> frozenset[bytes]:
    parts = Parts(content, SMALL)
    found = parts.found(FIRST)
    for word, further in FURTHER.items():
        if word in found:
            found |= parts.found(further)
    asked = {word for _, words, _ in WRONG_OPTIMIZERS if AXES in words for word in words}
    try:
        has_axes = bool(found & asked) and _has_axes(content, 0, len(content))
    except (IndexError, KeyError, RecursionError):  # not a model: onnxruntime reports it
        has_axes = True
    if b"SAME_" in found:
        found |= _of_same(content, parts.pairs())
    return frozenset(found | {AXES} if has_axes else found)


def _of_same(content: Content, parts: Sequence[tuple[int, int]]) -> set[bytes]:
    """Return which of the marks DILATED and STRIDED hold for a model with SAME padding."""
    found = set()
    if any(DILATIONS.search(content, first, last) for first, last in parts):
        found.add(DILATED)
    operators = WINDOWS if any(LONG_STRIDES.search(content, first, last) for first, last in parts) else POOLS
    try:
        asked = any(
            _may_stride_past(content, operator, last)
            for first, last in parts
            for operator in operators.finditer(content, first, last)
        )
        strided = asked and _has_longer_strides(content, 0, len(content))
    except (IndexError, KeyError, RecursionError):  # as above
        strided = True
    if strided:
        found.add(STRIDED)
    return found


def _after(content: Content, parts: Iterable[tuple[int, int]], word: bytes) -> Iterator[int]:
    """Yield the ends of all places of a word in parts of a model."""
    for start, end in parts:
        at = content.find(word, start, end)
        while at >= 0:
            yield at + len(word)
            at = content.find(word, at + 1, end)


def _may_stride_past(content: Content, operator: re.Match[bytes], end: int) -> bool:
    """Return whether this or the next operator may stride past its window, which a convolution's weights may set."""
    start, end = operator.end(), min(end, operator.end() + OF_WINDOWS)
    if b"Conv" in operator[0]:
        return any(number > BEYOND for number in _integers(content, start, end, b"\x07strides"))
    return _strides_past(content, start, end)


def _strides_past(content: Content, start: int, end: int, beyond: int = 1) -> bool:
    """Return whether a stride of the first node in a part of a model is at least ``beyond`` longer than its window.

    A convolution without ``kernel_shape`` counts as having windows of one element, the fewest possible.
    """
    strides = _integers(content, start, end, b"\x07strides")
    windows = _integers(content, start, end, b"\x0ckernel_shape") or [1] * len(strides)
    return any(stride >= window + beyond for stride, window in zip(strides, windows))


def _integers(content: Content, start: int, end: int, name: bytes) -> list[int]:
    """Return the integers of all attributes of one name in a part of a model."""
    return [number for at in _after(content, [(start, end)], name) for number in _numbers(content, at, end)]


def _numbers(content: Content, at: int, end: int) -> Iterator[int]:
    """Yield the integers of an attribute, which follow its name: each with its key, or packed after one key."""
    packed = content[at] == ord("B")
    if packed:
        size, at = _varint(content, at + 1)
        end = at + size
    while at < end and (packed or content[at] == ord("@")):
        number, at = _varint(content, at if packed else at + 1)
        yield number


def _has_longer_strides(content: Content, start: int, end: int, kind: str = "model") -> bool:
    """Return whether a part of a model is, or holds, a node with SAME and a stride too long for its window."""
    if end - start < SMALL and content.find(b"SAME_", start, end) < 0:
        return False
    operator = b""
    for number, first, last in fields(content, start, end):
        if number == TENSOR.get(kind):
            continue
        inner = WITHIN[kind].get(number)
        if inner is not None and _has_longer_strides(content, first, last, inner):
            return True
        if kind == "node" and number == OPERATOR:
            operator = content[first:last]
    if operator in CONVOLUTIONS:
        return _strides_past(content, start, end, BEYOND)
    return operator.endswith(b"Pool") and _strides_past(content, start, end)


def _has_axes(content: Content, start: int, end: int, kind: str = "model") -> bool:
    """Return whether a part of a model is, or holds, a Pad with a fourth input: its axes."""
    if end - start < SMALL and content.find(b"Pad", start, end) < 0:
        return False
    inputs, operator = 0, b""
    for number, first, last in fields(content, start, end):
        inner = WITHIN[kind].get(number)
        if inner is not None and _has_axes(content, first, last, inner):
            return True
        if kind == "node" and number == INPUT:
            inputs += 1
        elif kind == "node" and number == OPERATOR:
            operator = content[first:last]
    return operator == b"Pad" and inputs > 3


def _pads_constants(content: Content) -> bool:
    parts = [(WITHIN["model"].get(number), at, end) for number, at, end in fields(content, 0, len(content))]
    return any(_in_graph(content, at, end, kind, ()) for kind, at, end in parts if kind is not None)


def _in_graph(content: Content, start: int, end: int, kind: str, outer: Collection[bytes]) -> bool:
    """Return whether a graph or function may have a Pad of constant data; ``outer``: non-constant outer values."""
    rows = list(fields(content, start, end))
    given = {*outer}
    if kind == "graph":
        given |= {_name(content, at, last, VALUE_NAME) for number, at, last in rows if number == INPUTS}
        given -= {_name(content, at, last, TENSOR_NAME) for number, at, last in rows if number == INITIALIZERS}
    return any(
        _is_of_constants(content, at, last, given) for number, at, last in rows if WITHIN[kind].get(number) == "node"
    )


def _is_of_constants(content: Content, start: int, end: int, given: set[bytes]) -> bool:
    """Return whether a node is, or holds, a Pad of data that may be constant.

    If not, and if the node depends on a ``given`` value, its outputs join ``given``.
    """
    inputs, outputs, operator, bodies = [], [], b"", []
    for number, at, last in fields(content, start, end):
        if number == INPUT:
            inputs.append(content[at:last])
        elif number == OUTPUT:
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


def fields(content: Content, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the fields with a length of a protobuf message from ``at`` to ``end``: number, begin and end."""
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


def named_operators(words: frozenset[bytes]) -> list[str]:
    """Return the operators of padops that a model with these words may have."""
    return [name for word, name in OPERATORS.items() if word in words]


def wrong_optimizers(words: frozenset[bytes], minor: int) -> set[str]:
    """Return the optimizers of onnxruntime 1.``minor`` that may change Pads wrongly in a model with these words."""
    suspects = [row for row in WRONG_OPTIMIZERS if row[2] is None or minor < row[2]]
    return {name for name, needed, _ in suspects if words.issuperset(needed)}


def is_silent(words: frozenset[bytes], minor: int) -> bool:
    """Return whether onnxruntime 1.``minor`` may load a model with these words and run it wrong."""
    return any(map(words.issuperset, SILENT)) or (minor in MISCOUNTING and words.issuperset(MISCOUNTED))
