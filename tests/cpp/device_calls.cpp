// The devices of the library's execution providers in a runtime of our own, and the provider that brings the operators.
#include <array>
#include <cstring>
#include <iterator>
#include <string>

#include "ort/provider_abi.h"
#include "small_runtime.h"

namespace padops::ort {

struct HardwareDevice {
  int type;
};

struct KeyValuePairs {
  std::string text;
};

}  // namespace padops::ort

using namespace padops::ort;

extern "C" Status* RegisterCustomOps(SessionOptions* options, const ApiBase* base);

namespace {

const HardwareDevice* used = nullptr;  // the device that a provider runs on
std::string used_options;              // and what it has for options
std::string entry;                     // the only one of a session's configuration
std::vector<CustomOpDomain*> added;    // the domains that a session gets from RegisterCustomOps

}  // namespace

void add_device_calls(EpApi& calls) {
  set_entry(calls, 0,
            [](EpFactory*, const HardwareDevice* device, const KeyValuePairs*, const KeyValuePairs* options,
               EpDevice**) -> Status* {
              used = device;
              used_options = options == nullptr ? "" : options->text;
              return nullptr;
            });
  const auto set = [&](size_t slot, auto function) { set_entry(api, slot, function); };
  set(28, [](SessionOptions*, CustomOpDomain* domain) -> Status* {
    added.push_back(domain);
    return nullptr;
  });
  set(237, [](const SessionOptions*, const char* key, int* has) -> Status* {
    *has = entry == key;
    return nullptr;
  });
  set(295, [](KeyValuePairs** out) {
    ++allocations.live;
    static KeyValuePairs pairs;
    *out = &pairs;
  });
  set(296,
      [](KeyValuePairs* pairs, const char* key, const char* value) { pairs->text = std::string(key) + "=" + value; });
  set(307, [](const HardwareDevice* device) { return device->type; });
}

void check_devices(EpFactory* factory, bool brings_operators) {
  constexpr HardwareDevice kDevices[] = {{1}, {kCpu}, {kCpu}};
  const HardwareDevice* devices[] = {&kDevices[0], &kDevices[1], &kDevices[2]};
  std::array<EpDevice*, 3> out{};
  for (const size_t room : {size_t{0}, out.size()}) {
    size_t given = 9;
    used = nullptr;
    const long before = allocations.live;
    if (factory->GetSupportedDevices(factory, devices, std::size(devices), out.data(), room, &given) != nullptr)
      wrong("there are no devices");
    if (given != (room > 0) || used != (room > 0 ? devices[1] : nullptr)) wrong("the devices are wrong");
    if (used != nullptr && used_options != (brings_operators ? "operators=all" : ""))
      wrong("the device has the options %s", used_options.c_str());
    if (allocations.live != before) wrong("options of a device are left");
  }
}

void check_operators(EpFactory* factory, const ApiBase& base) {
  size_t count = 0;
  if (factory->GetNumCustomOpDomains(factory, &count) != nullptr || count != 1) wrong("%zu domains", count);
  CustomOpDomain* domain = nullptr;
  exhaust("GetCustomOpDomains", "", [&] { return factory->GetCustomOpDomains(factory, &domain, 1); });
  // The runtime would refuse a domain that is there twice.
  for (const char* there : {"another.entry", "ep.padopsoperatorsexecutionprovider.operators"}) {
    entry = there;
    added.clear();
    if (RegisterCustomOps(nullptr, &base) != nullptr) wrong("RegisterCustomOps fails beside %s", there);
    const bool comes_with_the_device = std::strncmp(there, "ep.", 3) == 0;
    if (added.size() != (comes_with_the_device ? 0 : 1)) wrong("%zu domains beside %s", added.size(), there);
    if (!added.empty() && added[0] != domain) wrong("the device brings another domain");
  }
  entry.clear();
  exhaust("CreateEp of the operators", "", [&] {
    Ep* ep = nullptr;
    Status* status = factory->CreateEp(factory, nullptr, nullptr, 0, nullptr, nullptr, &ep);
    if (status == nullptr) {
      if (ep->GetCapability(ep, nullptr, nullptr) != nullptr) wrong("it looks at nodes");
      factory->ReleaseEp(factory, ep);
    }
    return status;
  });
}
