// The execution provider in a runtime of our own: each of its calls runs out of memory once, what it makes is gone once
// it is released, and of a graph it takes the nodes for which the runtime finds one of its kernels, and no others.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <thread>
#include <vector>

#include "ort/provider_abi.h"
#include "small_runtime.h"

namespace padops::ort {

struct Node {
  const char* domain;
  const char* type;
  int version;
  bool has_kernel;  // whether the runtime finds one of ours: it does not, where the types of the node are others
  bool is_claimed;  // whether the provider before the CPU's has to take it
  const char* mode = nullptr;  // none: it has no such attribute
  bool is_first = false;       // whether the one before the other providers has to
};

struct KernelDefBuilder {
  int version;
};

}  // namespace padops::ort

using namespace padops::ort;

extern "C" Status* CreateEpFactories(const char* name, const ApiBase* base, const Logger* logger, EpFactory** factories,
                                     size_t room, size_t* count);

namespace {

constexpr Node kNodes[] = {
    {"", "Pad", 18, true, true},
    {"", "Pad", 18, false, false, "wrap"},
    {"", "Conv", 18, true, false, "wrap"},
    {"", "Pad", 99, true, false, "wrap"},
    {"local", "Pad", 18, true, false, "wrap"},
    {"com.microsoft", "Pad", 1, true, true, "wrap"},
    {"", "Pad", 19, true, true, "wrap", true},
    {"", "Pad", 19, true, true, "edge"},
};

thread_local KernelDefBuilder described;  // the kernel that is being described
CreateKernelImpl create = nullptr;        // that of Pad 18
void* create_state = nullptr;
thread_local std::vector<const Node*> claimed;  // those that the provider takes; it has room for all

// A thing of the runtime, which somebody has to release.
template <class Thing>
Status* make(Thing** out) {
  ++allocations.live;
  *out = reinterpret_cast<Thing*>(&described);
  return nullptr;
}

template <class Thing>
void release(Thing* thing) {
  if (thing != nullptr) --allocations.live;
}

EpApi make_ep_api() {
  EpApi made{};
  const auto set = [&](size_t slot, auto function) { set_entry(made, slot, function); };
  // The numbers are the slots of PADOPS_EP_SLOTS.
  set(2, [](EpGraphSupportInfo*, const Node* const* nodes, size_t, const void*) -> Status* {
    claimed.push_back(*nodes);
    return nullptr;
  });
  set(3, [](EpGraphSupportInfo*, const Node* node) -> Status* {
    claimed.push_back(node);
    return nullptr;
  });
  set(18, [](KernelRegistry** out) { return make(out); });
  set(19, release<KernelRegistry>);
  set(20, [](KernelRegistry*, const KernelDef*, CreateKernelImpl function, void* state) -> Status* {
    if (described.version != 18) return nullptr;
    create = function;
    create_state = state;
    return nullptr;
  });
  set(21, [](KernelDefBuilder** out) { return make(out); });
  set(22, release<KernelDefBuilder>);
  set(23, [](KernelDefBuilder*, const char*) -> Status* { return nullptr; });
  set(24, [](KernelDefBuilder*, const char*) -> Status* { return nullptr; });
  set(25, [](KernelDefBuilder*, int first, int) -> Status* {
    described.version = first;
    return nullptr;
  });
  set(26, [](KernelDefBuilder*, const char*) -> Status* { return nullptr; });
  set(29, [](KernelDefBuilder*, const char*, const DataType* const*, size_t) -> Status* { return nullptr; });
  set(32, [](KernelDefBuilder*, KernelDef** out) { return make(out); });
  set(33, release<KernelDef>);
  set(40, [](int, const DataType** out) -> Status* {
    *out = nullptr;
    return nullptr;
  });
  set(41, [](EpGraphSupportInfo*, const Node* node, const KernelDef** out) -> Status* {
    *out = node->has_kernel ? reinterpret_cast<const KernelDef*>(node) : nullptr;
    return nullptr;
  });
  return made;
}

EpApi ep_api = make_ep_api();

// Gives the runtime what a provider calls.
void add_calls() {
  add_device_calls(ep_api);
  const auto set = [&](size_t slot, auto function) { set_entry(api, slot, function); };
  set(55, [](const TypeInfo*, const TensorInfo** out) -> Status* {
    *out = &declared;
    return nullptr;
  });
  set(98, release<TypeInfo>);
  set(234, [](const KernelInfo*, size_t, TypeInfo** out) { return make(out); });
  set(290, [](const ValueInfo* value, const TypeInfo** out) -> Status* {
    *out = reinterpret_cast<const TypeInfo*>(value);
    return nullptr;
  });
  set(272, [](const OpAttr* attribute, int, void* values, size_t room, size_t* bytes) -> Status* {
    const char* mode = reinterpret_cast<const Node*>(attribute)->mode;
    *bytes = std::strlen(mode);
    if (room < *bytes) return failed(1, "too small");
    std::memcpy(values, mode, *bytes);
    return nullptr;
  });
  set(298, [](const KeyValuePairs*, const char* const** keys, const char* const** values, size_t* count) {
    // Nobody may read what stands behind them.
    static constexpr const char* kKeys[] = {"another.option", "ep.padopsexecutionprovider.claim",
                                            "ep.padopsfirstexecutionprovider.before", nullptr};
    static constexpr const char* kValues[] = {"needed", "all",
                                              "Another,WebGpuExecutionProvider,OpenVINOExecutionProvider", nullptr};
    *keys = kKeys;
    *values = kValues;
    *count = std::size(kKeys) - 1;
  });
  set(300, release<KeyValuePairs>);
  set(317, [] { return &ep_api; });
  set(344, [](const Graph*, size_t* out) -> Status* {
    *out = std::size(kNodes);
    return nullptr;
  });
  set(345, [](const Graph*, const Node** out, size_t count) -> Status* {
    for (size_t i = 0; i < count; ++i) out[i] = &kNodes[i];
    return nullptr;
  });
  set(346, [](const Graph*, const Node** out) -> Status* {
    *out = nullptr;  // the main graph
    return nullptr;
  });
  set(350, [](const Node* node, const char** out) -> Status* {
    *out = node->type;
    return nullptr;
  });
  set(351, [](const Node* node, const char** out) -> Status* {
    *out = node->domain;
    return nullptr;
  });
  set(352, [](const Node* node, int* out) -> Status* {
    *out = node->version;
    return nullptr;
  });
  set(353, [](const Node*, size_t* out) -> Status* {
    *out = 1;
    return nullptr;
  });
  set(354, [](const Node* node, const ValueInfo** out, size_t) -> Status* {
    *out = reinterpret_cast<const ValueInfo*>(node);
    return nullptr;
  });
  set(361, [](const Node* node, const char* name, const OpAttr** out) -> Status* {
    *out = reinterpret_cast<const OpAttr*>(node);
    return node->mode == nullptr || std::strcmp(name, "mode") != 0 ? failed(1, "there is none") : nullptr;
  });
  set(390, [](const TensorInfo*) { return true; });
  set(379, [](const SessionOptions*, KeyValuePairs** out) { return make(out); });
}

bool is_right(const Node& node, bool first) {
  const bool is_claimed = std::find(claimed.begin(), claimed.end(), &node) != claimed.end();
  return is_claimed == (first ? node.is_first : node.is_claimed);
}

void check_claims(Ep* ep, const char* name, bool first) {
  claimed.reserve(std::size(kNodes));
  exhaust(name, "", [&] {
    claimed.clear();
    return ep->GetCapability(ep, nullptr, nullptr);
  });
  for (const Node& node : kNodes)
    if (!is_right(node, first))
      wrong("%s: %s.%s %d, %s, of mode %s", name, node.domain, node.type, node.version,
            node.has_kernel ? "with a kernel" : "without one", node.mode == nullptr ? "none" : node.mode);
}

Ep* make_provider(EpFactory* factory) {
  Ep* ep = nullptr;
  if (factory->CreateEp(factory, nullptr, nullptr, 0, nullptr, nullptr, &ep) != nullptr) wrong("there is no provider");
  return ep;
}

void check_providers_of(EpFactory* factory, const char* creates, const char* claims, bool first) {
  exhaust(creates, "", [&] {
    Ep* ep = nullptr;
    Status* status = factory->CreateEp(factory, nullptr, nullptr, 0, nullptr, nullptr, &ep);
    if (status == nullptr) factory->ReleaseEp(factory, ep);
    return status;
  });
  Ep* ep = make_provider(factory);
  check_claims(ep, claims, first);
  factory->ReleaseEp(factory, ep);
}

const ApiBase kBase = {[](uint32_t) -> const Api* { return &api; }, [] { return "1.31.0"; }};

}  // namespace

void check_provider_in_threads(int threads, int rounds) {
  add_calls();
  std::atomic<int> ready = 0, mistakes = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      for (int round = 0; round < rounds; ++round) {
        std::array<EpFactory*, 3> factories{};
        size_t count = 0;
        if (CreateEpFactories("", &kBase, nullptr, factories.data(), 3, &count) != nullptr || count != 3) ++mistakes;
        CustomOpDomain* domain = nullptr;
        if (factories[2]->GetCustomOpDomains(factories[2], &domain, 1) != nullptr || domain == nullptr) ++mistakes;
        for (size_t at = 0; at < 2; ++at) {
          Ep* ep = make_provider(factories[at]);
          claimed.clear();
          if (ep->GetCapability(ep, nullptr, nullptr) != nullptr) ++mistakes;
          for (const Node& node : kNodes) mistakes += !is_right(node, at == 1);
          factories[at]->ReleaseEp(factories[at], ep);
        }
        KernelImpl* kernel = nullptr;
        if (create(create_state, nullptr, &kernel) != nullptr) ++mistakes;
        kernel->Release(kernel);
      }
    });
  for (std::thread& worker : workers) worker.join();
  if (mistakes != 0) wrong("%d mistakes in threads", mistakes.load());
}

void check_provider() {
  add_calls();
  std::array<EpFactory*, 3> factories{};
  size_t count = 0;
  const long before = allocations.live;
  exhaust("CreateEpFactories", "", [&] { return CreateEpFactories("", &kBase, nullptr, factories.data(), 3, &count); });
  if (count != 3 || allocations.live <= before) wrong("there is no factory");
  exhaust("CreateEpFactories without room", "the runtime has room for 2 factories, expected 3",
          [&] { return CreateEpFactories("", &kBase, nullptr, factories.data(), 2, &count); });
  for (EpFactory* factory : factories) check_devices(factory, factory == factories[2]);
  check_operators(factories[2], kBase);
  check_providers_of(factories[0], "CreateEp", "GetCapability", false);
  check_providers_of(factories[1], "CreateEp of the first", "GetCapability of the first", true);
  exhaust("CreateKernelImpl", "", [&] {
    KernelImpl* kernel = nullptr;
    Status* status = create(create_state, nullptr, &kernel);
    if (status == nullptr) kernel->Release(kernel);
    return status;
  });
  exhaust("Compute", "", [&] {  // with a kernel of its own, which makes a plan
    KernelImpl* kernel = nullptr;
    std::fill(std::begin(padded), std::end(padded), 9.0f);
    Status* status = create(create_state, nullptr, &kernel);
    if (status != nullptr) return status;
    status = kernel->Compute(kernel, nullptr);
    kernel->Release(kernel);
    return status;
  });
  if (padded[0] != 0 || padded[6] != 1) wrong("wrong output of the provider");
}
