"""``padops.verify``: compares any two models."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from padops.convert.analysis import Analysis
from padops.convert.arguments import check_kinds, check_tolerance
from padops.convert.errors import PadopsError, UsageError, os_errors_as
from padops.convert.inputs.given import Inputs
from padops.convert.model.document import LARGEST_PROTO, Document, Source, given_model, read_document
from padops.convert.records import Verification
from padops.convert.verify.choice import comparison
from padops.convert.verify.interface import Asked
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
    """Checks whether two models return the same results: proved, tested, different, or unknown.

    First, padops tries to prove each differing part equal; docs/verification.md describes the proofs and their limits.
    Then both models run on the same inputs: the caller's, or random inputs chosen so that the Pads pad something.
    Outputs may differ by a tolerance measured on the original, or by ``rtol`` and ``atol``; where models only move
    data, every bit counts.

    Args:
        original: A file, bytes, a binary file object, an ``onnx.ModelProto`` or an ``onnx_ir.Model``; or an OpenVINO
            IR, which OpenVINO runs.
        converted: The other model. It may have operators of padops.
        inputs: Arrays by input name, or the path of an ``.npz``; random if None. Given inputs always run, even after a
            proof.
        seed: The seed of random inputs.
        run: Make as many runs after a proof as without one.
        rtol: The tolerance of an element of floats, as a factor of the original's element; 0 if only ``atol`` is given.
            With neither, the tolerance is measured on the original.
        atol: The tolerance in addition to ``rtol``, in the unit of the elements; 0 if only ``rtol`` is given.
        providers: The execution providers of the sessions in which both models run, first choice first: names, each
            alone or in a pair with options. padops' provider joins them as in ``padops.InferenceSession``, but neither
            model is converted. Each session has its own process, which may crash. Only outputs are compared; without
            ``rtol`` and ``atol``, every bit. The notes name the provider of each Pad. Register libraries of providers
            first.

    Returns:
        The proofs and comparisons; ``verdict``, ``passed`` and ``doubts`` sum them up. ``passed`` is True only after a
        proof or a comparison, so not if ONNX Runtime does not run the original and nothing else can be compared.

    Raises:
        UsageError: An argument is of the wrong type, the inputs do not match the model's, the seed or a tolerance is
            negative, or onnxruntime has no such provider.
        PadopsError: A model cannot be read, a library to run it is missing, or onnxruntime left a provider out.
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
        if other.foreign:
            raise UsageError("the second model is an OpenVINO IR; only the first one may be")
        paths = [_file(document, Path(folder) / name) for document, name in ((one, "original"), (other, "converted"))]
        if providers is not None:
            asked = Asked(inputs, seed, rtol=rtol, atol=atol)
            return compare_beside((one, other), (paths[0], paths[1]), asked, providers)
        doubted = ({}, {}) if one.foreign else Analysis(one).doubted()
        return comparison(one, Asked(inputs, seed, rtol, atol, *doubted, run=run))(*paths)


def _file(document: Document, folder: Path) -> Path:
    """Returns the model's file; writes a model in memory to a file, with its data beside it."""
    if document.path is not None:
        return document.path
    folder.mkdir()
    path = folder / "model.onnx"
    for file in document.data_files(follow_links=False):
        place = folder / file.location
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(os.path.realpath(file.source), place)
        except OSError:  # a link cannot cross file systems
            shutil.copyfile(file.source, place)
    message = document.message()
    if message.ByteSize() > LARGEST_PROTO:
        raise PadopsError(f"a model has more than {LARGEST_PROTO} bytes in memory and cannot be verified")
    path.write_bytes(message.SerializeToString())
    return path
