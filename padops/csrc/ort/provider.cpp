// padops as an execution provider, for unchanged models. ONNX Runtime calls CreateEpFactories when the library is
// registered. For each session, a factory creates a provider, which claims nodes of each graph; the runtime creates a
// kernel for each claimed node (ort/provider_kernels.cpp).
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/dialects.h"
#include "core/provider_rules.h"
#include "core/text.h"
#include "ort/builtin_pad.h"
#include "ort/compiled_pad.h"
#include "ort/entry_points.h"
#include "ort/ort_values.h"
#include "ort/pad_node.h"
#include "ort/provider.h"
#include "ort/provider_options.h"

namespace padops {

namespace {

const Factory& self(const ort::EpFactory* factory) { return *static_cast<const Factory*>(factory); }

// --- a provider -----------------------------------------------------------------------------------------------------

// The operator of a node, if the runtime finds one of our kernels for it; else null.
const StandardOp* find_op(const Factory& factory, ort::EpGraphSupportInfo* info, const ort::Node* node) {
  const StandardOp* row = find_standard_op(*factory.api, node);
  if (row == nullptr) return nullptr;
  const ort::KernelDef* def = nullptr;
  check(*factory.api, factory.ep_api->EpGraphSupportInfo_LookUpKernel()(info, node, &def));
  return def == nullptr ? nullptr : row;
}

std::set<std::string> operators_of(const ort::Api& api, const std::vector<const ort::Node*>& nodes) {
  std::set<std::string> names;
  for (const ort::Node* node : nodes) {
    const char* name = nullptr;
    check(api, api.Node_GetOperatorType()(node, &name));
    names.insert(name);
  }
  return names;
}

// The graph around the nodes to claim.
struct Around {
  std::set<std::string> operators;
  bool is_body;  // of another node
};

Around around(const ort::Api& api, const ort::Graph* graph, const std::vector<const ort::Node*>& nodes) {
  const ort::Node* parent = nullptr;
  check(api, api.Graph_GetParentNode()(graph, &parent));
  return {operators_of(api, nodes), parent != nullptr};
}

// What the providers behind would do wrong with a node; nothing if they run it right.
std::optional<Does> fault_behind(const Provider& provider, const ort::Node* node, const StandardOp& row,
                                 const Around& graph) {
  const Factory& factory = *provider.factory;
  if (*row.domain != '\0') return std::nullopt;  // the tables only have ONNX's own Pad
  PadFacts facts = pad_facts(*factory.api, factory.minor, node, row);
  facts.operators = &graph.operators;
  facts.is_in_body = graph.is_body;
  return fault_among(provider.behind, facts, factory.minor);
}

// Whether padops leaves a node to the CPU provider.
bool is_left(const Provider& provider, const ort::Node* node, const StandardOp& row) {
  const Factory& factory = *provider.factory;
  const bool is_float16 = type_name(data_type(*factory.api, node)) == "float16";
  if (is_float16 ? provider.float16_native : !provider.only_needed) return false;
  return builtin_is_right(*factory.api, factory.minor, node, row, is_float16);
}

// Whether a provider behind also claims nodes that padops has.
bool must_compile(const Provider& provider) {
  return std::ranges::any_of(provider.behind, [](const ProviderRow& row) { return row.fuses; });
}

ort::Status* claim(ort::Ep* ep, const ort::Graph* graph, ort::EpGraphSupportInfo* info) {
  const Provider& provider = *static_cast<Provider*>(ep);
  const ort::Api& api = *provider.factory->api;
  const ort::EpApi& calls = *provider.factory->ep_api;
  if (provider.factory->role == Role::kOperators) return nullptr;
  return provider_call(api, provider.factory->name, [&] {
    size_t count = 0;
    check(api, api.Graph_GetNumNodes()(graph, &count));
    std::vector<const ort::Node*> nodes(count);
    check(api, api.Graph_GetNodes()(graph, nodes.data(), count));
    const bool is_first = provider.factory->role == Role::kFirst;
    const Around others = is_first ? around(api, graph, nodes) : Around();
    for (const ort::Node* node : nodes) {
      const StandardOp* row = find_op(*provider.factory, info, node);
      if (row == nullptr) continue;
      const std::optional<Does> fault = is_first ? fault_behind(provider, node, *row, others) : std::nullopt;
      if (is_first ? !fault : is_left(provider, node, *row)) continue;
      if (!provider.report.empty()) {
        append_to_file(provider.report, text("pad", '\0', name_of(api, node), '\0'));
        continue;
      }
      // A provider that crashes does so when it sees the Pad, even if padops has it; a compiled node is no longer a
      // Pad.
      const bool fuses = must_compile(provider) || fault == Does::kDies;
      check(api, fuses ? calls.EpGraphSupportInfo_AddNodesToFuse()(info, &node, 1, nullptr)
                       : calls.EpGraphSupportInfo_AddSingleNode()(info, node));
    }
  });
}

ort::Status* compile(ort::Ep* ep, const ort::Graph** graphs, const ort::Node** fused, size_t count,
                     ort::NodeComputeInfo** out, ort::Node**) {
  const Factory& factory = *static_cast<Provider*>(ep)->factory;
  return provider_call(*factory.api, factory.name, [&] { compile_pads(factory, graphs, fused, count, out); });
}

ort::Status* create_provider(ort::EpFactory* factory, const ort::HardwareDevice* const*,
                             const ort::KeyValuePairs* const*, size_t, const ort::SessionOptions* options,
                             const ort::Logger*, ort::Ep** out) {
  return provider_call(*self(factory).api, self(factory).name, [&] {
    auto provider = std::make_unique<Provider>();
    provider->version = ort::kProviderApiVersion;
    provider->factory = &self(factory);
    provider->GetName = [](const ort::Ep* ep) { return static_cast<const Provider*>(ep)->factory->name; };
    provider->GetCapability = claim;
    provider->Compile = compile;
    provider->ReleaseNodeComputeInfos = [](ort::Ep*, ort::NodeComputeInfo** infos, size_t count) {
      release_pads(infos, count);
    };
    provider->GetKernelRegistry = [](ort::Ep* ep, const ort::KernelRegistry** registry) -> ort::Status* {
      *registry = static_cast<Provider*>(ep)->factory->registry;
      return nullptr;
    };
    provider->IsConcurrentRunSupported = [](ort::Ep*, bool* answer) -> ort::Status* {
      *answer = true;
      return nullptr;
    };
    read_options(*provider, options);
    *out = provider.release();
  });
}

// --- the factory ----------------------------------------------------------------------------------------------------

using Pairs = std::unique_ptr<ort::KeyValuePairs, void (*)(ort::KeyValuePairs*)>;

// The default options of a device.
Pairs default_options(const Factory& factory) {
  ort::KeyValuePairs* made = nullptr;
  if (factory.role == Role::kOperators) factory.api->CreateKeyValuePairs()(&made);
  Pairs held(made, factory.api->ReleaseKeyValuePairs());
  if (made != nullptr) factory.api->AddKeyValuePair()(made, kOperatorsOption, "all");
  return held;
}

// The first CPU: the runtime's own provider also treats all CPUs as one device.
ort::Status* supported_devices(ort::EpFactory* factory, const ort::HardwareDevice* const* devices, size_t count,
                               ort::EpDevice** out, size_t room, size_t* given) {
  const ort::Api& api = *self(factory).api;
  return provider_call(api, self(factory).name, [&] {
    *given = 0;
    for (size_t i = 0; i < count && *given == 0 && room > 0; ++i) {
      if (api.HardwareDevice_Type()(devices[i]) != ort::kCpu) continue;
      const Pairs options = default_options(self(factory));
      check(api, self(factory).ep_api->CreateEpDevice()(factory, devices[i], nullptr, options.get(), out));
      *given = 1;
    }
  });
}

// Sessions that have the device get the operators.
void bring_operators(Factory& factory) {
  factory.GetNumCustomOpDomains = [](ort::EpFactory*, size_t* count) -> ort::Status* {
    *count = 1;
    return nullptr;
  };
  factory.GetCustomOpDomains = [](ort::EpFactory* own, ort::CustomOpDomain** domains, size_t count) {
    return provider_call(*self(own).api, self(own).name, [&] {
      if (count > 0) domains[0] = all_operators(self(own).api, self(own).runtime);
    });
  };
}

std::unique_ptr<Factory> make_factory(const ort::Api* api, const char* version, Role role, const char* name) {
  auto made = std::make_unique<Factory>();
  made->role = role;
  made->name = name;
  made->runtime = version;
  made->version = ort::kProviderApiVersion;
  made->api = api;
  made->ep_api = api->GetEpApi()();
  made->minor = runtime_minor(version);
  made->GetName = [](const ort::EpFactory* factory) { return self(factory).name; };
  made->GetVendor = [](const ort::EpFactory*) { return "padops"; };
  made->GetVendorId = [](const ort::EpFactory*) -> uint32_t { return 0; };
  made->GetVersion = [](const ort::EpFactory*) { return PADOPS_VERSION; };
  made->GetSupportedDevices = supported_devices;
  made->CreateEp = create_provider;
  made->ReleaseEp = [](ort::EpFactory*, ort::Ep* ep) { delete static_cast<Provider*>(ep); };
  made->CreateDataTransfer = [](ort::EpFactory*, ort::DataTransfer** out) -> ort::Status* {
    *out = nullptr;  // data are the processor's own
    return nullptr;
  };
  made->IsStreamAware = [](const ort::EpFactory*) { return false; };
  if (role == Role::kOperators) bring_operators(*made);
  else build_registry(*made);
  return made;
}

using Factories = std::array<std::unique_ptr<Factory>, 3>;

const Factories& factories_for(const ort::Api* api, const char* version) {
  static std::mutex mutex;
  static auto& known = *new std::map<const ort::Api*, Factories>;  // never destroyed
  const std::lock_guard lock(mutex);
  Factories& made = known[api];
  if (made[0] == nullptr) {
    made = {make_factory(api, version, Role::kRest, kProvider),
            make_factory(api, version, Role::kFirst, kFirstProvider),
            make_factory(api, version, Role::kOperators, kOperatorsProvider)};
  }
  return made;
}

}  // namespace

}  // namespace padops

PADOPS_EXPORT padops::ort::Status* CreateEpFactories(const char*, const padops::ort::ApiBase* base,
                                                     const padops::ort::Logger*, padops::ort::EpFactory** factories,
                                                     size_t room, size_t* count) {
  using namespace padops;
  const ort::Api* api = base->GetApi(ort::kProviderApiVersion);
  const char* version = base->GetVersionString();
  return provider_call(api == nullptr ? *base->GetApi(1) : *api, kProvider, [&] {
    if (api == nullptr)
      throw std::runtime_error(text("needs onnxruntime 1.", ort::kProviderApiVersion, " or newer, this is ", version));
    const Factories& made = factories_for(api, version);
    if (room < made.size())
      throw std::runtime_error(text("the runtime has room for ", room, " factories, expected ", made.size()));
    for (size_t i = 0; i < made.size(); ++i) factories[i] = made[i].get();
    *count = made.size();
  });
}

// The factories stay, for sessions that are still there.
PADOPS_EXPORT padops::ort::Status* ReleaseEpFactory(padops::ort::EpFactory*) { return nullptr; }
