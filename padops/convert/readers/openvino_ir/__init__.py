"""OpenVINO IR, version 11 (``model.xml`` and ``model.bin``), as an ONNX model whose Pads are still OpenVINO's.

``reader.py`` and ``builder.py`` turn every layer into a node of the domain ``ai.intel.openvino``. ``layers.py`` turns
all of them but the Pads into ONNX operators, by the rules of ``rules.py`` and the modules that it imports. The Pads are
then found like those of any other model (``matchers/openvino.py``): amounts and fill stay inputs, of whatever type.
"""

from __future__ import annotations

from pathlib import Path

import onnx
from google.protobuf.message import EncodeError

from padops.convert.errors import PadopsError
from padops.convert.readers.openvino_ir.builder import Builder
from padops.convert.readers.openvino_ir.layers import convert_layers
from padops.convert.readers.openvino_ir.reader import read_net
from padops.convert.records import FileRecord


def read(path: Path) -> tuple[onnx.ModelProto, list[FileRecord]]:
    """Reads an IR: the model, in which only Pads are still layers of OpenVINO, and the files that it was made from.

    Raises:
        PadopsError: The IR is damaged or incomplete, or has layers that cannot be converted; they are listed.
    """
    message, files, refused = read_pads(path)
    if refused:
        raise PadopsError(refused)
    return message, files


def read_pads(path: Path) -> tuple[onnx.ModelProto, list[FileRecord], str]:
    """Reads an IR for its Pads alone: the model and the files, and why other layers cannot be converted, or "".

    If they cannot, all layers are still OpenVINO's; the IR states the types and shapes of the Pads' inputs.

    Raises:
        PadopsError: The IR is damaged or incomplete.
    """
    net, files = read_net(path)
    try:
        message = Builder(net).build()
        try:
            convert_layers(message, path)
        except PadopsError as error:
            return message, files, str(error)
    except (MemoryError, EncodeError) as error:  # protobuf raises the latter where it gets no memory
        raise PadopsError(f"{path}: there is not enough memory for its layers and weights") from error
    return message, files, ""
