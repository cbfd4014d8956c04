// Shared by the two files of the execution provider: its factory, which holds the registry of its kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../include/padops.h"
#include "core/text.h"
#include "ort/provider_abi.h"
#include "ort/status.h"

namespace padops {

// Three providers. The first stands before the CPU's and runs the Pads that others leave. The second stands before
// others and runs the Pads that they would get wrong. The third runs nothing: its device brings the operators of the
// domain "padops" into a session, separately, since all the operators take milliseconds to register.
enum class Role { kRest, kFirst, kOperators };

constexpr const char* kProvider = PADOPS_EXECUTION_PROVIDER;
constexpr const char* kFirstProvider = PADOPS_FIRST_EXECUTION_PROVIDER;
constexpr const char* kOperatorsProvider = PADOPS_OPERATORS_EXECUTION_PROVIDER;

// A default option of the operators' device. The runtime copies it to the session's configuration when it adds the
// operators. So RegisterCustomOps knows that the session has them: the runtime refuses a domain twice.
constexpr const char* kOperatorsOption = "operators";

struct Factory;
struct OpRow;

// Facts that a kernel needs and the runtime does not pass.
struct KernelSource {
  const Factory* factory;
  const OpRow* op;
};

// Three for each runtime in the process. They live as long as the process: sessions hold pointers to their registries,
// and one may outlive the library's registration.
struct Factory : ort::EpFactory {
  Role role = Role::kRest;
  const char* name = kProvider;
  const ort::Api* api = nullptr;
  const ort::EpApi* ep_api = nullptr;
  const char* runtime = "";  // its version
  int minor = 0;
  std::vector<KernelSource> sources;
  ort::KernelRegistry* registry = nullptr;  // null for the operators' provider
};

// Runs a provider's work, which returns nothing; turns its exceptions into a status.
template <class Work>
ort::Status* provider_call(const ort::Api& api, const char* name, Work work) {
  const auto run = [&]() -> ort::Status* {
    work();
    return nullptr;
  };
  return guarded(api, kOutOfMemory, [&] { return text(name, ": "); }, run);
}

// The prefix of a provider's options in a session's configuration: "ep." and the name in lower case.
std::string option_prefix(std::string_view name);

// All operators of the domain "padops", for a runtime: ort/register.cpp.
ort::CustomOpDomain* all_operators(const ort::Api* api, const char* version);

// Makes the registry of a factory that has its runtime.
void build_registry(Factory& factory);

}  // namespace padops
