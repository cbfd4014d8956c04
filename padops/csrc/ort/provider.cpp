// padops as an execution provider, for models that are left as they are: CreateEpFactories, which ONNX Runtime calls
// when the library is registered, and what follows from it. The runtime asks a factory for a provider for each session;
// the provider claims nodes of each graph; the runtime creates a kernel for each of them (ort/provider_kernels.cpp).
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/dialects.h"
#include "core/text.h"
#include "ort/builtin_pad.h"
#include "ort/entry_points.h"
#include "ort/ort_values.h"
#include "ort/provider.h"

namespace padops {

namespace {

constexpr std::string_view kOptionPrefix = "ep.padopsexecutionprovider.";  // of a session's configuration entries

// One for each session.
struct Provider : ort::Ep {
  const Factory* factory = nullptr;
  bool only_needed = false;     // claim=needed
  bool float16_native = false;  // float16=native
};

const Factory& self(const ort::EpFactory* factory) { return *static_cast<const Factory*>(factory); }

// --- a provider -----------------------------------------------------------------------------------------------------

// The operator of a node for which the runtime finds one of our kernels, or null.
const StandardOp* find_op(const Factory& factory, ort::EpGraphSupportInfo* info, const ort::Node* node) {
  const ort::Api& api = *factory.api;
  const char* name = nullptr;
  check(api, api.Node_GetOperatorType()(node, &name));
  if (std::string_view(name) != "Pad") return nullptr;
  const ort::KernelDef* def = nullptr;
  check(api, factory.ep_api->EpGraphSupportInfo_LookUpKernel()(info, node, &def));
  if (def == nullptr) return nullptr;
  const char* domain = nullptr;
  int version = 0;
  check(api, api.Node_GetDomain()(node, &domain));
  check(api, api.Node_GetSinceVersion()(node, &version));
  for (const StandardOp& row : standard_ops())
    if (row.version == version && std::string_view(row.domain) == domain) return &row;
  return nullptr;
}

// Whether the session's options leave a node to the runtime.
bool is_left(const Provider& provider, const ort::Node* node, const StandardOp& row) {
  const Factory& factory = *provider.factory;
  const bool is_float16 = type_name(data_type(*factory.api, node)) == "float16";
  if (is_float16 ? provider.float16_native : !provider.only_needed) return false;
  return builtin_is_right(*factory.api, factory.minor, node, row, is_float16);
}

ort::Status* claim(ort::Ep* ep, const ort::Graph* graph, ort::EpGraphSupportInfo* info) {
  const Provider& provider = *static_cast<Provider*>(ep);
  const ort::Api& api = *provider.factory->api;
  return provider_call(api, [&] {
    size_t count = 0;
    check(api, api.Graph_GetNumNodes()(graph, &count));
    std::vector<const ort::Node*> nodes(count);
    check(api, api.Graph_GetNodes()(graph, nodes.data(), count));
    for (const ort::Node* node : nodes) {
      const StandardOp* row = find_op(*provider.factory, info, node);
      if (row == nullptr || is_left(provider, node, *row)) continue;
      check(api, provider.factory->ep_api->EpGraphSupportInfo_AddSingleNode()(info, node));
    }
  });
}

void set_option(Provider& provider, std::string_view key, std::string_view value) {
  const auto choose = [&](std::string_view no, std::string_view yes) {
    if (value != no && value != yes)
      throw std::runtime_error(text("option ", key, " is '", value, "', expected ", no, " or ", yes));
    return value == yes;
  };
  if (key == "claim") provider.only_needed = choose("all", "needed");
  else if (key == "float16") provider.float16_native = choose("leave", "native");
  else throw std::runtime_error(text("there is no option ", key, ", only claim and float16"));
}

void read_options(Provider& provider, const ort::SessionOptions* options) {
  const ort::Api& api = *provider.factory->api;
  ort::KeyValuePairs* pairs = nullptr;
  check(api, api.GetSessionOptionsConfigEntries()(options, &pairs));
  const std::unique_ptr<ort::KeyValuePairs, void (*)(ort::KeyValuePairs*)> held(pairs, api.ReleaseKeyValuePairs());
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  api.GetKeyValuePairs()(pairs, &keys, &values, &count);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i];
    if (key.starts_with(kOptionPrefix)) set_option(provider, key.substr(kOptionPrefix.size()), values[i]);
  }
}

ort::Status* create_provider(ort::EpFactory* factory, const ort::HardwareDevice* const*,
                             const ort::KeyValuePairs* const*, size_t, const ort::SessionOptions* options,
                             const ort::Logger*, ort::Ep** out) {
  return provider_call(*self(factory).api, [&] {
    auto provider = std::make_unique<Provider>();
    provider->version = ort::kProviderApiVersion;
    provider->factory = &self(factory);
    provider->GetName = [](const ort::Ep*) { return kProvider; };
    provider->GetCapability = claim;
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

// The first processor: all of them are one device to the runtime's own provider, too.
ort::Status* supported_devices(ort::EpFactory* factory, const ort::HardwareDevice* const* devices, size_t count,
                               ort::EpDevice** out, size_t room, size_t* given) {
  const ort::Api& api = *self(factory).api;
  return provider_call(api, [&] {
    *given = 0;
    for (size_t i = 0; i < count && *given == 0 && room > 0; ++i) {
      if (api.HardwareDevice_Type()(devices[i]) != ort::kCpu) continue;
      check(api, self(factory).ep_api->CreateEpDevice()(factory, devices[i], nullptr, nullptr, out));
      *given = 1;
    }
  });
}

std::unique_ptr<Factory> make_factory(const ort::Api* api, int minor) {
  auto made = std::make_unique<Factory>();
  made->version = ort::kProviderApiVersion;
  made->api = api;
  made->ep_api = api->GetEpApi()();
  made->minor = minor;
  made->GetName = [](const ort::EpFactory*) { return kProvider; };
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
  build_registry(*made);
  return made;
}

ort::EpFactory* factory_for(const ort::Api* api, const char* version) {
  static std::mutex mutex;
  static auto& factories = *new std::map<const ort::Api*, std::unique_ptr<Factory>>;  // never destroyed
  const std::lock_guard lock(mutex);
  std::unique_ptr<Factory>& factory = factories[api];
  if (factory == nullptr) factory = make_factory(api, runtime_minor(version));
  return factory.get();
}

}  // namespace

}  // namespace padops

PADOPS_EXPORT padops::ort::Status* CreateEpFactories(const char*, const padops::ort::ApiBase* base,
                                                     const padops::ort::Logger*, padops::ort::EpFactory** factories,
                                                     size_t room, size_t* count) {
  using namespace padops;
  const ort::Api* api = base->GetApi(ort::kProviderApiVersion);
  const char* version = base->GetVersionString();
  return provider_call(api == nullptr ? *base->GetApi(1) : *api, [&] {
    if (api == nullptr)
      throw std::runtime_error(text("needs onnxruntime 1.", ort::kProviderApiVersion, " or newer, this is ", version));
    if (room == 0) throw std::runtime_error("the runtime has no room for a factory");
    *factories = factory_for(api, version);
    *count = 1;
  });
}

// The factory stays, for sessions that are still there.
PADOPS_EXPORT padops::ort::Status* ReleaseEpFactory(padops::ort::EpFactory*) { return nullptr; }
