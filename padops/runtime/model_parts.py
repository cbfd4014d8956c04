"""The parts of a model that are not weights, and the words in them, as functions of the library find them.

A walk of Python along a model of 5,000 convolutions takes longer than onnxruntime's own reading of it.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterable
from functools import cache

import numpy as np

from padops.runtime.library import get_library_path

Content = bytes | mmap.mmap
FEW = 64  # parts: a model has a few, since fields of one kind are stored together


class Parts:
    """The parts of a model that are not weights, as ``csrc/core/model_parts.h`` says; all of it if it is no model.

    Args:
        content: The model. A file of it stays open as long as this is used.
        small: Bytes; in a graph or node that is smaller, weights count as no weights.
    """

    def __init__(self, content: Content, small: int) -> None:
        self._content = content
        self._library = _library()
        self._parts = (ctypes.c_int64 * 2)(0, len(content))
        self._count = 1
        if self._library is None or not content:
            return
        # The address alone: a file that an array still shows could not be closed.
        self._address = np.frombuffer(content, np.uint8).__array_interface__["data"][0]
        count, capacity = FEW, 0
        while count > capacity:  # twice for a model of more parts
            capacity = count
            parts = (ctypes.c_int64 * (2 * capacity))()
            count = self._library.padops_model_parts(self._address, len(content), small, parts, capacity)
        if count >= 0:
            self._parts, self._count = parts, count

    def pairs(self) -> list[tuple[int, int]]:
        """The begin and the end of each part."""
        return [(self._parts[2 * i], self._parts[2 * i + 1]) for i in range(self._count)]

    def found(self, words: Iterable[bytes]) -> set[bytes]:
        """Which of the words stand in any part."""
        if self._library is None or not self._content:
            return {word for word in words if self._content.find(word) >= 0}
        find, rest = self._library.padops_has_word, (self._address, self._parts, self._count)
        return {word for word in words if find(*rest, word, len(word))}


@cache
def _library() -> ctypes.CDLL | None:
    """The library; None if there is none, as the Python kernel alone needs none, or if it is another one.

    A session that needs the library says what is wrong with it.
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
