"""Which fast tests look at a source: the map from its place to what is built and run, the quickest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
Stage = tuple[str, ...]

CSRC, CONVERT = "padops/csrc/", "padops/convert/"
ENGINE = "copy/ core/engine core/runs core/streaming core/thresholds core/sharing"
# Each row: how paths begin, and the tests; a source has those of the first row that fits it.
NATIVE_TESTS = (
    (ENGINE, "csrc: inputs kernels"),
    ("core/provider_rules ort/compiled_pad ort/pad_node",
     "csrc: describe runtime: provider_in_front provider beside_real_providers"),
    ("ort/builtin_pad ort/provider",
     "runtime: provider provider_in_front placing session_optimizers inference_session"),
    ("ort/", "csrc: errors inputs describe kernels runtime: session provider placing"),
    ("core/", "csrc: errors describe inputs kernels spec: specifications runtime: provider"),
)  # fmt: skip
# What reads, writes and runs models; most of the converter is in its way.
ROADS = "convert/files: outputs files"
MATCHERS = "convert/matchers: forms functions frameworks convert/folding: folding"
INSPECTION = "convert: inspection inspection_verdicts"
PROOFS = """verify/build verify/constants verify/fallbacks verify/folds verify/inference verify/moves/ verify/pad_terms
    verify/proof verify/schemas verify/terms"""
CONVERT_TESTS = (
    ("files.py", "convert/files: outputs files processes"),
    ("streams", "convert/files: processes outputs"),
    ("folding", "convert/folding: folding"),
    ("ir/", "convert/readers: openvino_layers broken_irs openvino_files"),
    ("model/", f"convert/model: broken_models types {MATCHERS} {ROADS}"),
    ("matchers/auto_pad", "convert/matchers: auto_pad auto_pad_places functions"),
    ("matchers/emulated", "convert/matchers: emulated emulated_property"),
    ("matchers/maps", "convert/matchers: emulated emulated_property"),
    ("runtimes", f"convert: inspection_providers inspection_verdicts {MATCHERS}"),
    ("pads/window", f"convert/matchers: auto_pad auto_pad_places {MATCHERS}"),
    ("matchers/ pads/ analysis", f"{MATCHERS} {INSPECTION}"),
    ("standard/", "convert/standard: stock_fallbacks lowering fallback"),
    ("rewrite", f"convert/standard: stock_fallbacks convert/targets: pyop {MATCHERS} {ROADS}"),
    ("verify/providers", "convert/verify: verify_providers"),
    ("inputs/given", "convert/inputs: broken_inputs convert/verify: verify"),
    ("inputs/", "convert/inputs: random_inputs convert/verify: crafted_pairs verify verify_pads"),
    ("verify/interface", "convert/verify: verify"),
    ("verify/choice", "convert/verify: verify verify_not_run"),
    ("verify/rounding", "convert/verify: verify verify_pads"),
    ("verify/compare", "convert/verify: verify_pads"),
    ("verify/openvino", "convert/verify: verify_providers convert/readers: openvino_files"),
    (PROOFS, "convert/verify: verify_proofs crafted_pairs"),
    ("verify/", "convert/verify: verify verify_pads convert/inputs: random_inputs"),
    ("inspection", f"{INSPECTION} inspection_providers"),
    ("records", f"{INSPECTION} {MATCHERS}"),
    ("", f"convert: python_arguments inspection {MATCHERS} {ROADS}"),
)


def stages_of(file: str) -> Iterator[Stage]:
    """Yield what to build and run for a changed source: ``("build", target)``, ``("program", …)``, ``("pytest", …)``.

    Args:
        file: Its path from the checkout's root. Where there is no table, the tests of the folder's name run.
    """
    folder = f"{Path(*Path(file).parts[:2])}/"
    place, table = file.removeprefix(folder), {CSRC: NATIVE_TESTS, CONVERT: CONVERT_TESTS}.get(folder, ())
    if folder == CSRC and place.startswith(tuple(ENGINE.split())):
        yield "build", "engine_check"
        yield "program", "engine_check", "--every-way"
        yield "program", "engine_check", "--replay", "tests/cpp/corpus.hex"
        # What is read or written where nobody may, though nothing comes of it.
        yield "pytest", "tests/csrc/test_engine_check.py::test_addresses_and_undefined_behaviour"
    yield "build", "padops"  # for Python: as it was before a break in C++
    if table:
        fits = lambda begins: place.startswith(tuple(begins.split()) or "")
        yield "pytest", *named(next(tests for begins, tests in table if fits(begins)))
    else:
        name, tests = Path(folder).stem, ROOT / "tests"
        found = [*tests.glob(f"{name}/test_*.py"), *tests.glob(f"test_*{name}*.py")]
        yield "pytest", *sorted(path.relative_to(ROOT).as_posix() for path in found)
    if folder == CSRC and place.startswith("ort/"):
        yield "build", "out_of_memory"
        yield ("program", "out_of_memory")


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
