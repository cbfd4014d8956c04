"""``-DPADOPS_ORT_INCLUDE_DIR=DIR`` checks csrc/ort/ort_abi.h: a right header compiles, and a wrong one fails.

The wheels of onnxruntime have no header. Debian has it in libonnxruntime-dev, from Debian 13 on; where that is
installed, or where the environment names a folder in PADOPS_ORT_INCLUDE_DIR, the check runs beside the official header.
Elsewhere it runs beside a stand-in. The stand-in is written here a second time and takes nothing from ort_abi.h: a
number that changes there alone is noticed. ort_abi.h was proved against the headers of ONNX Runtime 1.21.0, 1.23.2 and
1.27.1.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cpp_builds import ROOT, cmake

FOLDER = Path(os.environ.get("PADOPS_ORT_INCLUDE_DIR", "/usr/include/onnxruntime"))
OFFICIAL = [*FOLDER.glob("onnxruntime_c_api.h")]

# Slot, name, result and arguments of each entry of OrtApi that padops calls. Of a type only its size counts:
# p is a pointer, i an int or an enumeration, z a size_t, u a uint32_t, b a bool, v nothing.
CODES = {"p": "void*", "i": "int", "z": "size_t", "v": "void", "u": "uint32_t", "b": "bool"}
ENTRIES = """
0 CreateStatus p ip; 2 GetErrorMessage p p; 26 CreateCustomOpDomain p pp; 27 CustomOpDomain_Add p pp;
28 AddCustomOpDomain p pp; 51 GetTensorMutableData p pp; 52 FillStringTensor p ppz; 53 GetStringTensorDataLength p pp;
54 GetStringTensorContent p ppzpz; 55 CastTypeInfoToTensorInfo p pp; 57 CreateTensorTypeAndShapeInfo p p;
58 SetTensorElementType p pi; 59 SetDimensions p ppz; 60 GetTensorElementType p pp; 61 GetDimensionsCount p pp;
62 GetDimensions p ppz; 63 GetSymbolicDimensions p ppz; 65 GetTensorTypeAndShape p pp;
85 KernelInfoGetAttribute_float p ppp; 86 KernelInfoGetAttribute_int64 p ppp; 87 KernelInfoGetAttribute_string p pppp;
90 KernelContext_GetInput p pzp; 91 KernelContext_GetOutput p pzpzp; 93 ReleaseStatus v p; 98 ReleaseTypeInfo v p;
99 ReleaseTensorTypeAndShapeInfo v p; 162 KernelInfoGetAttributeArray_float p pppp;
163 KernelInfoGetAttributeArray_int64 p pppp; 230 KernelInfo_GetInputCount p pp; 234 KernelInfo_GetInputTypeInfo p pzp;
237 HasSessionConfigEntry p ppp; 238 GetSessionConfigEntry p pppp; 244 KernelInfo_GetNodeName p ppp;
249 KernelInfoGetConstantInput_tensor p pzpp; 252 GetResizedStringTensorElementBuffer p pzzp;
268 ShapeInferContext_GetInputTypeShape p pzp; 269 ShapeInferContext_GetAttribute p ppp;
270 ShapeInferContext_SetOutputTypeShape p pzp; 271 SetSymbolicDimensions p ppz; 272 ReadOpAttr p pipzp;
274 KernelContext_ParallelFor p ppzzp; 289 GetValueInfoName p pp; 290 GetValueInfoTypeInfo p pp;
295 CreateKeyValuePairs v p; 296 AddKeyValuePair v ppp; 298 GetKeyValuePairs v pppp; 300 ReleaseKeyValuePairs v p;
307 HardwareDevice_Type i p; 317 GetEpApi p; 326 ValueInfo_GetInitializerValue p pp;
331 ValueInfo_IsConstantInitializer p pp; 344 Graph_GetNumNodes p pp; 345 Graph_GetNodes p ppz;
346 Graph_GetParentNode p pp; 349 Node_GetName p pp; 350 Node_GetOperatorType p pp; 351 Node_GetDomain p pp;
352 Node_GetSinceVersion p pp; 353 Node_GetNumInputs p pp; 354 Node_GetInputs p ppz; 361 Node_GetAttributeByName p ppp;
379 GetSessionOptionsConfigEntries p pp; 390 TensorTypeAndShape_HasShape b p;
414 GetTensorElementTypeAndShapeDataReference p pppp
"""

# The same of OrtEpApi.
EP_ENTRIES = """
0 CreateEpDevice p ppppp; 2 EpGraphSupportInfo_AddNodesToFuse p ppzp; 3 EpGraphSupportInfo_AddSingleNode p pp;
18 CreateKernelRegistry p p; 19 ReleaseKernelRegistry v p; 20 KernelRegistry_AddKernel p pppp;
21 CreateKernelDefBuilder p p; 22 ReleaseKernelDefBuilder v p; 23 KernelDefBuilder_SetOperatorType p pp;
24 KernelDefBuilder_SetDomain p pp; 25 KernelDefBuilder_SetSinceVersion p pii;
26 KernelDefBuilder_SetExecutionProvider p pp; 29 KernelDefBuilder_AddTypeConstraint p pppz;
32 KernelDefBuilder_Build p pp; 33 ReleaseKernelDef v p; 40 GetTensorDataType p ip;
41 EpGraphSupportInfo_LookUpKernel p ppp
"""


Slots = dict[int, tuple[str, str, str]]


def table(entries: str) -> Slots:
    rows = (entry.split() for entry in entries.split(";"))
    return {int(slot): (name, returned, "".join(arguments)) for slot, name, returned, *arguments in rows}


SLOTS, EP_SLOTS = table(ENTRIES), table(EP_ENTRIES)
# The fields of the structures of an execution provider behind their version; what padops leaves null has no arguments.
STRUCTURES = {
    "OrtKernelImpl": "uint32_t flags; Compute p pp; Release v p; PrePackWeight v; SetSharedPrePackedWeight v",
    "OrtNodeComputeInfo": "CreateState p ppp; Compute p ppp; ReleaseState v pp",
    "OrtEp": """GetName p p; GetCapability p ppp; Compile p pppzpp; ReleaseNodeComputeInfos v ppz;
        GetPreferredDataLayout v; ShouldConvertDataLayoutForOp v; SetDynamicOptions v; OnRunStart v;
        OnRunEnd v; CreateAllocator v; CreateSyncStreamForDevice v;
        GetCompiledModelCompatibilityInfo v; GetKernelRegistry p pp; IsConcurrentRunSupported p pp""",
    "OrtEpFactory": """GetName p p; GetVendor p p; GetSupportedDevices p ppzpzp; CreateEp p pppzppp; ReleaseEp v pp;
        GetVendorId u p; GetVersion p p; ValidateCompiledModelCompatibilityInfo v; CreateAllocator v;
        ReleaseAllocator v; CreateDataTransfer p pp; IsStreamAware b p; CreateSyncStreamForDevice v;
        GetHardwareDeviceIncompatibilityDetails v; CreateExternalResourceImporterForDevice v;
        GetNumCustomOpDomains p pp; GetCustomOpDomains p ppz""",
}
# The fields of OrtCustomOp behind its version.
FIELDS = """
CreateKernel p ppp; GetName p p; GetExecutionProviderType p p; GetInputType i pz; GetInputTypeCount z p;
GetOutputType i pz; GetOutputTypeCount z p; KernelCompute v pp; KernelDestroy v p; GetInputCharacteristic i pz;
GetOutputCharacteristic i pz; GetInputMemoryType i pz; GetVariadicInputMinArity i p; GetVariadicInputHomogeneity i p;
GetVariadicOutputMinArity i p; GetVariadicOutputHomogeneity i p; CreateKernelV2 p pppp; KernelComputeV2 p pp;
InferOutputShapeFn p pp; GetStartVersion i p; GetEndVersion i p; GetMayInplace z pp; ReleaseMayInplace v pp;
GetAliasMap z pp; ReleaseAliasMap v pp
"""
# In the order of ONNXTensorElementDataType; padops has none of complex numbers.
TYPES = """
undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128
bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 uint2 int2 float8e8m0
""".split()


def function(name: str, returned: str, arguments: str) -> str:
    """A pointer to a function as a field."""
    return f"  {CODES[returned]} (*{name})({', '.join(CODES[code] for code in arguments)});\n"


def functions(slots: Slots) -> str:
    """A table of functions as fields, with others between those that are named."""
    return "".join(function(*slots.get(i, (f"other_{i}", "v", ""))) for i in range(max(slots) + 1))


def structure(name: str, fields: str) -> str:
    """Return the definition of one structure of an execution provider."""
    rows = [field.split() for field in fields.split(";")]
    body = "".join(
        f"  {' '.join(row)};\n" if row[0] == "uint32_t" else function(*row, *[""] * (3 - len(row))) for row in rows
    )
    return f"struct {name} {{\n  uint32_t ort_version_supported;\n{body}}};\n"


def stand_in(slots: Slots = SLOTS, types: list = TYPES, ep: Slots = EP_SLOTS, structures: dict = STRUCTURES) -> str:
    """A header with the official one's names, and functions in these slots."""
    provider = "".join(structure(name, fields) for name, fields in structures.items())
    fields = "".join(function(*field.split()) for field in FIELDS.split(";"))
    enumerators = ", ".join(f"ONNX_TENSOR_ELEMENT_DATA_TYPE_{name.upper()}" for name in types)
    return (
        "#include <cstddef>\n#include <cstdint>\n#define ORT_API_VERSION 27\n"
        f"struct OrtApi {{\n{functions(slots)}}};\n"
        f"struct OrtEpApi {{\n{functions(ep)}}};\n{provider}"
        "struct OrtApiBase { const OrtApi* (*GetApi)(uint32_t); const char* (*GetVersionString)(); };\n"
        f"struct OrtCustomOp {{\n  uint32_t version;\n{fields}}};\n"
        "enum OrtErrorCode { ORT_OK, ORT_FAIL, ORT_INVALID_ARGUMENT };\n"
        "enum OrtCustomOpInputOutputCharacteristic { INPUT_OUTPUT_REQUIRED, INPUT_OUTPUT_OPTIONAL };\n"
        "enum OrtOpAttrType { ORT_OP_ATTR_UNDEFINED, ORT_OP_ATTR_INT, ORT_OP_ATTR_INTS, ORT_OP_ATTR_FLOAT,\n"
        "  ORT_OP_ATTR_FLOATS, ORT_OP_ATTR_STRING };\n"
        "enum OrtHardwareDeviceType { OrtHardwareDeviceType_CPU };\n"
        "enum OrtMemType { OrtMemTypeDefault };\n"
        f"enum ONNXTensorElementDataType {{ {enumerators} }};\n"
    )


def moved(slot: int, slots: Slots = SLOTS) -> Slots:
    """The table with the function of one slot one further up, as if the header had another entry before it."""
    return {(at + 1 if at == slot else at): entry for at, entry in slots.items()}


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess]:
    """Builds the check beside a header, as CMake does."""
    folder = tmp_path_factory.mktemp("abi")
    header = folder / "include" / "onnxruntime_c_api.h"
    header.parent.mkdir()
    configure = [cmake(), "-S", str(ROOT), "-B", str(folder / "build"), f"-DPADOPS_ORT_INCLUDE_DIR={header.parent}"]
    subprocess.run(configure, check=True, capture_output=True)

    def build(text: str, beside: Path | None = None) -> subprocess.CompletedProcess:
        for other in sorted(beside.glob("*.h")) if beside else ():  # which the official one includes
            (header.parent / other.name).write_bytes(other.read_bytes())
        header.write_text(text, encoding="utf-8")
        command = [cmake(), "--build", str(folder / "build"), "--target", "padops_ort_abi_check"]
        return subprocess.run(command, capture_output=True, text=True)

    return build


@pytest.mark.parametrize("header", [None, *OFFICIAL], ids=lambda header: "official" if header else "stand-in")
def test_right_header(check, header: Path | None) -> None:
    built = check(header.read_text(encoding="utf-8"), header.parent) if header else check(stand_in())
    assert built.returncode == 0, built.stdout + built.stderr


MOVED = (65, 91, 274, 414)
GET_NAME = function("GetName", "p", "p")
CHANGED = {  # a field of a structure of an execution provider, and what is in its place; what is said of it
    ("OrtKernelImpl", "Release", "added v; Release"): "OrtKernelImpl::Release moved",
    ("OrtEp", "GetKernelRegistry", "added v; GetKernelRegistry"): "OrtEp::GetKernelRegistry moved",
    ("OrtEp", "GetCapability p ppp", "GetCapability p pp"): "OrtEp::GetCapability differs",
    ("OrtEpFactory", "GetVersion", "added v; GetVersion"): "OrtEpFactory::CreateDataTransfer moved",
}


def test_wrong_header(check) -> None:
    """Each entry that moved or differs is named, by a static assertion; nothing else is wrong with the header."""
    slots, structures = {**SLOTS, 51: ("GetTensorMutableData", "p", "ip")}, dict(STRUCTURES)
    for slot in MOVED:
        slots = moved(slot, slots)
    for name, before, after in CHANGED:
        structures[name] = structures[name].replace(before, after)
    types = [{"uint2": "int2", "int2": "uint2"}.get(name, name) for name in TYPES]
    header = stand_in(slots, types, moved(41, EP_SLOTS), structures)
    *others, custom = header.partition("struct OrtCustomOp")
    built = check("".join(others) + custom.replace(GET_NAME, "  void (*added)();\n" + GET_NAME))
    errors = [line for line in (built.stdout + built.stderr).splitlines() if " error: " in line]
    assert built.returncode and all("static assert" in line for line in errors), errors
    wanted = [f"OrtApi::{SLOTS[slot][0]} is not in slot {slot}" for slot in MOVED]
    wanted += ["OrtEpApi::EpGraphSupportInfo_LookUpKernel is not in slot 41", *CHANGED.values(), "uint2"]
    wanted += ["OrtApi::GetTensorMutableData differs", "OrtCustomOp::InferOutputShapeFn moved"]
    for message in wanted:
        assert any(message in line for line in errors), message
