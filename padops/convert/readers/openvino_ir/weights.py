"""The ``.bin`` of an IR. The bytes that a layer asks for are compared with the file's size before they are read."""

from __future__ import annotations

from padops.convert.errors import PadopsError
from padops.convert.readers.openvino_ir.reader import Layer, Net

LARGEST = (1 << 31) - 1  # bytes of a model; onnxifier infers shapes with its weights inside


class Weights:
    """Reads constants, and counts their bytes: layers may share bytes, so their sum may be any multiple of the file."""

    def __init__(self, net: Net) -> None:
        self._net = net
        self._asked = 0

    def check(self, layer: Layer, offset: int, size: int) -> None:
        """Checks that the bytes of a Const are there. Every Const is checked before the first is read.

        Args:
            layer: The Const.
            offset: Where its bytes begin in the file.
            size: How many there are.

        Raises:
            PadopsError: They are not, or with those of the layers before they are more than a model can have.
        """
        path, weights = self._net.path, self._net.weights
        if not size:
            return
        if not weights.is_file():
            raise PadopsError(f"{path}: {layer} needs {weights}, which does not exist")
        there = weights.stat().st_size
        if offset + size > there:
            raise PadopsError(
                f"{path}: {layer} needs the bytes {offset} to {offset + size} of {weights}, which has only {there}"
            )
        self._asked += size
        if self._asked > LARGEST:
            raise PadopsError(f"{path} has {self._asked} bytes of weights or more; up to {LARGEST} are read")

    def read(self, offset: int, size: int) -> bytes:
        """The bytes of a Const that has been checked.

        Raises:
            PadopsError: The file has become shorter since.
        """
        if not size:
            return b""
        with open(self._net.weights, "rb") as file:
            file.seek(offset)
            content = file.read(size)
        if len(content) < size:
            raise PadopsError(f"{self._net.path}: {self._net.weights} became shorter while it was read")
        return content
