"""``padops.verify``: any two models."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from padops.convert.arguments import check_kinds, check_tolerance
from padops.convert.errors import PadopsError, UsageError, os_errors_as
from padops.convert.model.document import LARGEST_PROTO, Document
from padops.convert.model.reading import Source, given_model, read_document
from padops.convert.records import Verification
from padops.convert.sources import SOURCES
from padops.convert.verify.choice import Asked, comparison, doubted_values
from padops.convert.verify.feeds import Inputs
from padops.convert.verify.providers import Providers, check_providers, compare_beside


def verify(
    original: Source,
    converted: Source,
    inputs: Inputs | None = None,
    seed: int = 0,
    *,
    run: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    providers: Providers | None = None,
) -> Verification:
    """Says whether one model does what another does: proved, tested, different, or unknown.

    What the two have the same is the same, on every runtime. Each part that they have otherwise is proved to do the
    same where that can be: docs/verification.md says how, and what a proof holds for. If all are, nothing is run.

    Else both models run on the same inputs, and every bit is compared of what they give, of the Pads inside them as
    well. A Pad is compared by its output, as an output of both models; where one of them has no value of that name, by
    the first values behind it that both have. So values of the same name count as the same value. Random inputs are
    drawn so that the Pads pad something: the result says where they did not. Where anything differs, the NumPy
    reference says of each Pad whether it gives what it must of the data that it has. If all do, and no other node is
    another, floats that differ within the tolerance are rounding (``"close"``), such as of float16 around Pads. Two
    models that ONNX Runtime does not run are compared node by node.

    Args:
        original: A file, bytes, a binary file object, an ``onnx.ModelProto`` or an ``onnx_ir.Model``; or an OpenVINO
            IR, which OpenVINO runs.
        converted: The other one. It may have operators of padops, too.
        inputs: What to run both with, by the names of the inputs: arrays, or the path of an ``.npz``; random otherwise.
            What is given here is run, whatever is proved.
        seed: Of the random inputs.
        run: Run both models, whatever is proved.
        rtol: By how much of the original's element one of floats may differ by rounding; 0 where only ``atol`` is
            given. With neither, elements may differ by 1e-4 of the largest one of their output; by 5e-2 where the model
            has float16, and by 2e-1 where it has bfloat16.
        atol: By how much it may differ beside that, in the unit of the elements; 0 where only ``rtol`` is given.
        providers: The execution providers of the sessions in which both models run, first choice first: names, each
            alone or in a pair with options. padops stands beside them as in ``padops.InferenceSession``, but neither
            model is converted on the way; and each has a process of its own, which may die. Outputs alone are compared;
            without ``rtol`` and ``atol``, no bit may differ. The notes say which provider has which Pad. Providers of
            libraries are found where they are registered.

    Returns:
        What was proved and compared, and how it came out: ``verdict``, ``passed`` and ``doubts`` say it in short. ``passed``
        is True only after a proof or a comparison: not where ONNX Runtime does not run the original and nothing else could be
        compared.

    Raises:
        UsageError: An argument is of the wrong type, the inputs are not those of the model, the seed or a tolerance is
            negative, or onnxruntime has no such provider.
        PadopsError: A model cannot be read, what it takes to run it is missing, or onnxruntime left a provider out.
    """
    check_kinds({"run": run}, {}, inputs, seed)
    original, converted = given_model(original), given_model(converted)
    if seed < 0:
        raise UsageError(f"seed is {seed}, expected 0 or more")
    check_tolerance(rtol, atol)
    if providers is not None:
        check_providers(providers)
    with tempfile.TemporaryDirectory(prefix="padops-") as folder:
        documents = []
        for source in (original, converted):
            with os_errors_as("cannot read", source):
                documents.append(read_document(source))
        one, other = documents
        if other.is_openvino:
            raise UsageError("the second model is an OpenVINO IR; only the first one may be")
        paths = [_file(document, Path(folder) / name) for document, name in ((one, "original"), (other, "converted"))]
        if providers is not None:
            asked = Asked(inputs, seed, rtol=rtol, atol=atol)
            return compare_beside((one, other), (paths[0], paths[1]), asked, providers)
        doubted = {} if one.foreign else doubted_values(one, SOURCES)
        return comparison(one, Asked(inputs, seed, rtol=rtol, atol=atol, doubted=doubted, run=run))(*paths)


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
