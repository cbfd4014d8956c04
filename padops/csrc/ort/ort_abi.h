// The slice of the ONNX Runtime C ABI that padops calls, in our own words: the onnxruntime wheels ship no headers.
//
// OrtApi is an append-only table of function pointers: a slot never moves once it is released. padops needs only API 17
// (onnxruntime 1.17), so one binary runs on every later runtime. A slot beyond the runtime's table would crash the
// process, so the few later slots are called only if the runtime's version has them. ort_abi_check.cpp checks each
// number against the official header, if given (cmake -DPADOPS_ORT_INCLUDE_DIR=…).
#pragma once

#include <cstddef>
#include <cstdint>

namespace padops::ort {

constexpr uint32_t kApiVersion = 17;

// The first onnxruntime 1.x that padops supports. Older releases have the API, but lack element types that types.inc
// does not mark as newer, and would refuse every session.
constexpr int kOldestMinor = 20;

// Opaque types of the runtime, only used by pointer.
struct Status;
struct Value;
struct KernelInfo;
struct KernelContext;
struct SessionOptions;
struct CustomOpDomain;
struct TypeInfo;
struct TensorInfo;  // OrtTensorTypeAndShapeInfo
struct ShapeInferContext;
struct OpAttr;
struct CustomOp;
// Of execution providers:
struct EpApi;
struct Node;
struct Graph;
struct ValueInfo;
struct HardwareDevice;
struct KeyValuePairs;

enum ErrorCode : int { kOk = 0, kFail = 1, kInvalidArgument = 2 };
enum Characteristic : int { kRequired = 0, kOptional = 1 };
enum AttributeType : int { kInts = 2, kFloat = 3, kString = 5 };
constexpr int kUndefined = 0;  // ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED: any type

// slot, name, returned type, arguments
#define PADOPS_ORT_SLOTS(X)                                                                                            \
  X(0, CreateStatus, Status*, (int code, const char* message))                                                         \
  X(2, GetErrorMessage, const char*, (const Status* status))                                                           \
  X(26, CreateCustomOpDomain, Status*, (const char* name, CustomOpDomain** out))                                       \
  X(27, CustomOpDomain_Add, Status*, (CustomOpDomain * domain, const CustomOp* op))                                    \
  X(28, AddCustomOpDomain, Status*, (SessionOptions * options, CustomOpDomain * domain))                               \
  X(51, GetTensorMutableData, Status*, (Value * value, void** out))                                                    \
  X(52, FillStringTensor, Status*, (Value * value, const char* const* strings, size_t count))                          \
  X(53, GetStringTensorDataLength, Status*, (const Value* value, size_t* bytes))                                       \
  X(54, GetStringTensorContent, Status*, (const Value* value, void* out, size_t bytes, size_t* offsets, size_t count)) \
  X(55, CastTypeInfoToTensorInfo, Status*, (const TypeInfo* info, const TensorInfo** out))                             \
  X(57, CreateTensorTypeAndShapeInfo, Status*, (TensorInfo * *out))                                                    \
  X(58, SetTensorElementType, Status*, (TensorInfo * info, int element_type))                                          \
  X(59, SetDimensions, Status*, (TensorInfo * info, const int64_t* dims, size_t rank))                                 \
  X(60, GetTensorElementType, Status*, (const TensorInfo* info, int* out))                                             \
  X(61, GetDimensionsCount, Status*, (const TensorInfo* info, size_t* out))                                            \
  X(62, GetDimensions, Status*, (const TensorInfo* info, int64_t* dims, size_t rank))                                  \
  X(63, GetSymbolicDimensions, Status*, (const TensorInfo* info, const char** names, size_t rank))                     \
  X(65, GetTensorTypeAndShape, Status*, (const Value* value, TensorInfo** out))                                        \
  X(85, KernelInfoGetAttribute_float, Status*, (const KernelInfo* info, const char* name, float* out))                 \
  X(86, KernelInfoGetAttribute_int64, Status*, (const KernelInfo* info, const char* name, int64_t* out))               \
  X(87, KernelInfoGetAttribute_string, Status*, (const KernelInfo* info, const char* name, char* out, size_t* size))   \
  X(90, KernelContext_GetInput, Status*, (const KernelContext* context, size_t index, const Value** out))              \
  X(91, KernelContext_GetOutput, Status*,                                                                              \
    (KernelContext * context, size_t index, const int64_t* dims, size_t rank, Value** out))                            \
  X(93, ReleaseStatus, void, (Status * status))                                                                        \
  X(98, ReleaseTypeInfo, void, (TypeInfo * info))                                                                      \
  X(99, ReleaseTensorTypeAndShapeInfo, void, (TensorInfo * info))                                                      \
  X(162, KernelInfoGetAttributeArray_float, Status*,                                                                   \
    (const KernelInfo* info, const char* name, float* out, size_t* count))                                             \
  X(163, KernelInfoGetAttributeArray_int64, Status*,                                                                   \
    (const KernelInfo* info, const char* name, int64_t* out, size_t* count))                                           \
  X(230, KernelInfo_GetInputCount, Status*, (const KernelInfo* info, size_t* out))                                     \
  X(234, KernelInfo_GetInputTypeInfo, Status*, (const KernelInfo* info, size_t index, TypeInfo** out))                 \
  X(237, HasSessionConfigEntry, Status*, (const SessionOptions* options, const char* key, int* out))                   \
  X(238, GetSessionConfigEntry, Status*, (const SessionOptions* options, const char* key, char* out, size_t* size))    \
  X(244, KernelInfo_GetNodeName, Status*, (const KernelInfo* info, char* out, size_t* size))                           \
  X(249, KernelInfoGetConstantInput_tensor, Status*,                                                                   \
    (const KernelInfo* info, size_t index, int* is_constant, const Value** out))                                       \
  X(252, GetResizedStringTensorElementBuffer, Status*, (Value * value, size_t index, size_t bytes, char** out))        \
  X(268, ShapeInferContext_GetInputTypeShape, Status*,                                                                 \
    (const ShapeInferContext* context, size_t index, TensorInfo** out))                                                \
  X(269, ShapeInferContext_GetAttribute, Status*,                                                                      \
    (const ShapeInferContext* context, const char* name, const OpAttr** out))                                          \
  X(270, ShapeInferContext_SetOutputTypeShape, Status*,                                                                \
    (const ShapeInferContext* context, size_t index, const TensorInfo* info))                                          \
  X(271, SetSymbolicDimensions, Status*, (TensorInfo * info, const char** names, size_t rank))                         \
  X(272, ReadOpAttr, Status*, (const OpAttr* attribute, int type, void* data, size_t bytes, size_t* out))              \
  X(274, KernelContext_ParallelFor, Status*,                                                                           \
    (const KernelContext* context, void (*task)(void* user, size_t index), size_t total, size_t batches, void* user))

// first onnxruntime 1.x with the call, slot, name, returned type, arguments
#define PADOPS_ORT_LATER_SLOTS(X)                                                                           \
  X(22, 289, GetValueInfoName, Status*, (const ValueInfo* value, const char** out))                         \
  X(22, 290, GetValueInfoTypeInfo, Status*, (const ValueInfo* value, const TypeInfo** out))                 \
  X(22, 295, CreateKeyValuePairs, void, (KeyValuePairs * *out))                                             \
  X(22, 296, AddKeyValuePair, void, (KeyValuePairs * pairs, const char* key, const char* value))            \
  X(22, 298, GetKeyValuePairs, void,                                                                        \
    (const KeyValuePairs* pairs, const char* const** keys, const char* const** values, size_t* count))      \
  X(22, 300, ReleaseKeyValuePairs, void, (KeyValuePairs * pairs))                                           \
  X(22, 307, HardwareDevice_Type, int, (const HardwareDevice* device))                                      \
  X(22, 317, GetEpApi, const EpApi*, ())                                                                    \
  X(23, 326, ValueInfo_GetInitializerValue, Status*, (const ValueInfo* value, const Value** out))           \
  X(23, 331, ValueInfo_IsConstantInitializer, Status*, (const ValueInfo* value, bool* out))                 \
  X(23, 344, Graph_GetNumNodes, Status*, (const Graph* graph, size_t* out))                                 \
  X(23, 345, Graph_GetNodes, Status*, (const Graph* graph, const Node** out, size_t count))                 \
  X(23, 346, Graph_GetParentNode, Status*, (const Graph* graph, const Node** out))                          \
  X(23, 349, Node_GetName, Status*, (const Node* node, const char** out))                                   \
  X(23, 350, Node_GetOperatorType, Status*, (const Node* node, const char** out))                           \
  X(23, 351, Node_GetDomain, Status*, (const Node* node, const char** out))                                 \
  X(23, 352, Node_GetSinceVersion, Status*, (const Node* node, int* out))                                   \
  X(23, 353, Node_GetNumInputs, Status*, (const Node* node, size_t* out))                                   \
  X(23, 354, Node_GetInputs, Status*, (const Node* node, const ValueInfo** out, size_t count))              \
  X(23, 361, Node_GetAttributeByName, Status*, (const Node* node, const char* name, const OpAttr** out))    \
  X(23, 379, GetSessionOptionsConfigEntries, Status*, (const SessionOptions* options, KeyValuePairs** out)) \
  X(24, 390, TensorTypeAndShape_HasShape, bool, (const TensorInfo* info))                                   \
  X(24, 414, GetTensorElementTypeAndShapeDataReference, Status*,                                            \
    (const Value* value, int* element_type, const int64_t** dims, size_t* rank))

// OrtApi, read slot by slot. Each member function has the name of its entry.
struct Api {
  // Each entry is called through a pointer of the type that the runtime defined.
  using Entry = void (*)();
  Entry entries[415];  // up to the last slot above; the runtime's table may end earlier

#define PADOPS_CALL(slot, name, returned, arguments) \
  using name##_fn = returned(*) arguments;           \
  name##_fn name() const { return reinterpret_cast<name##_fn>(entries[slot]); }
  PADOPS_ORT_SLOTS(PADOPS_CALL)
#define PADOPS_LATER_CALL(since, slot, name, returned, arguments) PADOPS_CALL(slot, name, returned, arguments)
  PADOPS_ORT_LATER_SLOTS(PADOPS_LATER_CALL)
#undef PADOPS_LATER_CALL
#undef PADOPS_CALL
};

#define PADOPS_SINCE(since, slot, name, returned, arguments) constexpr int k##name##Since = since;
PADOPS_ORT_LATER_SLOTS(PADOPS_SINCE)
#undef PADOPS_SINCE

#define PADOPS_WITHIN(slot, name, returned, arguments) static_assert(slot < 275, #name " is beyond API 17");
PADOPS_ORT_SLOTS(PADOPS_WITHIN)
#undef PADOPS_WITHIN

struct ApiBase {
  const Api* (*GetApi)(uint32_t version);
  const char* (*GetVersionString)();
};

// OrtCustomOp: the runtime reads as many fields as `version` had in its own release.
struct CustomOp {
  uint32_t version;
  void* (*CreateKernel)(const CustomOp*, const Api*, const KernelInfo*);
  const char* (*GetName)(const CustomOp*);
  const char* (*GetExecutionProviderType)(const CustomOp*);
  int (*GetInputType)(const CustomOp*, size_t);
  size_t (*GetInputTypeCount)(const CustomOp*);
  int (*GetOutputType)(const CustomOp*, size_t);
  size_t (*GetOutputTypeCount)(const CustomOp*);
  void (*KernelCompute)(void*, KernelContext*);
  void (*KernelDestroy)(void*);
  int (*GetInputCharacteristic)(const CustomOp*, size_t);
  int (*GetOutputCharacteristic)(const CustomOp*, size_t);
  int (*GetInputMemoryType)(const CustomOp*, size_t);
  int (*GetVariadicInputMinArity)(const CustomOp*);
  int (*GetVariadicInputHomogeneity)(const CustomOp*);
  int (*GetVariadicOutputMinArity)(const CustomOp*);
  int (*GetVariadicOutputHomogeneity)(const CustomOp*);
  Status* (*CreateKernelV2)(const CustomOp*, const Api*, const KernelInfo*, void** kernel);
  Status* (*KernelComputeV2)(void*, KernelContext*);
  Status* (*InferOutputShapeFn)(const CustomOp*, ShapeInferContext*);
  int (*GetStartVersion)(const CustomOp*);
  int (*GetEndVersion)(const CustomOp*);
  size_t (*GetMayInplace)(int** inputs, int** outputs);
  void (*ReleaseMayInplace)(int* inputs, int* outputs);
  size_t (*GetAliasMap)(int** inputs, int** outputs);
  void (*ReleaseAliasMap)(int* inputs, int* outputs);
};

static_assert(sizeof(void*) == 8, "the slots and offsets below are those of 64-bit platforms");
static_assert(sizeof(ApiBase) == 2 * sizeof(void*));
static_assert(sizeof(CustomOp) == 208);
static_assert(offsetof(CustomOp, CreateKernel) == 8);
static_assert(offsetof(CustomOp, KernelCompute) == 64);
static_assert(offsetof(CustomOp, CreateKernelV2) == 136);
static_assert(offsetof(CustomOp, InferOutputShapeFn) == 152);
static_assert(offsetof(CustomOp, GetEndVersion) == 168);
static_assert(offsetof(CustomOp, ReleaseAliasMap) == 200);
static_assert(offsetof(Api, entries) == 0);

}  // namespace padops::ort
