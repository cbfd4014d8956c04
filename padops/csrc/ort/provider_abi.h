// The slice of the ONNX Runtime C ABI that an execution provider needs, in our own words, as ort_abi.h has the rest.
// onnxruntime 1.24 is the first release with kernel registries, and the first for this header.
#pragma once

#include "ort/ort_abi.h"

namespace padops::ort {

constexpr uint32_t kProviderApiVersion = 24;
constexpr int kCpu = 0;  // OrtHardwareDeviceType_CPU

// Opaque types of the runtime
struct EpDevice;
struct EpGraphSupportInfo;
struct KernelRegistry;
struct KernelDef;
struct KernelDefBuilder;
struct DataType;
struct DataTransfer;  // OrtDataTransferImpl
struct Logger;
struct NodeComputeContext;

// Ours; the runtime calls their members.
struct EpFactory;
struct Ep;
struct KernelImpl;
struct NodeComputeInfo;

using CreateKernelImpl = Status* (*)(void* state, const KernelInfo* info, KernelImpl** out);

// slot of OrtEpApi, name, returned type, arguments
#define PADOPS_EP_SLOTS(X)                                                                                           \
  X(0, CreateEpDevice, Status*,                                                                                      \
    (EpFactory * factory, const HardwareDevice* device, const KeyValuePairs* metadata, const KeyValuePairs* options, \
     EpDevice** out))                                                                                                \
  X(2, EpGraphSupportInfo_AddNodesToFuse, Status*,                                                                   \
    (EpGraphSupportInfo * info, const Node* const* nodes, size_t count, const void* options))                        \
  X(3, EpGraphSupportInfo_AddSingleNode, Status*, (EpGraphSupportInfo * info, const Node* node))                     \
  X(18, CreateKernelRegistry, Status*, (KernelRegistry * *out))                                                      \
  X(19, ReleaseKernelRegistry, void, (KernelRegistry * registry))                                                    \
  X(20, KernelRegistry_AddKernel, Status*,                                                                           \
    (KernelRegistry * registry, const KernelDef* def, CreateKernelImpl create, void* state))                         \
  X(21, CreateKernelDefBuilder, Status*, (KernelDefBuilder * *out))                                                  \
  X(22, ReleaseKernelDefBuilder, void, (KernelDefBuilder * builder))                                                 \
  X(23, KernelDefBuilder_SetOperatorType, Status*, (KernelDefBuilder * builder, const char* name))                   \
  X(24, KernelDefBuilder_SetDomain, Status*, (KernelDefBuilder * builder, const char* domain))                       \
  X(25, KernelDefBuilder_SetSinceVersion, Status*, (KernelDefBuilder * builder, int first, int last))                \
  X(26, KernelDefBuilder_SetExecutionProvider, Status*, (KernelDefBuilder * builder, const char* name))              \
  X(29, KernelDefBuilder_AddTypeConstraint, Status*,                                                                 \
    (KernelDefBuilder * builder, const char* name, const DataType* const* types, size_t count))                      \
  X(32, KernelDefBuilder_Build, Status*, (KernelDefBuilder * builder, KernelDef * *out))                             \
  X(33, ReleaseKernelDef, void, (KernelDef * def))                                                                   \
  X(40, GetTensorDataType, Status*, (int element_type, const DataType** out))                                        \
  X(41, EpGraphSupportInfo_LookUpKernel, Status*, (EpGraphSupportInfo * info, const Node* node, const KernelDef** out))

// OrtEpApi, read slot by slot.
struct EpApi {
  using Entry = void (*)();
  Entry entries[42];

#define PADOPS_CALL(slot, name, returned, arguments) \
  using name##_fn = returned(*) arguments;           \
  name##_fn name() const { return reinterpret_cast<name##_fn>(entries[slot]); }
  PADOPS_EP_SLOTS(PADOPS_CALL)
#undef PADOPS_CALL
};

// In the structures below, the runtime reads as many fields as release `version` had. Optional fields are null.
struct KernelImpl {
  uint32_t version;
  uint32_t flags;
  Status* (*Compute)(KernelImpl*, KernelContext*);
  void (*Release)(KernelImpl*);
  void (*PrePackWeight)();
  void (*SetSharedPrePackedWeight)();
};

struct NodeComputeInfo {
  uint32_t version;
  Status* (*CreateState)(NodeComputeInfo*, NodeComputeContext*, void** state);
  Status* (*Compute)(NodeComputeInfo*, void* state, KernelContext*);
  void (*ReleaseState)(NodeComputeInfo*, void* state);
};

struct Ep {
  uint32_t version;
  const char* (*GetName)(const Ep*);
  Status* (*GetCapability)(Ep*, const Graph*, EpGraphSupportInfo*);
  Status* (*Compile)(Ep*, const Graph** graphs, const Node** fused, size_t count, NodeComputeInfo** out,
                     Node** ep_context_nodes);
  void (*ReleaseNodeComputeInfos)(Ep*, NodeComputeInfo** infos, size_t count);
  void (*GetPreferredDataLayout)();
  void (*ShouldConvertDataLayoutForOp)();
  void (*SetDynamicOptions)();
  void (*OnRunStart)();
  void (*OnRunEnd)();
  void (*CreateAllocator)();
  void (*CreateSyncStreamForDevice)();
  void (*GetCompiledModelCompatibilityInfo)();
  Status* (*GetKernelRegistry)(Ep*, const KernelRegistry**);
  Status* (*IsConcurrentRunSupported)(Ep*, bool*);
};

struct EpFactory {
  uint32_t version;
  const char* (*GetName)(const EpFactory*);
  const char* (*GetVendor)(const EpFactory*);
  Status* (*GetSupportedDevices)(EpFactory*, const HardwareDevice* const* devices, size_t count, EpDevice** out,
                                 size_t room, size_t* given);
  Status* (*CreateEp)(EpFactory*, const HardwareDevice* const* devices, const KeyValuePairs* const* metadata,
                      size_t count, const SessionOptions*, const Logger*, Ep** out);
  void (*ReleaseEp)(EpFactory*, Ep*);
  uint32_t (*GetVendorId)(const EpFactory*);
  const char* (*GetVersion)(const EpFactory*);
  void (*ValidateCompiledModelCompatibilityInfo)();
  void (*CreateAllocator)();
  void (*ReleaseAllocator)();
  Status* (*CreateDataTransfer)(EpFactory*, DataTransfer** out);
  bool (*IsStreamAware)(const EpFactory*);
  void (*CreateSyncStreamForDevice)();
  void (*GetHardwareDeviceIncompatibilityDetails)();
  void (*CreateExternalResourceImporterForDevice)();
  Status* (*GetNumCustomOpDomains)(EpFactory*, size_t* count);
  Status* (*GetCustomOpDomains)(EpFactory*, CustomOpDomain** domains, size_t count);
};

static_assert(offsetof(KernelImpl, flags) == 4 && offsetof(KernelImpl, Compute) == 8);
static_assert(offsetof(KernelImpl, SetSharedPrePackedWeight) == 32 && sizeof(KernelImpl) == 40);
static_assert(offsetof(NodeComputeInfo, Compute) == 16 && sizeof(NodeComputeInfo) == 32);
static_assert(offsetof(Ep, Compile) == 24);
static_assert(offsetof(Ep, GetName) == 8 && offsetof(Ep, OnRunStart) == 64);
static_assert(offsetof(Ep, GetKernelRegistry) == 104 && sizeof(Ep) == 120);
static_assert(offsetof(EpFactory, GetName) == 8 && offsetof(EpFactory, ReleaseEp) == 40);
static_assert(offsetof(EpFactory, GetVersion) == 56 && offsetof(EpFactory, CreateDataTransfer) == 88);
static_assert(offsetof(EpFactory, GetCustomOpDomains) == 136 && sizeof(EpFactory) == 144);

}  // namespace padops::ort
