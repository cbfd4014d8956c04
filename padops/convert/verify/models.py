"""``padops.verify``: any two models on the same inputs."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from padops.convert.arguments import check_kinds
from padops.convert.errors import PadopsError, UsageError, os_errors_as
from padops.convert.model.document import LARGEST_PROTO, Document
from padops.convert.model.reading import Source, given_model, read_document
from padops.convert.records import Verification
from padops.convert.verify.choice import comparison
from padops.convert.verify.feeds import Inputs


def verify(original: Source, converted: Source, inputs: Inputs | None = None, seed: int = 0) -> Verification:
    """Runs two models on the same inputs and compares every bit of what they give, of the Pads inside them as well.

    A Pad is compared by its output, as an output of both models; where one of them has no value of that name, by the
    first values behind it that both have. So values of the same name count as the same value. Random inputs are drawn
    so that the Pads pad something: the result says where they did not.

    Args:
        original: A file, bytes, a binary file object, an ``onnx.ModelProto`` or an ``onnx_ir.Model``; or an OpenVINO IR,
            which OpenVINO runs.
        converted: The other one. It may have operators of padops, too.
        inputs: What to run both with, by the names of the inputs: arrays, or the path of an ``.npz``; random otherwise.
        seed: Of the random inputs.

    Returns:
        What was compared, and how it came out: ``outcome``, ``passed`` and ``doubts`` say it in short.

    Raises:
        UsageError: An argument is of the wrong type, the inputs are not those of the model, or the seed is negative.
        PadopsError: A model cannot be read, or what it takes to run it is missing.
    """
    check_kinds({}, {}, inputs, seed)
    original, converted = given_model(original), given_model(converted)
    if seed < 0:
        raise UsageError(f"seed is {seed}, expected 0 or more")
    with tempfile.TemporaryDirectory(prefix="padops-") as folder:
        documents = []
        for source in (original, converted):
            with os_errors_as("cannot read", source):
                documents.append(read_document(source))
        one, other = documents
        if other.is_openvino:
            raise UsageError("the second model is an OpenVINO IR; only the first one may be")
        paths = [_file(document, Path(folder) / name) for document, name in ((one, "original"), (other, "converted"))]
        return comparison(one, inputs, seed)(*paths)


def _file(document: Document, folder: Path) -> Path:
    """The model's own file, or one of what is in memory, with its data beside it."""
    if document.path is not None:
        return document.path
    folder.mkdir()
    path = folder / "model.onnx"
    for file in document.data_files(follow_links=False):
        place = folder / file.location
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(os.path.realpath(file.source), place)
        except OSError:  # another file system
            shutil.copyfile(file.source, place)
    message = document.message()
    if message.ByteSize() > LARGEST_PROTO:
        raise PadopsError(f"a model has more than {LARGEST_PROTO} bytes in memory and cannot be verified")
    path.write_bytes(message.SerializeToString())
    return path
