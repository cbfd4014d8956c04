"""``padops conformance repros``: a script for each known wrong answer of a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from padops.conformance import cases
from padops.conformance.case import Case, expect
from padops.conformance.divergences import Divergence
from padops.conformance.features import features_of
from padops.conformance.known import KNOWN
from padops.conformance.peers import PEERS
from padops.conformance.record import RecordError, read
from padops.conformance.repro import NoScript, Seen, script
from padops.files.staging import write_whole
from padops.files.targets import refusal
from padops.terminal import fail, say

INDEX = "README.md"
HEAD = """\
# Wrong answers of other Pads

Each script shows one class of wrong answer of one implementation: an output with other bits than the rules want, or
the end of the process. A script needs the implementation, NumPy and onnx, not padops, and exits 1 where the answer is
wrong. Three kinds of classes are in the report of `padops conformance` only: an implementation refuses something, lets
an error pass, or reads mixed signs in another way (P3, which the ONNX text leaves open). None of these has been sent
to anybody.

`padops conformance repros conformance.jsonl --out docs/divergences` writes this folder from a report.

| script | implementation | what happens | rule |
|---|---|---|---|
"""


def write(report: Path | str, folder: Path | str) -> list[Path]:
    """Writes a script for each wrong answer that a ``conformance.jsonl`` has seen, and their list.

    Returns:
        The files.

    Raises:
        OSError: They cannot be written.
        RecordError: The report is not whole.
        ValueError: It names a case that there is none of, or something stands in the way of a file.
    """
    record, folder = read(report), Path(folder)
    versions = {row["name"]: row["versions"] for row in record.header["peers"]}
    texts: dict[str, str] = {}
    rows = []
    for divergence in filter(is_wrong_answer, KNOWN):
        for case, result in _shown(divergence, record.results):
            peer = result["peer"]
            suffix = "mjs" if PEERS[divergence.peer].command else "py"
            name = f"{divergence.id}.{suffix}"
            try:
                texts[name] = script(case, peer, Seen.of(result, versions[peer]))
            except NoScript:
                continue
            made_of = ", ".join(f"{package} {version}" for package, version in versions[peer].items())
            rows.append(f"| [{name}]({name}) | {made_of} | {divergence.reason} | {divergence.rule} |")
            break
    texts[INDEX] = HEAD + "\n".join(rows) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    if why := refusal(folder / name for name in texts):
        raise ValueError(why)
    for name, text in texts.items():
        write_whole(folder / name, [text])
    return [folder / name for name in texts]


def is_wrong_answer(divergence: Divergence) -> bool:
    """Whether a divergence is one that somebody should mend: no refusal, and no other reading of the text."""
    silent = "differ" in divergence.outcomes and divergence.expected != "error"
    wrong = silent or "crash" in divergence.outcomes
    return wrong and divergence.rule != "P3" and PEERS[divergence.peer].stands_alone


def _shown(divergence: Divergence, results: list[dict[str, Any]]) -> list[tuple[Case, dict[str, Any]]]:
    """Cases that show it, with their results: first small ones with an answer and no other known divergence."""
    rivals = [row for row in KNOWN if row.peer == divergence.peer]
    found = []
    for result in results:
        if result["divergence"] != divergence.id or result["outcome"] not in ("differ", "crash"):
            continue
        case = cases.find_case(result["case"])
        expected = expect(case)
        if result["outcome"] == "differ" and expected.output is None:
            continue
        reasons = sum(row.matches(features_of(case, expected)) for row in rivals)
        arrays = [array for array in (*case.arrays(), expected.output) if array is not None]
        key = (reasons, result["outcome"] == "crash", sum(array.size for array in arrays), case.id)
        found.append((key, case, result))
    return [(case, result) for _, case, result in sorted(found, key=lambda row: row[0])]


def add_repros(commands: Any) -> None:
    """Adds ``repros`` to the commands of ``padops conformance``."""
    about = (
        "Write a script for each known wrong answer in a report, as repro prints them, and a README.md that lists them."
    )
    parser = commands.add_parser("repros", help="write a script for each known wrong answer", description=about)
    parser.add_argument("file", metavar="FILE", help="a report, conformance.jsonl")
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="where the scripts go")
    parser.set_defaults(run=_repros)


def _repros(options: argparse.Namespace) -> int:
    try:
        for path in write(options.file, options.out):
            say(path)
    except (OSError, ValueError, RecordError) as error:
        return fail(error)
    return 0
