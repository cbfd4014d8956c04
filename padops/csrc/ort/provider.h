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

// Three providers: one for what others leave, which stands before the CPU's; one that stands before others and takes
// what they would not run right; and one that takes nothing, whose device brings the operators of the domain "padops"
// into a session. It is not one of the first two, since a session takes milliseconds to know all the operators.
enum class Role { kRest, kFirst, kOperators };

constexpr const char* kProvider = PADOPS_EXECUTION_PROVIDER;
constexpr const char* kFirstProvider = PADOPS_FIRST_EXECUTION_PROVIDER;
constexpr const char* kOperatorsProvider = PADOPS_OPERATORS_EXECUTION_PROVIDER;

// An option that the device of the operators has by itself. The runtime writes it into the session's configuration
// where it adds the operators, and so RegisterCustomOps knows that they are there: the runtime refuses a domain that is
// there twice.
constexpr const char* kOperatorsOption = "operators";

struct Factory;
struct OpRow;

// What a kernel needs and the runtime does not pass to it.
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
  ort::KernelRegistry* registry = nullptr;  // none of the operators' provider
};

// Runs work of a provider, which returns nothing; what it throws becomes a status.
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

// Makes the registry of a factory whose runtime is known.
void build_registry(Factory& factory);

}  // namespace padops
