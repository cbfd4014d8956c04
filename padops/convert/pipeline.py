"""``padops.convert``: read, rewrite, verify, write."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import onnx
import onnx_ir as ir

from padops.convert import sources
from padops.convert.errors import PadopsError, PadsLeftError, UsageError, VerificationError, os_errors_as
from padops.convert.files.paths import Inputs, Source, check_paths, check_targets
from padops.convert.files.report import write_report
from padops.convert.files.writing import Job, finish
from padops.convert.folding import convert_and_fold
from padops.convert.model import document as documents
from padops.convert.model.external import DataFile
from padops.convert.records import Conversion, FileRecord, Verification
from padops.convert.rewrite import ConvertPads
from padops.convert.standard.fallback import embed
from padops.convert.targets import TARGETS
from padops.convert.targets.onnx import prune_opset_imports
from padops.files.staging import Progress
from padops.files.targets import identity


def convert(
    source: Source,
    output: str | os.PathLike[str] | None = None,
    *,
    target: Literal["padops", "onnx", "pyop"] = "padops",
    fallback: bool = True,
    fold: bool = True,
    select: Literal["all", "needed"] = "all",
    auto_pad: Literal["keep", "explicit"] = "keep",
    custom_domains: Collection[str] = (),
    strict: bool = False,
    verify: bool = False,
    inputs: Inputs | None = None,
    seed: int = 0,
    dry_run: bool = False,
    in_place: bool = False,
    report: str | os.PathLike[str] | None = None,
    follow_links: bool = False,
    base_dir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Conversion:
    """Converts every Pad of a model into an operator of the domain ``padops``.

    ONNX Pad of opset 1 to 26 in any form and ``com.microsoft::Pad`` are converted, in the main graph, in the bodies of
    If, Loop and Scan at any depth, and in the model's functions; so is the symmetric Pad that tf2onnx spells in nodes.
    Nothing else in the model changes but nodes that take a Pad in (see ``folding``).

    An OpenVINO IR and nGraph's JSON are read as well, and become ONNX models (see ``openvino_ir`` and ``ngraph_json``).

    Args:
        source: A file (``.onnx``, or ``.xml`` of an OpenVINO IR, or ``.json`` of nGraph), an ``onnx.ModelProto`` or an
            ``onnx_ir.Model``. Objects are not changed.
        output: The file to write. External data are copied beside it.
        target: ``"padops"``: the operators of the native library. ``"onnx"``: see ``lower``. ``"pyop"``: the Python
            kernel of the domain ``padops.pyop`` (see ``pyop.py``), as far as it has the element type.
        fallback: Give the model a function of standard operators for each operator of padops in it, so that it runs
            without the library as well; see ``fallback.py``.
        fold: Take Pads away that need not run: that change nothing, or that a convolution or a pooling behind them can
            do by itself; make one of two in a row; see ``folding``. Of those that ``select`` asks for.
        select: ``"needed"`` leaves those Pads that ONNX Runtime runs correctly by itself.
        auto_pad: ``"explicit"`` writes the amounts of SAME_UPPER and SAME_LOWER out as well; see ``auto_pad``.
        custom_domains: The domains that an exporter was told to leave nodes of its framework in: TensorFlow's
            MirrorPad, PadV2 and Pad, as tf2onnx leaves them; nGraph's Pad, with ``padding_below`` and its kin.
        strict: Raise, and write nothing, if a Pad cannot be converted.
        verify: Run the original and the converted model on the same inputs and compare every bit, before writing. An
            OpenVINO IR runs in OpenVINO; outputs of floats may then differ by rounding, as the verification says.
        inputs: What to verify with, by the names of the inputs: arrays, or the path of an ``.npz``; random otherwise.
        seed: Of the random inputs.
        dry_run: Write nothing (but the report).
        in_place: Replace the source, in one step. External data stay as they are.
        report: A JSON file to write (see ``report.py``), also where ``strict`` or ``verify`` raises.
        follow_links: Take external data in that are symbolic links out of the model's folder. Without it, only links of a
            Hugging Face cache are followed, and those to beside the file that the model itself is a link to.
        base_dir: The folder that an ``onnx.ModelProto``'s external data are relative to.
        progress: Called with what is being done, bytes done and bytes in all, while external data are copied.

    Returns:
        The converted model and a record of each Pad.

    Raises:
        UsageError: The arguments contradict each other.
        PadopsError: The model cannot be read, would lose a part, or cannot be written. Nothing is left behind.
        PadsLeftError: ``strict``, and a Pad could not be converted.
        VerificationError: ``verify``, and the models do not agree.
    """
    path = _output_path(source, output, in_place)
    _check_options(target, select, verify, inputs)
    asked = _sources(auto_pad, custom_domains)
    check_paths(source, path, report)
    if base_dir is not None and not isinstance(source, onnx.ModelProto):
        raise UsageError("base_dir is for an onnx.ModelProto; other sources know where their external data are")
    seen = identity(path) if in_place else None
    with os_errors_as("read", source):
        document = documents.read(source, Path(base_dir) if base_dir is not None else None, follow_links)
        if path or verify or document.path:
            files = document.data_files(follow_links)
        else:
            files = []
            document.check_links(follow_links)
    check_targets(path, report, inputs, document, files, in_place)
    original = partial(_message, source)
    if document.foreign:
        original = partial(_message, onnx.ModelProto() if _is_openvino(document) else _message(document.message()))
    conversion = _rewrite(document, target, fallback, fold, select, files, asked)
    if document.foreign and conversion.unconverted:
        reasons = [f"{record.path} ({record.form}): {record.reason}" for record in conversion.unconverted]
        raise PadopsError("; ".join(reasons))
    compare = _allow_corrections(_comparison(document, inputs, seed), conversion) if verify else None
    reported = None if report is None else Path(report)
    job = Job(document, files, None if dry_run else path, compare, original, progress, reported, seen)
    with contextlib.ExitStack() as ending:
        try:
            if strict and conversion.unconverted:
                count = len(conversion.unconverted)
                raise PadsLeftError(f"{count} of {len(conversion.records)} Pads cannot be converted", conversion)
            with os_errors_as("write", path):
                conversion = finish(job, conversion, ending)
            if conversion.verification is not None and not conversion.verification.passed:
                raise VerificationError(_mismatch(conversion.verification), conversion)
        except (PadsLeftError, VerificationError) as error:
            write_report(error.conversion, job.report)
            raise
        if conversion.output is None:  # else the report has come with the model
            write_report(conversion, job.report)
    return conversion


def _output_path(source: Source, output: str | os.PathLike[str] | None, in_place: bool) -> Path | None:
    """The model file that is to be written, or None."""
    if not in_place:
        return None if output is None else Path(output)
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError("only a file can be converted in place")
    if output is not None:
        raise UsageError("in place means without an output; give one of them")
    return Path(source)


def _check_options(target: str, select: str, verify: bool, inputs: Inputs | None) -> None:
    if target not in TARGETS:
        raise UsageError(f"target is {target!r}, expected one of {', '.join(TARGETS)}")
    if select not in ("all", "needed"):
        raise UsageError(f"select is {select!r}, expected 'all' or 'needed'")
    if inputs is not None and not verify:
        raise UsageError("inputs are for verifying; ask for that too")


def _sources(auto_pad: str, custom_domains: Collection[str]) -> tuple[sources.Source, ...]:
    """The sources that the options ask for."""
    if auto_pad not in ("keep", "explicit"):
        raise UsageError(f"auto_pad is {auto_pad!r}, expected 'keep' or 'explicit'")
    if isinstance(custom_domains, str):
        raise UsageError(f"custom_domains is the string {custom_domains!r}, expected a list of names")
    if known := sorted(set(custom_domains) & sources.KNOWN_DOMAINS):
        raise UsageError(f"'{known[0]}' is no custom domain: padops knows what its nodes mean")
    return sources.choose(auto_pad == "explicit", tuple(custom_domains))


def _rewrite(
    document: documents.Document,
    target: str,
    fallback: bool,
    fold: bool,
    select: str,
    files: list[DataFile],
    asked: tuple[sources.Source, ...],
) -> Conversion:
    """Converts the document's model and tells what happened."""
    opsets = {} if document.foreign else dict(document.model.graph.opset_imports)
    convert_pads = ConvertPads(document, select, target, asked)
    if fold:
        records = convert_and_fold(document, convert_pads, select, target, asked)
    else:
        convert_pads(document.model)
        document.write_back()
        records = list(convert_pads.records.values())
    notes = [convert_pads.problem] if convert_pads.problem else []
    embedded = embed(document, fallback)
    if target == "onnx" or document.changed:
        prune_opset_imports(document)
    if not records:
        notes.append("the model has no Pad")
    elif not document.changed:
        notes.append("nothing had to be changed")
    return Conversion(
        model=document.model,
        records=tuple(map(embedded.tell, records)),
        opsets=opsets,
        sources=(*document.files(), *(FileRecord(file.location, file.size) for file in files)),
        notes=(*notes, *embedded.notes),
        _proto=document.message(),
    )


def _message(source: Source) -> onnx.ModelProto:
    """A copy of a source that is no file, as it was before the conversion."""
    if isinstance(source, ir.Model):
        return ir.to_proto(source)
    message = onnx.ModelProto()
    message.CopyFrom(source)
    return message


def _comparison(document: documents.Document, inputs: Inputs | None, seed: int) -> Callable[[Path, Path], Verification]:
    """Verification with these inputs; it alone needs onnxruntime."""
    from padops.convert.verify.compare import Case, compare
    from padops.convert.verify.feeds import inputs_of, load_inputs, special_values

    given = load_inputs(inputs) if inputs is not None else None
    case = Case(inputs_of(document.message()), given, seed, special_values(document.model))
    if _is_openvino(document):
        from padops.convert.verify.openvino import compare_with_openvino

        return partial(compare_with_openvino, Path(document.foreign[0].name), case)
    return partial(compare, case=case)


def _allow_corrections(
    compare: Callable[[Path, Path], Verification], conversion: Conversion
) -> Callable[[Path, Path], Verification]:
    """Where the converted model corrects what ONNX Runtime gets wrong, outputs that differ speak for it."""
    wrong = [f"{record.path}: {record.corrects}" for record in conversion.records if record.corrects]

    def compare_corrected(original: Path, converted: Path) -> Verification:
        verification = compare(original, converted)
        if not wrong or verification.outcome != "different":
            return verification
        note = f"the outputs differ because the converted model corrects the original ({'; '.join(wrong)})"
        return replace(verification, outcome="runs", notes=(*verification.notes, note))

    return compare_corrected


def _is_openvino(document: documents.Document) -> bool:
    """Whether the source is an OpenVINO IR, which OpenVINO can run."""
    return bool(document.foreign) and Path(document.foreign[0].name).suffix.lower() == ".xml"


def _mismatch(verification: Verification) -> str:
    """What a failed verification found, in one sentence."""
    if verification.outcome == "fails":
        return "the converted model fails: " + "; ".join(verification.notes)
    differing = [output for output in verification.outputs if not output.equal]
    count = "1 output differs" if len(differing) == 1 else f"{len(differing)} outputs differ"
    return f"{count}; {differing[0].name}: {differing[0].detail}"
