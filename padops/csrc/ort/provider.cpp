// padops as an execution provider, for models that are left as they are: CreateEpFactories, which ONNX Runtime calls
// when the library is registered, and what follows from it. The runtime asks a factory for a provider for each session;
// the provider claims nodes of each graph; the runtime creates a kernel for each of them (ort/provider_kernels.cpp).
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
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

namespace padops {

namespace {

// Of a session's configuration entries.
constexpr std::string_view kOptionPrefix = "ep.padopsexecutionprovider.";
constexpr std::string_view kFirstOptionPrefix = "ep.padopsfirstexecutionprovider.";

// One for each session.
struct Provider : ort::Ep {
  const Factory* factory = nullptr;
  bool is_first = false;            // it is PadopsFirstExecutionProvider
  bool only_needed = false;         // claim=needed
  bool float16_native = false;      // float16=native
  std::vector<std::string> before;  // the providers behind it
  std::string report;               // a file: it takes nothing, and writes there what it is told and would take
};

const Factory& self(const ort::EpFactory* factory) { return *static_cast<const Factory*>(factory); }

// --- a provider -----------------------------------------------------------------------------------------------------

// The operator of a node for which the runtime finds one of our kernels, or null.
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

// Whether a node is left to others.
bool is_left(const Provider& provider, const ort::Node* node, const StandardOp& row,
             const std::set<std::string>& operators) {
  const Factory& factory = *provider.factory;
  if (provider.is_first) {  // what the tables say is of ONNX's own Pad
    if (*row.domain != '\0') return true;
    PadFacts facts = pad_facts(*factory.api, factory.minor, node, row);
    facts.operators = &operators;
    return !goes_wrong(provider.before, facts, factory.minor);
  }
  const bool is_float16 = type_name(data_type(*factory.api, node)) == "float16";
  if (is_float16 ? provider.float16_native : !provider.only_needed) return false;
  return builtin_is_right(*factory.api, factory.minor, node, row, is_float16);
}

// Whether a provider behind asks for nodes that are taken.
bool must_compile(const Provider& provider) {
  return std::ranges::any_of(known_providers(), [&](const ProviderRow& row) {
    return row.fuses && std::ranges::find(provider.before, row.name) != provider.before.end();
  });
}

// Appends to a file. The runtime has no other way to let Python know what only a provider is told. (Streams of the C++
// library that this one carries within itself would not return from their set-up.)
void append_to_file(const std::string& path, const std::string& content) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "ab"), std::fclose);
  if (file == nullptr || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size())
    throw std::runtime_error(text("option report: cannot write ", path));
}

ort::Status* claim(ort::Ep* ep, const ort::Graph* graph, ort::EpGraphSupportInfo* info) {
  const Provider& provider = *static_cast<Provider*>(ep);
  const ort::Api& api = *provider.factory->api;
  const ort::EpApi& calls = *provider.factory->ep_api;
  return provider_call(api, provider.factory->name, [&] {
    size_t count = 0;
    check(api, api.Graph_GetNumNodes()(graph, &count));
    std::vector<const ort::Node*> nodes(count);
    check(api, api.Graph_GetNodes()(graph, nodes.data(), count));
    const std::set<std::string> operators = provider.is_first ? operators_of(api, nodes) : std::set<std::string>();
    for (const ort::Node* node : nodes) {
      const StandardOp* row = find_op(*provider.factory, info, node);
      if (row == nullptr || is_left(provider, node, *row, operators)) continue;
      if (!provider.report.empty()) {
        append_to_file(provider.report, text("pad", '\0', name_of(api, node), '\0'));
        continue;
      }
      check(api, must_compile(provider) ? calls.EpGraphSupportInfo_AddNodesToFuse()(info, &node, 1, nullptr)
                                        : calls.EpGraphSupportInfo_AddSingleNode()(info, node));
    }
  });
}

ort::Status* compile(ort::Ep* ep, const ort::Graph** graphs, const ort::Node** fused, size_t count,
                     ort::NodeComputeInfo** out, ort::Node**) {
  const Factory& factory = *static_cast<Provider*>(ep)->factory;
  return provider_call(*factory.api, factory.name, [&] { compile_pads(factory, graphs, fused, count, out); });
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    if (end > at) names.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

void set_option(Provider& provider, std::string_view key, std::string_view value) {
  const auto choose = [&](std::string_view no, std::string_view yes) {
    if (value != no && value != yes)
      throw std::runtime_error(text("option ", key, " is '", value, "', expected ", no, " or ", yes));
    return value == yes;
  };
  if (provider.is_first) {
    if (key == "before") provider.before = names_in(value);
    else if (key == "report") provider.report = value;
    else throw std::runtime_error(text("there is no option ", key, ", only before and report"));
  } else if (key == "claim") {
    provider.only_needed = choose("all", "needed");
  } else if (key == "float16") {
    provider.float16_native = choose("leave", "native");
  } else if (key == "in_front") {
    choose("needed", "never");  // for padops' Python, which places the providers of a session
  } else {
    throw std::runtime_error(text("there is no option ", key, ", only claim, float16 and in_front"));
  }
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
  const std::string_view prefix = provider.is_first ? kFirstOptionPrefix : kOptionPrefix;
  std::string others;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i];
    if (key.starts_with(prefix)) set_option(provider, key.substr(prefix.size()), values[i]);
    else others += text("entry", '\0', key, '\0', values[i], '\0');
  }
  if (!provider.report.empty()) append_to_file(provider.report, others);
}

ort::Status* create_provider(ort::EpFactory* factory, const ort::HardwareDevice* const*,
                             const ort::KeyValuePairs* const*, size_t, const ort::SessionOptions* options,
                             const ort::Logger*, ort::Ep** out) {
  return provider_call(*self(factory).api, self(factory).name, [&] {
    auto provider = std::make_unique<Provider>();
    provider->version = ort::kProviderApiVersion;
    provider->factory = &self(factory);
    provider->is_first = std::string_view(self(factory).name) == kFirstProvider;
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

// The first processor: all of them are one device to the runtime's own provider, too.
ort::Status* supported_devices(ort::EpFactory* factory, const ort::HardwareDevice* const* devices, size_t count,
                               ort::EpDevice** out, size_t room, size_t* given) {
  const ort::Api& api = *self(factory).api;
  return provider_call(api, self(factory).name, [&] {
    *given = 0;
    for (size_t i = 0; i < count && *given == 0 && room > 0; ++i) {
      if (api.HardwareDevice_Type()(devices[i]) != ort::kCpu) continue;
      check(api, self(factory).ep_api->CreateEpDevice()(factory, devices[i], nullptr, nullptr, out));
      *given = 1;
    }
  });
}

std::unique_ptr<Factory> make_factory(const ort::Api* api, int minor, const char* name) {
  auto made = std::make_unique<Factory>();
  made->name = name;
  made->version = ort::kProviderApiVersion;
  made->api = api;
  made->ep_api = api->GetEpApi()();
  made->minor = minor;
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
  build_registry(*made);
  return made;
}

using Factories = std::array<std::unique_ptr<Factory>, 2>;

const Factories& factories_for(const ort::Api* api, const char* version) {
  static std::mutex mutex;
  static auto& known = *new std::map<const ort::Api*, Factories>;  // never destroyed
  const std::lock_guard lock(mutex);
  Factories& made = known[api];
  if (made[0] == nullptr) {
    const int minor = runtime_minor(version);
    made = {make_factory(api, minor, kProvider), make_factory(api, minor, kFirstProvider)};
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
