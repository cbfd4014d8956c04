"""What ``ngraph::serialize`` wrote, as an ONNX model whose Pads are still nGraph's.

It reads the text form of all releases from 2017 to 2020: a list of functions, of which the last is the model. A
function has the names of its ``parameters`` and of its ``result``, and its ``ops``, each after its inputs. The
operators that a model of Pads has are read: Parameter, Constant, Result, and

- Pad of version 0, with ``padding_below`` and ``padding_above``; with ``padding_interior`` as long as nGraph had that
  (to 2018), and with ``pad_mode`` since (the number of CONSTANT, EDGE, REFLECT, SYMMETRIC; or absent: CONSTANT),
- Pad of version 1, which is OpenVINO's Pad-1: amounts as inputs, ``pad_mode`` as a word.

A graph with other operators is refused, with a list of them: nobody maintains a converter of nGraph's. So is the form
with constants in a cpio archive, which is no text.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import onnx

from padops.convert.errors import PadopsError, library_errors
from padops.convert.readers.limits import read_text
from padops.convert.readers.ngraph_function.builder import Builder
from padops.convert.records import FileRecord

CPIO = (b"\x71\xc7", b"\xc7\x71", b"070707")  # how an archive begins: little-endian, big-endian, octal digits


def read(path: Path) -> tuple[onnx.ModelProto, list[FileRecord]]:
    """Reads a serialized function: the model, and the file.

    Raises:
        PadopsError: The file is not what nGraph writes, or has operators that are not read; they are listed.
    """
    content = read_text(path)
    if content.startswith(CPIO):
        raise PadopsError(f"{path} is nGraph's binary form, a cpio archive; serialize the function to text instead")
    with library_errors(str(path)):
        try:
            functions = json.loads(content)
        except ValueError as error:
            raise PadopsError(f"{path} is not JSON: {error}") from None
        except RecursionError:
            raise PadopsError(f"{path} is not what nGraph's serializer writes: its lists are nested too deep") from None
    if not isinstance(functions, list) or not functions or not all(isinstance(f, dict) for f in functions):
        raise PadopsError(f"{path} is not what nGraph's serializer writes: expected a list of functions")
    return Builder(path).build(functions[-1]), [
        FileRecord(str(path), len(content), hashlib.sha256(content).hexdigest())
    ]
