"""Write the cases of ONNX's Pad as an archive, which tests any runtime without padops.

    python3 scripts/export_cases.py FILE.zip [--quick] [--seed N]
    python FILE.zip onnxruntime.backend

This script needs a Python that has padops. Exit codes: 0 done, 1 error, 2 usage.

The same cases make the same bytes: the files have a fixed order, the same date, and no compression, whose bytes would
depend on the version of zlib.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import help_first  # noqa: F401
import numpy as np

from padops.conformance import cases
from padops.conformance.features import Prepared
from padops.conformance.model import feeds, make_model, tensor
from padops.conformance.peers.request import Request
from padops.files.staging import write_whole
from padops.plural import plural
from padops.spec.dtypes import DTYPES
from padops.terminal import fail

SCHEMA = 1
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date that an archive can have
MAIN, MANIFEST, FOLDER = "__main__.py", "manifest.json", "cases"  # in the archive
RUNNER = Path(__file__).with_name("run_cases.py")


class ExportError(ValueError):
    """Nothing was exported; the message has the reason."""


def case_name(case: Request) -> str:
    """Returns the name of a case in an archive: ``test_`` and its id in letters, digits and underscores."""
    return "test_" + re.sub(r"\W+", "_", case.id.replace("-", "minus"), flags=re.ASCII)


def export(chosen: Iterable[Request], file: Path | str) -> dict[str, Any]:
    """Writes an archive of each case that is a Pad of ONNX and has an output.

    A case becomes ``cases/NAME/model.onnx``, of the standard domain at the case's opset, with ``input_0.pb`` on and
    ``output_0.pb`` in ``cases/NAME/test_data_set_0``: a backend test of ONNX. ``manifest.json`` has the rules and the
    class of each case and the SHA-256 of each file; ``__main__.py`` runs the cases.

    Returns:
        The manifest.

    Raises:
        ExportError: Two cases have one name.
        OSError: The archive cannot be written; an old archive stays.
    """
    files = {MAIN: RUNNER.read_bytes()}
    rows: dict[str, Any] = {}
    left_out: Counter[str] = Counter()
    for case in chosen:
        item = Prepared.of(case)
        expected = item.expected
        if not case.opset or expected.output is None:
            left_out["ONNX has no such operator" if not case.opset else f"an error: {expected.rule}"] += 1
            continue
        name = case_name(case)
        if name in rows:
            raise ExportError(f"two cases are called {name}")
        made = _files(case, expected.output)
        files |= {f"{FOLDER}/{name}/{place}": content for place, content in made.items()}
        rows[name] = {
            "case": case.id, "opset": case.opset, "mode": case.mode, "type": case.dtype.name, "rank": case.data.ndim,
            "inputs": len(made) - 2, "rules": item.rules, "class": item.of_class,
        }  # fmt: skip
    manifest = {
        "schema": SCHEMA,
        # By ONNX's number of a type: its name, the name in NumPy or ml_dtypes, and the bits of an element.
        "types": {
            row.onnx: [row.name, row.scalar if isinstance(row.scalar, str) else row.scalar.__name__, row.bits]
            for row in DTYPES
        },
        "cases": rows,
        "left_out": left_out,
        "sha256": {place: hashlib.sha256(content).hexdigest() for place, content in sorted(files.items())},
    }
    files[MANIFEST] = json.dumps(manifest, indent=1, sort_keys=True).encode()
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, [_zipped(files)])
    return manifest


def _zipped(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for place, content in sorted(files.items()):
            row = zipfile.ZipInfo(place, DATE)
            row.create_system, row.external_attr = 3, 0o644 << 16  # as on Linux, wherever it is made
            archive.writestr(row, content)
    return made.getvalue()


def _files(case: Request, output: np.ndarray) -> dict[str, bytes]:
    """Returns the files of a case: its model, its inputs and its output."""
    model, fed = make_model(case, standard=True), feeds(case)
    for info in (*model.graph.input, *model.graph.output):
        _declare_rank(info, fed.get(info.name, output).ndim)
    tensors = [tensor(*row) for row in (*fed.items(), ("output", output))]
    names = [*(f"input_{i}" for i in range(len(fed))), "output_0"]
    data = {f"test_data_set_0/{name}.pb": row.SerializeToString() for name, row in zip(names, tensors)}
    return {"model.onnx": model.SerializeToString(), **data}


def _declare_rank(info: Any, rank: int) -> None:
    """Adds a shape, which ONNX's checker in backends requires; the case's open dims get a name."""
    if not info.type.tensor_type.HasField("shape"):
        info.type.tensor_type.shape.SetInParent()
        for axis in range(rank):
            info.type.tensor_type.shape.dim.add().dim_param = f"{info.name}_{axis}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", metavar="FILE.zip")
    parser.add_argument("--quick", dest="level", action="store_const", const="quick", default="default")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    options = parser.parse_args(arguments)
    try:
        manifest = export(cases.collect(options.level, options.seed), options.file)
    except (OSError, ExportError) as error:
        return fail(error)
    left_out = plural(sum(manifest["left_out"].values()), "case", ",")
    wrote = plural(len(manifest["cases"]), "case", ",")
    print(f"wrote {wrote} to {options.file}, without {left_out} that must fail or that ONNX has no operator for")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
