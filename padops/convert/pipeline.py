"""``padops.convert``: a model's way through the converter.

It is read; each Pad is described; what becomes of it is decided, with the reason; that is applied; the fallbacks are added;
both models are verified; all files are written. Folding describes and decides for itself, before and after: a convolution
can take a Pad in only once its ``auto_pad`` has been written out, which is a conversion.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from padops.convert import sources
from padops.convert.arguments import (
    Request,
    check_kinds,
    check_options,
    check_tolerance,
    choose_sources,
    choose_target,
)
from padops.convert.conversion import Conversion
from padops.convert.errors import PadopsError, PadsLeftError, VerificationError, os_errors_as
from padops.convert.facts import PadFacts
from padops.convert.files.paths import check_paths, check_targets, output_path
from padops.convert.files.report import write_report
from padops.convert.files.writing import Job, finish
from padops.convert.folding import convert_and_fold
from padops.convert.left import check_left, same_left
from padops.convert.model.document import Document
from padops.convert.model.external import DataFile
from padops.convert.model.reach import values_behind
from padops.convert.model.reading import Source, given_model, original_of, read_document
from padops.convert.model.types import Types
from padops.convert.pad_facts import facts_of
from padops.convert.records import FileRecord
from padops.convert.rewrite import ConvertPads
from padops.convert.sources.auto_pad import match_auto_pad
from padops.convert.standard.fallback import embed
from padops.convert.targets import STANDARD
from padops.convert.targets.onnx import prune_opset_imports
from padops.convert.verify.choice import Asked, comparison, doubted_values, refusal
from padops.convert.verify.feeds import Inputs
from padops.files.targets import identity
from padops.progress import Progress, counted
from padops.runtime.installed import installed_minor


def convert(
    source: Source,
    output: str | os.PathLike[str] | None = None,
    *,
    target: Literal["padops", "onnx", "pyop"] = "padops",
    without_pad: bool = False,
    provider: str | None = None,
    fallback: bool = True,
    fold: bool = True,
    select: Literal["all", "needed"] = "all",
    auto_pad: Literal["keep", "explicit"] = "keep",
    emulated: Literal["convert", "keep"] = "convert",
    custom_domains: Collection[str] = (),
    strict: bool = False,
    verify: bool = False,
    run: bool = False,
    inputs: Inputs | None = None,
    seed: int = 0,
    rtol: float | None = None,
    atol: float | None = None,
    dry_run: bool = False,
    in_place: bool = False,
    report: str | os.PathLike[str] | None = None,
    follow_links: bool = False,
    base_dir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Conversion:
    """Converts every Pad of a model into an operator of the domain ``padops``.

    ONNX Pad 1 to 25 in any form and ``com.microsoft::Pad`` are converted, in the main graph, in the bodies of
    If, Loop and Scan at any depth, and in the model's functions; so is the symmetric Pad that tf2onnx spells in nodes.
    Nothing else in the model changes but nodes that take a Pad in (see ``folding``).

    An OpenVINO IR and nGraph's JSON are read as well, and become ONNX models (see ``openvino_ir`` and ``ngraph_json``).

    Args:
        source: A file (``.onnx``, or ``.xml`` of an OpenVINO IR, or ``.json`` of nGraph), the bytes of an ONNX model or a
            binary file object to read them from, an ``onnx.ModelProto`` or an ``onnx_ir.Model``. Objects are not changed.
        output: The file to write. External data are copied beside it.
        target: ``"padops"``: the operators of the native library. ``"onnx"``: see ``lower``. ``"pyop"``: the Python
            kernel of the domain ``padops.pyop`` (see ``padops.runtime.pyop``), as far as it has the element type.
        without_pad: Of target ``"onnx"``: use no Pad either, for runtimes whose Pad lacks a mode or is wrong. Each becomes
            Slice, Concat, Gather and Expand, and arithmetic where shape or amounts are not known.
        provider: Of target ``"onnx"``: the execution provider that is to run the model, such as ``"OpenVINOExecutionProvider"``
            or ``"openvino"``. A Pad that it runs right stays; another becomes what it takes (``docs/beside.md``).
        fallback: Give the model a function of standard operators for each operator of padops in it, so that it runs
            without the library as well; see ``padops.convert.standard.fallback``.
        fold: Take Pads away that need not run: that change nothing, or that a convolution or a pooling behind them can
            do by itself; make one of two in a row; see ``folding``. Of those that ``select`` asks for.
        select: ``"needed"`` leaves those Pads that ONNX Runtime runs correctly by itself.
        auto_pad: ``"explicit"`` writes the amounts of SAME_UPPER and SAME_LOWER out as well; see ``auto_pad``.
        emulated: ``"keep"`` leaves Slices and a Concat as they are that do what a Pad does, as TorchScript's exporter writes
            circular pads; see ``sources/emulated``. They stay with the targets ``"onnx"``, as more runtimes have them than
            all modes of Pad, and ``"pyop"``, as they are faster.
        custom_domains: The domains that an exporter was told to leave nodes of its framework in: TensorFlow's
            MirrorPad, PadV2 and Pad, as tf2onnx leaves them; nGraph's Pad, with ``padding_below`` and its kin.
        strict: Raise, and write nothing, if a Pad cannot be converted, or with ``verify``, if floats of a run differ by rounding,
            or if it is not proved that the models do the same (see ``Verification.unproved``).
        verify: Prove that the converted model does what the original does, before writing. What cannot be proved is run: both
            models on the same inputs, and every bit is compared. An OpenVINO IR runs in OpenVINO. Floats may differ by
            rounding around Pads that are right: of another runtime, or of float16, which ONNX Runtime computes in float
            between casts. A converted model that runs, but that nothing can be compared with, is written, and
            ``verification.passed`` is False.
        run: With ``verify``, run both models whatever is proved.
        inputs: What to run both with (as ``run`` does), by the names of the inputs: arrays, or the path of an ``.npz``.
        seed: Of the random inputs.
        rtol: What rounding may be; see ``verify``.
        atol: The same.
        dry_run: Write nothing (but the report).
        in_place: Replace the source, in one step. External data stay as they are.
        report: A JSON file to write (see ``Conversion.to_json``), also where ``strict`` or ``verify`` raises.
        follow_links: Take external data in that are symbolic links out of the model's folder. Without it, only links of a
            Hugging Face cache are followed, and those to beside the file that the model itself is a link to.
        base_dir: The folder that the external data of bytes, a file object or an ``onnx.ModelProto`` are relative to.
        progress: Called with what is being done, how much, and of how much: bytes of data, or Pads and nodes by the thousand.

    Returns:
        The converted model and a record of each Pad.

    Raises:
        UsageError: The arguments contradict each other, or one is of the wrong type.
        PadopsError: The model cannot be read, would lose a part, or cannot be written. Nothing is left behind; or only the
            report could not be written, and the message says that the model has been.
        PadsLeftError: A Pad could not be converted, and ONNX Runtime refuses it, or it breaks a rule wherever the model is run:
            such a model is not written (without an output it is returned). With ``strict``, any Pad that could not be converted.
        VerificationError: ``verify``, and the models do not agree.
        UndecidedError: ``verify``, and not all is proved, and ONNX Runtime runs neither; with ``strict``, not all is proved.
    """
    switches = {"without_pad": without_pad, "fallback": fallback, "fold": fold, "strict": strict, "verify": verify, "run": run,
                "dry_run": dry_run, "in_place": in_place, "follow_links": follow_links}  # fmt: skip
    check_kinds(switches, {"output": output, "report": report, "base_dir": base_dir}, inputs, seed)
    source = given_model(source)
    path = output_path(source, output, in_place)
    check_options(target, without_pad, select, verify, run, inputs, seed)
    check_tolerance(rtol, atol)
    asked = choose_sources(auto_pad, custom_domains, emulated == "convert" and target == "padops", emulated)
    request = Request(choose_target(target, without_pad, select, provider), select, fold, fallback, asked, progress)
    check_paths(source, path, report)
    replaced = identity(path) if in_place and path is not None else None
    with os_errors_as("cannot read", source):
        document = read_document(source, base_dir, follow_links)
        files = document.data_files(follow_links, needed=path is not None or verify)
    check_targets(path, report, inputs, document, files, in_place)
    original = original_of(source, document)
    doubted = doubted_values(document, asked) if verify and not document.foreign else {}
    conversion = _rewrite(document, files, request)
    compare = comparison(document, Asked(inputs, seed, asked, rtol, atol, doubted, run), conversion) if verify else None
    reported = None if report is None else Path(report)
    job = Job(document, files, None if dry_run else path, compare, original, progress, reported, replaced, strict)
    try:
        if strict or job.target is not None:
            check_left(conversion, strict)
        return _verify_and_write(job, conversion, path)
    except (PadsLeftError, VerificationError) as error:
        write_report(error.conversion, reported)
        raise


def lower(source: Source, output: str | os.PathLike[str] | None = None, **options: Any) -> Conversion:
    """The way out of padops: turns every Pad of a model into operators of standard ONNX that do the same.

    That is ONNX's own Pad where ONNX Runtime runs it correctly, else Slice, Concat and Gather: at most three nodes for each
    padded axis where shape and amounts are known, and nodes that compute them where not. Element types that ONNX Runtime's
    Pad lacks are moved by operators that have them. The model then has no operator and no function of padops. Converting it
    back, or lowering it again, changes no bit of its outputs.

    A Pad of ONNX in mode constant, of a type that ONNX Runtime's has, stays ONNX's Pad where its amounts are not known before
    it runs. ONNX Runtime before 1.24 gets that wrong where a crop leaves nothing of an axis.

    With ``provider``, what there is to be of a Pad is what that execution provider runs right on its device.

    Args:
        source: As for ``convert``.
        output: The file to write.
        **options: As for ``convert``, but for ``target``.

    Returns:
        The model, and a record of each Pad. A Pad for which there are no such operators stays, with the reason: its data are
        float8e5m2 or float4e2m1, or it stands in a function that does not say of what type they are, or it breaks a rule.

    Raises:
        PadsLeftError: Such a Pad is one that ONNX Runtime refuses, or one that breaks a rule in the main graph, so that the model
            would not run. Its ``conversion`` has the records; ``convert`` with ``target="onnx"`` and no output returns it.
        PadopsError: As for ``convert``.
    """
    conversion = convert(source, output, target="onnx", **options)
    check_left(conversion, strict=False)
    return conversion


def _rewrite(document: Document, files: list[DataFile], request: Request) -> Conversion:
    """Describes each Pad, decides what becomes of it, applies that, and adds the fallbacks.

    Raises:
        PadopsError: The source is of another format, and a Pad of it cannot be converted: it has no form in ONNX.
    """
    opsets = {} if document.foreign else dict(document.model.graph.opset_imports)
    types = Types(document)
    facts, fatal = _look_at(document, request, types)
    unasked = [] if document.foreign or match_auto_pad in request.sources else same_left(document, types)
    convert_pads = ConvertPads(document, request.select, request.target, request.sources, request.progress)
    if request.fold:
        records = convert_and_fold(
            document, convert_pads, request.select, request.target, request.sources, request.progress
        )
    else:
        convert_pads(document.model)
        document.write_back()
        records = list(convert_pads.records.values())
    embedded = embed(document, request.fallback)
    if request.target in STANDARD or document.changed:
        prune_opset_imports(document)
    notes = [convert_pads.problem] if convert_pads.problem else []
    if not records:
        notes.append("the model has no Pad")
    elif not document.changed:
        unconverted = any(record.status == "unconverted" for record in records)
        notes.append("nothing was changed" if unconverted else "nothing had to be changed")
    if document.message().training_info:
        notes.append("the training graphs stay as they are")
    conversion = Conversion(
        model=document.model,
        records=tuple(replace(embedded.tell(record), facts=facts.get(record.path)) for record in records),
        opsets=opsets,
        sources=(*document.files(), *(FileRecord(file.location, file.size) for file in files)),
        notes=(*notes, *embedded.notes, *unasked),
        _proto=document.message(),
        _folder=document.base_dir,
        _write=write_conversion,
        _fatal=frozenset(fatal),
        _corrected=values_behind(document.model, (n for n, made in convert_pads.records.items() if made.corrects)),
    )
    if document.foreign and conversion.unconverted:
        raise PadopsError("; ".join(record.why() for record in conversion.unconverted))
    return conversion


def _look_at(document: Document, request: Request, types: Types) -> tuple[dict[str, PadFacts], set[str]]:
    """The facts of each Pad by its path, before anything is changed; and the paths of those that no run gets past.

    ONNX Runtime does not load a model with a Pad that it refuses. A Pad that breaks a rule may stand in a branch that is
    not taken, or in a function that nobody calls; in the main graph, every run comes to it.
    """
    minor = installed_minor()
    found, fatal = {}, set()
    pads = sources.find_pads(document.model, types, request.sources)
    for site, match in counted("looking at Pads", pads, request.progress):
        facts = found[site.path] = facts_of(site, match, types, minor)
        always = site.scope.graph is document.model.graph
        if facts.verdict == "refuses" or (facts.verdict == "breaks a rule" and always):
            fatal.add(site.path)
    return found, fatal


def write_conversion(conversion: Conversion, path: Path) -> Conversion:
    """Writes a converted model that has been made before; see ``Conversion.save``.

    Raises:
        PadopsError: Something cannot be read or written.
    """
    message = deepcopy(conversion.proto())
    folder = conversion._folder if conversion.output is None else conversion.output.parent
    document = Document(conversion.model.clone(), message, base_dir=folder, touched=set(conversion.model.graph))
    check_paths(message, path, None)
    with os_errors_as("cannot read", "the model's data"):
        files = document.data_files(follow_links=True)  # as the conversion has found them
    check_targets(path, None, None, document, files, in_place=False)
    return _verify_and_write(Job(document, files, path, None, lambda: message, None), conversion, path)


def _verify_and_write(job: Job, conversion: Conversion, path: Path | None) -> Conversion:
    """Verifies the model and writes it with its report, as far as the job asks for that; errors name ``path``.

    Raises:
        VerificationError: The models do not agree.
        PadopsError: Something cannot be written.
    """
    with contextlib.ExitStack() as ending:
        with os_errors_as("cannot write", path):
            conversion = finish(job, conversion, ending)
        if conversion.verification is not None:
            if refused := refusal(conversion.verification, job.strict, conversion._corrected):
                error, why = refused
                raise error(why, conversion)
        if conversion.output is None:  # else the report has come with the model
            write_report(conversion, job.report)
    return conversion
