"""Which fast tests look at a source: the map from its place to what is built and run, the quickest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
Stage = tuple[str, ...]

CSRC, CONVERT = "padops/csrc/", "padops/convert/"
ENGINE = ("copy/", "core/engine", "core/runs", "core/streaming", "core/thresholds", "core/sharing")
PROVIDER = ("ort/builtin_pad", "ort/provider")
BESIDE = ("core/provider_rules", "ort/compiled_pad", "ort/pad_node")
# Each row: how a path begins, and the tests; a source has those of the first row that fits it.
NATIVE_TESTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (ENGINE, "csrc: sharing inputs kernels"),
    (
        BESIDE,
        "csrc: describe rules_in_the_build "
        "runtime: provider_in_front_rare provider_in_front provider_needed beside_libraries",
    ),
    (
        PROVIDER,
        "runtime: provider_needed provider_in_front provider provider_registration "
        "provider_operators session_optimizers "
        "inference_session",
    ),
    (
        ("ort/",),
        "csrc: errors inputs inference describe float16 kernels runtime: session provider provider_operators",
    ),
    (
        ("core/",),
        "csrc: errors describe float16 inference inputs kernels spec: same_padding runtime: provider",
    ),
)
# What reads, writes and runs models; most of the converter is in its way.
ROADS = "convert/files: outputs files"
MATCHERS = (
    "convert/matchers: forms functions frameworks everything_else convert/pads: pad_info convert/runtimes: select"
)
PROOFS = "convert/verify: verify_proofs crafted_pairs"
CONVERT_TESTS: tuple[tuple[str, str], ...] = (
    ("files.py", "convert/files: outputs files processes"),
    ("streams", "convert/files: processes outputs"),
    ("folding", "convert/folding: folding rows consumers random"),
    ("ir/", "convert/readers: openvino_layers broken_irs openvino_files"),
    ("model/", f"convert/model: broken_models {MATCHERS} {ROADS} convert/folding: folding"),
    ("matchers/auto_pad", "convert/matchers: auto_pad auto_pad_places everything_else"),
    ("matchers/emulated", "convert/matchers: symmetric_emulation emulated emulated_property"),
    ("matchers/maps", "convert/matchers: emulated emulated_property"),
    ("runtimes", f"convert: inspection_providers inspection_verdicts {MATCHERS}"),
    ("matchers/", f"{MATCHERS} convert: inspection inspection_verdicts"),
    ("pads/window", f"convert/matchers: auto_pad auto_pad_places everything_else {MATCHERS}"),
    ("pads/", f"{MATCHERS} convert: inspection inspection_verdicts"),
    (
        "standard/",
        "convert/standard: nesting lowering fallback convert/targets: without_pad",
    ),
    ("rewrite", f"convert/targets: without_pad pyop {MATCHERS} {ROADS}"),
    ("verify/providers", "convert/verify: verify_providers"),
    ("inputs/given", "convert/inputs: broken_inputs convert/verify: verify"),
    ("inputs/", "convert/inputs: random_inputs convert/verify: crafted_pairs verify verify_pads"),
    ("verify/interface", "convert/verify: verify"),
    ("verify/choice", "convert/verify: verify verify_not_run"),
    ("verify/rounding", "convert/verify: verify verify_pads"),
    ("verify/compare", "convert/verify: verify_pads"),
    ("verify/openvino", "convert/verify: verify_providers convert/readers: openvino_files"),
    *(
        (f"verify/{name}", PROOFS)
        for name in (
            "build",
            "constants",
            "fallbacks",
            "folds",
            "inference",
            "moves/",
            "pad_terms",
            "proof",
            "schemas",
            "terms",
        )
    ),
    ("verify/", "convert/verify: verify verify_pads convert/inputs: random_inputs"),
    ("inspection", "convert: inspection inspection_verdicts inspection_providers"),
    ("analysis", f"{MATCHERS} convert: inspection inspection_verdicts"),
    ("records", f"convert: inspection inspection_verdicts {MATCHERS}"),
    ("", f"convert: python_arguments inspection {MATCHERS} {ROADS} convert/folding: folding"),
)


def stages_of(file: str) -> Iterator[Stage]:
    """Return what to build and run for a changed source: ``("build", target)``, ``("program", …)``, ``("pytest", …)``.

    Args:
        file: Its path from the checkout's root.
    """
    if file.startswith(CSRC):
        place = file.removeprefix(CSRC)
        if place.startswith(ENGINE):
            yield "build", "engine_check"
            yield "program", "engine_check", "--every-way"
            yield "program", "engine_check", "--replay", "tests/cpp/corpus.hex"
            # What is read or written where nobody may, though nothing comes of it.
            yield "pytest", "tests/csrc/test_engine_check.py::test_addresses_and_undefined_behaviour"
        yield "build", "padops"
        yield "pytest", *next(named(tests) for begins, tests in NATIVE_TESTS if place.startswith(begins))
        if place.startswith("ort/"):
            yield "build", "out_of_memory"
            yield ("program", "out_of_memory")
    else:
        place = file.removeprefix(CONVERT)
        yield "build", "padops"  # as it was before a break in C++
        yield "pytest", *next(named(tests) for begins, tests in CONVERT_TESTS if place.startswith(begins))


def named(tests: str) -> Iterator[str]:
    """The files of tests: of each ``folder:``, those whose names, without what all begin with, follow it.

    Raises:
        FileNotFoundError: There is no such file.
    """
    folder = ""
    for word in tests.split():
        if word.endswith(":"):
            folder = f"tests/{word[:-1]}"
            continue
        places = [f"{folder}/test_{middle}{word}.py" for middle in ("", "convert_", "convert_folding_")]
        found = next((place for place in places if (ROOT / place).is_file()), None)
        if found is None:
            raise FileNotFoundError(f"none of {', '.join(places)}")
        yield found
