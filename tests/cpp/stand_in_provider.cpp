// An execution provider of a library, for tests where no real one is: it takes every Relu of floats, and every Pad that
// it compiles but does not run. It goes by the name under which it is registered.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ort/ort_values.h"
#include "ort/provider_abi.h"
#include "ort/status.h"

namespace {

using namespace padops;

struct Factory : ort::EpFactory {
  const ort::Api* api;
  const ort::EpApi* ep_api;
  std::string name;
};

struct Provider : ort::Ep {
  const Factory* factory;
};

struct Relu : ort::NodeComputeInfo {
  const ort::Api* api;
  bool is_pad;
};

const Factory& of(const ort::Ep* ep) { return *static_cast<const Provider*>(ep)->factory; }

std::string_view operator_of(const ort::Api& api, const ort::Node* node) {
  const char* name = nullptr;
  check(api, api.Node_GetOperatorType()(node, &name));
  return name;
}

ort::Status* claim(ort::Ep* ep, const ort::Graph* graph, ort::EpGraphSupportInfo* info) {
  const Factory& factory = of(ep);
  size_t count = 0;
  check(*factory.api, factory.api->Graph_GetNumNodes()(graph, &count));
  std::vector<const ort::Node*> nodes(count);
  check(*factory.api, factory.api->Graph_GetNodes()(graph, nodes.data(), count));
  for (const ort::Node* node : nodes) {
    const std::string_view name = operator_of(*factory.api, node);
    if (name == "Relu" || name == "Pad")
      check(*factory.api, factory.ep_api->EpGraphSupportInfo_AddNodesToFuse()(info, &node, 1, nullptr));
  }
  return nullptr;
}

ort::Status* compute(ort::NodeComputeInfo* info, void*, ort::KernelContext* context) {
  const Relu& node = *static_cast<Relu*>(info);
  const ort::Api& api = *node.api;
  if (node.is_pad) return failure(api, "the stand-in runs no Pad");
  const ort::Value* data = nullptr;
  ort::Value* output = nullptr;
  check(api, api.KernelContext_GetInput()(context, 0, &data));
  const ValueShape shape(api, 24, data);
  check(api, api.KernelContext_GetOutput()(context, 0, shape.dims().data(), shape.dims().size(), &output));
  const auto* from = reinterpret_cast<const float*>(tensor_bytes(api, data));
  std::transform(from, from + element_count(shape.dims()), reinterpret_cast<float*>(tensor_bytes(api, output)),
                 [](float value) { return std::max(value, 0.0f); });
  return nullptr;
}

ort::Status* compile(ort::Ep* ep, const ort::Graph** graphs, const ort::Node**, size_t count,
                     ort::NodeComputeInfo** out, ort::Node**) {
  const Factory& factory = of(ep);
  for (size_t i = 0; i < count; ++i) {
    const ort::Node* node = nullptr;
    check(*factory.api, factory.api->Graph_GetNodes()(graphs[i], &node, 1));
    auto* made = new Relu{};
    made->version = ort::kProviderApiVersion;
    made->CreateState = [](ort::NodeComputeInfo*, ort::NodeComputeContext*, void** state) -> ort::Status* {
      *state = nullptr;
      return nullptr;
    };
    made->Compute = compute;
    made->ReleaseState = [](ort::NodeComputeInfo*, void*) {};
    made->api = factory.api;
    made->is_pad = operator_of(*factory.api, node) == "Pad";
    out[i] = made;
  }
  return nullptr;
}

ort::Status* create(ort::EpFactory* factory, const ort::HardwareDevice* const*, const ort::KeyValuePairs* const*,
                    size_t, const ort::SessionOptions*, const ort::Logger*, ort::Ep** out) {
  auto* made = new Provider{};
  made->version = ort::kProviderApiVersion;
  made->factory = static_cast<Factory*>(factory);
  made->GetName = [](const ort::Ep* ep) { return of(ep).name.c_str(); };
  made->GetCapability = claim;
  made->Compile = compile;
  made->ReleaseNodeComputeInfos = [](ort::Ep*, ort::NodeComputeInfo** infos, size_t count) {
    for (size_t i = 0; i < count; ++i) delete static_cast<Relu*>(infos[i]);
  };
  *out = made;
  return nullptr;
}

ort::Status* devices_of(ort::EpFactory* factory, const ort::HardwareDevice* const* devices, size_t count,
                        ort::EpDevice** out, size_t, size_t* given) {
  const auto& self = *static_cast<Factory*>(factory);
  const auto* found = std::find_if(devices, devices + count, [&](const ort::HardwareDevice* device) {
    return self.api->HardwareDevice_Type()(device) == ort::kCpu;
  });
  *given = found == devices + count ? 0 : 1;
  if (*given == 1) check(*self.api, self.ep_api->CreateEpDevice()(factory, *found, nullptr, nullptr, out));
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) padops::ort::Status* CreateEpFactories(
    const char* name, const ort::ApiBase* base, const ort::Logger*, ort::EpFactory** factories, size_t, size_t* count) {
  auto* made = new Factory{};  // never destroyed
  made->version = ort::kProviderApiVersion;
  made->api = base->GetApi(ort::kProviderApiVersion);
  made->ep_api = made->api->GetEpApi()();
  made->name = name;
  made->GetName = [](const ort::EpFactory* factory) { return static_cast<const Factory*>(factory)->name.c_str(); };
  made->GetVendor = [](const ort::EpFactory*) { return "tests"; };
  made->GetVendorId = [](const ort::EpFactory*) -> uint32_t { return 0; };
  made->GetVersion = [](const ort::EpFactory*) { return "0.0.0"; };
  made->GetSupportedDevices = devices_of;
  made->CreateEp = create;
  made->ReleaseEp = [](ort::EpFactory*, ort::Ep* ep) { delete static_cast<Provider*>(ep); };
  made->CreateDataTransfer = [](ort::EpFactory*, ort::DataTransfer** out) -> ort::Status* {
    *out = nullptr;
    return nullptr;
  };
  made->IsStreamAware = [](const ort::EpFactory*) { return false; };
  *factories = made;
  *count = 1;
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) padops::ort::Status* ReleaseEpFactory(ort::EpFactory*) {
  return nullptr;
}
