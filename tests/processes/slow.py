"""Which tests ``scripts/test.py`` leaves out unless --all, --peers or --rest is given, so that it ends within minutes.

A run of all tests names at its end each other file that took long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

# Files, below tests/.
FILES = (
    "bench/test_bench_copies.py",
    "bench/test_bench_interrupted.py",
    "bench/test_bench_providers.py",
    "conformance/test_conformance.py",
    "conformance/test_conformance_export.py",
    "conformance/test_conformance_judging.py",
    "conformance/test_conformance_page.py",
    "conformance/test_conformance_refusals.py",
    "conformance/test_conformance_repro.py",
    "conformance/test_conformance_versions.py",
    "conformance/test_isolated_peers.py",
    "conformance/test_peer_commands.py",
    "conformance/test_peer_files.py",
    "conformance/test_peers_web_webgpu.py",
    "convert/files/test_convert_killed.py",
    "convert/files/test_convert_streams.py",
    "convert/matchers/test_convert_auto_pad_places.py",
    "convert/matchers/test_convert_emulated_property.py",
    "convert/matchers/test_convert_emulated_torch.py",
    "convert/model/test_convert_scaling.py",
    "convert/model/test_mutations.py",
    "convert/readers/test_convert_openvino_files.py",
    "convert/standard/test_fallback.py",
    "convert/standard/test_fusions.py",
    "convert/standard/test_lowering.py",
    "convert/targets/test_convert_pyop.py",
    "convert/verify/test_crafted_pairs.py",
    "convert/verify/test_planted_breaks.py",
    "convert/verify/test_verify_openvino.py",
    "convert/verify/test_verify_openvino_peer.py",
    "convert/verify/test_verify_pads.py",
    "convert/verify/test_verify_proofs.py",
    "convert/verify/test_verify_providers.py",
    "csrc/test_engine_check.py",
    "csrc/test_large.py",
    "csrc/test_load.py",
    "csrc/test_ort_abi.py",
    "csrc/test_other_compilers.py",
    "csrc/test_out_of_memory.py",
    "csrc/test_property.py",
    "csrc/test_provider_threads.py",
    "csrc/test_replay.py",
    "csrc/test_rows.py",
    "csrc/test_sanitizers.py",
    "csrc/test_session_fuzz.py",
    "exporters/test_torch_export.py",
    "files/test_streams.py",
    "probe/test_probe_process.py",
    "runtime/test_beside_libraries.py",
    "runtime/test_beside_real_providers.py",
    "runtime/test_beside_suite.py",
    "runtime/test_provider_in_front.py",
    "runtime/test_pyop_process.py",
    "spec/test_spec_in_cpp.py",
    "test_ci.py",
    "test_cli_folder.py",
    "test_cli_hostile.py",
    "test_cli_verify.py",
    "test_documents.py",
    "test_fetch_models.py",
    "test_library.py",
    "test_rest.py",
    "test_roads.py",
    "test_together.py",
)
LONG = 20.0  # seconds of a file, from which on it belongs to the list
LEFT_OUT = (
    f"LEFT OUT for time: the {len(FILES)} files of tests/processes/slow.py; python3 scripts/test.py --all runs them"
)


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--without-slow", action="store_true", help="leave out what takes long (tests/processes/slow.py)")


def is_slow(name: str) -> bool:
    """Return whether a test or a file is left out, by its name."""
    return name.partition("::")[0].removeprefix("tests/") in FILES


def said(config: pytest.Config) -> list[str]:
    """What is left out for time, in a line."""
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
