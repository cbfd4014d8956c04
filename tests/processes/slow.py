"""Which tests ``scripts/test.py`` leaves out unless --all, --peers or --rest is given, so that it ends within minutes.

A run of all tests names at its end each other file that took long.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

# The names of files, by their folder below tests/.
NAMES = {
    "bench": "bench",
    "conformance": """conformance conformance_export conformance_judging conformance_page
        conformance_repro peer_commands peer_files""",
    "convert/files": "convert_processes",
    "convert/inputs": "convert_broken_inputs",
    "convert/matchers": "convert_auto_pad_places convert_emulated_property convert_emulated_torch",
    "convert/model": "convert_scaling",
    "convert/readers": "convert_openvino_files",
    "convert/standard": "fallback for_provider fusions lowering",
    "convert/targets": "convert_pyop",
    "convert/verify": "crafted_pairs verify_not_run verify_pads verify_proofs verify_providers",
    "csrc": "cpp_programs engine_check load ort_abi other_compilers property sanitizers",
    "exporters": "torch_export",
    "files": "streams",
    "probe": "probe_process probe_rules",
    "recipes": "extensions",
    "runtime": "beside_real_providers provider_in_front pyop_process",
    "": "ci cli_folder cli_verify documents extras library rest roads start",
}
FILES = [str(Path(folder, f"test_{name}.py")) for folder, names in NAMES.items() for name in names.split()]
MORE = "PADOPS_LONG" in os.environ  # tests/long/long_counts.py: tests draw, try and repeat more
LONG = 20.0  # seconds of a file, from which on it belongs to the list
LEFT_OUT = (
    f"LEFT OUT for time: the {len(FILES)} files of tests/processes/slow.py; python3 scripts/test.py --all runs them"
)


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--without-slow", action="store_true", help="leave out what takes long (tests/processes/slow.py)")


def is_slow(name: str) -> bool:
    return name.partition("::")[0].removeprefix("tests/") in FILES


def said(config: pytest.Config) -> list[str]:
    return [LEFT_OUT] if config.getoption("--without-slow") else []


def unlisted(reports: Iterable[pytest.TestReport]) -> list[str]:
    """A line for each file that took long and is not in the list, the slowest first."""
    seconds: Counter[str] = Counter()
    for report in reports:
        seconds[report.nodeid.partition("::")[0]] += report.duration
    return [
        f"SLOW and not in tests/processes/slow.py: {file}, {spent:.0f} s"
        for file, spent in seconds.most_common()
        if spent > LONG and not is_slow(file)
    ]
