"""Cases in the layout of ONNX's backend tests, so that any other runtime can be tested with them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from padops.conformance.case import Case, expect
from padops.conformance.model import feeds, make_model, tensor
from padops.files.hidden import FILES, hidden_folder
from padops.files.targets import kind_of
from padops.plural import plural
from padops.terminal import fail


class ExportError(ValueError):
    """Nothing was exported; says why."""


def folder_name(case: Case) -> str:
    """What the folder of a case is called: ``test_`` and its id in letters, digits and underscores."""
    return "test_" + re.sub(r"\W+", "_", case.id.replace("-", "minus"), flags=re.ASCII)


def export(cases: Iterable[Case], folder: Path | str) -> list[Path]:
    """Writes each case that is a Pad of ONNX and has an output, into a folder that is new or empty.

    A case becomes ``NAME/model.onnx``, of the standard domain at the case's opset, with ``input_0.pb`` on and
    ``output_0.pb`` in ``NAME/test_data_set_0``. Operators that ONNX does not have and cases that must fail have no
    place in this layout.

    Returns:
        The folders of the cases.

    Raises:
        ExportError: The folder holds something, or two cases have one name.
        OSError: It cannot be written; then nothing has been.
    """
    folder = Path(folder)
    _check_free(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with hidden_folder(folder.parent) as hidden:
        part = hidden / FILES
        names = [_write(case, output, part) for case, output in _standard(cases)]
        _check_free(folder)
        part.rename(folder)  # takes the place of a folder only where that is empty
    return [folder / name for name in names]


def _check_free(folder: Path) -> None:
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise ExportError(f"{folder}: {kind_of(folder)}, not an empty folder")
    if any(folder.iterdir()):
        raise ExportError(f"{folder} is not empty")


def _standard(cases: Iterable[Case]) -> Iterable[tuple[Case, Any]]:
    """The cases that ONNX has, with their outputs."""
    for case in cases:
        if case.opset:
            output = expect(case).output
            if output is not None:
                yield case, output


def _write(case: Case, output: Any, folder: Path) -> str:
    arrays = case.arrays()
    place = folder / folder_name(case)
    data = place / "test_data_set_0"
    try:
        data.mkdir(parents=True)
    except FileExistsError:
        raise ExportError(f"two cases are called {place.name}") from None
    model = make_model(case, arrays, standard=True)
    fed = feeds(case, arrays)
    for info in (*model.graph.input, *model.graph.output):
        _declare_rank(info, fed.get(info.name, output).ndim)
    (place / "model.onnx").write_bytes(model.SerializeToString())
    for i, (name, array) in enumerate(fed.items()):
        (data / f"input_{i}.pb").write_bytes(tensor(name, array).SerializeToString())
    (data / "output_0.pb").write_bytes(tensor("output", output).SerializeToString())
    return place.name


def _declare_rank(info: Any, rank: int) -> None:
    """ONNX's checker, which backends run, wants a shape; dims that the case leaves open get a name."""
    if not info.type.tensor_type.HasField("shape"):
        info.type.tensor_type.shape.SetInParent()
        for axis in range(rank):
            info.type.tensor_type.shape.dim.add().dim_param = f"{info.name}_{axis}"


def add_export(commands: Any) -> None:
    """Adds ``export`` to the commands of ``padops conformance``."""
    about = "Write the cases of ONNX's Pad as backend tests of ONNX: NAME/model.onnx and NAME/test_data_set_0/*.pb."
    parser = commands.add_parser("export", help="write the cases as backend tests of ONNX", description=about)
    parser.add_argument("folder", metavar="DIR", help="a folder that is new or empty")
    parser.add_argument("--quick", dest="level", action="store_const", const="quick", help="those of a quick run")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the choice of cases (default: %(default)s)"
    )
    parser.set_defaults(run=_export, level="default")


def _export(options: argparse.Namespace) -> int:
    from padops.conformance import cases

    try:
        written = export(cases.collect(options.level, options.seed), options.folder)
    except (OSError, ExportError) as error:
        return fail(error)
    print(f"wrote {plural(len(written), 'case', ',')} to {options.folder}")
    return 0
