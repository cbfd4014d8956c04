// The kernels of the execution provider, and the registry in which ONNX Runtime looks them up.
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/dialects.h"
#include "core/text.h"
#include "ort/inference.h"
#include "ort/kernel.h"
#include "ort/ort_values.h"
#include "ort/provider.h"

namespace padops {

namespace {

struct ProviderKernel : ort::KernelImpl {
  ProviderKernel(const ort::KernelImpl& calls, const KernelSource& source, const ort::KernelInfo* info,
                 const TypeRow& type)
      : ort::KernelImpl(calls),
        kernel(*source.factory->api, source.factory->minor, KernelNode(*source.factory->api, info), *source.op, type) {}

  const Kernel kernel;
};

const TypeRow& data_type_row(const ort::Api& api, const ort::KernelInfo* info) {
  ort::TypeInfo* type = nullptr;
  check(api, api.KernelInfo_GetInputTypeInfo()(info, 0, &type));
  const std::unique_ptr<ort::TypeInfo, void (*)(ort::TypeInfo*)> held(type, api.ReleaseTypeInfo());
  const ort::TensorInfo* tensor = nullptr;
  check(api, api.CastTypeInfoToTensorInfo()(type, &tensor));
  const int id = tensor == nullptr ? ort::kUndefined : tensor_shape(api, tensor).element_type;
  if (const TypeRow* row = type_of_ort(id)) return *row;
  throw std::runtime_error(text("data of ", type_name(id), " are of no type that padops knows"));
}

ort::Status* compute(ort::KernelImpl* impl, ort::KernelContext* context) {
  const Kernel& kernel = static_cast<ProviderKernel*>(impl)->kernel;
  const auto run = [&]() -> ort::Status* {
    kernel.compute(context);
    return nullptr;
  };
  return guarded(kernel.api(), kernel.out_of_memory(), [&] { return kernel.label(); }, run);
}

ort::Status* create_kernel(void* state, const ort::KernelInfo* info, ort::KernelImpl** out) {
  const auto& source = *static_cast<const KernelSource*>(state);
  const ort::Api& api = *source.factory->api;
  const auto create = [&]() -> ort::Status* {
    ort::KernelImpl calls{};
    calls.version = ort::kProviderApiVersion;
    calls.Compute = compute;
    calls.Release = [](ort::KernelImpl* impl) { delete static_cast<ProviderKernel*>(impl); };
    *out = new ProviderKernel(calls, source, info, data_type_row(api, info));
    return nullptr;
  };
  return guarded(api, kOutOfMemory, [] { return ""; }, create);  // the kernel names itself
}

// --- the registry of kernels ----------------------------------------------------------------------------------------

// One definition for each version, with all its types: one per type would take a session four times as long.
void add_kernel(const Factory& factory, ort::KernelRegistry* registry, const StandardOp& row, KernelSource& source) {
  const ort::Api& api = *factory.api;
  const ort::EpApi& ep = *factory.ep_api;
  std::vector<const ort::DataType*> data_types;
  for (const TypeRow* type : row.op.types) {
    if (type->since > factory.minor) continue;
    check(api, ep.GetTensorDataType()(schema_type_id(*type, factory.minor), &data_types.emplace_back()));
  }
  ort::KernelDefBuilder* builder = nullptr;
  check(api, ep.CreateKernelDefBuilder()(&builder));
  const std::unique_ptr<ort::KernelDefBuilder, void (*)(ort::KernelDefBuilder*)> held(builder,
                                                                                      ep.ReleaseKernelDefBuilder());
  check(api, ep.KernelDefBuilder_SetOperatorType()(builder, "Pad"));
  check(api, ep.KernelDefBuilder_SetDomain()(builder, row.domain));
  check(api, ep.KernelDefBuilder_SetSinceVersion()(builder, row.version, row.version));
  check(api, ep.KernelDefBuilder_SetExecutionProvider()(builder, factory.name));
  check(api, ep.KernelDefBuilder_AddTypeConstraint()(builder, "T", data_types.data(), data_types.size()));
  ort::KernelDef* def = nullptr;
  check(api, ep.KernelDefBuilder_Build()(builder, &def));
  const std::unique_ptr<ort::KernelDef, void (*)(ort::KernelDef*)> built(def, ep.ReleaseKernelDef());
  check(api, ep.KernelRegistry_AddKernel()(registry, def, create_kernel, &source));
}

}  // namespace

void build_registry(Factory& factory) {
  ort::KernelRegistry* registry = nullptr;
  check(*factory.api, factory.ep_api->CreateKernelRegistry()(&registry));
  std::unique_ptr<ort::KernelRegistry, void (*)(ort::KernelRegistry*)> held(registry,
                                                                            factory.ep_api->ReleaseKernelRegistry());
  for (const StandardOp& row : standard_ops()) factory.sources.push_back({&factory, &row.op});
  for (size_t i = 0; i < factory.sources.size(); ++i)
    add_kernel(factory, registry, standard_ops()[i], factory.sources[i]);
  factory.registry = held.release();
}

}  // namespace padops
