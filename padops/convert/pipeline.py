"""``padops.convert``: the steps of a conversion, from reading a model to writing all files.

The steps: read the model; describe each Pad; fold Pads; decide what each remaining Pad becomes, with the reason; apply
the decisions; fold again; add the fallbacks; verify both models; write all files.

With ``opset``, padops converts the model to another opset by onnx's version converter, which has no adapter for most
versions of Pad. So each Pad first becomes an operator of padops, which the version converter leaves alone. Then the
target writes the Pads for the new version.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Collection, Iterable
from copy import deepcopy
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import onnx
from onnx import checker, helper, inliner, shape_inference, version_converter

from padops.convert.analysis import Analysis, always_runs
from padops.convert.arguments import check_kinds, check_options, choose_lowering, choose_matchers
from padops.convert.errors import PadopsError, PadsLeftError, UsageError, VerificationError, os_errors_as
from padops.convert.files import Job, check_paths, check_targets, finish, output_path, serialize, write_report
from padops.convert.folding import convert_and_fold
from padops.convert.inputs.given import Inputs
from padops.convert.matchers.auto_pad import match_auto_pad
from padops.convert.model.document import LARGEST_PROTO, Document, Source, given_model, parse_model, read_document
from padops.convert.model.external import DataFile, entry
from padops.convert.model.graphs import values_behind
from padops.convert.model.nesting import external_tensors, set_rows
from padops.convert.pads.match import EXPLICIT
from padops.convert.pads.window_operators import SAME
from padops.convert.records import Conversion, FileRecord, PadFacts, PadRecord, breaks_a_rule
from padops.convert.rewrite import Request, convert_pads
from padops.convert.standard.fallback import embed
from padops.convert.verify.choice import comparison, refusal
from padops.convert.verify.interface import Asked
from padops.files.staging import identity
from padops.files.streams import STREAM, read_input, refuse_terminal, write_output
from padops.plural import plural
from padops.runtime.installed import installed_minor
from padops.spec.dialects import DOMAIN
from padops.terminal import Progress, counted, json_text

LARGE = 256  # elements; no adapter reads a constant with more, because amounts, axes and shapes are smaller
ORIGIN = "padops: facts of the user's Pad"  # the key of these facts in a node's metadata
FIRST_IR = 4  # the first version of the format whose initializers need not be inputs
INPUT, OUTPUT = "standard input", "standard output"


def convert(
    source: Source,
    output: str | os.PathLike[str] | None = None,
    *,
    target: Literal["padops", "onnx", "pyop"] = "padops",
    without_pad: bool = False,
    provider: str | None = None,
    rules: str | os.PathLike[str] | None = None,
    opset: int | None = None,
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
    """Convert every Pad of a model into an operator of the domain ``padops``.

    padops converts ONNX Pad 1 to 25 in any form, ``com.microsoft::Pad``, and Pads that exporters emulate by several
    nodes, such as tf2onnx's symmetric Pad. These Pads may be in the main graph, in the bodies of If, Loop and Scan at
    any depth, and in the model's functions. Other nodes change only if they absorb a Pad (see ``folding``). An OpenVINO
    IR becomes an ONNX model (see ``padops.convert.ir``).

    Args:
        source: A file (``.onnx`` or OpenVINO's ``.xml``), the bytes of an ONNX model, a binary file object that yields
            such bytes, an ``onnx.ModelProto`` or an ``onnx_ir.Model``. Objects are not changed.
        output: The file to write. padops copies external data to the same folder.
        target: ``"padops"``: the operators of the native library. ``"onnx"``: see ``lower``. ``"pyop"``: the Python
            kernel of the domain ``padops.pyop`` (see ``padops.runtime.pyop``), for the element types that this kernel
            supports.
        without_pad: With target ``"onnx"``: write no ONNX Pad, for runtimes whose Pad lacks a mode or is wrong. Each
            Pad becomes Slice, Concat, Gather and Expand, and arithmetic if its shape or amounts are unknown.
        provider: With target ``"onnx"``: the model's execution provider, such as ``"OpenVINOExecutionProvider"``, or
            for short ``"openvino"``. Pads that the provider runs correctly stay; other Pads become operators that it
            runs (docs/beside.md).
        rules: A file of rules for ``provider``, as ``padops probe`` writes it. By default, padops' own rules.
        opset: With target ``"onnx"``: write the Pads for this version of the standard operators, and convert the rest
            of the model by onnx's version converter. Implies ``verify``.
        fallback: For each operator of padops in the model, add a function of standard operators, so that the model also
            runs without the library; see ``padops.convert.standard.fallback``. ``Conversion.no_fallback`` names the
            operators without a correct fallback.
        fold: Remove Pads that change nothing, and Pads whose amounts a convolution or pooling can absorb; join two
            successive Pads; see ``folding``. Only Pads that ``select`` selects are folded.
        select: ``"needed"`` leaves the Pads that ONNX Runtime runs correctly by itself.
        auto_pad: ``"explicit"`` also replaces SAME_UPPER and SAME_LOWER by explicit amounts; see ``auto_pad``.
        emulated: ``"keep"`` leaves emulated Pads, such as TorchScript's circular pads, which consist of Slices and a
            Concat; see ``matchers/emulated``. With target ``"onnx"`` or ``"pyop"``, emulated Pads always stay: more
            runtimes support Slice and Concat than support all modes of Pad, and the Python kernel is slower than these
            nodes.
        custom_domains: The domains in which an exporter left nodes of its framework. padops converts TensorFlow's
            MirrorPad, PadV2 and Pad, as tf2onnx leaves them, and nGraph's Pad, with ``padding_below`` and its related
            attributes.
        strict: Raise, and write no model, if a Pad cannot be converted, or (with ``fallback``) has no fallback. With
            ``verify``, also raise if the models are not proved to do the same (see ``Verification.unproved``).
        verify: Before writing, prove that the converted model does what the original does, and run both models on the
            same inputs. An original that is an OpenVINO IR runs in OpenVINO. Floats may differ by a tolerance, by
            default measured on the original. A model that runs but cannot be compared is written, and
            ``verification.passed`` is False.
        run: With ``verify``, run proved models as often as models that are not proved.
        inputs: The inputs of runs (implies ``run``), by name: arrays, or the path of an ``.npz``.
        seed: The seed of random inputs.
        rtol: The relative tolerance for rounding, as in ``padops.verify``.
        atol: The absolute tolerance for rounding, which is added to the relative tolerance.
        dry_run: Write no file except the report.
        in_place: Replace the source file atomically. External data stay as they are.
        report: A JSON file to write (see ``Conversion.to_json``), even if ``strict`` or ``verify`` raises.
        follow_links: Follow symbolic links from external data to any folder. By default, padops follows links within
            the model's folder and within a Hugging Face cache. If the model itself is a link, padops also follows links
            into the folder of its target.
        base_dir: The folder of the external data, if the source is bytes, a file object or an ``onnx.ModelProto``.
        progress: Called with the step's name, the amount done and the total, in bytes or (from 1000 Pads on) in Pads.

    Returns:
        The converted model and a record of each Pad.

    Raises:
        UsageError: An argument has a wrong type or value, or arguments contradict each other.
        PadopsError: The model cannot be read, would lose a part, or cannot be written; padops leaves no file behind. If
            the model was written but the report cannot be, the message says so.
        PadsLeftError: A Pad that stays makes ONNX Runtime refuse the model, or ``auto_pad`` cannot replace a SAME that
            ONNX Runtime gets wrong, or a Pad breaks a rule in every run. With ``strict``: any Pad is unconverted or
            breaks a rule, or an operator lacks a wanted fallback. The model is not written. For an ONNX source, padops
            returns the conversion instead if none of ``output``, ``in_place``, ``strict`` and ``dry_run`` is set.
        VerificationError: With ``verify``: the models do not agree.
        UndecidedError: With ``verify``: not all is proved, and neither model runs. With ``strict``: not all is proved.
    """
    switches = {"without_pad": without_pad, "fallback": fallback, "fold": fold, "strict": strict, "verify": verify,
                "run": run, "dry_run": dry_run, "in_place": in_place, "follow_links": follow_links}  # fmt: skip
    check_kinds(switches, {"output": output, "report": report, "base_dir": base_dir, "rules": rules}, inputs, seed)
    path = output_path(source := given_model(source), output, in_place)
    for_runs = {"run": run or None, "inputs": inputs, "seed": seed or None, "rtol": rtol, "atol": atol}
    check_options(target, without_pad, select, opset, verify := verify or opset is not None, for_runs, seed)
    asked = choose_matchers(auto_pad, custom_domains, emulated == "convert" and target == "padops", emulated)
    lowering = choose_lowering(target, without_pad, select, provider, rules)
    request = Request(target, select, fold, fallback, lowering, opset)
    check_paths(source, path, reported := None if report is None else Path(report))
    replaced = identity(path) if in_place and path is not None else None
    with os_errors_as("cannot read", source):
        document = read_document(source, base_dir, follow_links)
        files = document.data_files(follow_links, needed=path is not None or verify)
    check_targets((path, reported), inputs, document, files, in_place)
    analysis = Analysis(document, asked, progress)
    doubted = analysis.doubted() if verify and not document.foreign else ({}, {})
    opsets = {} if document.foreign else dict(document.model.graph.opset_imports)
    analysis = analysis if opset is None else in_opset(analysis, opset)
    conversion, document = _rewrite(analysis, files, request, opsets), analysis.document
    read = {entry(tensor, "location") for tensor, _ in external_tensors(document.proto)} if files else ()
    files = [file for file in files if file.location in read]  # amounts that are inside now leave no file
    compare = comparison(document, Asked(inputs, seed, rtol, atol, *doubted, run), conversion) if verify else None
    job = Job(document, files, None if dry_run else path, compare, source, progress, reported, replaced, strict)
    try:
        if strict or dry_run or path is not None:
            check_left(conversion, strict)
        return _verify_and_write(job, conversion, path)
    except (PadsLeftError, VerificationError) as error:
        write_report(error.conversion, reported)
        raise


def lower(source: Source, output: str | os.PathLike[str] | None = None, **options: Any) -> Conversion:
    """Replace every Pad of a model by equivalent operators of standard ONNX, so that the model no longer needs padops.

    A Pad becomes ONNX's own Pad if onnxruntime 1.20 and newer surely run this Pad correctly, else Slice, Concat and
    Gather. These are at most three nodes for each padded axis; further nodes compute an unknown shape or unknown
    amounts. If ONNX Runtime's Pad lacks the element type, other operators move the data. The lowered model has no
    operator and no function of padops. Converting or lowering this model again changes no bit of its outputs.

    An ONNX Pad in mode constant with dynamic amounts stays, if ONNX Runtime's Pad has its element type. ONNX Runtime
    before 1.24 gets such a Pad wrong if a crop leaves nothing of an axis.

    With ``provider``, each Pad becomes operators that this execution provider runs correctly on its device.

    Args:
        source: As for ``convert``.
        output: The file to write.
        **options: As for ``convert``, except ``target``.

    Returns:
        The model, and a record of each Pad. A Pad without equivalent operators stays, and its record has the reason:
        its data are float8e5m2 or float4e2m1, calls of its function pass different types, or it breaks a rule.

    Raises:
        PadsLeftError: ONNX Runtime refuses a Pad that stays, or a Pad breaks a rule in every run, so the model would
            not run. ``conversion`` has the records; ``convert(…, target="onnx")`` without output returns the
            conversion.
        PadopsError: As for ``convert``.
    """
    if "target" in options:
        raise UsageError("target is not an argument of padops.lower, which writes standard operators")
    conversion = convert(source, output, target="onnx", **options)
    check_left(conversion, strict=False)
    return conversion


def _rewrite(analysis: Analysis, files: list[DataFile], request: Request, opsets: dict[str, int]) -> Conversion:
    document = analysis.document
    facts, fatal, minor = {}, set(), installed_minor()
    for pad in counted("looking at Pads", analysis.pads, analysis.progress):
        row = pad.facts(minor)
        facts[row.path] = pad.site.node.meta.get(ORIGIN, row)
        # ``auto_pad`` requires explicit amounts of SAME, but for this SAME none exist.
        wrong = row.verdict == "wrong" and pad.match.stays and pad.match.judge is not None
        # ONNX Runtime does not load a model with a Pad that it refuses. A Pad that breaks a rule may be in a branch
        # that does not run, or in a function without calls.
        if row.verdict == "refuses" or wrong or (row.verdict == "breaks a rule" and always_runs(pad.site)):
            fatal.add(facts[row.path].path)
    unasked = [] if document.foreign or match_auto_pad in analysis.asked else _same_left(analysis)
    if "provider" not in request.lowering:  # another provider may run SAME
        fatal |= {record.path for record in unasked if record.facts and record.facts.verdict == "refuses"}
    rewritten = convert_and_fold(analysis, request) if request.fold else convert_pads(analysis, request)
    records = [*analysis.done, *rewritten.values()]
    told, missing = embed(analysis, request.fallback)
    if request.lowers or document.changed or document.foreign:
        document.prune_imports()
    if document.changed:
        document.settle_shapes()
    notes = [analysis.problem] if analysis.problem else []
    if not records and not unasked:
        notes.append("the model has no Pad")
    elif records and not document.changed:
        is_left = any(record.status == "unconverted" for record in records)
        notes.append("nothing was changed" if is_left else "nothing had to be changed")
    if document.proto.training_info:
        notes.append("the training graphs stay as they are")
    if request.opset is not None and (stays := document.model.graph.opset_imports.get("")) not in (None, request.opset):
        notes.append(f"the model stays in opset {stays}: a Pad breaks a rule, so no runtime runs the model")
    conversion = Conversion(
        model=document.model,
        records=(*(_with_facts(record, facts.get(record.path)) for record in records), *unasked),
        opsets=opsets,
        sources=(*document.files(), *(FileRecord(file.location, file.size) for file in files)),
        notes=(*notes, *told),
        no_fallback={op_type: _without_fallback(op_type, why) for op_type, why in missing.items()},
        _proto=document.proto,
        _folder=document.base_dir,
        _write=_write_conversion,
        _fatal=frozenset(fatal),
        _corrected=values_behind(document.model, (node for node, record in rewritten.items() if record.corrects)),
    )
    if document.foreign and conversion.unconverted:
        check_left(conversion, strict=any(breaks_a_rule(record) for record in conversion.unconverted))
        raise PadopsError("; ".join(record.why() for record in conversion.unconverted))
    return conversion


def _with_facts(record: PadRecord, facts: PadFacts | None) -> PadRecord:
    """Return the record with the facts, path, name and form of the user's Pad; unchanged if ``facts`` is None."""
    if facts is None:
        return record
    return replace(record, facts=facts, path=facts.path, name=facts.name, form=facts.form)


def _write_conversion(conversion: Conversion, path: Path) -> Conversion:
    """Write the model of a finished conversion; see ``Conversion.save``."""
    message = deepcopy(conversion.proto())
    folder = conversion._folder if conversion.output is None else conversion.output.parent
    document = Document(conversion.model.clone(), message, base_dir=folder, touched=set(conversion.model.graph))
    check_paths(message, path, None)
    with os_errors_as("cannot read", "the model's data"):
        files = document.data_files(follow_links=True)  # the conversion has checked the links
    check_targets((path,), None, document, files, in_place=False)
    return _verify_and_write(Job(document, files, path), conversion, path)


def _verify_and_write(job: Job, conversion: Conversion, path: Path | None) -> Conversion:
    """Verify the model, then write the model and the report, as the job requests; write errors name ``path``."""
    with contextlib.ExitStack() as ending:
        with os_errors_as("cannot write", path):
            conversion = finish(job, conversion, ending)
        done = conversion.verification
        if refused := done and refusal(done, job.strict, conversion._corrected):
            raise refused[0](refused[1], conversion)
        if conversion.output is None:  # else the report was written with the model
            write_report(conversion, job.report)
    return conversion


def _same_left(analysis: Analysis) -> list[PadRecord]:
    """Return records of nodes with SAME that stay although onnxruntime refuses them or may get them wrong."""
    minor, records = installed_minor(), []
    for pad in analysis.find((match_auto_pad,)):
        match = pad.match
        if (match.stays and match.judge is None) or match.verdict or pad.too_new(minor):
            continue
        facts = pad.facts(minor)
        if not facts.runs:
            ask = "" if match.stays else "; --auto-pad explicit (in Python auto_pad='explicit') writes its amounts out"
            records.append(replace(pad.record("unconverted", facts.why + ask), notes=(), facts=facts))
    return records


def same_wrong(pads: Iterable[PadFacts | None]) -> list[str]:
    """Return a sentence for each node with SAME that onnxruntime gets or may get wrong, and that padops cannot fix."""
    gets = {"wrong": "gets", "may be wrong": "may get"}
    failing = [pad for pad in pads if pad and pad.mode in SAME and pad.verdict in gets and "convert" not in pad.roads]
    return [f"{gets[pad.verdict]} {pad.path} ({pad.form}) wrong: {pad.why}" for pad in failing]


def _without_fallback(op_type: str, why: str) -> str:
    """Return a warning for an operator without a fallback: the reason and the fix."""
    why = re.sub("^it needs", "its fallback needs", why)
    # Reasons that lowering shares: a type without operators, an opset that is too old, or a broken rule.
    in_vain = re.search(r"^no standard operator|may help$|\[(P\d+|S1)\]", why)
    return f"this file needs padops for {op_type}: {why}{'' if in_vain else '; --target onnx (padops.lower) may help'}"


def check_left(conversion: Conversion, strict: bool) -> None:
    """Refuse a conversion that leaves Pads, or whose Pads break a rule; ``convert`` and ``PadsLeftError`` say when."""
    records = conversion.records
    left = [record for record in records if record.status == "unconverted" or breaks_a_rule(record)]
    if not strict:
        left = [record for record in left if record.path in conversion._fatal]
    if not left:
        if strict and conversion.no_fallback:
            why = "; ".join(conversion.no_fallback.values())
            raise PadsLeftError(
                f"{why}; to convert without fallbacks, use --no-fallback (in Python fallback=False)", conversion
            )
        return
    first, *others = left
    rule, s, more = breaks_a_rule(first), "" if others else "s", f", and {len(others)} more" if others else ""
    count = f"{len(left)} of {plural(len(records), 'Pad')} {f'break{s} a rule' if rule else f'stay{s} unconverted'}"
    if not strict:
        wrong = first.facts is not None and first.facts.verdict == "wrong"
        does = "gets the model wrong" if wrong else "does not run the model"
        count += ", so no runtime runs the model" if rule else f", and ONNX Runtime {does} as it is"
    raise PadsLeftError(f"{count}: {first.why()}{more}", conversion)


def in_opset(analysis: Analysis, opset: int) -> Analysis:
    """Convert the model to opset ``opset``, and its Pads to padops' operators; return the analysis of the result.

    padops inlines local functions, because onnx's converter would drop them. The given document changes. Each Pad keeps
    its original facts: onnx's converter drops metadata, so the name of the Pad's node holds an index into the facts.
    """
    document = analysis.document
    before = document.model.graph.opset_imports.get("")
    if before in (None, opset):
        return analysis
    facts = {pad.site.node: pad.facts(installed_minor()) for pad in analysis.pads}
    own = (pad for pad in analysis.pads if pad.site.node.domain == DOMAIN and always_runs(pad.site))
    if any(facts[pad.site.node].verdict == "breaks a rule" for pad in own):
        return analysis  # no runtime runs the model, and onnx's converter refuses it
    mark = f"padops {uuid4().hex} "  # begins the names of Pads, and no other name
    for i, node in enumerate(facts):
        node.name = f"{mark}{i}: {node.name or ''}"
    records = convert_pads(analysis, Request("padops", "all", False, False, {}, None))
    message = inliner.inline_local_functions(document.proto, convert_version=True)
    large = {row.name: row for row in message.graph.initializer if prod(row.dims) > LARGE}
    light = deepcopy(message)
    set_rows(light.graph, initializer=(row for row in message.graph.initializer if row.name not in large))
    listed = {value.name for value in message.graph.input}
    more = [row for name, row in large.items() if name not in listed]
    light.graph.input.extend(helper.make_tensor_value_info(row.name, row.data_type, row.dims) for row in more)
    try:
        made = version_converter.convert_version(light, opset)
        checker.check_model(made)  # some adapters leave attributes that the older operator lacks
    except (RuntimeError, checker.ValidationError, shape_inference.InferenceError) as error:
        why = re.sub(rf"{mark}\d+: ", "", " ".join(str(error).split()).rpartition("failed: ")[2])
        text = f"onnx's version converter does not bring the model from opset {before} to {opset}: {why}"
        raise PadopsError(text) from error
    set_rows(made.graph, input=message.graph.input)
    made.graph.initializer.extend(large.values())
    least = helper.find_min_ir_version_for([helper.make_opsetid("", opset)], ignore_unknown=True)
    made.ir_version = min(message.ir_version, max(least, FIRST_IR))
    made.metadata_props.extend(message.metadata_props)
    changed = read_document(made, base_dir=document.base_dir)
    origins = list(facts.values())
    for node in changed.model.graph.all_nodes():
        if (named := node.name or "").startswith(mark):
            number, _, name = named.removeprefix(mark).partition(": ")
            origin = node.meta[ORIGIN] = origins[int(number)]
            node.name = name if origin.name else ""  # the inliner adds a suffix
    changed.path, changed.size, changed.sha256 = document.path, document.size, document.sha256
    changed.foreign, changed.touched = document.foreign, set(changed.model.graph)
    found = Analysis(changed, analysis.asked, analysis.progress)
    found.done = [_with_facts(row, facts[node]) for node, row in records.items() if row.op_type == EXPLICIT]
    return found


def convert_streams(source: str, output: str | None, report: str | None = None, **options: Any) -> Conversion:
    """Run ``padops.convert``; ``source``, ``output`` and ``report`` may be ``-`` for standard input and output."""
    if STREAM not in (source, output, report):
        return convert(source, output, report=report, **options)
    if output == report == STREAM:
        raise UsageError("standard output can take the model or the report; name a file for one of them")
    with os_errors_as("cannot use", OUTPUT):
        if output == STREAM and (why := refuse_terminal()):
            raise UsageError(why)
    content, model = read_model() if source == STREAM else (b"", source)
    to_file = None if report == STREAM else report

    def finished(conversion: Conversion) -> Conversion:
        """Record standard input as the source, and write the report; ``convert`` does neither for streams."""
        if source == STREAM:
            conversion = replace(conversion, sources=(_record(INPUT, content),))
        if report == STREAM:
            written = f"{conversion.output} has been written, but the report has not: " if conversion.output else ""
            with os_errors_as(f"{written}cannot write to", OUTPUT):
                write_output((json_text(conversion.to_json()) + "\n").encode("utf-8", "backslashreplace"))
        elif report is not None:
            write_report(conversion, Path(report))
        return conversion

    try:
        conversion = convert(model, None if output == STREAM else output, report=to_file, **options)
        if output == STREAM and not options.get("dry_run"):
            check_left(conversion, strict=False)
            conversion = _write_model(conversion)
    except (PadsLeftError, VerificationError) as error:
        error.conversion = finished(error.conversion)
        raise
    return finished(conversion)


def models_of(one: str, other: str) -> tuple[str | onnx.ModelProto, str | onnx.ModelProto]:
    """Return the two models: each is a file's name, or for ``-`` the model from standard input."""
    if one == other == STREAM:
        raise UsageError("standard input can bring one of the models; name a file for the other")
    return read_model()[1] if one == STREAM else one, read_model()[1] if other == STREAM else other


def read_model() -> tuple[bytes, onnx.ModelProto]:
    """Return the bytes of the model from standard input, and the model."""
    with os_errors_as("cannot read", INPUT):
        content = read_input()
    if not content:
        raise PadopsError("standard input is empty: no model came through it")
    if len(content) > LARGEST_PROTO:
        raise PadopsError(f"standard input has {len(content)} bytes; a protobuf message has at most {LARGEST_PROTO}")
    message = parse_model(content, INPUT)
    _refuse_external(message, f"the model from {INPUT}", "and a stream has no folder for them; give the model's file")
    return content, message


def _refuse_external(message: onnx.ModelProto, what: str, why: str) -> None:
    if names := sorted({entry(tensor, "location") or "of no name" for tensor, _ in external_tensors(message)}):
        raise PadopsError(f"{what} has external data ({', '.join(names)}), {why}")


def _record(name: str, content: bytes, written: bool = False) -> FileRecord:
    return FileRecord(name, len(content), hashlib.sha256(content).hexdigest(), written)


def _write_model(conversion: Conversion) -> Conversion:
    message = conversion.proto()
    _refuse_external(message, "the model", "which standard output cannot hold; use -o FILE")
    content = serialize(message)
    if content is None:
        raise PadopsError(f"the model exceeds {LARGEST_PROTO} bytes, the limit of a protobuf message; use -o FILE")
    with os_errors_as("cannot write to", OUTPUT):
        write_output(content)
    return replace(conversion, output=Path(STREAM), outputs=(_record(OUTPUT, content, written=True),))
