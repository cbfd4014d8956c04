// What the two files of the execution provider share: its factory, which holds the registry of its kernels.
#pragma once

#include <vector>

#include "core/text.h"
#include "ort/provider_abi.h"
#include "ort/status.h"

namespace padops {

// Two providers: one for what others leave, which stands before the CPU's, and one that stands before others and takes
// what they would not run right.
constexpr const char* kProvider = "PadopsExecutionProvider";
constexpr const char* kFirstProvider = "PadopsFirstExecutionProvider";

struct Factory;
struct OpRow;

// What a kernel needs that the runtime does not hand over.
struct KernelSource {
  const Factory* factory;
  const OpRow* op;
};

// Two for each runtime in the process. They live as long as the process: sessions hold pointers to their registries,
// and one may outlive the library's registration.
struct Factory : ort::EpFactory {
  const char* name = kProvider;
  const ort::Api* api = nullptr;
  const ort::EpApi* ep_api = nullptr;
  int minor = 0;
  std::vector<KernelSource> sources;
  ort::KernelRegistry* registry = nullptr;
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

// Makes the registry of a factory whose runtime is known.
void build_registry(Factory& factory);

}  // namespace padops
