"""``-DPADOPS_ORT_INCLUDE_DIR=DIR`` proves csrc/ort/ort_abi.h: it builds beside a right header and fails beside a wrong one.

The official header is not at hand where the tests run. A stand-in is made of the same table, so this tests the check,
not the table; the table itself was proved against the headers of ONNX Runtime 1.21.0, 1.23.2 and 1.27.1.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest
from cpp_builds import ROOT, cmake

from padops.spec.dtypes import DTYPES

ABI = (ROOT / "padops" / "csrc" / "ort" / "ort_abi.h").read_text(encoding="utf-8")
ENTRIES = [
    entry
    for table in ("SLOTS", "LATER_SLOTS")
    for entry in re.search(rf"#define PADOPS_ORT_{table}\(X\)(.*?)\n\n", ABI, re.DOTALL).group(1).split("X(")[1:]
]
SLOTS = {
    int(slot): (name, returned, re.sub(r"\s+", " ", arguments))
    for slot, name, returned, arguments in (
        re.fullmatch(r"(?:\d+, )?(\d+), (\w+), ([^,]+),\s*(\(.*\))\)\s*", entry.replace("\\", " "), re.DOTALL).groups()
        for entry in ENTRIES
    )
}


def stand_in(slots: dict[int, tuple[str, str, str]], types: dict[str, int]) -> str:
    """A header with the official one's names, and functions in these slots."""
    opaque = "".join(f"struct {name};\n" for name in re.findall(r"^struct (\w+);", ABI, re.MULTILINE))
    custom_op = (
        re.search(r"struct CustomOp \{.*?\n\};", ABI, re.DOTALL).group().replace("CustomOp {", "OrtCustomOp {", 1)
    )
    entries = []
    for slot in range(max(slots) + 1):
        name, returned, arguments = slots.get(slot, (f"other_{slot}", "void", "()"))
        entries.append(f"  {returned} (*{name}){arguments};\n")
    enumerators = ", ".join(f"ONNX_TENSOR_ELEMENT_DATA_TYPE_{name.upper()} = {value}" for name, value in types.items())
    return (
        "#include <cstddef>\n#include <cstdint>\n#define ORT_API_VERSION 27\n"
        f"struct Api;\n{opaque}struct OrtApi {{\n{''.join(entries)}}};\n"
        "struct OrtApiBase { const OrtApi* (*GetApi)(uint32_t); const char* (*GetVersionString)(); };\n"
        f"{custom_op}\nenum OrtErrorCode {{ ORT_OK, ORT_FAIL, ORT_INVALID_ARGUMENT }};\n"
        "enum OrtCustomOpInputOutputCharacteristic { INPUT_OUTPUT_REQUIRED, INPUT_OUTPUT_OPTIONAL };\n"
        "enum OrtOpAttrType { ORT_OP_ATTR_UNDEFINED, ORT_OP_ATTR_INT, ORT_OP_ATTR_INTS };\n"
        "enum OrtMemType { OrtMemTypeDefault };\n"
        f"enum ONNXTensorElementDataType {{ {enumerators} }};\n"
    )


TYPES = {"undefined": 0, **{dtype.name: dtype.ort for dtype in DTYPES}}


def moved(slot: int) -> dict[int, tuple[str, str, str]]:
    """The table with the function of one slot one further up, as if the header had another entry before it."""
    return {(at + 1 if at == slot else at): entry for at, entry in SLOTS.items()}


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], subprocess.CompletedProcess]:
    """Builds the check beside a header, as CMake does."""
    folder = tmp_path_factory.mktemp("abi")
    header = folder / "include" / "onnxruntime_c_api.h"
    header.parent.mkdir()
    configure = [cmake(), "-S", str(ROOT), "-B", str(folder / "build"), f"-DPADOPS_ORT_INCLUDE_DIR={header.parent}"]
    subprocess.run(configure, check=True, capture_output=True)

    def build(text: str) -> subprocess.CompletedProcess:
        header.write_text(text, encoding="utf-8")
        command = [cmake(), "--build", str(folder / "build"), "--target", "padops_ort_abi_check"]
        return subprocess.run(command, capture_output=True, text=True)

    return build


def test_every_slot_is_read() -> None:
    """The table that this file takes out of the source is whole."""
    assert len(SLOTS) == len(ENTRIES) == ABI.count("\n  X(") > 30


def failed(built: subprocess.CompletedProcess) -> str:
    """The static assertions that failed; nothing else may have."""
    assert built.returncode != 0
    errors = [line for line in (built.stdout + built.stderr).splitlines() if " error: " in line]
    assert errors and all("static assertion failed" in line or "static_assert failed" in line for line in errors), (
        errors
    )
    return "\n".join(errors)


def test_right_header(check) -> None:
    built = check(stand_in(SLOTS, TYPES))
    assert built.returncode == 0, built.stdout + built.stderr


@pytest.mark.parametrize("slot", [51, 91, 274, 414])
def test_moved_slot(check, slot: int) -> None:
    assert f"OrtApi::{SLOTS[slot][0]} is not in slot {slot}" in failed(check(stand_in(moved(slot), TYPES)))


@pytest.mark.parametrize(
    "arguments", ["(Value* value)", "(Value* value, int out)", "(int* value, void** out, size_t n)"]
)
def test_other_arguments(check, arguments: str) -> None:
    text = stand_in({**SLOTS, 51: ("GetTensorMutableData", "Status*", arguments)}, TYPES)
    assert "OrtApi::GetTensorMutableData differs" in failed(check(text))


def test_moved_field(check) -> None:
    first = "  const char* (*GetName)"
    text = stand_in(SLOTS, TYPES).replace(first, "  void (*added)();\n" + first)
    assert "OrtCustomOp::InferOutputShapeFn moved" in failed(check(text))


def test_other_type_id(check) -> None:
    text = stand_in(SLOTS, {**TYPES, "uint2": TYPES["int2"], "int2": TYPES["uint2"]})
    assert "uint2" in failed(check(text))
