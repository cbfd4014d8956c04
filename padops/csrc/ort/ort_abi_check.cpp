// Checks ort_abi.h, provider_abi.h and the ORT ids of types.inc against the official header; compiled only with cmake
// -DPADOPS_ORT_INCLUDE_DIR=<folder of onnxruntime_c_api.h>, and never part of the library.
#include <onnxruntime_c_api.h>

#include <array>
#include <string_view>
#include <type_traits>

#include "ort/ort_abi.h"
#include "ort/provider_abi.h"

namespace padops::ort {

namespace {

// The part of a function that matters to the calling convention: for the result and each argument, the size and whether
// it is a pointer, to functions included. The names of the types differ on purpose.
template <class Type>
constexpr int seen() {
  if constexpr (std::is_void_v<Type>) return 0;
  else return std::is_pointer_v<Type> ? -1 : static_cast<int>(sizeof(Type));
}

template <class Function>
struct Signature;
template <class Result, class... Arguments>
struct Signature<Result (*)(Arguments...)> {
  static constexpr std::array<int, 1 + sizeof...(Arguments)> value{seen<Result>(), seen<Arguments>()...};
};
template <class Result, class... Arguments>
struct Signature<Result (*)(Arguments...) noexcept> : Signature<Result (*)(Arguments...)> {};

template <class Ours, class Theirs>
constexpr bool same_signature() {
  if constexpr (Signature<Ours>::value.size() != Signature<Theirs>::value.size()) return false;
  else return Signature<Ours>::value == Signature<Theirs>::value;
}

static_assert(ORT_API_VERSION >= kApiVersion, "the header is older than the API that padops asks for");

#define PADOPS_CHECK(slot, name, returned, arguments)                                                         \
  static_assert(offsetof(::OrtApi, name) == slot * sizeof(void*), "OrtApi::" #name " is not in slot " #slot); \
  static_assert(same_signature<Api::name##_fn, decltype(::OrtApi::name)>(), "OrtApi::" #name " differs");
PADOPS_ORT_SLOTS(PADOPS_CHECK)
// The header may be older than these.
#if ORT_API_VERSION >= 24
#define PADOPS_LATER_CHECK(since, slot, name, returned, arguments) \
  static_assert(since <= ORT_API_VERSION);                         \
  PADOPS_CHECK(slot, name, returned, arguments)
PADOPS_ORT_LATER_SLOTS(PADOPS_LATER_CHECK)
#undef PADOPS_LATER_CHECK
#endif
#undef PADOPS_CHECK

static_assert(offsetof(::OrtApiBase, GetApi) == offsetof(ApiBase, GetApi));
static_assert(offsetof(::OrtApiBase, GetVersionString) == offsetof(ApiBase, GetVersionString));

static_assert(offsetof(::OrtCustomOp, version) == offsetof(CustomOp, version));
static_assert(sizeof(::OrtCustomOp::version) == sizeof(CustomOp::version));
static_assert(sizeof(::OrtCustomOp) >= sizeof(CustomOp), "later headers may only append");

#define PADOPS_CHECK(field)                                                                                    \
  static_assert(offsetof(::OrtCustomOp, field) == offsetof(CustomOp, field), "OrtCustomOp::" #field " moved"); \
  static_assert(same_signature<decltype(CustomOp::field), decltype(::OrtCustomOp::field)>(),                   \
                "OrtCustomOp::" #field " differs");
PADOPS_CHECK(CreateKernel)
PADOPS_CHECK(GetName)
PADOPS_CHECK(GetExecutionProviderType)
PADOPS_CHECK(GetInputType)
PADOPS_CHECK(GetInputTypeCount)
PADOPS_CHECK(GetOutputType)
PADOPS_CHECK(GetOutputTypeCount)
PADOPS_CHECK(KernelCompute)
PADOPS_CHECK(KernelDestroy)
PADOPS_CHECK(GetInputCharacteristic)
PADOPS_CHECK(GetOutputCharacteristic)
PADOPS_CHECK(GetInputMemoryType)
PADOPS_CHECK(GetVariadicInputMinArity)
PADOPS_CHECK(GetVariadicInputHomogeneity)
PADOPS_CHECK(GetVariadicOutputMinArity)
PADOPS_CHECK(GetVariadicOutputHomogeneity)
PADOPS_CHECK(CreateKernelV2)
PADOPS_CHECK(KernelComputeV2)
PADOPS_CHECK(InferOutputShapeFn)
PADOPS_CHECK(GetStartVersion)
PADOPS_CHECK(GetEndVersion)
PADOPS_CHECK(GetMayInplace)
PADOPS_CHECK(ReleaseMayInplace)
PADOPS_CHECK(GetAliasMap)
PADOPS_CHECK(ReleaseAliasMap)
#undef PADOPS_CHECK

// The header may be older than kernel registries.
#if ORT_API_VERSION >= 24
#define PADOPS_CHECK(slot, name, returned, arguments)                                                             \
  static_assert(offsetof(::OrtEpApi, name) == slot * sizeof(void*), "OrtEpApi::" #name " is not in slot " #slot); \
  static_assert(same_signature<EpApi::name##_fn, decltype(::OrtEpApi::name)>(), "OrtEpApi::" #name " differs");
PADOPS_EP_SLOTS(PADOPS_CHECK)
#undef PADOPS_CHECK

// A field that the runtime calls, and one that stays null.
#define PADOPS_CHECK(type, field)                                                      \
  PADOPS_NULL(type, field)                                                             \
  static_assert(same_signature<decltype(type::field), decltype(::Ort##type::field)>(), \
                "Ort" #type "::" #field " differs");
#define PADOPS_NULL(type, field) \
  static_assert(offsetof(::Ort##type, field) == offsetof(type, field), "Ort" #type "::" #field " moved");
PADOPS_CHECK(KernelImpl, Compute)
PADOPS_CHECK(KernelImpl, Release)
PADOPS_CHECK(NodeComputeInfo, CreateState)
PADOPS_CHECK(NodeComputeInfo, Compute)
PADOPS_CHECK(NodeComputeInfo, ReleaseState)
PADOPS_CHECK(Ep, GetName)
PADOPS_CHECK(Ep, GetCapability)
PADOPS_CHECK(Ep, Compile)
PADOPS_CHECK(Ep, ReleaseNodeComputeInfos)
PADOPS_NULL(Ep, OnRunStart)
PADOPS_NULL(Ep, CreateAllocator)
PADOPS_CHECK(Ep, GetKernelRegistry)
PADOPS_CHECK(Ep, IsConcurrentRunSupported)
PADOPS_CHECK(EpFactory, GetName)
PADOPS_CHECK(EpFactory, GetVendor)
PADOPS_CHECK(EpFactory, GetSupportedDevices)
PADOPS_CHECK(EpFactory, CreateEp)
PADOPS_CHECK(EpFactory, ReleaseEp)
PADOPS_CHECK(EpFactory, GetVendorId)
PADOPS_CHECK(EpFactory, GetVersion)
PADOPS_NULL(EpFactory, CreateAllocator)
PADOPS_CHECK(EpFactory, CreateDataTransfer)
PADOPS_CHECK(EpFactory, IsStreamAware)
PADOPS_CHECK(EpFactory, GetNumCustomOpDomains)
PADOPS_CHECK(EpFactory, GetCustomOpDomains)
#undef PADOPS_CHECK
#undef PADOPS_NULL
static_assert(kCpu == int{OrtHardwareDeviceType_CPU});
#endif

static_assert(int{kOk} == int{ORT_OK} && int{kFail} == int{ORT_FAIL});
static_assert(int{kInvalidArgument} == int{ORT_INVALID_ARGUMENT});
static_assert(int{kRequired} == int{INPUT_OUTPUT_REQUIRED} && int{kOptional} == int{INPUT_OUTPUT_OPTIONAL});
static_assert(int{kInts} == int{ORT_OP_ATTR_INTS} && int{kFloat} == int{ORT_OP_ATTR_FLOAT});
static_assert(int{kString} == int{ORT_OP_ATTR_STRING});
static_assert(kUndefined == int{ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED});
static_assert(int{OrtMemTypeDefault} == 0, "what GetInputMemoryType returns");

struct Type {
  std::string_view name;
  int ort;
};

constexpr Type kTypes[] = {
#define PADOPS_TYPE(name, onnx, ort, bits, pad, since) {name, ort},
#include "core/types.inc"
#undef PADOPS_TYPE
};

constexpr int ort_id(std::string_view name) {
  for (const Type& type : kTypes)
    if (type.name == name) return type.ort;
  return -1;
}

#define PADOPS_CHECK(name, enumerator) \
  static_assert(ort_id(name) == int{ONNX_TENSOR_ELEMENT_DATA_TYPE_##enumerator}, name);
PADOPS_CHECK("float", FLOAT)
PADOPS_CHECK("uint8", UINT8)
PADOPS_CHECK("int8", INT8)
PADOPS_CHECK("uint16", UINT16)
PADOPS_CHECK("int16", INT16)
PADOPS_CHECK("int32", INT32)
PADOPS_CHECK("int64", INT64)
PADOPS_CHECK("string", STRING)
PADOPS_CHECK("bool", BOOL)
PADOPS_CHECK("float16", FLOAT16)
PADOPS_CHECK("double", DOUBLE)
PADOPS_CHECK("uint32", UINT32)
PADOPS_CHECK("uint64", UINT64)
PADOPS_CHECK("bfloat16", BFLOAT16)
PADOPS_CHECK("float8e4m3fn", FLOAT8E4M3FN)
PADOPS_CHECK("float8e4m3fnuz", FLOAT8E4M3FNUZ)
PADOPS_CHECK("float8e5m2", FLOAT8E5M2)
PADOPS_CHECK("float8e5m2fnuz", FLOAT8E5M2FNUZ)
PADOPS_CHECK("uint4", UINT4)
PADOPS_CHECK("int4", INT4)
// The header may be older than these types.
#if ORT_API_VERSION >= 24
PADOPS_CHECK("float4e2m1", FLOAT4E2M1)
#endif
#if ORT_API_VERSION >= 26
PADOPS_CHECK("uint2", UINT2)
PADOPS_CHECK("int2", INT2)
#endif
#if ORT_API_VERSION >= 27
PADOPS_CHECK("float8e8m0", FLOAT8E8M0)
#endif
#undef PADOPS_CHECK
static_assert(sizeof(kTypes) / sizeof(Type) == 24, "a new row of types.inc needs a line above");

}  // namespace

}  // namespace padops::ort
