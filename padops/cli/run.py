"""``padops run``."""

from __future__ import annotations

import argparse
import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.cli.parsing import add_reading, add_rules
from padops.exits import USAGE
from padops.files.staging import identity, refusal, write_whole
from padops.files.streams import STREAM
from padops.plural import plural
from padops.terminal import fail, names, say

if TYPE_CHECKING:
    import numpy as np

    from padops.session import InferenceSession

ABOUT = (
    "Run a model in padops.InferenceSession, and print the outputs. If onnxruntime refuses the model or gets it wrong "
    "because of a Pad, padops first converts the model in memory, and reports this in one line on standard error. Exit "
    "codes: 0 done, 1 error, 2 usage."
)
LONGEST_NAME = 60_000  # bytes; the limit of a zip is 65,535
SHOWN = 64  # the most elements to print; a larger output is printed as its type and shape


def add_run(commands: Any) -> None:
    parser = commands.add_parser("run", help="run a model, whatever its Pads are", description=ABOUT)
    parser.add_argument("model", metavar="MODEL", help="an .onnx file, or an OpenVINO IR (.xml); - for standard input")
    parser.add_argument("--inputs", metavar="FILE.npz", help="an array for each input, by its name")
    parser.add_argument("--outputs", metavar="FILE.npz", help="write the outputs, by their names; element types that "
                        "NumPy lacks are written as unsigned integers with the same bits")  # fmt: skip
    parser.add_argument("--providers", type=names, metavar="A,B", help="execution providers, first choice first "
                        "(default: all that this onnxruntime has built in)")  # fmt: skip
    add_rules(parser, "with --providers: ")
    parser.add_argument("--convert", choices=("auto", "never"), default="auto", help="whether the model may be "
                        "converted in memory (default: %(default)s)")  # fmt: skip
    add_reading(parser)
    parser.set_defaults(run=run_run)


def run_run(options: argparse.Namespace) -> int:
    if options.outputs == STREAM:
        return fail("--outputs needs a file: standard output shows the outputs as text", USAGE)
    outputs = Path(options.outputs) if options.outputs else None
    if why := refusal([outputs]):
        return fail(why)
    if options.model != STREAM and os.path.isdir(options.model):
        return fail(f"{options.model} is a folder; padops run accepts one model file", USAGE)
    if (options.custom_domains or options.follow_links) and options.convert == "never":
        return fail("--custom-domain and --follow-links need --convert auto", USAGE)
    named = (None if options.model == STREAM else options.model, options.inputs)
    read = [Path(name) for name in named if name]
    if outputs is not None and identity(outputs) is not None and identity(outputs) in map(identity, read):
        return fail(f"{outputs} is the model or its inputs; name another file for --outputs", USAGE)
    try:
        results = _results(options)
        if outputs is not None:
            _write(outputs, results)
    except OSError as error:
        return fail(f"cannot write {error.filename or outputs}: {error.strerror}")
    for name, array in results.items():
        few = array.size <= SHOWN
        kind = "string" if array.dtype.kind == "O" else array.dtype
        say(f"{name}: {kind}{list(array.shape)}" + (f" {array.tolist()}" if few else ""))
    return 0


def _session(options: argparse.Namespace, named: str) -> InferenceSession:
    """Creates the session of the model; ``named`` is the model's name in errors."""
    from padops.convert import inspect
    from padops.convert.arguments import rules_of_session
    from padops.convert.errors import PadopsError, UsageError, os_errors_as
    from padops.convert.model.document import check_file
    from padops.convert.pipeline import read_model
    from padops.runtime.placing import check_there
    from padops.runtime.provider_rules import full_names
    from padops.session import InferenceSession

    if options.model != STREAM:
        with os_errors_as("cannot read", options.model):
            check_file(Path(options.model))
    model = read_model()[0] if options.model == STREAM else options.model
    rules = rules_of_session(options.providers or (), options.rules)
    providers = None if options.providers is None else full_names(options.providers, rules)
    convert = options.convert
    if options.custom_domains or options.follow_links:  # ``inspect`` returns none if the session finds the domains
        read = {"custom_domains": options.custom_domains, "follow_links": options.follow_links}
        convert = inspect(model, **read).convert or convert
    try:
        check_there(providers or ())
    except ValueError as error:
        raise UsageError(f"--providers: {error}") from error
    try:
        return InferenceSession(model, providers=providers, convert=convert, rules=options.rules)
    except OSError as error:  # the library of padops is missing
        raise PadopsError(str(error)) from error
    except Exception as error:  # onnxruntime's exceptions have no common base class
        raise PadopsError(f"{named} does not run: {' '.join(str(error).split())}") from error


def _results(options: argparse.Namespace) -> dict[str, np.ndarray]:
    """Runs the model, and returns its outputs by name; raises a PadopsError with the reason if the model cannot run."""
    import numpy as np

    from padops.convert.errors import PadopsError, UsageError
    from padops.convert.inputs.given import Input, fit_inputs, load_inputs
    from padops.convert.pipeline import INPUT
    from padops.runtime.ort_values import run_session

    named = INPUT if options.model == STREAM else options.model
    session = _session(options, named)
    if session.padops_records:
        done = sum(record.status == "converted" for record in session.padops_records)
        say(f"{named} was converted in memory: {done} of {plural(len(session.padops_records), 'Pad')}", stderr=True)
    for given in session.get_inputs():
        if not given.type.startswith("tensor("):
            raise PadopsError(f"input '{given.name}' is {given.type}, but padops run accepts only tensors")
    # onnxruntime reports an unknown rank as rank 0.
    taken = [Input(row.name, row.type[len("tensor(") : -1], tuple(row.shape) or None) for row in session.get_inputs()]
    if taken and options.inputs is None:
        raise UsageError(f"pass --inputs FILE.npz with {', '.join(map(str, taken))}")
    feeds = fit_inputs(load_inputs(options.inputs or {}, taken), taken)
    try:
        arrays = run_session(session, feeds)
    except Exception as error:  # onnxruntime's exceptions have no common base class
        raise PadopsError(f"{named} does not run with these inputs: {' '.join(str(error).split())}") from error
    results = dict(zip((row.name for row in session.get_outputs()), arrays, strict=True))
    for name, array in results.items():
        if not isinstance(array, np.ndarray):
            kind = type(array).__name__
            raise PadopsError(f"output '{name}' is a {kind}, and only tensors can be printed or written")
    return results


def _write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes an ``.npz``, whole or not at all; a PadopsError names an output that the file cannot hold."""
    import numpy as np

    from padops.convert.errors import PadopsError

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            plain = array.astype(str) if array.dtype.kind == "O" else array
            if array.dtype.kind == "O" and plain.tolist() != array.tolist():
                raise PadopsError(f"output '{name}' has a string that ends with U+0000, which NumPy cannot hold")
            if len(name.encode()) > LONGEST_NAME or "\0" in name:
                raise PadopsError(f"an .npz cannot hold an output named {name[:40]!r}")
            bits = plain.view(f"u{plain.dtype.itemsize}") if plain.dtype.kind == "V" else plain
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(bits), allow_pickle=False)
    write_whole(path, [content.getvalue()])
